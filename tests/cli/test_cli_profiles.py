"""Score profiles by command: looked at, compared, passed on, chosen, and brought back."""

import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bootstrap.environment import Settings
from bootstrap.workbench import open_workbench
from cli.main import app
from core.domain.queries import ScoreProfile
from core.evaluation.tuning.profile_registry import ProfileRegistry, from_toml, to_toml
from core.knowledge.profiles import profiles

MINE = ScoreProfile("mine", {"similarity": 0.75, "authority": 0.25}, {"date_match": 1.0}, threshold=0.3)


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["profiles", *(str(word) for word in words)])


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.strip()]


@pytest.fixture(scope="module")
def book(command_folder: Path) -> Iterator[ProfileRegistry]:
    """The profiles of an empty library, open as in the app while commands use it: 'mine' in two versions."""
    with open_workbench(Settings(command_folder, worker=False)) as opened:
        profile = opened.evaluation.profiles
        profile.save(MINE, "Ada", note="From the pilot.", origin="balanced")
        profile.save(replace(MINE, threshold=0.4), "Ben", after=1)
        yield profile


@pytest.mark.usefixtures("book")
def test_every_profile_is_listed_in_its_newest_version_with_the_default_marked() -> None:
    result = run("list")
    assert result.exit_code == 0
    listed = rows(result.stdout)[1:]
    assert listed[0][:2] == ["*", "balanced"]
    assert [each[0] for each in listed[1 : len(profiles())]] == list(profiles())[1:]
    assert listed[-1][:2] == ["mine@2", "Ben"]


@pytest.mark.usefixtures("book")
def test_a_profile_is_shown_as_toml_with_its_versions() -> None:
    result = run("show", "mine")
    text, _, past = result.stdout.partition("\nversion  by")
    assert from_toml(text, "shown")["mine"] == replace(MINE, threshold=0.4, version=2)
    assert [each[:2] for each in rows(past)[1:]] == [["2", "Ben"], ["1", "Ada"]]
    assert "balanced" in past and "From the pilot." in past
    assert tomllib.loads(run("show", "mine@1").stdout.partition("\nversion  by")[0])["mine"]["threshold"] == 0.3
    assert "version" not in run("show", "trend").stdout


@pytest.mark.usefixtures("book")
def test_two_versions_are_compared() -> None:
    assert rows(run("diff", "mine@1", "mine").stdout) == [["value", "mine@1", "mine@2"], ["threshold", "0.3", "0.4"]]
    assert ["weights.authority", "0.25", "–"] in rows(run("diff", "mine", "memory").stdout)
    assert run("diff", "mine", "MINE@2").stdout == "mine@2 and mine@2 say the same.\n"


def test_what_is_exported_is_imported_elsewhere_as_it_is(book: ProfileRegistry, tmp_path: Path) -> None:
    assert from_toml(run("export").stdout, "printed") == {"mine": book.find("mine")}
    file = tmp_path / "profiles.toml"
    assert run("export", "mine@1", "trend", "--out", file).stdout == ""
    brought = from_toml(file.read_bytes(), file.name)
    assert brought == {"mine": book.find("mine@1"), "trend": profiles()["trend"]}


def test_an_import_saves_what_differs_and_nothing_twice(book: ProfileRegistry, tmp_path: Path) -> None:
    file = tmp_path / "profiles.toml"
    file.write_text(to_toml([replace(MINE, name="brought"), profiles()["trend"], book.find("mine")]))
    result = run("import", file, "--who", "Cleo", "--note", "From the other site.")
    assert result.exit_code == 0
    assert rows(result.stdout) == [["saved", "brought@1"], ["unchanged", "trend"], ["unchanged", "mine@2"]]
    [saved] = book.versions("brought")
    assert (saved.who, saved.note, saved.profile) == (
        "Cleo",
        "From the other site.",
        replace(MINE, name="brought", version=1),
    )
    assert rows(run("import", file, "--who", "Cleo").stdout)[0] == ["unchanged", "brought@1"]


def test_of_an_import_with_a_wrong_profile_nothing_is_saved(book: ProfileRegistry, tmp_path: Path) -> None:
    file = tmp_path / "profiles.toml"
    file.write_text(to_toml([replace(MINE, name="fresh"), replace(MINE, name="balanced")]))
    result = run("import", file, "--who", "Cleo")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "'balanced' comes with the product and does not change." in result.stderr
    assert book.versions("fresh") == ()


def test_a_profile_is_chosen_for_a_project_and_the_choice_given_back(book: ProfileRegistry) -> None:
    assert run("choose", "mine", "--project", "Tallgrass", "--who", "Ada").stdout == "Tallgrass searches with mine@2.\n"
    assert (book.default("Tallgrass").ref, book.default(None).ref) == ("mine@2", "balanced")
    assert [each[1] for each in rows(run("list", "--project", "Tallgrass").stdout) if each[0] == "*"] == ["mine@2"]
    result = run("choose", "", "--project", "Tallgrass", "--who", "Ada").stdout
    assert result == "Tallgrass searches with balanced.\n"
    assert run("choose", "trend", "--who", "Ada").stdout == "The whole library searches with trend.\n"
    run("choose", "", "--who", "Ada")
    assert book.default(None).ref == "balanced"


def test_an_older_version_is_brought_back_as_the_newest_also_of_a_retired_profile(book: ProfileRegistry) -> None:
    book.save(replace(MINE, name="turned"), "Ada")
    book.save(replace(MINE, name="turned", floor=0.1), "Ada", after=1)
    assert run("rollback", "turned", 1, "--who", "Ben").stdout == "Saved as turned@3.\n"
    newest = book.versions("turned")[0]
    assert (newest.who, newest.origin, newest.profile.floor) == ("Ben", "turned@1", MINE.floor)
    book.retire("turned", "Ada", 3)
    assert "Retired: turned@4." in run("list").stdout
    assert run("rollback", "turned", 2, "--who", "Ben").stdout == "Saved as turned@5.\n"
    assert "Retired" not in run("list").stdout


@pytest.mark.usefixtures("book")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("show", "odd"), "There is no score profile 'odd'."),
        (("show", "mine@9"), "The profile 'mine' has no version '9'."),
        (("diff", "mine", "odd"), "There is no score profile 'odd'."),
        (("export", "mine", "mine@1"), "Two profiles are called 'mine'."),
        (("export", "mine", "--out", "nowhere/there.toml"), "'nowhere/there.toml' cannot be written"),
        (("import", "nowhere.toml", "--who", "Ada"), "'nowhere.toml' cannot be read: No such file or directory."),
        (("choose", "odd", "--who", "Ada"), "There is no score profile 'odd'."),
        (("choose", "mine", "--who", ""), "A profile is saved, chosen and retired in somebody's name."),
        (("rollback", "balanced", "1", "--who", "Ada"), "'balanced' comes with the product and does not change."),
        (("rollback", "odd", "1", "--who", "Ada"), "There is no score profile 'odd@1'."),
        (("rollback", "mine", "2", "--who", "Ada"), "Nothing has changed."),
    ],
)
def test_an_error_is_told_with_what_to_do_and_exit_code_2(words: tuple[str, ...], message: str) -> None:
    result = run(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 2


def test_a_file_that_is_no_profile_is_told_with_its_key(book: ProfileRegistry, tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text("[bad]\nweights = { similarity = 0.5 }\n")
    result = run("import", file, "--who", "Ada")
    assert result.exit_code == 2
    assert "bad.toml: [bad] 'weights' sum to 0.5" in result.stderr
    assert book.versions("bad") == ()


@pytest.mark.parametrize("words", [("import", "x.toml"), ("choose", "mine"), ("rollback", "mine", "1")])
def test_whoever_changes_something_says_who(words: tuple[str, ...]) -> None:
    result = run(*words)
    assert result.exit_code == 2
    assert "--who" in result.stderr
