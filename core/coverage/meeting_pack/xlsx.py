"""The meeting pack as an Excel workbook: written for the meeting, its decisions imported afterwards."""
# Longer than 300 lines: the sheets are written and read back by the same column names.

import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from core.coverage.board_view import about_in_words, kind_in_words, kind_of_words, risks_in_words
from core.coverage.gaps import ASSESSED, score_in_words
from core.coverage.meeting_pack.minutes_rows import MINUTES_COLUMNS, minutes_rows
from core.coverage.meeting_pack.pack import LEGEND, STATE_LOOKS, MeetingPack, cell_in_words
from core.coverage.review import DecisionsByCell, check_decision, decision_on
from core.domain.coverage import Board, Cell, Decision, ReviewerOpinion, ReviewVerdict
from core.domain.errors import BadRequest, FivefoldError
from core.domain.results import Citation
from core.formats.csv import inert, restored
from core.search.citations.cite import display_quote

__all__ = [
    "DECISION_COLUMNS",
    "DECISION_SHEET",
    "REVIEWABLE",
    "DecisionImportPreview",
    "DecisionImportRow",
    "pack_xlsx",
    "read_decisions",
]

DECISION_SHEET = "Decisions"

REVIEWABLE = (ReviewVerdict.ACCEPTED, ReviewVerdict.CONFIRMED, ReviewVerdict.WAIVED, ReviewVerdict.NEEDS_WORK)

DECISION_COLUMNS = (
    *("topic id", "topic", "kind", "decisions so far", "state", "evidence", "verdict", "reason", "expires"),
    *("owner", "due", "comment", "who"),
)

_EDITABLE = DECISION_COLUMNS[6:]

_MOST_LETTERS = 32_000  # a cell of a workbook holds 32,767

_HEAD = "34558B"

Row = Sequence[Any]


# Long on purpose: one sheet after the other.
def pack_xlsx(pack: MeetingPack) -> bytes:
    """The workbook's bytes. Text that a spreadsheet would run as a formula is escaped.

    The sheet "Decisions" has one row per cell; `read_decisions` imports what people enter there. The column "decisions
    so far" must stay: it shows whether someone else has decided since.
    """
    from openpyxl import Workbook

    workbook = Workbook()
    workbook.remove(workbook.active)
    _summary(workbook, pack)
    _matrix(workbook, pack)
    _sheet(workbook, "To obtain", *_gaps(pack), widths=(10, 36, 15, 70, 16, 13, 22, 34))
    _decisions(workbook, pack)
    _sheet(workbook, "Evidence", *_evidence(pack.board), widths=(36, 15, 12, 10, 80, 34, 8, 10, 40))
    conflicts = [
        (
            c.topic.name,
            c.kind.value,
            c.words,
            *_quote(c.first.citation),
            *_quote(c.second.citation),
            _verdict(c.decision),
        )
        for c in pack.conflicts
    ]
    heads = ("topic", "kind", "what disagrees", "first", "document", "page", "second", "document", "page", "decision")
    _sheet(workbook, "Conflicts", heads, conflicts, widths=(30, 11, 40, 60, 26, 7, 60, 26, 7, 20))
    _sheet(workbook, "Changes", *_changes(pack), widths=(36, 15, 14, 14, 10, 10, 80))
    if pack.minutes:
        _sheet(
            workbook,
            "Minutes",
            MINUTES_COLUMNS,
            minutes_rows(pack.minutes, _citation_text),
            widths=(30, 18, 14, 36, 15, 60, 20, 16, 13, 60, 40),
        )
    _sheet(workbook, "Log", *_log(pack), widths=(18, 20, 36, 15, 22, 40, 40, 16, 13, 13))
    out = io.BytesIO()
    workbook.save(out)
    return out.getvalue()


def _summary(workbook: Any, pack: MeetingPack) -> None:
    from openpyxl.styles import Font

    sheet = workbook.create_sheet("Summary")
    sheet.column_dimensions["A"].width, sheet.column_dimensions["B"].width = 22, 90
    sheet.append(["Coverage review"])
    sheet["A1"].font = Font(bold=True, size=16, color=_HEAD)
    for name, value in pack.facts:
        sheet.append([name, _plain(value)])
    sheet.append([])
    for severity, number in pack.gap_counts().items():
        sheet.append([f"To obtain, {severity}", number])
    for row in sheet.iter_rows(min_row=2, max_col=1):
        row[0].font = Font(bold=True)
    _printable(sheet)


def _matrix(workbook: Any, pack: MeetingPack) -> None:
    from openpyxl.styles import Alignment, Font, PatternFill

    board = pack.board
    sheet = workbook.create_sheet("Matrix")
    _header(sheet, ["topic", "owner", "domain", *map(kind_in_words, board.kinds)])
    for number, width in enumerate((44, 16, 16, *([19] * len(board.kinds)))):
        sheet.column_dimensions[_letter(number)].width = width
    for topic in board.topics:
        cells = [board.cell(topic, kind) for kind in board.kinds]
        labels = [_plain(value) for value in (topic.name, topic.owner, pack.domain_title(topic.domain or ""))]
        sheet.append([*labels, *(_state(cell) for cell in cells)])
        for column, cell in enumerate(cells, start=4):
            tile, style = sheet.cell(sheet.max_row, column), STATE_LOOKS[cell.state]
            tile.fill = PatternFill("solid", start_color=style.fill.upper())
            tile.font = Font(color=style.ink.upper())
            tile.alignment = Alignment(horizontal="center", vertical="center")
        sheet.cell(sheet.max_row, 1).alignment = Alignment(wrap_text=True, vertical="center")
    sheet.append([])
    for words, style in LEGEND.items():
        sheet.append([f"{style.symbol} {words}"])
        sheet.cell(sheet.max_row, 1).fill = PatternFill("solid", start_color=style.fill.upper())
        sheet.cell(sheet.max_row, 1).font = Font(color=style.ink.upper())
    sheet.freeze_panes = "D2"
    _printable(sheet)


def _state(cell: Cell) -> str:
    return f"{cell_in_words(cell)}{' ⚠' if cell.risks else ''}"


def _gaps(pack: MeetingPack) -> tuple[Row, list[Row]]:
    decisions = pack.current_decisions
    rows: list[Row] = []
    for gap in pack.board.gaps:
        topic = pack.board.topic_of(gap)
        decision = decisions.get((topic.id, gap.kind.value))
        owner = (decision.owner if decision else "") or topic.owner
        cells = [
            gap.severity,
            gap.topic,
            kind_in_words(gap.kind),
            gap.recommendation,
            owner,
            decision.due if decision else None,
        ]
        rows.append([*cells, _verdict(decision), decision.comment if decision else ""])
    return ("severity", "topic", "kind", "what to obtain", "owner", "due", "decision", "comment"), rows


def _decisions(workbook: Any, pack: MeetingPack) -> None:
    from openpyxl.styles import PatternFill
    from openpyxl.worksheet.datavalidation import DataValidation

    counts: dict[tuple[int, str], int] = {}
    for each in pack.decisions:
        about = (each.topic_id, each.kind)
        counts[about] = counts.get(about, 0) + 1
    decisions, rows = pack.current_decisions, []
    for cell in pack.board.cells:
        about = (cell.topic_id, cell.kind.value)
        decision = decisions.get(about)
        cells = [cell.topic_id, cell.topic, kind_in_words(cell.kind), counts.get(about, 0), _state(cell)]
        cells += [
            _best_evidence(cell),
            decision.verdict.value if decision else "",
            decision.reason if decision else "",
        ]
        cells += (
            [decision.expires, decision.owner, decision.due, decision.comment, decision.who]
            if decision
            else [None, "", None, "", ""]
        )
        rows.append(cells)
    widths = (9, 36, 15, 10, 18, 60, 22, 30, 13, 16, 13, 34, 16)
    sheet = _sheet(workbook, DECISION_SHEET, DECISION_COLUMNS, rows, widths=widths)
    first = DECISION_COLUMNS.index(_EDITABLE[0])
    listed = ",".join(verdict.value for verdict in REVIEWABLE)
    choice = DataValidation(type="list", formula1=f'"{listed}"', allow_blank=True)
    sheet.add_data_validation(choice)
    choice.add(f"{_letter(first)}2:{_letter(first)}{max(2, sheet.max_row)}")
    for row in sheet.iter_rows(min_row=2, min_col=first + 1):
        for tile in row:
            tile.fill = PatternFill("solid", start_color="FFFBEA")
    sheet.freeze_panes = "D2"


def _evidence(board: Board) -> tuple[Row, list[Row]]:
    heads = ("topic", "kind", "counts as", "evidence", "quote", "document", "page", "threshold", "doubts")
    rows: list[Row] = []
    for cell in board.cells:
        for name, citations in (("evidence", cell.evidence), ("near miss", cell.near_misses)):
            score = score_in_words(cell.evidence_score)
            about, doubts = (cell.topic, kind_in_words(cell.kind), name, score), risks_in_words(cell)
            rows += [(*about, *_quote(c), cell.threshold, doubts) for c in citations]
    return heads, rows


def _changes(pack: MeetingPack) -> tuple[Row, list[Row]]:
    heads = ("topic", "kind", "before", "after", "evidence before", "evidence after", "why")
    if pack.changes is None:
        return heads, [("No earlier snapshot was chosen.", "", "", "", "", "", "")]
    return heads, [
        [
            each.topic,
            kind_in_words(each.kind),
            each.before.value if each.before else "",
            each.after.value if each.after else "",
            round(each.score_before, 2) if each.before in ASSESSED else None,
            round(each.score_after, 2) if each.after in ASSESSED else None,
            each.why,
        ]
        for each in pack.changes.cells
    ]


def _log(pack: MeetingPack) -> tuple[Row, list[Row]]:
    heads = ("when (UTC)", "who", "topic", "kind", "decision", "reason", "comment", "owner", "due", "expires")
    return heads, [
        (
            d.at,
            d.who,
            d.topic,
            about_in_words(d.kind),
            d.verdict.value,
            d.reason,
            d.comment,
            d.owner,
            d.due,
            d.expires,
        )
        for d in pack.decisions
    ]


def _best_evidence(cell: Cell) -> str:
    """The best sentence of a cell as the sheet shows it, "" without one."""
    best = next(iter(cell.evidence or cell.near_misses), None)
    return restored(_plain(_citation_text(best))).strip() if best else ""


def _citation_text(citation: Citation) -> str:
    quote, document, page = _quote(citation)
    return f"“{quote}” ({document}{f', p. {page}' if page else ''})"


def _quote(citation: Citation) -> tuple[str, str, int | None]:
    return display_quote(citation.quote), citation.document_name, citation.page


def _verdict(decision: Any) -> str:
    return decision.verdict.value if decision else ""


def _sheet(workbook: Any, name: str, heads: Row, rows: Iterable[Row], *, widths: Sequence[int]) -> Any:
    from openpyxl.styles import Alignment

    sheet = workbook.create_sheet(name)
    _header(sheet, heads)
    for row in rows:
        sheet.append([_plain(value) for value in row])
    for number, width in enumerate(widths):
        sheet.column_dimensions[_letter(number)].width = width
    for line in sheet.iter_rows(min_row=2):
        for tile in line:
            tile.alignment = Alignment(wrap_text=True, vertical="top")
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = sheet.dimensions
    _printable(sheet)
    return sheet


def _plain(value: Any) -> Any:
    """The value as a workbook can store it: no control characters, no time zone, not too long, no formula."""
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    if isinstance(value, datetime):
        return value.replace(tzinfo=None, microsecond=0)
    if isinstance(value, str):
        return inert(ILLEGAL_CHARACTERS_RE.sub(" ", value)[:_MOST_LETTERS])
    return value if value is None or isinstance(value, int | float | date) else str(value)


def _header(sheet: Any, heads: Row) -> None:
    from openpyxl.styles import Alignment, Font, PatternFill

    sheet.append(list(heads))
    for tile in sheet[1]:
        tile.font = Font(bold=True, color="FFFFFF")
        tile.fill = PatternFill("solid", start_color=_HEAD)
        tile.alignment = Alignment(vertical="center", wrap_text=True)
    sheet.row_dimensions[1].height = 24


def _printable(sheet: Any) -> None:
    sheet.page_setup.orientation = "landscape"
    sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight = 1, 0
    sheet.sheet_properties.pageSetUpPr.fitToPage = True
    sheet.print_title_rows = "1:1"


def _letter(number: int) -> str:
    """Column letters for a 0-based column number."""
    from openpyxl.utils import get_column_letter

    return str(get_column_letter(number + 1))


_MOST_BYTES = 200_000_000

_WORDS = ("verdict", "reason", "expires", "owner", "due", "comment", "who")


@dataclass(frozen=True, slots=True)
class DecisionImportRow:
    """One changed row of the sheet. row: its number in the spreadsheet. before, after: in words. problem: why it cannot
    be imported, "" when it can; then `decision` is what would be stored."""

    row: int
    topic: str
    kind: str
    before: str
    after: str
    problem: str = ""
    decision: Decision | None = None


@dataclass(frozen=True, slots=True)
class DecisionImportPreview:
    """Preview of an import. unchanged: number of rows equal to the current decisions."""

    rows: tuple[DecisionImportRow, ...]
    unchanged: int

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The decisions that can be imported."""
        return tuple(row.decision for row in self.rows if row.decision is not None)


def read_decisions(
    data: bytes, name: str, board: Board, decisions: Sequence[Decision], current: DecisionsByCell, now: datetime
) -> DecisionImportPreview:
    """Differences between the sheet "Decisions" of a meeting pack and the log. decisions: the board's complete log.

    A row with an outdated count of decisions is a problem: someone has decided since the pack was made. An emptied
    verdict undoes nothing. Raises BadRequest for a file that is not a meeting pack.
    """
    rows = _rows(data, name)
    cells = {(cell.topic_id, cell.kind.value): cell for cell in board.cells}
    counts: dict[tuple[int, str], int] = {}
    for decision in decisions:
        counts[decision.topic_id, decision.kind] = counts.get((decision.topic_id, decision.kind), 0) + 1
    rows_changed, unchanged = [], 0
    for number, row in rows:
        about = (_as_number(row["topic id"]), kind_of_words(_text(row["kind"])))
        known, words = current.get(about), _decision_words(row)
        if words["verdict"] == "" or words == _decision_of_log(known):
            unchanged += 1
            continue
        rows_changed.append(_preview(number, row, cells.get(about), known, counts.get(about, 0), board, now))
    return DecisionImportPreview(tuple(rows_changed), unchanged)


def _rows(data: bytes, name: str) -> list[tuple[int, dict[str, Any]]]:
    hint = "Choose the .xlsx file of a meeting pack, edited but not rearranged."
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as inside:
            if sum(entry.file_size for entry in inside.infolist()) > _MOST_BYTES:
                raise BadRequest(f"'{name}' is too large for a meeting pack.", hint)
        from openpyxl import load_workbook

        workbook = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        lines = (
            list(workbook[DECISION_SHEET].iter_rows(values_only=True)) if DECISION_SHEET in workbook.sheetnames else []
        )
    except FivefoldError:
        raise
    except Exception as error:  # damaged workbooks raise many different errors
        raise BadRequest(f"'{name}' is not a workbook that can be read ({type(error).__name__}).", hint) from error
    heads = [str(value or "").strip().lower() for value in lines[0]] if lines else []
    missing = [column for column in DECISION_COLUMNS if column not in heads]
    if missing:
        raise BadRequest(f"'{name}' has no sheet '{DECISION_SHEET}' with the column '{missing[0]}'.", hint)
    column_indices = {column: heads.index(column) for column in DECISION_COLUMNS}
    return [
        (number, {column: line[at] if at < len(line) else None for column, at in column_indices.items()})
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
) -> DecisionImportRow:
    words = _decision_words(row)
    before = _in_words(_decision_of_log(known)) if known else "not decided"
    shown = DecisionImportRow(number, restored(_text(row["topic"])), _text(row["kind"]), before, _in_words(words))
    try:
        return replace(shown, decision=_decision(row, words, cell, count, board, now))
    except BadRequest as problem:
        return replace(shown, problem=problem.message)


def _decision(
    row: Mapping[str, Any], words: Mapping[str, str], cell: Cell | None, count: int, board: Board, now: datetime
) -> Decision:
    """The row as a decision. count: current number of decisions on the cell. Raises BadRequest."""
    if cell is None:
        raise BadRequest("This board has no such cell.", "Leave topic id and kind as they are.")
    if _as_number(row["decisions so far"]) != count:
        raise BadRequest("Someone has decided on it since this pack was made.", "Make the pack again.")
    verdict = next((each for each in REVIEWABLE if each.value == words["verdict"].lower()), None)
    if verdict is None:
        raise BadRequest(f"'{words['verdict']}' is not a decision; use {', '.join(REVIEWABLE)}.", "Choose one of them.")
    if verdict is ReviewVerdict.ACCEPTED and restored(_text(row["evidence"])) != _best_evidence(cell):
        raise BadRequest("Its evidence has changed since this pack was made.", "Make the pack again.")
    expires, due = (_day(row[column], column) for column in ("expires", "due"))
    check_decision(verdict, words["who"], words["reason"], expires, due, cell, now.date())
    who, reason, comment, owner = (words[column] for column in ("who", "reason", "comment", "owner"))
    return decision_on(board, cell, ReviewerOpinion(verdict, who, count, reason, comment, owner, due, expires), now)


def _decision_words(row: Mapping[str, Any]) -> dict[str, str]:
    return {column: restored(_text(row[column])) for column in _WORDS}


def _decision_of_log(decision: Decision | None) -> dict[str, str]:
    """A decision as the values of its row in the sheet."""
    if decision is None:
        return dict.fromkeys(_WORDS, "")
    return {column: _text(getattr(decision, column)) for column in _WORDS}


def _in_words(words: Mapping[str, str]) -> str:
    rest = [f"{column} {words[column]}" for column in _WORDS[1:] if words[column]]
    return "; ".join([words["verdict"], *rest])


def _text(value: Any) -> str:
    if isinstance(value, datetime):
        value = value.date()
    return "" if value is None else str(value).strip()


def _as_number(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return -1


def _day(value: Any, column: str) -> date | None:
    """A date from a date cell or ISO text. Raises BadRequest naming the column."""
    if value is None or not str(value).strip():
        return None
    if isinstance(value, datetime):
        return value.date()
    try:
        return value if isinstance(value, date) else date.fromisoformat(str(value).strip()[:10])
    except ValueError as error:
        raise BadRequest(f"'{value}' in the column '{column}' is not a date.", "Write it as 2026-12-31.") from error
