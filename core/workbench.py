"""The front door: what a page, a command or a route can ask of the product. One workbench serves one tenant."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from core.answers.desk import AnswerDesk
from core.answers.synthesis import Synthesis, Synthesiser
from core.changes import ChangeLog
from core.coverage.desk import CoverageDesk
from core.documents import Document, Page, Passage
from core.entities import EntityGraph, EntityPage, EntityType
from core.errors import NotFound
from core.filters import SearchFilters
from core.five_truths import FiveTruthsAnswer
from core.ingest.isolate import IsolatedReader
from core.ingest.pipeline import Ingestor
from core.intake import Intake
from core.jobs import JobKind, JobQueue
from core.library.edit_desk import EditDesk
from core.library.enrichment import EnrichmentDesk
from core.library.feed_desk import FeedDesk
from core.library.feeds import FeedStore
from core.library.folders import FolderDesk, FolderStore
from core.library.intray import TrayStore
from core.library.lessons import LessonDesk
from core.library.unlock import Unlocking
from core.library.versions import VersionDesk
from core.library.versions_store import SignatureStore
from core.library.vocabulary import VocabularyDesk
from core.library.web import Web
from core.moments import right_now
from core.notes.desk import MemoryDesk
from core.ports import BlobStore, Catalogue, Follower, SparseIndex, VectorIndex
from core.queries import ScoreProfile, SearchRequest
from core.reality.desk import RealityDesk
from core.results import Candidate, SearchResult, Statistics, UploadReceipt
from core.saved_views import SavedViews
from core.search.near import NearWords
from core.search.pipeline import Searcher
from core.search.similar import Similar, similar_to
from core.search.why_not import WhyNot
from core.speaking import in_its_words
from core.tuning.desk import TuningDesk
from core.use_recorder import UseRecorder

__all__ = ["Workbench"]


class Workbench(Intake):
    """Upload, search and explain one tenant's library; `desk` is where its coverage is assessed and reviewed, `reality`
    where its tables are kept and asked, `tuning` where its scores are tuned and measured, `memories` where insights and
    episodes are kept, `uses` what was done with results, `views` the searches people saved,
    `edits` where what is said of documents is edited, `feeds` where feeds and links are fetched,
    `folders` where folders are watched (below `watch_roots`), `tray` where files on their way are looked after,
    `vocabulary` whose words it speaks, `lessons` where corrections teach the classifier,
    `enrichment` what is drawn from documents.

    Built by `storage.opening`; `now` is the only clock and can be replaced; `writer` is the language model that may
    tell an answer in running text, None when there is none.
    """

    # What the product is made of, one thing after the other.
    def __init__(
        self,
        *,
        catalogue: Catalogue,
        vectors: VectorIndex,
        sparse: SparseIndex,
        blobs: BlobStore,
        jobs: JobQueue,
        ingestor: Ingestor,
        searcher: Searcher,
        desk: CoverageDesk,
        reality: RealityDesk,
        tuning: TuningDesk,
        memories: MemoryDesk,
        uses: UseRecorder,
        views: SavedViews,
        vocabulary: VocabularyDesk,
        changes: ChangeLog,
        feeds: FeedStore,
        tray: TrayStore,
        folders: FolderStore,
        signatures: SignatureStore,
        web: Web,
        reader: IsolatedReader,
        lessons: LessonDesk,
        enrichment: EnrichmentDesk,
        graph: EntityGraph | None = None,
        near: NearWords | None = None,
        writer: Synthesiser | None = None,
        followers: Sequence[Follower] = (),
        watch_roots: Sequence[Path] = (),
        now: Callable[[], datetime] = right_now,
    ) -> None:
        self.versions = VersionDesk(
            store=signatures,
            catalogue=catalogue,
            vectors=vectors,
            notes=memories.about,
            held=desk.held,
            tables=reality,
            now=now,
        )
        super().__init__(
            catalogue=catalogue,
            vectors=vectors,
            sparse=sparse,
            blobs=blobs,
            jobs=jobs,
            ingestor=ingestor,
            reality=reality,
            reader=reader,
            corrector=lessons.corrector,
            tray=tray,
            graph=graph,
            near=near,
            followers=(*followers, self.versions, lessons, enrichment),
            words=vocabulary.words,
            now=now,
        )
        self.vocabulary = vocabulary
        self._work[JobKind.RELABEL] = vocabulary.relabelling.carry_on
        self._searcher = searcher
        self.desk, self.tuning, self.memories, self.uses, self.views = desk, tuning, memories, uses, views
        self.edits = EditDesk(changes, catalogue, vectors, self, now)
        self._answers = AnswerDesk(searcher, catalogue, reality.figures, writer, now)
        self.feeds = FeedDesk(store=feeds, web=web, reader=reader, upload=self.upload, jobs=jobs, now=now)
        self._work[JobKind.FEED] = self.feeds.fetch
        self.folders = FolderDesk(folders, self.keep, jobs, watch_roots, now)
        self._work[JobKind.FOLDER] = self.folders.look
        self.lessons, self.enrichment = lessons, enrichment
        self._work[JobKind.ENRICH] = enrichment.enrich
        self._work[JobKind.LEARN] = lambda number: lessons.learn()
        self._unlocking = Unlocking(catalogue, blobs, reader, self.retry)

    # Search flow

    def search(self, request: SearchRequest, *, remember: bool = True) -> SearchResult:
        """Answer one question. Raises BadRequest for an unknown profile, StoreFailed when no leg could search."""
        result = self._searcher.search(request, self._now())
        if remember and request.question.strip():
            self._catalogue.save_searched(request.question, len(result.hits), self._now())
            self.uses.shown(result)
        return result

    def search_many(self, requests: Sequence[SearchRequest]) -> Sequence[SearchResult]:
        """Answer many questions, in their order; none is remembered. Raises what `search` raises."""
        return self._searcher.search_many(requests, self._now())

    @property
    def reranker_troubles(self) -> Mapping[str, str]:
        """Reranker → why its model could not be loaded when it was last tried."""
        return self._searcher.reranker_troubles

    def similar(self, passage_id: int, filters: SearchFilters) -> Sequence[Similar]:
        """The passages most like a stored one that the filters admit. Raises NotFound, StoreFailed."""
        return similar_to(
            self.passage(passage_id),
            filters.resolved(self._now()),
            catalogue=self._catalogue,
            vectors=self._vectors,
            sparse=self._sparse,
        )

    def why_not(self, result: SearchResult, document_id: int) -> WhyNot:
        """Why a document is not among the results. Raises NotFound, StoreFailed, ModelUnavailable."""
        return self._searcher.why_not(result, self._catalogue.document(document_id))

    def rescore(self, result: SearchResult, profile: ScoreProfile) -> SearchResult:
        """The same candidates under another profile; touches no store."""
        return self._searcher.rescore(result, profile, self._now())

    def delete(self, document_id: int) -> None:
        """Remove a document, and what was done with it."""
        super().delete(document_id)
        self.uses.delete([document_id])
        self.lessons.deleted([document_id])

    def explain(self, result: SearchResult, passage_id: int) -> Candidate:
        """What was measured of any candidate of a result, dropped or not. Raises NotFound."""
        for candidate in result.candidates:
            if candidate.passage.id == passage_id:
                return candidate
        raise NotFound(f"Passage {passage_id} is not among the candidates.", "Search again; the library has changed.")

    @in_its_words
    def answer_five(
        self, question: str, *, filters: SearchFilters, profile: str, project: str | None = None
    ) -> FiveTruthsAnswer:
        """Ask all five truths at once; a store of tables that fails is a notice and takes no truth along.

        project: narrows documents and tables; None: what the filters say. profile: "" for the default. Raises
        BadRequest for an empty question or an unknown profile.
        """
        narrowed = filters if project is None else filters.replace(projects=(project,))
        book = self.tuning.profiles
        scored = book.find(profile) if profile else book.default(narrowed.project)
        return self._answers.ask(question, narrowed, scored.ref)

    def synthesis(self, answer: FiveTruthsAnswer) -> Synthesis:
        """The answer in running text, every sentence checked; extractive without a writer, or when it fails."""
        return self._answers.written(answer)

    @property
    def writer_name(self) -> str:
        """The language model that may write, "" when none is configured."""
        return self._answers.writer_name

    def profiles(self) -> Mapping[str, ScoreProfile]:
        """All score profiles by name, those of the product first."""
        return self.tuning.profiles.choices()

    def undated(self, filters: SearchFilters) -> int:
        """Documents a date filter leaves out only because they are undated."""
        return self._catalogue.undated(filters.resolved(self._now()))

    def entities(self, part: str, kind: EntityType | None, limit: int, offset: int) -> EntityPage:
        """Entities of the library whose name holds `part`, those in most passages first; none where none are kept."""
        if self._graph is None:
            return EntityPage((), 0)
        return self._graph.search(part, kind, limit=limit, offset=offset)

    def facets(self, filters: SearchFilters) -> Mapping[str, Mapping[str, int]]:
        """Filter field → value → passages, each counted under the other fields' filters."""
        return self._catalogue.facets(filters.resolved(self._now()))

    # The library

    def document(self, document_id: int) -> Document:
        """Raises NotFound."""
        return self._catalogue.document(document_id)

    def documents(self, *, archived: bool | None = False) -> Sequence[Document]:
        """All living documents, newest first; archived True: the archived ones, None: both."""
        return self._catalogue.documents(archived=archived)

    def original(self, document_id: int) -> bytes:
        """The bytes that are read and drawn: those uploaded, or the unlocked copy of a file under a password. Raises
        NotFound."""
        document = self._catalogue.document(document_id)
        return self._blobs.get(document.readable or document.sha256)

    def uploaded(self, document_id: int) -> bytes:
        """The bytes as uploaded. Raises NotFound."""
        return self._blobs.get(self._catalogue.document(document_id).sha256)

    def unlock(self, document_id: int, password: str) -> None:
        """Open a file under a password, and queue it to be read. Raises EncryptedFile for a wrong one, BadRequest for
        an empty one, another BadFile for what no password opens."""
        self._unlocking.unlock(document_id, password)

    def replace(self, document_id: int, name: str, data: bytes) -> UploadReceipt:
        """Upload a file in place of one that cannot be read, with what was said of that, which is then removed. Raises
        what `upload` raises, and NotFound."""
        old = self._catalogue.document(document_id)
        receipt = self.upload(
            name, data, project=old.project, tags=old.tags, source_type=old.source_type, parent=old.parent, url=old.url
        )
        if receipt.document_id != document_id:
            self.delete(document_id)
        return receipt

    def page(self, document_id: int, number: int) -> Page:
        """Raises NotFound."""
        return self._catalogue.page(document_id, number)

    def passage(self, passage_id: int) -> Passage:
        """Raises NotFound."""
        found = self._catalogue.passages([passage_id])
        if passage_id not in found:
            raise NotFound(
                f"Passage {passage_id} is not in the library.", "Its document was replaced or deleted; search again."
            )
        return found[passage_id]

    def passages_of(self, document_id: int) -> Sequence[Passage]:
        """A document's passages in reading order."""
        return self._catalogue.passages_of(document_id)

    def statistics(self) -> Statistics:
        """What is in the library."""
        return replace(self._catalogue.statistics(), waiting_jobs=self._jobs.waiting())

    def last_searches(self, limit: int = 8) -> Sequence[tuple[str, int, datetime]]:
        """(question, hits, when), newest first, each question once."""
        return self._catalogue.last_searches(limit)

    def notices(self) -> Sequence[str]:
        """What runs weaker or slower than it should, in words; empty while models are not loaded."""
        return (*self._ingestor.notices, *filter(None, (self.uses.notice,)))

    def warm(self) -> None:
        """Load the models and indexes, so that the first search does not wait."""
        self._searcher.warm()
