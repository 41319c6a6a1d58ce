"""Whether two documents may be versions of one another, which of them is newer, and why, in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.documents import Document, SourceType
from core.library.duplicates import Shared, Triples, minima, percent
from core.library.versions_names import NameReading, read_name
from core.library.versions_store import Pair, Signature

__all__ = ["Suggestion", "explained", "in_order", "may_be_versions", "ordered", "signature_of"]

_NAMED, _WEAKLY_NAMED, _UNNAMED = 0.3, 0.6, 0.8
"""How much of one text must stand in the other when names tell it is a version, when only a number at their end
differs, and when only the texts speak. The last also needs a Jaccard share: a text inside a longer one is a part of it.
"""
_UNNAMED_SAME = 0.35


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One document may be a new version of another. because: what speaks for it. order: why that one is the newer."""

    older: Document
    newer: Document
    pair: Pair
    because: str
    order: str


def signature_of(document: Document, of: Triples) -> Signature:
    """What a document is found by."""
    keys = read_name(document.name).key, read_name(document.title).key
    return Signature(document.id, len(of), minima(of), *keys, document.url)


def may_be_versions(first: Document, second: Document, shared: Shared, kept: float) -> bool:
    """Whether to suggest it; the order of the two makes no difference. kept: the larger share of the sentences of one
    that stands in the other, in [0, 1].

    The same text is a duplicate and no version, and what is in different projects is kept apart.
    """
    if first.sha256 == second.sha256 or first.project != second.project or shared.jaccard == 1.0:
        return False
    content = max(shared.most, kept)
    if first.url and first.url == second.url:
        feeds = first.source_type is SourceType.FEED and second.source_type is SourceType.FEED
        return feeds or content >= _NAMED
    names = read_name(first.name), read_name(second.name)
    if _one_name(names):
        return content >= (_WEAKLY_NAMED if any(name.weak for name in names) else _NAMED)
    if _one_name((read_name(first.title), read_name(second.title))):
        return content >= _WEAKLY_NAMED
    return content >= _UNNAMED and shared.jaccard >= _UNNAMED_SAME


def _one_name(names: Sequence[NameReading]) -> bool:
    return bool(names[0].key) and names[0].key == names[1].key


def in_order(first: Document, second: Document) -> tuple[Document, Document, str]:
    """The older, the newer, and why: their own dates, else what their names say, else when they were uploaded.

    The order in which the two are given makes no difference.
    """
    older, newer = sorted((first, second), key=lambda document: (document.uploaded_at, document.id))
    if older.date is not None and newer.date is not None and older.date != newer.date:
        older, newer = sorted((older, newer), key=lambda document: str(document.date))
        return older, newer, f"it is dated {newer.date:%Y-%m-%d}, the other {older.date:%Y-%m-%d}"
    said = [(read_name(older.name), read_name(newer.name)), (read_name(older.title), read_name(newer.title))]
    for names in said:
        if _one_name(names) and (words := _later(*names)) is not None:
            turned, told = words
            return (newer, older, told) if turned else (older, newer, told)
    return older, newer, f"it was uploaded later, on {newer.uploaded_at:%Y-%m-%d}"


def _later(first: NameReading, second: NameReading) -> tuple[bool, str] | None:
    """Whether the first is the newer by name, and why; None when the names do not tell."""
    dates = (first.date, second.date)
    if all(dates) and dates[0] != dates[1]:
        return dates[0] > dates[1], "its name holds the later date"
    numbers = (first.number or (1,), second.number or (1,))
    if (first.number or second.number) and numbers[0] != numbers[1]:
        return numbers[0] > numbers[1], "its name holds the higher version"
    if first.standing != second.standing:
        return first.standing > second.standing, "its name tells the later state (draft, final)"
    return None


def ordered(pair: Pair, first: Document, second: Document) -> Suggestion:
    """The pair as a suggestion."""
    older, newer, order = in_order(first, second)
    return Suggestion(older, newer, pair, explained(older, newer, pair), order)


def explained(older: Document, newer: Document, pair: Pair) -> str:
    """What two documents have in common, in words: name, title, address, sentences."""
    names = read_name(older.name), read_name(newer.name)
    words = []
    if older.name == newer.name:
        words.append("same name")
    elif _one_name(names):
        only = [" ".join(name.said) or "nothing" for name in names]
        words.append(f"same name but for “{only[1]}” in place of “{only[0]}”" if only[0] != only[1] else "same name")
    if _one_name((read_name(older.title), read_name(newer.title))) and words != ["same name"]:
        words.append("same title")
    if older.url and older.url == newer.url:
        words.append("same address")
    if pair.same == 1.0:
        words.append("the same text")
    else:
        words.append(f"{percent(pair.kept(older.id))} of the older one's sentences the same")
    return ", ".join(words)
