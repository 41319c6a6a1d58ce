"""Every store of core.ports in memory: real behaviour, nothing kept. For tests and for throw-away evaluation."""

from storage.memory.blobs import MemoryBlobs
from storage.memory.boards import MemoryBoardStore
from storage.memory.catalogue import MemoryCatalogue
from storage.memory.changes import MemoryChangeLog
from storage.memory.enrichments import MemoryEnrichmentStore
from storage.memory.entities import MemoryEntityGraph
from storage.memory.feeds import MemoryFeedStore
from storage.memory.folders import MemoryFolderStore
from storage.memory.jobs import InlineJobs
from storage.memory.lessons import MemoryLessonStore
from storage.memory.memories import MemoryMemoryStore
from storage.memory.signatures import MemorySignatureStore
from storage.memory.sparse import MemorySparseIndex
from storage.memory.tables import MemoryTableStore
from storage.memory.tray import MemoryTrayStore
from storage.memory.tuning import MemoryTuningStore
from storage.memory.uses import MemoryUseLog
from storage.memory.vectors import MemoryVectorIndex
from storage.memory.views import MemoryViewStore
from storage.memory.vocabularies import MemoryVocabularyStore
from storage.memory.words import MemoryWordStore

__all__ = [
    "InlineJobs",
    "MemoryBlobs",
    "MemoryBoardStore",
    "MemoryCatalogue",
    "MemoryChangeLog",
    "MemoryEnrichmentStore",
    "MemoryEntityGraph",
    "MemoryFeedStore",
    "MemoryFolderStore",
    "MemoryLessonStore",
    "MemoryMemoryStore",
    "MemorySignatureStore",
    "MemorySparseIndex",
    "MemoryTableStore",
    "MemoryTrayStore",
    "MemoryTuningStore",
    "MemoryUseLog",
    "MemoryVectorIndex",
    "MemoryViewStore",
    "MemoryVocabularyStore",
    "MemoryWordStore",
]
