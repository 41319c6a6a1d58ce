"""A workbench of real stores in memory, for pages and flows. Only the model is small."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from core.coverage.desk import CoverageDesk
from core.ingest.classify import TruthClassifier
from core.ingest.pipeline import Ingestor
from core.moments import right_now
from core.notes.desk import MemoryDesk
from core.ports import Embedder
from core.reality.desk import RealityDesk
from core.saved_views import SavedViews
from core.search.near import NearWords
from core.search.pipeline import Searcher
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
    MemoryEntityGraph,
    MemoryMemoryStore,
    MemorySparseIndex,
    MemoryTableStore,
    MemoryTuningStore,
    MemoryUseLog,
    MemoryVectorIndex,
    MemoryViewStore,
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
    views: MemoryViewStore = field(default_factory=MemoryViewStore)

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
    searcher = Searcher(**reading, profiles=profiles, graph=graph, near=near, uses=uses.uses)
    classifier = TruthClassifier(embedder)
    workbench = Workbench(
        **searched,
        blobs=MemoryBlobs(),
        jobs=stores.jobs,
        ingestor=Ingestor(embedder, classifier, Settings(data_folder)),
        searcher=searcher,
        desk=CoverageDesk(store=stores.boards, profiles=profiles, **reading),
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
        graph=graph,
        near=near,
        now=now,
    )
    stores.jobs.run, stores.jobs.work = workbench.ingest, workbench.work
    return workbench
