"""A CSV of questions as a batch: whatever a spreadsheet has made of it, and every row that is wrong told by itself."""

import csv
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, lru_cache
from typing import Any

from core.coverage.report import restored
from core.csv_rows import decoded, records
from core.errors import BadFilters, BadRequest
from core.filters import FIELDS, SearchFilters, check_filters
from core.search.batch import Batch, BatchQuestion, RowProblem
from core.search.narrow import narrowed
from core.tables.domains import domain_title, domains
from core.tables.jurisdictions import jurisdictions

__all__ = ["COLUMNS", "MOST_BYTES", "MOST_QUESTIONS", "MOST_RESULTS", "TEMPLATE", "filters_from", "read_batch"]

MOST_QUESTIONS = 10_000
MOST_BYTES = 20_000_000
MOST_RESULTS = 100
_FIELDS = tuple(name for field in FIELDS for name in (field.name, f"exclude_{field.name}"))
_WORDS = ("date_from", "date_to", "tags_mode", "entities_mode")
_YES_NO = ("include_undated",)
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
_SHOWN = 80
_EVERYTHING = SearchFilters()


def read_batch(
    data: bytes,
    name: str,
    *,
    filters: SearchFilters = _EVERYTHING,
    profile: str = "",
    profiles: Collection[str] | None = None,
    documents: Mapping[str, Collection[int]] | None = None,
) -> Batch:
    """The questions of a CSV: UTF-8, UTF-16 or Windows-1252, with commas, semicolons or tabs.

    filters, profile: of the whole batch; a row's own filters narrow further, its own profile is used instead. profiles:
    those there are, None: not checked here. documents: name → ids, so that a row may name files; numbers always may.
    Values in one cell are parted by "|" or ";", and by commas where a value never holds one.

    Raises BadRequest for a file that cannot be read at all; a wrong row is a RowProblem, and the others go on.
    """
    rows = records(decoded(data, name, MOST_BYTES), name, _delimiter)
    header, ignored, notices = _header(next(rows, (1, []))[1], name)
    reader = _Reader(header, filters, profile, profiles, documents or {})
    for number, cells in rows:
        reader.read(number, cells)
        if len(reader.questions) + len(reader.problems) > MOST_QUESTIONS:
            raise BadRequest(
                f"'{name}' has more than {MOST_QUESTIONS:,} questions.", "Split it into several files, then run each."
            )
    if not reader.questions and not reader.problems:
        raise BadRequest(f"'{name}' holds no question.", "Write one question per row below the column 'question'.")
    return Batch(name, tuple(reader.questions), tuple(reader.problems), ignored, notices)


def filters_from(said: Sequence[str], documents: Mapping[str, Collection[int]] | None = None) -> SearchFilters:
    """Filters given as "field=value", written as in a file; a field given twice gets both values. Raises BadRequest.

    >>> filters_from(["truths=intent", "truth=reality", "exclude_domains=Taxes"]).truths
    ('intent', 'reality')
    """
    values: dict[str, str] = {}
    for each in said:
        name, _, value = each.partition("=")
        column = _column(name)
        if column not in COLUMNS[4:] or not value.strip():
            raise BadRequest(f"'{each}' is no filter.", f"Write field=value; fields are {', '.join(COLUMNS[4:])}.")
        values[column] = f"{values[column]}|{value.strip()}" if column in values else value.strip()
    try:
        return _Reader([], _EVERYTHING, "", None, documents or {}).own(values, otherwise=False)
    except _Wrong as wrong:
        raise BadRequest(f"{wrong.field}: {wrong.problem}.", "Correct the filter.") from wrong


def _delimiter(text: str) -> str:
    """What parts the header into most columns that are understood, else into most columns."""
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
    """The columns by name, those that are not understood, and what to say of them. Raises BadRequest."""
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


class _Wrong(Exception):
    """One cell that cannot be used: its column, and why."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(problem)
        self.field, self.problem = field, problem


class _Reader:
    """Turns rows into questions, and keeps what is wrong with the others."""

    def __init__(
        self,
        header: Sequence[str],
        filters: SearchFilters,
        profile: str,
        profiles: Collection[str] | None,
        documents: Mapping[str, Collection[int]],
    ) -> None:
        self._header, self._filters, self._profile, self._profiles = header, filters, profile, profiles
        self._documents = {name.casefold(): sorted(ids) for name, ids in documents.items()}
        self._rows: dict[str, int] = {}
        self.questions: list[BatchQuestion] = []
        self.problems: list[RowProblem] = []

    def read(self, row: int, cells: Sequence[str]) -> None:
        """Take one row over, or say why not; the first thing wrong is told, of filters all."""
        text = ", ".join(cell for cell in cells if cell)
        try:
            if any(cells[len(self._header) :]):
                raise _Wrong("", "it has more cells than the header: put a question with commas in quotation marks")
            values = {name: restored(cell) for name, cell in zip(self._header, cells, strict=False) if cell}
            self.questions.append(self._question(row, values))
        except _Wrong as wrong:
            self._refuse(row, wrong.field, wrong.problem, text)
        except BadFilters as wrong:
            field = _field_of(wrong.problems[0])
            self._refuse(row, field, "; ".join(wrong.problems).removeprefix(f"{field}: "), text)

    def _refuse(self, row: int, field: str, problem: str, text: str) -> None:
        self.problems.append(RowProblem(row, field, problem, text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"))

    def _question(self, row: int, values: Mapping[str, str]) -> BatchQuestion:
        question, key, profile = (values.get(name, "") for name in ("question", "id", "profile"))
        if not question:
            raise _Wrong("question", "it is empty")
        if key in self._rows:
            raise _Wrong("id", f"'{key}' stands in row {self._rows[key]} already")
        if profile and self._profiles is not None and profile not in self._profiles:
            raise _Wrong("profile", f"there is no profile '{profile}'")
        top = values.get("top", "")
        if top and not 1 <= (_number(top) or 0) <= MOST_RESULTS:
            raise _Wrong("top", f"'{top}' is no whole number from 1 to {MOST_RESULTS}")
        inside = narrowed(self._filters, self.own(values, otherwise=None))
        if key:
            self._rows[key] = row
        return BatchQuestion(
            row, key, " ".join(question.split()), inside, profile or self._profile, int(top) if top else None
        )

    def own(self, values: Mapping[str, str], *, otherwise: bool | None) -> SearchFilters:
        """What cells say by themselves. otherwise: of archived documents, where they say nothing of them."""
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
        said = [each.strip() for each in (marks.replace(",", "|") if base in _LISTED else marks).split("|")]
        values = [each for each in said if each]
        if base == "documents":
            return [number for each in values for number in self._ids(name, each)]
        return [_value(name, base, each) for each in values]

    def _ids(self, name: str, said: str) -> Sequence[int]:
        if said.casefold() in self._documents:
            return self._documents[said.casefold()]
        if (number := _number(said)) is not None:
            return [number]
        raise _Wrong(name, f"there is no document '{said}'")


def _number(said: str) -> int | None:
    """A whole number of a cell, None for anything else; no number that counts something has more than 18 digits."""
    return int(said) if said.isdecimal() and len(said) <= 18 else None


def _value(column: str, field: str, said: str) -> str:
    """A value as filters know it: closed ones in lower case, domains and jurisdictions also by their titles."""
    closed, titles = _closed().get(field), _titles(field)
    if closed is not None and said.lower() not in closed:
        raise _Wrong(column, f"'{said}' is none of {', '.join(closed)}")
    return said.lower() if closed is not None else titles.get(said.casefold(), said)


@cache
def _closed() -> Mapping[str, tuple[str, ...]]:
    """Filter field → all its values, for those that have no others."""
    return {field.name: tuple(map(str, field.values)) for field in FIELDS if field.values}


def _titles(field: str) -> Mapping[str, str]:
    """How the values of a filter field may be written, in lower case → value; empty where they have no titles."""
    if field == "domains":
        return _written(tuple((each, domain_title(each)) for each in domains()))
    return _written(tuple(jurisdictions().items())) if field == "jurisdictions" else {}


@lru_cache
def _written(titles: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    names = {each.casefold(): each for each, _ in titles}
    return names | {title.casefold(): each for each, title in titles}


def _archived(said: str) -> bool | None:
    """Which documents a row asks for: living ones, archived ones, or (None) both."""
    if said.lower() not in _ARCHIVED:
        raise _Wrong("archived", f"'{said}' is neither 'no', 'too' nor 'only'")
    return _ARCHIVED[said.lower()]


def _yes_no(name: str, said: str) -> bool:
    if said.lower() not in (*_TRUE, *_FALSE):
        raise _Wrong(name, f"'{said}' is neither yes nor no")
    return said.lower() in _TRUE


def _field_of(problem: str) -> str:
    """The column a problem of `check_filters` speaks of."""
    words = problem.replace("Invalid ", "").replace(":", " ").replace(" ", "_")
    return next((name for name in sorted(COLUMNS, key=len, reverse=True) if words.startswith(name)), "")
