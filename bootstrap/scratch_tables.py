"""Temporary libraries of tables only: nothing is chunked, classified or embedded."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from adapters.ocr import installed_ocr
from bootstrap.clock import utc_now
from bootstrap.scratch_library import NamedFile, files_of
from core.domain.documents import Document, DocumentState
from core.domain.errors import BadRequest
from core.ingestion.parsers import extract
from core.table_qa.service import TableService
from storage.datasets.store import SqlTableStore
from storage.embedded_postgres.server import start_embedded
from storage.migrations import migrate
from storage.postgres.catalogue import SqlCatalogue
from storage.postgres.database import Database, engine_for

__all__ = ["scratch_table_services", "table_service_of"]


def table_service_of(database: Database, files: Sequence[NamedFile]) -> TableService:
    """A table service with these files loaded and linked, for one tenant. Raises BadFile for an unreadable file."""
    catalogue = SqlCatalogue(database)
    catalogue.register()
    service = TableService(SqlTableStore(database), catalogue, now=utc_now)
    for file in files:
        digest = sha256(file.data).hexdigest()
        pending = Document(0, file.name, digest, len(file.data), DocumentState.PENDING, utc_now())
        document = catalogue.add_document(pending)
        with tempfile.TemporaryDirectory(prefix="fivefold-tables-") as folder:
            service.load(document, extract(file.name, file.data, Path(folder), ocr=installed_ocr()).tables)
    return service


@contextmanager
def scratch_table_services(folder: Path, names: Sequence[str]) -> Iterator[dict[str, TableService]]:
    """Name → table service with the tables of that folder below `folder`, each a tenant of one temporary database.

    Raises BadRequest for a missing folder.
    """
    missing = [name for name in names if not (folder / name).is_dir()]
    if missing:
        raise BadRequest(
            f"'{folder}' holds no folder '{missing[0]}'.", "Put each set's tables in a folder of its name."
        )
    with tempfile.TemporaryDirectory(prefix="fivefold-", ignore_cleanup_errors=True) as place:
        Path(place).chmod(0o711)  # as root, the server runs as the owner of its folder and needs access
        server = start_embedded(Path(place))
        engine = engine_for(server.url())
        try:
            migrate(engine)
            yield {
                name: table_service_of(Database(engine, f"asked {name}"), files_of([folder / name])) for name in names
            }
        finally:
            engine.dispose()
            server.close()
