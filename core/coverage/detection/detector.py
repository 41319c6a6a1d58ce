"""Detection: assesses every topic and column by searching only documents of that truth."""
# Longer than 300 lines: assessing cells and retrieving evidence for many topics at once share the truth columns.

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from core.coverage.detection.evidence import (
    WeightedPassage,
    reason_of,
    setup_rows,
    topic_words,
    weigh_candidate,
    weigh_rows,
)
from core.coverage.gaps import assembled, not_needed, state_of
from core.domain.coverage import Board, Cell, CellState, CoverageRun, GapKind, RunState, Topic
from core.domain.documents import Document, DocumentState, Label, Truth
from core.domain.embedding_models import ModelInUse
from core.domain.errors import BadRequest, FivefoldError, StoreFailed
from core.domain.filters import MetadataFilter, SearchFilters
from core.domain.queries import LEG_LABELS, ScoreProfile, SearchRequest
from core.domain.results import Citation
from core.knowledge.answerability import topic_model
from core.knowledge.english_reading import language_of_question
from core.knowledge.gaps import EvidenceRow, evidence_row
from core.knowledge.languages import is_other_language
from core.knowledge.translations import tables_digest
from core.knowledge.workspace_terms import WorkspaceTerms
from core.ports.catalogue import Catalogue
from core.ports.clock import Timer, stopwatch
from core.ports.model_choice import DEFAULT_CHOICE, ModelChoice, under_one_model
from core.ports.stores import Embedder, PassageIds, SparseIndex, VectorIndex, Vectors
from core.search.citations.cite import citation_of, cite
from core.search.query.expansion import SynonymFinder, wordings_of
from core.search.query.route import question_terms
from core.search.ranking.features import FeatureExtractor

__all__ = ["Detector", "NearPassage", "TopicCell", "assess", "cell_request", "nearest"]


@dataclass(frozen=True, slots=True)
class NearPassage:
    """Passages found for some topics. cosines: per topic, passage id → cosine in [-1, 1], for passages of either leg.
    dense_error, sparse_error: why a leg failed, "" when it did not."""

    cosines: tuple[Mapping[int, float], ...]
    dense_error: str = ""
    sparse_error: str = ""

    @property
    def error(self) -> str:
        """The errors in one sentence; "" when both legs worked."""
        broken = [("dense", self.dense_error), ("sparse", self.sparse_error)]
        return " ".join(f"The search {LEG_LABELS[leg]} failed: {error}" for leg, error in broken if error)


@dataclass(slots=True)
class _Best:
    """The best passages of each topic over the blocks seen so far."""

    top_k: int
    found: list[dict[int, float]] = field(default_factory=list)

    def take(self, ids: PassageIds, cosines: NDArray[np.float32]) -> None:
        """Add a block. cosines: shape (len(ids), topics)."""
        keep = min(self.top_k, len(ids))
        rows = np.argpartition(-cosines, keep - 1, axis=0)[:keep]
        for number, known in enumerate(self.found):
            chosen = rows[:, number]
            known |= dict(zip(ids[chosen].tolist(), cosines[chosen, number].tolist(), strict=True))
            if len(known) > self.top_k:
                best = sorted(known.items(), key=lambda item: (-item[1], item[0]))[: self.top_k]
                self.found[number] = dict(best)


def nearest(
    catalogue: Catalogue,
    vectors: VectorIndex,
    sparse: SparseIndex,
    questions: Sequence[str],
    topic_vectors: Vectors | FivefoldError,
    filters: SearchFilters,
    top_k: int,
) -> NearPassage:
    """The top_k passages of both legs for each question, with their cosines. filters: resolved. asked: the questions'
    vectors, shape (n, dim), or the error that prevented them.

    The result reports a failed leg, so that the other can still find evidence. Raises StoreFailed when the filters
    cannot be applied.
    """
    admissible = catalogue.admissible(filters)
    by_words, sparse_error = _by_words(sparse, questions, admissible, top_k)
    row_ids = np.unique(np.array([i for ids in by_words for i in ids], dtype=np.int64))
    if isinstance(topic_vectors, FivefoldError):
        return NearPassage(tuple(dict.fromkeys(ids, 0.0) for ids in by_words), topic_vectors.message, sparse_error)
    best = _Best(top_k, [{} for _ in questions])
    rows: dict[int, NDArray[np.float32]] = {}
    try:
        for ids, block in vectors.blocks(filters):
            cosines = np.clip(block @ topic_vectors.T, -1.0, 1.0)
            best.take(ids, cosines)
            for at in np.flatnonzero(np.isin(ids, row_ids, assume_unique=True)):
                rows[int(ids[at])] = cosines[at]
    except FivefoldError as failure:
        return NearPassage(tuple(dict.fromkeys(ids, 0.0) for ids in by_words), failure.message, sparse_error)
    found = [
        known | {i: float(rows[i][number]) for i in by_words[number] if i in rows}
        for number, known in enumerate(best.found)
    ]
    return NearPassage(tuple(found), "", sparse_error)


def _by_words(
    sparse: SparseIndex, questions: Sequence[str], admissible: PassageIds, top_k: int
) -> tuple[list[list[int]], str]:
    try:
        hits = sparse.search_many([question_terms(question) for question in questions], admissible, top_k)
    except FivefoldError as failure:
        return [[] for _ in questions], failure.message
    return [[hit.passage_id for hit in each.hits] for each in hits], ""


_METHOD = 6  # version of the assessment; increase it on changes, so that older cells are not reused

_AT_ONCE = 200

_TABLES_NAMED = 5

_READ_FOR = 25  # topics whose passages are read at once: at most 2,000, some 20 MB. Chosen by hand.

_NAMES_KEPT = 5000  # vectors of topic names, some 8 MB: a run asks for each name once per column

TopicCell = tuple[Topic, GapKind]
"""One cell to assess."""


def cell_request(topic: str, truth: Truth, project: str | None, profile: ScoreProfile) -> SearchRequest:
    """The search request that reproduces a cell on the search page."""
    filters = MetadataFilter.truths([truth]).replace(projects=(project,) if project else (), strict_labels=True)
    return SearchRequest(topic, filters=filters, profile=profile.ref)


@dataclass(frozen=True, slots=True)
class _TruthColumn:
    """Cells of one column, assessed together. filters: resolved, and restricted to `among` if given. searched: names of
    the configuration tables, for the explanation."""

    kind: GapKind
    topics: tuple[Topic, ...]
    project: str | None
    filters: SearchFilters
    profile: ScoreProfile
    searched: str = ""

    @property
    def row(self) -> EvidenceRow:
        """Weights and thresholds of its evidence."""
        return evidence_row(self.profile)

    def blank(self, topic: Topic, state: CellState, *, reason: str = "", error: str = "") -> Cell:
        """A cell without evidence."""
        request = cell_request(topic.name, self.kind.truth, self.project, self.profile)
        if self.kind is GapKind.CONFIGURATION:
            request = replace(request, filters=request.filters.replace(documents=self.filters.documents))
        return Cell(
            topic.name,
            self.kind.truth,
            state,
            0.0,
            self.row.covered,
            request=request,
            reason=reason,
            error=error,
            configuration=self.kind is GapKind.CONFIGURATION,
            topic_id=topic.id,
        )

    def blanks(self, state: CellState, *, reason: str = "", error: str = "") -> list[Cell]:
        """All cells of the column without evidence, in the same state."""
        return [self.blank(topic, state, reason=reason, error=error) for topic in self.topics]


class Detector:
    """Assesses cells over one tenant's stores. Thread-safe."""

    def __init__(
        self,
        catalogue: Catalogue,
        vectors: VectorIndex,
        sparse: SparseIndex,
        embedder: Embedder,
        choice: ModelChoice = DEFAULT_CHOICE,
        near: SynonymFinder | None = None,
    ) -> None:
        """choice: the embedding model in use; cells during whose assessment it changes are assessed again. near: None
        for a library without word vectors."""
        self._catalogue, self._vectors, self._sparse, self._embedder = catalogue, vectors, sparse, embedder
        self._measurer = FeatureExtractor(catalogue, vectors, sparse, near)
        self._choice = choice
        self._known: dict[tuple[ModelInUse, str], Vectors] = {}

    def configuration(self, profile: ScoreProfile) -> str:
        """Hex digest of all that determines states: thresholds, profile, model, method. Raises ModelUnavailable."""
        settings = {
            "evidence": asdict(evidence_row(profile)),
            "topics": asdict(topic_model()),
            "profile": profile.ref,
            "method": _METHOD,
            "translations": tables_digest(),
        }
        return sha256(json.dumps(settings | {"model": self._embedder.name}, sort_keys=True).encode()).hexdigest()

    def judge(
        self,
        cells: Sequence[TopicCell],
        *,
        project: str | None,
        now: datetime,
        profile: ScoreProfile,
        among: Sequence[int] = (),
    ) -> tuple[Cell, ...]:
        """One cell per pair, in order. among: use these documents only. profile: provides the thresholds.

        A cell is *not assessed* when its topic does not need the truth, or when no document of the project (or shared
        by all projects) is searchable. If the library has documents but none of the truth, the cell is a gap. If the
        search failed, or one leg failed and the other stayed below the threshold, the cell is an *error*, never a gap;
        store failures are reported in the cells and never raised.
        """
        return under_one_model(
            self._choice, lambda: self._judge(cells, project=project, now=now, profile=profile, among=among)
        )

    def _judge(
        self,
        cells: Sequence[TopicCell],
        *,
        project: str | None,
        now: datetime,
        profile: ScoreProfile,
        among: Sequence[int],
    ) -> tuple[Cell, ...]:
        vectors = self._topic_vectors(list(dict.fromkeys(topic.name for topic, _ in cells)))
        judged: dict[TopicCell, Cell] = {}
        for kind in dict.fromkeys(kind for _, kind in cells):
            topics = tuple(topic for topic, cell_kind in cells if cell_kind is kind)
            column = _TruthColumn(kind, topics, project, _scope_of(kind, project, now, among), profile)
            judged |= {(topic, kind): cell for topic, cell in zip(topics, self._column(column, vectors), strict=True)}
        return tuple(judged[each] for each in cells)

    def weighed(
        self,
        topics: Sequence[Topic],
        kind: GapKind,
        *,
        now: datetime,
        profile: ScoreProfile,
        project: str | None = None,
        most: int = 0,
    ) -> list[list[WeightedPassage]]:
        """The candidate passages or rows of a column per topic, strongest first, also those below the floor.

        most: passages per topic and leg; 0: as many as a cell looks at. Raises StoreFailed, ModelUnavailable.
        """
        names = [topic.name for topic in topics]
        vectors = self._topic_vectors(names)
        if isinstance(vectors, FivefoldError):
            raise vectors
        column = _TruthColumn(kind, tuple(topics), project, _scope_of(kind, project, now), profile)
        filters, nothing = self._scope(column)
        if nothing:
            return [[] for _ in topics]
        row = replace(column.row, passages=most or column.row.passages)
        weighed, error = self._weigh(
            replace(column, filters=filters), names, np.stack([vectors[name] for name in names]), row
        )
        if error:  # half a search proves nothing
            raise StoreFailed(error, "Check the database on the Settings page, then try again.")
        return weighed

    def _topic_vectors(self, names: Sequence[str]) -> Mapping[str, Vectors] | FivefoldError:
        known, model = self._known, self._choice.known()
        fresh = [name for name in names if (model, name) not in known]
        try:
            rows = self._embedder.embed(fresh) if fresh else ()
        except FivefoldError as failure:
            return failure
        known = known | {(model, name): row for name, row in zip(fresh, rows, strict=True)}
        # Replaced as a whole, so that other threads see either the old or the new value.
        self._known = known if len(known) <= _NAMES_KEPT else {}
        return {name: known[model, name] for name in names}

    def _column(self, column: _TruthColumn, vectors: Mapping[str, Vectors] | FivefoldError) -> list[Cell]:
        try:
            filters, why_not = self._scope(column)
            if why_not:
                cells = column.blanks(CellState.NOT_ASSESSED, reason=why_not)
            else:
                cells = self._search_column(replace(column, filters=filters), vectors)
        except FivefoldError as failure:
            cells = column.blanks(CellState.ERROR, error=str(failure))
        return [
            cell if column.kind.truth in topic.needs else not_needed(cell)
            for topic, cell in zip(column.topics, cells, strict=True)
        ]

    def _scope(self, column: _TruthColumn) -> tuple[SearchFilters, str]:
        """The filters of the search, or why there is nothing to search."""
        if not self._catalogue.count_documents(DocumentState.READY, column.project):
            return column.filters, "No document is ready."
        if column.kind is not GapKind.CONFIGURATION:
            return column.filters, ""
        tables = self._catalogue.setup_documents(column.filters)
        return column.filters.replace(documents=tuple(tables)), "" if tables else "No set-up table is in the library."

    def _setup_in_words(self, column: _TruthColumn) -> str:
        if column.kind is not GapKind.CONFIGURATION:
            return ""
        names = [document.name for document in self._catalogue.documents_by_id(column.filters.documents).values()]
        listed = ", ".join(sorted(names)[:_TABLES_NAMED])
        more = f" and {len(names) - _TABLES_NAMED} more" if len(names) > _TABLES_NAMED else ""
        return f" Looked through {listed}{more}."

    def _search_column(self, column: _TruthColumn, vectors: Mapping[str, Vectors] | FivefoldError) -> list[Cell]:
        row, names = column.row, [topic.name for topic in column.topics]
        if not names:
            return []
        topic_vectors = vectors if isinstance(vectors, FivefoldError) else np.stack([vectors[name] for name in names])
        weighed, error = self._weigh(column, names, topic_vectors, row)
        shown = [_shown(items, row) for items in weighed]
        documents = self._catalogue.documents_by_id(
            sorted({item.passage.document_id for items in shown for item in items})
        )
        described = replace(column, searched=self._setup_in_words(column))
        return [
            _assess_topic(described, topic, items, documents, error)
            for topic, items in zip(column.topics, weighed, strict=True)
        ]

    def _weigh(
        self, column: _TruthColumn, names: Sequence[str], topic_vectors: Vectors | FivefoldError, row: EvidenceRow
    ) -> tuple[list[list[WeightedPassage]], str]:
        """Candidate evidence per topic, strongest first, and the error, "" without one."""
        if column.kind is not GapKind.CONFIGURATION:
            near = nearest(
                self._catalogue, self._vectors, self._sparse, names, topic_vectors, column.filters, row.passages
            )
            return self._weigh_passages(names, topic_vectors, near), near.error
        if isinstance(topic_vectors, FivefoldError):
            raise topic_vectors
        tables = [setup_rows(self._catalogue.passages_of(document)) for document in column.filters.documents]
        rows = [each for table in tables for each in table]
        return weigh_rows(rows, column.topics, topic_vectors, self._embedder, row), ""

    def _weigh_passages(
        self, names: Sequence[str], topic_vectors: Vectors | FivefoldError, near: NearPassage
    ) -> list[list[WeightedPassage]]:
        """Candidate passages per topic, strongest first; ties by cosine, then passage id."""
        weighed = []
        languages: dict[int, Label] = {}
        for number, (name, found) in enumerate(zip(names, near.cosines, strict=True)):
            if number % _READ_FOR == 0:
                ids = {i for each in near.cosines[number : number + _READ_FOR] for i in each}
                stored = self._catalogue.found_passages(sorted(ids))
                languages |= self._languages({each.passage.document_id for each in stored.values()} - languages.keys())
            terms = () if near.sparse_error else topic_words(name)
            measured = self._measurer.measured_of(
                {i: stored[i] for i in sorted(found) if i in stored},
                terms,
                found,
                None if isinstance(topic_vectors, FivefoldError) else topic_vectors[number],
                self._measurer.near_words(tuple(dict.fromkeys(terms)), name),
                wordings_of(name),
                rarity=dict.fromkeys(terms, 1.0),  # that of the library would change with every upload
            )
            own = language_of_question(name)
            items = [
                weigh_candidate(each, other_language=is_other_language(languages[each.passage.document_id], own))
                for each in measured.candidates({"dense": sorted(found)})
            ]
            weighed.append(sorted(items, key=lambda item: (-item.score, -item.meaning, item.passage.id)))
        return weighed

    def _languages(self, document_ids: Collection[int]) -> Mapping[int, Label]:
        """Document id → label of its language; of a document that is gone, one that says nothing."""
        documents = self._catalogue.documents_by_id(sorted(document_ids))
        return {i: documents[i].labels.language if i in documents else Label() for i in document_ids}


def _scope_of(kind: GapKind, project: str | None, now: datetime, among: Sequence[int] = ()) -> SearchFilters:
    """The filters of a column, resolved. among: use these documents only."""
    projects = (project,) if project else ()
    scope = MetadataFilter.truths([kind.truth]).replace(projects=projects, documents=tuple(among), strict_labels=True)
    return scope.resolved(now)


def _enough(weighed: Sequence[WeightedPassage], row: EvidenceRow) -> list[WeightedPassage]:
    return [item for item in weighed if item.score >= row.covered]


def _short(weighed: Sequence[WeightedPassage], row: EvidenceRow) -> list[WeightedPassage]:
    return [item for item in weighed if row.floor <= item.score < row.covered]


def _shown(weighed: Sequence[WeightedPassage], row: EvidenceRow) -> list[WeightedPassage]:
    return [*_enough(weighed, row)[: row.shown], *_short(weighed, row)[: row.shown]]


def _assess_topic(
    column: _TruthColumn,
    topic: Topic,
    weighed: Sequence[WeightedPassage],
    documents: Mapping[int, Document],
    error: str,
) -> Cell:
    row = column.row
    enough = _enough(weighed, row)
    score = weighed[0].score if weighed and weighed[0].score >= row.floor else 0.0
    if error and score < row.covered:
        return column.blank(topic, CellState.ERROR, error=error)
    # All words have equal weight, as in the evidence score: IDF would change with every upload.
    weights = dict.fromkeys(topic_words(topic.name), 1.0)

    def cited(items: Sequence[WeightedPassage]) -> tuple[Citation, ...]:
        known = [item for item in items[: row.shown] if item.passage.document_id in documents]
        return tuple(_citation(item, documents[item.passage.document_id], weights) for item in known)

    return replace(
        column.blank(topic, state_of(score, row)),
        evidence_score=score,
        evidence=cited(enough),
        near_misses=cited(_short(weighed, row)),
        reason=reason_of(column.kind, weighed, len(enough), row) + ("" if enough else column.searched),
    )


def _citation(item: WeightedPassage, document: Document, weights: Mapping[str, float]) -> Citation:
    """Citation of the scored sentence, else of the passage's sentence that best matches the topic."""
    if item.sentence is not None:
        return citation_of(item.passage, document, item.sentence, item.share)
    return cite(item.passage, document, weights, cosines=item.cosines, most=1)[0]


def assess(
    detector: Detector,
    topics: Sequence[Topic],
    *,
    project: str | None = None,
    now: datetime,
    profile: ScoreProfile,
    terms: WorkspaceTerms,
    timer: Timer,
    on_cell: Callable[[int, int], None] = lambda done, total: None,
) -> Board:
    """A board that is not stored. `on_cell(done, total)` reports progress. Raises BadRequest without topics."""
    if not topics:
        raise BadRequest("There is no topic to assess.", "Give at least one topic, such as 'minimum wage'.")
    elapsed_ms = stopwatch(timer)
    # Topics of unstored boards have no ids; their positions stand in.
    numbered = tuple(replace(topic, id=topic.id or -number) for number, topic in enumerate(topics, 1))
    assessed = [(topic, kind) for kind in GapKind for topic in numbered]
    cells: list[Cell] = []
    for start in range(0, len(assessed), _AT_ONCE):
        cells += detector.judge(assessed[start : start + _AT_ONCE], project=project, now=now, profile=profile)
        on_cell(len(cells), len(assessed))
    run = CoverageRun(
        0, project, RunState.DONE, numbered, len(assessed), now, now, finished_at=now, profile=profile.ref
    )
    return replace(assembled(run, cells, terms), milliseconds=elapsed_ms())
