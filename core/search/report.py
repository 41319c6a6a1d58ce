"""A search result as data and as text, for what leaves the product."""

from typing import Any

from core.results import Citation, Hit, SearchResult
from core.search.cite import CitationStyle, written

__all__ = ["citation_data", "result_data", "result_text"]


def result_data(result: SearchResult) -> dict[str, Any]:
    """The whole answer as plain data for JSON."""
    return {
        "question": result.request.question,
        "profile": result.profile.ref,
        "answered": result.answered,
        "silence": result.silence,
        "filters": list(result.filters_in_words),
        "route": {
            "category": result.route.category,
            "confidence": result.route.confidence,
            "truths": {truth.value: weight for truth, weight in result.route.truths.items()},
            "domain": result.route.domain,
            "jurisdiction": result.route.jurisdiction,
        },
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
        "milliseconds": round(result.milliseconds, 2),
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
        "text": passage.text,
        "citations": [citation_data(citation) for citation in hit.citations],
        "similar": list(hit.similar),
    }


def citation_data(citation: Citation) -> dict[str, Any]:
    """A citation as plain data: start and end count characters of the page's extracted text."""
    return {
        "citation_id": citation.citation_id,
        "document": citation.document_name,
        "sha256": citation.sha256,
        "page": citation.page,
        "start": citation.start,
        "end": citation.end,
        "quote": citation.quote,
        "relevance": citation.relevance,
    }


def result_text(result: SearchResult) -> str:
    """The hits with score, place and best sentence; or in words why there are none."""
    lines = [f"! {notice}" for notice in result.notices]
    if result.filters_in_words:
        lines.append(f"Only: {'; '.join(result.filters_in_words)}.")
    if result.undated_left_out:
        lines.append(f"{result.undated_left_out} undated documents were left out by the date filter.")
    lines += [_hit_text(hit) for hit in result.hits] or [f"Nothing found. {result.silence}".rstrip()]
    return "\n".join([*lines, f"{len(result.hits)} results in {result.milliseconds:.0f} ms ({result.profile.ref})."])


def _hit_text(hit: Hit) -> str:
    passage = hit.candidate.passage
    said = [part for part in (passage.truth, passage.authority, passage.jurisdiction) if part]
    best = next(iter(hit.citations), None)
    place = written(best, CitationStyle.BRIEF) if best else passage.document_name
    quote = " ".join((best.quote if best else passage.text).split())
    return f"{hit.rank:2}. {hit.score.total:.3f}  {place}  {', '.join(said)}\n    {quote}"
