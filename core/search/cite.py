"""Hits → the sentences that say so, and how a citation is written."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from core.documents import Document, Passage, Span
from core.matching import stem, words
from core.results import Candidate, Citation
from core.search.meaning import SentenceMeaning
from core.search.quotable import Quotable, quotables

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
HITS_MEASURED = 3
SENTENCES_MEASURED = 4
_MEASURED_LETTERS = 120
_REACH = 0.3
"""Meaning is measured where it can change the order, and only there: some 200 tokens a search, 40 ms on one core.
In the best three hits, of the four best sentences by words, those within _REACH of the first, by how each begins."""
_FULL_WORDS = 6
_WITHOUT_AMOUNT = 0.8
_COMPOUND = re.compile(r"[-/]")
_ASKS_FOR_AMOUNT = re.compile(
    r"(?i)\bhow (?:much|many|long|often|soon|fast|far|old|big|high|late|quickly)\b|\bwhen\b|\bby what\b"
    r"|\b(?:rate|limit|deadline|percentage|due date|amount|maximum|minimum|number of)\b"
)
_AMOUNT = re.compile(
    r"(?i)\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|half|(?:year|month|week|day|hour)s?)\b"
)


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
    question: str = "",
    similarity: Callable[[str], float] | None = None,
    most: int = CITATIONS_PER_HIT,
) -> tuple[Citation, ...]:
    """The sentences of a passage that answer best, best first; `quote == page text[start:end]`, always.

    rarity: question term → inverse document frequency. similarity: cosine of the question and a text, when measured.
    """
    told = _by_words(passage, question, rarity)
    if similarity is not None:
        told = _by_meaning(told, {item.text: similarity(item.text) for item in _contenders(told)})
    return _citations(passage, document, told[:most])


def cite_hits(
    candidates: Sequence[Candidate],
    documents: Mapping[int, Document],
    question: str,
    rarity: Mapping[str, float],
    meaning: SentenceMeaning | None = None,
) -> list[tuple[Citation, ...]]:
    """The citations of each hit, hits best first; in the best three, meaning counts as much as words.

    All sentences whose meaning counts are measured in one batch.
    """
    told = [_by_words(candidate.passage, question, rarity) for candidate in candidates]
    texts = [item.text for items in told[:HITS_MEASURED] for item in _contenders(items)]
    cosines = meaning.cosines(question, texts) if meaning is not None and texts else {}
    told[:HITS_MEASURED] = [_by_meaning(items, cosines) for items in told[:HITS_MEASURED]]
    return [
        _citations(candidate.passage, documents[candidate.passage.document_id], items[:CITATIONS_PER_HIT])
        for candidate, items in zip(candidates, told, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Told:
    """What a part of a passage says. text: with its column names, as it is embedded. words: how much of the question
    its words hold. fullness: how much it can say at all; both in [0, 1]."""

    part: Quotable
    text: str
    words: float
    fullness: float
    relevance: float

    @property
    def order(self) -> tuple[int, float, int]:
        """Sorts sentences and rows before headers and headings, then by relevance."""
        return self.part.kind, -self.relevance, self.part.index


def _by_words(passage: Passage, question: str, rarity: Mapping[str, float]) -> list[_Told]:
    told = []
    amount = _ASKS_FOR_AMOUNT.search(question) is not None
    for part in quotables(passage):
        sentence = part.span.of(passage.text)
        held = sentence_relevance(sentence, rarity, beside=f"{part.beside} {passage.section}")
        fullness = _fullness(sentence) * (_WITHOUT_AMOUNT if amount and not _AMOUNT.search(sentence) else 1.0)
        text = f"{part.beside}\n{sentence[:_MEASURED_LETTERS]}" if part.beside else sentence[:_MEASURED_LETTERS]
        told.append(_Told(part, text, held, fullness, held * fullness))
    return sorted(told, key=lambda item: item.order)


def _contenders(told: Sequence[_Told]) -> list[_Told]:
    """The sentences that could be the first; none when the words leave no doubt."""
    first = told[0]
    near = [
        item
        for item in told[:SENTENCES_MEASURED]
        if item.part.kind is first.part.kind and item.relevance >= first.relevance - _REACH
    ]
    return near if len(near) > 1 else []


def _by_meaning(told: Sequence[_Told], cosines: Mapping[str, float]) -> list[_Told]:
    """Words and meaning in equal parts; what was not measured counts as unlike, so that it cannot overtake."""
    if told[0].text not in cosines:
        return list(told)
    valued = []
    for item in told:
        cosine = min(max(cosines.get(item.text, 0.0), 0.0), 1.0)
        valued.append(replace(item, relevance=(item.words + cosine) / 2 * item.fullness))
    return sorted(valued, key=lambda item: item.order)


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


def stems_of(text: str) -> set[str]:
    """The stems of a text's words and of the parts of its compounds."""
    return {stem(part) for word in words(text) for part in (word, *_COMPOUND.split(word)) if part}


def citation_of(passage: Passage, document: Document, index: int, relevance: float = 1.0) -> Citation:
    """The citation of one sentence of a passage, by its 0-based place; the whole passage when it has no sentences."""
    span = passage.sentences[index] if passage.sentences else Span(0, len(passage.text))
    return _citation(passage, document, index, span, relevance)


def _citations(passage: Passage, document: Document, told: Sequence[_Told]) -> tuple[Citation, ...]:
    return tuple(_citation(passage, document, item.part.index, item.part.span, item.relevance) for item in told)


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
