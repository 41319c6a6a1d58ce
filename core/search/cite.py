"""Hits → the sentences that say so, and how a citation is written."""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache

from core.documents import Document, Passage, Span
from core.matching import stem, words
from core.results import Candidate, Citation
from core.search.quotable import quotables
from core.tables.answer_kinds import answer_kinds

__all__ = [
    "CITATIONS_PER_HIT",
    "CitationStyle",
    "cite",
    "cite_hits",
    "distinct",
    "sentence_relevance",
    "stems_of",
    "written",
]

CITATIONS_PER_HIT = 3
_FULL_WORDS = 6
_WITHOUT_ANSWER = 0.8
"""What a sentence counts that does not hold the kind of answer asked for."""
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
    kind: str = "",
    cosines: Sequence[float] = (),
    most: int = CITATIONS_PER_HIT,
) -> tuple[Citation, ...]:
    """The sentences of a passage that answer best, best first; `quote == page text[start:end]`, always.

    rarity: question term → inverse document frequency. kind: of answer asked for, "" for any. cosines: per sentence its
    nearness in meaning to the question, in [0, 1]; then words and meaning count in equal parts, else words alone.
    """
    wanted = answer_kinds().get(kind)
    told = []
    for part in quotables(passage):
        sentence = part.span.of(passage.text)
        held = sentence_relevance(sentence, rarity, beside=f"{part.beside} {passage.section}")
        fullness = _fullness(sentence) * (_WITHOUT_ANSWER if wanted and not wanted.held_in(sentence) else 1.0)
        near = cosines[part.index] if part.index < len(cosines) else None
        relevance = (held if near is None else (held + near) / 2) * fullness
        told.append((part, relevance))
    told.sort(key=lambda item: (item[0].kind, -item[1], item[0].index))
    return tuple(_citation(passage, document, part.index, part.span, value) for part, value in told[:most])


def cite_hits(
    candidates: Sequence[Candidate],
    documents: Mapping[int, Document],
    rarity: Mapping[str, float],
    kind: str,
) -> list[tuple[Citation, ...]]:
    """The citations of each hit."""
    return [
        cite(each.passage, documents[each.passage.document_id], rarity, kind=kind, cosines=each.signals.sentences)
        for each in candidates
    ]


def _fullness(sentence: str) -> float:
    """1 from six words on, down to ½ for none: "Standard mileage rate." names what the next sentence says."""
    return 0.5 + 0.5 * min(len(words(sentence)) / _FULL_WORDS, 1.0)


def sentence_relevance(sentence: str, rarity: Mapping[str, float], *, beside: str = "") -> float:
    """Share of the question's words a sentence holds, each weighed by its rarity; in [0, 1], 0 without words.

    beside: what the sentence is read with (headings, column names); a word that stands only there counts half.

    >>> sentence_relevance("Deposits are due monthly.", {"deposit": 3.0, "semiweekly": 1.0})
    0.75
    """
    total = sum(rarity.values())
    if total <= 0:
        return 0.0
    own, other = stems_of(sentence), stems_of(beside)
    shares = ((stem(term), value) for term, value in rarity.items())
    return min(sum(v if s in own else v / 2 if s in other else 0.0 for s, v in shares) / total, 1.0)


# What a sentence is read with is the same for the sentences of a section.
@lru_cache(maxsize=4096)
def stems_of(text: str) -> frozenset[str]:
    """The stems of a text's words and of the parts of its compounds."""
    return frozenset(stem(part) for word in words(text) for part in (word, *_COMPOUND.split(word)) if part)


def citation_of(passage: Passage, document: Document, index: int, relevance: float = 1.0) -> Citation:
    """The citation of one sentence of a passage, by its 0-based place; the whole passage when it has no sentences."""
    span = passage.sentences[index] if passage.sentences else Span(0, len(passage.text))
    return _citation(passage, document, index, span, relevance)


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
