"""A few cases of the crash matrix (`python -m bench.crash` runs them all), on a library of two notes."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from bench.crash import __main__ as matrix
from bench.crash.__main__ import CASES, made_libraries, run
from bench.crash.keeping import killed_restore
from bench.crash.library import Contents, differences
from bench.crash.pausing import KillPoint
from bench.crash.reading import Made, killed_command, killed_worker


@pytest.fixture(scope="module")
def made(models: Path, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A library with one note read, and another one queued."""
    folder = tmp_path_factory.mktemp("crash")
    old, new = folder / "Berths.md", folder / "Lanterns.md"
    old.write_text("# Berths\n\nThe keeper must write every berth into the green book.\n", "utf-8")
    new.write_text("# Lanterns\n\nThe brass lantern of pier 7 is lit at six by the keeper Odo Marrable.\n", "utf-8")
    return made_libraries(folder, [old], (new,), models)


def _place(made: Made) -> Path:
    """A new folder where the base library's database got access."""
    above = made.base.folder.parent
    return above / f"case-{len(list(above.iterdir()))}"


@pytest.mark.slow
@pytest.mark.parametrize("point", ["after storage.postgres.catalogue:SqlCatalogue.save_all_ingested"])
def test_a_worker_that_is_killed_between_two_indexes_loses_nothing(made: Made, point: str) -> None:
    assert killed_worker(made, _place(made), KillPoint.parse(point)) == []


@pytest.mark.slow
def test_a_command_that_is_killed_before_it_lists_a_file_leaves_no_double(made: Made) -> None:
    point = KillPoint.parse("after storage.files:OriginalFiles.put")
    assert killed_command(made, _place(made), point) == []


@pytest.mark.slow
def test_a_restore_that_is_killed_after_its_database_can_be_used(made: Made) -> None:
    point = KillPoint.parse("after storage.backup.database:_run")
    assert killed_restore(made, _place(made), point) == []


@pytest.mark.parametrize(
    "point", [point for points in CASES.values() for point in points if " " in point and ":" in point]
)
def test_every_kill_point_is_a_step_of_the_product(point: str) -> None:
    import importlib

    parsed = KillPoint.parse(point)
    found: object = importlib.import_module(parsed.module)
    for name in parsed.name.split("."):
        found = getattr(found, name)
    assert callable(found)


def test_the_matrix_goes_on_after_a_case_that_fails(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(made: Made, folder: Path) -> list[str]:
        raise subprocess.TimeoutExpired("cli check", 1800)

    monkeypatch.setattr(matrix, "made_libraries", lambda *arguments: made)
    monkeypatch.setitem(CASES, "upload", {"first": slow, "second": lambda made, folder: ["a.md"]})
    monkeypatch.setitem(CASES, "read", {"third": lambda made, folder: []})
    failed, lost, good = run(("upload", "read"), tmp_path)
    assert "TimeoutExpired" in failed.message and not failed.good
    assert lost.message == "a.md" and not lost.good
    assert good.message == "nothing" and good.good


def test_a_loss_is_told() -> None:
    whole = Contents({"a.md": ("1", "ready", "x"), "b.md": ("2", "ready", "y")}, (("a.md", "truth", "intent"),))
    assert differences(whole, whole) == []
    assert differences(whole, whole.but("b.md")) == ["document b.md is missing"]
    assert differences(whole.but("b.md"), whole) == ["document b.md should not be there"]
    (reported,) = differences(whole, replace(whole, documents=whole.documents | {"b.md": ("2", "pending", "y")}))
    assert "b.md" in reported and "pending" in reported
    (reported,) = differences(whole, replace(whole, corrections=()))
    assert "corrections" in reported
