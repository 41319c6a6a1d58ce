"""The board: for every topic and truth, whether the library supports it, from retrieval restricted to that truth."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter
from typing import Protocol

from core.boards import Board, Cell, CellState, Topic
from core.coverage.evidence import Weighed, weigh_all
from core.coverage.gaps import coverage_of, gaps_of, score_in_words, state_of
from core.coverage.topics import checked_topics
from core.documents import Document, DocumentState, Truth
from core.errors import FivefoldError
from core.filters import MetadataFilter
from core.ports import Catalogue
from core.queries import Route, SearchRequest
from core.results import Citation, SearchResult
from core.search.cite import cite
from core.tables.gaps import EvidenceRow, gap_table

__all__ = ["Searches", "assess", "cell_request"]

_PROFILE = "balanced"
_CELLS_PER_BATCH = 40


class Searches(Protocol):
    """What coverage needs of core.search.pipeline.Searcher."""

    def search(self, request: SearchRequest, now: datetime) -> SearchResult: ...

    def search_many(self, requests: Sequence[SearchRequest], now: datetime) -> Sequence[SearchResult]: ...


@dataclass(frozen=True, slots=True)
class _Blank:
    """A cell before its judgment."""

    topic: str
    truth: Truth
    request: SearchRequest

    def cell(self, state: CellState, *, reason: str = "", error: str = "") -> Cell:
        """The cell in a state that needs no evidence."""
        threshold = gap_table().evidence.covered
        return Cell(self.topic, self.truth, state, 0.0, threshold, request=self.request, reason=reason, error=error)


def assess(
    searcher: Searches,
    catalogue: Catalogue,
    topics: Sequence[str],
    *,
    project: str | None = None,
    now: datetime,
    on_cell: Callable[[int, int], None] = lambda done, total: None,
    truths: Sequence[Truth] = tuple(Truth),
) -> Board:
    """Topics × truths, each cell with its score, evidence and the request that reproduces it.

    A cell is *not assessed* when its truth was not searched: it is not among `truths`, or no document of the project
    (or shared by all projects) is ready to be searched. A library that has documents but none of a truth has a gap
    there: nothing supports the topic. A cell whose search failed, wholly or in one leg without reaching the threshold
    on the other, is in *error*, never a gap. `on_cell(done, total)` reports progress.

    Raises BadRequest without topics.
    """
    started = perf_counter()
    named = checked_topics(topics)
    blanks = [_Blank(topic, truth, cell_request(topic, truth, project)) for topic in named for truth in Truth]
    cells: list[Cell] = []
    routes: dict[str, Route] = {}
    for cell, route in _judged_cells(searcher, catalogue, blanks, project, now, frozenset(truths)):
        cells.append(cell)
        if route is not None:
            routes.setdefault(cell.topic, route)
        on_cell(len(cells), len(blanks))
    return Board(
        topics=tuple(Topic(name, project=project) for name in named),
        cells=tuple(cells),
        gaps=gaps_of(cells, routes),
        coverage=coverage_of(cells),
        profile=_PROFILE,
        project=project,
        taken_at=now,
        milliseconds=(perf_counter() - started) * 1000,
    )


def cell_request(topic: str, truth: Truth, project: str | None) -> SearchRequest:
    """The exact request of a cell, so that Search reproduces it."""
    filters = MetadataFilter.truths([truth]).replace(projects=(project,) if project else ())
    return SearchRequest(topic, filters=filters, profile=_PROFILE)


def _judged_cells(
    searcher: Searches,
    catalogue: Catalogue,
    blanks: Sequence[_Blank],
    project: str | None,
    now: datetime,
    truths: frozenset[Truth],
) -> Iterator[tuple[Cell, Route | None]]:
    """Every cell in order, with the route read from its topic where it was searched."""
    try:
        searchable = any(_in_scope(document, project) for document in catalogue.documents())
    except FivefoldError as error:
        yield from ((blank.cell(CellState.ERROR, error=str(error)), None) for blank in blanks)
        return
    row = gap_table().evidence
    for start in range(0, len(blanks), _CELLS_PER_BATCH):
        batch = blanks[start : start + _CELLS_PER_BATCH]
        asked = [blank for blank in batch if searchable and blank.truth in truths]
        answers = dict(zip(asked, _answers(searcher, [blank.request for blank in asked], now), strict=True))
        for blank in batch:
            answer = answers.get(blank)
            if answer is None:
                words = f"{blank.truth.capitalize()} was not asked for." if searchable else "No document is ready."
                yield blank.cell(CellState.NOT_ASSESSED, reason=words), None
            elif isinstance(answer, FivefoldError):
                yield blank.cell(CellState.ERROR, error=str(answer)), None
            else:
                yield _judged(blank, answer, row), answer.route


def _in_scope(document: Document, project: str | None) -> bool:
    return document.state is DocumentState.READY and (project is None or document.project in (None, project))


def _answers(
    searcher: Searches, requests: Sequence[SearchRequest], now: datetime
) -> Sequence[SearchResult | FivefoldError]:
    """One result or failure per request: a batch that fails is asked one by one, so one bad cell spoils no other."""
    try:
        return searcher.search_many(requests, now)
    except FivefoldError:
        return [_answer(searcher, request, now) for request in requests]


def _answer(searcher: Searches, request: SearchRequest, now: datetime) -> SearchResult | FivefoldError:
    try:
        return searcher.search(request, now)
    except FivefoldError as error:
        return error


def _judged(blank: _Blank, result: SearchResult, row: EvidenceRow) -> Cell:
    weighed = weigh_all(result.candidates[: row.passages], blank.topic, row)
    score = weighed[0].score if weighed else 0.0
    broken = next((leg for leg in result.legs if leg.error), None)
    if broken is not None and score < row.covered:
        return blank.cell(CellState.ERROR, error=f"The {broken.leg} search failed: {broken.error}")
    enough = [item for item in weighed if item.score >= row.covered]
    short = [item for item in weighed if 0 < item.score < row.covered]
    return Cell(
        topic=blank.topic,
        truth=blank.truth,
        state=state_of(score),
        evidence_score=score,
        threshold=row.covered,
        evidence=tuple(_citation(item, result) for item in enough[: row.shown]),
        near_misses=tuple(_citation(item, result) for item in short[: row.shown]),
        request=blank.request,
        reason=_reason(blank.truth, weighed, len(enough), row.covered),
    )


def _citation(weighed: Weighed, result: SearchResult) -> Citation:
    """The sentence that says most of the topic."""
    passage = weighed.candidate.passage
    return cite(passage, result.documents[passage.document_id], result.rarity, most=1)[0]


def _reason(truth: Truth, weighed: Sequence[Weighed], enough: int, threshold: float) -> str:
    if not weighed:
        return f"The library holds no {truth} passage that could support it."
    best = weighed[0]
    score = score_in_words(best.score)
    said = f"meaning {best.meaning:.2f}, {best.share:.0%} of the topic's words stand together"
    if enough:
        reach = "passages reach" if enough > 1 else "passage reaches"
        return f"{enough} {reach} {threshold:.2f}; best {score}: {said}."
    if best.score == 0:
        return f"No {truth} passage is about it; of the nearest, {said}."
    return f"The best {truth} passage scores {score}, below {threshold:.2f}: {said}."
