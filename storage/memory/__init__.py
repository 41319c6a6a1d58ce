"""Every store of core.ports in memory: real behaviour, nothing kept. For tests and for throw-away evaluation."""

from storage.memory.blobs import MemoryBlobs
from storage.memory.boards import MemoryBoardStore
from storage.memory.catalogue import MemoryCatalogue
from storage.memory.jobs import InlineJobs
from storage.memory.sparse import MemorySparseIndex
from storage.memory.tables import MemoryTableStore
from storage.memory.tuning import MemoryTuningStore
from storage.memory.vectors import MemoryVectorIndex

__all__ = [
    "InlineJobs",
    "MemoryBlobs",
    "MemoryBoardStore",
    "MemoryCatalogue",
    "MemorySparseIndex",
    "MemoryTableStore",
    "MemoryTuningStore",
    "MemoryVectorIndex",
]
