"""A workbench over fakes with real behaviour, for pages and flows, wired by the product's own composition root."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any, cast

from adapters.folder_scanner import LocalFolderScanner
from adapters.http_fetch import HttpFetcher
from adapters.inference.embedder import LazyEmbedder, LoadedModels
from adapters.sandboxed_reader import SandboxedReader
from bootstrap import assembly
from bootstrap.environment import utc_now
from core.access.authorization import Guard, guarded
from core.access.rights import Locator
from core.domain.embedding_models import DEFAULT_MODEL
from core.domain.errors import ModelUnavailable
from core.domain.people import Principal
from core.ports.stores import Embedder
from core.workbench import Workbench
from tests.database import ScratchTableStore
from tests.fakes import (
    FakeActiveLearningStore,
    FakeAssignmentStore,
    FakeAuditLog,
    FakeBlobs,
    FakeCatalogue,
    FakeChangeLog,
    FakeCommentStore,
    FakeCoverageBoardStore,
    FakeEmbeddingModelStore,
    FakeEnrichmentStore,
    FakeEntityGraph,
    FakeEvaluationStore,
    FakeFeedStore,
    FakeFolderStore,
    FakeIdempotencyStore,
    FakeInsightStore,
    FakeMeetingStore,
    FakeNotificationStore,
    FakePeopleStore,
    FakeSavedSearchAlertStore,
    FakeSavedSearchStore,
    FakeShortlistStore,
    FakeSignatureStore,
    FakeSparseIndex,
    FakeTokenStore,
    FakeTrash,
    FakeUploadQueueStore,
    FakeUsageLog,
    FakeVectorIndex,
    FakeVocabularyStore,
    FakeWordsInUse,
    FakeWordVectorStore,
    InlineJobs,
)

__all__ = ["OpenedWorkbench", "Stores", "built"]

_READER = SandboxedReader(60, 4096)
"""One for all workbenches of a test process: its worker process keeps nothing from one file to the next."""


@dataclass(frozen=True, slots=True)
class Stores:
    """What a workbench stands on, to be looked into or taken away. `jobs.run` reads what is uploaded. others: further
    embedding models by name."""

    embedder: Embedder
    catalogue: FakeCatalogue = field(default_factory=FakeCatalogue)
    vectors: FakeVectorIndex = field(default_factory=FakeVectorIndex)
    sparse: FakeSparseIndex = field(default_factory=FakeSparseIndex)
    words: FakeWordVectorStore = field(default_factory=FakeWordVectorStore)
    jobs: InlineJobs = field(default_factory=InlineJobs)
    boards: FakeCoverageBoardStore = field(default_factory=FakeCoverageBoardStore)
    meetings: FakeMeetingStore = field(default_factory=FakeMeetingStore)
    tunings: FakeEvaluationStore = field(default_factory=FakeEvaluationStore)
    memories: FakeInsightStore = field(init=False)
    log: FakeUsageLog = field(default_factory=FakeUsageLog)
    lessons: FakeActiveLearningStore = field(default_factory=FakeActiveLearningStore)
    views: FakeSavedSearchStore = field(default_factory=FakeSavedSearchStore)
    shortlists: FakeShortlistStore = field(default_factory=FakeShortlistStore)
    alerts: FakeSavedSearchAlertStore = field(default_factory=FakeSavedSearchAlertStore)
    comments: FakeCommentStore = field(default_factory=FakeCommentStore)
    assignments: FakeAssignmentStore = field(default_factory=FakeAssignmentStore)
    notifications: FakeNotificationStore = field(default_factory=FakeNotificationStore)
    vocabularies: FakeVocabularyStore = field(default_factory=FakeVocabularyStore)
    changes: FakeChangeLog = field(default_factory=FakeChangeLog)
    feeds: FakeFeedStore = field(default_factory=FakeFeedStore)
    folders: FakeFolderStore = field(default_factory=FakeFolderStore)
    others: dict[str, Embedder] = field(default_factory=dict)
    models: FakeEmbeddingModelStore = field(init=False)
    web: HttpFetcher = field(default_factory=lambda: HttpFetcher(private=True, seconds=10.0))

    def __post_init__(self) -> None:
        object.__setattr__(self, "memories", FakeInsightStore(self.catalogue))
        object.__setattr__(self, "models", FakeEmbeddingModelStore(self.catalogue, self.vectors, self.words))

    def model(self, model: str) -> Embedder:
        """The embedder, or one of `others` by its name. Raises ModelUnavailable."""
        if model != DEFAULT_MODEL and model not in self.others:
            raise ModelUnavailable(f"'{model}' is neither a folder nor a model name.", "Name another model.")
        return self.others.get(model, self.embedder)

    @property
    def searched(self) -> dict[str, Any]:
        """The three stores every search reads."""
        return {"catalogue": self.catalogue, "vectors": self.vectors, "sparse": self.sparse}


@dataclass(frozen=True, slots=True)
class _DocumentLocator:
    """The part of core.access.rights.Locator that fakes can answer: storage.postgres.locator is tested with attacks."""

    workbench: Workbench

    def documents(self, document_ids: Iterable[int]) -> Iterable[str | None]:
        """Raises NotFound."""
        return {self.workbench.documents.get(each).project for each in document_ids}

    def trashed(self, document_ids: Iterable[int]) -> Iterable[str | None]:
        """Raises NotFound."""
        return {self.workbench.trash.get(each).project for each in document_ids}


@dataclass(frozen=True, slots=True)
class OpenedWorkbench:
    """Stands in for bootstrap.workbench.OpenWorkbench: everything is visible, and every call passes the guard."""

    workbench: Workbench

    def for_principal(self, principal: Principal) -> Workbench:
        """The workbench of a person, who has the same role in every project."""
        guard = Guard(principal, cast(Locator, _DocumentLocator(self.workbench)), self.workbench.audit)
        return cast(Workbench, guarded(self.workbench, guard))

    def close(self) -> None:
        """Nothing to close."""


def built(stores: Stores, data_folder: Path, now: Callable[[], datetime] = utc_now) -> Workbench:
    """A workbench over the fakes, whose jobs run at once."""
    catalogue, models = stores.catalogue, LoadedModels(stores.model)
    workbench = assembly.assemble(
        assembly.Stores(
            catalogue=catalogue,
            vectors=stores.vectors,
            sparse=stores.sparse,
            originals=FakeBlobs(),
            jobs=stores.jobs,
            graph=FakeEntityGraph(catalogue),
            words=FakeWordsInUse(stores.models),
            tables=ScratchTableStore(),
            coverage=stores.boards,
            meetings=stores.meetings,
            evaluation=stores.tunings,
            insights=stores.memories,
            usage=stores.log,
            saved_searches=stores.views,
            alerts=stores.alerts,
            shortlists=stores.shortlists,
            comments=stores.comments,
            assignments=stores.assignments,
            notifications=stores.notifications,
            vocabulary=stores.vocabularies,
            active_learning=stores.lessons,
            enrichment=FakeEnrichmentStore(catalogue),
            versions=FakeSignatureStore(catalogue),
            changes=stores.changes,
            feeds=stores.feeds,
            folders=stores.folders,
            upload_queue=FakeUploadQueueStore(catalogue),
            idempotency=FakeIdempotencyStore(),
            models=stores.models,
            people=FakePeopleStore(),
            tokens=FakeTokenStore(),
            audit=FakeAuditLog(),
            trash=FakeTrash(catalogue),
        ),
        assembly.Outside(
            embedder=LazyEmbedder(stores.models, models),
            models=models,
            reader=_READER,
            scanner=LocalFolderScanner(),
            web=stores.web,
            now=now,
            timer=perf_counter,
            monotonic=monotonic,
            watch_roots=[data_folder],
            usage_gather_seconds=0.0,
        ),
    )
    stores.jobs.run = workbench.ingestion.ingest
    stores.jobs.work = lambda kind, number: workbench.jobs.handlers[kind].run(number)
    return workbench
