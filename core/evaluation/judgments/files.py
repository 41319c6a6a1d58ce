"""Files with judgments: reads corpora (labels, passages, questions, topics, collections), writes question sets."""
# Longer than 300 lines: one reader and one writer per format, all with the same line-by-line messages.

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.domain.documents import Truth
from core.domain.errors import BadRequest
from core.domain.evaluation import JudgedQuestion, Judgment, QuestionSet, Relevant
from core.domain.filters import SearchFilters
from core.evaluation.judgments.units import UnitIndex, document_of
from core.evaluation.judgments.validation import CANNOT_JUDGE, filters_data, filters_of, json_row, relevant_of
from core.evaluation.metrics.grades import grades_of
from core.formats.csv import csv_text

__all__ = [
    "CSV_COLUMNS",
    "FILES",
    "Collection",
    "LabelRow",
    "PassageJudgment",
    "QuestionJudgment",
    "QuestionSetFile",
    "Relevant",
    "RequirementJudgment",
    "SetFile",
    "TopicJudgment",
    "filters_of",
    "judged_csv",
    "judged_jsonl",
    "qrels",
    "queries_jsonl",
    "read_collection",
    "read_dates",
    "read_doubts",
    "read_labels",
    "read_passages",
    "read_questions",
    "read_requirements",
    "read_topics",
]

_PLACE = re.compile(r"(?:country|state):[A-Z]{2}")
_DATE = re.compile(r"(?:\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?)?")
_LABEL_COLUMNS = ("file", "truth", "domain", "authority", "jurisdiction", "effective_date", "sha256")


@dataclass(frozen=True, slots=True)
class LabelRow:
    """One judged document. `name` is what a user would have uploaded; effective_date is ISO to a year, month or day.

    jurisdiction: a region's counts as its country's, which is all the classifier can name.
    """

    file: str
    name: str
    sha256: str
    truth: str
    domain: str
    authority: str
    jurisdiction: str
    effective_date: str
    source: str


@dataclass(frozen=True, slots=True)
class PassageJudgment:
    """A passage whose truth differs from its document's; it begins with `start_words`. page is 1-based."""

    sha256: str
    page: int | None
    start_words: str
    truth: str


@dataclass(frozen=True, slots=True)
class QuestionJudgment:
    """One judged question; without relevant entries, nothing in the corpus answers it."""

    id: str
    question: str
    kind: str
    filters: SearchFilters
    relevant: tuple[Relevant, ...]


@dataclass(frozen=True, slots=True)
class TopicJudgment:
    """One judged topic: the truths that support it and those that do not."""

    topic: str
    covered: frozenset[Truth]
    missing: frozenset[Truth]


@dataclass(frozen=True, slots=True)
class RequirementJudgment:
    """One judged sentence of an intent document. document, sentence: SHA-256 of the file, and of the sentence with
    single spaces. requirement: whether it demands something that can be checked; covered, missing: as of a topic."""

    document: str
    sentence: str
    requirement: bool
    covered: frozenset[Truth]
    missing: frozenset[Truth]


@dataclass(frozen=True, slots=True)
class Collection:
    """A retrieval test collection: id → title and text, id → query, query id → document id → grade."""

    documents: Mapping[str, tuple[str, str]]
    queries: Mapping[str, str]
    grades: Mapping[str, Mapping[str, int]]

    def texts(self) -> dict[str, str]:
        """Document id → title and text; the title is not repeated if the text begins with it."""
        return {
            name: text if text.startswith(title) else f"{title}\n\n{text}"
            for name, (title, text) in self.documents.items()
        }


def read_labels(path: Path, dates: Path | None = None) -> tuple[LabelRow, ...]:
    """The rows of a LABELS.csv. Raises BadRequest naming file and line.

    dates: a file for `read_dates`, whose dates replace those of the labels.
    """
    reader = csv.DictReader(io.StringIO(_text(path), newline=""))
    missing = [name for name in _LABEL_COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise BadRequest(f"{path} line 1: no column {', '.join(missing)}.", "Write the header the corpus README names.")
    rows = [_label(path, reader.line_num, row) for row in reader]
    if not rows:
        raise BadRequest(f"{path} contains no rows.", "Give at least one labelled document.")
    read_again = read_dates(dates) if dates else {}
    return tuple(replace(row, effective_date=read_again.get(row.sha256, row.effective_date)) for row in rows)


def _label(path: Path, line: int, row: Mapping[str, str | None]) -> LabelRow:
    values = {name: (row.get(name) or "").strip() for name in (*_LABEL_COLUMNS, "original_name", "source")}
    if values["truth"] not in set(Truth):
        raise _bad(path, line, f"'{values['truth']}' is not a truth", f"Truths are: {', '.join(Truth)}.")
    place = _PLACE.match(values["jurisdiction"])
    return LabelRow(
        file=values["file"],
        name=values["original_name"] or values["file"],
        sha256=values["sha256"],
        truth=values["truth"],
        domain=values["domain"],
        authority=values["authority"],
        jurisdiction=place.group() if place else values["jurisdiction"],
        effective_date=values["effective_date"],
        source=values["source"] or "unknown",
    )


def read_passages(path: Path) -> tuple[PassageJudgment, ...]:
    """The lines of a passages.jsonl; none when the file is absent. Raises BadRequest naming file and line."""
    if not path.is_file():
        return ()
    return tuple(
        PassageJudgment(
            row["sha256"], row.get("page"), row["start_words"], str(_truth(path, line, row["passage_truth"]))
        )
        for line, row in _lines(path, ("sha256", "start_words", "passage_truth"))
    )


def read_doubts(path: Path) -> Mapping[str, frozenset[str]]:
    """SHA-256 → truths that are defensible besides the judged one, from a doubts.csv; none when the file is absent."""
    if not path.is_file():
        return {}
    rows = csv.DictReader(io.StringIO(_text(path), newline=""))
    return {row["sha256"]: frozenset(re.split(r"[;,\s]+", row["alternatives"].strip())) for row in rows}


def read_dates(path: Path) -> Mapping[str, str]:
    """SHA-256 → ISO date (to a year, month or day) or "", from a CSV file with the columns sha256 and effective_date.

    Raises BadRequest naming file and line.
    """
    dates: dict[str, str] = {}
    reader = csv.DictReader(io.StringIO(_text(path), newline=""))
    for row in reader:
        sha256, date = ((row.get(name) or "").strip() for name in ("sha256", "effective_date"))
        if not sha256:
            raise _bad(path, reader.line_num, "it has no sha256", "Give the columns sha256 and effective_date.")
        if not _DATE.fullmatch(date):
            hint = "Write 2024, 2024-05 or 2024-05-31; leave the field empty if the document has no date."
            raise _bad(path, reader.line_num, f"'{date}' is not a date", hint)
        dates[sha256] = date
    if not dates:
        raise BadRequest(f"{path} contains no rows.", "Give at least one document with its date.")
    return dates


def read_questions(path: Path) -> tuple[QuestionJudgment, ...]:
    """The lines of a QUESTIONS.jsonl. Raises BadRequest naming file and line."""
    questions = []
    for line, row in _lines(path, ("id", "question", "relevant")):
        try:
            questions.append(_question(row))
        except BadRequest as error:
            raise _bad(path, line, error.message.rstrip("."), error.hint) from error
    return tuple(questions)


def _question(row: Mapping[str, Any]) -> QuestionJudgment:
    return QuestionJudgment(
        id=str(row["id"]),
        question=str(row["question"]),
        kind=str(row.get("kind") or "unknown"),
        filters=filters_of(row.get("filters") or {}),
        relevant=relevant_of(row.get("relevant") or ()),
    )


def read_topics(path: Path) -> tuple[TopicJudgment, ...]:
    """The lines of a GAPS.jsonl. Raises BadRequest naming file and line."""
    rows = _lines(path, ("topic", "covered", "missing"))
    return tuple(TopicJudgment(str(row["topic"]), *_supported(path, line, row)) for line, row in rows)


def read_requirements(path: Path) -> tuple[RequirementJudgment, ...]:
    """The lines of judged requirements. Raises BadRequest naming file and line."""
    rows = _lines(path, ("document", "sentence", "requirement", "covered", "missing"))
    return tuple(
        RequirementJudgment(
            str(row["document"]), str(row["sentence"]), bool(row["requirement"]), *_supported(path, line, row)
        )
        for line, row in rows
    )


def _supported(path: Path, line: int, row: Mapping[str, Any]) -> tuple[frozenset[Truth], frozenset[Truth]]:
    """The truths that cover what a line is about, and those that do not."""
    covered = frozenset(_truth(path, line, name) for name in row["covered"])
    missing = frozenset(_truth(path, line, name) for name in row["missing"])
    if covered & missing:
        raise _bad(path, line, "a truth is both covered and missing", "Keep it in one of the two.")
    return covered, missing


def _truth(path: Path, line: int, name: Any) -> Truth:
    if name not in set(Truth):
        raise _bad(path, line, f"{name!r} is not a truth", f"Truths are: {', '.join(Truth)}.")
    return Truth(name)


def read_collection(folder: Path) -> Collection:
    """corpus.jsonl, queries.jsonl and qrels.tsv of a folder (BEIR layout). Raises BadRequest naming file and line."""
    documents = {
        str(row["_id"]): (str(row.get("title") or ""), str(row["text"]))
        for _, row in _lines(folder / "corpus.jsonl", ("_id", "text"))
    }
    queries = {str(row["_id"]): str(row["text"]) for _, row in _lines(folder / "queries.jsonl", ("_id", "text"))}
    grades: dict[str, dict[str, int]] = {}
    path = folder / "qrels.tsv"
    for line, text in enumerate(_text(path).split("\n"), start=1):
        parts = text.rstrip("\r").split("\t")
        graded = re.fullmatch(r"\s*-?[0-9]+\s*", parts[-1])
        if not text.strip() or (line == 1 and not graded):
            continue
        if len(parts) != 3 or not graded:
            raise _bad(path, line, "is not query, document and grade apart by tabs", "Write three columns.")
        grades.setdefault(parts[0], {})[parts[1]] = int(parts[2])
    return Collection(documents, queries, grades)


def _lines(path: Path, keys: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, text in enumerate(_text(path).split("\n"), start=1):
        if text.strip():
            try:
                row = json_row(text, keys)
            except BadRequest as error:
                raise _bad(path, line, error.message.rstrip("."), error.hint) from error
            yield line, row


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"{path} cannot be read: {error}.", "Check the path, and that it is UTF-8 text.") from error


def _bad(path: Path, line: int, problem: str, hint: str) -> BadRequest:
    return BadRequest(f"{path} line {line}: {problem}.", hint)


CSV_COLUMNS = (
    "key", "question", "kind", "unit", "document", "page", "passage", "grade", "judge", "judged_at", "blind"
)  # fmt: skip

_PASSAGE_BEGINS = 160  # characters. Chosen by hand, not fitted.


@dataclass(frozen=True, slots=True)
class QuestionSetFile:
    """A set with its active questions, in order, and the current judgments, by id."""

    questions_set: QuestionSet
    questions: tuple[JudgedQuestion, ...]
    judgments: tuple[Judgment, ...]


@dataclass(frozen=True, slots=True)
class SetFile:
    """One export format. ending: file extension. words: what it is for."""

    name: str
    ending: str
    media_type: str
    words: str
    written: Callable[[QuestionSetFile, UnitIndex], str]


def judged_jsonl(question_set: QuestionSetFile, index: UnitIndex | None = None) -> str:
    """One question per line with its filters, known answers and judgments; import restores it exactly.

    It is the format of judged corpora, {"id", "question", "kind", "filters", "relevant": [{"sha256", "page",
    "must_contain", "grade"}]}, with "judgments": [{"unit", "grade", "who", "at", "blind"}]; grade null: can't judge.
    """
    judgments_by_question = _by_question(question_set)
    return "".join(
        _line(
            {
                "id": question.key,
                "question": question.question,
                "kind": question.kind,
                "filters": filters_data(question.filters),
                "relevant": [_relevant(entry) for entry in question.relevant],
                "judgments": [_judgment(each) for each in judgments_by_question.get(question.id, ())],
            }
        )
        for question in question_set.questions
    )


def _by_question(question_set: QuestionSetFile) -> Mapping[int, list[Judgment]]:
    judgments_by_question: dict[int, list[Judgment]] = {}
    for each in question_set.judgments:
        judgments_by_question.setdefault(each.question_id, []).append(each)
    return judgments_by_question


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"


def _relevant(entry: Relevant) -> dict[str, Any]:
    return {
        "sha256": entry.sha256,
        "page": entry.page,
        "must_contain": list(entry.must_contain),
        "grade": entry.grade,
    }


def _judgment(each: Judgment) -> dict[str, Any]:
    return {
        "unit": each.unit,
        "grade": each.grade,
        "who": each.who,
        "at": each.at.isoformat(),
        "blind": each.blind,
    }


def judged_csv(question_set: QuestionSetFile, index: UnitIndex) -> str:
    """One judgment per row with document, page and the beginning of the passage; an unjudged question has one row.
    Omits filters and known answers. Text that a spreadsheet would run as a formula is escaped."""
    judgments_by_question = _by_question(question_set)
    table: list[Sequence[Any]] = [CSV_COLUMNS]
    for question in question_set.questions:
        question_cells = (question.key, question.question, question.kind)
        rows: Sequence[tuple[Any, ...]] = [
            _row(each, index) for each in judgments_by_question.get(question.id, ())
        ] or [("",) * 8]
        table += [(*question_cells, *row) for row in rows]
    return csv_text(table)


def _row(each: Judgment, index: UnitIndex) -> tuple[Any, ...]:
    document, passage = index.document(each.unit), index.passage(each.unit)
    page = passage.page if passage is not None and document is not None and document.paged else ""
    return (
        each.unit,
        document.name if document is not None else "",
        page,
        " ".join(passage.text.split())[:_PASSAGE_BEGINS] if passage is not None else "",
        CANNOT_JUDGE if each.grade is None else each.grade,
        each.who,
        each.at.isoformat(),
        "yes" if each.blind else "no",
    )


def qrels(question_set: QuestionSetFile, index: UnitIndex) -> str:
    """TREC relevance judgments, "key 0 unit grade" per line, with the grade that the metrics use
    (core.evaluation.metrics.grades.grades_of); includes known answers whose documents are in the library."""
    level, lines = question_set.questions_set.level, []
    judgments_by_question = _by_question(question_set)
    for question in question_set.questions:
        judgments = judgments_by_question.get(question.id, ())
        sources = dict.fromkeys(entry.sha256 for entry in question.relevant)
        passages = {unit: passage for sha256 in sources for unit, passage in index.passages(sha256).items()}
        graded = grades_of(question, judgments, level, passages).units
        judged = {each.unit for each in judgments}
        lines += [
            f"{question.key} 0 {unit} {grade}\n"
            for unit, grade in graded.items()
            if unit in judged or unit in passages or (unit == document_of(unit) and index.document(unit) is not None)
        ]
    return "".join(lines)


def queries_jsonl(question_set: QuestionSetFile, index: UnitIndex | None = None) -> str:
    """The questions beside a TREC file, one per line: {"_id", "text", "kind", "filters"}, as BEIR names them."""
    return "".join(
        _line(
            {
                "_id": question.key,
                "text": question.question,
                "kind": question.kind,
                "filters": filters_data(question.filters),
            }
        )
        for question in question_set.questions
    )


FILES = (
    SetFile("JSONL", ".jsonl", "application/x-ndjson", "everything", judged_jsonl),
    SetFile("CSV", ".csv", "text/csv", "for a spreadsheet", judged_csv),
    SetFile("TREC qrels", ".qrels", "text/plain", "for evaluation tools", qrels),
    SetFile("Queries", ".queries.jsonl", "application/x-ndjson", "beside the qrels", queries_jsonl),
)
"""Export formats of a question set, in the order they are offered."""
