"""Candidates as the catalogue and the log of uses know them by the time they are scored."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.documents import Document
from core.filters import SearchFilters
from core.results import Candidate, Dropped, DropReason
from core.uses import DocumentUse

__all__ = ["admitted", "with_uses"]


def admitted(
    candidates: Sequence[Candidate], filters: SearchFilters, documents: Mapping[int, Document]
) -> tuple[tuple[Candidate, ...], tuple[Dropped, ...]]:
    """Candidates as the catalogue has them now: an index may lag behind a label that was just changed."""
    kept: list[Candidate] = []
    changed: list[Candidate] = []
    for candidate in candidates:
        if candidate.passage.document_id in documents:
            (kept if filters.admits(candidate.passage) else changed).append(candidate)
    reason = "its labels changed while it was searched"
    return tuple(kept), tuple(Dropped(candidate, DropReason.FILTERED, reason) for candidate in changed)


def with_uses(candidates: Sequence[Candidate], uses: Mapping[int, DocumentUse]) -> tuple[Candidate, ...]:
    """The candidates, each with how often its document was used."""
    return tuple(
        replace(each, signals=replace(each.signals, uses=known.uses, distinct_questions=len(known.questions)))
        if (known := uses.get(each.passage.document_id)) is not None
        else each
        for each in candidates
    )
