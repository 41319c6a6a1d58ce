"""Opens a library: builds the stores, models and services from the settings."""
# Longer than 300 lines: what is opened and closed together is read together, in order of dependency.

import atexit
import logging
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from time import monotonic, perf_counter
from types import TracebackType
from typing import TYPE_CHECKING

from adapters.garbage_collector import collect_less_often
from adapters.inference.embedder import LazyEmbedder, LoadedModels
from adapters.native_heap import limit_free_memory, return_free_memory
from bootstrap.access import ScopedWorkbenches, sign_in_rules
from bootstrap.environment import (
    Settings,
    database_url,
    migration_database_url,
    original_files,
    session_database_url,
    settings_from_environment,
    utc_now,
)
from bootstrap.external_services import language_model, mailer, webhook
from bootstrap.search_processes import ScopedSearches, SearchProcessPool
from bootstrap.worker_process import WorkerProcess
from core.domain.errors import BadRequest
from core.domain.people import Door, Principal
from core.insights.indexer import InsightIndexer
from core.library.saved_searches import SavedSearchService
from core.ports.models import CrossEncoder
from core.ports.own_changes import OwnChanges
from core.ports.stores import Embedder, VectorIndex
from core.search.ranking.rerank import DeadlineReranker, rerankers
from core.workbench import Workbench

if TYPE_CHECKING:
    from sqlalchemy import Engine
    from sqlalchemy.engine import URL

    from bootstrap.assembly import Stores
    from storage.embedded_postgres.server import EmbeddedServer
    from storage.files import OriginalFiles
    from storage.jobs.queue import PostgresJobQueue
    from storage.keywords.index import KeywordIndex
    from storage.postgres.database import Database, Scope
    from storage.postgres.embedding_models import SqlEmbeddingModelStore
    from storage.vectors.cache.cache import VectorCache
    from storage.vectors.chroma import ChromaIndex

__all__ = [
    "OpenWorkbench",
    "ProcessRole",
    "configured_rerankers",
    "open_workbench",
    "run_worker",
    "settings_from_environment",
]

_log = logging.getLogger(__name__)
_CHECK_SECONDS, _FREE_SECONDS = 3600.0, 300.0  # chosen by hand
_TENANT = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


class ProcessRole(StrEnum):
    """What a process is for."""

    COMMAND = "command"
    """Jobs, where the settings ask for them, run in threads of this process."""
    APP = "app"
    """Jobs, and searches where the settings ask for it, run in processes of their own."""
    SEARCH = "search"
    """Nothing that another process may change is remembered from one search to the next, but for what takes longest."""


class OpenWorkbench:
    """A workbench with its worker, connections and embedded server. A context manager."""

    def __init__(
        self,
        workbench: Workbench,
        stores: "Stores",
        embedder: Embedder,
        database: "Database",
        people: ScopedWorkbenches,
        own: OwnChanges,
        resources: ExitStack,
    ) -> None:
        self.workbench, self.stores, self.embedder, self.database = workbench, stores, embedder, database
        self.own, self._people, self._resources = own, people, resources
        atexit.register(self.close)

    def for_principal(self, principal: Principal) -> Workbench:
        """The workbench as one person sees it: narrowed to their projects, with every call checked and recorded.

        `workbench` itself checks nothing; it is for jobs and for commands of whoever owns the machine."""
        return self._people.of(principal)

    def of_scope(self, scope: "Scope") -> Workbench:
        """The workbench of whoever sees this much. Like `workbench`, it checks nothing."""
        return self._people.of_scope(scope)

    def close(self) -> None:
        """Close everything, last opened first. Safe to call again."""
        atexit.unregister(self.close)
        self._resources.close()

    def __enter__(self) -> Workbench:
        return self.workbench

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_workbench(settings: Settings, role: ProcessRole = ProcessRole.COMMAND) -> OpenWorkbench:
    """Build and start everything; models are not loaded yet. Raises StoreFailed, BadRequest."""
    _check(settings)
    _end_on_terminate()
    limit_free_memory()
    collect_less_often()
    with ExitStack() as building:
        return _built(settings, role, building)


def _check(settings: Settings) -> None:
    if not _TENANT.fullmatch(settings.tenant):
        raise BadRequest(
            f"'{settings.tenant}' cannot name a tenant.", "Use small letters, digits, '-' and '_', at most 63 of them."
        )
    if settings.vector_index not in ("pgvector", "chroma"):
        raise BadRequest(
            f"There is no vector index '{settings.vector_index}'.", "Set FIVEFOLD_VECTOR_INDEX to pgvector or chroma."
        )


# Long: everything is opened here in order of dependency, and closed in reverse.
def _built(settings: Settings, role: ProcessRole, resources: ExitStack) -> OpenWorkbench:
    from adapters.folder_scanner import LocalFolderScanner
    from adapters.http_fetch import HttpFetcher
    from adapters.sandboxed_reader import SandboxedReader
    from bootstrap.assembly import Outside, assemble
    from bootstrap.workbench import configured_rerankers
    from storage.postgres.database import Database, Scope, engine_for, psycopg_url
    from storage.postgres.locator import SqlLocator
    from storage.postgres.logins import bypassing_login
    from storage.scratch_folders import remove_abandoned, scratch_folder
    from storage.vectors.cache.quantized_vectors import rough_cosines

    remove_abandoned()
    worker = WorkerProcess(settings) if role is ProcessRole.APP and settings.worker else None
    writer = language_model(settings)
    server = None if settings.database_url else _embedded_server(settings, resources)
    pooler_passed = session_database_url(settings)
    engine = engine_for(
        server.login_url() if server is not None else database_url(settings), pooled=bool(pooler_passed)
    )
    resources.callback(engine.dispose)
    if role is not ProcessRole.SEARCH:  # the app has
        _prepare(engine, server.url() if server is not None else migration_database_url(settings), settings.tenant)
    threads = 1 if role is ProcessRole.SEARCH else _threads()
    models = LoadedModels(lambda model: _embedder(settings, model, threads))
    reader = SandboxedReader(settings.file_seconds, settings.file_megabytes, scratch_folder)
    resources.callback(reader.close)
    database = Database(engine, settings.tenant, session=psycopg_url(pooler_passed) if pooler_passed else None)

    def searches_of(login: str, name: str) -> SavedSearchService:
        return people.of(workbench.people.acting(login, Door.COMMAND, name)).saved_searches

    shared = _shared(settings, role, database, models, resources)
    pool = SearchProcessPool(settings, shared.own) if role is ProcessRole.APP and settings.search_processes else None
    outside = Outside(
        embedder=shared.embedder,
        models=models,
        reader=reader,
        scanner=LocalFolderScanner(),
        web=HttpFetcher(private=settings.web_private),
        now=utc_now,
        timer=perf_counter,
        monotonic=monotonic,
        step_seconds=settings.file_seconds,
        remembers=role is not ProcessRole.SEARCH,
        own=shared.own,
        processes=None if pool is None else ScopedSearches(pool, database.scope),
        rough_cosines=rough_cosines,
        rerankers=configured_rerankers(settings, threads),
        writer=writer,
        configured=settings.embedding_model,
        sign_in_rules=sign_in_rules(settings),
        searches_of=searches_of,
        mailer=mailer(settings),
        webhook=webhook(settings),
        site=f"{settings.public_url.rstrip('/')}/" if settings.public_url else "",
        mail_pace=timedelta(minutes=settings.mail_minutes),
        trash_days=settings.trash_days,
        login_notice=_to_message(bypassing_login(engine)),
        process_notice=lambda: next(filter(None, (each.notice() for each in (server, worker, pool) if each)), ""),
        watch_roots=[Path(each).expanduser() for each in settings.watch_folders.split(os.pathsep) if each.strip()],
    )
    stores = _stores(shared, database)
    workbench = assemble(stores, outside)
    resources.callback(workbench.usage.close)
    indexes = (stores.catalogue, stores.vectors, stores.sparse)
    indexer = InsightIndexer(stores.insights, *indexes, shared.embedder, workbench.models.stored)

    def scoped(scope: Scope) -> tuple[Workbench, ExitStack]:
        theirs = replace(outside, processes=None if pool is None else ScopedSearches(pool, scope), indexer=indexer)
        narrowed, closing = assemble(_stores(shared, replace(database, scope=scope)), theirs), ExitStack()
        closing.callback(narrowed.usage.close)
        return narrowed, closing

    people = ScopedWorkbenches(workbench, scoped, lambda scope: SqlLocator(replace(database, scope=scope)))
    resources.callback(people.close)
    if worker is not None:
        resources.callback(worker.stop)
        worker.start()
    elif settings.worker:
        _start_workers(database.session_url, settings, workbench, resources)
    if pool is not None:
        resources.callback(pool.stop)
        pool.start()
    if role is not ProcessRole.SEARCH:
        # Another machine may delete documents, which the keyword files of this one still contain.
        _repeat(_CHECK_SECONDS, "hourly check", workbench.check.refresh, resources)
    _repeat(_FREE_SECONDS, "free memory", return_free_memory, resources)
    return OpenWorkbench(workbench, stores, shared.embedder, database, people, shared.own, resources.pop_all())


def _repeat(seconds: float, name: str, work: Callable[[], object], resources: ExitStack) -> None:
    """Do it every so many seconds in a thread of this name, until the resources are closed."""
    closed = threading.Event()
    resources.callback(closed.set)

    def run() -> None:
        while not closed.wait(seconds):
            work()

    threading.Thread(target=run, name=name, daemon=True).start()


def _prepare(engine: "Engine", owner_url: str, tenant: str) -> None:
    """Bring the tables up to date, with the owner's login where there is one, and give the pool's login its rights."""
    from storage.migrations import head, migrate
    from storage.postgres.database import engine_for
    from storage.postgres.logins import is_prepared, prepare_login

    if owner_url:
        owner = engine_for(owner_url)
        try:
            migrate(owner)
            prepare_login(owner, engine, tenant)
        finally:
            owner.dispose()
    elif not is_prepared(engine, head()):
        migrate(engine)


def _to_message(notice: str) -> str:
    if notice:
        _log.warning("%s", notice)
    return notice


@dataclass(frozen=True, slots=True)
class _Shared:
    """What all people of a library share: models, indexes, files and the job queue. index: of the vectors; cache: None
    with Chroma."""

    models: LoadedModels
    choice: "SqlEmbeddingModelStore"
    embedder: LazyEmbedder
    chroma: "ChromaIndex | None"
    cache: "VectorCache"
    sparse: "KeywordIndex"
    originals: "OriginalFiles"
    jobs: "PostgresJobQueue"
    own: OwnChanges

    @property
    def embedded_by(self) -> Callable[[], str] | None:
        """The model whose vectors the catalogue stores with the passages; None where Chroma stores them."""
        return (lambda: self.embedder.name) if self.chroma is None else None


def _shared(
    settings: Settings, role: ProcessRole, database: "Database", models: LoadedModels, resources: ExitStack
) -> _Shared:
    from bootstrap.chroma import chroma_index
    from storage.jobs.queue import PostgresJobQueue
    from storage.keywords.index import KeywordIndex
    from storage.last_look import LastLook
    from storage.postgres.catalogue import SqlCatalogue
    from storage.postgres.embedding_models import SqlEmbeddingModelStore
    from storage.vectors.cache.cache import MOMENT_SECONDS, VectorCache

    chroma = None
    if settings.vector_index == "chroma":
        started = role is ProcessRole.APP
        chroma = chroma_index(settings, lambda: embedder.name, lambda: choice.prepared(), resources, started=started)
    choice = SqlEmbeddingModelStore(database, models.reference(settings.embedding_model), chroma)
    embedder = LazyEmbedder(choice, models)
    model = (lambda: embedder.name) if chroma is None else None
    own, data = OwnChanges(), settings.data_folder
    cache = VectorCache(database, model or "", data / "mirror" / settings.tenant, LastLook(MOMENT_SECONDS, own.library))
    resources.callback(cache.close)
    catalogue = SqlCatalogue(database, model, cache)
    catalogue.register()
    choice.register()
    return _Shared(
        models=models,
        choice=choice,
        embedder=embedder,
        chroma=chroma,
        cache=cache,
        sparse=KeywordIndex(data / "bm25" / settings.tenant, catalogue, LastLook(MOMENT_SECONDS, own.library)),
        originals=original_files(settings),
        jobs=PostgresJobQueue(database.engine, settings.tenant),
        own=own,
    )


# One line per store.
def _stores(shared: _Shared, database: "Database") -> "Stores":
    """The stores as the scope of `database` sees them."""
    from bootstrap.assembly import Stores
    from storage.datasets.store import SqlTableStore
    from storage.postgres.access import SqlAuditLog, SqlPeopleStore, SqlTokenStore
    from storage.postgres.active_learning import SqlActiveLearningStore
    from storage.postgres.catalogue import SqlCatalogue
    from storage.postgres.changes import SqlChangeLog
    from storage.postgres.comments import SqlAssignmentStore, SqlCommentStore
    from storage.postgres.coverage_boards import SqlCoverageBoardStore
    from storage.postgres.enrichments import SqlEnrichmentStore
    from storage.postgres.entities import SqlEntityGraph
    from storage.postgres.evaluation import SqlEvaluationStore
    from storage.postgres.idempotency import SqlIdempotencyStore
    from storage.postgres.insights import SqlInsightStore
    from storage.postgres.meetings import SqlMeetingStore
    from storage.postgres.notifications import SqlNotificationStore
    from storage.postgres.saved_searches import SqlSavedSearchAlertStore, SqlSavedSearchStore
    from storage.postgres.shortlists import SqlShortlistStore
    from storage.postgres.sources import SqlFeedStore, SqlFolderStore
    from storage.postgres.trash import SqlTrash
    from storage.postgres.upload_queue import SqlUploadQueueStore
    from storage.postgres.usage import SqlUsageLog
    from storage.postgres.versions import SqlSignatureStore
    from storage.postgres.vocabularies import SqlVocabularyStore
    from storage.postgres.word_vectors import SqlWordVectorStore
    from storage.scoped import ScopedSparseIndex, ScopedVectorIndex
    from storage.vectors.pgvector import CachedVectorIndex, PgvectorIndex

    catalogue, projects = SqlCatalogue(database, shared.embedded_by, shared.cache), database.scope.projects
    vectors: VectorIndex = shared.chroma or CachedVectorIndex(
        PgvectorIndex(database, lambda: shared.embedder.name), shared.cache
    )
    return Stores(
        catalogue=catalogue,
        vectors=vectors if projects is None else ScopedVectorIndex(vectors, projects, catalogue),
        sparse=shared.sparse if projects is None else ScopedSparseIndex(shared.sparse, catalogue),
        originals=shared.originals,
        jobs=shared.jobs,
        graph=SqlEntityGraph(database),
        words=SqlWordVectorStore(database, lambda: shared.embedder.name),
        tables=SqlTableStore(database),
        coverage=SqlCoverageBoardStore(database),
        meetings=SqlMeetingStore(database),
        evaluation=SqlEvaluationStore(database),
        insights=SqlInsightStore(database),
        usage=SqlUsageLog(database),
        saved_searches=SqlSavedSearchStore(database),
        alerts=SqlSavedSearchAlertStore(database),
        shortlists=SqlShortlistStore(database),
        comments=SqlCommentStore(database),
        assignments=SqlAssignmentStore(database),
        notifications=SqlNotificationStore(database),
        vocabulary=SqlVocabularyStore(database),
        active_learning=SqlActiveLearningStore(database),
        enrichment=SqlEnrichmentStore(database),
        versions=SqlSignatureStore(database),
        changes=SqlChangeLog(database),
        feeds=SqlFeedStore(database),
        folders=SqlFolderStore(database),
        upload_queue=SqlUploadQueueStore(database),
        idempotency=SqlIdempotencyStore(database),
        models=shared.choice,
        people=SqlPeopleStore(database),
        tokens=SqlTokenStore(database),
        audit=SqlAuditLog(database),
        trash=SqlTrash(database),
    )


def _start_workers(url: "URL", settings: Settings, workbench: Workbench, resources: ExitStack) -> None:
    from storage.jobs.scheduler import Scheduler
    from storage.jobs.slots import jobs_at_once, machine
    from storage.jobs.worker import JobWorker
    from storage.postgres.database import conninfo_of

    worker = JobWorker(conninfo_of(url), settings.tenant, workbench.jobs.handlers, jobs_at_once(*machine()))
    workbench.ingestion.tell_waiting(worker.let_wait)
    resources.callback(worker.stop)
    workbench.upload_queue.recover()
    worker.start()
    # Files are recovered every minute too: another program may store one and die before it queues it.
    due: list[Callable[[], object]] = [
        workbench.upload_queue.recover,
        workbench.feeds.fetch_due,
        workbench.folders.scan_due,
        workbench.alerts.queue_due,
        workbench.assignments.remind,
        workbench.delivery.queue_due,
        workbench.trash.purge_due,
    ]
    if settings.backup_folder:
        from bootstrap.backup import BackupFolder

        due.append(BackupFolder(settings).look)
    schedule = Scheduler(workbench.evaluation.experiments, due)
    resources.callback(schedule.stop)
    schedule.start()


def _embedded_server(settings: Settings, resources: ExitStack) -> "EmbeddedServer":
    from storage.embedded_postgres.server import start_embedded

    server = start_embedded(settings.data_folder)
    resources.callback(server.close)
    return server


def _embedder(settings: Settings, model: str, threads: int) -> Embedder:
    from adapters.inference.embedder import load_embedder

    return load_embedder(model, settings.data_folder / "models", threads)


def _threads() -> int:
    """Inference threads: one core stays free for PostgreSQL and the pages."""
    return max(1, (os.cpu_count() or 1) - 1)


def _run_this_again() -> None:
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def _end_on_terminate() -> None:
    """Close resources on SIGTERM, which would otherwise end Python at once."""
    unhandled = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if unhandled and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))


_LOOK_SECONDS = 5.0  # between looks for steps that do not end


def run_worker(
    settings: Settings, stopped: Callable[[float], bool], restart: Callable[[], object] = _run_this_again
) -> None:
    """Run queued jobs until `stopped`, which waits so many seconds, says so, or SIGINT or SIGTERM stops the process.

    restart: replaces this process by a new one, which is the only way to end a step that does not end.
    """
    with open_workbench(replace(settings, worker=True)) as workbench:
        threading.Thread(target=workbench.check.refresh, name="library check", daemon=True).start()
        while not stopped(_LOOK_SECONDS):
            overdue = workbench.ingestion.overdue()
            for each in overdue:
                workbench.ingestion.fail(each.document_id, each.error, each.step)
            if overdue:
                restart()


def configured_rerankers(settings: Settings, threads: int, *, hurried: bool = True) -> Mapping[str, DeadlineReranker]:
    """Every reranker by name, fast first; none is loaded yet.

    threads: inference threads; 0 uses all cores. hurried False: without deadlines, for background work.
    """
    models = {
        "fast": settings.reranker_fast,
        "balanced": settings.reranker_balanced,
        "accurate": settings.reranker_accurate,
    }

    def load(model: str, name: str, max_tokens: int) -> CrossEncoder:
        from adapters.inference.cross_encoder import load_cross_encoder

        return load_cross_encoder(model, name, settings.data_folder / "models", threads, max_tokens)

    return rerankers(models, load, monotonic, hurried=hurried)
