"""Selects the sentences that support a hit, and formats citations."""
# Over 300 lines: what can be quoted, which sentence is quoted, and its format are one step.

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from functools import lru_cache
from itertools import chain
from typing import Any

from core.domain.documents import Document, Passage, Span
from core.domain.results import Candidate, Citation
from core.knowledge.answer_kinds import AnswerKind, answer_kinds
from core.text.tokenize import stem, words

__all__ = [
    "CITATIONS_PER_HIT",
    "CitationStyle",
    "Quotable",
    "QuotableKind",
    "citation_data",
    "cite",
    "cite_hits",
    "cited_heading",
    "display_quote",
    "distinct",
    "linked",
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
    """A part of a passage that can be quoted. index: into `Passage.sentences`; last: of its last sentence, when it has
    several, else -1. beside: the column names of a table row, "" for anything else."""

    index: int
    span: Span
    kind: QuotableKind = QuotableKind.SENTENCE
    beside: str = ""
    last: int = -1

    def overlaps(self, other: "Quotable") -> bool:
        """Whether the two have a character in common."""
        return self.span.start < other.span.end and other.span.start < self.span.end


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

_WITHOUT_ANSWER = 0.5
"""Factor on the relevance of a sentence without the kind of answer asked for. Chosen by hand, not fitted."""

_MOST_JOINED = 600
"""Characters of a lead-in quoted with its items: what result cards show of a quote (700) with room for marks."""

_ITEM = re.compile(
    r"\s*(?:>\s*)*(?:[-*+•●○▪■□◦‣➢–—]\s|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]\s|\([\da-zA-Z]{1,4}\))"
)

_ENDS_OPEN = re.compile(
    r"(?::|[–—]|\b(?:is|are|was|were|be|by|to|of|for|from|in|on|with|that|which|who|whom|whose|where|when|if|unless"
    r"|shall|must|may|will|the|an?|includes?|including|means|either))[\s*_]*$",
    re.I,
)
"""The end of a sentence that goes on in a list: a colon, a dash, or a word that nothing can end with."""

_LONGEST_ENDING = len("including")

_ANNOUNCES = re.compile(r"\b(?:the following|as follows|(?:listed|set out|described|given) below|following)\b", re.I)


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

    rarity: question term → inverse document frequency. kind: of answer asked for, "" for any; sentences that hold it
    come first. A sentence that only leads in to a list is cited with its items, or after all others. cosines: per
    sentence with the question, in [0, 1]; if given, words and cosine count equally, else words alone."""
    answer_kind = answer_kinds().get(kind)
    shares, total = [(stem(term), value) for term, value in rarity.items()], sum(rarity.values())
    weighed = []
    for part in _with_items(quotables(passage), passage.text, answer_kind):
        sentence = part.span.of(passage.text)
        own, length = _stems_and_length(sentence)
        keyword_relevance = _relevance(own, shares, total, beside=f"{part.beside} {passage.section}")
        holds_answer = answer_kind is None or bool(answer_kind.answer_in(sentence))
        fullness = _fullness(length) * (1.0 if holds_answer else _WITHOUT_ANSWER)
        near = max(cosines[part.index : max(part.index, part.last) + 1], default=None)
        relevance = (keyword_relevance if near is None else (keyword_relevance + near) / 2) * fullness
        weighed.append((part, relevance))
    weighed.sort(key=lambda item: (item[0].kind, -item[1], item[0].index))
    chosen: list[tuple[Quotable, float]] = []
    for part, relevance in weighed:
        if len(chosen) < most and not any(each.overlaps(part) for each, _ in chosen):
            chosen.append((part, relevance))
    return tuple(_citation(passage, document, part.index, part.span, value) for part, value in chosen)


def _with_items(parts: Sequence[Quotable], text: str, answer_kind: AnswerKind | None) -> Iterator[Quotable]:
    """The parts, each lead-in joined with what it announces: up to the last item with the kind of answer asked for, or
    as many items as a quote may hold. A lead-in whose items are in the next passage is quoted last."""
    for at, part in enumerate(parts):
        announced = _announced(parts, at, text)
        if announced is None:
            yield part
        elif not announced:
            yield replace(part, kind=QuotableKind.HEADER)
        else:
            fitting = [each for each in announced if each.span.end - part.span.start <= _MOST_JOINED] or announced[:1]
            answering = [each for each in fitting if answer_kind and answer_kind.answer_in(each.span.of(text))]
            last = (answering or fitting)[-1]
            yield replace(part, span=Span(part.span.start, last.span.end), last=last.index)


def _announced(parts: Sequence[Quotable], at: int, text: str) -> list[Quotable] | None:
    """The items that follow a lead-in, or the one sentence; None for a part that is no lead-in."""
    part = parts[at]
    sentence = part.span.of(text)
    if part.kind is not QuotableKind.SENTENCE or _cells(sentence):
        return None
    following = parts[at + 1 :]
    item_next = bool(following) and _is_item(following[0], text)
    if not _ends_open(sentence) and not (item_next and _ANNOUNCES.search(sentence)):
        return None
    found: list[Quotable] = []
    for each in following:
        gap = text[(found[-1] if found else part).span.end : each.span.start]
        if each.kind is QuotableKind.HEADING or (found and "\n" in gap and not _is_item(each, text)):
            break
        found.append(each)
    return found


def _ends_open(sentence: str) -> bool:
    """Whether the pattern matches at the end; it is not tried at the places before."""
    end = sentence
    while (shorter := end.rstrip().rstrip("*_")) != end:
        end = shorter
    return bool(_ENDS_OPEN.search(sentence, max(0, len(end) - _LONGEST_ENDING)))


def _is_item(part: Quotable, text: str) -> bool:
    sentence = part.span.of(text)
    return bool(_ITEM.match(sentence) or _cells(sentence))


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


def _fullness(words_in_sentence: int) -> float:
    """1 from six words on, down to ½ for none: a heading such as "Standard mileage rate." only introduces a
    sentence."""
    return 0.5 + 0.5 * min(words_in_sentence / _FULL_WORDS, 1.0)


def sentence_relevance(sentence: str, rarity: Mapping[str, float], *, beside: str = "") -> float:
    """Share of the question's words a sentence contains, weighted by rarity; in [0, 1], 0 without words.

    beside: headings and column names of the sentence; a word found only there counts half.

    >>> sentence_relevance("Deposits are due monthly.", {"deposit": 3.0, "semiweekly": 1.0})
    0.75
    """
    shares = [(stem(term), value) for term, value in rarity.items()]
    return _relevance(stems_of(sentence), shares, sum(rarity.values()), beside=beside)


def _relevance(own: Collection[str], shares: Sequence[tuple[str, float]], total: float, *, beside: str) -> float:
    """As `sentence_relevance`, of the stems of a sentence. shares: the stem of each word with its rarity; total: their
    sum."""
    if total <= 0:
        return 0.0
    other = stems_of(beside)
    return min(sum([v if s in own else v / 2 if s in other else 0.0 for s, v in shares]) / total, 1.0)


def stems_of(text: str) -> frozenset[str]:
    """The stems of a text's words and of the parts of its compounds."""
    return _stems_and_length(text)[0]


# Cached: the sentences of a section share their context.
@lru_cache(maxsize=4096)
def _stems_and_length(text: str) -> tuple[frozenset[str], int]:
    """What `stems_of` gives, and the number of words."""
    own = words(text)
    parts = [part for word in own if "-" in word for part in word.split("-") if part] if "-" in text else ()
    return frozenset(map(stem, chain(own, parts))), len(own)


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
        title=document.title or document.name,
        url=document.url,
        source_type=document.source_type,
    )


def written(citation: Citation, style: CitationStyle | str) -> str:
    """Format a citation in one of the four styles.

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
            title = citation.title or citation.document_name or "Source"
            return f"[{_escape(title)}]({citation.address or '#'})"


def linked(citation: Citation) -> str:
    """The place of a citation as a Markdown link to its document, escaped: `[IRS\\_Pub\\_15.pdf, p.5](https://…)`."""
    location = _escape(_brief(citation)[1:-1])
    return f"[{location}]({citation.address})" if citation.address else f"\\[{location}\\]"


def _escape(label: str) -> str:
    return re.sub(r"([\\`*_\[\]<>|~#$!{}&])", r"\\\1", " ".join(label.split()))


def _brief(citation: Citation) -> str:
    location = _location(citation, "p.")
    return f"[{citation.document_name}, {location}]" if location else f"[{citation.document_name}]"


def _academic(citation: Citation) -> str:
    author = f"{citation.authority.capitalize()}. " if citation.authority else ""
    location = _location(citation, "Page ")
    end = "" if location.endswith((".", "?", "!", "…")) else "."
    return f"{author}{citation.document_name}." + (f" {location[0].upper()}{location[1:]}{end}" if location else "")


_HEADING = 60  # characters of a heading that stands for a place
_ENDS_CITATION = re.compile(r"[\[\];]")


def _location(citation: Citation, page: str) -> str:
    """Rows, page, or, where a document has neither, the heading the sentence is under."""
    if citation.rows is not None:
        first, last = citation.rows
        return f"row {first}" if first == last else f"rows {first}–{last}"
    if citation.page is not None:
        return f"{page}{citation.page}"
    return cited_heading(citation.section)


def cited_heading(section: str) -> str:
    """The last heading of a section's path, as a citation writes it: in one line, cut, without what ends a citation.

    >>> cited_heading("Taxes › When [and how]  to pay")
    'When and how to pay'
    """
    heading = " ".join(_ENDS_CITATION.sub(" ", section.rsplit(" › ", 1)[-1]).split())
    return heading if len(heading) <= _HEADING else f"{heading[: _HEADING - 1].rstrip()}…"


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
        "title": citation.title,
        "url": citation.url,
        "source_type": citation.source_type,
        "date": citation.date.isoformat() if citation.date else None,
        "sha256": citation.sha256,
        "page": citation.page,
        "start": citation.start,
        "end": citation.end,
        "quote": citation.quote,
        "relevance": citation.relevance,
    }
