"""A workbench of real stores in memory, for pages and flows. Only the model is small."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from core.coverage.desk import CoverageDesk
from core.ingest.classify import TruthClassifier
from core.ingest.isolate import IsolatedReader
from core.ingest.pipeline import Ingestor
from core.library.enrichment import EnrichmentDesk
from core.library.lessons import LessonDesk
from core.library.vocabulary import VocabularyDesk
from core.library.web import Web
from core.moments import right_now
from core.notes.desk import MemoryDesk
from core.ports import Embedder
from core.reality.desk import RealityDesk
from core.saved_views import SavedViews
from core.search.near import NearWords
from core.search.speaking import SpeakingSearcher
from core.settings import Settings
from core.tuning.desk import TuningDesk
from core.tuning.profile_book import ProfileBook
from core.use_recorder import UseRecorder
from core.workbench import Workbench
from storage.memory import (
    InlineJobs,
    MemoryBlobs,
    MemoryBoardStore,
    MemoryCatalogue,
    MemoryChangeLog,
    MemoryEnrichmentStore,
    MemoryEntityGraph,
    MemoryFeedStore,
    MemoryFolderStore,
    MemoryLessonStore,
    MemoryMemoryStore,
    MemorySignatureStore,
    MemorySparseIndex,
    MemoryTableStore,
    MemoryTrayStore,
    MemoryTuningStore,
    MemoryUseLog,
    MemoryVectorIndex,
    MemoryViewStore,
    MemoryVocabularyStore,
    MemoryWordStore,
)

__all__ = ["Stores", "built"]


@dataclass(frozen=True, slots=True)
class Stores:
    """What a workbench stands on, to be looked into or taken away. `jobs.run` reads what is uploaded."""

    embedder: Embedder
    catalogue: MemoryCatalogue = field(default_factory=MemoryCatalogue)
    vectors: MemoryVectorIndex = field(default_factory=MemoryVectorIndex)
    sparse: MemorySparseIndex = field(default_factory=MemorySparseIndex)
    words: MemoryWordStore = field(default_factory=MemoryWordStore)
    jobs: InlineJobs = field(default_factory=InlineJobs)
    boards: MemoryBoardStore = field(default_factory=MemoryBoardStore)
    tunings: MemoryTuningStore = field(default_factory=MemoryTuningStore)
    memories: MemoryMemoryStore = field(default_factory=MemoryMemoryStore)
    log: MemoryUseLog = field(default_factory=MemoryUseLog)
    lessons: MemoryLessonStore = field(default_factory=MemoryLessonStore)
    views: MemoryViewStore = field(default_factory=MemoryViewStore)
    vocabularies: MemoryVocabularyStore = field(default_factory=MemoryVocabularyStore)
    changes: MemoryChangeLog = field(default_factory=MemoryChangeLog)
    feeds: MemoryFeedStore = field(default_factory=MemoryFeedStore)
    folders: MemoryFolderStore = field(default_factory=MemoryFolderStore)
    web: Web = field(default_factory=lambda: Web(private=True, seconds=10.0))

    @property
    def searched(self) -> dict[str, Any]:
        """The three stores every search reads."""
        return {"catalogue": self.catalogue, "vectors": self.vectors, "sparse": self.sparse}


# Everything is built here, one thing after the other, as storage.opening does it.
def built(stores: Stores, data_folder: Path, now: Callable[[], datetime] = right_now) -> Workbench:
    """A workbench over the stores, whose jobs run at once."""
    embedder, searched = stores.embedder, stores.searched
    reading: dict[str, Any] = {**searched, "embedder": embedder}
    profiles, near = ProfileBook(stores.tunings), NearWords(stores.words, embedder)
    uses = UseRecorder(stores.log, now, gather_seconds=0.0)
    graph = MemoryEntityGraph(stores.catalogue)
    classifier = TruthClassifier(embedder)
    lessons = LessonDesk(
        stores.lessons, stores.catalogue, stores.vectors, classifier, stores.jobs, lambda: embedder.name, now
    )
    vocabulary = VocabularyDesk(
        store=stores.vocabularies,
        catalogue=stores.catalogue,
        vectors=stores.vectors,
        classifier=lessons.classifier,
        jobs=stores.jobs,
        now=now,
    )
    words = vocabulary.words
    searcher = SpeakingSearcher(**reading, profiles=profiles, graph=graph, near=near, uses=uses.uses, words=words)
    workbench = Workbench(
        **searched,
        blobs=MemoryBlobs(),
        jobs=stores.jobs,
        lessons=lessons,
        enrichment=EnrichmentDesk(
            store=MemoryEnrichmentStore(stores.catalogue),
            catalogue=stores.catalogue,
            embedder=embedder,
            jobs=stores.jobs,
            graph=graph,
            now=lambda: now(),
        ),
        ingestor=Ingestor(embedder, lessons.classifier, Settings(data_folder)),
        searcher=searcher,
        desk=CoverageDesk(store=stores.boards, profiles=profiles, words=words, **reading),
        reality=RealityDesk(MemoryTableStore(), stores.catalogue, lambda: now()),
        tuning=TuningDesk(
            store=stores.tunings,
            profiles=profiles,
            searcher=searcher,
            catalogue=stores.catalogue,
            classifier=classifier,
        ),
        memories=MemoryDesk(store=stores.memories, uses=stores.log, now=now, **reading),
        uses=uses,
        views=SavedViews(stores.views, lambda asked: searcher.search(asked, now()), stores.catalogue, profiles, now),
        vocabulary=vocabulary,
        changes=stores.changes,
        feeds=stores.feeds,
        tray=MemoryTrayStore(stores.catalogue),
        folders=stores.folders,
        watch_roots=[data_folder],
        signatures=MemorySignatureStore(stores.catalogue),
        web=stores.web,
        reader=IsolatedReader(60, 4096),
        graph=graph,
        near=near,
        now=now,
    )
    stores.jobs.run, stores.jobs.work = workbench.ingest, workbench.work
    return workbench
