"""Values of enrichment: the operations, their results, and the manual edits of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from core.domain.documents import Evidence
from core.ner.legal_citations import CitationKind

__all__ = [
    "MOST_KEYWORDS",
    "RESULTS",
    "CitationKind",
    "Citations",
    "Dates",
    "DocumentDate",
    "DocumentType",
    "EnrichmentEdit",
    "Keywords",
    "LegalCitation",
    "Operation",
    "OperationOutcome",
    "Question",
    "Questions",
    "QuotedSpan",
    "Result",
    "Summary",
]

MOST_KEYWORDS = 10
"""Keywords of a document at most: what one line of a page holds; chosen by hand."""


class Operation(StrEnum):
    """One kind of extraction; each succeeds or fails independently. The page shows them in this order."""

    SUMMARY = "summary"
    KEYWORDS = "keywords"
    QUESTIONS = "questions"
    DOCUMENT_TYPE = "document_type"
    CITATIONS = "citations"
    DATES = "dates"


@dataclass(frozen=True, slots=True)
class QuotedSpan:
    """A quote: `text == page text[start:end]`, always. page: 1-based. passage_id and sentence form its citation id."""

    text: str
    page: int
    start: int
    end: int
    passage_id: int
    sentence: int

    @property
    def citation_id(self) -> str:
        """The id of the sentence, as every citation names it.

        >>> QuotedSpan("Pay is due.", 1, 0, 11, 42, 3).citation_id
        '42.3'
        """
        return f"{self.passage_id}.{self.sentence}"


@dataclass(frozen=True, slots=True)
class Keywords:
    """At most ten, the best first; fewer than five only where the text has no more."""

    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Summary:
    """Two or three sentences of the document in reading order, verbatim; fewer where it has no more. rewritten: an
    analyst's replacement text.
    """

    sentences: tuple[QuotedSpan, ...] = ()
    rewritten: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the sentence that answers it."""

    question: str
    answer: QuotedSpan


@dataclass(frozen=True, slots=True)
class Questions:
    """At most five, in reading order; empty when no good question was found."""

    questions: tuple[Question, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentType:
    """A key of core/knowledge/document_types.toml with its evidence; None when no type has clear evidence."""

    value: str | None = None
    evidence: tuple[Evidence, ...] = ()
    runner_up: str | None = None
    by_hand: bool = False


@dataclass(frozen=True, slots=True)
class LegalCitation:
    """A cited law or case, under its entity name. times ≥ 1: how often; said: the first mention; case: the parties of a
    decision.
    """

    name: str
    kind: CitationKind
    times: int
    said: QuotedSpan
    case: str = ""


@dataclass(frozen=True, slots=True)
class Citations:
    """All cited laws and cases, most cited first."""

    citations: tuple[LegalCitation, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentDate:
    """A date (ISO; "2023-06" where only the month is given), and what it dates when a nearby verb shows it
    ("effective", "due", "published"); otherwise "".
    """

    date: str
    what: str
    said: QuotedSpan


@dataclass(frozen=True, slots=True)
class Dates:
    """The dates in the document, in calendar order."""

    dates: tuple[DocumentDate, ...] = ()


Result = Keywords | Summary | Questions | DocumentType | Citations | Dates

RESULTS: Mapping[Operation, type[Result]] = {
    Operation.SUMMARY: Summary,
    Operation.KEYWORDS: Keywords,
    Operation.QUESTIONS: Questions,
    Operation.DOCUMENT_TYPE: DocumentType,
    Operation.CITATIONS: Citations,
    Operation.DATES: Dates,
}


@dataclass(frozen=True, slots=True)
class OperationOutcome:
    """The outcome of one operation on one document. After a failure, `problem` and `hint` say why, and there is no
    result.

    version ≥ 1 is the operation's. reading identifies the reading of the document (the id of the document's first
    passage; ids are never reused). An outcome of another version or reading is outdated.
    """

    document_id: int
    operation: Operation
    version: int
    reading: int
    at: datetime
    result: Result | None = None
    problem: str = ""
    hint: str = ""

    @property
    def failed(self) -> bool:
        """Whether there is nothing but a problem."""
        return self.problem != ""


@dataclass(frozen=True, slots=True)
class EnrichmentEdit:
    """An analyst's changes to one operation's result; applied over every later result until reset.

    added, removed: keywords, or removed questions. value: the rewritten summary, or the document type; None: unchanged.
    """

    document_id: int
    operation: Operation
    who: str
    at: datetime
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    value: str | None = None
