"""One question → what each truth says, where they agree and disagree, what is missing. Extractive: nothing is written
that does not stand in the library, and the same library gives the same answer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from core.answers.agreeing import agreements_of
from core.answers.choosing import best_sentences, evidence_of, nearest_miss
from core.answers.confidence import confidence_of
from core.boards import Board, Cell, CellState, Topic
from core.coverage.conflicts import find_conflicts
from core.coverage.gaps import gaps_of, state_of
from core.documents import Document, Passage, Truth
from core.errors import BadRequest, FivefoldError, ModelUnavailable, StoreFailed
from core.filters import SearchFilters
from core.five_truths import Figure, FiveTruthsAnswer, TruthAnswer, TruthState
from core.queries import SearchRequest
from core.results import SearchResult
from core.reviews import Conflict
from core.search.route import read_route
from core.tables.gaps import gap_table

__all__ = ["Figures", "Search", "answer_of_five", "truth_request"]

Search = Callable[[Sequence[SearchRequest]], Sequence[SearchResult]]
"""Answers requests in their order. May raise StoreFailed or ModelUnavailable."""
Figures = Callable[[str], Sequence[Figure]]
"""The numbers that answer a question, counted from tables. May raise FivefoldError."""

_BROKEN = (StoreFailed, ModelUnavailable)
_LEAST_EVIDENCE = 0.1
"""A search counts as answered when its passages share enough with the question; asked of one truth alone, that may be
words without their matter. Below this, far under what coverage calls partial, they are no answer."""
_STRAY = "What was found shares words with the question, but is not about it."
_CELL_STATES = {TruthState.FAILED: CellState.ERROR, TruthState.NOT_ASKED: CellState.NOT_ASSESSED}


@dataclass(frozen=True, slots=True)
class _Told:
    """One truth's answer with what it was made of. error: what failed on the way, "" when nothing did."""

    answer: TruthAnswer
    result: SearchResult | None = None
    error: str = ""


def answer_of_five(
    question: str,
    *,
    search: Search,
    figures: Figures,
    profile: str,
    filters: SearchFilters,
    now: datetime,
) -> FiveTruthsAnswer:
    """Ask all five truths. A truth the filters leave out is not asked; one whose search failed is failed, not silent.

    Raises BadRequest for an empty question or an unknown profile, and whatever the search raises that is no failure of
    a store or a model.
    """
    question = question.strip()
    if not question:
        raise BadRequest("The question is empty.", "Type what you want to know.")
    asked = [truth for truth in Truth if _is_asked(truth, filters)]
    results = _searched([truth_request(question, truth, filters, profile) for truth in asked], search)
    counted = _counted(question, figures) if Truth.REALITY in asked else ()
    found = dict(zip(asked, results, strict=True))
    told = [_told(question, truth, found.get(truth), counted) for truth in Truth]
    answer = _put_together(question, told, profile, now)
    return replace(answer, filters_in_words=_in_words(filters, told), notices=_notices(told, counted))


def _put_together(question: str, told: Sequence[_Told], profile: str, now: datetime) -> FiveTruthsAnswer:
    """The truths side by side: what each needs, where they meet, and how far that carries."""
    route = read_route(question, now.date())
    topic = Topic(question, jurisdiction=route.jurisdiction)
    cells = tuple(_cell(each, topic) for each in told)
    truths, holes = _with_needs(told, cells, topic)
    conflicts = _conflicts(told, Board((topic,), cells, (), None, profile, None, now))
    agreements = agreements_of(truths)
    confidence, reason = confidence_of(truths, route, conflicts, agreements)
    holes = tuple(sorted(holes, key=lambda truth: truth not in route.truths))  # what the question needs comes first
    needed = _to_raise(truths, holes, conflicts)
    return FiveTruthsAnswer(question, now, profile, (), truths, agreements, conflicts, confidence, reason, needed)


def truth_request(question: str, truth: Truth, filters: SearchFilters, profile: str) -> SearchRequest:
    """The exact search behind one truth's answer, so that the Search page can show it."""
    return SearchRequest(question, filters=filters.replace(truths=(truth.value,), exclude_truths=()), profile=profile)


def _is_asked(truth: Truth, filters: SearchFilters) -> bool:
    return truth not in filters.exclude_truths and (not filters.truths or truth in filters.truths)


def _searched(requests: Sequence[SearchRequest], search: Search) -> list[SearchResult | FivefoldError]:
    """All at once; when that breaks, one by one, so that what fails for one truth does not take the others along."""
    try:
        return list(search(requests)) if requests else []
    except _BROKEN:
        return [_alone(request, search) for request in requests]


def _alone(request: SearchRequest, search: Search) -> SearchResult | FivefoldError:
    try:
        return search([request])[0]
    except _BROKEN as failure:
        return failure


def _counted(question: str, figures: Figures) -> tuple[Figure, ...] | FivefoldError:
    try:
        return tuple(figures(question))
    except FivefoldError as failure:
        return failure


def _told(
    question: str,
    truth: Truth,
    result: SearchResult | FivefoldError | None,
    counted: tuple[Figure, ...] | FivefoldError,
) -> _Told:
    """What one truth says, before it is known what it needs. result: None when it was not asked."""
    if result is None:
        words = "The filters leave this truth out."
        return _Told(TruthAnswer(truth, TruthState.NOT_ASKED, silence=words))
    searched = result if isinstance(result, SearchResult) else None
    own = counted if truth is Truth.REALITY else ()
    shown = own if isinstance(own, tuple) else ()
    error = _error(result) or ("" if isinstance(own, tuple) else own.message)
    hits = searched.hits if searched else ()
    score = evidence_of(question, hits)
    stray = bool(hits) and score < _LEAST_EVIDENCE and not error  # half a search cannot tell
    if stray:
        hits, score = (), 0.0
    if shown:  # counted from the table itself: as good as the least sentence that covers a topic
        score = max(score, gap_table().evidence.covered)
    if hits or shown:
        answer = TruthAnswer(truth, TruthState.ANSWERED, best_sentences(hits), shown, score)
    elif error:
        answer = TruthAnswer(truth, TruthState.FAILED, silence=f"It could not be searched: {error}")
    else:
        silence = _STRAY if stray or searched is None else searched.silence
        answer = TruthAnswer(truth, TruthState.SILENT, silence=silence)
    return _Told(answer, searched, error)


def _error(result: SearchResult | FivefoldError) -> str:
    if isinstance(result, FivefoldError):
        return result.message
    return " ".join(f"The {leg.leg} search failed: {leg.error}" for leg in result.legs if leg.error)


def _cell(told: _Told, topic: Topic) -> Cell:
    """The truth as a cell of a board of one topic: what holes and conflicts are read from."""
    answer, covered = told.answer, gap_table().evidence.covered
    state = _CELL_STATES.get(answer.state) or state_of(answer.evidence_score)
    if told.error and state is not CellState.COVERED:
        state = CellState.ERROR  # half a search proves no hole
    missed = nearest_miss(topic.name, told.result) if told.result and not answer.citations else ()
    proof = answer.citations
    return Cell(topic.name, answer.truth, state, answer.evidence_score, covered, evidence=proof, near_misses=missed)


def _with_needs(
    told: Sequence[_Told], cells: Sequence[Cell], topic: Topic
) -> tuple[tuple[TruthAnswer, ...], tuple[Truth, ...]]:
    """Each truth with what it needs, and the truths with a hole, the worst first."""
    quoted = replace(topic, name=f"“{topic.name}”")
    gaps = gaps_of([replace(cell, topic=quoted.name) for cell in cells], {quoted.name: quoted})
    needs = {gap.truth: gap.recommendation for gap in gaps} | {
        cell.truth: f"Ask again when the {cell.truth} documents can be searched: {each.error}"
        for cell, each in zip(cells, told, strict=True)
        if cell.state is CellState.ERROR
    }
    answers = tuple(replace(each.answer, needed=needs.get(each.answer.truth, "")) for each in told)
    return answers, tuple(gap.truth for gap in gaps)


def _conflicts(told: Sequence[_Told], board: Board) -> tuple[Conflict, ...]:
    """Where the passages behind the chosen sentences disagree."""
    passages: dict[int, Passage] = {}
    documents: dict[int, Document] = {}
    for each in told:
        if each.result is not None:
            passages |= {hit.candidate.passage.id: hit.candidate.passage for hit in each.result.hits}
            documents |= each.result.documents
    return find_conflicts(board, passages, documents)


def _to_raise(truths: Sequence[TruthAnswer], holes: Sequence[Truth], conflicts: Sequence[Conflict]) -> tuple[str, ...]:
    """What to obtain, in the order of the holes; what to ask again; what to settle; what the filters left out."""
    needs: Mapping[Truth, str] = {each.truth: each.needed for each in truths if each.needed}
    left_out = [each.truth.value for each in truths if each.state is TruthState.NOT_ASKED]
    return (
        *(needs[truth] for truth in holes),
        *(words for truth, words in needs.items() if truth not in holes),
        *(f"Settle which holds: {each.words}" for each in conflicts),
        *(f"Ask without the filter on {truth}." for truth in left_out),
    )


def _in_words(filters: SearchFilters, told: Sequence[_Told]) -> tuple[str, ...]:
    """The filters as asked; documents by name, where a search says it."""
    chosen = SearchFilters(truths=filters.truths, exclude_truths=filters.exclude_truths).in_words()
    said = next((each.result.filters_in_words for each in told if each.result), None)
    if said is None:
        return filters.in_words()
    return (*chosen, *(words for words in said if not words.startswith("truth is ")))


def _notices(told: Sequence[_Told], counted: tuple[Figure, ...] | FivefoldError) -> tuple[str, ...]:
    """What went wrong or was left out, each once."""
    found = []
    for each in told:
        truth = each.answer.truth
        if each.answer.state is TruthState.FAILED:
            found.append(f"{truth.capitalize()} could not be searched: {each.error}")
        if each.result is None:
            continue
        found += each.result.notices
        if number := each.result.undated_left_out:
            left = "1 undated document was" if number == 1 else f"{number} undated documents were"
            found.append(f"{truth.capitalize()}: {left} left out by the date filter.")
    if isinstance(counted, FivefoldError):
        found.append(f"No figures could be counted: {counted}")
    return tuple(dict.fromkeys(found))
