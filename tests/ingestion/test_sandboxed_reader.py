"""A file that hangs, crashes or eats memory fails alone; the next one is read."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from adapters.sandboxed_reader import SandboxedReader
from core.domain.errors import BadFile, Cure, EmptyFile, FileTooCostly, UnreadableFile
from core.ingestion.parsers import extract
from tests.ingestion.making import pdf_of
from tests.library.test_decrypt import locked_pdf


@pytest.fixture
def reader() -> Iterator[SandboxedReader]:
    reader = SandboxedReader(60, 4096)
    yield reader
    reader.close()


def children() -> list[psutil.Process]:
    return [p for p in psutil.Process().children() if "adapters.sandboxed_reader" in " ".join(p.cmdline())]


def test_what_comes_back_is_what_extract_gives_and_the_process_stays_warm(reader: SandboxedReader) -> None:
    data = pdf_of("# Leave\nIt is paid.", "", title="Leave handbook")
    assert reader.read("a.pdf", data) == extract("a.pdf", data)
    first = children()
    assert reader.read("b.txt", b"Leave is paid.").pages[0].text == "Leave is paid."
    assert [p.pid for p in children()] == [p.pid for p in first]


def test_errors_come_back_as_themselves_and_the_next_file_is_read(reader: SandboxedReader) -> None:
    with pytest.raises(EmptyFile, match=r"'e\.txt' is empty"):
        reader.read("e.txt", b" ")
    assert reader.read("b.txt", b"Fine.").pages[0].text == "Fine."


@pytest.mark.parametrize(
    ("name", "data", "cure"),
    [
        ("cut.pdf", b"%PDF-1.7 no more", Cure.OTHER_FILE),
        ("song.gif", b"GIF89a" + bytes(40), Cure.OTHER_FILE),
        ("empty.txt", b" ", Cure.OTHER_FILE),
        ("secret.pdf", locked_pdf(pdf_of("Leave is paid."), "secret", "AES-256"), Cure.PASSWORD),
    ],
)
def test_an_error_says_what_can_help_on_both_sides_of_the_process(
    reader: SandboxedReader, name: str, data: bytes, cure: Cure
) -> None:
    for read in (extract, reader.read):
        with pytest.raises(BadFile) as caught:
            read(name, data)
        assert caught.value.cure is cure
        assert pickle.loads(pickle.dumps(caught.value)).cure is cure


def test_a_killed_reader_fails_its_file_and_the_next_one_is_read(reader: SandboxedReader) -> None:
    reader.read("a.txt", b"Warm.")
    os.kill(max(children(), key=lambda child: child.create_time()).pid, signal.SIGKILL)  # others may have readers too
    with pytest.raises(UnreadableFile, match=r"crashed its reader") as caught:
        reader.read("crash.txt", b"x")
    assert caught.value.cure is Cure.AGAIN
    assert reader.read("b.txt", b"Fine.").pages[0].text == "Fine."


def test_a_file_beyond_its_time_is_stopped() -> None:
    reader = SandboxedReader(0, 4096)
    with pytest.raises(FileTooCostly, match="more than 0 seconds") as caught:
        reader.read("slow.pdf", pdf_of("Slow."))
    assert caught.value.cure is Cure.AGAIN
    reader.close()


def test_a_file_beyond_its_memory_is_refused() -> None:
    reader = SandboxedReader(60, 400)
    with pytest.raises((FileTooCostly, UnreadableFile)):
        reader.read("big.txt", b"word. " * 30_000_000)
    reader.close()


def test_many_threads_read_at_once(reader: SandboxedReader) -> None:
    found: dict[int, str] = {}

    def read(number: int) -> None:
        found[number] = reader.read(f"{number}.txt", f"Text {number}.".encode()).pages[0].text

    threads = [threading.Thread(target=read, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: f"Text {n}." for n in range(3)}


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is a matter of POSIX")
def test_the_reader_ends_with_a_parent_that_is_killed(root: Path) -> None:
    script = (
        "from adapters.sandboxed_reader import SandboxedReader; import psutil, time; r = SandboxedReader(60, 4096)\n"
        "r.read('a.txt', b'Warm.'); print(psutil.Process().children()[0].pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], cwd=root, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 20
    while psutil.pid_exists(child) and psutil.Process(child).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.1)
