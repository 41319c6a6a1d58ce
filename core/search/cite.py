"""Hits → the sentences that say so, and how a citation is written."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum

from core.documents import Document, Passage, Span
from core.matching import stem, words
from core.results import Citation

__all__ = ["CITATIONS_PER_HIT", "CitationStyle", "cite", "distinct", "sentence_relevance", "written"]

CITATIONS_PER_HIT = 3
_COMPOUND = re.compile(r"[-/]")


class CitationStyle(StrEnum):
    """How a citation is written."""

    BRIEF = "brief"
    FULL = "full"
    ACADEMIC = "academic"
    MARKDOWN = "markdown"


def cite(
    passage: Passage,
    document: Document,
    rarity: Mapping[str, float],
    *,
    similarity: Callable[[str], float] | None = None,
    most: int = CITATIONS_PER_HIT,
) -> tuple[Citation, ...]:
    """The sentences of a passage that answer best, best first; `quote == page text[start:end]`, always.

    rarity: question term → inverse document frequency. similarity: cosine of question and sentence, when measured.
    """
    spans = [(index, span) for index, span in enumerate(passage.sentences) if span.of(passage.text).strip()]
    if not spans:
        spans = [(0, Span(0, len(passage.text)))]
    valued = []
    for index, span in spans:
        sentence = span.of(passage.text)
        relevance = sentence_relevance(sentence, rarity)
        if similarity is not None:
            relevance = (relevance + min(max(similarity(sentence), 0.0), 1.0)) / 2
        valued.append((relevance, index, span))
    valued.sort(key=lambda item: (-item[0], item[1]))
    return tuple(_citation(passage, document, index, span, relevance) for relevance, index, span in valued[:most])


def sentence_relevance(sentence: str, rarity: Mapping[str, float]) -> float:
    """Share of the question's words a sentence holds, each weighed by its rarity; in [0, 1], 0 without words.

    >>> sentence_relevance("Deposits are due monthly.", {"deposit": 3.0, "semiweekly": 1.0})
    0.75
    """
    total = sum(rarity.values())
    held = {stem(part) for word in words(sentence) for part in (word, *_COMPOUND.split(word)) if part}
    return min(sum(value for term, value in rarity.items() if stem(term) in held) / total, 1.0) if total > 0 else 0.0


def _citation(passage: Passage, document: Document, index: int, span: Span, relevance: float) -> Citation:
    return Citation(
        citation_id=f"{passage.id}.{index}",
        passage_id=passage.id,
        sentence_index=index,
        document_id=document.id,
        document_name=document.name,
        sha256=document.sha256,
        page=passage.page if document.paged else None,
        page_number=passage.page,
        section=passage.section,
        start=passage.start + span.start,
        end=passage.start + span.end,
        quote=span.of(passage.text),
        truth=passage.truth,
        authority=passage.authority,
        jurisdiction=passage.jurisdiction,
        date=passage.date,
        relevance=relevance,
        rows=passage.rows,
    )


def written(citation: Citation, style: CitationStyle | str, *, title: str = "", url: str = "") -> str:
    """A citation in one of the four styles; title and url are of its document, for markdown.

    brief `[IRS_Pub_15.pdf, p.5]`, full `[IRS_Pub_15.pdf, p.5] (government)`, markdown `[Title](URL)`,
    academic `Government. IRS_Pub_15.pdf. Page 5.`; table rows `[employees.csv, rows 12–18]`.

    Raises ValueError for an unknown style.
    """
    match CitationStyle(style):
        case CitationStyle.BRIEF:
            return _brief(citation)
        case CitationStyle.FULL:
            return f"{_brief(citation)} ({citation.authority})" if citation.authority else _brief(citation)
        case CitationStyle.ACADEMIC:
            return _academic(citation)
        case CitationStyle.MARKDOWN:
            shown = re.sub(r"([\\`*_\[\]<>])", r"\\\1", " ".join((title or citation.document_name or "Source").split()))
            return f"[{shown}]({_escaped_url(url) or '#'})"


def _brief(citation: Citation) -> str:
    place = _place(citation, "p.")
    return f"[{citation.document_name}, {place}]" if place else f"[{citation.document_name}]"


def _academic(citation: Citation) -> str:
    author = f"{citation.authority.capitalize()}. " if citation.authority else ""
    place = _place(citation, "Page ")
    return f"{author}{citation.document_name}." + (f" {place[0].upper()}{place[1:]}." if place else "")


def _place(citation: Citation, page: str) -> str:
    if citation.rows is not None:
        first, last = citation.rows
        return f"row {first}" if first == last else f"rows {first}–{last}"
    return f"{page}{citation.page}" if citation.page is not None else ""


def _escaped_url(url: str) -> str:
    """Only web addresses and paths become links; what would end the link early is percent-encoded."""
    if re.match(r"(?i)\s*(?!https?:)[a-z][a-z0-9+.-]*:", url):
        return ""
    return re.sub(r"[\s()<>\\]", lambda match: f"%{ord(match.group()):02X}", url.strip())


def distinct(citations: Iterable[Citation]) -> Sequence[Citation]:
    """The first citation of each passage, in order."""
    first: dict[int, Citation] = {}
    for citation in citations:
        first.setdefault(citation.passage_id, citation)
    return list(first.values())
