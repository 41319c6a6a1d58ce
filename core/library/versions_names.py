"""What the name of a file says of its version: the name without it, and the version itself.

Names are read by patterns: dates, "v2", "rev B", "final", "(3)". What is left is the key by which versions of one
document find each other; whether they are versions, their texts decide.
"""

import re
import unicodedata
from dataclasses import dataclass
from pathlib import PurePosixPath

__all__ = ["NameReading", "read_name"]

_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = "(?P<month>" + "|".join(f"{name[:3]}(?:{name[3:]})?" if name[3:] else name for name in _MONTHS) + "|sept)"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_OPENS, _ENDS = r"(?<![^\W_])", r"(?![^\W_])"
_DATES = tuple(
    re.compile(_OPENS + pattern + _ENDS)
    for pattern in (
        _YEAR + r"[-_. ]?(?P<number>0[1-9]|1[0-2])[-_. ]?(?P<day>0[1-9]|[12]\d|3[01])",
        r"(?P<day>\d\d?)[-_. ](?P<number>\d\d?)[-_. ]" + _YEAR,
        r"(?:(?P<day>\d\d?)(?:st|nd|rd|th)?[-_., ]*)?" + _MONTH + r"[-_., ]*" + _YEAR,
        _MONTH + r"[-_., ]+(?P<day>\d\d?)(?:st|nd|rd|th)?[-_., ]+" + _YEAR,
        _YEAR + r"[-_. ](?P<number>0[1-9]|1[0-2])",
        _YEAR + r"[-_. ]?q(?P<quarter>[1-4])",
        r"q(?P<quarter>[1-4])[-_. ]?" + _YEAR,
        _YEAR,
    )
)
_VERSION = re.compile(
    _OPENS
    + r"(?:(?:v|ver|version|rev|revision|edition|issue|release|fassung)[-_. ]*(?P<number>\d+(?:[._]\d+)*)"
    + r"|(?:rev|revision)[-_. ]*(?P<letter>[a-z]))"
    + _ENDS
)
_STANDING = {
    **dict.fromkeys(("draft", "entwurf", "redline", "wip"), -1),
    **dict.fromkeys(("final", "approved", "signed", "executed", "endfassung"), 1),
    **dict.fromkeys(("copy", "clean", "latest", "updated", "revised", "amended", "current", "new", "old", "kopie"), 0),
}
"""Words that tell versions apart: before (-1), after (1), or neither, the versions that are numbered."""
_STATES = re.compile(_OPENS + "(?:" + "|".join((*_STANDING, "copy of")) + ")" + _ENDS)
_COPY = re.compile(r"\((\d{1,2})\)|(?<=[^\W\d]{3})[-_. ]+(\d{1,2})$")
_ENDING = re.compile(r"\.[a-z][a-z0-9]{1,4}$")
_NOISE = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class NameReading:
    """A name read.

    key: its words without what tells versions apart, "" when nothing is left. said: what tells them apart, as it is
    written. date: (year, month, day), 0 where nothing is said; empty without a date. number: (1, 2) for "v1.2",
    (2,) for "rev B"; empty without. standing: -1 a draft, 1 a final version, else 0. weak: only a number at its end
    ("plan 2") tells it apart, which as often names another document.
    """

    key: str
    said: tuple[str, ...] = ()
    date: tuple[int, int, int] | tuple[()] = ()
    number: tuple[int, ...] = ()
    standing: int = 0
    weak: bool = False


def read_name(name: str) -> NameReading:
    """Read a file name or title.

    >>> read_name("Leave_Policy_v1.2_FINAL.docx")
    NameReading(key='leave policy', said=('v1.2', 'final'), date=(), number=(1, 2), standing=1, weak=False)
    >>> read_name("Leave policy 2024-03-01.pdf").date, read_name("leave-policy rev B (2).pdf").number
    ((2024, 3, 1), (2,))
    >>> read_name("renewal_draftsman.txt").said
    ()
    """
    text = unicodedata.normalize("NFKC", PurePosixPath(name.replace("\\", "/")).name).lower().strip()
    text = _ENDING.sub("", text)
    said: list[str] = []
    date: tuple[int, int, int] | tuple[()] = ()
    # A long number is no date: they are read before versions, so that "v2 2024-01-31" gives both.
    for pattern in _DATES:
        for match in list(pattern.finditer(text)):
            date = date or _date(match)
            said.append(match.group().strip())
            text = text[: match.start()] + " " * len(match.group()) + text[match.end() :]
    number: tuple[int, ...] = ()
    for match in list(_VERSION.finditer(text)):
        number = number or _number(match)
        said.append(match.group())
    text = _VERSION.sub(" ", text)
    states = [match.group() for match in _STATES.finditer(text)]
    text = _STATES.sub(" ", text).strip()
    copies = [match.group().strip("-_. ") for match in _COPY.finditer(text)]
    weak = bool(copies) and not (said or states)
    if weak:
        number = tuple(int(each.strip("()")) for each in copies[:1])
    key = _NOISE.sub(" ", _COPY.sub(" ", text)).strip()
    standing = max((_STANDING.get(each, 0) for each in states), key=abs, default=0)
    return NameReading(key, (*said, *states, *copies), date, number, standing, weak)


def _date(match: re.Match[str]) -> tuple[int, int, int]:
    parts = match.groupdict()
    month = int(parts.get("number") or 0)
    if parts.get("month"):
        month = next(number for number, name in enumerate(_MONTHS, 1) if name.startswith(parts["month"][:3]))
    if parts.get("quarter"):
        month = 3 * int(parts["quarter"]) - 2
    day = int(parts.get("day") or 0)
    if month > 12:
        month, day = day, month
    return int(parts["year"]), month, day


def _number(match: re.Match[str]) -> tuple[int, ...]:
    if match["letter"]:
        return (ord(match["letter"]) - ord("a") + 1,)
    return tuple(int(part) for part in re.split(r"[._]", match["number"]))
