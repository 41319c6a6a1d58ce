"""The front door: what a page, a command or a route can ask of the product. One workbench serves one tenant."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256

from core.answers.desk import AnswerDesk
from core.answers.synthesis import Synthesis, Synthesiser
from core.coverage.desk import CoverageDesk
from core.documents import LABEL_FIELDS, Document, DocumentState, Label, Page, Passage, SourceType, TableRole
from core.errors import BadFile, BadRequest, EmptyFile, FivefoldError, NotFound
from core.filters import SearchFilters
from core.five_truths import FiveTruthsAnswer
from core.ingest.pipeline import Ingestor
from core.ingest.relabel import relabelled
from core.moments import right_now
from core.ports import BlobStore, Catalogue, JobQueue, SparseIndex, VectorIndex
from core.queries import ScoreProfile, SearchRequest
from core.reality.desk import RealityDesk
from core.results import Candidate, SearchResult, Statistics, UploadReceipt
from core.search.pipeline import Searcher
from core.tuning.desk import TuningDesk

__all__ = ["Workbench"]


class Workbench:
    """Upload, search and explain one tenant's library; `desk` is where its coverage is assessed and reviewed, `reality`
    where its tables are kept and asked, `tuning` where its scores are tuned and measured.

    Built by `storage.opening`; `now` is the only clock and can be replaced; `writer` is the language model that may
    tell an answer in running text, None when there is none.
    """

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
        writer: Synthesiser | None = None,
        now: Callable[[], datetime] = right_now,
    ) -> None:
        self._catalogue, self._vectors, self._sparse = catalogue, vectors, sparse
        self._blobs, self._jobs = blobs, jobs
        self._ingestor, self._searcher, self._now = ingestor, searcher, now
        self.desk, self.reality, self.tuning = desk, reality, tuning
        self._answers = AnswerDesk(searcher, catalogue, reality.figures, writer, now)

    # Upload flow: stored original → job → extract → classify → chunk → embed → store

    def upload(
        self,
        name: str,
        data: bytes,
        *,
        project: str | None = None,
        tags: Sequence[str] = (),
        source_type: SourceType = SourceType.UPLOAD,
    ) -> UploadReceipt:
        """Keep the original, then queue its ingestion; the same bytes in the same project are recognised.

        Raises EmptyFile for a file of 0 bytes, StoreFailed when nothing could be stored.
        """
        if not data:
            raise EmptyFile(f"'{name}' is empty (0 bytes).", "Export or download the file again, then upload it.")
        digest = sha256(data).hexdigest()
        known = self._catalogue.document_by_hash(digest, project)
        if known is not None:
            if known.state is DocumentState.FAILED:
                self.retry(known.id)
            return UploadReceipt(known.id, name, digest, duplicate_of=known.name)
        self._blobs.put(data)
        document = self._catalogue.add_document(
            Document(
                id=0,
                name=name,
                sha256=digest,
                size_bytes=len(data),
                state=DocumentState.PENDING,
                uploaded_at=self._now(),
                project=project,
                tags=tuple(tags),
                source_type=source_type,
                step="waiting",
            )
        )
        self._jobs.defer_ingest([document.id])
        return UploadReceipt(document.id, name, digest)

    def ingest(self, document_id: int) -> Document:
        """Run the whole upload flow for one stored original; called by jobs, safe to repeat.

        A bad file leaves the document failed with its reason; only a failing store raises.
        """
        document = self._catalogue.document(document_id)
        step = "read"
        replaced: list[int] = []

        def on_step(name: str) -> None:
            nonlocal step
            step = name
            self._catalogue.mark(document_id, step=name)

        try:
            data = self._blobs.get(document.sha256)
            corrections = self._catalogue.corrections(document.sha256)
            ingested = self._ingestor.run(
                document,
                data,
                corrections,
                on_step,
                lambda tables: replaced.extend(self.reality.load(document, tables)),
            )
            on_step("store")
            self._store(ingested.document, ingested.pages, ingested.passages, ingested.vectors)
            self._follow_tables(document_id, replaced)
        except BadFile as error:
            self._catalogue.fail(document_id, step=step, reason=error.message, remedy=error.hint)
        return self._catalogue.document(document_id)

    def _follow_tables(self, document_id: int, replaced: Sequence[int]) -> None:
        """What new tables replaced leaves the search, not lost, once the new text is there; their passages take over
        the role an analyst has set on the version before."""
        for each in replaced:
            self.archive(each, archived=True)
        for table in self.reality.tables():
            if table.document_id == document_id and table.role_by == "analyst":
                self.set_table_role(table.name, table.role)

    def _store(self, document: Document, pages: Sequence[Page], passages: Sequence[Passage], vectors: object) -> None:
        self._sparse.delete([document.id])
        self._vectors.delete([document.id])
        stored = self._catalogue.save_ingested(document, pages, passages, vectors)  # type: ignore[arg-type]
        self._vectors.add(stored, vectors)  # type: ignore[arg-type]
        self._sparse.add(stored)

    def fail(self, document_id: int, error: Exception) -> None:
        """Leave a document failed after an error no reader explains (its worker was killed, or ran out of retries)."""
        reason = error.message if isinstance(error, FivefoldError) else f"Unexpected {type(error).__name__}: {error}"
        remedy = error.hint if isinstance(error, FivefoldError) else "Retry; if it fails again, report this file."
        step = self._catalogue.document(document_id).step
        self._catalogue.fail(document_id, step=step, reason=reason, remedy=remedy)

    def retry(self, document_id: int) -> None:
        """Queue a document's ingestion again."""
        self._catalogue.mark(document_id, step="waiting")
        self._jobs.defer_ingest([document_id])

    def archive(self, document_id: int, *, archived: bool) -> None:
        """Take a document out of searches and counts, or put it back; nothing of it is deleted."""
        document = self._catalogue.document(document_id)
        passages = [replace(each, archived=archived) for each in self._catalogue.passages_of(document_id)]
        self._catalogue.save_labels(replace(document, archived=archived), passages)
        self._vectors.update(passages)

    def delete(self, document_id: int) -> None:
        """Remove a document from every index and the catalogue; its original stays until purged. A version of a table
        that it had replaced is current again."""
        for restored in self.reality.forget(document_id):
            self.archive(restored, archived=False)
        self._sparse.delete([document_id])
        self._vectors.delete([document_id])
        self._catalogue.delete(document_id)

    def correct(self, document_id: int, field: str, value: str, who: str = "analyst") -> Document:
        """Set a label by hand: stored, confirmed, and it wins for ever, also when the document is read again.

        Raises BadRequest for an unknown field or a value outside a closed set.
        """
        if field not in LABEL_FIELDS:
            raise BadRequest(f"'{field}' is not a label.", f"Labels are: {', '.join(LABEL_FIELDS)}.")
        document = self._catalogue.document(document_id)
        before = self._catalogue.passages_of(document_id)
        changed, passages = relabelled(document, before, {field: Label(value, 1.0, confirmed=True)})
        self._catalogue.correct(document.sha256, field, value, who, self._now())
        self._catalogue.save_labels(changed, passages)
        self._vectors.update(passages)
        return self._catalogue.document(document_id)

    def set_table_role(self, name: str, role: TableRole) -> None:
        """Say what a table is for; its passages follow, so that coverage looks for set-up rows where they are."""
        table = self.reality.set_role(name, role)
        pages: dict[int, bool] = {}
        changed = []
        for passage in self._catalogue.passages_of(table.document_id):
            if passage.rows is None:
                continue
            if passage.page not in pages:
                label = self._catalogue.page(table.document_id, passage.page).label
                pages[passage.page] = label == table.label or label.startswith(f"{table.label}, rows ")
            if pages[passage.page]:
                changed.append(replace(passage, table_role=role if role is TableRole.SETUP else None))
        self._catalogue.save_labels(self._catalogue.document(table.document_id), changed)
        self._vectors.update(changed)

    # Search flow

    def search(self, request: SearchRequest, *, remember: bool = True) -> SearchResult:
        """Answer one question. Raises BadRequest for an unknown profile, StoreFailed when no leg could search."""
        result = self._searcher.search(request, self._now())
        if remember and request.question.strip():
            self._catalogue.save_searched(request.question, len(result.hits), self._now())
        return result

    def rescore(self, result: SearchResult, profile: ScoreProfile) -> SearchResult:
        """The same candidates under another profile; touches no store."""
        return self._searcher.rescore(result, profile, self._now())

    def explain(self, result: SearchResult, passage_id: int) -> Candidate:
        """What was measured of any candidate of a result, dropped or not. Raises NotFound."""
        for candidate in result.candidates:
            if candidate.passage.id == passage_id:
                return candidate
        raise NotFound(f"Passage {passage_id} is not among the candidates.", "Search again; the library has changed.")

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

    def facets(self, filters: SearchFilters) -> Mapping[str, Mapping[str, int]]:
        """Filter field → value → passages, each counted under the other fields' filters."""
        return self._catalogue.facets(filters.resolved(self._now()))

    # The library

    def document(self, document_id: int) -> Document:
        """Raises NotFound."""
        return self._catalogue.document(document_id)

    def documents(self) -> Sequence[Document]:
        """All living documents, newest first."""
        return self._catalogue.documents()

    def original(self, document_id: int) -> bytes:
        """The bytes as uploaded. Raises NotFound."""
        return self._blobs.get(self._catalogue.document(document_id).sha256)

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
        return self._ingestor.notices

    def warm(self) -> None:
        """Load the models and indexes, so that the first search does not wait."""
        self._searcher.warm()
