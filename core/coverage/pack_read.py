"""Decisions written into the workbook of a meeting pack, read back: first a preview, then decisions."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from core.boards import Board, Cell
from core.coverage.pack_xlsx import DECISION_COLUMNS, DECISION_SHEET, REVIEWABLE
from core.coverage.report import restored
from core.coverage.review import Held, check_decision, decision_on
from core.errors import BadRequest, FivefoldError
from core.reviews import Decision, Opinion

__all__ = ["Preview", "PreviewRow", "read_decisions"]

_MOST_BYTES = 200_000_000
_WORDS = ("verdict", "reason", "expires", "owner", "due", "comment", "who")


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """One row of the sheet that says something new. row: as the spreadsheet numbers it. before, after: in words.
    problem: why it cannot be taken over, "" when it can; then `decision` is what would be kept."""

    row: int
    topic: str
    kind: str
    before: str
    after: str
    problem: str = ""
    decision: Decision | None = None


@dataclass(frozen=True, slots=True)
class Preview:
    """What a workbook would change. unchanged: rows that say what holds already."""

    rows: tuple[PreviewRow, ...]
    unchanged: int

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """What can be taken over."""
        return tuple(row.decision for row in self.rows if row.decision is not None)


def read_decisions(
    data: bytes, name: str, board: Board, decisions: Sequence[Decision], held: Held, now: datetime
) -> Preview:
    """What the sheet "Decisions" of a meeting pack says otherwise than the log. decisions: the whole log of the board.

    A row whose count of decisions is not today's is a problem: someone has decided since the pack was made. Emptying a
    verdict takes nothing back; undo does. Raises BadRequest for a file that is no meeting pack.
    """
    rows = _rows(data, name)
    cells = {(cell.topic_id, cell.kind.value): cell for cell in board.cells}
    counts: dict[tuple[int, str], int] = {}
    for decision in decisions:
        counts[decision.topic_id, decision.kind] = counts.get((decision.topic_id, decision.kind), 0) + 1
    told, unchanged = [], 0
    for number, row in rows:
        about = (_whole(row["topic id"]), _text(row["kind"]))
        known, said = held.get(about), _said(row)
        if said["verdict"] == "" or said == _as_said(known):
            unchanged += 1
            continue
        told.append(_preview(number, row, cells.get(about), known, counts.get(about, 0), board, now))
    return Preview(tuple(told), unchanged)


def _rows(data: bytes, name: str) -> list[tuple[int, dict[str, Any]]]:
    hint = "Choose the .xlsx file of a meeting pack, edited but not rearranged."
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as inside:
            if sum(entry.file_size for entry in inside.infolist()) > _MOST_BYTES:
                raise BadRequest(f"'{name}' is too large for a meeting pack.", hint)
        from openpyxl import load_workbook

        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        lines = list(book[DECISION_SHEET].iter_rows(values_only=True)) if DECISION_SHEET in book.sheetnames else []
    except FivefoldError:
        raise
    except Exception as error:  # whatever a damaged workbook makes the reader raise
        raise BadRequest(f"'{name}' is not a workbook that can be read ({type(error).__name__}).", hint) from error
    heads = [str(value or "").strip().lower() for value in lines[0]] if lines else []
    missing = [column for column in DECISION_COLUMNS if column not in heads]
    if missing:
        raise BadRequest(f"'{name}' has no sheet '{DECISION_SHEET}' with the column '{missing[0]}'.", hint)
    places = {column: heads.index(column) for column in DECISION_COLUMNS}
    return [
        (number, {column: line[at] if at < len(line) else None for column, at in places.items()})
        for number, line in enumerate(lines[1:], start=2)
        if any(value is not None for value in line)
    ]


def _preview(
    number: int,
    row: Mapping[str, Any],
    cell: Cell | None,
    known: Decision | None,
    count: int,
    board: Board,
    now: datetime,
) -> PreviewRow:
    said = _said(row)
    before = _in_words(_as_said(known)) if known else "not decided"
    shown = PreviewRow(number, restored(_text(row["topic"])), _text(row["kind"]), before, _in_words(said))
    try:
        return replace(shown, decision=_decision(row, said, cell, count, board, now))
    except BadRequest as problem:
        return replace(shown, problem=problem.message)


def _decision(
    row: Mapping[str, Any], said: Mapping[str, str], cell: Cell | None, count: int, board: Board, now: datetime
) -> Decision:
    """What the row says, as a decision. count: of the decisions on the cell today. Raises BadRequest."""
    if cell is None:
        raise BadRequest("This board has no such cell.", "Leave topic id and kind as they are.")
    if _whole(row["decisions so far"]) != count:
        raise BadRequest("Someone has decided on it since this pack was made.", "Make the pack again.")
    verdict = next((each for each in REVIEWABLE if each.value == said["verdict"].lower()), None)
    if verdict is None:
        raise BadRequest(f"'{said['verdict']}' is no verdict; use {', '.join(REVIEWABLE)}.", "Choose one of them.")
    expires, due = (_day(row[column], column) for column in ("expires", "due"))
    check_decision(verdict, said["who"], said["reason"], expires, due, cell, now.date())
    who, reason, comment, owner = (said[column] for column in ("who", "reason", "comment", "owner"))
    return decision_on(board, cell, Opinion(verdict, who, count, reason, comment, owner, due, expires), now)


def _said(row: Mapping[str, Any]) -> dict[str, str]:
    return {column: restored(_text(row[column])) for column in _WORDS}


def _as_said(decision: Decision | None) -> dict[str, str]:
    """A decision as its row of the sheet says it."""
    if decision is None:
        return dict.fromkeys(_WORDS, "")
    return {column: _text(getattr(decision, column)) for column in _WORDS}


def _in_words(said: Mapping[str, str]) -> str:
    rest = [f"{column} {said[column]}" for column in _WORDS[1:] if said[column]]
    return "; ".join([said["verdict"], *rest])


def _text(value: Any) -> str:
    if isinstance(value, datetime):
        value = value.date()
    return "" if value is None else str(value).strip()


def _whole(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return -1


def _day(value: Any, column: str) -> date | None:
    """A day from a date cell or from ISO text. Raises BadRequest naming the column."""
    if value is None or not str(value).strip():
        return None
    if isinstance(value, datetime):
        return value.date()
    try:
        return value if isinstance(value, date) else date.fromisoformat(str(value).strip()[:10])
    except ValueError as error:
        raise BadRequest(f"'{value}' in the column '{column}' is not a date.", "Write it as 2026-12-31.") from error
