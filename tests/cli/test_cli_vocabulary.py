"""The vocabulary by command: shown, taken in from a file or a pack, and passed on."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bootstrap.environment import Settings
from bootstrap.workbench import open_workbench
from cli.main import app
from core.domain.vocabulary import BUILT_IN, DomainWords, Vocabulary
from core.library.vocabulary.toml_csv import from_csv, from_toml, packs

OWN = (
    '[domains.fleet]\ntitle = "Fleet"\nkeywords = ["vehicle log", "tax"]\n[authorities]\ncustomer = ["the Operator"]\n'
)


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["vocabulary", *(str(word) for word in words)])


@pytest.fixture(scope="module", autouse=True)
def library(command_folder: Path) -> Iterator[None]:
    """An empty library, open as in the app while commands use it."""
    with open_workbench(Settings(command_folder, worker=False)):
        yield


def test_words_are_taken_in_shown_passed_on_and_replaced(tmp_path: Path) -> None:
    assert "Using built-in vocabulary only." in run("show").stdout
    file = tmp_path / "own.toml"
    file.write_text(OWN)
    taken = run("import", file, "--who", "Ann", "--note", "the fleet team", "--apply")
    assert taken.exit_code == 0, taken.output
    assert "New domain Fleet: vehicle log, tax." in taken.stdout
    assert "Note: 'tax' of Fleet belongs to Taxes too" in taken.stdout
    assert "Saved as version 1." in taken.stdout and "0 documents will be labelled again." in taken.stdout

    added = run("import", "privacy", "--who", "Ben")
    assert added.exit_code == 0 and "Saved as version 2." in added.stdout
    shown = run("show").stdout
    assert ["fleet", "Fleet", "own", "2", "0", "0"] in [line.split() for line in shown.splitlines()]
    assert "the Operator" in shown and "the fleet team" in shown and "imported from privacy" in shown

    printed, written = run("export").stdout, tmp_path / "out.csv"
    assert run("export", "--out", written, "--format", "csv").exit_code == 0
    stored = from_toml(printed, "it")
    assert stored == from_csv(written.read_text("utf-8"), "it")
    assert stored.domain("privacy") == packs()["privacy"].vocabulary.domain("privacy")
    assert stored.domain("fleet") == DomainWords("fleet", "Fleet", ("vehicle log", "tax"))

    alone = run("import", file, "--who", "Ann", "--replace")
    assert "Domain Privacy removed." in alone.stdout
    assert from_toml(run("export").stdout, "it") == from_toml(OWN, "it") != BUILT_IN == Vocabulary()


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("there is none.toml", None, "cannot be read"),
        ("words.txt", "a", "neither TOML nor CSV"),
        ("broken.toml", "[domains", "is not TOML"),
        ("common.toml", '[domains.x]\ntitle = "X"\nkeywords = ["the"]\n', "too common"),
    ],
)
def test_what_cannot_be_taken_in_is_said_and_nothing_is_saved(
    tmp_path: Path, name: str, text: str | None, expected: str
) -> None:
    before = run("export").stdout
    if text is not None:
        (tmp_path / name).write_text(text)
    refused = run("import", tmp_path / name, "--who", "Ann")
    assert refused.exit_code == 2 and expected in refused.output
    assert run("export").stdout == before
