"""Search in process, filters on and off, against the stock pipeline on the same files and questions."""

import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.measured import clock, quantile, resident_megabytes
from bench.stock import StockPipeline
from core.filters import SearchFilters
from core.printed import aligned
from core.queries import SearchRequest
from storage.opening import settings_from_environment
from storage.scratch import files_of, fill, scratch_workbench

__all__ = ["run"]

_QUESTIONS = 60
_SENTENCE = re.compile(r"[A-Z][^.?!\n]{40,120}[.?!]")


def run(files: Sequence[Path]) -> str:
    """p50 and p95 in milliseconds; the questions are sentences of the text itself, spread over it."""
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
        workbench.warm()
        passages = workbench.statistics().passages
        narrow = SearchFilters(truths=("regulatory", "compliance"))
        for name, filters in (("fivefold", SearchFilters()), ("fivefold, filtered", narrow)):

            def ask(question: str, filters: SearchFilters = filters) -> object:
                return workbench.search(SearchRequest(question, filters), remember=False)

            rows.append((name, passages, *_timed(questions, ask)))
    return aligned(("pipeline", "passages", "p50 ms", "p95 ms", "resident MB"), rows)


def _timed(questions: Sequence[str], ask: Callable[[str], object]) -> tuple[float, float, float]:
    ask(questions[0])
    times = []
    for question in questions:
        with clock() as one:
            ask(question)
        times.append(one.seconds * 1000)
    return quantile(times, 0.5), quantile(times, 0.95), resident_megabytes()
