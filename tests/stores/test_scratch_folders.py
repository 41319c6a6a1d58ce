"""Temporary folders: removed at the end, and after a kill by the next program."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from storage.scratch_folders import remove_abandoned, scratch_folder

_KILLED = """
import os, signal
from storage.scratch_folders import scratch_folder
with scratch_folder("reading") as folder:
    (folder / "secret.txt").write_text("part of an uploaded file")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def _own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def _make_old(place: Path) -> None:
    for mark in place.glob("*/.in-use"):
        os.utime(mark, (0, 0))


def test_a_folder_is_removed_with_its_contents(tmp_path: Path) -> None:
    with scratch_folder("reading") as folder:
        (folder / "part.txt").write_text("x", "utf-8")
        assert folder.parent == tmp_path
    assert not list(tmp_path.iterdir())


def test_what_a_killed_program_left_is_deleted_and_what_a_living_one_uses_stays(tmp_path: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", _KILLED], env=os.environ | {"TMPDIR": str(tmp_path)}, check=False)
    assert killed.returncode == -9
    (left,) = tmp_path.iterdir()
    assert (left / "secret.txt").exists()
    assert remove_abandoned() == 0, "a folder this young may be one that is just being made"
    with scratch_folder("reading") as used:
        (tmp_path / "fivefold-of-somebody").mkdir()
        _make_old(tmp_path)
        assert remove_abandoned() == 1
        assert used.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["fivefold-of-somebody"]
