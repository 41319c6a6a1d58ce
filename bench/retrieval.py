"""Benchmark of search in libraries of any size: the dense leg against exact search, stock pgvector and Chroma at five
selectivities; the whole search with one and many users; disk and memory."""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

from bench.library import SELECTIVITIES, Stock, load, made_documents
from bench.measured import Headline, Report, clock, quantile
from bench.retrieval_ours import WANTED, Ours, measure_ours
from bench.retrieval_peers import TOP, Answers, Exact, Peer, StoredVectors, measure_chroma, measure_hnsw
from bootstrap.environment import Settings
from bootstrap.scratch_library import files_of, fill, scratch_library
from bootstrap.workbench import open_workbench, settings_from_environment
from core.formats.terminal import aligned

__all__ = ["PEER_SECONDS", "SIZES", "run"]

SIZES = (10_000, 100_000)
_QUESTIONS, _ASKED = 120, 60  # of a whole search, and of the dense leg alone. Chosen by hand.
PEER_SECONDS = 900.0  # until a peer's index is given up; 0: no peer, nor our own exact index. Chosen by hand.
_FOOT = f"""\
Passages are sentences of the files put together anew, two made words in each; their vectors are the means of their
sentences' vectors and noise, so that they lie in clusters as those of real text do. Questions are words of passages,
embedded by the product's own model. A selectivity is the share of the passages a filter admits, anywhere in the
library. Of our own two indexes {WANTED} passages are wanted, as a search wants, of the others {TOP}; recall is that of
the best {TOP}. × is how many times as long as the first way. The legs' times are medians within the search, where they
run side by side."""

T = TypeVar("T")
_NO_PEER = Peer({}, 0.0, 0.0, "not asked for")


def run(files: Sequence[Path], *, sizes: Sequence[int] = SIZES, peer_seconds: float = PEER_SECONDS) -> Report:
    """Tables for each size, made one after the other."""
    with scratch_library(settings_from_environment()) as library:
        fill(library.workbench, files_of(files))
        stock = Stock.of(library)
    _report_progress(f"{len(stock.passages)} passages and {len(stock.texts)} sentences of real text")
    reports = [_measured(stock, size, peer_seconds) for size in sizes]
    headlines = [headline for each in reports for headline in each.headlines]
    return Report(headlines, "\n\n".join((*(each.details for each in reports), _FOOT)))


def _report_progress(words: str) -> None:
    """Of what goes on: a large library takes long."""
    print(words, file=sys.stderr, flush=True)


@contextmanager
def _folder() -> Iterator[Settings]:
    """A data folder of its own; converted models are shared."""
    settings = settings_from_environment()
    with tempfile.TemporaryDirectory(prefix="fivefold-", ignore_cleanup_errors=True) as name:
        alone = replace(settings, data_folder=Path(name), database_url="", vector_index="pgvector", worker=False)
        (Path(name) / "models").symlink_to((settings.data_folder / "models").resolve(), target_is_directory=True)
        yield alone


def _measured(stock: Stock, passages: int, peer_seconds: float) -> Report:
    load_before = os.getloadavg()[0]
    with _folder() as settings:
        stored = StoredVectors(settings.data_folder, passages, stock.vectors.shape[1])
        with closing(open_workbench(settings)) as library:
            with clock() as making:
                load(library, stock, made_documents(stock, passages), stored.note)
            questions = stored.questions(_QUESTIONS)
            vectors = library.embedder.embed(questions[:_ASKED])
            database = library.database
            words = len(library.stores.words.all().stems)
            _report_progress(f"{passages} passages made and stored in {making.seconds:.0f} s")
            ours = _apart(measure_ours, settings, questions, vectors, exact=peer_seconds > 0)
            _report_progress("our own search is measured")
            hnsw = measure_hnsw(database, vectors, peer_seconds) if peer_seconds > 0 else _NO_PEER
            _report_progress(f"pgvector HNSW is measured {hnsw.not_run}")
        chroma = (
            _apart(measure_chroma, settings.data_folder / "chroma", stored.files, vectors, peer_seconds)
            if peer_seconds > 0
            else _NO_PEER
        )
        _report_progress(f"Chroma is measured {chroma.not_run}")
        dense = _dense_table(Exact(stored, vectors), ours, hnsw, chroma)
    head = (
        f"{passages} passages, {words} words; load of the machine's {os.cpu_count()} processors"
        f" {load_before:.1f} before and {os.getloadavg()[0]:.1f} after; made and stored in {making.seconds:.0f} s"
    )
    return Report(
        list(_headlines(passages, ours, hnsw, chroma)), "\n\n".join((head, dense, *_tables(ours, hnsw, chroma)))
    )


def _headlines(passages: int, ours: Ours, hnsw: Peer, chroma: Peer) -> Iterator[Headline]:
    """The whole search at each selectivity, many searchers, and the best passages by meaning beside the peers'."""
    size = f"{passages} passages"
    for filtered, _, p50, p95, *_ in ours.search:
        yield Headline(f"search {size}, filter admits {filtered}, p50", "ms", float(str(p50)))
        yield Headline(f"search {size}, filter admits {filtered}, p95", "ms", float(str(p95)))
    for filtered, searchers, pace, *_ in ours.searchers:
        what = f"{searchers} searchers side by side, {size}, filter admits {filtered}"
        yield Headline(what, "searches/s", float(str(pace)), more=True)
    (mirror, *_) = ours.dense.values()
    for peer in (hnsw, chroma):
        for way, answers in peer.dense.items():
            for share in (1.0, SELECTIVITIES[-1]):
                own, theirs = (quantile(each[share].milliseconds, 0.5) for each in (mirror, answers))
                yield Headline(f"best by meaning of {size}, filter admits {share:.1%}, p50", "ms", own, way, theirs)


def _apart(work: Callable[..., T], *arguments: Any, **named: Any) -> T:
    """In a process of its own, which starts with nothing in memory."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        return processes.submit(work, *arguments, **named).result()


def _dense_table(exact: Exact, ours: Ours, hnsw: Peer, chroma: Peer) -> str:
    first = next(iter(ours.dense.values()))
    ways: dict[str, dict[float, Answers]] = ours.dense | hnsw.dense | chroma.dense
    rows: list[tuple[object, ...]] = []
    for share in SELECTIVITIES:
        quickest, admitted = quantile(first[share].milliseconds, 0.5), int(exact.admitted(share).sum())
        for way, of_share in ways.items():
            taken, recall = of_share[share].milliseconds, exact.recall(of_share[share], share)
            p50 = quantile(taken, 0.5)
            rows.append((f"{share:.1%}", admitted, way, p50, quantile(taken, 0.95), recall, p50 / quickest))
    table = aligned(("selectivity", "admissible", "dense leg", "p50 ms", "p95 ms", f"recall@{TOP}", "×"), rows)
    peers = (("pgvector HNSW", hnsw), ("Chroma's query", chroma))
    return "\n".join((table, *(f"{name}: not run, {peer.not_run}" for name, peer in peers if peer.not_run)))


def _tables(ours: Ours, hnsw: Peer, chroma: Peer) -> Iterator[str]:
    searched = ("search, filter", "questions", "p50 ms", "p95 ms", "dense leg ms", "sparse leg ms")
    yield aligned(searched, ours.search)
    yield aligned(("searchers, filter", "side by side", "searches/s", "p50 ms", "p95 ms", "failed"), ours.searchers)
    yield aligned(("part", "filter", "admissible", "p50 ms", "p95 ms"), ours.parts)
    sizes = list(ours.sizes)
    for name, peer in (("pgvector HNSW", hnsw), ("Chroma", chroma)):
        if not peer.not_run:
            where = "resident" if peer is chroma else "on disk"
            sizes += [(f"{name}, made", peer.seconds, "s"), (f"{name}, {where}", peer.megabytes, "MB")]
    yield aligned(("size and time", "", "unit"), sizes)
