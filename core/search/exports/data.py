"""A search result as JSON data, plain text and a Markdown report."""

import re
from collections.abc import Iterator
from typing import Any

from core.domain.results import Dropped, DropReason, Hit, SearchResult
from core.formats.csv import inert
from core.search.citations.bibliography import bibliography, result_citations
from core.search.citations.cite import CitationStyle, citation_data, display_quote, written
from core.search.explanation.score_breakdown import factor_label, strip_words

__all__ = ["markdown_line", "result_data", "result_markdown", "result_text"]


def result_data(result: SearchResult) -> dict[str, Any]:
    """The whole result as plain data for JSON."""
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


def result_text(result: SearchResult) -> str:
    """The hits with score, source and best sentence; or the reason why there are none."""
    lines = [f"! {notice}" for notice in result.notices]
    if result.filters_in_words:
        lines.append(f"Only: {'; '.join(result.filters_in_words)}.")
    if result.undated_left_out:
        lines.append(f"{result.undated_left_out} undated documents were left out by the date filter.")
    lines += [_hit_text(hit) for hit in result.hits] or [f"Nothing found. {result.silence}".rstrip()]
    return "\n".join([*lines, f"{len(result.hits)} results in {result.milliseconds:.0f} ms ({result.profile.ref})."])


def _hit_text(hit: Hit) -> str:
    passage = hit.candidate.passage
    labels = [part for part in (passage.truth, passage.authority, passage.jurisdiction) if part]
    best = next(iter(hit.citations), None)
    place = written(best, CitationStyle.BRIEF) if best else passage.document_name
    quote = " ".join((best.quote if best else passage.text).split())
    return f"{hit.rank:2}. {hit.score.total:.3f}  {place}  {', '.join(labels)}\n    {quote}"


_SIGNS = re.compile(r"([\\`*_\[\]|~#$!{}])")

_LEADING = re.compile(r"^(?=[-+=@])|^(\d+)(?=[.)])")

_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})

_MOST_LEFT_OUT = 10  # of each reason

_WHY = {
    DropReason.NO_ANSWER: "It does not answer",
    DropReason.BEYOND_MAX: "Ranked after the last one shown",
    DropReason.BELOW_THRESHOLD: "Scored below the profile's threshold",
    DropReason.BELOW_FLOOR: "No evidence: neither similar enough nor a word in common",
    DropReason.COLLAPSED: "Says nearly the same as a better one",
    DropReason.FILTERED: "Left out by a filter",
}


def result_markdown(result: SearchResult) -> str:
    """The Markdown report; it renders the same with and without raw HTML, and quoted text cannot run as code."""
    return "\n".join([*_head(result), *_hits(result), *_left_out(result), *_sources(result)]) + "\n"


def markdown_line(text: str) -> str:
    """Plain text as one line of Markdown, escaped.

    >>> markdown_line("=1+1 <b> [a](b)"), markdown_line("1. *x*")
    ("'=1+1 &lt;b&gt; \\\\[a\\\\](b)", '1\\\\. \\\\*x\\\\*')
    """
    line = _SIGNS.sub(r"\\\1", " ".join(str(inert(text)).split()).translate(_ENTITIES))
    return _LEADING.sub(lambda match: f"{match[1] or ''}\\", line)


def _head(result: SearchResult) -> Iterator[str]:
    yield f"# {markdown_line(result.request.question)}"
    yield ""
    found = f"{len(result.hits)} result{'' if len(result.hits) == 1 else 's'}"
    yield f"{found if result.hits else 'Nothing found'}, profile {markdown_line(result.profile.ref)}."
    if result.filters_in_words:
        yield f"Only: {markdown_line('; '.join(result.filters_in_words))}."
    if result.undated_left_out:
        yield f"{result.undated_left_out} undated documents were left out by the date filter."
    yield from (f"\n> ⚠ {markdown_line(notice)}" for notice in result.notices)
    if result.silence:
        yield f"\n**Nothing in the library answers this.** {markdown_line(result.silence)}"


def _hits(result: SearchResult) -> Iterator[str]:
    numbers = {
        name: source.number
        for source in bibliography(result_citations(result), result.documents)
        for name in source.citation_ids
    }
    for hit in result.hits:
        yield from ("", f"## {hit.rank}. {markdown_line(_title(hit, result))}", "")
        passage = hit.candidate.passage
        for citation in hit.citations[:1]:
            place = markdown_line(written(citation, CitationStyle.BRIEF))
            yield f"> “{markdown_line(display_quote(citation.quote))}” {place} ({numbers[citation.citation_id]})"
            yield ""
        date = passage.date.date().isoformat() if passage.date else "undated"
        labels = [passage.truth, passage.authority, passage.jurisdiction, passage.domain, date]
        yield f"{markdown_line(', '.join(str(each) for each in labels if each))}."
        yield ""
        yield f"Score: {markdown_line(strip_words(hit.score))}"
        yield ""
        yield from _reasons(hit)


def _reasons(hit: Hit) -> Iterator[str]:
    """The reason of each score part; parts without effect are left out."""
    for factor in hit.score.factors:
        if factor.contribution > 0:
            yield f"- {factor_label(factor.name)}: {markdown_line(factor.reason)}"
    for each in hit.score.multipliers:
        if each.value != 1:
            yield f"- × {factor_label(each.name)} {each.value:.2f}: {markdown_line(each.reason)}"


def _title(hit: Hit, result: SearchResult) -> str:
    passage = hit.candidate.passage
    document = result.documents[passage.document_id]
    return f"{document.name}, {passage.section}" if passage.section else document.name


def _left_out(result: SearchResult) -> Iterator[str]:
    if not result.dropped:
        return
    yield from ("", "## What was left out")
    for reason, words in _WHY.items():
        candidates = [each for each in result.dropped if each.reason is reason]
        if candidates:
            yield from ("", f"**{words}** ({len(candidates)})", "")
        yield from (f"- {_miss(each, result)}" for each in candidates[:_MOST_LEFT_OUT])
        if len(candidates) > _MOST_LEFT_OUT:
            yield f"- and {len(candidates) - _MOST_LEFT_OUT} more"


def _miss(dropped: Dropped, result: SearchResult) -> str:
    passage = dropped.candidate.passage
    document = result.documents.get(passage.document_id)
    page = f", page {passage.page}" if document is not None and document.paged else ""
    score = f", score {dropped.score.total:.3f}" if dropped.score else ""
    return markdown_line(f"{passage.document_name}{page}{score}: {dropped.detail}")


def _sources(result: SearchResult) -> Iterator[str]:
    sources = bibliography(result_citations(result), result.documents)
    if sources:
        yield from ("", "## Bibliography", "")
    for source in sources:
        title = f"{markdown_line(source.title)}. " if source.title else ""
        yield f"{source.number}. {title}{markdown_line(source.written)} SHA-256 {source.sha256}"
