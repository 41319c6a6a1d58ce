"""Sentence diff of two document versions; each sentence is taken once, in reading order, with its position."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from core.domain.documents import Passage

__all__ = [
    "ChangeKind",
    "DiffSpan",
    "SentenceChange",
    "TextDifference",
    "VersionSentence",
    "compared",
    "folded",
    "retained_share",
    "sentences_of",
]


@dataclass(frozen=True, slots=True)
class VersionSentence:
    """A sentence (or table row) and its position: `text == page text[start : start + len(text)]`.

    folded: the form that is compared; case and runs of whitespace make no difference.
    """

    text: str
    folded: str
    page: int
    start: int
    passage_id: int


def sentences_of(passages: Sequence[Passage]) -> tuple[VersionSentence, ...]:
    """The sentences of a document's passages. Consecutive passages overlap by a sentence, which is returned once."""
    found: dict[tuple[int, int], VersionSentence] = {}
    for passage in passages:
        for span in passage.sentences:
            start, text = passage.start + span.start, span.of(passage.text)
            if (passage.page, start) not in found and text.strip():
                found[passage.page, start] = VersionSentence(text, folded(text), passage.page, start, passage.id)
    return tuple(found.values())


def folded(text: str) -> str:
    """The form of a sentence that is compared: lower case, with single spaces.

    >>> folded("Pay is  due\\non Friday.")
    'pay is due on friday.'
    """
    return " ".join(text.lower().split())


def retained_share(before: Sequence[VersionSentence], after: Sequence[VersionSentence]) -> float:
    """The share of the sentences of one text that the other contains verbatim, in [0, 1]; 0 for an empty text."""
    texts = {sentence.folded for sentence in after}
    return sum(sentence.folded in texts for sentence in before) / len(before) if before else 0.0


_LIKE = 60.0
"""Least similarity in per cent (Indel ratio of the characters) of a reworded sentence. Chosen by hand, not fitted."""

_MOST_CELLS, _MOST_REWORDED, _MOST_LIKE = 400_000_000, 25_000_000, 10_000
"""Most sentence pairs for the longest common subsequence, for the search of reworded sentences, and for computing all
similarities at once. They bound time and memory; chosen by hand."""

_TOKEN = re.compile(r"\s+|[$€£¥]?\d+(?:[.,:/]\d+)*\b%?|\w+|[^\w\s]")


class ChangeKind(StrEnum):
    """The kind of change of a sentence, or of a word."""

    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MOVED = "moved"


@dataclass(frozen=True, slots=True)
class DiffSpan:
    """Characters of a changed sentence that are in both versions or in only one."""

    kind: ChangeKind
    text: str


@dataclass(frozen=True, slots=True)
class SentenceChange:
    """One changed sentence. before: None for an added one; after: None for a removed one.

    skipped: number of unchanged sentences since the previous change. lead: the last of them. parts: the word diff of a
    changed sentence, in order.
    """

    kind: ChangeKind
    before: VersionSentence | None
    after: VersionSentence | None
    skipped: int = 0
    lead: str = ""
    parts: tuple[DiffSpan, ...] = ()


@dataclass(frozen=True, slots=True)
class TextDifference:
    """The changes, in the order of the newer text. before, after: number of sentences in each text; same: number
    unchanged; tail: how many of them follow the last change.
    """

    before: int
    after: int
    same: int
    tail: int
    changes: tuple[SentenceChange, ...]

    def count(self, kind: ChangeKind) -> int:
        """How many changes are of a kind."""
        return sum(change.kind is kind for change in self.changes)


def compared(before: Sequence[VersionSentence], after: Sequence[VersionSentence]) -> TextDifference:
    """The difference of two texts. It is empty exactly when both have the same sentences in the same order."""
    changes: list[SentenceChange] = []
    same, skipped, lead = 0, 0, ""
    for old, new in _aligned(before, after):
        if old is not None and new is not None and old.folded == new.folded:
            same, skipped, lead = same + 1, skipped + 1, new.text
            continue
        changes.append(replace(_change(old, new), skipped=skipped, lead=lead))
        skipped, lead = 0, ""
    merged = tuple(_moved(changes))
    return TextDifference(len(before), len(after), same, same - sum(change.skipped for change in merged), merged)


def _change(old: VersionSentence | None, new: VersionSentence | None) -> SentenceChange:
    if old is not None and new is not None:
        return SentenceChange(ChangeKind.CHANGED, old, new, parts=_parts(old.text, new.text))
    return SentenceChange(ChangeKind.REMOVED if new is None else ChangeKind.ADDED, old, new)


def _moved(changes: Sequence[SentenceChange]) -> Iterator[SentenceChange]:
    """A sentence deleted in one place and added in another has moved; it is listed at its new place."""
    deleted: dict[str, list[SentenceChange]] = {}
    for change in changes:
        if change.kind is ChangeKind.REMOVED and change.before is not None:
            deleted.setdefault(change.before.folded, []).append(change)
    found: dict[int, SentenceChange] = {}
    dropped: set[int] = set()
    for index, change in enumerate(changes):
        if change.kind is ChangeKind.ADDED and change.after is not None and deleted.get(change.after.folded):
            origin = deleted[change.after.folded].pop(0)
            found[index] = replace(change, kind=ChangeKind.MOVED, before=origin.before)
            dropped.add(id(origin))
    carried = 0
    for index, change in enumerate(changes):
        if id(change) in dropped:
            carried += change.skipped
            continue
        merged = found.get(index, change)
        yield replace(merged, skipped=merged.skipped + carried)
        carried = 0


Aligned = Iterator[tuple[VersionSentence | None, VersionSentence | None]]


def _aligned(before: Sequence[VersionSentence], after: Sequence[VersionSentence]) -> Aligned:
    """Sentence beside sentence, in the order of both texts; None where the other has none."""
    last_old = last_new = 0
    for old, new in [*_anchors(before, after), (len(before), len(after))]:
        yield from _between(before[last_old:old], after[last_new:new])
        if old < len(before):
            yield before[old], after[new]
        last_old, last_new = old + 1, new + 1


def _anchors(before: Sequence[VersionSentence], after: Sequence[VersionSentence]) -> list[tuple[int, int]]:
    """Places of the sentences that stand once in each text: the longest run of them in the order of both."""
    once = [Counter(sentence.folded for sentence in text) for text in (before, after)]
    indices = {each.folded: index for index, each in enumerate(after) if once[1][each.folded] == 1}
    found = [
        (index, indices[each.folded])
        for index, each in enumerate(before)
        if once[0][each.folded] == 1 and each.folded in indices
    ]
    ends: list[int] = []
    best: list[int] = []
    links: list[int] = []
    for number, (_, index) in enumerate(found):
        rank = bisect_left(ends, index)
        links.append(best[rank - 1] if rank else -1)
        ends[rank : rank + 1], best[rank : rank + 1] = [index], [number]
    run, number = [], best[-1] if best else -1
    while number >= 0:
        run.append(found[number])
        number = links[number]
    return run[::-1]


def _between(before: Sequence[VersionSentence], after: Sequence[VersionSentence]) -> Aligned:
    """What stands between two anchors, where sentences repeat or differ."""
    if not before or not after or len(before) * len(after) > _MOST_CELLS:
        yield from _reworded(before, after)
        return
    from rapidfuzz.distance import LCSseq

    steps = LCSseq.opcodes([each.folded for each in before], [each.folded for each in after])
    lone: tuple[list[VersionSentence], list[VersionSentence]] = ([], [])
    for step in steps:
        old, new = before[step.src_start : step.src_end], after[step.dest_start : step.dest_end]
        if step.tag != "equal":
            lone[0].extend(old)
            lone[1].extend(new)
            continue
        yield from _reworded(*lone)
        lone = ([], [])
        yield from zip(old, new, strict=True)
    yield from _reworded(*lone)


def _reworded(before: Sequence[VersionSentence], after: Sequence[VersionSentence]) -> Aligned:
    """Sentences of which none is the same: those that are like one another side by side, the most alike first, in the
    order of both texts. Of many, each half is looked through by itself."""
    if _MOST_LIKE < len(before) * len(after) <= _MOST_REWORDED:
        half = len(before) // 2, len(after) // 2
        yield from _reworded(before[: half[0]], after[: half[1]])
        yield from _reworded(before[half[0] :], after[half[1] :])
        return
    pairs: list[tuple[int, int]] = []
    if before and after and len(before) * len(after) <= _MOST_LIKE:
        from rapidfuzz.fuzz import ratio
        from rapidfuzz.process import cdist

        likeness = cdist(
            [each.folded for each in before], [each.folded for each in after], scorer=ratio, score_cutoff=_LIKE
        )
        cells = zip(*(axis.tolist() for axis in likeness.nonzero()), strict=True)
        for old, new in sorted(cells, key=lambda cell: (-likeness[cell], cell)):
            if all((old < each[0]) == (new < each[1]) and old != each[0] and new != each[1] for each in pairs):
                pairs.append((old, new))
    last_old = last_new = 0
    for old, new in [*sorted(pairs), (len(before), len(after))]:
        yield from ((each, None) for each in before[last_old:old])
        yield from ((None, each) for each in after[last_new:new])
        if old < len(before):
            yield before[old], after[new]
        last_old, last_new = old + 1, new + 1


def _parts(before: str, after: str) -> tuple[DiffSpan, ...]:
    """The words of a changed sentence: what both have, what is gone, what is new. They spell both sentences."""
    from rapidfuzz.distance import LCSseq

    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    parts: list[DiffSpan] = []
    deleted = fresh = ""
    for step in LCSseq.opcodes(old, new):
        here, there = "".join(old[step.src_start : step.src_end]), "".join(new[step.dest_start : step.dest_end])
        if step.tag != "equal":
            deleted, fresh = deleted + here, fresh + there
            continue
        parts += [*_replaced(deleted, fresh), DiffSpan(ChangeKind.SAME, there)]
        deleted = fresh = ""
    return (*parts, *_replaced(deleted, fresh))


def _replaced(deleted: str, fresh: str) -> list[DiffSpan]:
    return [DiffSpan(kind, text) for kind, text in ((ChangeKind.REMOVED, deleted), (ChangeKind.ADDED, fresh)) if text]
