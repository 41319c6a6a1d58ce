"""Imports judgments from JSONL, CSV and TREC qrels: parses rows and previews what they would change in a set."""
# Longer than 300 lines: rows of every format become the same preview, with the same error messages.

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from core.domain.errors import BadRequest
from core.domain.evaluation import JudgedQuestion, Judgment, Relevant
from core.domain.filters import SearchFilters
from core.evaluation.judgments.files import QuestionSetFile
from core.evaluation.judgments.units import UnitIndex
from core.evaluation.judgments.validation import (
    CANNOT_JUDGE,
    DEFAULT_KIND,
    checked_grade,
    checked_judge,
    checked_key,
    checked_kind,
    checked_question,
    filters_of,
    free_keys,
    json_row,
    relevant_of,
)
from core.formats.csv import restored

__all__ = [
    "MOST_BYTES",
    "ImportedRow",
    "JudgedRow",
    "JudgmentImportPreview",
    "ParsedJudgment",
    "RejectedRow",
    "read_judged",
    "read_rows",
]

MOST_BYTES = 50_000_000  # per file. Chosen by hand, not fitted.

_JSON, _OTHERS = (".jsonl", ".json", ".ndjson"), (".csv", ".qrels", ".trec", ".tsv")

_SHOWN = 80  # characters of a rejected line. Chosen by hand, not fitted.

_CANNOT = {CANNOT_JUDGE, "cannot judge", "x", "?", "-"}

_YES = {"yes", "true", "1"}

_QREL = re.compile(r"(\S+)\s+(\S+)\s+(\S.*?)\s+(\S+)")

_COLUMN_NAMES = {"id": "key", "_id": "key", "text": "question", "who": "judge", "at": "judged_at", "name": "document"}


@dataclass(frozen=True, slots=True)
class ParsedJudgment:
    """A judgment as read from a file. name: the unit, or a file name with page and words to find the passage. who: ""
    when the file names no judge; at: None without a time."""

    name: str
    grade: int | None
    who: str = ""
    at: datetime | None = None
    blind: bool = False
    page: int | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """One line. key: "" when absent; question, kind, filters and relevant: None when absent."""

    line: int
    text: str
    key: str = ""
    question: str | None = None
    kind: str | None = None
    filters: SearchFilters | None = None
    relevant: tuple[Relevant, ...] | None = None
    judgments: tuple[ParsedJudgment, ...] = ()
    whole: bool = False


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A line, or a part of one, that is not imported, and why. text: the beginning of the line."""

    line: int
    reason: str
    text: str = ""


def read_rows(data: bytes, name: str) -> Iterator[JudgedRow | RejectedRow]:
    """The rows of a file called `name`: JSONL, CSV or TREC qrels, by its ending, else by how it begins.

    Raises BadRequest for a file that is too large, empty, or not UTF-8 text; an invalid line is a RejectedRow.
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
        raise BadRequest(f"'{name}' contains nothing.", "Give a file with at least one line.")
    return text


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The non-empty lines with their numbers; only line feeds end a line."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line.strip()


def _refused(line: int, problem: BadRequest, text: str) -> RejectedRow:
    reason = problem.message
    return RejectedRow(line, reason[:1].upper() + reason[1:], _beginning(text))


def _beginning(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


# JSONL
def _json_rows(text: str) -> Iterator[JudgedRow | RejectedRow]:
    for number, line in _lines(text):
        try:
            row, problems = _json_line(number, line)
        except BadRequest as problem:
            yield _refused(number, problem, line)
            continue
        yield row
        for each in problems:
            yield _refused(number, each, line)


def _json_line(number: int, line: str) -> tuple[JudgedRow, list[BadRequest]]:
    """The row of a line, and the errors of its invalid judgments. Raises BadRequest when the line is invalid."""
    found = {_COLUMN_NAMES.get(name, name): value for name, value in json_row(line, ()).items()}
    parsed: list[ParsedJudgment] = []
    problems: list[BadRequest] = []
    judgments = found.get("judgments") or ()
    if not isinstance(judgments, list | tuple):
        raise BadRequest("'judgments' is not a list.")
    for entry in judgments:
        try:
            parsed.append(_json_judgment(entry))
        except BadRequest as problem:
            problems.append(problem)
    row = JudgedRow(
        line=number,
        text=_beginning(line),
        key=checked_key(_word(found, "key")) if "key" in found else "",
        question=checked_question(_word(found, "question")) if "question" in found else None,
        kind=checked_kind(_word(found, "kind")) if found.get("kind") is not None else None,
        filters=filters_of(found["filters"] or {}) if "filters" in found else None,
        relevant=relevant_of(found["relevant"] or ()) if "relevant" in found else None,
        judgments=tuple(parsed),
        whole=True,
    )
    return row, problems


def _word(found: Mapping[str, Any], name: str) -> str:
    value = found[name]
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise BadRequest(f"'{name}' is not a text.")
    return str(value)


def _json_judgment(entry: Any) -> ParsedJudgment:
    if not isinstance(entry, dict) or not isinstance(entry.get("unit"), str) or "grade" not in entry:
        raise BadRequest("a judgment has no unit or no grade.")
    who, blind = entry.get("who") or "", entry.get("blind", False)
    if not isinstance(who, str):
        raise BadRequest("a judgment's who is not text.")
    if not isinstance(blind, bool):
        raise BadRequest("a judgment's blind is neither true nor false.")
    return ParsedJudgment(entry["unit"].strip(), checked_grade(entry["grade"]), who, _moment(entry.get("at")), blind)


def _moment(value: Any) -> datetime | None:
    if value is None or value == "":
        return None
    try:
        at = datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise BadRequest(f"'{str(value)[:40]}' is not a date.") from error
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at


# CSV
def _csv_rows(text: str, name: str) -> Iterator[JudgedRow | RejectedRow]:
    delimiter = max(",;\t", key=text.lstrip().split("\n", 1)[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    header: list[str] = []
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:  # a field of more than 131,072 characters; the next line is read afresh
            yield RejectedRow(reader.line_num, f"This line is not CSV: {error}.")
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


def _csv_row(line: int, header: Sequence[str], cells: Sequence[str]) -> JudgedRow | RejectedRow:
    text = ", ".join(cell for cell in cells if cell.strip())
    values = {name: restored(cell.strip()) for name, cell in zip(header, cells, strict=False)}
    try:
        return JudgedRow(
            line=line,
            text=_beginning(text),
            key=checked_key(values["key"]) if values.get("key") else "",
            question=checked_question(values["question"]) if values.get("question") else None,
            kind=checked_kind(values["kind"]) if values.get("kind") else None,
            judgments=_csv_judgment(values),
        )
    except BadRequest as problem:
        return _refused(line, problem, text)


def _csv_judgment(values: Mapping[str, str]) -> tuple[ParsedJudgment, ...]:
    """The judgment of a row: none when it names neither a result nor a grade."""
    name, grade = values.get("unit") or values.get("document", ""), values.get("grade", "")
    if not name and not grade:
        return ()
    if not name or not grade:
        raise BadRequest("it gives a grade to no result." if grade else "it names a result and gives it no grade.")
    page = values.get("page", "")
    if page and not (page.isdecimal() and page.isascii() and len(page) < 9):
        raise BadRequest(f"'{page[:20]}' is not a page number.")
    return (
        ParsedJudgment(
            name,
            _grade(grade),
            values.get("judge", ""),
            _moment(values.get("judged_at")),
            values.get("blind", "").lower() in _YES,
            int(page) if page else None,
            values.get("passage", ""),
        ),
    )


def _grade(text: str) -> int | None:
    """A grade as people write it: "3", "3.0", "can't judge"."""
    tidy = text.strip().lower().replace("’", "'")
    if tidy in _CANNOT:
        return None
    number = tidy.removesuffix(".0")
    return checked_grade(int(number) if number.isdecimal() and number.isascii() and len(number) < 9 else text)


# TREC. ir_measures.read_trec_qrels stops at the first bad line without naming it, and refuses what this reads:
# file names with blanks, and grades such as "x" (can't judge) and "3.0".
def _qrel_rows(text: str) -> Iterator[JudgedRow | RejectedRow]:
    for number, line in _lines(text):
        match = _QREL.fullmatch(line)
        if match is None:
            yield RejectedRow(
                number, "It has not the four columns of a qrels file: key, 0, unit, grade.", _beginning(line)
            )
            continue
        try:
            judgment = ParsedJudgment(match[3], _grade(match[4]))
            yield JudgedRow(number, _beginning(line), checked_key(match[1]), judgments=(judgment,))
        except BadRequest as problem:
            yield _refused(number, problem, line)


@dataclass(frozen=True, slots=True)
class ImportedRow:
    """A judgment to be added to the question with this key. at: None means the time of import."""

    line: int
    key: str
    unit: str
    grade: int | None
    who: str
    at: datetime | None
    blind: bool


@dataclass(frozen=True, slots=True)
class JudgmentImportPreview:
    """Preview of an import. changed: (before, after), judgments stay with the question. unchanged: questions already in
    the set; known: judgments already in it. refused: lines, or single judgments of them, that are not imported. unheld:
    questions with a known answer in a document that is not in the library.
    """

    set_id: int
    name: str
    new: tuple[JudgedQuestion, ...] = ()
    changed: tuple[tuple[JudgedQuestion, JudgedQuestion], ...] = ()
    unchanged: int = 0
    judgments: tuple[ImportedRow, ...] = ()
    known: int = 0
    refused: tuple[RejectedRow, ...] = ()
    unheld: int = 0

    @property
    def empty(self) -> bool:
        """Whether there is nothing to import."""
        return not (self.new or self.changed or self.judgments)

    def judged(self, ids: dict[str, int], now: datetime) -> Sequence[Judgment]:
        """Its judgments, ready to store. ids: key → question id."""
        return [
            Judgment(self.set_id, ids[each.key], each.unit, each.grade, each.who, each.at or now, each.blind)
            for each in self.judgments
        ]


def read_judged(
    data: bytes, name: str, question_set: QuestionSetFile, index: UnitIndex, who: str
) -> JudgmentImportPreview:
    """What importing a file called `name` would change in a set. who: the judge where the file names none, "" for none.

    Raises BadRequest for an unreadable file; an invalid line is rejected, the others are imported.
    """
    rows = list(read_rows(data, name))
    reading = _ImportReader(question_set, index, who, [row.key for row in rows if isinstance(row, JudgedRow)])
    for row in rows:
        if isinstance(row, RejectedRow):
            reading.refused.append(row)
        else:
            reading.take(row)
    return reading.preview(name)


@dataclass(slots=True)
class _ImportReader:
    """State while reading a file: questions by key, judgments by question and unit."""

    question_set: QuestionSetFile
    index: UnitIndex
    who: str
    keys: Sequence[str]
    questions: dict[str, JudgedQuestion] = field(default_factory=dict)
    given: dict[tuple[str, str, str], ImportedRow] = field(default_factory=dict)
    refused: list[RejectedRow] = field(default_factory=list)
    unchanged: int = 0
    _known: dict[str, JudgedQuestion] = field(init=False)
    _stored: dict[tuple[str, str, str], Judgment] = field(init=False)
    _lines: dict[str, int] = field(default_factory=dict)
    _texts: dict[str, str] = field(init=False)
    _free: Iterator[str] = field(init=False)

    def __post_init__(self) -> None:
        self._known = {each.key: each for each in self.question_set.questions}
        names = {each.id: each.key for each in self.question_set.questions}
        self._stored = {
            (names[each.question_id], each.unit, each.who): each
            for each in self.question_set.judgments
            if each.question_id in names
        }
        self._texts = {each.question.casefold(): each.key for each in reversed(self.question_set.questions)}
        self._free = free_keys([*self.keys, *self._known])

    def take(self, row: JudgedRow) -> None:
        """Add one row, or reject it; each of its judgments is checked separately."""
        try:
            key = self._question(row)
        except BadRequest as problem:
            self._refuse(row, problem)
            return
        for judgment in row.judgments:
            try:
                self._judged(row, key, judgment)
            except BadRequest as problem:
                self._refuse(row, problem)

    def _refuse(self, row: JudgedRow, problem: BadRequest) -> None:
        reason = problem.message[:1].upper() + problem.message[1:]
        self.refused.append(RejectedRow(row.line, reason, row.text))

    def _question(self, row: JudgedRow) -> str:
        """The key of the row's question, which is noted when the row says something of it."""
        if row.question is None:
            if row.key in self.questions or row.key in self._known:
                return row.key
            problem = f"the set has no question '{row.key}', and this line does not say what it asks."
            raise BadRequest(problem if row.key else "it has neither a key nor a question.")
        key = row.key or self._key_of(row.question)
        before = self.questions.get(key)
        if before is not None and (row.whole or before.question.casefold() != row.question.casefold()):
            raise BadRequest(f"'{key}' is already in line {self._lines[key]}.")
        if before is None:
            self.questions[key], self._lines[key] = self._question_of(row, key), row.line
            self._texts.setdefault(row.question.casefold(), key)
        return key

    def _key_of(self, question: str) -> str:
        """The key of the same question in the file or the set, else a new one."""
        folded = question.casefold()
        return self._texts[folded] if folded in self._texts else next(self._free)

    def _question_of(self, row: JudgedRow, key: str) -> JudgedQuestion:
        """The question as the row has it; what the row is silent about stays as it is."""
        known = self._known.get(key) or JudgedQuestion(self.question_set.questions_set.id, key, "", DEFAULT_KIND)
        question = replace(
            known,
            question=row.question or known.question,
            kind=row.kind if row.kind is not None else known.kind,
            filters=row.filters if row.filters is not None else known.filters,
            relevant=row.relevant if row.relevant is not None else known.relevant,
        )
        if question.relevant and not question.answerable:
            raise BadRequest(f"'{key}' is of the kind '{question.kind}', that nothing answers, and names an answer.")
        self._must_hold(question.filters)
        return question

    def _must_hold(self, filters: SearchFilters) -> None:
        here = self.index.ids
        for number in (*filters.documents, *filters.exclude_documents):
            if number not in here:
                raise BadRequest(f"its filters name document {number}, which is not in this library.")

    def _judged(self, row: JudgedRow, key: str, judgment: ParsedJudgment) -> None:
        level = self.question_set.questions_set.level
        unit = self.index.named(judgment.name, level, page=judgment.page, words=judgment.words)
        who = checked_judge(judgment.who or self.who)
        before = self.given.get((key, unit, who))
        if before is not None:
            if before.grade != judgment.grade:
                raise BadRequest(f"{who} has graded this result otherwise in line {before.line}.")
            return
        self.given[key, unit, who] = ImportedRow(row.line, key, unit, judgment.grade, who, judgment.at, judgment.blind)

    def preview(self, name: str) -> JudgmentImportPreview:
        """Everything read, compared with the set."""
        changed = [
            (self._known[key], each)
            for key, each in self.questions.items()
            if key in self._known and each != self._known[key]
        ]
        fresh = [
            each
            for about, each in self.given.items()
            if about not in self._stored or self._stored[about].grade != each.grade
        ]
        new = tuple(each for key, each in self.questions.items() if key not in self._known)
        return JudgmentImportPreview(
            set_id=self.question_set.questions_set.id,
            name=name,
            new=new,
            changed=tuple(changed),
            unchanged=len(self.questions) - len(new) - len(changed),
            judgments=tuple(fresh),
            known=len(self.given) - len(fresh),
            refused=tuple(sorted(self.refused, key=lambda each: each.line)),
            unheld=sum(self._unheld(each) for each in (*new, *(after for _, after in changed))),
        )

    def _unheld(self, question: JudgedQuestion) -> bool:
        return any(self.index.document(entry.sha256) is None for entry in question.relevant)
