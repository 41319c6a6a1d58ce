"""The files the classifier was fitted on can be gathered again from clones."""

import csv
from hashlib import sha256
from pathlib import Path

from typer.testing import CliRunner

from cli.main import app
from core.evaluation.judgments.files import read_labels
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


def test_the_list_names_at_most_three_files_of_a_source_and_the_fold_of_each() -> None:
    with SOURCES.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    counts: dict[str, int] = {}
    for row in rows:
        counts[row["source"].lower()] = counts.get(row["source"].lower(), 0) + 1
        assert int(row["fold"]) == fold_of(row["source"], 5)
    assert max(counts.values()) <= 3
    assert len({row["sha256"] for row in rows}) == len(rows)
