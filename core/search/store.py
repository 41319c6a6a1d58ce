"""Usage of results (what was shown, opened, cited and marked), and the port of its store."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

__all__ = [
    "KEPT_QUESTIONS",
    "MARKS",
    "TAKEN",
    "UNUSED",
    "DocumentUsage",
    "PassageUsage",
    "QuestionUsage",
    "UsageEvent",
    "UsageKind",
    "UsageLog",
    "UsageSummary",
    "passage_uses",
    "stored_question",
    "summarised",
    "tallied",
]

KEPT_QUESTIONS = 50
"""How many distinct questions are kept of a document, the latest ones."""

_QUESTION_CHARACTERS = 200  # kept of a question. Chosen by hand.


class UsageKind(StrEnum):
    """Kind of a usage event. `unmarked` removes a helpful or not helpful mark."""

    SHOWN = "shown"
    OPENED = "opened"
    CITED = "cited"
    HELPFUL = "helpful"
    NOT_HELPFUL = "not helpful"
    UNMARKED = "unmarked"


TAKEN = (UsageKind.OPENED, UsageKind.CITED)
"""Kinds of which every event counts as a use."""

MARKS = (UsageKind.HELPFUL, UsageKind.NOT_HELPFUL, UsageKind.UNMARKED)
"""Kinds of which only a person's latest holds; it counts as a use while it says helpful."""


@dataclass(frozen=True, slots=True)
class UsageEvent:
    """One action on one passage. question: as `stored_question` writes it, "" for none. who: "" for anonymous users,
    who count as one person. document_id: may be that of an insight or episode. passage_id: 0 for a whole document.
    """

    kind: UsageKind
    document_id: int
    passage_id: int
    question: str
    who: str
    at: datetime


@dataclass(frozen=True, slots=True)
class DocumentUsage:
    """Usage of a document. uses ≥ 0; last: when it was last used, None for never; questions: those it was used for, the
    latest first, at most 50, at most 200 characters each.
    """

    uses: int = 0
    last: datetime | None = None
    questions: tuple[str, ...] = ()


UNUSED = DocumentUsage()


@dataclass(frozen=True, slots=True)
class PassageUsage:
    """Who did what with one passage, by name. Nobody is in both `helpful` and `not_helpful`."""

    opened: frozenset[str] = frozenset()
    cited: frozenset[str] = frozenset()
    helpful: frozenset[str] = frozenset()
    not_helpful: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class QuestionUsage:
    """How often a document was shown, opened and cited for a question ("": for none), and when last."""

    question: str
    shown: int
    opened: int
    cited: int
    last: datetime


@dataclass(frozen=True, slots=True)
class UsageSummary:
    """How often a document was shown (each passage of a result counts), opened and cited; when last, None for never; by
    question, the latest first."""

    shown: int = 0
    opened: int = 0
    cited: int = 0
    last: datetime | None = None
    questions: tuple[QuestionUsage, ...] = ()


def summarised(counts: Iterable[tuple[str, UsageKind, int, datetime]]) -> UsageSummary:
    """The summary of a document's (question, kind, events, latest event); marks are left out."""
    rows = [row for row in counts if row[1] is UsageKind.SHOWN or row[1] in TAKEN]

    def total(kind: UsageKind, question: str | None = None) -> int:
        return sum(number for other, each, number, _ in rows if each is kind and question in (None, other))

    latest: dict[str, datetime] = {}
    for question, _, _, at in rows:
        latest[question] = max(at, latest.get(question, at))
    questions = [
        QuestionUsage(
            question,
            total(UsageKind.SHOWN, question),
            total(UsageKind.OPENED, question),
            total(UsageKind.CITED, question),
            at,
        )
        for question, at in latest.items()
    ]
    questions.sort(key=lambda each: (each.last, each.question), reverse=True)
    return UsageSummary(
        total(UsageKind.SHOWN),
        total(UsageKind.OPENED),
        total(UsageKind.CITED),
        max(latest.values(), default=None),
        tuple(questions),
    )


def stored_question(question: str) -> str:
    """A question as stored in events: on one line, cut to 200 characters.

    >>> stored_question("  When is\\novertime due? "), len(stored_question("why " * 100))
    ('When is overtime due?', 200)
    """
    return " ".join(question.split())[:_QUESTION_CHARACTERS]


def tallied(events: Sequence[UsageEvent]) -> Mapping[int, DocumentUsage]:
    """Document id → its usage, computed from events in insertion order; documents never used are absent.

    The reference definition of every store's `uses`.

    >>> from datetime import UTC
    >>> noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    >>> said = [UsageEvent(kind, 7, 1, "Due?", "Ann", noon) for kind in (UsageKind.HELPFUL, UsageKind.NOT_HELPFUL)]
    >>> tallied(said[:1])[7].uses, tallied(said)
    (1, {})
    """
    counted = [(number, event) for number, event in enumerate(events) if event.kind in TAKEN]
    marks = {
        (event.document_id, event.who, event.question, event.passage_id): (number, event)
        for number, event in enumerate(events)
        if event.kind in MARKS
    }
    counted += [each for each in marks.values() if each[1].kind is UsageKind.HELPFUL]
    counted.sort(key=lambda each: (each[1].at, each[0]), reverse=True)
    by_document: dict[int, list[UsageEvent]] = {}
    for _, event in counted:
        by_document.setdefault(event.document_id, []).append(event)
    return {document_id: _use(of_it) for document_id, of_it in by_document.items()}


def _use(latest_first: Sequence[UsageEvent]) -> DocumentUsage:
    questions = dict.fromkeys(event.question for event in latest_first if event.question)
    return DocumentUsage(len(latest_first), latest_first[0].at, tuple(questions)[:KEPT_QUESTIONS])


def passage_uses(events: Sequence[UsageEvent]) -> Mapping[int, PassageUsage]:
    """Passage id → who did what with it, from events in insertion order; a person's latest mark applies."""
    people: dict[int, dict[UsageKind, set[str]]] = {}
    for event in events:
        done = people.setdefault(event.passage_id, {})
        if event.kind in MARKS:
            for kind in MARKS:
                done.get(kind, set()).discard(event.who)
        done.setdefault(event.kind, set()).add(event.who)
    return {
        passage_id: PassageUsage(
            opened=frozenset(done.get(UsageKind.OPENED, ())),
            cited=frozenset(done.get(UsageKind.CITED, ())),
            helpful=frozenset(done.get(UsageKind.HELPFUL, ())),
            not_helpful=frozenset(done.get(UsageKind.NOT_HELPFUL, ())),
        )
        for passage_id, done in people.items()
    }


class UsageLog(Protocol):
    """Stores the usage events of one tenant. Every method raises StoreFailed when the store does not respond."""

    def record(self, events: Sequence[UsageEvent]) -> None:
        """Append events in order, all or none; the usage counts of the documents are updated in the same
        step."""
        ...

    def uses(self, document_ids: Sequence[int]) -> Mapping[int, DocumentUsage]:
        """`tallied` over all events of each of these documents; documents never used are absent."""
        ...

    def last_used(self, limit: int) -> Sequence[tuple[int, datetime]]:
        """The documents used last, by `tallied`, with the time; the latest first."""
        ...

    def events_of(
        self, *, question: str | None = None, passage_id: int | None = None, limit: int = 1000
    ) -> Sequence[UsageEvent]:
        """The latest `limit` events of a question (as `stored_question` writes it), of a passage, or both, in insertion
        order; shown events are left out. Raises ValueError when neither is given."""
        ...

    def summary(self, document_id: int) -> UsageSummary:
        """`summarised` over all events of this document."""
        ...

    def delete(self, document_ids: Sequence[int]) -> None:
        """Delete all events of these documents."""
        ...
