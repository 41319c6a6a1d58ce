"""Question sets as files: our JSONL, which holds everything, CSV for a spreadsheet, and the two files of TREC."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.coverage.report import inert
from core.judged import JudgedQuestion, Judgment, QuestionSet, Relevant
from core.tuning.judged_checks import CANNOT_JUDGE
from core.tuning.judged_json import filters_data
from core.tuning.outcomes import grades_of
from core.tuning.unit_index import UnitIndex
from core.tuning.units import document_of

__all__ = ["CSV_COLUMNS", "FILES", "KeptSet", "SetFile", "judged_csv", "judged_jsonl", "qrels", "queries_jsonl"]

CSV_COLUMNS = (
    "key", "question", "kind", "unit", "document", "page", "passage", "grade", "judge", "judged_at", "blind"
)  # fmt: skip
_PASSAGE_BEGINS = 160


@dataclass(frozen=True, slots=True)
class KeptSet:
    """A set with its living questions, in order, and the judgments that hold, by id."""

    questions_set: QuestionSet
    questions: tuple[JudgedQuestion, ...]
    judgments: tuple[Judgment, ...]


@dataclass(frozen=True, slots=True)
class SetFile:
    """One way to take a set out. ending: of the file's name. words: what it is for."""

    name: str
    ending: str
    media_type: str
    words: str
    written: Callable[[KeptSet, UnitIndex], str]


def judged_jsonl(kept: KeptSet, index: UnitIndex | None = None) -> str:
    """One question per line with its filters, known answers and judgments: it can be read back exactly.

    It is the format of judged corpora, {"id", "question", "kind", "filters", "relevant": [{"sha256", "page",
    "must_contain", "grade"}]}, with "judgments": [{"unit", "grade", "who", "at", "blind"}]; grade null: can't judge.
    """
    said = _by_question(kept)
    return "".join(
        _line(
            {
                "id": question.key,
                "question": question.question,
                "kind": question.kind,
                "filters": filters_data(question.filters),
                "relevant": [_relevant(entry) for entry in question.relevant],
                "judgments": [_judgment(each) for each in said.get(question.id, ())],
            }
        )
        for question in kept.questions
    )


def _by_question(kept: KeptSet) -> Mapping[int, list[Judgment]]:
    said: dict[int, list[Judgment]] = {}
    for each in kept.judgments:
        said.setdefault(each.question_id, []).append(each)
    return said


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


def judged_csv(kept: KeptSet, index: UnitIndex) -> str:
    """One judgment per row with its document, page and how the passage begins; a question nobody has judged has a row
    of its own. Filters and known answers do not fit in. Text a spreadsheet would run as a formula is made inert."""
    said = _by_question(kept)
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(CSV_COLUMNS)
    for question in kept.questions:
        asked = (question.key, question.question, question.kind)
        rows: Sequence[tuple[Any, ...]] = [_row(each, index) for each in said.get(question.id, ())] or [("",) * 8]
        writer.writerows([inert(value) for value in (*asked, *row)] for row in rows)
    return out.getvalue()


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


def qrels(kept: KeptSet, index: UnitIndex) -> str:
    """TREC relevance judgments, "key 0 unit grade" per line: the grade is what the judges agree on, as measures take it
    (core.tuning.outcomes.grades_of); known answers are in it where the library holds them."""
    level, lines = kept.questions_set.level, []
    said = _by_question(kept)
    for question in kept.questions:
        judgments = said.get(question.id, ())
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


def queries_jsonl(kept: KeptSet, index: UnitIndex | None = None) -> str:
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
        for question in kept.questions
    )


FILES = (
    SetFile("JSONL", ".jsonl", "application/x-ndjson", "everything", judged_jsonl),
    SetFile("CSV", ".csv", "text/csv", "for a spreadsheet", judged_csv),
    SetFile("TREC qrels", ".qrels", "text/plain", "for evaluation tools", qrels),
    SetFile("Queries", ".queries.jsonl", "application/x-ndjson", "beside the qrels", queries_jsonl),
)
"""What a set can be taken out as, in the order it is offered."""
