"""Why a document is missing from the results: not ready, filtered out, found but not shown, or not found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.domain.documents import Document, DocumentState, Passage
from core.domain.filters import FIELDS, SearchFilters
from core.domain.results import Candidate, SearchResult, TermScore
from core.ports.stores import PassageIds

__all__ = ["MissingExplanation", "NearestPassage", "why_not"]

_SHOWN_VALUES = 3  # Chosen by hand.


@dataclass(frozen=True, slots=True)
class NearestPassage:
    """How near passages are to a question, by passage id: cosine in [-1, 1], and BM25 per term."""

    cosines: Mapping[int, float]
    words: Mapping[int, tuple[TermScore, ...]]


@dataclass(frozen=True, slots=True)
class MissingExplanation:
    """Why a document is missing, one sentence per reason, in order. passages: number of its passages; admitted: those
    the filters admit; found: those that were candidates; best: the admitted one nearest to the question."""

    document: Document
    reasons: tuple[str, ...]
    passages: int = 0
    admitted: int = 0
    found: int = 0
    best: Passage | None = None


def why_not(
    result: SearchResult,
    document: Document,
    passages: Sequence[Passage],
    text_matches: PassageIds | None,
    near: NearestPassage,
) -> MissingExplanation:
    """passages: of the document. text_matches: the passages that meet the question's phrase and exclusion
    conditions, None without such conditions. near: how near the document's passages are to the question."""
    if document.state is not DocumentState.READY and not passages:
        state = f"it could not be read: {document.failure}" if document.failure else "it is still being read"
        return MissingExplanation(document, (f"Nothing of it can be found: {state}.",))
    reasons = [*_filtered(result.filters, passages)]
    admitted = [each for each in passages if result.filters.admits(each)]
    if text_matches is not None:
        able = {int(i) for i in text_matches}
        unsaid = [each for each in admitted if each.id not in able]
        admitted = [each for each in admitted if each.id in able]
        if unsaid:
            reasons.append(f"A quoted phrase or a left-out word keeps out {_share(unsaid, passages)}.")
    known = {each.passage.id for each in result.candidates}
    found = [each for each in admitted if each.id in known]
    best = max(admitted, key=lambda each: near.cosines.get(each.id, -1.0), default=None)
    if best is not None and not found:
        reasons += _not_found(result, admitted, best, near)
    elif found:
        reasons.append(f"Found: {_share(found, passages)}; each is shown, or listed below with its reason.")
    return MissingExplanation(document, tuple(reasons), len(passages), len(admitted), len(found), best)


def _filtered(filters: SearchFilters, passages: Sequence[Passage]) -> list[str]:
    """One sentence per filter that excludes passages, with the values they have instead."""
    sentences = []
    for alone, attribute in _single(filters):
        out = [each for each in passages if not alone.admits(each)]
        if out:
            stated = alone.replace(archived=bool(alone.archived))
            words = "; ".join(stated.in_words()) or "archived documents are left out"
            values = sorted({_text(getattr(each, attribute)) for each in out})
            more = " …" if len(values) > _SHOWN_VALUES else ""
            values_text = "" if attribute == "document_id" else f" ({', '.join(values[:_SHOWN_VALUES])}{more})"
            sentences.append(f"The filter “{words}” leaves out {_share(out, passages)}{values_text}.")
    return sentences


def _single(filters: SearchFilters) -> list[tuple[SearchFilters, str]]:
    """Each set filter by itself, with the passage attribute it reads."""
    everything = SearchFilters(archived=None)
    single = []
    for field in FIELDS:
        for name in (field.name, f"exclude_{field.name}"):
            if values := getattr(filters, name):
                changes = {name: values}
                if field.many and name == field.name:
                    changes[f"{field.name}_mode"] = getattr(filters, f"{field.name}_mode")
                single.append((everything.replace(**changes), field.attribute))
    if filters.dated:
        dates = ("date_from", "date_to", "recency_months", "include_undated")
        single.append((everything.replace(**{name: getattr(filters, name) for name in dates}), "date"))
    if filters.archived is not None:
        single.append((SearchFilters(archived=filters.archived), "archived"))
    return single


def _text(value: object) -> str:
    match value:
        case None:
            return "unknown"
        case bool():
            return "archived" if value else "not archived"
        case tuple():
            return ", ".join(map(str, value)) or "none"
    return f"{value:%Y-%m-%d}" if hasattr(value, "strftime") else str(value)


def _share(some: Sequence[Passage], every: Sequence[Passage]) -> str:
    if len(some) == len(every):
        return "all its passages" if len(every) > 1 else "its only passage"
    return f"{len(some)} of its {len(every)} passages"


def _not_found(result: SearchResult, admitted: Sequence[Passage], best: Passage, near: NearestPassage) -> list[str]:
    """How far its nearest passages are from the last ones found, by meaning and by keyword."""
    sentences = []
    if (last := _last(result.candidates, "dense")) is not None and best.id in near.cosines:
        own, needed = near.cosines[best.id], last.signals.similarity
        sentences.append(
            f"By meaning its nearest passage has similarity {own:.2f}; the {_count(result, 'dense')} nearest in the"
            f" library reach down to {needed:.2f}."
        )
    wordy = max(admitted, key=lambda each: _bm25(near, each.id))
    matched = tuple(dict.fromkeys(term.term for term in near.words.get(wordy.id, ()) if term.score > 0))
    asked = tuple(result.rarity)
    if asked and not matched:
        sentences.append(f"By keyword it shares none of: {', '.join(asked)}.")
    elif asked and (last := _last(result.candidates, "sparse")) is not None:
        sentences.append(
            f"By keyword its best passage holds {', '.join(matched)} ({len(matched)} of {len(asked)} words), BM25"
            f" {_bm25(near, wordy.id):.2f}; the {_count(result, 'sparse')} best reach down to {last.signals.bm25:.2f}."
        )
    return sentences


def _bm25(near: NearestPassage, passage_id: int) -> float:
    return sum(term.score for term in near.words.get(passage_id, ()))


def _last(candidates: Sequence[Candidate], leg: str) -> Candidate | None:
    """The last candidate of a leg."""
    ranked = [each for each in candidates if leg in each.signals.ranks]
    return max(ranked, key=lambda each: each.signals.ranks[leg], default=None)


def _count(result: SearchResult, leg: str) -> int:
    return sum(leg in each.signals.ranks for each in result.candidates)
