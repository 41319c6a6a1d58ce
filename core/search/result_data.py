"""A search result as plain data, and in words: which of how many results it lists, and what was reranked."""

from typing import Any

from core.domain.queries import Route, ScoreProfile, SearchRequest
from core.domain.results import Hit, SearchResult
from core.search.citations.cite import citation_data
from core.search.ranking.answerability import truths_words

__all__ = ["next_offset", "page_words", "rerank_words", "result_data", "total_words"]


def result_data(result: SearchResult) -> dict[str, Any]:
    """The whole result as plain data for JSON."""
    return {
        "question": result.request.question,
        "request": _request_data(result.request),
        "profile": result.profile.ref,
        "scoring": _scoring_data(result.profile),
        "answered": result.answered,
        "answer_probability": result.answer_probability,
        "silence": result.silence,
        "truths": dict(result.truths),
        "truths_in_words": truths_words(result),
        "filters": list(result.filters_in_words),
        "applied_filters": result.filters.data(),
        "route": _route_data(result.route),
        "total": result.total,
        "more": result.more,
        "hits": [_hit_data(hit, result) for hit in result.hits],
        "legs": [
            {
                "leg": leg.leg,
                "found": leg.found,
                "rows_before": leg.rows_before,
                "rows_after": leg.rows_after,
                "milliseconds": round(leg.milliseconds, 2),
                "error": leg.error,
            }
            for leg in result.legs
        ],
        "notices": list(result.notices),
        "undated_left_out": result.undated_left_out,
        "reranked": result.reranked,
        "rerank_ms": round(result.rerank_ms, 2),
        "milliseconds": round(result.milliseconds, 2),
    }


def _request_data(request: SearchRequest) -> dict[str, Any]:
    """What was asked for besides question, filters and profile; of a given vector only how long it is."""
    return {
        "top_k": request.top_k,
        "offset": request.offset,
        "only_routed": request.only_routed,
        "removed_chips": list(request.removed_chips),
        "weights": dict(request.weights) or None,
        "threshold": request.threshold,
        "half_life_days": request.half_life_days,
        "query_vector_dimensions": len(request.query_vector) or None,
        "rerank": request.rerank or None,
        "reranker_deadline": request.reranker_deadline,
    }


def _scoring_data(profile: ScoreProfile) -> dict[str, Any]:
    """What counted: the profile with what the request changed, and with the reranker's weight."""
    return {
        "weights": dict(profile.weights),
        "multipliers": dict(profile.multipliers),
        "threshold": profile.threshold,
        "floor": profile.floor,
        "half_life_days": profile.half_life_days,
    }


def _route_data(route: Route) -> dict[str, Any]:
    return {
        "category": route.category,
        "confidence": route.confidence,
        "truths": {truth.value: weight for truth, weight in route.truths.items()},
        "domain": route.domain,
        "jurisdiction": route.jurisdiction,
        "detected": [{"kind": each.kind, "value": each.value, "words": each.words} for each in route.chips],
    }


def _hit_data(hit: Hit, result: SearchResult) -> dict[str, Any]:
    passage, document = hit.candidate.passage, result.documents[hit.candidate.passage.document_id]
    return {
        "rank": hit.rank,
        "score": hit.score.total,
        "factors": [
            {
                "name": factor.name,
                "value": factor.value,
                "weight": factor.weight,
                "contribution": factor.contribution,
                "reason": factor.reason,
            }
            for factor in hit.score.factors
        ],
        "multipliers": [{"name": m.name, "value": m.value, "reason": m.reason} for m in hit.score.multipliers],
        "passage_id": passage.id,
        "document": document.name,
        "sha256": document.sha256,
        "page": passage.page if document.paged else None,
        "section": passage.section,
        "truth": passage.truth,
        "domain": passage.domain,
        "authority": passage.authority,
        "jurisdiction": passage.jurisdiction,
        "date": passage.date.isoformat() if passage.date else None,
        "keywords": list(passage.keywords),
        "text": passage.text,
        "citations": [citation_data(citation) for citation in hit.citations],
        "similar": list(hit.similar),
    }


def next_offset(result: SearchResult) -> int | None:
    """The offset of the page after a result's; None after the last one. Where deeper legs may bring others, that page
    can turn out to be empty."""
    end = result.request.offset + len(result.hits)
    return end if result.hits and (end < result.total or result.more) else None


def rerank_words(result: SearchResult) -> str:
    """How many passages the reranker read, and in what time."""
    return f"{result.reranked} reranked in {result.rerank_ms:.0f} ms"


def total_words(result: SearchResult) -> str:
    """How many results there are; "at least" where deeper legs may bring others."""
    named = f"{result.total:,} result{'' if result.total == 1 else 's'}"
    return f"at least {named}" if result.more else named


def page_words(result: SearchResult) -> str:
    """Which results are listed, of how many."""
    if not result.hits:
        return f"None of {total_words(result)}" if result.total else "0 results"
    first, last = result.hits[0].rank, result.hits[-1].rank
    if (first, last) == (1, result.total) and not result.more:
        return total_words(result)
    return f"Results {first:,}–{last:,} of {total_words(result)}"
