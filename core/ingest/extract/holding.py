"""Files that hold other files: archives, and mails with attachments."""

from pathlib import Path

from core.ingest.extract.archive import ARCHIVES
from core.ingest.extract.detect import FileKind, detect
from core.ingest.extract.values import Extracted

__all__ = ["extract_holder", "may_hold"]

_STARTS = (b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b")
_MAIL_KINDS = ("message/rfc822", "application/vnd.ms-outlook")
_MAIL_ENDINGS = (".eml", ".msg", ".mht", ".mhtml", ".mbox")
_MAIL_HEADS = (b"mime-version:", b"received:", b"message-id:", b"return-path:")
_HEAD_BYTES = 4096


def may_hold(name: str, data: bytes) -> bool:
    """Whether a look inside is worth it: cheap, and true for more than what does hold files.

    >>> may_hold("plan.zip", b"PK\\x03\\x04 ..."), may_hold("plan.txt", b"We plan."), may_hold("a.eml", b"Hello")
    (True, False, True)
    """
    head = data[:_HEAD_BYTES]
    if head.startswith(_STARTS) or head[257:262] == b"ustar" or name.lower().endswith(_MAIL_ENDINGS):
        return True
    lines = [line.lower() for line in head.splitlines()]
    return any(line.startswith(_MAIL_HEADS) for line in lines)


def extract_holder(name: str, data: bytes, folder: Path) -> Extracted | None:
    """What `extract` gives for an archive or a mail, its files written below `folder`; None for every other kind.

    Raises what `extract` raises.
    """
    from core.ingest.extract import extract

    kind = detect(name, data).kind
    return extract(name, data, folder) if _holds(kind) else None


def _holds(kind: FileKind) -> bool:
    return kind in ARCHIVES or kind.value in _MAIL_KINDS
