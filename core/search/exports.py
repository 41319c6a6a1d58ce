"""A search result as data, text and files: JSON, plain text, a Markdown report, CSV and a workbook."""
# Over 300 lines: one result in six formats, which share how a passage and its citations are written.

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.domain.documents import Document, Passage
from core.domain.results import Dropped, DropReason, Hit, Score, SearchResult, web_address
from core.formats.csv import inert
from core.formats.spreadsheet import Sheet, csv_bytes, workbook_bytes
from core.formats.terminal import json_text
from core.search.citations.bibliography import CitedSource, bibliography, citations_data, result_citations, source_data
from core.search.citations.cite import CitationStyle, display_quote, linked, written
from core.search.explanation import factor_label, strip_words
from core.search.ranking.answerability import truths_words, unanswered_words
from core.search.result_data import page_words, rerank_words, result_data

__all__ = [
    "FORMATS",
    "SCHEMA",
    "ResultFormat",
    "export_data",
    "file_name",
    "markdown_line",
    "result_csv",
    "result_json",
    "result_markdown",
    "result_text",
    "result_xlsx",
]


def result_text(result: SearchResult) -> str:
    """The hits with score, source and best sentence; or the reason why there are none."""
    lines = [f"! {notice}" for notice in result.notices]
    if result.filters_in_words:
        lines.append(f"Only: {'; '.join(result.filters_in_words)}.")
    if result.undated_left_out:
        lines.append(f"{result.undated_left_out} undated documents were left out by the date filter.")
    if not result.answered:
        lines.append(f"{unanswered_words(result)} {result.silence}".rstrip())
    lines += filter(None, [truths_words(result)])
    lines += [_hit_text(hit) for hit in result.hits]
    reading = f", {rerank_words(result)}" if result.request.rerank else ""
    end = f"{page_words(result)} in {result.milliseconds:.0f} ms ({result.profile.ref}{reading})."
    return "\n".join([*lines, end])


def _hit_text(hit: Hit) -> str:
    passage = hit.candidate.passage
    labels = [part for part in (passage.truth, passage.authority, passage.jurisdiction) if part]
    best = next(iter(hit.citations), None)
    location = written(best, CitationStyle.BRIEF) if best else passage.document_name
    quote = display_quote(best.quote if best else passage.text)
    return f"{hit.rank:2}. {hit.score.total:.3f}  {location}  {', '.join(labels)}\n    {quote}"


_SIGNS = re.compile(r"([\\`*_\[\]|~#$!{}])")

_LEADING = re.compile(r"^(?=[-+=@])|^(\d+)(?=[.)])")

_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})

_MOST_LEFT_OUT = 10  # of each reason

_WHY = {
    DropReason.EARLIER_PAGE: "On an earlier page",
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
    reading = f", {rerank_words(result)}" if result.request.rerank else ""
    found = page_words(result) if result.total else "Nothing found"
    yield f"{found}, profile {markdown_line(result.profile.ref)}{reading}."
    if result.filters_in_words:
        yield f"Only: {markdown_line('; '.join(result.filters_in_words))}."
    if result.undated_left_out:
        yield f"{result.undated_left_out} undated documents were left out by the date filter."
    yield from (f"\n> ⚠ {markdown_line(notice)}" for notice in result.notices)
    if not result.answered:
        yield f"\n**{markdown_line(unanswered_words(result))}** {markdown_line(result.silence)}"
    if result.truths:
        yield f"\n{markdown_line(truths_words(result))}"


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
            number = numbers[citation.citation_id]
            yield f"> “{markdown_line(display_quote(citation.quote))}” {linked(citation)} ({number})"
            yield ""
        date = passage.date.date().isoformat() if passage.date else "undated"
        labels = [passage.truth, passage.authority, passage.jurisdiction, passage.domain, date]
        yield f"{markdown_line(', '.join(str(each) for each in labels if each))}."
        yield ""
        if passage.keywords:
            yield f"Keywords: {markdown_line(', '.join(passage.keywords))}."
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
        facts = [source.source_type, source.date.date().isoformat() if source.date else "undated"]
        kind = f" ({', '.join(filter(None, facts))})"
        url = web_address(source.url)
        link = f" <{url}>" if url else ""
        yield f"{source.number}. {title}{markdown_line(source.written)}{kind}{link} SHA-256 {source.sha256}"


SCHEMA = "fivefold.search/1"
_UNSAFE = re.compile(r"[^\w]+")
_MOST_NAME_LETTERS = 60  # of a file name made of a question. Chosen by hand.
_FACTS = ("rank", "score", "document", "page", "rows", "section", "truth", "authority", "domain", "jurisdiction")
_SOURCE_FACTS = ("title", "url", "source type")
_QUOTE_FACTS = ("date", "quote", "citation", "citation id", "passage", "similar", "keywords")
_HEADS = (*_FACTS, *_QUOTE_FACTS, "sha256", *_SOURCE_FACTS)


@dataclass(frozen=True, slots=True)
class ResultFormat:
    """A download format. label: text of its button; ending: with the dot; made: returns the file's bytes."""

    name: str
    label: str
    ending: str
    media_type: str
    made: Callable[[SearchResult], bytes]


def file_name(question: str, ending: str, what: str = "results") -> str:
    """A file name made from a question or a title, valid on every file system. what: what is in the file.

    >>> file_name("When must overtime be paid (CA)?", ".csv"), file_name("../..", ".md"), file_name("con", ".csv")
    ('when-must-overtime-be-paid-ca-results.csv', 'search-results.md', 'con-results.csv')
    >>> file_name("For the board", ".docx", "brief")
    'for-the-board-brief.docx'
    """
    words = _UNSAFE.sub("-", question.lower()).strip("-_")
    if len(words) > _MOST_NAME_LETTERS:
        words = words[:_MOST_NAME_LETTERS].rpartition("-")[0] or words[:_MOST_NAME_LETTERS]
    return f"{words or 'search'}-{what}{ending}"


# One row per hit


def result_csv(result: SearchResult) -> bytes:
    """One row per hit: its source, its best sentence, and every part of its score with full precision.

    score = Σ "… adds" × Π "× …", as in the result; an empty cell means the hit's score has no such part.
    """
    heads, rows = _hit_rows(result)
    return csv_bytes(heads, rows)


def _hit_rows(result: SearchResult) -> tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]:
    factors = tuple(dict.fromkeys(factor.name for hit in result.hits for factor in hit.score.factors))
    multipliers = tuple(dict.fromkeys(each.name for hit in result.hits for each in hit.score.multipliers))
    parts = (*(f"{name} adds" for name in factors), *(f"× {name}" for name in multipliers))
    rows = []
    for hit in result.hits:
        adds = {factor.name: factor.contribution for factor in hit.score.factors}
        times = {each.name: each.value for each in hit.score.multipliers}
        contributions = (*(adds.get(name) for name in factors), *(times.get(name) for name in multipliers))
        rows.append((*_hit_row(hit, result), *contributions))
    return (*_HEADS, *parts), tuple(rows)


def _hit_row(hit: Hit, result: SearchResult) -> tuple[Any, ...]:
    passage = hit.candidate.passage
    document, best = result.documents[passage.document_id], next(iter(hit.citations), None)
    return (
        hit.rank,
        hit.score.total,
        *_location(passage, document),
        passage.truth,
        passage.authority,
        passage.domain,
        passage.jurisdiction,
        passage.date.date() if passage.date else None,
        best.quote if best else passage.text,
        written(best, CitationStyle.FULL) if best else document.name,
        best.citation_id if best else "",
        passage.text,
        len(hit.similar),
        ", ".join(passage.keywords),
        document.sha256,
        document.title or document.name,
        document.url,
        document.source_type,
    )


def _location(passage: Passage, document: Document | None) -> tuple[Any, ...]:
    """Document, page, rows, section."""
    rows = f"{passage.rows[0]}–{passage.rows[1]}" if passage.rows else None
    return passage.document_name, passage.page if document and document.paged else None, rows, passage.section


# A workbook


def result_xlsx(result: SearchResult) -> bytes:
    """A workbook: hits, score breakdown, citations, dropped candidates, sources, and the search itself."""
    heads, rows = _hit_rows(result)
    hit_widths = (6, 8, 34, 7, 9, 28, 13, 13, 13, 14, 11, 80, 40, 12, 60, 9, 40, 20, 30, 30, 12)
    widths = (*hit_widths, *([10] * (len(heads) - len(_HEADS))))
    sources = bibliography(result_citations(result), result.documents)
    return workbook_bytes(
        (
            Sheet("Results", heads, rows, widths),
            _scores(result),
            _citations(result),
            _left_out_rows(result),
            _source_rows(sources),
            Sheet("Search", ("what", "value"), tuple(_facts(result)), (24, 100)),
        )
    )


def _scores(result: SearchResult) -> Sheet:
    heads = ("rank", "document", "part", "value", "weight", "adds", "why")
    rows = tuple(
        (hit.rank, hit.candidate.passage.document_name, *part) for hit in result.hits for part in _parts(hit.score)
    )
    return Sheet("Scores", heads, rows, (6, 34, 22, 12, 10, 12, 90))


def _parts(score: Score) -> Iterator[tuple[Any, ...]]:
    """Part, value, weight, contribution, reason; the total last."""
    for factor in score.factors:
        yield factor_label(factor.name), factor.value, factor.weight, factor.contribution, factor.reason
    for each in score.multipliers:
        yield f"× {factor_label(each.name)}", each.value, None, None, each.reason
    yield "Total", score.total, None, score.total, ""


def _citations(result: SearchResult) -> Sheet:
    heads = (
        "rank",
        "citation id",
        "quote",
        "document",
        "page",
        "relevance",
        "truth",
        "date",
        *_SOURCE_FACTS,
        *(style for style in CitationStyle),
    )
    rows = []
    for hit in result.hits:
        for each in hit.citations:
            styles = (written(each, style) for style in CitationStyle)
            columns = (each.citation_id, each.quote, each.document_name, each.page, each.relevance, each.truth)
            source = (each.date.date() if each.date else None, each.title, each.url, each.source_type)
            rows.append((hit.rank, *columns, *source, *styles))
    widths = (6, 12, 90, 34, 7, 10, 13, 11, 30, 30, 12, 34, 40, 40, 34)
    return Sheet("Citations", heads, tuple(rows), widths)


def _left_out_rows(result: SearchResult) -> Sheet:
    heads = ("document", "page", "rows", "section", "reason", "detail", "score", "passage")
    rows = tuple(
        (
            *_location(each.candidate.passage, result.documents.get(each.candidate.passage.document_id)),
            each.reason.value,
            each.detail,
            each.score.total if each.score else None,
            each.candidate.passage.text,
        )
        for each in result.dropped
    )
    return Sheet("Left out", heads, rows, (34, 7, 9, 28, 18, 50, 9, 80))


def _source_rows(sources: tuple[CitedSource, ...]) -> Sheet:
    heads = ("number", "document", "title", "url", "source type", "as written", "date", "citation ids", "sha256")
    rows = tuple(
        (
            each.number,
            each.name,
            each.title,
            each.url,
            each.source_type,
            each.written,
            each.date.date() if each.date else None,
            ", ".join(each.citation_ids),
            each.sha256,
        )
        for each in sources
    )
    return Sheet("Bibliography", heads, rows, (8, 34, 40, 30, 12, 60, 11, 30, 40))


def _facts(result: SearchResult) -> Iterator[tuple[str, Any]]:
    yield "question", result.request.question
    yield "profile", result.profile.ref
    yield "filters", "; ".join(result.filters_in_words) or "none"
    yield "route", result.route.category
    if result.answer_probability is None and any(leg.error for leg in result.legs):
        yield "answered", "not known"
    else:
        yield "answered", "probably" if result.answered else "probably not"
    if result.answer_probability is not None:
        yield "probability of an answer", round(result.answer_probability, 2)
    if result.silence:
        yield "what is missing", result.silence
    yield "results", len(result.hits)
    yield "results on all pages", result.total
    yield "more by a deeper search", "perhaps" if result.more else "no"
    yield "left out", len(result.dropped)
    yield "undated left out by the date filter", result.undated_left_out
    for leg in result.legs:
        outcome = leg.error or f"{leg.found} found, {leg.rows_after} of {leg.rows_before} passages searched"
        yield f"leg {leg.leg}", outcome
    if result.request.rerank:
        yield "passages reranked", result.reranked
        yield "rerank milliseconds", round(result.rerank_ms)
    for notice in result.notices:
        yield "notice", notice


# Data


def export_data(result: SearchResult) -> dict[str, Any]:
    """The whole result as data: `result_data` with all citations in full, dropped candidates, and sources."""
    data = result_data(result)
    for hit_data, hit in zip(data["hits"], result.hits, strict=True):
        hit_data["citations"] = citations_data(hit.citations)
    sources = bibliography(result_citations(result), result.documents)
    return {
        "schema": SCHEMA,
        **data,
        "left_out": [_dropped_data(each, result) for each in result.dropped],
        "bibliography": [source_data(each) for each in sources],
    }


def _dropped_data(dropped: Dropped, result: SearchResult) -> dict[str, Any]:
    passage = dropped.candidate.passage
    document, page, rows, section = _location(passage, result.documents.get(passage.document_id))
    return {
        "passage_id": passage.id,
        "document": document,
        "page": page,
        "rows": rows,
        "section": section,
        "reason": dropped.reason.value,
        "detail": dropped.detail,
        "score": dropped.score.total if dropped.score else None,
    }


def result_json(result: SearchResult) -> bytes:
    """`export_data` as indented JSON."""
    return f"{json_text(export_data(result))}\n".encode()


FORMATS: Mapping[str, ResultFormat] = {
    each.name: each
    for each in (
        ResultFormat("csv", "CSV", ".csv", "text/csv", result_csv),
        ResultFormat(
            "xlsx", "Excel", ".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", result_xlsx
        ),
        ResultFormat("json", "JSON", ".json", "application/json", result_json),
        ResultFormat("markdown", "Brief", ".md", "text/markdown", lambda result: result_markdown(result).encode()),
    )
}
"""The files a result can become, in the order of the buttons."""
