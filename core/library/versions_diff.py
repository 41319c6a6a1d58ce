"""What changed from one text to another, sentence by sentence, and inside a changed sentence word by word.

Sentences that stand once in each text and in the same order are anchors (patience diff, Bram Cohen); between two of
them the longest common subsequence is taken. So also long documents are compared at once.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from core.library.versions_text import Sentence

__all__ = ["Change", "ChangeKind", "Difference", "Part", "compared"]

_LIKE = 60.0
"""Least likeness in per cent (Indel ratio of the letters) of two sentences of which one is the other, reworded."""
_MOST_CELLS, _MOST_REWORDED, _MOST_LIKE = 400_000_000, 25_000_000, 10_000
"""Up to how many pairs of sentences the longest common subsequence is looked for, a sentence for its new wording, and
all likenesses are measured at once."""
_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")


class ChangeKind(StrEnum):
    """What happened to a sentence, or to a word."""

    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MOVED = "moved"


@dataclass(frozen=True, slots=True)
class Part:
    """Letters of a changed sentence that both have, or only one of them."""

    kind: ChangeKind
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """One sentence that differs. before: None for an added one; after: None for a removed one.

    skipped: how many sentences are the same between the change before and this one. lead: the last of them. parts: of
    a changed sentence, in order.
    """

    kind: ChangeKind
    before: Sentence | None
    after: Sentence | None
    skipped: int = 0
    lead: str = ""
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed, in the order of the newer text. before, after: how many sentences each text has; same: how many
    stand unchanged; tail: how many of them after the last change."""

    before: int
    after: int
    same: int
    tail: int
    changes: tuple[Change, ...]

    def count(self, kind: ChangeKind) -> int:
        """How many changes are of a kind."""
        return sum(change.kind is kind for change in self.changes)


def compared(before: Sequence[Sentence], after: Sequence[Sentence]) -> Difference:
    """The difference of two texts. Nothing differs exactly when both have the same sentences in the same order."""
    changes: list[Change] = []
    same, skipped, lead = 0, 0, ""
    for old, new in _aligned(before, after):
        if old is not None and new is not None and old.folded == new.folded:
            same, skipped, lead = same + 1, skipped + 1, new.text
            continue
        changes.append(replace(_change(old, new), skipped=skipped, lead=lead))
        skipped, lead = 0, ""
    told = tuple(_moved(changes))
    return Difference(len(before), len(after), same, same - sum(change.skipped for change in told), told)


def _change(old: Sentence | None, new: Sentence | None) -> Change:
    if old is not None and new is not None:
        return Change(ChangeKind.CHANGED, old, new, parts=_parts(old.text, new.text))
    return Change(ChangeKind.REMOVED if new is None else ChangeKind.ADDED, old, new)


def _moved(changes: Sequence[Change]) -> Iterator[Change]:
    """A sentence that is gone in one place and new in another has moved; it is told where it stands now."""
    gone: dict[str, list[Change]] = {}
    for change in changes:
        if change.kind is ChangeKind.REMOVED and change.before is not None:
            gone.setdefault(change.before.folded, []).append(change)
    found: dict[int, Change] = {}
    dropped: set[int] = set()
    for place, change in enumerate(changes):
        if change.kind is ChangeKind.ADDED and change.after is not None and gone.get(change.after.folded):
            origin = gone[change.after.folded].pop(0)
            found[place] = replace(change, kind=ChangeKind.MOVED, before=origin.before)
            dropped.add(id(origin))
    carried = 0
    for place, change in enumerate(changes):
        if id(change) in dropped:
            carried += change.skipped
            continue
        told = found.get(place, change)
        yield replace(told, skipped=told.skipped + carried)
        carried = 0


Aligned = Iterator[tuple[Sentence | None, Sentence | None]]


def _aligned(before: Sequence[Sentence], after: Sequence[Sentence]) -> Aligned:
    """Sentence beside sentence, in the order of both texts; None where the other has none."""
    last_old = last_new = 0
    for old, new in [*_anchors(before, after), (len(before), len(after))]:
        yield from _between(before[last_old:old], after[last_new:new])
        if old < len(before):
            yield before[old], after[new]
        last_old, last_new = old + 1, new + 1


def _anchors(before: Sequence[Sentence], after: Sequence[Sentence]) -> list[tuple[int, int]]:
    """Places of the sentences that stand once in each text: the longest run of them in the order of both."""
    once = [Counter(sentence.folded for sentence in text) for text in (before, after)]
    places = {each.folded: place for place, each in enumerate(after) if once[1][each.folded] == 1}
    found = [
        (place, places[each.folded])
        for place, each in enumerate(before)
        if once[0][each.folded] == 1 and each.folded in places
    ]
    ends: list[int] = []
    best: list[int] = []
    links: list[int] = []
    for number, (_, place) in enumerate(found):
        rank = bisect_left(ends, place)
        links.append(best[rank - 1] if rank else -1)
        ends[rank : rank + 1], best[rank : rank + 1] = [place], [number]
    run, number = [], best[-1] if best else -1
    while number >= 0:
        run.append(found[number])
        number = links[number]
    return run[::-1]


def _between(before: Sequence[Sentence], after: Sequence[Sentence]) -> Aligned:
    """What stands between two anchors, where sentences repeat or differ."""
    if not before or not after or len(before) * len(after) > _MOST_CELLS:
        yield from _reworded(before, after)
        return
    from rapidfuzz.distance import LCSseq

    steps = LCSseq.opcodes([each.folded for each in before], [each.folded for each in after])
    lone: tuple[list[Sentence], list[Sentence]] = ([], [])
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


def _reworded(before: Sequence[Sentence], after: Sequence[Sentence]) -> Aligned:
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


def _parts(before: str, after: str) -> tuple[Part, ...]:
    """The words of a changed sentence: what both have, what is gone, what is new. They spell both sentences."""
    from rapidfuzz.distance import LCSseq

    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    parts: list[Part] = []
    gone = fresh = ""
    for step in LCSseq.opcodes(old, new):
        here, there = "".join(old[step.src_start : step.src_end]), "".join(new[step.dest_start : step.dest_end])
        if step.tag != "equal":
            gone, fresh = gone + here, fresh + there
            continue
        parts += [*_replaced(gone, fresh), Part(ChangeKind.SAME, there)]
        gone = fresh = ""
    return (*parts, *_replaced(gone, fresh))


def _replaced(gone: str, fresh: str) -> list[Part]:
    return [Part(kind, text) for kind, text in ((ChangeKind.REMOVED, gone), (ChangeKind.ADDED, fresh)) if text]
