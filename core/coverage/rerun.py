"""Which cells a changed library could have changed: only those are judged again."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from core.boards import Cell, CellState, GapKind, Topic
from core.coverage.detect import Detector
from core.queries import ScoreProfile

__all__ = ["changed_documents", "touched"]

_AT_ONCE = 1000


def changed_documents(before: Mapping[int, str], after: Mapping[int, str]) -> tuple[frozenset[int], frozenset[int]]:
    """Documents that are gone or other than before, and those that are new or other.

    >>> changed_documents({1: "a", 2: "b", 3: "c"}, {1: "a", 2: "x", 4: "d"})
    (frozenset({2, 3}), frozenset({2, 4}))
    """
    old = frozenset(i for i, digest in before.items() if after.get(i) != digest)
    return old, frozenset(i for i, digest in after.items() if before.get(i) != digest)


def touched(
    detector: Detector,
    cells: Sequence[Cell],
    topics: Mapping[int, Topic],
    before: Mapping[int, str],
    after: Mapping[int, str],
    *,
    project: str | None,
    now: datetime,
    profile: ScoreProfile,
) -> frozenset[tuple[int, GapKind]]:
    """The cells, as (topic id, kind), whose evidence could have changed. before, after: Catalogue.fingerprints.

    A cell can change when a document it cites is gone or other, or when a new or changed document holds a passage that
    is evidence at all for its topic, or is the first of its kind: the cells are judged against those documents alone.
    What is gone may have been the last set-up table, or the last document. A failing store touches everything it was
    asked about.
    """
    old, new = changed_documents(before, after)
    hit, open_cells = set(), []
    for cell in cells:
        cited = {citation.document_id for citation in (*cell.evidence, *cell.near_misses)}
        if cited & old or (old and (cell.configuration or not after)):
            hit.add((cell.topic_id, cell.kind))
        else:
            open_cells.append(cell)
    for start in range(0, len(open_cells) if new else 0, _AT_ONCE):
        some = open_cells[start : start + _AT_ONCE]
        wanted = [(topics[cell.topic_id], cell.kind) for cell in some]
        alone = detector.judge(wanted, project=project, now=now, profile=profile, among=sorted(new))
        hit |= {(cell.topic_id, cell.kind) for cell, found in zip(some, alone, strict=True) if _reached(cell, found)}
    return frozenset(hit)


def _reached(cell: Cell, alone: Cell) -> bool:
    """Whether documents by which a cell was judged alone can change it."""
    first = cell.state is CellState.NOT_ASSESSED and alone.state is not CellState.NOT_ASSESSED
    return first or alone.evidence_score > 0 or alone.state is CellState.ERROR
