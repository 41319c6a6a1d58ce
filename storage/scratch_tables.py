"""Throw-away libraries of tables alone: nothing is split, classified or embedded."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from core.documents import Document, DocumentState
from core.errors import BadRequest
from core.ingest.extract import extract
from core.moments import right_now
from core.reality.desk import RealityDesk
from storage.catalogue import SqlCatalogue
from storage.database import Database, engine_for
from storage.embedded import start_embedded
from storage.migrations import migrate
from storage.scratch import NamedFile, files_of
from storage.table_store import SqlTableStore

__all__ = ["desk_of", "scratch_desks"]


def desk_of(database: Database, files: Sequence[NamedFile]) -> RealityDesk:
    """The tables of these files, loaded and linked, as one tenant's. Raises BadFile for a file that cannot be read."""
    catalogue = SqlCatalogue(database)
    catalogue.register()
    desk = RealityDesk(SqlTableStore(database), catalogue)
    for file in files:
        digest = sha256(file.data).hexdigest()
        pending = Document(0, file.name, digest, len(file.data), DocumentState.PENDING, right_now())
        document = catalogue.add_document(pending)
        with tempfile.TemporaryDirectory(prefix="fivefold-tables-") as folder:
            desk.load(document, extract(file.name, file.data, Path(folder)).tables)
    return desk


@contextmanager
def scratch_desks(folder: Path, names: Sequence[str]) -> Iterator[dict[str, RealityDesk]]:
    """Per name the tables of that folder below `folder`, each a tenant of one throw-away database.

    Raises BadRequest for a folder that is not there.
    """
    missing = [name for name in names if not (folder / name).is_dir()]
    if missing:
        raise BadRequest(
            f"'{folder}' holds no folder '{missing[0]}'.", "Put each set's tables in a folder of its name."
        )
    with tempfile.TemporaryDirectory(prefix="fivefold-", ignore_cleanup_errors=True) as place:
        Path(place).chmod(0o711)  # as root, the server runs as the owner of its folder and must get there
        server = start_embedded(Path(place))
        engine = engine_for(server.url())
        try:
            migrate(engine)
            yield {name: desk_of(Database(engine, f"asked {name}"), files_of([folder / name])) for name in names}
        finally:
            engine.dispose()
            server.close()
