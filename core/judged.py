"""What people said is right: sets of questions, what is expected of them, and graded results."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from core.filters import SearchFilters

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
    """What is ranked and graded: the passages shown, or their documents in the order of their best passage."""

    PASSAGE = "passage"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions that are asked again and again. `name` is unique per project (case-insensitive).

    id: 0 until stored. project: None = the whole library. every_hours: measured by itself so often with the
    default profile; 0 = only when asked. measured_at: when that was last begun. version: counts changes, so that nobody
    overwrites another's.
    """

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
    """Where an answer is known to stand: `must_contain` stand together in it. grade 1–3. page: 1-based, None = any."""

    sha256: str
    must_contain: tuple[str, ...]
    grade: int
    page: int | None = None


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """One question of a set. key: its name outside ("q17"), unique in the set. kind: groups questions in reports.

    id: 0 until stored. filters: what it is narrowed to. relevant: answers known beforehand; people's judgments
    stand beside them and win over them.
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
        """Whether something in the library is held to answer it."""
        return self.kind != NOTHING_ANSWERS


@dataclass(frozen=True, slots=True)
class Judgment:
    """What one judge said of one result; the latest per question, unit and judge holds.

    unit: the graded passage or document, as core.tuning.units names it: it survives reading the file again.
    grade: of GRADES, None for "can't judge". blind: judged without seeing scores, profile or rank. id: 0 until stored.
    """

    set_id: int
    question_id: int
    unit: str
    grade: int | None
    who: str
    at: datetime
    blind: bool = False
    id: int = 0
