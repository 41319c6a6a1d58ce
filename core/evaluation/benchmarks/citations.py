"""Checks citations: whether each quote equals its page's characters, whether the mark covers exactly the quote, and
whether the first citation of a hit is the sentence that answers.

A mark covers the letters whose ink centre lies inside one of its boxes, read independently from the page itself.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from statistics import fmean
from typing import Any

from core.domain.documents import Document
from core.domain.errors import FivefoldError
from core.domain.queries import SearchRequest
from core.domain.results import Citation, Hit, SearchResult
from core.evaluation.judgments.files import QuestionJudgment
from core.evaluation.metrics.measures import normalised
from core.ingestion.parsers.file_kinds import FileKind
from core.knowledge.answer_kinds import answer_kinds
from core.ports.clock import Timer, stopwatch
from core.search.citations.cite import display_quote
from core.search.citations.page_locator import Box, bare, letters_shown, opened_page, word_boxes

__all__ = ["COVERED_LETTERS", "CheckedCitation", "CitationReport", "CitedHit", "covered_words", "evaluate_citations"]

COVERED_LETTERS = 0.9
"""A word counts as covered when at least this share of its letters lies in the boxes. Chosen by hand."""

Search = Callable[[SearchRequest], SearchResult]
PageText = Callable[[int, int], str]
Original = Callable[[int], bytes]


@dataclass(frozen=True, slots=True)
class CheckedCitation:
    """One citation of one hit. kind: the file's ("pdf"). exact: the quote equals its page's characters. words: of the
    quote; covered: how many of them the mark covers; strays: letters and digits it covers that are not the quote's.

    drawn: whether its document can be drawn as pages; without it, marked is False and the rest 0. problem: why its page
    could not be drawn, in words.
    """

    citation: Citation
    question_id: str
    rank: int
    kind: str
    exact: bool
    drawn: bool = False
    marked: bool = False
    words: int = 0
    covered: int = 0
    strays: int = 0
    problem: str = ""

    @property
    def right(self) -> bool:
        """Whether the mark covers every word of the quote, and no other."""
        return self.marked and self.covered == self.words and not self.strays

    def data(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "question": self.question_id,
            "rank": self.rank,
            "citation_id": self.citation.citation_id,
            "document": self.citation.document_name,
            "page": self.citation.page_number,
            "kind": self.kind,
            "quote": self.citation.quote,
            "exact": self.exact,
            "marked": self.marked if self.drawn else None,
            "words": self.words,
            "covered": self.covered,
            "strays": self.strays,
            "problem": self.problem,
        }


@dataclass(frozen=True, slots=True)
class CitedHit:
    """How one hit is cited. answer_first, answer_cited: whether its first citation, or all together, hold the judged
    words of the answer; None when its passage does not. kind_first: whether its first citation holds the kind of answer
    asked for; None when its passage does not. lead_in: whether its first citation only announces what follows."""

    answer_first: bool | None
    answer_cited: bool | None
    kind_first: bool | None
    lead_in: bool


@dataclass(frozen=True, slots=True)
class CitationReport:
    """Shares in [0, 1], NaN of nothing; marked, covered and clean are shares of the citations that can be drawn.

    milliseconds: per page drawn on, what locating its citations took.
    """

    checked: tuple[CheckedCitation, ...]
    milliseconds: tuple[float, ...] = ()
    hits: tuple[CitedHit, ...] = ()

    def measures(self, kind: str | None = None) -> dict[str, float]:
        """The measures of one kind of document, or of all."""
        chosen = [each for each in self.checked if kind in (None, each.kind)]
        drawn = [each for each in chosen if each.drawn]
        return {
            "citations": len(chosen),
            "quotes_exact": _share([each.exact for each in chosen]),
            "drawn": len(drawn),
            "marked": _share([each.marked for each in drawn]),
            "covered": _share([each.right for each in drawn]),
            "words_covered": _ratio(sum(each.covered for each in drawn), sum(each.words for each in drawn)),
        }

    def answering(self) -> dict[str, float]:
        """How often the first citation of a hit is the one that answers."""
        return {
            "answer_first": _share([each.answer_first for each in self.hits if each.answer_first is not None]),
            "answer_cited": _share([each.answer_cited for each in self.hits if each.answer_cited is not None]),
            "kind_first": _share([each.kind_first for each in self.hits if each.kind_first is not None]),
            "lead_ins": _share([each.lead_in for each in self.hits]),
        }

    def data(self) -> dict[str, Any]:
        """Plain data for JSON: the measures, per kind, and every citation that is not exact or not rightly marked."""
        kinds = sorted({each.kind for each in self.checked})
        spent = fmean(self.milliseconds) if self.milliseconds else float("nan")
        return (
            self.measures()
            | self.answering()
            | {
                "pages": len(self.milliseconds),
                "ms_per_page": spent,
                "per_kind": {kind: self.measures(kind) for kind in kinds},
                "wrong": [each.data() for each in self.wrong()],
            }
        )

    def wrong(self) -> Iterator[CheckedCitation]:
        """What does not stand where it says, or is not marked rightly."""
        return (each for each in self.checked if not each.exact or (each.drawn and not each.right))


def _share(values: Sequence[bool]) -> float:
    return _ratio(sum(values), len(values))


def _ratio(part: int, total: int) -> float:
    return part / total if total else float("nan")


def evaluate_citations(
    questions: Sequence[QuestionJudgment],
    search: Search,
    page_text: PageText,
    original: Original,
    *,
    timer: Timer,
    profile: str = "",
    on_question: Callable[[int, int], None] | None = None,
) -> CitationReport:
    """Ask every question with its own filters, and check every citation of every hit.

    `page_text(document id, page number)` proves the quotes, `original(document id)` is drawn on, `timer` measures how
    long that takes. Raises what `search` raises; citations on a page that cannot be drawn carry the problem.
    """
    checked: list[CheckedCitation] = []
    spent: list[float] = []
    hits: list[CitedHit] = []
    for done, question in enumerate(questions, 1):
        result = search(SearchRequest(question.question, question.filters, profile))
        hits += [_cited_hit(hit, question, result) for hit in result.hits if hit.citations]
        cited: dict[tuple[int, int], list[tuple[int, Citation]]] = {}
        for hit in result.hits:
            for citation in hit.citations:
                cited.setdefault((citation.document_id, citation.page_number), []).append((hit.rank, citation))
        for (document_id, number), cited_here in cited.items():
            document, text = result.documents[document_id], page_text(document_id, number)
            found = [_checked(question.id, rank, each, document, text) for rank, each in cited_here]
            if document.media_type == FileKind.PDF:
                found, milliseconds = _on_picture(found, original(document_id), number, text, timer)
                spent.append(milliseconds)
            checked += found
        if on_question is not None:
            on_question(done, len(questions))
    return CitationReport(tuple(checked), tuple(spent), tuple(hits))


def _cited_hit(hit: Hit, question: QuestionJudgment, result: SearchResult) -> CitedHit:
    passage, first = hit.candidate.passage, hit.citations[0].quote
    document = result.documents[passage.document_id]
    answers = [
        [normalised(words) for words in entry.must_contain]
        for entry in question.relevant
        if entry.sha256 == document.sha256 and entry.page in (None, passage.page) and entry.must_contain
    ]

    def answered(text: str) -> bool:
        return any(all(words in text for words in answer) for answer in answers)

    known = answered(normalised(passage.text))
    kind = answer_kinds().get(result.route.answer_kind)
    return CitedHit(
        answered(normalised(first)) if known else None,
        answered(" ".join(normalised(each.quote) for each in hit.citations)) if known else None,
        bool(kind.answer_in(first)) if kind and kind.answer_in(passage.text) else None,
        display_quote(first).endswith(":"),
    )


def _checked(question_id: str, rank: int, citation: Citation, document: Document, text: str) -> CheckedCitation:
    kinds = [kind.name.lower() for kind in FileKind if kind == document.media_type]
    exact = text[citation.start : citation.end] == citation.quote
    return CheckedCitation(citation, question_id, rank, kinds[0] if kinds else document.media_type, exact)


def _on_picture(
    found: Sequence[CheckedCitation], data: bytes, number: int, text: str, timer: Timer
) -> tuple[list[CheckedCitation], float]:
    """The citations of one page with what their marks cover, and the milliseconds that locating them took."""
    elapsed_ms = stopwatch(timer)
    try:
        with opened_page(data, number) as page:
            boxes = word_boxes(page, text, [(each.citation.start, each.citation.end) for each in found])
            spent = elapsed_ms()
            letters = letters_shown(page)
    except FivefoldError as problem:
        return [replace(each, drawn=True, problem=problem.message) for each in found], 0.0
    return [_measured(each, covering, letters) for each, covering in zip(found, boxes, strict=True)], spent


def _measured(found: CheckedCitation, boxes: Sequence[Box], letters: Sequence[tuple[str, Box]]) -> CheckedCitation:
    inside = "".join(letter for letter, ink in letters if any(box.holds(ink) for box in boxes))
    words, covered, strays = covered_words(found.citation.quote, inside)
    return replace(found, drawn=True, marked=bool(boxes), words=words, covered=covered, strays=strays)


def covered_words(quote: str, inside: str) -> tuple[int, int, int]:
    """Words of a quote, how many of them the letters inside the boxes make up, and how many letters are left over.

    >>> covered_words("Helium is stored upright.", "Heliumisstored")
    (4, 3, 0)
    >>> covered_words("stored upright.", "is stored upright.")
    (2, 2, 2)
    """
    quoted, marked = bare(quote), bare(inside)
    blocks = SequenceMatcher(None, quoted, marked, autojunk=False).get_matching_blocks()
    met = {at for block in blocks for at in range(block.a, block.a + block.size)}
    used = {at for block in blocks for at in range(block.b, block.b + block.size)}
    strays = sum(letter.isalnum() for at, letter in enumerate(marked) if at not in used)
    words = covered = end = 0
    for word in filter(None, map(bare, quote.split())):
        start, end = end, end + len(word)
        words += 1
        covered += sum(at in met for at in range(start, end)) >= COVERED_LETTERS * len(word)
    return words, covered, strays
