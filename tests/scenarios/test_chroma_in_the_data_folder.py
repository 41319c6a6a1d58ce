"""The app with its vectors in Chroma, in its own data folder: app, worker and search process use it at once."""

import os
import signal
from pathlib import Path
from typing import Any

import httpx
import psutil

from tests.running import RunningApp, running_app, until

TEXTS = {
    "leave.md": "# Leave\n\nAnnual leave is granted after ninety days of service.\n",
    "overtime.md": "# Overtime\n\nOvertime above forty hours a week is paid at one and a half times the rate.\n",
    "balloons.md": "# Balloons\n\nHelium bottles are stored upright in the north meadow.\n",
}


def found_by_meaning(app: RunningApp) -> int:
    """How many passages the search by meaning finds; it must not fail."""
    with httpx.Client(base_url=f"{app.url}/api", headers={"X-Requested-With": "tests"}, timeout=120) as api:
        found: dict[str, Any] = api.get("/search", params={"q": "vacation days"}).raise_for_status().json()
    (leg,) = [each for each in found["legs"] if each["leg"] == "dense"]
    assert (leg["error"], found["notices"]) == ("", [])
    return int(leg["found"])


def chroma_of(folder: Path) -> list[int]:
    """The processes that have the folder's Chroma open."""
    chroma = str((folder / "chroma").resolve())
    return [each.pid for each in psutil.process_iter(["cmdline"]) if chroma in (each.info["cmdline"] or [])]


def test_each_upload_is_found_by_meaning_at_once_and_after_chroma_was_killed(data_folder: Path, tmp_path: Path) -> None:
    with running_app(data_folder, FIVEFOLD_VECTOR_INDEX="chroma", FIVEFOLD_SEARCH_PROCESSES="1") as app:
        for number, (name, text) in enumerate(TEXTS.items(), 1):
            (tmp_path / name).write_text(text, "utf-8")
            app.add(tmp_path / name)
            assert found_by_meaning(app) == number
        (chroma,) = chroma_of(data_folder)
        os.kill(chroma, signal.SIGKILL)
        assert found_by_meaning(app) == len(TEXTS)
    until(lambda: not chroma_of(data_folder), 30, "the end of Chroma's process")
