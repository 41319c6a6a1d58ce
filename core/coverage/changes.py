"""What one snapshot says otherwise than another."""

from collections.abc import Sequence

from core.boards import Cell, CellState, Run
from core.reviews import CellChange, Changes
from core.search.quotable import shown_quote

__all__ = ["changes"]


def changes(before: Run, before_cells: Sequence[Cell], after: Run, after_cells: Sequence[Cell]) -> Changes:
    """From one run's cells to another's, joined by topic id, so that a renamed topic is no change. A cell only one of
    the two has counts as changed only with its topic. Worse ones come first."""
    old = {(cell.topic_id, cell.kind): cell for cell in before_cells}
    names_before = {topic.id: topic.name for topic in before.topics}
    names_after = {topic.id: topic.name for topic in after.topics}
    changed = [
        CellChange(
            cell.topic,
            cell.kind,
            known.state,
            cell.state,
            known.evidence_score,
            cell.evidence_score,
            _why(known, cell),
        )
        for cell in after_cells
        if (known := old.get((cell.topic_id, cell.kind))) is not None and known.state is not cell.state
    ]
    return Changes(
        before=before,
        after=after,
        coverage_before=before.coverage,
        coverage_after=after.coverage,
        cells=tuple(sorted(changed, key=lambda each: each.score_after - each.score_before)),
        topics_added=tuple(name for i, name in names_after.items() if i not in names_before),
        topics_gone=tuple(name for i, name in names_before.items() if i not in names_after),
    )


def _why(before: Cell, after: Cell) -> str:
    """What came or went, in words."""
    if after.state is CellState.ERROR:
        return after.error
    if before.state is CellState.ERROR:
        return "The search had failed before."
    if after.state is CellState.NOT_ASSESSED:
        return after.reason
    old = {citation.quote for citation in before.evidence}
    new = {citation.quote for citation in after.evidence}
    for citation in after.evidence:
        if citation.quote not in old:
            return f"New evidence: “{shown_quote(citation.quote)}” ({citation.document_name})."
    for citation in before.evidence:
        if citation.quote not in new:
            return f"No longer there: “{shown_quote(citation.quote)}” ({citation.document_name})."
    return "The threshold or what the topic needs has changed." if before.evidence == after.evidence else after.reason
