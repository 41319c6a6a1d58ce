"""The whole product when it is killed, stopped, or started twice."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.driving import Window
from tests.browser.paper import make_pdf
from tests.running import ROOT, RunningApp, until

pytestmark = pytest.mark.browser

SENTENCE = "The brass lantern of pier {number} is lit at {number} minutes past six by the keeper Odo Marrable."


def harbor_rules(folder: Path, pages: int) -> Path:
    """A PDF long enough that reading it takes a while."""
    text = "\n\n".join(
        "Every boat must show its number on both sides of the bow. The harbor master may refuse a berth in writing."
        for _ in range(6)
    )
    sections = {
        f"Rules of pier {number}": f"{SENTENCE.format(number=number)}\n\n{text}" for number in range(1, pages + 1)
    }
    return make_pdf(folder / "Harbor_Rules.pdf", "Harbor Rules", sections)


def server_of(data_folder: Path) -> int | None:
    """The process number of the embedded server that runs on a data folder."""
    note = data_folder / "postgres" / "postmaster.pid"
    if not note.exists():
        return None
    number = int(note.read_text("utf-8").split("\n", 1)[0])
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return None
    return number


@pytest.mark.slow
def test_an_upload_survives_kill_9_of_the_app_and_its_database_and_the_app_that_of_its_database(
    start: Callable[[], RunningApp], window: Callable[[RunningApp], Window], data_folder: Path, tmp_path: Path
) -> None:
    app = start()
    tab = window(app)
    tab.upload(harbor_rules(tmp_path, 60))
    app.until(lambda health: health.get("waiting_jobs") == 1, 30, "the start of the job")
    server = server_of(data_folder)
    assert server
    app.kill()
    os.kill(server, signal.SIGKILL)
    assert app.process.poll() == -signal.SIGKILL

    again = start()
    assert again.health()["documents"] == 1
    again.read_by_now(1)
    later = window(again)
    later.go("upload")
    assert "0 failed" in later.wait_for("1 read")
    later.go("search", q="Who lights the brass lantern of pier 47?")
    later.wait_for("The brass lantern of pier 47 is lit at 47 minutes past six by the keeper Odo Marrable.")
    _goes_on_after_its_database_was_killed(again, later, tmp_path)
    assert again.stop() is not None
    assert server_of(data_folder) is None


def _goes_on_after_its_database_was_killed(app: RunningApp, tab: Window, folder: Path) -> None:
    server = server_of(app.data_folder)
    assert server
    os.kill(server, signal.SIGKILL)
    until(lambda: server_of(app.data_folder) not in (None, server), 60, "another server")
    app.until(lambda health: health.get("documents") == 1, 60, "an answer of the database")
    note = folder / "note.md"
    note.write_text("# Berths\n\nThe keeper Odo Marrable must write every berth into the green book.\n", "utf-8")
    tab.upload(note)
    app.read_by_now(2)
    tab.go("search", q="Which book are berths written into?")
    assert "ended unexpectedly" in tab.wait_for("must write every berth into the green book")


@pytest.mark.slow
def test_two_apps_and_a_command_share_one_data_folder(
    start: Callable[[], RunningApp], data_folder: Path, tmp_path: Path
) -> None:
    one, two = start(), start()
    note = tmp_path / "note.md"
    note.write_text("# Berths\n\nThe keeper Odo Marrable must write every berth into the green book.\n", "utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "cli", "ingest", str(note)],
        cwd=ROOT,
        env=os.environ | {"FIVEFOLD_DATA_FOLDER": str(data_folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert one.health()["documents"] == two.health()["documents"] == 1
    one.stop()
    assert two.health()["documents"] == 1, "stopping one app must leave the server to the other"
    assert server_of(data_folder) is not None
    two.stop()
    assert server_of(data_folder) is None
