"""Relevance judgments: question sets, expected answers, and graded results."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from core.domain.filters import SearchFilters

__all__ = [
    "ANSWERS_FROM",
    "GRADES",
    "NOTHING_ANSWERS",
    "JudgedQuestion",
    "Judgment",
    "Level",
    "QuestionSet",
    "Relevant",
]

GRADES = {0: "irrelevant", 1: "related", 2: "answers in part", 3: "answers"}
"""What a grade means."""
ANSWERS_FROM = 2
"""Least grade of a result that counts as an answer."""
NOTHING_ANSWERS = "none"
"""The kind of a question that nothing in the library answers: the right result is to say so."""


class Level(StrEnum):
    """What is ranked and graded: passages, or documents in the order of their best passage."""

    PASSAGE = "passage"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """A set of questions for repeated evaluation. `name` is unique per project (case-insensitive).

    id: 0 until stored. project: None = the whole library. every_hours: interval of automatic evaluation with the
    default profile; 0 = never. measured_at: start of the last automatic one. version: for optimistic locking."""

    name: str
    project: str | None
    level: Level
    who: str
    at: datetime
    id: int = 0
    note: str = ""
    every_hours: int = 0
    measured_at: datetime | None = None
    retired: bool = False
    version: int = 1


@dataclass(frozen=True, slots=True)
class Relevant:
    """Where an answer is known to be: one unit contains all of `must_contain`. grade 1–3. page: 1-based, None = any."""

    sha256: str
    must_contain: tuple[str, ...]
    grade: int
    page: int | None = None


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """One question of a set. key: its external name ("q17"), unique in the set. kind: groups questions in reports.

    id: 0 until stored. filters: of the search. relevant: answers known beforehand; people's judgments are added and
    override them.
    """

    set_id: int
    key: str
    question: str
    kind: str = "natural"
    filters: SearchFilters = SearchFilters()
    relevant: tuple[Relevant, ...] = ()
    id: int = 0
    retired: bool = False

    @property
    def answerable(self) -> bool:
        """Whether the library is expected to answer it."""
        return self.kind != NOTHING_ANSWERS


@dataclass(frozen=True, slots=True)
class Judgment:
    """One judge's grade of one result; the latest per question, unit and judge applies.

    unit: the graded passage or document, as core.evaluation.judgments.units names it; stable when the file is ingested
    again. grade: of GRADES, None for "can't judge". blind: judged without seeing scores, profile or rank. id: 0 until
    stored."""

    set_id: int
    question_id: int
    unit: str
    grade: int | None
    who: str
    at: datetime
    blind: bool = False
    id: int = 0
