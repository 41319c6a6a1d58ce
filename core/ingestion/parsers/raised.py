"""Raised and lowered numbers in a line of text, apart from those beside them: 10^6, 2019^3, log_10 100."""

import re

__all__ = ["LOWERED", "RAISED", "in_line", "lowered_text", "marked", "raised_text"]

RAISED, LOWERED, _END = "\ue0e0", "\ue0e1", "\ue0e2"  # private use
_NUMBER = re.compile(r"[+−–-]?\d[\d.,]*")
_MARK = re.compile(f"[{RAISED}-{_END}]")
_MARKED = re.compile("|".join(f"(?:{mark}[^{RAISED}-{_END}]*{_END})+" for mark in (RAISED, LOWERED)))


def marked(mark: str, text: str) -> str:
    """Text as `in_line` expects what is raised or lowered. mark: RAISED or LOWERED."""
    return f"{mark}{_MARK.sub('', text)}{_END}" if text else ""


def in_line(text: str) -> str:
    """Text with its marked parts written in the line; neighbours with the same mark are one.

    >>> in_line("10" + marked(RAISED, "-") + marked(RAISED, "6") + " m in 2019" + marked(RAISED, "3"))
    '10^-6 m in 2019^3'
    """
    return _MARKED.sub(_written, text) if _MARK.search(text) else text


def _written(found: re.Match[str]) -> str:
    before, after = found.string[max(found.start() - 2, 0) : found.start()], found.string[found.end() :][:2]
    write = raised_text if found.group().startswith(RAISED) else lowered_text
    return write(*(_MARK.sub("", part) for part in (found.group(), before, after)))


def raised_text(text: str, before: str, after: str) -> str:
    """A raised number behind "^", or before a stroke as the number of a fraction; other raised text as it is.

    before, after: what is beside it.

    >>> raised_text("6", "10", ""), raised_text("th", "5", ""), raised_text("1", "2", "/2")
    ('^6', 'th', ' 1')
    """
    number = text.strip()
    if not _NUMBER.fullmatch(number):
        return text
    if after[:1] in {"/", "⁄"}:
        return f" {number}" if before[-1:].isdecimal() else number
    return f"^{number}"


def lowered_text(text: str, before: str, after: str) -> str:
    """A lowered number behind "_" where it meets a digit, and before a blank where one follows; else as it is.

    >>> lowered_text("2", "CO", ""), lowered_text("2", "101", "."), lowered_text("10", "log", "100")
    ('2', '_2', '_10 ')
    """
    number = text.strip()
    if not _NUMBER.fullmatch(number):
        return text
    is_before, is_after = before[-1:].isdecimal(), after[:1].isdecimal()
    return f"{'_' if is_before or is_after else ''}{number}{' ' if is_after else ''}"
