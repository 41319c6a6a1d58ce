# Longer than 300 lines: every service of the library is built here, in order of dependency.
"""Builds the services of one library from its stores and its external dependencies.

`bootstrap.workbench` calls this with PostgreSQL, models and the network, tests call it with fakes; so both run the same
services, wired the same way.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from core.access.api_tokens import TokenService, TokenStore
from core.access.audit import AuditLog, AuditService
from core.access.people import PeopleService, PeopleStore, PeopleTeam, SignInRules
from core.answers.cite_check.service import CitationCheckService
from core.answers.service import AnswerService
from core.collaboration.assignments import AssignmentService, AssignmentStore
from core.collaboration.comments import CommentService, CommentStore
from core.collaboration.delivery import DeliveryService, Mailer, Webhook
from core.collaboration.notifications import NotificationService, NotificationStore, Notifier
from core.coverage.meetings.service import MeetingService
from core.coverage.meetings.store import MeetingStore
from core.coverage.meetings.telling import TeamMeetingNotifier
from core.coverage.service import CoverageService
from core.coverage.store import CoverageBoardStore
from core.domain.embedding_models import DEFAULT_MODEL
from core.domain.int8_vectors import RoughCosines, rough_cosines
from core.evaluation.service import EvaluationService
from core.evaluation.store import EvaluationStore
from core.evaluation.tuning.profile_registry import ProfileRegistry
from core.ingestion.classification.classifier import TruthClassifier
from core.ingestion.pipeline import IngestionPipeline
from core.insights.indexer import InsightIndexer
from core.insights.service import InsightService
from core.insights.store import InsightStore
from core.library.active_learning.service import ActiveLearningService
from core.library.active_learning.store import ActiveLearningStore
from core.library.archive_members import ArchiveMembers
from core.library.background_jobs import BackgroundJobs, JobHandler
from core.library.bulk_edit.service import BulkEditService
from core.library.bulk_edit.store import ChangeLog
from core.library.check import LibraryCheck
from core.library.document_list import DocumentListService
from core.library.documents import DecryptionService, DocumentService
from core.library.embedding_models.service import EmbeddingModelService
from core.library.embedding_models.store import EmbeddingModelStore
from core.library.enrichment.service import EnrichmentService
from core.library.enrichment.store import EnrichmentStore
from core.library.history import HistoryService
from core.library.idempotency import IdempotencyService, IdempotencyStore
from core.library.ingestion_service import IngestionService
from core.library.saved_search_alerts import AlertFollower, SavedSearchAlertService, SavedSearchAlertStore
from core.library.saved_searches import SavedSearchService, SavedSearchStore
from core.library.shortlists import ShortlistService, ShortlistStore
from core.library.sources.feed_service import FeedService
from core.library.sources.folder_service import FolderService
from core.library.sources.store import FeedStore, FolderScanner, FolderStore, PageFetcher
from core.library.step_progress import StepClock
from core.library.trash import RETENTION, TrashService, TrashStore
from core.library.upload_queue import UploadQueue, UploadQueueStore
from core.library.versions.service import VersionService
from core.library.versions.store import SignatureStore
from core.library.vocabulary.service import CurrentVocabulary, VocabularyService
from core.library.vocabulary.store import VocabularyStore
from core.ports.catalogue import Catalogue
from core.ports.job_queue import JobKind, JobQueue
from core.ports.models import EmbeddingModels, LanguageModel, Reranker
from core.ports.own_changes import OwnChanges
from core.ports.reader import FileReader
from core.ports.search_processes import SearchProcesses
from core.ports.stores import BlobStore, Embedder, EntityGraph, SparseIndex, VectorIndex
from core.search.fair_semaphore import FairSemaphore
from core.search.pipeline import SearchPipeline
from core.search.query.expansion import SynonymFinder, WordVectorStore
from core.search.service import SearchService
from core.search.store import UsageLog
from core.search.usage_tracker import UsageTracker
from core.table_qa.service import TableService
from core.table_qa.store import TableStore
from core.workbench import Workbench

__all__ = ["Outside", "Stores", "assemble"]

_AT_ONCE = FairSemaphore()  # of all libraries of a process


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """All stores of one library."""

    catalogue: Catalogue
    vectors: VectorIndex
    sparse: SparseIndex
    originals: BlobStore
    jobs: JobQueue
    graph: EntityGraph
    words: WordVectorStore
    tables: TableStore
    coverage: CoverageBoardStore
    meetings: MeetingStore
    evaluation: EvaluationStore
    insights: InsightStore
    usage: UsageLog
    saved_searches: SavedSearchStore
    alerts: SavedSearchAlertStore
    shortlists: ShortlistStore
    comments: CommentStore
    assignments: AssignmentStore
    notifications: NotificationStore
    vocabulary: VocabularyStore
    active_learning: ActiveLearningStore
    enrichment: EnrichmentStore
    versions: SignatureStore
    changes: ChangeLog
    feeds: FeedStore
    folders: FolderStore
    upload_queue: UploadQueueStore
    idempotency: IdempotencyStore
    models: EmbeddingModelStore
    people: PeopleStore
    tokens: TokenStore
    audit: AuditLog
    trash: TrashStore


def _no_notice() -> str:
    """For a database and a worker that somebody else looks after."""
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """External dependencies of the services besides stores: models, processes, the network, the clock.

    models: the embedding models that can be had; configured: the one the settings name. writer: the language model that
    may write answers, None when none is configured. watch_roots: folders below which folders may be watched. timer:
    seconds, for durations; monotonic: seconds that never go back. step_seconds: of one step of reading a file.
    usage_gather_seconds: how long usage events are collected before they are written. sign_in_rules: what people get
    at sign-in. process_notice: what happened to the database or the worker, for the user. mailer, webhook: None while
    not configured. site: the address people open, ending with "/". mail_pace: the shortest time between two e-mails to
    one person. searches_of: the saved searches as a person sees them, by login and name; None: everybody sees the same.
    trash_days: how long deleted documents can be restored; 0: until somebody deletes them for good. login_notice: what
    is wrong with the database's login, for administrators. remembers: whether counts of use are remembered until the
    next search; False: for half a minute. own: changes of this program, seen at once. processes: search in this one's
    place; None: it searches itself. indexer: of the whole library's notes; None: the stores are the whole library's
    already. rough_cosines: as core.domain.int8_vectors.rough_cosines."""

    embedder: Embedder
    models: EmbeddingModels
    reader: FileReader
    scanner: FolderScanner
    web: PageFetcher
    now: Callable[[], datetime]
    timer: Callable[[], float]
    monotonic: Callable[[], float]
    step_seconds: float = 300.0
    rerankers: Mapping[str, Reranker] = field(default_factory=dict)
    writer: LanguageModel | None = None
    configured: str = DEFAULT_MODEL
    watch_roots: Sequence[Path] = ()
    usage_gather_seconds: float = 0.2
    sign_in_rules: SignInRules = SignInRules()
    process_notice: Callable[[], str] = _no_notice
    mailer: Mailer | None = None
    webhook: Webhook | None = None
    site: str = ""
    mail_pace: timedelta = timedelta(minutes=15)
    searches_of: Callable[[str, str], SavedSearchService] | None = None
    trash_days: int = 30
    login_notice: str = ""
    remembers: bool = True
    own: OwnChanges = field(default_factory=OwnChanges)
    processes: SearchProcesses | None = None
    indexer: InsightIndexer | None = None
    rough_cosines: RoughCosines = rough_cosines


# Long on purpose: everything is built here in order of dependency.
def assemble(stores: Stores, outside: Outside) -> Workbench:
    """Build all services of one library. Nothing is loaded, opened or started."""
    now, embedder = outside.now, outside.embedder
    catalogue, vectors, sparse, graph = stores.catalogue, stores.vectors, stores.sparse, stores.graph
    profiles = ProfileRegistry(
        stores.evaluation, now=now, choice=stores.models, timer=outside.monotonic, own=outside.own.choices
    )
    synonyms = SynonymFinder(stores.words, embedder, outside.rough_cosines)
    usage = UsageTracker(stores.usage, now, remembers=outside.remembers, gather_seconds=outside.usage_gather_seconds)
    classifier = TruthClassifier(embedder)
    current = CurrentVocabulary(stores.vocabulary, outside.monotonic, outside.own.choices)
    terms = current.terms
    active_learning = ActiveLearningService(
        stores.active_learning, catalogue, vectors, classifier, stores.jobs, lambda: embedder.name, terms, now
    )
    vocabulary = VocabularyService(
        store=stores.vocabulary,
        current=current,
        catalogue=catalogue,
        vectors=vectors,
        classifier=active_learning.classifier,
        reading=active_learning.reading,
        jobs=stores.jobs,
        now=now,
    )
    models = EmbeddingModelService(
        store=stores.models,
        catalogue=catalogue,
        vectors=vectors,
        jobs=stores.jobs,
        models=outside.models,
        renew_records=active_learning.renew_records,
        now=now,
        configured=outside.configured,
    )
    pipeline = SearchPipeline(
        catalogue,
        vectors,
        sparse,
        embedder,
        profiles,
        graph=graph,
        near=synonyms,
        rerankers=outside.rerankers,
        uses=usage.uses,
        terms=terms,
        timer=outside.timer,
        choice=stores.models,
        at_once=_AT_ONCE,
    )
    tables = TableService(stores.tables, catalogue, now=now, language_model=outside.writer)
    insights = InsightService(
        store=stores.insights,
        uses=stores.usage,
        catalogue=catalogue,
        vectors=vectors,
        sparse=sparse,
        embedder=embedder,
        embedded=models.stored,
        now=now,
        indexer=outside.indexer,
    )
    coverage = CoverageService(
        store=stores.coverage,
        catalogue=catalogue,
        vectors=vectors,
        sparse=sparse,
        embedder=embedder,
        profiles=profiles,
        terms=terms,
        timer=outside.timer,
        now=now,
        choice=stores.models,
        near=synonyms,
    )
    enrichment = EnrichmentService(
        store=stores.enrichment, catalogue=catalogue, embedder=embedder, jobs=stores.jobs, graph=graph, now=now
    )
    versions = VersionService(
        store=stores.versions,
        catalogue=catalogue,
        vectors=vectors,
        notes=insights.about,
        decisions_of=coverage.current_decisions,
        tables=tables,
        now=now,
    )
    saved_searches = SavedSearchService(
        stores.saved_searches, lambda request: pipeline.search(request, now()), catalogue, profiles, now
    )
    people = PeopleService(stores.people, outside.sign_in_rules, now)
    team, notifier = PeopleTeam(people), Notifier(stores.notifications)
    searches_of = outside.searches_of or (lambda login, name: saved_searches)
    alerts = SavedSearchAlertService(stores.alerts, saved_searches, searches_of, notifier, stores.jobs, now)
    delivery = DeliveryService(
        stores.notifications,
        team,
        catalogue,
        stores.jobs,
        now,
        mailer=outside.mailer,
        webhook=outside.webhook,
        site=outside.site,
        pace=outside.mail_pace,
    )
    followers = (versions, active_learning, enrichment, AlertFollower(alerts))
    trash = TrashService(
        store=stores.trash,
        catalogue=catalogue,
        vectors=vectors,
        sparse=sparse,
        graph=graph,
        originals=stores.originals,
        jobs=stores.jobs,
        tables=tables,
        versions=versions,
        words=synonyms,
        followers=followers,
        on_delete=(usage.delete, active_learning.deleted),
        on_restore=(active_learning.restored,),
        archive=lambda document_id, archived: documents.archive(document_id, archived=archived),
        renew_notes=insights.documents_moved,
        log=stores.changes,
        now=now,
        days=outside.trash_days,
    )
    documents = DocumentService(
        catalogue=catalogue,
        vectors=vectors,
        originals=stores.originals,
        jobs=stores.jobs,
        tables=tables,
        corrector=active_learning.corrector,
        trash=trash,
        now=now,
    )
    upload_queue = UploadQueue(stores.upload_queue, stores.jobs, documents.store, now)
    ingestion = IngestionService(
        catalogue=catalogue,
        vectors=vectors,
        sparse=sparse,
        originals=stores.originals,
        pipeline=IngestionPipeline(embedder, active_learning.classifier, outside.reader),
        documents=documents,
        tables=tables,
        members=ArchiveMembers(catalogue, outside.reader, documents.upload),
        upload_queue=upload_queue,
        graph=graph,
        synonyms=synonyms,
        followers=followers,
        terms=terms,
        embedded=models.stored,
        clock=StepClock(outside.step_seconds, outside.monotonic),
        now=now,
    )
    feeds = FeedService(
        store=stores.feeds,
        web=outside.web,
        reader=outside.reader,
        upload=documents.upload,
        jobs=stores.jobs,
        now=now,
    )
    folders = FolderService(stores.folders, documents.store, stores.jobs, outside.watch_roots, outside.scanner, now)
    bulk_edit = BulkEditService(
        stores.changes,
        catalogue,
        vectors,
        documents,
        terms,
        now,
        restore=trash.restore,
        on_move=(insights.documents_moved, tables.documents_moved),
    )
    return Workbench(
        people=people,
        tokens=TokenService(stores.tokens, people, now),
        audit=AuditService(stores.audit, now),
        documents=documents,
        document_list=DocumentListService(catalogue, sparse, graph),
        upload_queue=upload_queue,
        ingestion=ingestion,
        decryption=DecryptionService(catalogue, stores.originals, outside.reader, documents.retry),
        feeds=feeds,
        folders=folders,
        bulk_edit=bulk_edit,
        history=HistoryService(
            edits=bulk_edit,
            versions=versions,
            coverage=coverage,
            profiles=profiles,
            vocabulary=vocabulary,
            trash=trash,
        ),
        trash=trash,
        versions=versions,
        enrichment=enrichment,
        active_learning=active_learning,
        vocabulary=vocabulary,
        models=models,
        search=SearchService(
            pipeline=pipeline,
            catalogue=catalogue,
            vectors=vectors,
            sparse=sparse,
            graph=graph,
            usage=usage,
            now=now,
            choice=stores.models,
            processes=outside.processes,
        ),
        saved_searches=saved_searches,
        alerts=alerts,
        comments=CommentService(stores.comments, catalogue, team, notifier, now),
        assignments=AssignmentService(stores.assignments, catalogue, team, notifier, now),
        notifications=NotificationService(stores.notifications, catalogue, now),
        delivery=delivery,
        shortlists=ShortlistService(stores.shortlists, catalogue, now),
        usage=usage,
        answers=AnswerService(
            pipeline=pipeline,
            catalogue=catalogue,
            profiles=profiles,
            figures=tables.figures,
            writer=outside.writer,
            terms=terms,
            now=now,
            processes=outside.processes,
        ),
        cite_check=CitationCheckService(catalogue, vectors, embedder),
        tables=tables,
        coverage=coverage,
        meetings=MeetingService(
            store=stores.meetings,
            coverage=coverage,
            now=now,
            notifier=TeamMeetingNotifier(team, notifier, stores.assignments, now),
        ),
        insights=insights,
        evaluation=EvaluationService(
            store=stores.evaluation,
            profiles=profiles,
            searcher=pipeline,
            catalogue=catalogue,
            classifier=classifier,
            reading=active_learning.reading,
            terms=terms,
            now=now,
        ),
        check=LibraryCheck(
            catalogue=catalogue,
            keywords=sparse,
            vectors=vectors,
            originals=stores.originals,
            trash=stores.trash,
            purge=lambda document_ids: trash.purge(document_ids, RETENTION),
            read_again=documents.retry,
        ),
        process_notice=outside.process_notice,
        login_notice=outside.login_notice,
        idempotency=IdempotencyService(stores.idempotency, now),
        jobs=BackgroundJobs(
            stores.jobs,
            {
                JobKind.ALERT: alerts.check,
                JobKind.MAIL: delivery.mail,
                JobKind.WEBHOOK: delivery.post,
                JobKind.EMBED: lambda _: models.carry_on(),
                JobKind.ENRICH: enrichment.enrich,
                JobKind.FEED: feeds.fetch,
                JobKind.FOLDER: folders.scan,
                JobKind.LEARN: lambda _: active_learning.learn(),
                JobKind.RELABEL: vocabulary.relabelling.carry_on,
            },
            now,
            ingestion=JobHandler(ingestion.ingest_pending, ingestion.fail),
        ),
    )
