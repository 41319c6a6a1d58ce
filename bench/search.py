"""Benchmark of in-process search, with and without filters, against the stock pipeline on the same files."""

import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time

from bench.measured import Headline, Report, clock, quantile, resident_megabytes
from bench.stock import StockPipeline
from bootstrap.scratch_library import files_of, fill, scratch_workbench
from bootstrap.workbench import settings_from_environment
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.formats.terminal import aligned

__all__ = ["run"]

_QUESTIONS = 60  # Chosen by hand.
_SENTENCE = re.compile(r"[A-Z][^.?!\n]{40,120}[.?!]")


def run(files: Sequence[Path]) -> Report:
    """p50 and p95 in milliseconds, and processor time of this process per search; PostgreSQL's own is not counted. The
    questions are sentences of the text itself, spread over it; a second round finds the same passages again."""
    with tempfile.TemporaryDirectory() as folder:
        stock = StockPipeline(Path(folder) / "stock.sqlite")
        stock.load()
        stock.ingest(files)
        stock.index_words()
        sentences = [found.group() for chunk in stock.chunks for found in _SENTENCE.finditer(chunk)]
        questions = sentences[:: max(1, len(sentences) // _QUESTIONS)][:_QUESTIONS]
        rows = [("stock", len(stock.chunks), *_timed(questions, stock.search))]
    with scratch_workbench(settings_from_environment()) as workbench:
        fill(workbench, files_of(files))
        workbench.search.warm()
        passages = workbench.documents.statistics().passages
        narrow = SearchFilters(truths=("regulatory", "compliance"))
        again = [f"{question} again" for question in questions]  # the vector of a question is kept
        rounds = (
            ("fivefold", questions, SearchFilters()),
            ("fivefold, its passages found before", again, SearchFilters()),
            ("fivefold, filtered", questions, narrow),
        )
        for name, queries, filters in rounds:

            def ask(question: str, filters: SearchFilters = filters) -> object:
                return workbench.search.run(SearchRequest(question, filters), remember=False)

            rows.append((name, passages, *_timed(queries, ask)))
    stock_row, ours = rows[0], rows[1]
    headlines = [
        Headline(f"search {ours[1]} passages, {quantity}", "ms", ours[at], "stock", stock_row[at])
        for at, quantity in ((2, "p50"), (3, "p95"), (4, "of processor time"))
    ]
    return Report(
        headlines, aligned(("pipeline", "passages", "p50 ms", "p95 ms", "ms of CPU, median", "resident MB"), rows)
    )


def _timed(questions: Sequence[str], ask: Callable[[str], object]) -> tuple[float, float, float, float]:
    ask(questions[0])
    times, processor = [], []
    for question in questions:
        began = process_time()
        with clock() as one:
            ask(question)
        times.append(one.seconds * 1000)
        processor.append((process_time() - began) * 1000)
    return quantile(times, 0.5), quantile(times, 0.95), quantile(processor, 0.5), resident_megabytes()
