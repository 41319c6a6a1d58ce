"""Compiled loops are kept for the next process, and work where they cannot be kept."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOOP = """
import shutil, sys
from pathlib import Path
from storage.compiled import compiled

def twice(number):
    return 2 * number

folder, spoiled = Path(sys.argv[1]), len(sys.argv) > 2
loop = compiled(twice)
if spoiled:  # what is written into the folder from here on fails
    shutil.rmtree(folder)
    folder.write_text("")
assert loop(21) == 42
print(len(loop.stats.cache_hits), len(loop.stats.cache_misses))
"""


def run(tmp_path: Path, folder: Path, *arguments: str, **settings: str) -> str:
    """Compile and call a loop in a process of its own: how often its machine code was found, and how often not."""
    script = tmp_path / "loop.py"
    script.write_text(LOOP, "utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(folder), **settings}
    command = [sys.executable, str(script), str(folder), *arguments]
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.strip()


def test_the_next_process_finds_what_was_compiled(tmp_path: Path) -> None:
    folder = tmp_path / "code"
    assert [run(tmp_path, folder) for _ in range(2)] == ["0 1", "1 0"]


def test_where_no_folder_can_be_written_each_process_compiles(tmp_path: Path) -> None:
    nowhere = {"NUMBA_CACHE_LOCATOR_CLASSES": "ZipCacheLocator"}  # refuses what is no ZIP file, as others no folder
    assert [run(tmp_path, tmp_path / "code", **nowhere) for _ in range(2)] == ["0 1", "0 1"]


def test_a_folder_that_fails_later_costs_no_answer(tmp_path: Path) -> None:
    assert run(tmp_path, tmp_path / "code", "spoiled") == "0 1"
