"""The facade over one tenant's library: the services that pages, commands and API routes call."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.access.api_tokens import TokenService
from core.access.audit import AuditService
from core.access.people import PeopleService
from core.answers.cite_check.service import CitationCheckService
from core.answers.service import AnswerService
from core.collaboration.assignments import AssignmentService
from core.collaboration.comments import CommentService
from core.collaboration.delivery import DeliveryService
from core.collaboration.notifications import NotificationService
from core.coverage.meetings.service import MeetingService
from core.coverage.service import CoverageService
from core.evaluation.service import EvaluationService
from core.insights.service import InsightService
from core.library.active_learning.service import ActiveLearningService
from core.library.background_jobs import BackgroundJobs
from core.library.bulk_edit.service import BulkEditService
from core.library.check import LibraryCheck
from core.library.document_list import DocumentListService
from core.library.documents import DecryptionService, DocumentService
from core.library.embedding_models.service import EmbeddingModelService
from core.library.enrichment.service import EnrichmentService
from core.library.history import HistoryService
from core.library.idempotency import IdempotencyService
from core.library.ingestion_service import IngestionService
from core.library.saved_search_alerts import SavedSearchAlertService
from core.library.saved_searches import SavedSearchService
from core.library.shortlists import ShortlistService
from core.library.sources.feed_service import FeedService
from core.library.sources.folder_service import FolderService
from core.library.trash import TrashService
from core.library.upload_queue import UploadQueue
from core.library.versions.service import VersionService
from core.library.vocabulary.service import VocabularyService
from core.search.service import SearchService
from core.search.usage_tracker import UsageTracker
from core.table_qa.service import TableService

__all__ = ["Workbench"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workbench:
    """Named services over one library. Only `bootstrap` builds it."""

    people: PeopleService
    tokens: TokenService
    audit: AuditService
    documents: DocumentService
    document_list: DocumentListService
    upload_queue: UploadQueue
    ingestion: IngestionService
    decryption: DecryptionService
    feeds: FeedService
    folders: FolderService
    bulk_edit: BulkEditService
    history: HistoryService
    trash: TrashService
    versions: VersionService
    enrichment: EnrichmentService
    active_learning: ActiveLearningService
    vocabulary: VocabularyService
    models: EmbeddingModelService
    search: SearchService
    saved_searches: SavedSearchService
    alerts: SavedSearchAlertService
    shortlists: ShortlistService
    comments: CommentService
    assignments: AssignmentService
    notifications: NotificationService
    delivery: DeliveryService
    usage: UsageTracker
    answers: AnswerService
    cite_check: CitationCheckService
    tables: TableService
    coverage: CoverageService
    meetings: MeetingService
    insights: InsightService
    evaluation: EvaluationService
    idempotency: IdempotencyService
    jobs: BackgroundJobs
    check: LibraryCheck
    process_notice: Callable[[], str]
    """What a user should know of the database or the process that reads files; "" while both are well."""
    login_notice: str = ""
    """What is wrong with the login of the database, for administrators; "" when it is right."""

    def notices(self) -> Sequence[str]:
        """Notices about degraded parts, for the user; empty while models are not loaded."""
        return (*self.ingestion.notices, *self.models.notices, *filter(None, self._single_notices()))

    def _single_notices(self) -> Sequence[str]:
        return (self.process_notice(), self.usage.notice, self.check.notice)

    def warm(self) -> None:
        """Load the models and indexes, so that the first search does not wait, and check the library."""
        self.search.warm()
        self.check.refresh()
