"""Suggests which documents may be versions of each other, by file name, title and shared text."""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from core.domain.documents import Document, SourceType
from core.library.duplicates.minhash import SharedText, Triples, minima, percent
from core.library.versions.store import DuplicatePair, Signature

__all__ = [
    "Suggestion",
    "VersionedName",
    "explained",
    "in_order",
    "may_be_versions",
    "open_suggestions",
    "ordered",
    "read_name",
    "signature_of",
]

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
"""Version words: a draft before (-1), a final version after (1), or neutral (0) to the numbered versions."""

_STATES = re.compile(_OPENS + "(?:" + "|".join((*_STANDING, "copy of")) + ")" + _ENDS)

_COPY = re.compile(r"\((\d{1,2})\)|(?<=[^\W\d]{3})[-_. ]+(\d{1,2})$")

_ENDING = re.compile(r"\.[a-z][a-z0-9]{1,4}$")

_NOISE = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class VersionedName:
    """A parsed file name or title.

    key: its words without version parts, "" when nothing is left. version_words: the version parts as written. date:
    (year, month, day), 0 for a missing part; empty without a date. number: (1, 2) for "v1.2", (2,) for "rev B"; empty
    without. standing: -1 for a draft, 1 for a final version, else 0. weak: its only version part is a number at the end
    ("plan 2"), which as often names another document.
    """

    key: str
    version_words: tuple[str, ...] = ()
    date: tuple[int, int, int] | tuple[()] = ()
    number: tuple[int, ...] = ()
    standing: int = 0
    weak: bool = False


def read_name(name: str) -> VersionedName:
    """Parse a file name or title.

    >>> read_name("Leave_Policy_v1.2_FINAL.docx")
    VersionedName(key='leave policy', version_words=('v1.2', 'final'), date=(), number=(1, 2), standing=1, weak=False)
    >>> read_name("Leave policy 2024-03-01.pdf").date, read_name("leave-policy rev B (2).pdf").number
    ((2024, 3, 1), (2,))
    >>> read_name("renewal_draftsman.txt").version_words
    ()
    """
    text = unicodedata.normalize("NFKC", PurePosixPath(name.replace("\\", "/")).name).lower().strip()
    text = _ENDING.sub("", text)
    version_words: list[str] = []
    date: tuple[int, int, int] | tuple[()] = ()
    # A long number is no date: they are read before versions, so that "v2 2024-01-31" gives both.
    for pattern in _DATES:
        for match in list(pattern.finditer(text)):
            date = date or _date(match)
            version_words.append(match.group().strip())
            text = text[: match.start()] + " " * len(match.group()) + text[match.end() :]
    number: tuple[int, ...] = ()
    for match in list(_VERSION.finditer(text)):
        number = number or _number(match)
        version_words.append(match.group())
    text = _VERSION.sub(" ", text)
    states = [match.group() for match in _STATES.finditer(text)]
    text = _STATES.sub(" ", text).strip()
    copies = [match.group().strip("-_. ") for match in _COPY.finditer(text)]
    weak = bool(copies) and not (version_words or states)
    if weak:
        number = tuple(int(each.strip("()")) for each in copies[:1])
    key = _NOISE.sub(" ", _COPY.sub(" ", text)).strip()
    standing = max((_STANDING.get(each, 0) for each in states), key=abs, default=0)
    return VersionedName(key, (*version_words, *states, *copies), date, number, standing, weak)


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


_NAMED, _WEAKLY_NAMED, _UNNAMED = 0.3, 0.6, 0.8
"""Least share of one text found in the other: when the names mark a version, when only a number at their end differs,
and without evidence from names. The last also needs a Jaccard similarity, since a text inside a longer one is a part of
it. Chosen by hand, not fitted."""

_UNNAMED_SAME = 0.35


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One document may be a new version of another. because: the evidence. order: why that one is the newer."""

    older: Document
    newer: Document
    pair: DuplicatePair
    because: str
    order: str


def signature_of(document: Document, of: Triples) -> Signature:
    """The signature by which similar documents are found."""
    keys = read_name(document.name).key, read_name(document.title).key
    return Signature(document.id, len(of), minima(of), *keys, document.url)


def may_be_versions(first: Document, second: Document, shared: SharedText, retained_share: float) -> bool:
    """Whether to suggest the pair as versions, in either order. kept: the larger share of the sentences of one that is
    in the other, in [0, 1].

    Identical texts are duplicates, not versions; documents in different projects are never suggested.
    """
    if first.sha256 == second.sha256 or first.project != second.project or shared.jaccard == 1.0:
        return False
    content = max(shared.most, retained_share)
    if first.url and first.url == second.url:
        feeds = first.source_type is SourceType.FEED and second.source_type is SourceType.FEED
        return feeds or content >= _NAMED
    names = read_name(first.name), read_name(second.name)
    if _one_name(names):
        return content >= (_WEAKLY_NAMED if any(name.weak for name in names) else _NAMED)
    if _one_name((read_name(first.title), read_name(second.title))):
        return content >= _WEAKLY_NAMED
    return content >= _UNNAMED and shared.jaccard >= _UNNAMED_SAME


def _one_name(names: Sequence[VersionedName]) -> bool:
    return bool(names[0].key) and names[0].key == names[1].key


def in_order(first: Document, second: Document) -> tuple[Document, Document, str]:
    """The older, the newer, and the reason: their own dates, else their names, else their upload times.

    The order in which the two are given makes no difference.
    """
    older, newer = sorted((first, second), key=lambda document: (document.uploaded_at, document.id))
    if older.date is not None and newer.date is not None and older.date != newer.date:
        older, newer = sorted((older, newer), key=lambda document: str(document.date))
        return older, newer, f"it is dated {newer.date:%Y-%m-%d}, the other {older.date:%Y-%m-%d}"
    name_pairs = [(read_name(older.name), read_name(newer.name)), (read_name(older.title), read_name(newer.title))]
    for names in name_pairs:
        if _one_name(names) and (words := _later(*names)) is not None:
            turned, reason = words
            return (newer, older, reason) if turned else (older, newer, reason)
    return older, newer, f"it was uploaded later, on {newer.uploaded_at:%Y-%m-%d}"


def _later(first: VersionedName, second: VersionedName) -> tuple[bool, str] | None:
    """Whether the first is the newer by name, and why; None when the names do not tell.

    A final version comes after every draft. Otherwise the numbers decide where both names have one. Where only one has,
    the other counts as version 1 if both tell the same state, or none.
    """
    dates = (first.date, second.date)
    if all(dates) and dates[0] != dates[1]:
        return dates[0] > dates[1], "its name holds the later date"
    numbers = (first.number or (1,), second.number or (1,))
    comparable = (first.number and second.number) or first.standing == second.standing
    if first.standing * second.standing >= 0 and comparable and numbers[0] != numbers[1]:
        return numbers[0] > numbers[1], "its name holds the higher version"
    if first.standing != second.standing:
        return first.standing > second.standing, "its name tells the later state (draft, final)"
    return None


def ordered(pair: DuplicatePair, first: Document, second: Document) -> Suggestion:
    """The pair as a suggestion."""
    older, newer, order = in_order(first, second)
    return Suggestion(older, newer, pair, explained(older, newer, pair), order)


def open_suggestions(
    pairs: Sequence[DuplicatePair], known: Mapping[int, Document], rejections: Collection[tuple[str, str]]
) -> list[Suggestion]:
    """The suggestions among the pairs that nobody rejected. known: documents by id; rejections: as
    `VersionDecision.about`."""
    found = []
    for pair in pairs:
        if pair.suggested and {pair.first, pair.second} <= known.keys():
            first, second = known[pair.first], known[pair.second]
            files = min(first.sha256, second.sha256), max(first.sha256, second.sha256)
            if first.project == second.project and files not in rejections:
                found.append(ordered(pair, first, second))
    return found


def explained(older: Document, newer: Document, pair: DuplicatePair) -> str:
    """What two documents have in common, in words: name, title, address, sentences."""
    names = read_name(older.name), read_name(newer.name)
    words = []
    if older.name == newer.name:
        words.append("same name")
    elif _one_name(names):
        only = [" ".join(name.version_words) or "nothing" for name in names]
        words.append(f"same name but for “{only[1]}” in place of “{only[0]}”" if only[0] != only[1] else "same name")
    if _one_name((read_name(older.title), read_name(newer.title))) and words != ["same name"]:
        words.append("same title")
    if older.url and older.url == newer.url:
        words.append("same address")
    if pair.same == 1.0:
        words.append("the same text")
    else:
        words.append(_in_common(pair, older.id, newer.id))
    return ", ".join(words)


def _in_common(pair: DuplicatePair, older: int, newer: int) -> str:
    """How much of the older text is in the newer one, or another share that says clearly more."""
    of_older, of_newer = pair.retained_share(older), pair.retained_share(newer)
    if 2 * of_older >= max(of_newer, pair.same):
        return f"{percent(of_older)} of the older one's sentences the same"
    if of_newer >= pair.same:
        return f"{percent(of_newer)} of the newer one's sentences in the older one"
    return f"{percent(pair.same)} of the words in the same order"
