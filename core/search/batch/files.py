"""Batch files: questions with filters read from CSV, results written as CSV or workbook."""
# Over 300 lines: the columns that are read and those that are written belong together.

import csv
import io
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any

from core.domain.documents import Truth
from core.domain.errors import BadFilters, BadRequest
from core.domain.filters import FIELDS, SearchFilters, check_filters
from core.formats.csv import csv_text, decoded, inert, records, restored
from core.knowledge.workspace_terms import WorkspaceTerms
from core.search.batch.questions import (
    UNKNOWN_TRUTH,
    Batch,
    BatchOutcome,
    BatchQuestion,
    BatchTotals,
    RowProblem,
    totals,
    unanswered,
)
from core.search.citations.cite import CitationStyle, display_quote, written
from core.search.query.filter_intersection import narrowed

__all__ = [
    "COLUMNS",
    "MOST_BYTES",
    "MOST_QUESTIONS",
    "MOST_RESULTS",
    "OUTCOME_COLUMNS",
    "TEMPLATE",
    "batch_csv",
    "batch_xlsx",
    "filters_from",
    "outcome_rows",
    "read_batch",
    "totals_rows",
]

MOST_QUESTIONS = 10_000  # per file. Chosen by hand.

MOST_BYTES = 20_000_000  # per file. Chosen by hand.

MOST_RESULTS = 100  # per question. Chosen by hand.

_FIELDS = tuple(name for field in FIELDS for name in (field.name, f"exclude_{field.name}"))

_WORDS = ("date_from", "date_to", "tags_mode", "entities_mode")

_YES_NO = ("include_undated", "strict_labels")

COLUMNS = ("question", "id", "profile", "top", *_FIELDS, *_WORDS, "recency_months", *_YES_NO, "archived")
"""The columns that are understood; "question" alone is needed."""

TEMPLATE = (
    "id,question,truths,domains,jurisdictions,date_from,profile,top\r\n"
    "R-1,When must overtime be paid?,regulatory|compliance,,,,,\r\n"
    "R-2,Which deductions does the customer want?,intent,deductions,,2024-01-01,,5\r\n"
)
"""A file to begin with: two questions, and the columns most rows need."""

_NAMES = {"query": "question", "q": "question", "key": "id", "top_k": "top", "last_months": "recency_months"}

_NAMES |= {"authority": "authorities", "entity": "entities", "temporal_class": "temporal_classes"}

_NAMES |= {field.name[:-1]: field.name for field in FIELDS if field.name not in ("authorities", "entities")}

_NAMES |= {f"exclude_{one}": f"exclude_{many}" for one, many in list(_NAMES.items()) if many in _FIELDS}

_LISTED = {field.name for field in FIELDS if field.values} | {"domains", "jurisdictions"}

_TRUE, _FALSE = ("yes", "true", "1", "y"), ("no", "false", "0", "n")

_ARCHIVED = {"only": True, "too": None, **dict.fromkeys(_FALSE, False)}

_SHOWN = 80  # characters of a refused cell that are quoted. Chosen by hand.

_EVERYTHING = SearchFilters()


def read_batch(
    data: bytes,
    name: str,
    *,
    terms: WorkspaceTerms,
    filters: SearchFilters = _EVERYTHING,
    profile: str = "",
    profiles: Collection[str] | None = None,
    documents: Mapping[str, Collection[int]] | None = None,
) -> Batch:
    """Read the questions of a CSV file: UTF-8, UTF-16 or Windows-1252, separated by commas, semicolons or tabs.

    filters, profile: of the whole batch; a row's own filters narrow them, its own profile replaces them. profiles:
    valid ones, None: not checked here. documents: name → ids, so that a row may name files; ids are always allowed.
    Values in one cell are separated by "|" or ";", and by commas where no value contains one.

    Raises BadRequest for a file that cannot be read at all; an invalid row becomes a RowProblem, and the others are
    read."""
    rows = records(decoded(data, name, MOST_BYTES), name, _delimiter)
    header, ignored, notices = _header(next(rows, (1, []))[1], name)
    reader = _QuestionCsvReader(header, filters, profile, profiles, documents or {}, terms)
    for number, cells in rows:
        reader.read(number, cells)
        if len(reader.questions) + len(reader.problems) > MOST_QUESTIONS:
            raise BadRequest(
                f"'{name}' has more than {MOST_QUESTIONS:,} questions.", "Split it into several files, then run each."
            )
    if not reader.questions and not reader.problems:
        raise BadRequest(f"'{name}' contains no question.", "Write one question per row below the column 'question'.")
    return Batch(name, tuple(reader.questions), tuple(reader.problems), ignored, notices)


def filters_from(
    conditions: Sequence[str], terms: WorkspaceTerms, documents: Mapping[str, Collection[int]] | None = None
) -> SearchFilters:
    """Filters given as "field=value", written as in a file; a field given twice gets both values. Raises BadRequest.

    >>> from core.knowledge.workspace_terms import BUILT_IN_TERMS
    >>> filters_from(["truths=intent", "truth=reality", "exclude_domains=Taxes"], BUILT_IN_TERMS).truths
    ('intent', 'reality')
    """
    values: dict[str, str] = {}
    for each in conditions:
        name, _, value = each.partition("=")
        column = _column(name)
        if column not in COLUMNS[4:] or not value.strip():
            raise BadRequest(f"'{each}' is not a filter.", f"Write field=value; fields are {', '.join(COLUMNS[4:])}.")
        values[column] = f"{values[column]}|{value.strip()}" if column in values else value.strip()
    try:
        return _QuestionCsvReader([], _EVERYTHING, "", None, documents or {}, terms).own(values, otherwise=False)
    except _RowError as wrong:
        raise BadRequest(f"{wrong.field}: {wrong.problem}.", "Correct the filter.") from wrong


def _delimiter(text: str) -> str:
    """The delimiter that splits the header into most known columns, else into most columns."""
    line = next((each for each in text.splitlines() if each.strip()), "")
    parted = {mark: next(csv.reader([line], delimiter=mark), []) for mark in (",", ";", "\t")}
    return max(parted, key=lambda mark: (sum(_column(each) in COLUMNS for each in parted[mark]), len(parted[mark])))


def _column(cell: str) -> str:
    """
    >>> _column(" Temporal class "), _column("Truth"), _column("Owner")
    ('temporal_classes', 'truths', 'owner')
    """
    plain = "_".join(cell.strip().lower().replace("-", " ").replace("_", " ").split())
    return _NAMES.get(plain, plain)


def _header(cells: Sequence[str], name: str) -> tuple[list[str], tuple[str, ...], tuple[str, ...]]:
    """The columns by name, the unknown ones, and notices about them. Raises BadRequest."""
    header = [_column(cell) for cell in cells]
    if "question" not in header:
        hint = "Name the columns in the first row; the template shows how."
        raise BadRequest(f"'{name}' has no column 'question'.", hint)
    known = [each for each in header if each in COLUMNS]
    twice = next((each for each in known if known.count(each) > 1), "")
    if twice:
        raise BadRequest(f"'{name}' has the column '{twice}' twice.", "Keep one of them.")
    ignored = tuple(cell for cell, each in zip(cells, header, strict=True) if cell and each not in COLUMNS)
    near = {cell: get_close_matches(_column(cell), COLUMNS, n=1, cutoff=0.75) for cell in ignored}
    notices = tuple(
        f"The column '{cell}' is not read. Did you mean '{found[0]}'?" for cell, found in near.items() if found
    )
    return header, ignored, notices


class _RowError(Exception):
    """An invalid cell: its column, and why."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(problem)
        self.field, self.problem = field, problem


class _QuestionCsvReader:
    """Turns rows into questions, and collects the problems of invalid rows."""

    def __init__(
        self,
        header: Sequence[str],
        filters: SearchFilters,
        profile: str,
        profiles: Collection[str] | None,
        documents: Mapping[str, Collection[int]],
        terms: WorkspaceTerms,
    ) -> None:
        self._header, self._filters, self._profile, self._profiles = header, filters, profile, profiles
        self._documents = {name.casefold(): sorted(ids) for name, ids in documents.items()}
        self._titles = _titles(terms)
        self._rows: dict[str, int] = {}
        self.questions: list[BatchQuestion] = []
        self.problems: list[RowProblem] = []

    def read(self, row: int, cells: Sequence[str]) -> None:
        """Read one row, or record its problem: the first one found, for filters all of them."""
        text = ", ".join(cell for cell in cells if cell)
        try:
            if any(cells[len(self._header) :]):
                raise _RowError("", "it has more cells than the header: put a question with commas in quotation marks")
            values = {name: restored(cell) for name, cell in zip(self._header, cells, strict=False) if cell}
            self.questions.append(self._question(row, values))
        except _RowError as wrong:
            self._refuse(row, wrong.field, wrong.problem, text)
        except BadFilters as wrong:
            field = _field_of(wrong.problems[0])
            self._refuse(row, field, "; ".join(wrong.problems).removeprefix(f"{field}: "), text)

    def _refuse(self, row: int, field: str, problem: str, text: str) -> None:
        self.problems.append(RowProblem(row, field, problem, text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"))

    def _question(self, row: int, values: Mapping[str, str]) -> BatchQuestion:
        question, key, profile = (values.get(name, "") for name in ("question", "id", "profile"))
        if not question:
            raise _RowError("question", "it is empty")
        if key in self._rows:
            raise _RowError("id", f"'{key}' is already in row {self._rows[key]}")
        if profile and self._profiles is not None and profile not in self._profiles:
            raise _RowError("profile", f"there is no profile '{profile}'")
        top = values.get("top", "")
        if top and not 1 <= (_number(top) or 0) <= MOST_RESULTS:
            raise _RowError("top", f"'{top}' must be a whole number from 1 to {MOST_RESULTS}")
        inside = narrowed(self._filters, self.own(values, otherwise=None))
        if key:
            self._rows[key] = row
        return BatchQuestion(
            row, key, " ".join(question.split()), inside, profile or self._profile, int(top) if top else None
        )

    def own(self, values: Mapping[str, str], *, otherwise: bool | None) -> SearchFilters:
        """The filters given by cells. otherwise: the `archived` filter where no cell sets it."""
        archived = values.get("archived", "")
        return check_filters(self._raw(values)).replace(archived=_archived(archived) if archived else otherwise)

    def _raw(self, values: Mapping[str, str]) -> dict[str, Any]:
        """The row's filters as `check_filters` takes them."""
        raw: dict[str, Any] = {name: self._many(name, values[name]) for name in _FIELDS if name in values}
        raw |= {name: values[name].lower() if "mode" in name else values[name] for name in _WORDS if name in values}
        raw |= {name: _yes_no(name, values[name]) for name in _YES_NO if name in values}
        if months := values.get("recency_months"):
            number = _number(months)
            raw["recency_months"] = months if number is None else number
        return raw

    def _many(self, name: str, cell: str) -> list[Any]:
        base = name.removeprefix("exclude_")
        marks = cell.replace(";", "|")
        parts = [each.strip() for each in (marks.replace(",", "|") if base in _LISTED else marks).split("|")]
        values = [each for each in parts if each]
        if base == "documents":
            return [number for each in values for number in self._ids(name, each)]
        return [_value(name, base, each, self._titles.get(base, {})) for each in values]

    def _ids(self, name: str, value: str) -> Sequence[int]:
        if value.casefold() in self._documents:
            return self._documents[value.casefold()]
        if (number := _number(value)) is not None:
            return [number]
        raise _RowError(name, f"there is no document '{value}'")


def _number(value: str) -> int | None:
    """The whole number in a cell, None for anything else or more than 18 digits."""
    return int(value) if value.isdecimal() and len(value) <= 18 else None


def _value(column: str, field: str, value: str, titles: Mapping[str, str]) -> str:
    """A filter value: closed ones in lower case, domains and jurisdictions also by their titles."""
    closed = _closed().get(field)
    if closed is not None and value.lower() not in closed:
        raise _RowError(column, f"'{value}' is none of {', '.join(closed)}")
    return value.lower() if closed is not None else titles.get(value.casefold(), value)


@cache
def _closed() -> Mapping[str, tuple[str, ...]]:
    """Filter field → all its values, for fields with a closed set."""
    return {field.name: tuple(map(str, field.values)) for field in FIELDS if field.values}


def _titles(terms: WorkspaceTerms) -> Mapping[str, Mapping[str, str]]:
    """Filter field → spelling in lower case → value, for the fields whose values have titles."""
    domains = {each: terms.domains.title(each) for each in terms.domains.keywords}
    return {"domains": _spellings(domains), "jurisdictions": _spellings(terms.jurisdictions.titles)}


def _spellings(titles: Mapping[str, str]) -> Mapping[str, str]:
    names = {each.casefold(): each for each in titles}
    return names | {title.casefold(): each for each, title in titles.items()}


def _archived(value: str) -> bool | None:
    """The `archived` filter of a row: living documents, archived ones, or (None) both."""
    if value.lower() not in _ARCHIVED:
        raise _RowError("archived", f"'{value}' is neither 'no', 'too' nor 'only'")
    return _ARCHIVED[value.lower()]


def _yes_no(name: str, value: str) -> bool:
    if value.lower() not in (*_TRUE, *_FALSE):
        raise _RowError(name, f"'{value}' is neither yes nor no")
    return value.lower() in _TRUE


def _field_of(problem: str) -> str:
    """The column that a problem of `check_filters` refers to."""
    words = problem.replace("Invalid ", "").replace(":", " ").replace(" ", "_")
    return next((name for name in sorted(COLUMNS, key=len, reverse=True) if words.startswith(name)), "")


REFUSED, NOT_ASKED = "refused", "not asked"

_TRUTHS = (*(truth.value for truth in Truth), UNKNOWN_TRUTH)

OUTCOME_COLUMNS = (
    *("row", "id", "question", "state", "hits", *(f"hits {truth}" for truth in _TRUTHS), "score", "answer_probability"),
    *("best sentence", "citation", "found in", "page number", "why", "filters in words", "scored by", "notices"),
)
"""None of them is a column that a batch reads as a filter, so that an outcome can be run again as it is."""

_WIDTHS = (6, 12, 50, 12, 7, *([12] * len(_TRUTHS)), 8, 8, 80, 30, 30, 8, 50, 40, 14, 40)

_MOST_LETTERS = 32_000  # a cell of a workbook holds 32,767

Row = Sequence[Any]


def outcome_rows(batch: Batch, outcomes: Sequence[BatchOutcome]) -> list[Row]:
    """One row per row of the file, in its order, under OUTCOME_COLUMNS; refused and unasked rows are marked."""
    by_row = {each.question.row: each for each in outcomes}
    rows: dict[int, Row] = {each.row: _refused(each) for each in batch.problems}
    for question in batch.questions:
        outcome = by_row.get(question.row)
        head = (question.row, question.key, question.question)
        rows[question.row] = _answered(head, outcome) if outcome else (*head, NOT_ASKED, *_blank(head))
    return [rows[row] for row in sorted(rows)]


def _answered(head: Row, outcome: BatchOutcome) -> Row:
    best = outcome.best
    counts = [outcome.by_truth.get(truth, 0) for truth in _TRUTHS]
    failed = outcome.state.value == "failed"
    return (
        *head,
        outcome.state.value,
        *([None] * (1 + len(_TRUTHS)) if failed else [outcome.hits, *counts]),
        *(None if each is None else round(each, 4) for each in (outcome.score, outcome.answer_probability)),
        display_quote(best.quote) if best else "",
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
    rows = [("rows", counts.rows), ("answered", counts.answered), ("unanswered", counts.unanswered)]
    rows += [("failed", counts.failed), (REFUSED, counts.refused), (NOT_ASKED, counts.to_ask)]
    return [*rows, *((f"hits {truth}", number) for truth, number in counts.by_truth.items())]


def batch_csv(batch: Batch, outcomes: Sequence[BatchOutcome]) -> bytes:
    """The results as CSV in UTF-8 with a byte order mark, which spreadsheets need; formulas are escaped."""
    return csv_text([OUTCOME_COLUMNS, *outcome_rows(batch, outcomes)]).encode("utf-8-sig")


def batch_xlsx(batch: Batch, outcomes: Sequence[BatchOutcome]) -> bytes:
    """The results as a workbook: all rows, unanswered and invalid ones, and the totals."""
    from openpyxl import Workbook

    workbook = Workbook(write_only=True)
    silent = {each.question.row for each in unanswered(outcomes)}
    rows = outcome_rows(batch, outcomes)
    _sheet(workbook, "Outcome", OUTCOME_COLUMNS, rows, _WIDTHS)
    _sheet(workbook, "Unanswered", OUTCOME_COLUMNS, (row for row in rows if row[0] in silent), _WIDTHS)
    problems = [(each.row, each.field, each.problem, each.text) for each in batch.problems]
    _sheet(workbook, "Refused rows", ("row", "column", "problem", "it reads"), problems, (6, 20, 60, 80))
    _sheet(workbook, "Totals", ("what", "number"), totals_rows(totals(batch, outcomes)), (24, 10))
    out = io.BytesIO()
    workbook.save(out)
    return out.getvalue()


def _sheet(workbook: Any, name: str, heads: Sequence[str], rows: Iterable[Row], widths: Sequence[int]) -> None:
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    sheet = workbook.create_sheet(name)
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
    """A valid cell value: no control characters, not too long, no formula."""
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    return inert(ILLEGAL_CHARACTERS_RE.sub(" ", value)[:_MOST_LETTERS]) if isinstance(value, str) else value
