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


def test_only_chosen_files_are_copied_and_only_as_they_were_judged(tmp_path: Path) -> None:
    texts = {"one": b"Leave is paid.", "two": b"Overtime is paid.", "later": b"As it was judged."}
    sources, clones = tmp_path / "sources.csv", tmp_path / "clones" / "owner" / "name"
    clones.mkdir(parents=True)
    for name, text in (texts | {"later": b"As it is now."}).items():
        (clones / name).write_bytes(text)
    rows = [f"owner/name,{name},{sha256(text).hexdigest()}" for name, text in texts.items()]
    sources.write_text("\n".join(["source,source_path,sha256", *rows]))
    only = tmp_path / "only.txt"
    only.write_text("\n".join(sha256(texts[name]).hexdigest() for name in ("two", "later")))
    said = ["evaluate", "collect-sources", str(sources), str(tmp_path / "clones"), str(tmp_path / "out"), "--only"]
    result = CliRunner().invoke(app, [*said, str(only)])
    assert "1 of 2 files" in result.output
    assert [path.read_bytes() for path in (tmp_path / "out" / "files").iterdir()] == [texts["two"]]
    only.write_text("0" * 64)
    assert CliRunner().invoke(app, [*said, str(only)]).exit_code == 2
    assert CliRunner().invoke(app, [*said, str(tmp_path / "none.txt")]).exit_code == 2


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
