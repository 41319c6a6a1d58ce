"""What became of a batch, as CSV and as a workbook: every row of the file it came from, also those not asked."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from core.coverage.report import inert
from core.documents import Truth
from core.search.batch import UNKNOWN_TRUTH, Batch, BatchTotals, Outcome, RowProblem, totals, without_hits
from core.search.cite import CitationStyle, written
from core.search.quotable import shown_quote

__all__ = ["OUTCOME_COLUMNS", "batch_csv", "batch_xlsx", "outcome_rows", "totals_rows"]

REFUSED, NOT_ASKED = "refused", "not asked"
_TRUTHS = (*(truth.value for truth in Truth), UNKNOWN_TRUTH)
OUTCOME_COLUMNS = (
    *("row", "id", "question", "state", "hits", *(f"hits {truth}" for truth in _TRUTHS), "score"),
    *("best sentence", "citation", "found in", "page number", "why", "filters in words", "scored by", "notices"),
)
"""None of them is a column that a batch reads as a filter, so that an outcome can be run again as it is."""
_WIDTHS = (6, 12, 50, 12, 7, *([12] * len(_TRUTHS)), 8, 80, 30, 30, 8, 50, 40, 14, 40)
_MOST_LETTERS = 32_000  # a cell of a workbook holds 32,767

Row = Sequence[Any]


def outcome_rows(batch: Batch, outcomes: Sequence[Outcome]) -> list[Row]:
    """One row per row of the file, in its order, under OUTCOME_COLUMNS; what was refused or not asked says so."""
    told = {each.question.row: each for each in outcomes}
    rows: dict[int, Row] = {each.row: _refused(each) for each in batch.problems}
    for asked in batch.questions:
        outcome = told.get(asked.row)
        head = (asked.row, asked.key, asked.question)
        rows[asked.row] = _answered(head, outcome) if outcome else (*head, NOT_ASKED, *_blank(head))
    return [rows[row] for row in sorted(rows)]


def _answered(head: Row, outcome: Outcome) -> Row:
    best = outcome.best
    counts = [outcome.by_truth.get(truth, 0) for truth in _TRUTHS]
    failed = outcome.state.value == "failed"
    return (
        *head,
        outcome.state.value,
        *([None] * (1 + len(_TRUTHS)) if failed else [outcome.hits, *counts]),
        None if outcome.score is None else round(outcome.score, 4),
        shown_quote(best.quote) if best else "",
        written(best, CitationStyle.FULL) if best else "",
        best.document_name if best else "",
        best.page if best else None,
        outcome.why,
        "; ".join(outcome.filters),
        outcome.profile,
        "; ".join(outcome.notices),
    )


def _refused(problem: RowProblem) -> Row:
    why = f"{problem.field}: {problem.problem}" if problem.field else problem.problem
    head = (problem.row, "", problem.text)
    blank = list(_blank(head))
    blank[OUTCOME_COLUMNS.index("why") - len(head) - 1] = why
    return (*head, REFUSED, *blank)


def _blank(head: Row) -> Row:
    return (None,) * (len(OUTCOME_COLUMNS) - len(head) - 1)


def totals_rows(counts: BatchTotals) -> list[tuple[str, int]]:
    """The counts with their names."""
    rows = [("rows", counts.rows), ("answered", counts.answered), ("no hits", counts.no_hits)]
    rows += [("failed", counts.failed), (REFUSED, counts.refused), (NOT_ASKED, counts.to_ask)]
    return [*rows, *((f"hits {truth}", number) for truth, number in counts.by_truth.items())]


def batch_csv(batch: Batch, outcomes: Sequence[Outcome]) -> bytes:
    """The outcome as CSV in UTF-8 with a byte order mark, which spreadsheets need; formulas are made inert."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(OUTCOME_COLUMNS)
    writer.writerows([inert(cell) for cell in row] for row in outcome_rows(batch, outcomes))
    return out.getvalue().encode("utf-8-sig")


def batch_xlsx(batch: Batch, outcomes: Sequence[Outcome]) -> bytes:
    """The outcome as a workbook: all rows, those without hits, those that are wrong, and the totals."""
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    silent = {each.question.row for each in without_hits(outcomes)}
    rows = outcome_rows(batch, outcomes)
    _sheet(book, "Outcome", OUTCOME_COLUMNS, rows, _WIDTHS)
    _sheet(book, "Without hits", OUTCOME_COLUMNS, (row for row in rows if row[0] in silent), _WIDTHS)
    problems = [(each.row, each.field, each.problem, each.text) for each in batch.problems]
    _sheet(book, "Refused rows", ("row", "column", "problem", "it reads"), problems, (6, 20, 60, 80))
    _sheet(book, "Totals", ("what", "number"), totals_rows(totals(batch, outcomes)), (24, 10))
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _sheet(book: Any, name: str, heads: Sequence[str], rows: Iterable[Row], widths: Sequence[int]) -> None:
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    sheet = book.create_sheet(name)
    sheet.freeze_panes = "A2"
    for number, width in enumerate(widths, start=1):
        sheet.column_dimensions[get_column_letter(number)].width = width
    cells = [WriteOnlyCell(sheet, head) for head in heads]
    for cell in cells:
        cell.font = Font(bold=True)
    sheet.append(cells)
    for row in rows:
        sheet.append([_plain(value) for value in row])


def _plain(value: Any) -> Any:
    """A value a workbook can hold: no control characters, not too long, no formula."""
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    return inert(ILLEGAL_CHARACTERS_RE.sub(" ", value)[:_MOST_LETTERS]) if isinstance(value, str) else value
