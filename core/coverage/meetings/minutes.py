"""Minutes: made once when a meeting ends, and as JSON-compatible data."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from core.coverage.meetings.meeting import (
    AgendaItem,
    Attendance,
    Attendee,
    Contribution,
    ContributionKind,
    ContributionState,
    Meeting,
    Minutes,
    MinutesDecision,
    MinutesPoint,
    attendee_key,
)
from core.coverage.review import current_decisions, is_open_again
from core.domain.coverage import Board, Cell, Decision
from core.domain.results import Citation
from core.search.citations.cite import citation_data

__all__ = ["day_in_words", "decision_facts", "make_minutes", "minutes_data", "people_in_words", "terms_in_words"]

_MOST_QUOTES = 3  # sentences quoted per decision; the evidence of the pack has all of them

_UNDECIDED = "No decision was taken."


def make_minutes(
    meeting: Meeting,
    attendees: Sequence[Attendee],
    contributions: Sequence[Contribution],
    log: Sequence[Decision],
    board: Board | None,
    boards: Mapping[int, Board],
    ended_at: datetime,
) -> Minutes:
    """The minutes of a meeting that ends. log: the board's decisions, oldest first; board: as it is at the end, None
    when it is gone; boards: those that decisions were taken on, by run id, as far as they are there."""
    decisions = {about: each for about, each in current_decisions(log).items() if each.meeting_id == meeting.id}
    names = {item.topic_id: item.topic for item in meeting.agenda}
    came = {attendee_key(each.name) for each in attendees}
    remarks = [each for each in contributions if each.state is not ContributionState.WITHDRAWN]
    return Minutes(
        meeting_id=meeting.id,
        title=meeting.title,
        project=meeting.project,
        started_at=meeting.started_at,
        ended_at=ended_at,
        presenters=meeting.presenters,
        attendance=tuple(
            Attendance(each.name, each.joined_at, ended_at if each.present else each.beat_at) for each in attendees
        ),
        absent=tuple(name for name in meeting.invited if attendee_key(name) not in came),
        agenda=meeting.agenda,
        decisions=tuple(
            MinutesDecision(replace(each, topic=names.get(each.topic_id, each.topic)), _quotes(each, boards))
            for each in sorted(decisions.values(), key=lambda each: each.at)
        ),
        points=(*_raised(remarks), *_undecided(meeting.agenda, log, board)),
        remarks=tuple(each for each in remarks if each.kind is not ContributionKind.OPEN_POINT),
    )


def _quotes(decision: Decision, boards: Mapping[int, Board]) -> tuple[Citation, ...]:
    """The sentences it was taken on: a later run may have found others."""
    cell = _cells(boards.get(decision.run_id)).get((decision.topic_id, decision.kind))
    found = decision.pinned or ((cell.evidence or cell.near_misses) if cell else ())
    return tuple(found[:_MOST_QUOTES])


def _raised(remarks: Sequence[Contribution]) -> list[MinutesPoint]:
    return [
        MinutesPoint(each.topic, each.kind_of_cell, each.words, each.who, each.owner, each.due)
        for each in remarks
        if each.kind is ContributionKind.OPEN_POINT
    ]


def _cells(board: Board | None) -> Mapping[tuple[int, str], Cell]:
    return {(cell.topic_id, cell.kind.value): cell for cell in board.cells} if board else {}


def _undecided(agenda: Sequence[AgendaItem], log: Sequence[Decision], board: Board | None) -> list[MinutesPoint]:
    """The cells of the agenda without a decision, or with one that no longer settles them."""
    cells, points = _cells(board), []
    decided = current_decisions(log, board.topics if board else ())
    for item in agenda:
        cell, decision = cells.get((item.topic_id, item.kind)), decided.get((item.topic_id, item.kind))
        if decision is None or (cell is not None and is_open_again(cell, decision)):
            points.append(MinutesPoint(item.topic, item.kind, _UNDECIDED))
    return points


def people_in_words(names: Sequence[str]) -> str:
    """
    >>> people_in_words(["Ann", "Bob", "Cid"]), people_in_words(["Ann"]), people_in_words([])
    ('Ann, Bob and Cid', 'Ann', 'nobody')
    """
    if not names:
        return "nobody"
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def day_in_words(decision: Decision) -> str:
    """The day it is due, or "until" the last day of a waiver; "" without one."""
    return str(decision.due) if decision.due else f"until {decision.expires}" if decision.expires else ""


def terms_in_words(decision: Decision) -> tuple[str, ...]:
    """Owner, due date and last day of a waiver, as far as a decision has them."""
    named = (("owner", decision.owner), ("due", decision.due), ("until", decision.expires))
    return tuple(f"{what} {value}" for what, value in named if value)


# Long on purpose: the fields of the schema, in its order.
def minutes_data(minutes: Minutes) -> dict[str, Any]:
    """The minutes as JSON-compatible data; schema: `meetings` in docs/meeting-pack.schema.json."""
    return {
        "id": minutes.meeting_id,
        "title": minutes.title,
        "project": minutes.project,
        "started_at": minutes.started_at.isoformat(),
        "ended_at": minutes.ended_at.isoformat(),
        "presenters": list(minutes.presenters),
        "attendance": [
            {"name": each.name, "joined_at": each.joined_at.isoformat(), "left_at": each.left_at.isoformat()}
            for each in minutes.attendance
        ],
        "absent": list(minutes.absent),
        "agenda": [{"topic_id": item.topic_id, "topic": item.topic, "kind": item.kind} for item in minutes.agenda],
        "decisions": [
            decision_facts(each.decision) | {"quotes": [citation_data(citation) for citation in each.quotes]}
            for each in minutes.decisions
        ],
        "open_points": [
            {
                "topic": point.topic,
                "kind": point.kind,
                "words": point.words,
                "who": point.who,
                "owner": point.owner,
                "due": point.due.isoformat() if point.due else None,
            }
            for point in minutes.points
        ],
        "remarks": [
            {
                "kind": each.kind.value,
                "topic_id": each.topic_id,
                "topic": each.topic,
                "column": each.kind_of_cell,
                "who": each.who,
                "at": each.at.isoformat(),
                "words": each.words,
                "verdict": each.verdict.value if each.verdict else None,
                "accepted": each.state is ContributionState.ACCEPTED,
            }
            for each in minutes.remarks
        ],
    }


def decision_facts(decision: Decision) -> dict[str, Any]:
    """What minutes and meeting pack say of a decision, as JSON-compatible data."""
    return {
        "id": decision.id,
        "topic_id": decision.topic_id,
        "topic": decision.topic,
        "kind": decision.kind,
        "verdict": decision.verdict.value,
        "who": decision.who,
        "at": decision.at.isoformat(),
        "reason": decision.reason,
        "comment": decision.comment,
        "owner": decision.owner,
        "due": decision.due.isoformat() if decision.due else None,
        "expires": decision.expires.isoformat() if decision.expires else None,
        "present": list(decision.present),
    }
