"""`python -m bench.fuzz.once KIND FILE`: read one file without a sandbox, to see the error behind a finding."""

import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from adapters.ocr import installed_ocr
from bench.fuzz.seeds import PASSWORD, SEEDS
from core.domain.errors import BadFile
from core.ingestion.parsers import extract
from core.ingestion.parsers.decrypt import decrypted
from core.ingestion.parsers.feed import read_feed

__all__ = ["read_once"]

_MEGABYTES = 4096


def read_once(kind: str, data: bytes, folder: Path) -> None:
    """Read a file of one kind in this process. Raises whatever its reader raises, but no BadFile."""
    name = SEEDS[kind].name
    try:
        if kind == "feed":
            read_feed(name, data)
        elif kind == "password":
            decrypted(name, data, PASSWORD)
        else:
            extract(name, data, folder, 60, installed_ocr())
    except (BadFile, MemoryError, RecursionError) as error:
        print(error, file=sys.stderr)


if __name__ == "__main__":
    with suppress(ImportError, ValueError):  # no limits on Windows
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEGABYTES * 2**20, _MEGABYTES * 2**20))
    with TemporaryDirectory() as scratch:
        read_once(sys.argv[1], Path(sys.argv[2]).read_bytes(), Path(scratch))
