"""Selects the sentences that support a hit, and formats citations."""
# Over 300 lines: what can be quoted, which sentence is quoted, and its format are one step.

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import lru_cache
from typing import Any

from core.domain.documents import Document, Passage, Span
from core.domain.results import Candidate, Citation
from core.knowledge.answer_kinds import answer_kinds
from core.text.tokenize import stem, words

__all__ = [
    "CITATIONS_PER_HIT",
    "CitationStyle",
    "Quotable",
    "QuotableKind",
    "citation_data",
    "cite",
    "cite_hits",
    "display_quote",
    "distinct",
    "quotables",
    "sentence_relevance",
    "stems_of",
    "written",
]

_LETTER = re.compile(r"[^\W_]")

_FENCE = re.compile(r"(?:`{3,}|~{3,})\s*[\w.+-]*$")

_HASHES = re.compile(r"#{1,6}\s[^\n]*$")

_UNDERLINED = re.compile(r"[^\n]+\n[ \t]*(?:=+|-+)[ \t]*$")

_RULED_BELOW = re.compile(r"[ \t]*\n[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*(?:\n|$)")

_BAR = re.compile(r"(?<!\\)\|")

_MARKS = re.compile(r"\s*(?:>\s*)*(?:#{1,6}\s+|[-*+•●○▪■◦➢]\s+)?(?=\S)")

_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s+\"[^\"]*\")?\)")

_EMPHASIS = re.compile(r"(?<![\w\\])(\*{1,3}|_{1,3}|`+)(?=[^\s*_`])(.+?)(?<=\S)\1(?!\w)")

_MOST_COLUMN_LETTERS = 220
"""How much of the column names `Passage.context` holds (core.ingestion.chunking.ChunkSizes.context)."""


class QuotableKind(IntEnum):
    """The kind of a part of a passage; lower ones are quoted first."""

    SENTENCE = 0
    HEADER = 1
    HEADING = 2


@dataclass(frozen=True, slots=True)
class Quotable:
    """A part of a passage that can be quoted. index: into `Passage.sentences`. beside: the column names of a table row,
    "" for anything else."""

    index: int
    span: Span
    kind: QuotableKind = QuotableKind.SENTENCE
    beside: str = ""


def quotables(passage: Passage) -> tuple[Quotable, ...]:
    """The parts of a passage with content, in reading order; the whole passage when it has none."""
    named = {_plain(part) for part in passage.section.split("›")}
    context = [_tidy_columns(line) for line in passage.context.split("\n")]
    found = []
    columns = ""
    for index, span in enumerate(passage.sentences):
        text = span.of(passage.text)
        if not _LETTER.search(text) or _FENCE.match(text):
            continue
        cells = _cells(text)
        if cells and _is_header(cells, context, passage.text[span.end :]):
            columns = "; ".join(filter(None, cells))
            found.append(Quotable(index, span, QuotableKind.HEADER))
        elif cells:
            found.append(Quotable(index, span, beside=columns or _columns_beside(cells, context)))
        else:
            kind = QuotableKind.HEADING if _is_heading(text, named) else QuotableKind.SENTENCE
            found.append(Quotable(index, span, kind))
    return tuple(found) or (Quotable(0, Span(0, len(passage.text))),)


def _cells(text: str) -> list[str]:
    """The cells of a Markdown table row; empty for anything else."""
    line = text.strip()
    if "\n" in line or not (line.startswith("|") or " | " in line):
        return []
    return [cell.strip() for cell in _BAR.split(line.strip("|"))]


def _tidy_columns(line: str) -> str:
    return re.sub(r"(?:;\s*)+", "; ", line).strip("; ")


def _is_header(cells: Sequence[str], context: Sequence[str], following: str) -> bool:
    if _RULED_BELOW.match(following):
        return True
    joined = _tidy_columns("; ".join(cells))
    return len(joined) > 2 and joined[:_MOST_COLUMN_LETTERS].strip("; ") in context


def _columns_beside(cells: Sequence[str], context: Sequence[str]) -> str:
    """The column names of a table that began in an earlier passage: the context line with as many cells."""
    counts = {len(cells), sum(bool(cell) for cell in cells)} - {0, 1}
    return next((line for line in context if line.count("; ") + 1 in counts), "")


def _is_heading(text: str, named: Collection[str]) -> bool:
    return bool(_HASHES.match(text) or _UNDERLINED.match(text)) or _plain(text) in named


def _plain(heading: str) -> str:
    """A heading as one line without Markdown, at most 160 characters."""
    line = heading.strip().strip("#").replace("**", "").replace("__", "").replace("`", "")
    return " ".join(line.split())[:160]


def display_quote(quote: str) -> str:
    """A quote for display: without Markdown, table cells separated by dots. It may no longer match the page text.

    >>> display_quote("| Payroll file | **7 years** | [Finance](f.md) |"), display_quote("## 3. Who *approves*")
    ('Payroll file · 7 years · Finance', '3. Who approves')
    >>> display_quote("- keep `snake_case` and 2 * 3 * 4")
    'keep snake_case and 2 * 3 * 4'
    """
    return " ".join(line for line in map(_display_line, quote.split("\n")) if line)


def _display_line(line: str) -> str:
    if not _LETTER.search(line):
        return "" if set(line.strip()) <= set("|:-=+_*~ ") else line.strip()
    cells = _cells(line)
    text = " · ".join(cell.replace("\\|", "|") for cell in cells if cell) if cells else line[_end_of_marks(line) :]
    text = _LINK.sub(r"\1", text)
    for _ in range(2):  # ***both*** and **bold with *italics* inside**
        text = _EMPHASIS.sub(r"\2", text)
    return " ".join(text.split())


def _end_of_marks(line: str) -> int:
    found = _MARKS.match(line)
    return found.end() if found else 0


CITATIONS_PER_HIT = 3  # Chosen by hand.

_FULL_WORDS = 6  # a shorter sentence counts less as a citation, down to one half. Chosen by hand.

_WITHOUT_ANSWER = 0.8
"""Factor on the relevance of a sentence without the kind of answer asked for. Chosen by hand, not fitted."""

_COMPOUND = re.compile(r"[-/]")


class CitationStyle(StrEnum):
    """Format of a citation."""

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

    rarity: question term → inverse document frequency. kind: of answer asked for, "" for any. cosines: per sentence
    with the question, in [0, 1]; if given, words and cosine count equally, else words alone."""
    answer_kind = answer_kinds().get(kind)
    relevances = []
    for part in quotables(passage):
        sentence = part.span.of(passage.text)
        keyword_relevance = sentence_relevance(sentence, rarity, beside=f"{part.beside} {passage.section}")
        fullness = _fullness(sentence) * (
            _WITHOUT_ANSWER if answer_kind and not answer_kind.answer_in(sentence) else 1.0
        )
        near = cosines[part.index] if part.index < len(cosines) else None
        relevance = (keyword_relevance if near is None else (keyword_relevance + near) / 2) * fullness
        relevances.append((part, relevance))
    relevances.sort(key=lambda item: (item[0].kind, -item[1], item[0].index))
    return tuple(_citation(passage, document, part.index, part.span, value) for part, value in relevances[:most])


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
    """1 from six words on, down to ½ for none: a heading such as "Standard mileage rate." only introduces a
    sentence."""
    return 0.5 + 0.5 * min(len(words(sentence)) / _FULL_WORDS, 1.0)


def sentence_relevance(sentence: str, rarity: Mapping[str, float], *, beside: str = "") -> float:
    """Share of the question's words a sentence contains, weighted by rarity; in [0, 1], 0 without words.

    beside: headings and column names of the sentence; a word found only there counts half.

    >>> sentence_relevance("Deposits are due monthly.", {"deposit": 3.0, "semiweekly": 1.0})
    0.75
    """
    total = sum(rarity.values())
    if total <= 0:
        return 0.0
    own, other = stems_of(sentence), stems_of(beside)
    shares = ((stem(term), value) for term, value in rarity.items())
    return min(sum(v if s in own else v / 2 if s in other else 0.0 for s, v in shares) / total, 1.0)


# Cached: the sentences of a section share their context.
@lru_cache(maxsize=4096)
def stems_of(text: str) -> frozenset[str]:
    """The stems of a text's words and of the parts of its compounds."""
    return frozenset(stem(part) for word in words(text) for part in (word, *_COMPOUND.split(word)) if part)


def citation_of(passage: Passage, document: Document, index: int, relevance: float = 1.0) -> Citation:
    """The citation of one sentence of a passage, by 0-based index; of the whole passage when it has no sentences."""
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
    """Format a citation in one of the four styles; title and url are of its document, for markdown.

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
            label = re.sub(r"([\\`*_\[\]<>])", r"\\\1", " ".join((title or citation.document_name or "Source").split()))
            return f"[{label}]({_escaped_url(url) or '#'})"


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
    """Only web addresses and paths become links; characters that would end the link are percent-encoded."""
    if re.match(r"(?i)\s*(?!https?:)[a-z][a-z0-9+.-]*:", url):
        return ""
    return re.sub(r"[\s()<>\\]", lambda match: f"%{ord(match.group()):02X}", url.strip())


def distinct(citations: Iterable[Citation]) -> Sequence[Citation]:
    """The first citation of each passage, in order."""
    first: dict[int, Citation] = {}
    for citation in citations:
        first.setdefault(citation.passage_id, citation)
    return list(first.values())


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
