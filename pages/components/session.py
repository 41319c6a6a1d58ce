"""The library of this process, and the state of a browser session. No other page module opens it."""

import atexit
import gc
import logging
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

import streamlit as st

import sample
from core.domain.errors import AccessDenied, FivefoldError, NotSignedIn
from core.domain.filters import SearchFilters
from core.domain.five_truths import FiveTruthsAnswer, TruthState
from core.domain.people import Door, Principal, Role
from core.domain.queries import SearchRequest
from core.domain.results import SearchResult
from core.knowledge.workspace_terms import WorkspaceTerms
from core.workbench import Workbench
from pages.components import sign_in

if TYPE_CHECKING:
    from bootstrap.workbench import OpenWorkbench

__all__ = [
    "Health",
    "answer",
    "cached",
    "close",
    "count_once",
    "filters_in_words",
    "forget_answers",
    "fresh_seconds",
    "health",
    "is_administrator",
    "library",
    "open_early",
    "own",
    "principal",
    "ready",
    "sample_loaded",
    "start_warming",
    "terms",
    "workbench",
]

_Result = TypeVar("_Result")

_log = logging.getLogger(__name__)
_FRESH_SECONDS = 120.0  # how long an answer is reused: the library may change under it
_MOST_OWN = 512  # what is kept for people, by kind and person; the oldest goes first
_WEAK_SECONDS = 3.0  # how long a degraded answer is reused: what was missing may be there soon


@dataclass(slots=True)
class _Process:
    """What lives as long as this process: the open library, and whether it is warm."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    library: "OpenWorkbench | None" = None
    closing: ExitStack = field(default_factory=ExitStack)
    warming: bool = False
    warming_requested: bool = False
    warm: bool = False


@st.cache_resource(show_spinner=False)
def _process() -> _Process:
    atexit.register(close)
    return _Process()


def library() -> "OpenWorkbench":
    """The library, opened once per process. Raises StoreFailed when its database does not start."""
    process = _process()
    with process.lock:
        if process.library is None:
            from bootstrap.workbench import ProcessRole, open_workbench, settings_from_environment

            process.library = open_workbench(settings_from_environment(), ProcessRole.APP)
            process.closing.callback(process.library.close)
        return process.library


def principal() -> Principal:
    """Who uses this session. Raises NotSignedIn, AccessDenied for somebody without a role, StoreFailed."""
    return sign_in.principal(library)


def own(kind: type[_Result]) -> _Result:
    """What this process keeps for the person of this session: one object per kind, login and visible projects, so that
    nobody is shown what another one found. Raises as `principal`."""
    person = principal()
    return cast(_Result, _own(f"{kind.__module__}.{kind.__qualname__}", person.login, person.projects, kind))


@st.cache_resource(show_spinner=False, max_entries=_MOST_OWN)
def _own(name: str, login: str, projects: tuple[str, ...] | None, _kind: Callable[[], object]) -> object:
    return _kind()


def workbench() -> Workbench:
    """The library as the person of this session sees it.

    Raises NotSignedIn, AccessDenied, and StoreFailed when its database does not start.
    """
    return library().for_principal(principal())


def terms() -> WorkspaceTerms:
    """The workspace's terms, for whatever shows titles; read where a page or a callback begins, then passed on.

    Raises StoreFailed.
    """
    return workbench().vocabulary.terms()


def open_early() -> None:
    """Open the library in the background; the first page that needs it shows any error."""

    def opened() -> None:
        with suppress(FivefoldError):
            library()

    threading.Thread(target=opened, name="open library", daemon=True).start()


def close() -> None:
    """Close the library, and with it the embedded database."""
    process = _process()
    with process.lock:
        process.closing.close()
        process.library = None


def start_warming() -> None:
    """Load models and indexes in the background, once; called after a page has been drawn.

    Python's garbage collector then skips what is loaded for good.
    """
    process = _process()
    with process.lock:
        if process.warming_requested or process.library is None:
            return
        process.warming_requested = process.warming = True
        threading.Thread(
            target=_warm, args=(process, process.library.workbench), name="warm models", daemon=True
        ).start()


def _warm(process: _Process, bench: Workbench) -> None:
    try:
        with suppress(FivefoldError):  # the search itself reports it
            bench.search.warm()
            process.warm = True
    finally:
        process.warming = False
        gc.collect()
        gc.freeze()


def ready() -> bool:
    """Whether the models are loaded; if loading failed, the search itself reports it."""
    process = _process()
    return process.warming_requested and not process.warming


def filters_in_words(filters: SearchFilters) -> tuple[str, ...]:
    """What the filters let through, one phrase per filter; documents by name."""
    named = (*filters.documents, *filters.exclude_documents)
    return filters.in_words({each.id: each.name for each in workbench().document_list.by_id(named)} if named else {})


def sample_loaded() -> bool:
    """Whether the library holds the sample documents, so that their questions and topics mean something."""
    documents = workbench().documents

    def loaded() -> bool:
        names = set(documents.names().values())
        return all(path.name in names for path in sample.files())

    return count_once("sample", documents.count(), loaded)


@dataclass(frozen=True, slots=True)
class Health:
    """Whether the library answers, and how fast. What is wrong is in the log: paths and hosts are not for everyone."""

    ok: bool
    models: str
    milliseconds: float
    documents: int = 0
    waiting_jobs: int = 0
    problem: str = ""

    def as_data(self) -> Mapping[str, Any]:
        """The body of /healthz."""
        return {
            "status": "ok" if self.ok else "failed",
            "models": self.models,
            "documents": self.documents,
            "waiting_jobs": self.waiting_jobs,
            "milliseconds": round(self.milliseconds, 1),
            "problem": self.problem,
        }


def health() -> Health:
    """Query the database for its counts and measure the time."""
    started = time.perf_counter()
    process = _process()
    models = "warm" if process.warm else ("loading" if process.warming else "cold")
    try:
        documents = library().workbench.documents
        stored, waiting = documents.count(), documents.waiting_jobs()
    except FivefoldError as problem:
        _log.warning("The library does not answer: %s", problem)
        reason = "The library does not answer. The log of the app says why."
        return Health(False, models, 1000 * (time.perf_counter() - started), problem=reason)
    spent = 1000 * (time.perf_counter() - started)
    return Health(True, models, spent, stored, waiting)


def is_administrator(token: str) -> bool:
    """Whether an API token belongs to an administrator of every project. Raises StoreFailed."""
    try:
        return library().workbench.tokens.verify(token, Door.REST).role_in(None) is Role.ADMINISTRATOR
    except (NotSignedIn, AccessDenied):
        return False


def answer(request: SearchRequest, *, fresh: bool = False) -> SearchResult:
    """The answer to a request; the latest ones of this session are cached."""
    cache: dict[SearchRequest, tuple[float, SearchResult]] = st.session_state.setdefault("answers", {})
    now = time.monotonic()
    for old in [key for key, (at, known) in cache.items() if now - at > fresh_seconds(known)]:
        del cache[old]
    if fresh or request not in cache:
        cache[request] = (now, workbench().search.run(request))
    return cache[request][1]


def fresh_seconds(known: SearchResult | FiveTruthsAnswer) -> float:
    """How long an answer is reused; one that a failed search or a reranker still being loaded made is asked again
    soon."""
    if isinstance(known, FiveTruthsAnswer):
        weak = any(each.state is TruthState.FAILED for each in known.truths)
    else:
        weak = any(leg.error for leg in known.legs) or bool(known.request.rerank and not known.reranked)
    return _WEAK_SECONDS if weak else _FRESH_SECONDS


def cached(store: str, name: str, mark: Hashable, work: Callable[[], _Result]) -> _Result:
    """A result kept in the session under a name, computed again when the mark changes. store: the session key."""
    results: dict[str, tuple[Hashable, Any]] = st.session_state.setdefault(store, {})
    if name not in results or results[name][0] != mark:
        results[name] = (mark, work())
    result: _Result = results[name][1]
    return result


def count_once(name: str, mark: Hashable, work: Callable[[], _Result]) -> _Result:
    """Counts of the library for this mark, cached as long as an answer is, and forgotten with the answers."""
    cache: dict[object, tuple[float, Any]] = st.session_state.setdefault("answers.counts", {})
    now, key = time.monotonic(), (name, mark)
    for old in [each for each, (at, _) in cache.items() if now - at > _FRESH_SECONDS]:
        del cache[old]
    if key not in cache:
        cache[key] = (now, work())
    result: _Result = cache[key][1]
    return result


def forget_answers() -> None:
    """Drop cached answers after a change of the library."""
    st.session_state.pop("answers", None)
    st.session_state.pop("answers.counts", None)
