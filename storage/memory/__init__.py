"""Every store of core.ports in memory: real behaviour, nothing kept. For tests and for throw-away evaluation."""

from storage.memory.blobs import MemoryBlobs
from storage.memory.boards import MemoryBoardStore
from storage.memory.catalogue import MemoryCatalogue
from storage.memory.entities import MemoryEntityGraph
from storage.memory.jobs import InlineJobs
from storage.memory.memories import MemoryMemoryStore
from storage.memory.sparse import MemorySparseIndex
from storage.memory.tables import MemoryTableStore
from storage.memory.tuning import MemoryTuningStore
from storage.memory.uses import MemoryUseLog
from storage.memory.vectors import MemoryVectorIndex
from storage.memory.views import MemoryViewStore
from storage.memory.words import MemoryWordStore

__all__ = [
    "InlineJobs",
    "MemoryBlobs",
    "MemoryBoardStore",
    "MemoryCatalogue",
    "MemoryEntityGraph",
    "MemoryMemoryStore",
    "MemorySparseIndex",
    "MemoryTableStore",
    "MemoryTuningStore",
    "MemoryUseLog",
    "MemoryVectorIndex",
    "MemoryViewStore",
    "MemoryWordStore",
]
