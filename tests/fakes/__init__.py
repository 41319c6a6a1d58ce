"""In-memory implementations of every store, with real behaviour and no persistence, for tests."""

from tests.fakes.catalogue import FakeCatalogue
from tests.fakes.coverage_boards import FakeCoverageBoardStore
from tests.fakes.datasets import FakeTableStore
from tests.fakes.documents import FakeEnrichmentStore, FakeSignatureStore
from tests.fakes.evaluation import FakeEvaluationStore
from tests.fakes.indexes import FakeEntityGraph, FakeSparseIndex, FakeVectorIndex, FakeWordVectorStore
from tests.fakes.insights import FakeInsightStore
from tests.fakes.labels import FakeActiveLearningStore, FakeChangeLog, FakeVocabularyStore
from tests.fakes.searches import FakeSavedSearchStore, FakeUsageLog
from tests.fakes.sources import FakeFeedStore, FakeFolderStore
from tests.fakes.uploads import FakeBlobs, FakeUploadQueueStore, InlineJobs

__all__ = [
    "FakeActiveLearningStore",
    "FakeBlobs",
    "FakeCatalogue",
    "FakeChangeLog",
    "FakeCoverageBoardStore",
    "FakeEnrichmentStore",
    "FakeEntityGraph",
    "FakeEvaluationStore",
    "FakeFeedStore",
    "FakeFolderStore",
    "FakeInsightStore",
    "FakeSavedSearchStore",
    "FakeSignatureStore",
    "FakeSparseIndex",
    "FakeTableStore",
    "FakeUploadQueueStore",
    "FakeUsageLog",
    "FakeVectorIndex",
    "FakeVocabularyStore",
    "FakeWordVectorStore",
    "InlineJobs",
]
