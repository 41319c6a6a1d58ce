"""What people did with what was found: shown, opened, cited, marked helpful or not; and what that says of a document.

Events are only ever added. Opened, cited and helpful count as use; shown and not helpful do not. Of what one person
says of one passage under one question the latest holds, so a mark that is changed counts once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

__all__ = [
    "KEPT_QUESTIONS",
    "MARKS",
    "TAKEN",
    "UNUSED",
    "DocumentUse",
    "PassageUse",
    "UseEvent",
    "UseKind",
    "UseLog",
    "kept_question",
    "passage_uses",
    "tallied",
]

KEPT_QUESTIONS = 50
"""How many distinct questions are kept of a document, the latest ones."""
_QUESTION_CHARACTERS = 200


class UseKind(StrEnum):
    """What somebody did. `unmarked` takes back a helpful or not helpful."""

    SHOWN = "shown"
    OPENED = "opened"
    CITED = "cited"
    HELPFUL = "helpful"
    NOT_HELPFUL = "not helpful"
    UNMARKED = "unmarked"


TAKEN = (UseKind.OPENED, UseKind.CITED)
"""Kinds of which every event counts as a use."""
MARKS = (UseKind.HELPFUL, UseKind.NOT_HELPFUL, UseKind.UNMARKED)
"""Kinds of which only a person's latest holds; it counts as a use while it says helpful."""


@dataclass(frozen=True, slots=True)
class UseEvent:
    """One thing done with one passage. question: as `kept_question` writes it, "" for none. who: "" for people who have
    not said their name; they count as one person. document_id: also that of an insight or episode.
    """

    kind: UseKind
    document_id: int
    passage_id: int
    question: str
    who: str
    at: datetime


@dataclass(frozen=True, slots=True)
class DocumentUse:
    """How much a document was used. uses ≥ 0; last: when it was last used, None for never; questions: those it was used
    for, the latest first, at most 50, at most 200 characters each.
    """

    uses: int = 0
    last: datetime | None = None
    questions: tuple[str, ...] = ()


UNUSED = DocumentUse()


@dataclass(frozen=True, slots=True)
class PassageUse:
    """Who did what with one passage, by name. Nobody is in both `helpful` and `not_helpful`."""

    opened: frozenset[str] = frozenset()
    cited: frozenset[str] = frozenset()
    helpful: frozenset[str] = frozenset()
    not_helpful: frozenset[str] = frozenset()


class UseLog(Protocol):
    """Keeps the events of one tenant. Every method raises StoreFailed when the store does not answer."""

    def record(self, events: Sequence[UseEvent]) -> None:
        """Append events, all or none, in their order; the documents' uses follow in the same step."""
        ...

    def uses(self, document_ids: Sequence[int]) -> Mapping[int, DocumentUse]:
        """What `tallied` says of all events of these documents; those never used are absent."""
        ...

    def events_of(
        self, *, question: str | None = None, passage_id: int | None = None, limit: int = 1000
    ) -> Sequence[UseEvent]:
        """All but the shown under a question (as `kept_question` writes it), or with a passage, or both: the latest
        `limit` of them, in the order they were added. Raises ValueError when neither is given."""
        ...

    def delete(self, document_ids: Sequence[int]) -> None:
        """Forget everything about these documents."""
        ...


def kept_question(question: str) -> str:
    """A question as events keep it: in one line, cut to 200 characters.

    >>> kept_question("  When is\\novertime due? "), len(kept_question("why " * 100))
    ('When is overtime due?', 200)
    """
    return " ".join(question.split())[:_QUESTION_CHARACTERS]


def tallied(events: Sequence[UseEvent]) -> Mapping[int, DocumentUse]:
    """Document id → its uses, of events in the order they were added; documents never used are absent.

    This is what every store's `uses` means.

    >>> from datetime import UTC
    >>> noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    >>> said = [UseEvent(kind, 7, 1, "Due?", "Ann", noon) for kind in (UseKind.HELPFUL, UseKind.NOT_HELPFUL)]
    >>> tallied(said[:1])[7].uses, tallied(said)
    (1, {})
    """
    held = [(number, event) for number, event in enumerate(events) if event.kind in TAKEN]
    marks = {
        (event.document_id, event.who, event.question, event.passage_id): (number, event)
        for number, event in enumerate(events)
        if event.kind in MARKS
    }
    held += [each for each in marks.values() if each[1].kind is UseKind.HELPFUL]
    held.sort(key=lambda each: (each[1].at, each[0]), reverse=True)
    by_document: dict[int, list[UseEvent]] = {}
    for _, event in held:
        by_document.setdefault(event.document_id, []).append(event)
    return {document_id: _use(of_it) for document_id, of_it in by_document.items()}


def _use(latest_first: Sequence[UseEvent]) -> DocumentUse:
    questions = dict.fromkeys(event.question for event in latest_first if event.question)
    return DocumentUse(len(latest_first), latest_first[0].at, tuple(questions)[:KEPT_QUESTIONS])


def passage_uses(events: Sequence[UseEvent]) -> Mapping[int, PassageUse]:
    """Passage id → who did what with it, of events in the order they were added; a person's latest mark holds."""
    people: dict[int, dict[UseKind, set[str]]] = {}
    for event in events:
        done = people.setdefault(event.passage_id, {})
        if event.kind in MARKS:
            for kind in MARKS:
                done.get(kind, set()).discard(event.who)
        done.setdefault(event.kind, set()).add(event.who)
    return {
        passage_id: PassageUse(
            opened=frozenset(done.get(UseKind.OPENED, ())),
            cited=frozenset(done.get(UseKind.CITED, ())),
            helpful=frozenset(done.get(UseKind.HELPFUL, ())),
            not_helpful=frozenset(done.get(UseKind.NOT_HELPFUL, ())),
        )
        for passage_id, done in people.items()
    }
