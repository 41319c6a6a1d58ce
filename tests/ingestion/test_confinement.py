"""The process that reads files has no network, no files of ours, no rights to gain and no passwords."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import gettempdir

import pytest

from adapters.confinement import own_environment
from adapters.sandboxed_reader import SandboxedReader

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="seccomp and Landlock are Linux's")

ATTEMPT = """
import os, socket, subprocess, sys
from dataclasses import asdict
from pathlib import Path
from tempfile import gettempdir
from adapters.confinement import confine
held = confine(4096, Path.cwd())
if not getattr(held, {needs!r}):
    print("not offered")
    sys.exit()
try:
    {attempt}
except OSError as error:
    print("refused", type(error).__name__)
except subprocess.CalledProcessError as error:
    print("refused", error.stderr.decode()[-200:])
else:
    print("succeeded")
"""


def tried(root: Path, needs: str, attempt: str) -> str:
    """What comes of an attempt in a confined process; skips the test where the system offers no such confinement."""
    script = ATTEMPT.format(needs=needs, attempt=attempt)
    words = [sys.executable, "-c", script]
    ended = subprocess.run(words, cwd=root, capture_output=True, text=True, check=True, env=own_environment())
    if "not offered" in ended.stdout:
        pytest.skip(f"this system does not offer: {needs}")
    return ended.stdout.strip()


NETWORK = [
    "socket.create_connection(('127.0.0.1', 1), timeout=1)",
    "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",
    "socket.socket(socket.AF_UNIX)",
    "subprocess.run([sys.executable, '-c', 'import socket; socket.socket()'], check=True, capture_output=True)",
]


@pytest.mark.parametrize("attempt", NETWORK)
def test_it_opens_no_socket_and_neither_does_what_it_starts(root: Path, attempt: str) -> None:
    assert tried(root, "network", attempt).startswith("refused")


@pytest.mark.parametrize(
    "attempt", ["Path({secret!r}).read_text()", "Path({secret!r}).open('a')", "os.listdir({folder!r})"]
)
def test_it_reaches_no_file_of_ours(root: Path, attempt: str) -> None:
    if root.is_relative_to(gettempdir()):
        pytest.skip("the reader may use the folder for temporary files, and this repository lies in it")
    folder = root / "docs"
    secret = attempt.format(secret=str(folder / "guide.md"), folder=str(folder))
    assert tried(root, "files", secret) == "refused PermissionError"


def test_it_writes_temporary_files_and_reads_its_libraries(root: Path, tmp_path: Path) -> None:
    attempt = f"Path({str(tmp_path / 'a.txt')!r}).write_text('x'); import core.ingestion.parsers.pdf, lxml.etree"
    assert tried(root, "files", attempt) == "succeeded"


def test_it_gains_no_rights(root: Path) -> None:
    attempt = (
        "print([line for line in Path('/proc/self/status').open() if line.startswith(('NoNewPrivs', 'Seccomp:'))])"
    )
    reported = tried(root, "network", attempt)
    assert "NoNewPrivs:\\t1" in reported and "Seccomp:\\t2" in reported


def test_it_cannot_signal_the_process_that_started_it(root: Path) -> None:
    release = tuple(int(part) for part in os.uname().release.split(".")[:2])
    if release < (6, 12):
        pytest.skip("Landlock keeps signals from Linux 6.12 on")
    assert tried(root, "files", "os.kill(os.getppid(), 0)") == "refused PermissionError"


def test_it_has_limits_of_memory_and_files(root: Path) -> None:
    attempt = (
        "import resource; print(resource.getrlimit(resource.RLIMIT_AS)[0], resource.getrlimit(resource.RLIMIT_CORE))"
    )
    assert tried(root, "memory", attempt).startswith(f"{4096 * 2**20} (0, ")


def test_passwords_and_addresses_of_services_stay_with_the_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATABASE_URL", "FIVEFOLD_ANSWER_KEY", "FIVEFOLD_SMTP_URL", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "secret-4711")
    assert "secret-4711" not in str(own_environment())
    assert own_environment()["PATH"] == os.environ["PATH"]


def test_the_reader_says_what_confines_it_and_reads_all_the_same() -> None:
    reader = SandboxedReader(60, 4096)
    try:
        stored = reader.confinement()
        assert stored.memory and stored.rights
        assert reader.read("a.txt", b"Leave is paid.").pages[0].text == "Leave is paid."
    finally:
        reader.close()
