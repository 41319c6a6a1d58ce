"""Our search of a generated library, measured in a separate process so that its memory can be attributed."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from time import monotonic, sleep

from bench.library import SELECTIVITIES, jurisdictions_of
from bench.measured import clock, quantile, resident_megabytes
from bench.retrieval_peers import Answers, answered
from bootstrap.environment import Settings
from bootstrap.workbench import OpenWorkbench, open_workbench
from core.domain.errors import FivefoldError
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.ports.stores import VectorIndex, Vectors
from core.search.query.route import question_terms
from core.search.retrieval.retriever import OVERSAMPLED
from core.workbench import Workbench
from storage.vectors.cache.cache import VectorCache
from storage.vectors.pgvector import CachedVectorIndex

__all__ = ["WANTED", "Ours", "measure_ours", "narrowed"]

WANTED = OVERSAMPLED
"""Passages a search requests from each leg."""

_SEARCHERS = (1, 8, 32)
_SECONDS = 10.0  # of searching side by side
_NARROW = 0.1
_PATIENCE_SECONDS = 120.0
_UPLOAD = "latest.md"
_WORD = "quibblefrotz"
_TEXT = f"# A late notice\n\nEvery {_WORD} must be reported to the payroll office within three days of its end.\n"


@dataclass(frozen=True, slots=True)
class Ours:
    """dense: way → share → answers. Rows of tables: search, searchers, parts, sizes."""

    dense: dict[str, dict[float, Answers]]
    search: list[tuple[object, ...]]
    searchers: list[tuple[object, ...]]
    parts: list[tuple[object, ...]]
    sizes: list[tuple[str, float, str]]


def narrowed(share: float) -> SearchFilters:
    """The filter that admits a share of the passages."""
    return SearchFilters(jurisdictions=jurisdictions_of(share))


def measure_ours(settings: Settings, questions: Sequence[str], vectors: Vectors, *, exact: bool = True) -> Ours:
    """Everything of one library; the first questions are those of the vectors, shape (n, dim). exact: also ask the
    database itself for the nearest passages, which takes seconds a question in a large library."""
    with closing(open_workbench(settings)) as library:
        workbench = library.workbench
        index, sizes = library.stores.vectors, []
        assert isinstance(index, CachedVectorIndex)
        mirror: VectorCache = index._cache
        with clock() as taken:
            mirror.open()
        sizes.append(("mirror, made", taken.seconds, "s"))
        with clock() as taken:
            library.stores.sparse.count()
        sizes.append(("keyword files, made", taken.seconds, "s"))
        sizes += [(f"{what}, on disk", megabytes, "MB") for what, megabytes in _on_disk(library, settings).items()]
        workbench.search.warm()
        sizes.append(("resident, warm", resident_megabytes(), "MB"))
        search = [_searched(workbench, questions, share) for share in SELECTIVITIES]
        sizes.append(("resident, after searching", resident_megabytes(), "MB"))
        sizes.append(("of it pages of files", _mapped_megabytes(), "MB"))
        dense = {"fivefold, mirror": _dense(index, vectors)}
        if exact:
            dense["fivefold, exact in pgvector"] = _dense(index._index, vectors)
        parts = _parts(library, questions[: len(vectors)])
        searchers = [
            _side_by_side(workbench, questions, share, number) for share in (1.0, _NARROW) for number in _SEARCHERS
        ]
        sizes.append((f"resident, after {_SEARCHERS[-1]} searchers", resident_megabytes(), "MB"))
        sizes.append(("new upload found, after its job's end", _seconds_to_find(workbench, settings), "s"))
    return Ours(dense, search, searchers, parts, sizes)


def _on_disk(library: OpenWorkbench, settings: Settings) -> dict[str, float]:
    ((database,),) = library.database.read("measuring", "SELECT pg_database_size(current_database())", {})
    folders = {"mirror": settings.data_folder / "mirror", "keyword files": settings.data_folder / "bm25"}
    sizes = {
        name: sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        for name, folder in folders.items()
    }
    return {name: size / 1e6 for name, size in {"database": database, **sizes}.items()}


def _mapped_megabytes() -> float:
    import psutil

    return float(psutil.Process().memory_info().shared) / 1e6


def _dense(index: VectorIndex, vectors: Vectors) -> dict[float, Answers]:
    def ask(filters: SearchFilters, vector: object) -> list[int]:
        return [hit.passage_id for hit in index.search(vector, filters, WANTED).hits]  # type: ignore[arg-type]

    return {share: answered(vectors, partial(ask, narrowed(share))) for share in SELECTIVITIES}


def _searched(workbench: Workbench, questions: Sequence[str], share: float) -> tuple[object, ...]:
    """One searcher, each question once: the whole search, and its legs as it tells of them."""
    taken, legs = [], {"dense": [0.0], "sparse": [0.0]}
    for question in (questions[-1], *questions):
        with clock() as one:
            result = workbench.search.run(SearchRequest(question, narrowed(share)), remember=False)
        taken.append(1000 * one.seconds)
        for leg in result.legs:
            legs.setdefault(leg.leg, []).append(leg.milliseconds)
    own = [quantile(legs[name][2:], 0.5) for name in ("dense", "sparse")]
    return f"{share:.1%}", len(questions), quantile(taken[1:], 0.5), quantile(taken[1:], 0.95), *own


def _parts(library: OpenWorkbench, questions: Sequence[str]) -> list[tuple[object, ...]]:
    """The sparse leg alone, and the filter it needs."""
    catalogue, sparse, terms = (
        library.stores.catalogue,
        library.stores.sparse,
        [question_terms(each) for each in questions],
    )
    rows: list[tuple[object, ...]] = []
    for share in SELECTIVITIES:
        filters, admissible = narrowed(share), catalogue.admissible(narrowed(share))
        measured: tuple[tuple[str, Sequence[Callable[[], object]]], ...] = (
            ("admissible ids", [partial(catalogue.admissible, filters)] * len(terms)),
            ("sparse leg", [partial(sparse.search, each, admissible, WANTED) for each in terms]),
        )
        for name, calls in measured:
            taken = []
            for call in (calls[-1], *calls):
                with clock() as one:
                    call()
                taken.append(1000 * one.seconds)
            rows.append((name, f"{share:.1%}", len(admissible), quantile(taken[1:], 0.5), quantile(taken[1:], 0.95)))
    return sorted(rows, key=lambda row: str(row[0]))


def _side_by_side(workbench: Workbench, questions: Sequence[str], share: float, searchers: int) -> tuple[object, ...]:
    """Searchers that ask one question after the other for some seconds, each a thread."""
    until, taken = monotonic() + _SECONDS, list[float]()

    def ask(number: int) -> int:
        """How many searches failed, wholly or in part."""
        failed, turn = 0, number * len(questions) // searchers
        while monotonic() < until:
            request = SearchRequest(questions[turn % len(questions)], narrowed(share))
            with clock() as one:
                try:
                    failed += any(leg.error for leg in workbench.search.run(request, remember=False).legs)
                except FivefoldError:
                    failed += 1
            taken.append(1000 * one.seconds)
            turn += 1
        return failed

    with clock() as all_of_them, ThreadPoolExecutor(searchers) as threads:
        failed = sum(threads.map(ask, range(searchers)))
    pace = len(taken) / all_of_them.seconds
    return f"{share:.1%}", searchers, pace, quantile(taken, 0.5), quantile(taken, 0.95), failed


def _seconds_to_find(workbench: Workbench, settings: Settings) -> float:
    """Another process ingests a document, while this one looks for its word until it finds it."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        ended: Future[float] = processes.submit(_ingested, settings)
        deadline = monotonic() + _PATIENCE_SECONDS
        while monotonic() < deadline:
            result = workbench.search.run(SearchRequest(_WORD), remember=False)
            if any(candidate.passage.document_name == _UPLOAD for candidate in result.candidates):
                return max(0.0, monotonic() - ended.result())
            sleep(0.02)
    return float("nan")


def _ingested(settings: Settings) -> float:
    """When the job had ended, by a clock that all processes of a machine share."""
    with open_workbench(replace(settings, worker=False)) as workbench:
        workbench.ingestion.ingest(workbench.documents.upload(_UPLOAD, _TEXT.encode()).document_id)
        return monotonic()
