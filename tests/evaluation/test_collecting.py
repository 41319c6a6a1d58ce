"""The files the classifier was fitted on can be gathered again from clones."""

import csv
from hashlib import sha256
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import app
from core.evaluation.judgments.files import read_labels, read_questions
from core.evaluation.tuning.training_documents import fold_of

SOURCES = Path(__file__).parents[2] / "docs" / "classifier-sources.csv"


def test_listed_files_are_copied_and_labelled(tmp_path: Path) -> None:
    with SOURCES.open(newline="", encoding="utf-8") as file:
        first = next(csv.DictReader(file))
    path = tmp_path / "clones" / first["source"] / first["source_path"]
    path.parent.mkdir(parents=True)
    path.write_bytes(b"A text of that name.")
    words = ["evaluate", "collect-sources", str(SOURCES), str(tmp_path / "clones"), str(tmp_path / "out")]
    result = CliRunner().invoke(app, words)
    assert "1 of" in result.output
    (row,) = read_labels(tmp_path / "out" / "labels.csv")
    assert (row.source, row.truth) == (first["source"], first["truth"])
    assert row.sha256 == sha256(b"A text of that name.").hexdigest()
    assert (tmp_path / "out" / "files" / row.file).read_bytes() == b"A text of that name."


def test_only_chosen_files_are_copied(tmp_path: Path) -> None:
    with SOURCES.open(newline="", encoding="utf-8") as file:
        first, second, *_ = csv.DictReader(file)
    for row in (first, second):
        path = tmp_path / "clones" / row["source"] / row["source_path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(row["sha256"].encode())
    (tmp_path / "only.txt").write_text(f"{second['sha256']}\n{'0' * 64}\n")
    words = ["evaluate", "collect-sources", str(SOURCES), str(tmp_path / "clones"), str(tmp_path / "out"), "--only"]
    result = CliRunner().invoke(app, [*words, str(tmp_path / "only.txt")])
    assert "1 of 1 files" in result.output
    assert [path.read_text() for path in (tmp_path / "out" / "files").iterdir()] == [second["sha256"]]
    (tmp_path / "only.txt").write_text("0" * 64)
    assert CliRunner().invoke(app, [*words, str(tmp_path / "only.txt")]).exit_code == 2


@pytest.mark.parametrize("name", ["public_1", "public_2"])
def test_judged_collections_are_made_of_listed_files(name: str) -> None:
    with SOURCES.open(newline="", encoding="utf-8") as file:
        listed = {row["sha256"] for row in csv.DictReader(file)}
    folder = SOURCES.parents[1] / "tests" / "search" / "judged" / name
    documents = (folder / "documents.txt").read_text().split()
    assert len(set(documents)) == len(documents) > 250 and listed >= set(documents)
    questions = read_questions(folder / "questions.jsonl")
    assert len({each.id for each in questions}) == len(questions) > 250
    for each in questions:
        answering = {relevant.sha256 for relevant in each.relevant}
        assert answering <= set(documents) and bool(answering) != (each.kind == "none"), each.id


def test_the_list_names_at_most_three_files_of_a_source_and_the_fold_of_each() -> None:
    with SOURCES.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    counts: dict[str, int] = {}
    for row in rows:
        counts[row["source"].lower()] = counts.get(row["source"].lower(), 0) + 1
        assert int(row["fold"]) == fold_of(row["source"], 5)
    assert max(counts.values()) <= 3
    assert len({row["sha256"] for row in rows}) == len(rows)
