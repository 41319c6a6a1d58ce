"""In-memory implementations of every store, with real behaviour and no persistence, for tests."""

from tests.fakes.access import FakeAuditLog, FakePeopleStore, FakeTokenStore
from tests.fakes.catalogue import FakeCatalogue, FakeEnrichmentStore, FakeSignatureStore
from tests.fakes.collaboration import (
    FakeAssignmentStore,
    FakeCommentStore,
    FakeMailer,
    FakeNotificationStore,
    FakeSavedSearchAlertStore,
    FakeTeam,
    FakeWebhook,
)
from tests.fakes.embedding_models import FakeEmbeddingModelStore, FakeWordsInUse
from tests.fakes.evaluation import FakeCoverageBoardStore, FakeEvaluationStore
from tests.fakes.indexes import FakeEntityGraph, FakeSparseIndex, FakeVectorIndex, FakeWordVectorStore
from tests.fakes.labels import FakeActiveLearningStore, FakeChangeLog, FakeVocabularyStore
from tests.fakes.meetings import FakeMeetingStore
from tests.fakes.searches import FakeInsightStore, FakeSavedSearchStore, FakeShortlistStore, FakeUsageLog
from tests.fakes.trash import FakeTrash
from tests.fakes.uploads import (
    FakeBlobs,
    FakeFeedStore,
    FakeFolderStore,
    FakeIdempotencyStore,
    FakeUploadQueueStore,
    InlineJobs,
)

__all__ = [
    "FakeActiveLearningStore",
    "FakeAssignmentStore",
    "FakeAuditLog",
    "FakeBlobs",
    "FakeCatalogue",
    "FakeChangeLog",
    "FakeCommentStore",
    "FakeCoverageBoardStore",
    "FakeEmbeddingModelStore",
    "FakeEnrichmentStore",
    "FakeEntityGraph",
    "FakeEvaluationStore",
    "FakeFeedStore",
    "FakeFolderStore",
    "FakeIdempotencyStore",
    "FakeInsightStore",
    "FakeMailer",
    "FakeMeetingStore",
    "FakeNotificationStore",
    "FakePeopleStore",
    "FakeSavedSearchAlertStore",
    "FakeSavedSearchStore",
    "FakeShortlistStore",
    "FakeSignatureStore",
    "FakeSparseIndex",
    "FakeTeam",
    "FakeTokenStore",
    "FakeTrash",
    "FakeUploadQueueStore",
    "FakeUsageLog",
    "FakeVectorIndex",
    "FakeVocabularyStore",
    "FakeWebhook",
    "FakeWordVectorStore",
    "FakeWordsInUse",
    "InlineJobs",
]
