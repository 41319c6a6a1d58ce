"""Finds the browser the tests drive, and installs one where that is possible.

`python -m tests.browser.finding --install` is what `make test` runs first. A browser named by FIVEFOLD_BROWSER is used
as it is.
"""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["MISSING", "find_browser"]

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
MISSING = (
    "The browser tests need Chromium or Chrome, and none was found. Install one (Debian, Ubuntu: apt-get install "
    "chromium), or run: .venv/bin/python -m playwright install --with-deps chromium, or name one: "
    "FIVEFOLD_BROWSER=/path/to/chrome."
)


def find_browser() -> Path | None:
    """The browser's program, or None: FIVEFOLD_BROWSER, then the system's, then Playwright's own."""
    named = os.environ.get("FIVEFOLD_BROWSER")
    if named:
        return Path(named) if Path(named).is_file() else None
    for program in (shutil.which(name) for name in NAMES):
        if program and starts(Path(program)):
            return Path(program)
    return next((place for place in (*map(Path, PLACES), playwrights_own()) if place and place.is_file()), None)


def starts(program: Path) -> bool:
    """Whether the program runs at all: on some systems `chromium-browser` only says how to install it."""
    try:
        return subprocess.run([program, "--version"], capture_output=True, timeout=30, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def playwrights_own() -> Path:
    """Where Playwright puts the browser it downloads; it need not be there."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return Path(playwright.chromium.executable_path)


def install() -> None:
    """Installs a browser: by the system's packages as root, else by Playwright's download."""
    if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        run("apt-get", "update")
        run("apt-get", "install", "-y", "--no-install-recommends", "chromium")
    if find_browser() is None:
        run(sys.executable, "-m", "playwright", "install", "chromium")


def run(*command: str) -> None:
    """Runs a command, showing what it prints; its failure is judged by whether a browser stands there afterwards."""
    sys.stdout.write(f"$ {shlex.join(command)}\n")
    sys.stdout.flush()
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, check=False)


if __name__ == "__main__":
    if find_browser() is None and "--install" in sys.argv:
        install()
    found = find_browser()
    if found is None:
        sys.exit(MISSING)
    sys.stdout.write(f"Browser of the tests: {found}\n")
