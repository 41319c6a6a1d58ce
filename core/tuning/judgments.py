"""Reads judged documents, questions, topics and collections; every error names file and line."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.documents import Truth
from core.errors import BadRequest
from core.filters import SearchFilters
from core.judged import Relevant
from core.tuning.judged_json import filters_of, json_row, relevant_of

__all__ = [
    "Collection",
    "LabelRow",
    "PassageJudgment",
    "QuestionJudgment",
    "Relevant",
    "TopicJudgment",
    "filters_of",
    "read_collection",
    "read_labels",
    "read_passages",
    "read_questions",
    "read_topics",
]

_LABEL_COLUMNS = ("file", "truth", "domain", "authority", "jurisdiction", "effective_date", "sha256")


@dataclass(frozen=True, slots=True)
class LabelRow:
    """One judged document. `name` is what a user would have uploaded; effective_date is ISO to a year, month or day."""

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
    """One judged question; nothing relevant means that nothing in the corpus answers it."""

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
class Collection:
    """A retrieval test collection: id → title and text, id → query, query id → document id → grade."""

    documents: Mapping[str, tuple[str, str]]
    queries: Mapping[str, str]
    grades: Mapping[str, Mapping[str, int]]

    def texts(self) -> dict[str, str]:
        """Document id → title and text; a text that begins with its title is not given it twice."""
        return {
            name: text if text.startswith(title) else f"{title}\n\n{text}"
            for name, (title, text) in self.documents.items()
        }


def read_labels(path: Path) -> tuple[LabelRow, ...]:
    """The rows of a LABELS.csv. Raises BadRequest naming file and line."""
    reader = csv.DictReader(io.StringIO(_text(path), newline=""))
    missing = [name for name in _LABEL_COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise BadRequest(f"{path} line 1: no column {', '.join(missing)}.", "Write the header the corpus README names.")
    rows = [_label(path, reader.line_num, row) for row in reader]
    if not rows:
        raise BadRequest(f"{path} holds no rows.", "Give at least one labelled document.")
    return tuple(rows)


def _label(path: Path, line: int, row: Mapping[str, str | None]) -> LabelRow:
    values = {name: (row.get(name) or "").strip() for name in (*_LABEL_COLUMNS, "original_name", "source")}
    if values["truth"] not in set(Truth):
        raise _bad(path, line, f"'{values['truth']}' is not a truth", f"Truths are: {', '.join(Truth)}.")
    return LabelRow(
        file=values["file"],
        name=values["original_name"] or values["file"],
        sha256=values["sha256"],
        truth=values["truth"],
        domain=values["domain"],
        authority=values["authority"],
        jurisdiction=values["jurisdiction"],
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
    topics = []
    for line, row in _lines(path, ("topic", "covered", "missing")):
        covered = frozenset(_truth(path, line, name) for name in row["covered"])
        missing = frozenset(_truth(path, line, name) for name in row["missing"])
        if covered & missing:
            raise _bad(path, line, "a truth is both covered and missing", "Keep it in one of the two.")
        topics.append(TopicJudgment(str(row["topic"]), covered, missing))
    return tuple(topics)


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
        if not text.strip() or (line == 1 and not parts[-1].strip().lstrip("-").isdigit()):
            continue
        if len(parts) != 3 or not parts[2].strip().lstrip("-").isdigit():
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
