"""The minutes of meetings as rows of a workbook: attendance, decisions, open points and remarks, one row each."""

from collections.abc import Callable, Sequence
from typing import Any

from core.coverage.board_view import about_in_words
from core.coverage.meetings.meeting import Minutes
from core.domain.results import Citation

__all__ = ["MINUTES_COLUMNS", "minutes_rows"]

MINUTES_COLUMNS = (
    *("meeting", "when (UTC)", "what", "topic", "kind", "words", "who", "owner", "due", "quotes", "present"),
)


def minutes_rows(meetings: Sequence[Minutes], quoted: Callable[[Citation], str]) -> list[Sequence[Any]]:
    """The rows, meeting by meeting, in the order of MINUTES_COLUMNS. quoted: a sentence with its place."""
    rows: list[Sequence[Any]] = []
    for each in meetings:
        rows += [*_attendance(each), *_decisions(each, quoted), *_points(each), *_remarks(each)]
    return rows


def _attendance(minutes: Minutes) -> list[Sequence[Any]]:
    start = (minutes.title, minutes.started_at)
    came = [
        (*start, "present", "", "", f"{each.joined_at:%H:%M}–{each.left_at:%H:%M}", each.name, "", None, "", "")
        for each in minutes.attendance
    ]
    return [*came, *((*start, "absent", "", "", "", name, "", None, "", "") for name in minutes.absent)]


def _decisions(minutes: Minutes, quoted: Callable[[Citation], str]) -> list[Sequence[Any]]:
    rows: list[Sequence[Any]] = []
    for minuted in minutes.decisions:
        decision = minuted.decision
        verdict = decision.verdict.value + (f" until {decision.expires}" if decision.expires else "")
        words = " – ".join(filter(None, (verdict, decision.reason, decision.comment)))
        about = (minutes.title, decision.at, "decision", decision.topic, about_in_words(decision.kind), words)
        quotes = "\n".join(quoted(citation) for citation in minuted.quotes)
        rows.append(
            (
                *about,
                decision.who,
                decision.owner,
                decision.due,
                quotes,
                ", ".join(decision.present),
            )
        )
    return rows


def _points(minutes: Minutes) -> list[Sequence[Any]]:
    start = (minutes.title, minutes.started_at, "open point")
    return [
        (*start, each.topic, about_in_words(each.kind), each.words, each.who, each.owner, each.due, "", "")
        for each in minutes.points
    ]


def _remarks(minutes: Minutes) -> list[Sequence[Any]]:
    rows: list[Sequence[Any]] = []
    for each in minutes.remarks:
        words = f"{each.verdict.value}: {each.words}" if each.verdict else each.words
        about = (each.topic, about_in_words(each.kind_of_cell))
        rows.append((minutes.title, each.at, each.kind.value, *about, words, each.who, "", None, "", ""))
    return rows
