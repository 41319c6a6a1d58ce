"""What one truth's search gives: its best sentences, how strong the evidence is, and what came near."""

from collections.abc import Mapping, Sequence

from core.coverage.evidence import Weighed, share_together, topic_stems, weigh, windows_of
from core.documents import Document
from core.results import Candidate, Citation, Hit, SearchResult
from core.search.cite import cite
from core.tables.answer_kinds import asked_kind
from core.tables.gaps import gap_table

__all__ = ["MOST_SENTENCES", "best_sentences", "evidence_of", "nearest_miss"]

MOST_SENTENCES = 3
_NEAR = 0.5
"""A sentence less than half as relevant as the best one is not among the best: it pads an answer."""


def best_sentences(hits: Sequence[Hit], most: int = MOST_SENTENCES) -> tuple[Citation, ...]:
    """The sentences that answer best, best first; every document has its turn before one has a second.

    Ties go to the better hit, then to the order within it. The same words are cited once.
    """
    ranked = sorted(
        (
            (-citation.relevance, hit.rank, place, citation)
            for hit in hits
            for place, citation in enumerate(hit.citations)
        ),
        key=lambda item: item[:3],
    )
    once: dict[str, Citation] = {}
    for *_, citation in ranked:
        once.setdefault(" ".join(citation.quote.split()).casefold(), citation)
    told = list(once.values())
    close = [citation for citation in told if citation.relevance >= _NEAR * told[0].relevance]
    firsts: dict[int, Citation] = {}
    for citation in close:
        firsts.setdefault(citation.document_id, citation)
    rest = [citation for citation in close if citation not in firsts.values()]
    chosen = [*firsts.values(), *rest][:most]
    return tuple(citation for citation in close if citation in chosen)


def evidence_of(question: str, hits: Sequence[Hit]) -> float:
    """How strongly the best hit supports the question, weighed as a cell of a coverage board; in [0, 1]."""
    return max((_weighed(question, hit.candidate).score for hit in hits), default=0.0)


def nearest_miss(question: str, result: SearchResult) -> tuple[Citation, ...]:
    """The best sentence of the candidate that came nearest; nothing when none is about the question at all."""
    found = [_weighed(question, candidate) for candidate in result.candidates]
    near = [item for item in found if item.score > 0 and item.passage.document_id in result.documents]
    best = min(near, key=lambda item: (-item.score, -item.meaning, item.passage.id), default=None)
    return () if best is None else _cited(question, best, result.documents, result.rarity)


def _weighed(question: str, candidate: Candidate) -> Weighed:
    share = share_together(windows_of(candidate.passage), topic_stems(question))
    return weigh(candidate.passage, candidate.signals.similarity, share, gap_table().evidence)


def _cited(
    question: str, item: Weighed, documents: Mapping[int, Document], rarity: Mapping[str, float]
) -> tuple[Citation, ...]:
    return cite(item.passage, documents[item.passage.document_id], rarity, kind=asked_kind(question), most=1)
