"""Cells judged: for every topic and column, whether the library supports it, by retrieval restricted to that truth."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from hashlib import sha256
from time import perf_counter

from core.boards import Board, Cell, CellState, GapKind, Run, RunState, Topic
from core.coverage.configured import setup_rows, weighed_rows
from core.coverage.evidence import (
    Weighed,
    Windows,
    reason_of,
    share_together,
    topic_stems,
    topic_words,
    weigh,
    windows_of,
)
from core.coverage.gaps import assembled, state_of
from core.coverage.retrieve import Near, nearest
from core.documents import Document, DocumentState, Truth
from core.errors import BadRequest, FivefoldError
from core.filters import MetadataFilter, SearchFilters
from core.ports import Catalogue, Embedder, SparseIndex, VectorIndex, Vectors
from core.queries import ScoreProfile, SearchRequest
from core.results import Citation
from core.search.cite import citation_of, cite
from core.tables.gaps import EvidenceRow, evidence_row

__all__ = ["Detector", "Wanted", "assess", "cell_request"]

_METHOD = 4  # counts changes of how cells are judged, so that older cells are not carried over
_AT_ONCE = 200
_TABLES_NAMED = 5
_NAMES_KEPT = 5000  # vectors of topic names, some 8 MB: a run asks for each name once per column

Wanted = tuple[Topic, GapKind]
"""One cell to judge."""


def cell_request(topic: str, truth: Truth, project: str | None, profile: ScoreProfile) -> SearchRequest:
    """The exact request of a cell, so that Search reproduces it."""
    filters = MetadataFilter.truths([truth]).replace(projects=(project,) if project else ())
    return SearchRequest(topic, filters=filters, profile=profile.ref)


@dataclass(frozen=True, slots=True)
class _Column:
    """Cells of one column to be judged together. filters: resolved, and narrowed to `among` when it is given.
    searched: the set-up tables, in words, so that "no row" says of what."""

    kind: GapKind
    topics: tuple[Topic, ...]
    project: str | None
    filters: SearchFilters
    profile: ScoreProfile
    searched: str = ""

    @property
    def row(self) -> EvidenceRow:
        """How its evidence is weighed."""
        return evidence_row(self.profile)

    def blank(self, topic: Topic, state: CellState, *, reason: str = "", error: str = "") -> Cell:
        """A cell in a state that needs no evidence."""
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
        """Every cell in the same state."""
        return [self.blank(topic, state, reason=reason, error=error) for topic in self.topics]


class Detector:
    """Judges cells over one tenant's stores. Thread-safe."""

    def __init__(self, catalogue: Catalogue, vectors: VectorIndex, sparse: SparseIndex, embedder: Embedder) -> None:
        self._catalogue, self._vectors, self._sparse, self._embedder = catalogue, vectors, sparse, embedder
        self._known: dict[str, Vectors] = {}

    def configuration(self, profile: ScoreProfile) -> str:
        """Hex digest of what decides states: thresholds, profile, model, method. Raises ModelUnavailable."""
        said = {"evidence": asdict(evidence_row(profile)), "profile": profile.ref, "method": _METHOD}
        return sha256(json.dumps(said | {"model": self._embedder.name}, sort_keys=True).encode()).hexdigest()

    def judge(
        self,
        wanted: Sequence[Wanted],
        *,
        project: str | None,
        now: datetime,
        profile: ScoreProfile,
        among: Sequence[int] = (),
    ) -> tuple[Cell, ...]:
        """One cell per pair, in their order. among: judge by these documents only. profile: whose thresholds hold.

        A cell is *not assessed* when its topic does not need the truth, or when no document of the project (or shared
        by all projects) is ready to be searched. A library that has documents but none of a truth has a gap there:
        nothing supports the topic. A cell whose search failed, wholly or in one leg without reaching the threshold on
        the other, is in *error*, never a gap; a failing store is told in the cells and never raised.
        """
        vectors = self._asked(list(dict.fromkeys(topic.name for topic, _ in wanted)))
        judged: dict[Wanted, Cell] = {}
        for kind in dict.fromkeys(kind for _, kind in wanted):
            topics = tuple(topic for topic, asked in wanted if asked is kind)
            projects = (project,) if project else ()
            scope = MetadataFilter.truths([kind.truth]).replace(projects=projects, documents=tuple(among))
            column = _Column(kind, topics, project, scope.resolved(now), profile)
            judged |= {(topic, kind): cell for topic, cell in zip(topics, self._column(column, vectors), strict=True)}
        return tuple(judged[each] for each in wanted)

    def _asked(self, names: Sequence[str]) -> Mapping[str, Vectors] | FivefoldError:
        known = self._known
        fresh = [name for name in names if name not in known]
        try:
            rows = self._embedder.embed(fresh) if fresh else ()
        except FivefoldError as failure:
            return failure
        known = known | dict(zip(fresh, rows, strict=True))
        # Replaced as a whole, so that other threads read either the old or the new.
        self._known = known if len(known) <= _NAMES_KEPT else {}
        return {name: known[name] for name in names}

    def _column(self, column: _Column, vectors: Mapping[str, Vectors] | FivefoldError) -> list[Cell]:
        needed = [topic for topic in column.topics if column.kind.truth in topic.needs]
        try:
            filters, why_not = self._scope(column)
            if why_not:
                cells = replace(column, topics=tuple(needed)).blanks(CellState.NOT_ASSESSED, reason=why_not)
            else:
                cells = self._searched(replace(column, topics=tuple(needed), filters=filters), vectors)
        except FivefoldError as failure:
            cells = replace(column, topics=tuple(needed)).blanks(CellState.ERROR, error=str(failure))
        known = dict(zip(needed, cells, strict=True))
        words = "Not needed for this topic."
        return [
            known.get(topic) or column.blank(topic, CellState.NOT_ASSESSED, reason=words) for topic in column.topics
        ]

    def _scope(self, column: _Column) -> tuple[SearchFilters, str]:
        """What to search among, or why there is nothing to search."""
        if not any(_in_scope(document, column.project) for document in self._catalogue.documents()):
            return column.filters, "No document is ready."
        if column.kind is not GapKind.CONFIGURATION:
            return column.filters, ""
        tables = self._catalogue.setup_documents(column.filters)
        return column.filters.replace(documents=tuple(tables)), "" if tables else "No set-up table is in the library."

    def _setup_in_words(self, column: _Column) -> str:
        if column.kind is not GapKind.CONFIGURATION:
            return ""
        names = [document.name for document in self._catalogue.documents_by_id(column.filters.documents).values()]
        told = ", ".join(sorted(names)[:_TABLES_NAMED])
        more = f" and {len(names) - _TABLES_NAMED} more" if len(names) > _TABLES_NAMED else ""
        return f" Looked through {told}{more}."

    def _searched(self, column: _Column, vectors: Mapping[str, Vectors] | FivefoldError) -> list[Cell]:
        import numpy as np

        row, names = column.row, [topic.name for topic in column.topics]
        if not names:
            return []
        asked = vectors if isinstance(vectors, FivefoldError) else np.stack([vectors[name] for name in names])
        weighed, error = self._weighed(column, names, asked, row)
        shown = [_shown(items, row) for items in weighed]
        documents = self._catalogue.documents_by_id(
            sorted({item.passage.document_id for items in shown for item in items})
        )
        told = replace(column, searched=self._setup_in_words(column))
        return [
            _judged(told, topic, items, documents, error) for topic, items in zip(column.topics, weighed, strict=True)
        ]

    def _weighed(
        self, column: _Column, names: Sequence[str], asked: Vectors | FivefoldError, row: EvidenceRow
    ) -> tuple[list[list[Weighed]], str]:
        """Per topic what could carry it, strongest first, and what went wrong, "" when nothing did."""
        if column.kind is not GapKind.CONFIGURATION:
            near = nearest(self._catalogue, self._vectors, self._sparse, names, asked, column.filters, row.passages)
            return self._weighed_passages(column.topics, near, row), near.error
        if isinstance(asked, FivefoldError):
            raise asked
        tables = [setup_rows(self._catalogue.passages_of(document)) for document in column.filters.documents]
        rows = [each for table in tables for each in table]
        return weighed_rows(rows, column.topics, asked, self._embedder, row), ""

    def _weighed_passages(self, topics: Sequence[Topic], near: Near, row: EvidenceRow) -> list[list[Weighed]]:
        """Per topic the passages that could carry it, strongest first; ties by meaning, then passage id.

        Passages below the floor of meaning score 0 whatever their words, so only the nearest of them is looked at.
        """
        close = [
            {i for i, cosine in found.items() if cosine >= row.meaning_floor} | set(_first(found))
            for found in near.cosines
        ]
        passages = self._catalogue.passages(sorted({i for ids in close for i in ids}))
        windows: dict[int, Windows] = {i: windows_of(passage) for i, passage in passages.items()}
        weighed = []
        for topic, ids, found in zip(topics, close, near.cosines, strict=True):
            stems = topic_stems(topic.name)
            items = [weigh(passages[i], found[i], share_together(windows[i], stems), row) for i in ids if i in passages]
            weighed.append(sorted(items, key=lambda item: (-item.score, -item.meaning, item.passage.id)))
        return weighed


def _in_scope(document: Document, project: str | None) -> bool:
    return document.state is DocumentState.READY and (project is None or document.project in (None, project))


def _first(cosines: Mapping[int, float]) -> list[int]:
    return [max(cosines, key=lambda i: (cosines[i], -i))] if cosines else []


def _enough(weighed: Sequence[Weighed], row: EvidenceRow) -> list[Weighed]:
    return [item for item in weighed if item.score >= row.covered]


def _short(weighed: Sequence[Weighed], row: EvidenceRow) -> list[Weighed]:
    return [item for item in weighed if 0 < item.score < row.covered]


def _shown(weighed: Sequence[Weighed], row: EvidenceRow) -> list[Weighed]:
    return [*_enough(weighed, row)[: row.shown], *_short(weighed, row)[: row.shown]]


def _judged(
    column: _Column,
    topic: Topic,
    weighed: Sequence[Weighed],
    documents: Mapping[int, Document],
    error: str,
) -> Cell:
    row = column.row
    enough = _enough(weighed, row)
    score = weighed[0].score if weighed else 0.0
    if error and score < row.covered:
        return column.blank(topic, CellState.ERROR, error=error)
    # All words count alike, as they do in the evidence: rarity would change with every upload.
    asked = dict.fromkeys(topic_words(topic.name), 1.0)

    def cited(items: Sequence[Weighed]) -> tuple[Citation, ...]:
        known = [item for item in items[: row.shown] if item.passage.document_id in documents]
        return tuple(_citation(item, documents[item.passage.document_id], asked) for item in known)

    return replace(
        column.blank(topic, state_of(score, row)),
        evidence_score=score,
        evidence=cited(enough),
        near_misses=cited(_short(weighed, row)),
        reason=reason_of(column.kind, weighed, len(enough), row.covered) + ("" if enough else column.searched),
    )


def _citation(item: Weighed, document: Document, asked: Mapping[str, float]) -> Citation:
    """The sentence that carries it, else the one of its passage that says most of the topic."""
    if item.sentence is not None:
        return citation_of(item.passage, document, item.sentence, item.share)
    return cite(item.passage, document, asked, most=1)[0]


def assess(
    detector: Detector,
    topics: Sequence[Topic],
    *,
    project: str | None = None,
    now: datetime,
    profile: ScoreProfile,
    on_cell: Callable[[int, int], None] = lambda done, total: None,
) -> Board:
    """A board that is not kept. `on_cell(done, total)` reports progress. Raises BadRequest without topics."""
    if not topics:
        raise BadRequest("There is no topic to assess.", "Give at least one topic, such as 'minimum wage'.")
    started = perf_counter()
    # Boards that are not kept have no ids; places stand in for them.
    numbered = tuple(replace(topic, id=topic.id or -place) for place, topic in enumerate(topics, 1))
    wanted = [(topic, kind) for kind in GapKind for topic in numbered]
    cells: list[Cell] = []
    for start in range(0, len(wanted), _AT_ONCE):
        cells += detector.judge(wanted[start : start + _AT_ONCE], project=project, now=now, profile=profile)
        on_cell(len(cells), len(wanted))
    run = Run(0, project, RunState.DONE, numbered, len(wanted), now, now, finished_at=now, profile=profile.ref)
    return replace(assembled(run, cells), milliseconds=(perf_counter() - started) * 1000)
