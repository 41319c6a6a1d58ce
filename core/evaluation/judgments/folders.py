"""Reads a folder with judged questions in either format, as files to ingest and questions graded by document.

A retrieval collection holds corpus.jsonl, queries.jsonl and qrels.tsv; a judged corpus holds labels.csv, files/ and
questions.jsonl.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from core.domain.filters import SearchFilters
from core.evaluation.judgments.files import read_collection, read_labels, read_questions
from core.evaluation.judgments.word_hashes import is_word_hash, word_hashes_in
from core.evaluation.metrics.measures import normalised

__all__ = ["FolderQuestion", "JudgedFolder", "read_judged_folder"]


@dataclass(frozen=True, slots=True)
class FolderQuestion:
    """A judged question. grades: SHA-256 of a document → grade > 0; empty when nothing answers it. answers: SHA-256 →
    word lists, of which an answering passage contains one whole, as words or as hashes of them (word_hashes.py);
    empty where only documents are judged."""

    key: str
    text: str
    kind: str
    filters: SearchFilters
    grades: Mapping[str, int]
    answers: Mapping[str, tuple[tuple[str, ...], ...]]

    def answered_by(self, sha: str, text: str) -> bool:
        """Whether a passage of this document is known to answer the question."""
        plain = normalised(text)

        def holds(words: str) -> bool:
            return bool(word_hashes_in(text, [words])) if is_word_hash(words) else normalised(words) in plain

        return any(all(map(holds, each)) for each in self.answers.get(sha, ()))


@dataclass(frozen=True, slots=True)
class JudgedFolder:
    """documents: SHA-256 → (file name, bytes); questions: in the order of their file."""

    name: str
    documents: Mapping[str, tuple[str, bytes]]
    questions: tuple[FolderQuestion, ...]

    @property
    def answers_known(self) -> bool:
        """Whether answering passages are known, so that answer@5 can be measured."""
        return any(each.answers for each in self.questions)


def read_judged_folder(folder: Path) -> JudgedFolder:
    """The folder's documents and questions. Raises BadRequest naming file and line."""
    return _collection(folder) if (folder / "corpus.jsonl").exists() else _corpus(folder)


def _collection(folder: Path) -> JudgedFolder:
    collection = read_collection(folder)
    data = {name: text.encode() for name, text in collection.texts().items()}
    shas = {name: sha256(each).hexdigest() for name, each in data.items()}
    documents = {shas[name]: (f"{name}.txt", each) for name, each in data.items()}
    questions = tuple(
        FolderQuestion(key, text, "query", SearchFilters(), _best(collection.grades.get(key, {}), shas), {})
        for key, text in collection.queries.items()
    )
    return JudgedFolder(folder.name, documents, questions)


def _best(grades: Mapping[str, int], shas: Mapping[str, str]) -> dict[str, int]:
    """Grades above 0 by SHA-256; of equal documents the highest counts."""
    found: dict[str, int] = {}
    for name, grade in grades.items():
        if grade > 0 and name in shas:
            found[shas[name]] = max(grade, found.get(shas[name], 0))
    return found


def _corpus(folder: Path) -> JudgedFolder:
    names = {row.sha256: row.name for row in read_labels(folder / "labels.csv")}
    documents: dict[str, tuple[str, bytes]] = {}
    for path in sorted(path for path in (folder / "files").rglob("*") if path.is_file()):
        data = path.read_bytes()
        sha = sha256(data).hexdigest()
        documents[sha] = (names.get(sha, path.name), data)
    questions = []
    for each in read_questions(folder / "questions.jsonl"):
        grades: dict[str, int] = {}
        answers: dict[str, tuple[tuple[str, ...], ...]] = {}
        for relevant in each.relevant:
            grades[relevant.sha256] = max(relevant.grade, grades.get(relevant.sha256, 0))
            if relevant.must_contain:
                answers[relevant.sha256] = (*answers.get(relevant.sha256, ()), tuple(relevant.must_contain))
        questions.append(FolderQuestion(each.id, each.question, each.kind, each.filters, grades, answers))
    return JudgedFolder(folder.name, documents, tuple(questions))
