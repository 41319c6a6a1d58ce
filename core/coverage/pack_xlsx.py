"""The meeting pack as a workbook: read in the meeting, decided in, and taken back."""

import io
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Any

from core.boards import Board, Cell
from core.coverage.gaps import ASSESSED, score_in_words
from core.coverage.pack import STATE_LOOKS, Pack
from core.coverage.report import inert
from core.results import Citation
from core.reviews import Verdict
from core.search.quotable import shown_quote

__all__ = ["DECISION_COLUMNS", "DECISION_SHEET", "REVIEWABLE", "pack_xlsx"]

DECISION_SHEET = "Decisions"
REVIEWABLE = (Verdict.ACCEPTED, Verdict.CONFIRMED, Verdict.WAIVED, Verdict.NEEDS_WORK)
DECISION_COLUMNS = (
    *("topic id", "topic", "kind", "decisions so far", "state", "evidence", "verdict", "reason", "expires"),
    *("owner", "due", "comment", "who"),
)
_EDITABLE = DECISION_COLUMNS[6:]
_MOST_LETTERS = 32_000  # a cell of a workbook holds 32,767
_HEAD = "34558B"

Row = Sequence[Any]


def pack_xlsx(pack: Pack) -> bytes:
    """The workbook's bytes. Text a spreadsheet would run as a formula is made inert.

    The sheet "Decisions" has one row per cell; what is written into it comes back by `read_decisions`. "decisions so
    far" must stay: it tells whether someone else has decided since.
    """
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.active)
    _summary(book, pack)
    _matrix(book, pack.board)
    _sheet(book, "Gaps", *_gaps(pack), widths=(10, 36, 15, 70, 16, 13, 22, 34))
    _decisions(book, pack)
    _sheet(book, "Evidence", *_evidence(pack.board), widths=(36, 15, 12, 10, 80, 34, 8, 10))
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
    _sheet(book, "Conflicts", heads, conflicts, widths=(30, 11, 40, 60, 26, 7, 60, 26, 7, 20))
    _sheet(book, "Changes", *_changes(pack), widths=(36, 15, 14, 14, 10, 10, 80))
    _sheet(book, "Log", *_log(pack), widths=(18, 20, 36, 15, 22, 40, 40, 16, 13, 13))
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _summary(book: Any, pack: Pack) -> None:
    from openpyxl.styles import Font

    sheet = book.create_sheet("Summary")
    sheet.column_dimensions["A"].width, sheet.column_dimensions["B"].width = 22, 90
    sheet.append(["Coverage review"])
    sheet["A1"].font = Font(bold=True, size=16, color=_HEAD)
    for name, value in pack.facts:
        sheet.append([name, _plain(value)])
    sheet.append([])
    for severity, number in pack.gap_counts().items():
        sheet.append([f"{severity} gaps", number])
    for row in sheet.iter_rows(min_row=2, max_col=1):
        row[0].font = Font(bold=True)
    _printable(sheet)


def _matrix(book: Any, board: Board) -> None:
    from openpyxl.styles import Alignment, Font, PatternFill

    sheet = book.create_sheet("Matrix")
    _header(sheet, ["topic", "owner", "domain", *(kind.value for kind in board.kinds)])
    for number, width in enumerate((44, 16, 16, *([19] * len(board.kinds)))):
        sheet.column_dimensions[_letter(number)].width = width
    for topic in board.topics:
        cells = [board.cell(topic.name, kind) for kind in board.kinds]
        told = [_plain(value) for value in (topic.name, topic.owner, topic.domain or "")]
        sheet.append([*told, *(_state(cell) for cell in cells)])
        for column, cell in enumerate(cells, start=4):
            tile, look = sheet.cell(sheet.max_row, column), STATE_LOOKS[cell.state]
            tile.fill = PatternFill("solid", start_color=look.fill.upper())
            tile.font = Font(color=look.ink.upper())
            tile.alignment = Alignment(horizontal="center", vertical="center")
        sheet.cell(sheet.max_row, 1).alignment = Alignment(wrap_text=True, vertical="center")
    sheet.append([])
    for state, look in STATE_LOOKS.items():
        sheet.append([f"{look.symbol} {state.value}"])
        sheet.cell(sheet.max_row, 1).fill = PatternFill("solid", start_color=look.fill.upper())
        sheet.cell(sheet.max_row, 1).font = Font(color=look.ink.upper())
    sheet.freeze_panes = "D2"
    _printable(sheet)


def _state(cell: Cell) -> str:
    symbol = STATE_LOOKS[cell.state].symbol
    return f"{symbol} {cell.state.value}" + (
        f" {score_in_words(cell.evidence_score)}" if cell.state in ASSESSED else ""
    )


def _gaps(pack: Pack) -> tuple[Row, list[Row]]:
    ids = {topic.name: topic for topic in pack.board.topics}
    held = pack.held
    rows: list[Row] = []
    for gap in pack.board.gaps:
        topic = ids[gap.topic]
        said = held.get((topic.id, gap.kind.value))
        owner = (said.owner if said else "") or topic.owner
        told = [gap.severity, gap.topic, gap.kind.value, gap.recommendation, owner, said.due if said else None]
        rows.append([*told, _verdict(said), said.comment if said else ""])
    return ("severity", "topic", "kind", "what to obtain", "owner", "due", "decision", "comment"), rows


def _decisions(book: Any, pack: Pack) -> None:
    from openpyxl.styles import PatternFill
    from openpyxl.worksheet.datavalidation import DataValidation

    counts: dict[tuple[int, str], int] = {}
    for decision in pack.decisions:
        about = (decision.topic_id, decision.kind)
        counts[about] = counts.get(about, 0) + 1
    held, rows = pack.held, []
    for cell in pack.board.cells:
        about = (cell.topic_id, cell.kind.value)
        said = held.get(about)
        best = next(iter(cell.evidence or cell.near_misses), None)
        told = [cell.topic_id, cell.topic, cell.kind.value, counts.get(about, 0), _state(cell)]
        told += [_told(best) if best else "", said.verdict.value if said else "", said.reason if said else ""]
        told += [said.expires, said.owner, said.due, said.comment, said.who] if said else [None, "", None, "", ""]
        rows.append(told)
    widths = (9, 36, 15, 10, 18, 60, 22, 30, 13, 16, 13, 34, 16)
    sheet = _sheet(book, DECISION_SHEET, DECISION_COLUMNS, rows, widths=widths)
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
    heads = ("topic", "kind", "counts as", "evidence", "quote", "document", "page", "threshold")
    rows: list[Row] = []
    for cell in board.cells:
        for name, citations in (("evidence", cell.evidence), ("near miss", cell.near_misses)):
            score = score_in_words(cell.evidence_score)
            rows += [(cell.topic, cell.kind.value, name, score, *_quote(c), cell.threshold) for c in citations]
    return heads, rows


def _changes(pack: Pack) -> tuple[Row, list[Row]]:
    heads = ("topic", "kind", "before", "after", "evidence before", "evidence after", "why")
    if pack.changes is None:
        return heads, [("No earlier snapshot was chosen.", "", "", "", "", "", "")]
    return heads, [
        [
            each.topic,
            each.kind.value,
            each.before.value if each.before else "",
            each.after.value if each.after else "",
            round(each.score_before, 2),
            round(each.score_after, 2),
            each.why,
        ]
        for each in pack.changes.cells
    ]


def _log(pack: Pack) -> tuple[Row, list[Row]]:
    heads = ("when (UTC)", "who", "topic", "kind", "decision", "reason", "comment", "owner", "due", "expires")
    return heads, [
        (
            d.at,
            d.who,
            d.topic,
            d.kind.partition(":")[0],
            d.verdict.value,
            d.reason,
            d.comment,
            d.owner,
            d.due,
            d.expires,
        )
        for d in pack.decisions
    ]


def _told(citation: Citation) -> str:
    quote, document, page = _quote(citation)
    return f"“{quote}” ({document}{f', p. {page}' if page else ''})"


def _quote(citation: Citation) -> tuple[str, str, int | None]:
    return shown_quote(citation.quote), citation.document_name, citation.page


def _verdict(decision: Any) -> str:
    return decision.verdict.value if decision else ""


def _sheet(book: Any, name: str, heads: Row, rows: Iterable[Row], *, widths: Sequence[int]) -> Any:
    from openpyxl.styles import Alignment

    sheet = book.create_sheet(name)
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
    """A value a workbook can hold: no control characters, no time zone, not too long, no formula."""
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
    """The name of a column by its 0-based number."""
    from openpyxl.utils import get_column_letter

    return str(get_column_letter(number + 1))
