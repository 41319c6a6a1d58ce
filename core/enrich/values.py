"""What is drawn from a document: its operations, what each finds, and what an analyst changed of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from core.documents import Evidence
from core.naming.cited import CitationKind

__all__ = [
    "RESULTS",
    "CitationKind",
    "Citations",
    "DatedThing",
    "Dates",
    "DocumentType",
    "Edit",
    "Keywords",
    "LegalCitation",
    "Operation",
    "Outcome",
    "Question",
    "Questions",
    "Result",
    "Said",
    "Summary",
]


class Operation(StrEnum):
    """One thing that is drawn from a document; each succeeds or fails by itself. The order is the order of the page."""

    SUMMARY = "summary"
    KEYWORDS = "keywords"
    QUESTIONS = "questions"
    DOCUMENT_TYPE = "document_type"
    CITATIONS = "citations"
    DATES = "dates"


@dataclass(frozen=True, slots=True)
class Said:
    """A quote: `text == page text[start:end]`, always. page: 1-based. passage_id and sentence name its citation."""

    text: str
    page: int
    start: int
    end: int
    passage_id: int
    sentence: int

    @property
    def citation_id(self) -> str:
        """The id of the sentence, as every citation names it.

        >>> Said("Pay is due.", 1, 0, 11, 42, 3).citation_id
        '42.3'
        """
        return f"{self.passage_id}.{self.sentence}"


@dataclass(frozen=True, slots=True)
class Keywords:
    """At most ten, the most telling first; fewer than five only where the text holds no more."""

    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Summary:
    """Two or three sentences of the document in reading order, word for word; fewer where it has no more. rewritten:
    what an analyst wrote in their place."""

    sentences: tuple[Said, ...] = ()
    rewritten: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the sentence that answers it."""

    question: str
    answer: Said


@dataclass(frozen=True, slots=True)
class Questions:
    """At most five, in reading order; none rather than an odd one."""

    questions: tuple[Question, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentType:
    """A key of core/tables/document_types.toml, with what spoke for it; None: nothing speaks clearly for one."""

    value: str | None = None
    evidence: tuple[Evidence, ...] = ()
    runner_up: str | None = None
    by_hand: bool = False


@dataclass(frozen=True, slots=True)
class LegalCitation:
    """A law or case that is cited, under the name its entity has. times ≥ 1: how often; said: where first; case: the
    parties of a decision."""

    name: str
    kind: CitationKind
    times: int
    said: Said
    case: str = ""


@dataclass(frozen=True, slots=True)
class Citations:
    """Every law and case cited, those cited most first."""

    citations: tuple[LegalCitation, ...] = ()


@dataclass(frozen=True, slots=True)
class DatedThing:
    """A day (ISO; "2023-06" where only the month is told) and, where a plain verb beside it tells, what it dates
    ("effective", "due", "published"); "" where that is not told."""

    date: str
    what: str
    said: Said


@dataclass(frozen=True, slots=True)
class Dates:
    """Days the document tells, in the order of the calendar."""

    dates: tuple[DatedThing, ...] = ()


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
class Outcome:
    """How one operation on one document ended. When it failed, `problem` and `hint` say why, and there is no result.

    version ≥ 1 is the operation's; reading names the reading of the document it stands on (the id of the document's
    first passage: ids are never given twice). Of another version or reading, it is outdated.
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
class Edit:
    """What an analyst changed of one operation's result; it is laid over every later result until it is reset.

    added, removed: keywords, or questions removed. value: the summary as rewritten, or the document type; None: as it
    was found.
    """

    document_id: int
    operation: Operation
    who: str
    at: datetime
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    value: str | None = None
