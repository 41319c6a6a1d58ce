"""Cleans file names, makes them unique, and recognises junk files."""

import re
from collections import Counter
from pathlib import PurePosixPath

__all__ = ["FileNamePatterns", "clean_name", "is_junk", "unzipped_name"]

_JUNK_FILES = frozenset((".ds_store", "thumbs.db", "desktop.ini", "ehthumbs.db", ".localized"))
_JUNK_FOLDERS = frozenset(("__macosx", ".git", ".svn", "$recycle.bin"))
_JUNK_STARTS = ("._", "~$", ".~lock.")
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_DRIVE = re.compile(r"^[A-Za-z]:")
_LONGEST_PART = 200  # Characters. Chosen by hand, not fitted.
_LONGEST = 400  # Characters. Chosen by hand, not fitted.
_UTF8_FLAG = 0x800  # bit 11 of a ZIP entry: its name is UTF-8 (PKWARE APPNOTE 4.4.4)


def is_junk(name: str) -> bool:
    """Whether a file was left by a program or the operating system.

    >>> is_junk("__MACOSX/docs/._a.pdf"), is_junk("docs/~$plan.docx"), is_junk("docs/plan.docx")
    (True, True, False)
    """
    parts = [part.lower() for part in name.replace("\\", "/").split("/") if part]
    last = parts[-1] if parts else ""
    return last in _JUNK_FILES or last.startswith(_JUNK_STARTS) or not _JUNK_FOLDERS.isdisjoint(parts)


def clean_name(name: str) -> str:
    """A safe relative path with "/", without "..", and without invisible characters.

    Also removes characters that reverse the writing direction, which can disguise a file's extension. A path that is
    too long loses folders, outermost first.

    >>> [clean_name(name) for name in ("../../etc/passwd", "C:\\\\plans\\\\.\\\\a.txt", "/a\\x00b.txt", "..")]
    ['etc/passwd', 'plans/a.txt', 'ab.txt', 'unnamed']
    """
    cleaned = _cleaned(name)
    while (again := _cleaned(cleaned)) != cleaned:  # removing a prefix can expose a drive letter
        cleaned = again
    return cleaned


def _cleaned(name: str) -> str:
    cleaned = _UNSEEN.sub("", _DRIVE.sub("", name.replace("\\", "/")))
    parts = [part.strip() for part in cleaned.split("/")]
    shortened = [_shortened(part) for part in parts if part and part.strip(".")]
    while len(shortened) > 1 and sum(map(len, shortened)) + len(shortened) > _LONGEST:
        shortened.pop(0)
    return "/".join(shortened) or "unnamed"


def _shortened(part: str) -> str:
    """Cuts a long name in the middle, because versions of a document differ at the end of their names.

    >>> len(_shortened("a" * 300 + "_v2.md")), _shortened("a" * 300 + "_v2.md")[-8:]
    (200, 'aa_v2.md')
    """
    if len(part) <= _LONGEST_PART:
        return part
    half = _LONGEST_PART // 2
    return f"{part[: half - 1]}…{part[-half:]}"


def unzipped_name(name: str, flags: int) -> str:
    """The file name of a ZIP entry, decoded.

    Without the UTF-8 flag the format prescribes code page 437. Some programs write UTF-8 anyway; it is recognised,
    because other text is rarely valid UTF-8 by chance.

    >>> unzipped_name("fran\\u00e7ais.txt", 0), unzipped_name("M\\u251c\\u255dnchen.txt", 0)
    ('français.txt', 'München.txt')
    """
    if flags & _UTF8_FLAG:
        return name
    try:
        return name.encode("cp437").decode("utf-8")
    except (UnicodeEncodeError, UnicodeDecodeError):
        return name


class FileNamePatterns:
    """Makes entry names unique: the second "a.txt" becomes "a (2).txt".

    >>> names = FileNamePatterns()
    >>> names.free("a.txt"), names.free("A.txt"), names.free("b.txt")
    ('a.txt', 'A (2).txt', 'b.txt')
    """

    def __init__(self) -> None:
        self._taken: Counter[str] = Counter()

    def free(self, name: str) -> str:
        """The name, or the next free numbered one; comparison ignores case."""
        candidate = name
        while self._taken[candidate.casefold()]:
            path = PurePosixPath(name)
            self._taken[name.casefold()] += 1
            candidate = str(path.with_name(f"{path.stem} ({self._taken[name.casefold()]}){path.suffix}"))
        self._taken[candidate.casefold()] += 1
        return candidate
