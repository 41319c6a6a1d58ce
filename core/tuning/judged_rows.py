"""Lines of judged files, whatever their format, as one kind of row; what cannot be read is told line by line."""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from core.coverage.report import restored
from core.errors import BadRequest
from core.filters import SearchFilters
from core.judged import Relevant
from core.tuning.judged_checks import CANNOT_JUDGE, checked_grade, checked_key, checked_kind, checked_question
from core.tuning.judged_json import filters_of, json_row, relevant_of

__all__ = ["MOST_BYTES", "Refusal", "Row", "Said", "read_rows"]

MOST_BYTES = 50_000_000
_JSON, _OTHERS = (".jsonl", ".json", ".ndjson"), (".csv", ".qrels", ".trec", ".tsv")
_SHOWN = 80
_CANNOT = {CANNOT_JUDGE, "cannot judge", "x", "?", "-"}
_YES = {"yes", "true", "1"}
_QREL = re.compile(r"(\S+)\s+(\S+)\s+(\S.*?)\s+(\S+)")
_COLUMN_NAMES = {"id": "key", "_id": "key", "text": "question", "who": "judge", "at": "judged_at", "name": "document"}


@dataclass(frozen=True, slots=True)
class Said:
    """A judgment as a file gives it. name: the unit, or a file's name; page and words tell its passage then. who: ""
    when the file names nobody; at: None when it does not say when."""

    name: str
    grade: int | None
    who: str = ""
    at: datetime | None = None
    blind: bool = False
    page: int | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One line. key "" when it gives none; question, kind, filters and relevant: None when it says nothing of them."""

    line: int
    text: str
    key: str = ""
    question: str | None = None
    kind: str | None = None
    filters: SearchFilters | None = None
    relevant: tuple[Relevant, ...] | None = None
    said: tuple[Said, ...] = ()
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """A line, or a part of one, that is not taken over, and why. text: how the line begins."""

    line: int
    reason: str
    text: str = ""


def read_rows(data: bytes, name: str) -> Iterator[Row | Refusal]:
    """The rows of a file called `name`: JSONL, CSV or TREC qrels, by its ending, else by how it begins.

    Raises BadRequest for a file that is too large, empty, or not UTF-8 text; a bad line is a Refusal.
    """
    text = _decoded(data, name)
    ending = PurePath(name.lower()).suffix
    first = text.lstrip()[:1]
    if ending in _JSON or (ending not in _OTHERS and first == "{"):
        return _json_rows(text)
    if ending == ".csv":
        return _csv_rows(text, name)
    return _qrel_rows(text)


def _decoded(data: bytes, name: str) -> str:
    if len(data) > MOST_BYTES:
        problem = f"'{name}' is too large ({len(data) / 1e6:,.0f} MB)."
        raise BadRequest(problem, f"Take at most {MOST_BYTES / 1e6:,.0f} MB over at once.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadRequest(f"'{name}' is not UTF-8 text.", "Save it as UTF-8; Excel calls that 'CSV UTF-8'.") from error
    if not text.strip():
        raise BadRequest(f"'{name}' holds nothing.", "Give a file with at least one line.")
    return text


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that hold something, with their numbers; only line feeds end a line."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line.strip()


def _refused(line: int, problem: BadRequest, text: str) -> Refusal:
    reason = problem.message
    return Refusal(line, reason[:1].upper() + reason[1:], _beginning(text))


def _beginning(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


# JSONL


def _json_rows(text: str) -> Iterator[Row | Refusal]:
    for number, line in _lines(text):
        try:
            row, problems = _json_line(number, line)
        except BadRequest as problem:
            yield _refused(number, problem, line)
            continue
        yield row
        for each in problems:
            yield _refused(number, each, line)


def _json_line(number: int, line: str) -> tuple[Row, list[BadRequest]]:
    """The row of a line, and what is wrong with single judgments of it. Raises BadRequest when it is no row."""
    found = {_COLUMN_NAMES.get(name, name): value for name, value in json_row(line, ()).items()}
    said: list[Said] = []
    problems: list[BadRequest] = []
    judgments = found.get("judgments") or ()
    if not isinstance(judgments, list | tuple):
        raise BadRequest("'judgments' is not a list.")
    for entry in judgments:
        try:
            said.append(_json_judgment(entry))
        except BadRequest as problem:
            problems.append(problem)
    row = Row(
        line=number,
        text=_beginning(line),
        key=checked_key(_word(found, "key")) if "key" in found else "",
        question=checked_question(_word(found, "question")) if "question" in found else None,
        kind=checked_kind(_word(found, "kind")) if found.get("kind") is not None else None,
        filters=filters_of(found["filters"] or {}) if "filters" in found else None,
        relevant=relevant_of(found["relevant"] or ()) if "relevant" in found else None,
        said=tuple(said),
        whole=True,
    )
    return row, problems


def _word(found: Mapping[str, Any], name: str) -> str:
    value = found[name]
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise BadRequest(f"'{name}' is not a text.")
    return str(value)


def _json_judgment(entry: Any) -> Said:
    if not isinstance(entry, dict) or not isinstance(entry.get("unit"), str) or "grade" not in entry:
        raise BadRequest("a judgment has no unit or no grade.")
    who, blind = entry.get("who") or "", entry.get("blind", False)
    if not isinstance(who, str):
        raise BadRequest("a judgment's who is no text.")
    if not isinstance(blind, bool):
        raise BadRequest("a judgment's blind is neither true nor false.")
    return Said(entry["unit"].strip(), checked_grade(entry["grade"]), who, _moment(entry.get("at")), blind)


def _moment(said: Any) -> datetime | None:
    if said is None or said == "":
        return None
    try:
        at = datetime.fromisoformat(said)
    except (TypeError, ValueError) as error:
        raise BadRequest(f"'{str(said)[:40]}' is no date.") from error
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at


# CSV


def _csv_rows(text: str, name: str) -> Iterator[Row | Refusal]:
    delimiter = max(",;\t", key=text.lstrip().split("\n", 1)[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    header: list[str] = []
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:  # a field of more than 131,072 characters; the next line is read afresh
            yield Refusal(reader.line_num, f"This line is not CSV: {error}.")
            continue
        if cells is None:
            return
        if not any(cell.strip() for cell in cells):
            continue
        if header:
            yield _csv_row(reader.line_num, header, cells)
        else:
            header = _header(cells, name)


def _header(cells: Sequence[str], name: str) -> list[str]:
    header = [_COLUMN_NAMES.get(cell.strip().lower(), cell.strip().lower()) for cell in cells]
    if "question" not in header and "key" not in header:
        raise BadRequest(
            f"'{name}' has neither a column 'question' nor 'key'.",
            "Name the columns in the first row: key, question, kind, unit or document, page, passage, grade, judge.",
        )
    twice = next((each for each in header if each and header.count(each) > 1), "")
    if twice:
        raise BadRequest(f"'{name}' has the column '{twice[:40]}' twice.", "Keep one of them.")
    return header


def _csv_row(line: int, header: Sequence[str], cells: Sequence[str]) -> Row | Refusal:
    text = ", ".join(cell for cell in cells if cell.strip())
    values = {name: restored(cell.strip()) for name, cell in zip(header, cells, strict=False)}
    try:
        return Row(
            line=line,
            text=_beginning(text),
            key=checked_key(values["key"]) if values.get("key") else "",
            question=checked_question(values["question"]) if values.get("question") else None,
            kind=checked_kind(values["kind"]) if values.get("kind") else None,
            said=_csv_judgment(values),
        )
    except BadRequest as problem:
        return _refused(line, problem, text)


def _csv_judgment(values: Mapping[str, str]) -> tuple[Said, ...]:
    """The judgment of a row: none when it names neither a result nor a grade."""
    name, grade = values.get("unit") or values.get("document", ""), values.get("grade", "")
    if not name and not grade:
        return ()
    if not name or not grade:
        raise BadRequest("it gives a grade to no result." if grade else "it names a result and gives it no grade.")
    page = values.get("page", "")
    if page and not (page.isdecimal() and page.isascii() and len(page) < 9):
        raise BadRequest(f"'{page[:20]}' is no page number.")
    return (
        Said(
            name,
            _grade(grade),
            values.get("judge", ""),
            _moment(values.get("judged_at")),
            values.get("blind", "").lower() in _YES,
            int(page) if page else None,
            values.get("passage", ""),
        ),
    )


def _grade(said: str) -> int | None:
    """A grade as people write it: "3", "3.0", "can't judge"."""
    tidy = said.strip().lower().replace("’", "'")
    if tidy in _CANNOT:
        return None
    number = tidy.removesuffix(".0")
    return checked_grade(int(number) if number.isdecimal() and number.isascii() and len(number) < 9 else said)


# TREC


def _qrel_rows(text: str) -> Iterator[Row | Refusal]:
    for number, line in _lines(text):
        match = _QREL.fullmatch(line)
        if match is None:
            yield Refusal(number, "It has not the four columns of a qrels file: key, 0, unit, grade.", _beginning(line))
            continue
        try:
            said = Said(match[3], _grade(match[4]))
            yield Row(number, _beginning(line), checked_key(match[1]), said=(said,))
        except BadRequest as problem:
            yield _refused(number, problem, line)
