"""Benchmark of ingestion end to end, from files to stored passages with vectors, against the stock pipeline: a few text
PDFs of many pages, many small files, and a folder with both and long texts.

Both are warm and read the same files alternately; medians are compared. Passages differ in length and stock chunks
overlap, so the table also shows the ratio of seconds for the same characters.
"""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from time import sleep

from bench.measured import Headline, Report, clock
from bench.stock import StockPipeline, read_text
from bootstrap.scratch_library import scratch_workbench
from bootstrap.workbench import settings_from_environment
from core.formats.terminal import aligned
from core.library.upload_queue import NewFile
from core.workbench import Workbench

__all__ = ["SMALL_FILES", "cut_texts", "run", "small_files"]

SMALL_FILES = 150

_ROUNDS = 3
_LEAST_PAGES = 150  # with fewer, starting up would count. Chosen by hand.
_PAGES_PER_FILE = 25
_SMALL_LETTERS = 1_500  # an e-mail, a note, an abstract. Chosen by hand.
_MIXED_SMALL, _LONG_TEXTS, _LONG_LETTERS = 100, 20, 30_000  # of the mixed folder, beside the PDFs. Chosen by hand.
_LOOK_SECONDS = 0.25  # polling takes CPU time from the worker; a late poll counts against us


def run(files: Sequence[Path], small: int = SMALL_FILES) -> Report:
    """Seconds of each pipeline for the PDFs among the files, for so many small files cut from their text, and for a
    mixed folder; where the PDFs have few pages, they are put together to larger ones."""
    with tempfile.TemporaryDirectory() as folder:
        pdfs = text_pdfs([file for file in files if file.suffix.lower() == ".pdf"], Path(folder))
        cut = list(small_files(pdfs, Path(folder), small))
        stock = StockPipeline(Path(folder) / "stock.sqlite")
        stock.load()
        stock.ingest(pdfs[:1])
        with scratch_workbench(settings_from_environment(), worker=True) as workbench:
            workbench.search.warm()
            _ingest(workbench, pdfs[:1], "warm")
            mixed = [*pdfs, *cut[:_MIXED_SMALL], *_long_texts(pdfs, Path(folder))]
            kinds = {"text PDFs": pdfs, "small files": cut, "files of a mixed folder": mixed}
            reports = [_compared(kind, stock, workbench, chosen) for kind, chosen in kinds.items()]
    return Report(
        [headline for each in reports for headline in each.headlines], "\n\n".join(each.details for each in reports)
    )


def _compared(kind: str, stock: StockPipeline, workbench: Workbench, files: Sequence[Path]) -> Report:
    """The rows of both pipelines for these files, and their ratios."""
    letters = sum(len(read_text(file)) for file in files)
    slow, fast, chunks, passages = [], [], 0, 0
    for number in range(_ROUNDS):
        before = len(stock.chunks)
        with clock() as measured:
            chunks = stock.ingest(files) - before
        slow.append(measured.seconds)
        with clock() as measured:
            passages = _ingest(workbench, files, f"{kind} {number}")
        fast.append(measured.seconds)
    rows = [
        _row("stock", median(slow), chunks, len(files), letters),
        _row("fivefold", median(fast), passages, len(files), letters),
    ]
    names = (kind, "seconds", "passages", "passages/s", "documents/s", "characters/s")
    seconds = median(slow) / median(fast)
    ratios = f"seconds {seconds:.2f}, passages/s {seconds * passages / chunks:.2f}"
    headlines = [
        Headline(f"ingest {len(files)} {kind}", "s", median(fast), "stock", median(slow)),
        Headline(f"ingest {kind}", "passages/s", passages / median(fast), "stock", chunks / median(slow), more=True),
    ]
    return Report(
        headlines, f"{aligned(names, rows)}\nratios: {ratios} (medians of {_ROUNDS} rounds, {len(files)} files)"
    )


def _row(name: str, seconds: float, passages: int, documents: int, letters: int) -> tuple[object, ...]:
    rates = (each / seconds for each in (passages, documents, letters))
    return name, seconds, passages, *rates


def _ingest(workbench: Workbench, files: Sequence[Path], project: str) -> int:
    """Drop the files and wait until all are read; how many passages they have. In a project of its own, because the
    same bytes in the same project are recognised."""
    new = [NewFile(file.name, file.read_bytes) for file in files]
    list(workbench.upload_queue.take_in(new, project=project))
    while workbench.upload_queue.counts(1.0).running:
        sleep(_LOOK_SECONDS)
    return sum(each.passages for each in workbench.documents.list() if each.project == project)


def small_files(pdfs: Sequence[Path], folder: Path, files: int = SMALL_FILES) -> Iterator[Path]:
    """Markdown files, each with a piece of the PDFs' text; every piece has its number, so that no two are equal."""
    for number, text in enumerate(cut_texts(pdfs, files)):
        file = folder / f"note {number}.md"
        file.write_text(text, "utf-8")
        yield file


def _long_texts(pdfs: Sequence[Path], folder: Path) -> Iterator[Path]:
    """Text files, each with a long piece of the PDFs' text."""
    text = "\n".join(map(read_text, pdfs))
    for number in range(_LONG_TEXTS):
        start = number * _LONG_LETTERS // 2 % max(1, len(text) - _LONG_LETTERS)
        file = folder / f"report {number}.txt"
        file.write_text(f"Report {number}\n\n{text[start : start + _LONG_LETTERS]}\n", "utf-8")
        yield file


def cut_texts(pdfs: Sequence[Path], count: int) -> Iterator[str]:
    """What `small_files` writes."""
    text = "\n".join(map(read_text, pdfs))
    for number in range(count):
        start = number * _SMALL_LETTERS % max(1, len(text) - _SMALL_LETTERS)
        yield f"# Note {number}\n\n{text[start : start + _SMALL_LETTERS]}\n"


def text_pdfs(given: Sequence[Path], folder: Path) -> list[Path]:
    """PDFs with enough pages that starting up does not count."""
    from pypdf import PdfReader, PdfWriter

    readers = [PdfReader(file) for file in given]
    pages = [page for reader in readers for page in reader.pages]
    if not pages or len(pages) >= _LEAST_PAGES:
        return list(given)
    made: list[Path] = []
    for first in range(0, _LEAST_PAGES, _PAGES_PER_FILE):
        writer = PdfWriter()
        for number in range(first, first + _PAGES_PER_FILE):
            writer.add_page(pages[number % len(pages)])
        made.append(folder / f"pages {first + 1} to {first + _PAGES_PER_FILE}.pdf")
        writer.write(made[-1])
    return made
