"""Texts ordered from the command line; the model is small: it counts the words a text shares with the question."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner, Result

from adapters.inference import cross_encoder
from cli.main import ErrorReportingGroup
from cli.search import rank
from core.domain.errors import ModelUnavailable
from core.text.tokenize import words

TEXTS = ["The cat sat.", "Overtime is paid.", "Overtime is paid at one and a half times the rate."]


class Sharing:
    notice = ""

    def score(self, question: str, texts: Sequence[str]) -> np.ndarray:
        shown_text = set(words(question))
        return np.array([len(shown_text & set(words(text))) for text in texts], dtype=np.float32)


@pytest.fixture(autouse=True)
def _small_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FIVEFOLD_DATA_FOLDER", str(tmp_path))
    monkeypatch.setattr(cross_encoder, "load_cross_encoder", lambda *args: Sharing())


def run(*arguments: object) -> Result:
    app = typer.Typer(cls=ErrorReportingGroup)
    app.command()(rank)
    app.command("other")(lambda: None)
    return CliRunner().invoke(app, ["rank", *(str(word) for word in arguments)])


def test_lines_are_ordered_with_their_numbers(tmp_path: Path) -> None:
    file = tmp_path / "texts.txt"
    file.write_text("\n".join([TEXTS[0], "", *TEXTS[1:]]), "utf-8")
    result = run("What is the overtime rate?", file)
    assert result.exit_code == 0, result.output
    rows = [line.split(maxsplit=2) for line in result.stdout.splitlines()][-3:]
    assert [(row[0], row[1]) for row in rows] == [("4.000", "3"), ("2.000", "2"), ("1.000", "1")]


def test_json_lines_are_read_and_json_is_printed(tmp_path: Path) -> None:
    file = tmp_path / "texts.jsonl"
    file.write_text("\n".join([json.dumps(TEXTS[0]), *(json.dumps({"text": text, "id": 7}) for text in TEXTS[1:])]))
    result = run("overtime rate", file, "--json", "--top-k", 1, "--reranker", "accurate")
    assert json.loads(result.stdout) == [{"number": 3, "logit": 2.0, "text": TEXTS[2]}]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("texts.jsonl", '{"text": 7}', "line 1 contains no text"),
        ("texts.jsonl", '"good"\n{', "line 2"),
        ("texts.txt", "\n \n", "contains no text"),
    ],
)
def test_what_holds_no_text_is_told(tmp_path: Path, name: str, content: str, expected: str) -> None:
    (tmp_path / name).write_text(content)
    result = run("overtime", tmp_path / name)
    assert result.exit_code == 2
    assert expected in result.stderr


def test_a_missing_file_an_unknown_reranker_and_missing_weights_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "cannot be read" in run("overtime", tmp_path / "none.txt").stderr
    (tmp_path / "texts.txt").write_text("a text")
    assert "There is no reranker 'best'." in run("overtime", tmp_path / "texts.txt", "--reranker", "best").stderr

    def missing(*arguments: object) -> Sharing:
        raise ModelUnavailable("The weights are not here.", "Fetch them.")

    monkeypatch.setattr(cross_encoder, "load_cross_encoder", missing)
    result = run("overtime", tmp_path / "texts.txt")
    assert (result.exit_code, result.stderr) == (2, "Error: The weights are not here.\nFetch them.\n")
