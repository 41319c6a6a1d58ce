"""Ingestion end to end, from files to stored passages with vectors, against the stock pipeline."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.measured import clock
from bench.stock import StockPipeline
from core.printed import aligned
from storage.opening import settings_from_environment
from storage.scratch import files_of, fill, scratch_workbench

__all__ = ["run"]


def run(files: Sequence[Path]) -> str:
    """Characters differ per passage, so megabytes of files per second is the fair ratio; both are shown."""
    megabytes = sum(file.stat().st_size for file in files) / 1e6
    with tempfile.TemporaryDirectory() as folder:
        stock = StockPipeline(Path(folder) / "stock.sqlite")
        stock.load()
        with clock() as slow:
            chunks = stock.ingest(files)
    with scratch_workbench(settings_from_environment()) as workbench:
        workbench.warm()
        with clock() as fast:
            documents = fill(workbench, files_of(files))
    passages = sum(document.passages for document in documents.values())
    rows = [
        ("stock", chunks, slow.seconds, chunks / slow.seconds, megabytes / slow.seconds),
        ("fivefold", passages, fast.seconds, passages / fast.seconds, megabytes / fast.seconds),
        (
            "ratio",
            "",
            slow.seconds / fast.seconds,
            passages / fast.seconds * slow.seconds / chunks,
            slow.seconds / fast.seconds,
        ),
    ]
    return aligned(("pipeline", "passages", "seconds", "passages/s", "MB/s"), rows)
