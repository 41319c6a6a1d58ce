"""The one place that builds everything."""

import atexit
import os
import re
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from core.answers.endpoint import Endpoint
from core.errors import BadRequest
from core.moments import right_now
from core.ports import Embedder, VectorIndex
from core.settings import Settings
from core.workbench import Workbench
from storage.environment import settings_from_environment

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

__all__ = ["OpenWorkbench", "open_workbench", "run_worker", "settings_from_environment"]

_TENANT = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


class OpenWorkbench:
    """A workbench and what it stands on: worker, connections, embedded server. A context manager."""

    def __init__(self, workbench: Workbench, resources: ExitStack) -> None:
        self.workbench, self._resources = workbench, resources
        atexit.register(self.close)

    def close(self) -> None:
        """Close everything, last opened first. Harmless when repeated."""
        atexit.unregister(self.close)
        self._resources.close()

    def __enter__(self) -> Workbench:
        return self.workbench

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_workbench(settings: Settings) -> OpenWorkbench:
    """Everything built and running, models not yet loaded. Raises StoreFailed, BadRequest."""
    _check(settings)
    _end_on_terminate()
    with ExitStack() as building:
        workbench = _built(settings, building)
        resources = building.pop_all()
    return OpenWorkbench(workbench, resources)


def _check(settings: Settings) -> None:
    if not _TENANT.fullmatch(settings.tenant):
        raise BadRequest(
            f"'{settings.tenant}' cannot name a tenant.", "Use small letters, digits, '-' and '_', at most 63 of them."
        )
    if settings.vector_index not in ("pgvector", "chroma"):
        raise BadRequest(
            f"There is no vector index '{settings.vector_index}'.", "Set FIVEFOLD_VECTOR_INDEX to pgvector or chroma."
        )


# Everything is built here, one thing after the other.
def _built(settings: Settings, resources: ExitStack) -> Workbench:
    from core.coverage.desk import CoverageDesk
    from core.ingest.classify import TruthClassifier
    from core.ingest.isolate import IsolatedReader
    from core.ingest.pipeline import Ingestor
    from core.library.enrichment import EnrichmentDesk
    from core.library.lessons import LessonDesk
    from core.library.vocabulary import VocabularyDesk
    from core.library.web import Web
    from core.notes.desk import MemoryDesk
    from core.reality.desk import RealityDesk
    from core.saved_views import SavedViews
    from core.search.near import NearWords
    from core.search.rerank import rerankers
    from core.search.speaking import SpeakingSearcher
    from core.speaking import opened
    from core.tuning.desk import TuningDesk
    from core.tuning.profile_book import ProfileBook
    from core.use_recorder import UseRecorder
    from storage.blobs import BlobFiles
    from storage.bm25_files import Bm25Files
    from storage.board_store import SqlBoardStore
    from storage.catalogue import SqlCatalogue
    from storage.change_store import SqlChangeLog
    from storage.database import Database, engine_for
    from storage.enrichment_store import SqlEnrichmentStore
    from storage.entity_store import SqlEntityGraph
    from storage.feed_store import SqlFeedStore
    from storage.folder_store import SqlFolderStore
    from storage.jobs import IngestQueue
    from storage.lazy import LazyEmbedder
    from storage.lesson_store import SqlLessonStore
    from storage.memory_store import SqlMemoryStore
    from storage.migrations import migrate
    from storage.mirror import Mirror
    from storage.signature_store import SqlSignatureStore
    from storage.table_store import SqlTableStore
    from storage.tray_store import SqlTrayStore
    from storage.tuning_store import SqlTuningStore
    from storage.use_store import SqlUseLog
    from storage.view_store import SqlViewStore
    from storage.vocabulary_store import SqlVocabularyStore
    from storage.word_store import SqlWordStore

    writer = _writer(settings)
    engine = engine_for(settings.database_url or _embedded_url(settings, resources))
    resources.callback(engine.dispose)
    migrate(engine)
    database = Database(engine, settings.tenant)
    embedder = LazyEmbedder(lambda: _embedder(settings))
    model = (lambda: embedder.name) if settings.vector_index == "pgvector" else None
    mirror = Mirror(database, model or "", settings.data_folder / "mirror" / settings.tenant)
    resources.callback(mirror.close)
    catalogue = SqlCatalogue(database, model, mirror)
    catalogue.register()
    vectors = _vectors(settings, database, embedder, mirror)
    sparse = Bm25Files(settings.data_folder / "bm25" / settings.tenant, catalogue)
    graph = SqlEntityGraph(database)
    near = NearWords(SqlWordStore(database, lambda: embedder.name), embedder)
    log = SqlUseLog(database)
    uses = UseRecorder(log)
    resources.callback(uses.close)
    tunings = SqlTuningStore(database)
    profiles = ProfileBook(tunings)
    classifier, jobs = TruthClassifier(embedder), IngestQueue(engine, settings.tenant)
    lessons = LessonDesk(SqlLessonStore(database), catalogue, vectors, classifier, jobs, lambda: embedder.name)
    vocabulary = VocabularyDesk(
        store=SqlVocabularyStore(database),
        catalogue=catalogue,
        vectors=vectors,
        classifier=lessons.classifier,
        jobs=jobs,
    )
    resources.enter_context(opened(vocabulary.words))
    searcher = SpeakingSearcher(
        catalogue,
        vectors,
        sparse,
        embedder,
        profiles,
        graph=graph,
        near=near,
        rerankers=rerankers(settings, _threads()),
        uses=uses.uses,
        words=vocabulary.words,
    )
    reader = IsolatedReader(settings.file_seconds, settings.file_megabytes)
    resources.callback(reader.close)
    stores: Any = {"catalogue": catalogue, "vectors": vectors, "sparse": sparse}
    reading: Any = {**stores, "embedder": embedder}
    workbench = Workbench(
        **stores,
        blobs=BlobFiles(str(settings.data_folder / "originals")),
        jobs=jobs,
        lessons=lessons,
        enrichment=EnrichmentDesk(
            store=SqlEnrichmentStore(database), catalogue=catalogue, embedder=embedder, jobs=jobs, graph=graph
        ),
        ingestor=Ingestor(embedder, lessons.classifier, settings),
        searcher=searcher,
        desk=CoverageDesk(store=SqlBoardStore(database), profiles=profiles, words=vocabulary.words, **reading),
        reality=RealityDesk(SqlTableStore(database), catalogue),
        tuning=TuningDesk(
            store=tunings, profiles=profiles, searcher=searcher, catalogue=catalogue, classifier=classifier
        ),
        memories=MemoryDesk(store=SqlMemoryStore(database), uses=log, **reading),
        uses=uses,
        views=SavedViews(
            SqlViewStore(database), lambda asked: searcher.search(asked, right_now()), catalogue, profiles
        ),
        vocabulary=vocabulary,
        changes=SqlChangeLog(database),
        feeds=SqlFeedStore(database),
        tray=SqlTrayStore(database),
        folders=SqlFolderStore(database),
        watch_roots=[Path(each).expanduser() for each in settings.watch_folders.split(os.pathsep) if each.strip()],
        signatures=SqlSignatureStore(database),
        web=Web(private=settings.web_private),
        reader=reader,
        graph=graph,
        near=near,
        writer=writer,
    )
    if settings.worker:
        _start_workers(engine.url, settings, workbench, resources)
    return workbench


def _start_workers(url: "URL", settings: Settings, workbench: Workbench, resources: ExitStack) -> None:
    from storage.database import conninfo_of
    from storage.schedule import Scheduler
    from storage.turns import jobs_at_once, machine
    from storage.worker import IngestWorker

    worker = IngestWorker(conninfo_of(url), settings.tenant, workbench, jobs_at_once(*machine()))
    resources.callback(worker.stop)
    workbench.tray.recover()
    worker.start()
    schedule = Scheduler(workbench.tuning.lab, (workbench.feeds.fetch_due, workbench.folders.look_due))
    resources.callback(schedule.stop)
    schedule.start()


def _writer(settings: Settings) -> Endpoint | None:
    """The language model of answers, None when none is configured. Raises BadRequest when it cannot be one."""
    if not settings.answer_url:
        return None
    if not settings.answer_model:
        raise BadRequest(
            "FIVEFOLD_ANSWER_URL names a language model's address, and FIVEFOLD_ANSWER_MODEL is empty.",
            "Set FIVEFOLD_ANSWER_MODEL, or neither.",
        )
    return Endpoint(settings.answer_url, settings.answer_model, settings.answer_key, settings.answer_seconds)


def _embedded_url(settings: Settings, resources: ExitStack) -> str:
    from storage.embedded import start_embedded

    server = start_embedded(settings.data_folder)
    resources.callback(server.close)
    return server.url()


def _embedder(settings: Settings) -> Embedder:
    from core.ingest.embed import load_embedder

    return load_embedder(settings.embedding_model, settings.data_folder / "models", _threads())


def _threads() -> int:
    """Of a model: one core stays free for PostgreSQL and the pages."""
    return max(1, (os.cpu_count() or 1) - 1)


def _vectors(settings: Settings, database: Any, embedder: Embedder, mirror: Any) -> VectorIndex:
    if settings.vector_index == "pgvector":
        from storage.mirrored_index import MirroredIndex
        from storage.pgvector_index import PgvectorIndex

        return MirroredIndex(PgvectorIndex(database, lambda: embedder.name), mirror)
    from storage.lazy import LazyVectorIndex

    def make() -> VectorIndex:
        from storage.chroma_index import ChromaIndex, chroma_client

        client = chroma_client(url=settings.chroma_url, folder=settings.data_folder / "chroma")
        return ChromaIndex(client, settings.tenant, embedder.name)

    return LazyVectorIndex(make)


def _end_on_terminate() -> None:
    """Let a terminated program close what it opened: without a handler, SIGTERM ends Python on the spot."""
    unhandled = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if unhandled and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))


def run_worker(settings: Settings, until: Callable[[], object] = signal.pause) -> None:
    """Run queued jobs until the program is told to stop (SIGINT, SIGTERM)."""
    from dataclasses import replace

    with open_workbench(replace(settings, worker=True)):
        until()
