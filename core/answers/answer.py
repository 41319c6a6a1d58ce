"""Answers one question from the five truths: evidence, agreement, conflicts, gaps and confidence; extractive."""
# Longer than 300 lines: one answer is put together step by step from the same findings; the steps share them and
# nothing else uses them.

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from core.answers.agreement import agreements_of
from core.coverage.conflicts import find_conflicts
from core.coverage.gaps import gaps_of, score_in_words, state_of
from core.domain.coverage import Board, Cell, CellState, Conflict, Topic
from core.domain.documents import Document, Passage, Truth
from core.domain.errors import BadRequest, FivefoldError, ModelUnavailable, StoreFailed
from core.domain.filters import STRICT_LABELS, SearchFilters
from core.domain.five_truths import Figure, FiveTruthsAnswer, TruthAgreement, TruthAnswer, TruthState
from core.domain.queries import LEG_LABELS, Route, SearchRequest
from core.domain.results import Citation, Hit, SearchResult
from core.knowledge.answer_kinds import question_kind
from core.knowledge.answerability import truth_model
from core.knowledge.gaps import gap_table
from core.knowledge.workspace_terms import WorkspaceTerms
from core.search.citations.cite import cite
from core.search.query.route import read_route, truth_weight
from core.search.ranking.answerability import (
    lead_over,
    most_evidence,
    truth_evidence,
    truth_probability,
    what_is_missing,
)
from core.text.lists import listed

__all__ = [
    "MOST_SENTENCES",
    "Figures",
    "Search",
    "answer_of_five",
    "best_sentences",
    "confidence_of",
    "nearest_miss",
    "truth_request",
]

MOST_SENTENCES = 3
"""Sentences quoted per truth, at most. Chosen by hand, not fitted."""

_NEAR = 0.5
"""Sentences less than half as relevant as the best one only pad an answer. Chosen by hand, not fitted."""


def best_sentences(hits: Sequence[Hit], most: int = MOST_SENTENCES) -> tuple[Citation, ...]:
    """The best answering sentences, best first; every document contributes one before any contributes a second.

    Ties go to the better hit, then to the order within it. Repeated sentences are cited once.
    """
    ranked = sorted(
        (
            (-citation.relevance, hit.rank, index, citation)
            for hit in hits
            for index, citation in enumerate(hit.citations)
        ),
        key=lambda item: item[:3],
    )
    once: dict[str, Citation] = {}
    for *_, citation in ranked:
        once.setdefault(" ".join(citation.quote.split()).casefold(), citation)
    unique = list(once.values())
    close = [citation for citation in unique if citation.relevance >= _NEAR * unique[0].relevance]
    firsts: dict[int, Citation] = {}
    for citation in close:
        firsts.setdefault(citation.document_id, citation)
    rest = [citation for citation in close if citation not in firsts.values()]
    chosen = [*firsts.values(), *rest][:most]
    return tuple(citation for citation in close if citation in chosen)


def nearest_miss(question: str, result: SearchResult, probability: float) -> tuple[Citation, ...]:
    """The best sentence of the candidate that says most of what is asked; nothing when that is next to nothing.
    probability: that the truth answers."""
    known = [each for each in result.candidates if each.passage.document_id in result.documents]
    best = most_evidence(known)
    if best is None or probability < _NEARBY:
        return ()
    document, kind = result.documents[best.passage.document_id], question_kind(question)
    return cite(best.passage, document, result.rarity, kind=kind, most=1)


_NEARBY = 0.1
"""Least probability of an answer at which a passage comes near. Chosen by hand, not fitted."""

_IN_DISPUTE = 0.8
"""Factor for a conflict: the statements stand, but somebody has to decide. Chosen by hand, not fitted."""

_AGREED = 0.1
"""Share of the missing confidence an agreement adds: two sources may share an error. Chosen by hand, not fitted."""


def confidence_of(
    truths: Sequence[TruthAnswer], route: Route, conflicts: Sequence[Conflict], agreements: Sequence[TruthAgreement]
) -> tuple[float, str]:
    """Confidence in [0, 1] and its reason.

    The mean evidence score of the truths the question is routed to, weighted by the route; silent and failed truths
    count 0. A truth outside the route counts only when it answers. Conflicts lower the result, agreements raise it.
    """
    answered = [each for each in truths if each.state is not TruthState.NOT_ASKED]
    needed = [each for each in answered if each.truth in route.truths] or answered
    weights = _weights(answered, needed, route)
    total = sum(weights.values())
    if not total:
        return 0.0, "No truth was asked."
    value = sum(weights.get(each.truth, 0.0) * each.evidence_score for each in answered) / total
    if agreements:
        value += _AGREED * (1 - value)
    if conflicts:
        value *= _IN_DISPUTE
    return value, " ".join(_reasons(answered, needed, conflicts, agreements))


_NO_ANSWER = {TruthState.SILENT: "silent", TruthState.FAILED: "unknown, because the search failed"}
"""State of a truth that was asked and gives no answer → its words in the reason."""


def _weights(answered: Sequence[TruthAnswer], needed: Sequence[TruthAnswer], route: Route) -> Mapping[Truth, float]:
    return {
        each.truth: truth_weight(route, each.truth)
        for each in answered
        if each in needed or each.state is TruthState.ANSWERED
    }


def _reasons(
    answered: Sequence[TruthAnswer],
    needed: Sequence[TruthAnswer],
    conflicts: Sequence[Conflict],
    agreements: Sequence[TruthAgreement],
) -> Iterator[str]:
    """One sentence per thing that moved the value."""
    speaking = [each for each in answered if each.state is TruthState.ANSWERED]
    partly = [each for each in speaking if each.evidence_score < gap_table().evidence.covered]
    answering = [each for each in needed if each in speaking and each not in partly]
    beside = [each for each in speaking if each not in needed and each not in partly]
    if len(needed) > 1:
        share = f"{len(answering) or 'None'} of the {len(needed)}"
        if len(answering) == len(needed):
            share = "Both" if len(needed) == 2 else f"All {len(needed)}"
        verb = "answer" if len(answering) > 1 else "answers"
        yield f"{share} truths that this question needs {verb} it{_scores(answering)}."
        for state, words in _NO_ANSWER.items():
            named = [each.truth.value for each in needed if each.state is state]
            if named:
                yield f"{listed(named).capitalize()} {'is' if len(named) == 1 else 'are'} {words}."
    else:
        words = "answers it only in part" if needed[0] in partly else f"answers it{_scores(answering)}"
        words = f"is {_NO_ANSWER[needed[0].state]}" if needed[0] not in speaking else words
        yield f"This question needs {needed[0].truth}, which {words}."
    if partly:
        yield f"Not the whole answer: {_scored(partly)}."
    if beside:
        yield f"Beyond what it needs, other truths answer{_scores(beside)}."
    if agreements:
        yield f"{_number_of(agreements, 'agreement')} raised it."
    if conflicts:
        yield f"{_number_of(conflicts, 'conflict')} lowered it."


def _scores(answering: Sequence[TruthAnswer]) -> str:
    return f" ({_scored(answering)})" if answering else ""


def _scored(truths: Sequence[TruthAnswer]) -> str:
    return ", ".join(f"{each.truth} {score_in_words(each.evidence_score)}" for each in truths)


def _number_of(found: Sequence[object], noun: str) -> str:
    return f"One {noun}" if len(found) == 1 else f"{len(found)} {noun}s together"


Search = Callable[[Sequence[SearchRequest]], Sequence[SearchResult]]
"""Answers requests in their order. May raise StoreFailed or ModelUnavailable."""

Figures = Callable[[str], Sequence[Figure]]
"""The numbers that answer a question, counted from tables. May raise FivefoldError."""

_BROKEN = (StoreFailed, ModelUnavailable)

_CELL_STATES = {TruthState.FAILED: CellState.ERROR, TruthState.NOT_ASKED: CellState.NOT_ASSESSED}


@dataclass(frozen=True, slots=True)
class _TruthFindings:
    """One truth's answer with its sources. error: what failed, "" when nothing did. probability: that it answers."""

    answer: TruthAnswer
    result: SearchResult | None = None
    error: str = ""
    probability: float = 0.0


def answer_of_five(
    question: str,
    *,
    search: Search,
    figures: Figures,
    profile: str,
    filters: SearchFilters,
    now: datetime,
    terms: WorkspaceTerms,
) -> FiveTruthsAnswer:
    """Ask all five truths. Truths excluded by the filters are not asked; a truth whose search failed is failed, not
    silent.

    Raises BadRequest for an empty question or an unknown profile, and any error of the search that is no failure of a
    store or a model.
    """
    question = question.strip()
    if not question:
        raise BadRequest("The question is empty.", "Type what you want to know.")
    requested = [truth for truth in Truth if _is_requested(truth, filters)]
    results = _searched([truth_request(question, truth, filters, profile) for truth in requested], search)
    counted = _counted(question, figures) if Truth.REALITY in requested else ()
    found = dict(zip(requested, results, strict=True))
    scores = _probabilities(found)
    findings = [_findings_of(truth, found.get(truth), scores.get(truth, 0.0), counted) for truth in Truth]
    answer = _assemble(question, findings, profile, now, terms)
    return replace(answer, filters_in_words=_in_words(filters, findings), notices=_notices(findings, counted))


def _assemble(
    question: str, findings: Sequence[_TruthFindings], profile: str, now: datetime, terms: WorkspaceTerms
) -> FiveTruthsAnswer:
    """The truths side by side: what each needs, where they meet, and how far that carries."""
    route = read_route(question, now.date(), terms)
    topic = Topic(question, jurisdiction=route.jurisdiction)
    cells = tuple(_cell(each, topic) for each in findings)
    truths, holes = _with_needs(findings, cells, topic, terms)
    conflicts = _conflicts(findings, Board((topic,), cells, (), None, profile, None, now))
    agreements = agreements_of(truths)
    confidence, reason = confidence_of(truths, route, conflicts, agreements)
    holes = tuple(sorted(holes, key=lambda truth: truth not in route.truths))  # what the question needs comes first
    needed = _to_raise(truths, holes, conflicts)
    return FiveTruthsAnswer(question, now, profile, (), truths, agreements, conflicts, confidence, reason, needed)


def truth_request(question: str, truth: Truth, filters: SearchFilters, profile: str) -> SearchRequest:
    """The exact search request behind one truth's answer, so that the Search page can show it."""
    narrowed = filters.replace(truths=(truth.value,), exclude_truths=(), strict_labels=True)  # a doubt proves nothing
    return SearchRequest(question, filters=narrowed, profile=profile)


def _is_requested(truth: Truth, filters: SearchFilters) -> bool:
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


def _probabilities(found: Mapping[Truth, SearchResult | FivefoldError]) -> Mapping[Truth, float]:
    """The probability that each truth answers, for those whose search brought passages. Where a search failed, wholly
    or in part, it is not known who leads."""
    known = {
        truth: value
        for truth, result in found.items()
        if isinstance(result, SearchResult) and (value := truth_evidence(result.candidates)) is not None
    }
    failed = any(_error(result) for result in found.values())
    leads = {
        truth: 0.0 if failed else lead_over(value, (other for name, other in known.items() if name is not truth))
        for truth, value in known.items()
    }
    return {truth: truth_probability(value, leads[truth], truth_model()) for truth, value in known.items()}


def _findings_of(
    truth: Truth,
    result: SearchResult | FivefoldError | None,
    probability: float,
    counted: tuple[Figure, ...] | FivefoldError,
) -> _TruthFindings:
    """What one truth says, before it is known what it needs. result: None when it was not asked. probability: that it
    answers."""
    if result is None:
        words = "The filters leave this truth out."
        return _TruthFindings(TruthAnswer(truth, TruthState.NOT_ASKED, silence=words))
    searched = result if isinstance(result, SearchResult) else None
    own = counted if truth is Truth.REALITY else ()
    shown = own if isinstance(own, tuple) else ()
    error = _error(result) or ("" if isinstance(own, tuple) else str(own))
    hits = searched.hits if searched and searched.answered else ()
    score = probability if hits else 0.0
    if score < gap_table().evidence.partial and not error:  # half a search cannot tell
        hits, score = (), 0.0
    if shown:  # counted from the table itself: as good as the least sentence that covers a topic
        score = max(score, gap_table().evidence.covered)
    if hits or shown:
        answer = TruthAnswer(truth, TruthState.ANSWERED, best_sentences(hits), shown, score)
    elif error or searched is None:
        answer = TruthAnswer(truth, TruthState.FAILED, silence=f"It could not be searched: {error}")
    else:
        answer = TruthAnswer(truth, TruthState.SILENT, silence=_silence(searched, truth))
    return _TruthFindings(answer, searched, error, probability)


_OWN_WORDS = ("truth is ", STRICT_LABELS)
"""How the filters begin, in words, that the search of one truth adds to those of the question."""


def _silence(result: SearchResult, truth: Truth) -> str:
    """What is missing for an answer."""
    if not any(leg.rows_after for leg in result.legs):
        if any(not words.startswith(_OWN_WORDS) for words in result.filters_in_words):
            return f"No {truth} passage matches the filters."
        return f"The library has no passage that is labelled {truth} with certainty."
    first = [candidate for candidate in result.candidates if not candidate.signals.band]
    return result.silence or what_is_missing(first, result.rarity, result.route.answer_kind)


def _error(result: SearchResult | FivefoldError) -> str:
    if isinstance(result, FivefoldError):
        return str(result)
    return " ".join(f"The search {LEG_LABELS[leg.leg]} failed: {leg.error}" for leg in result.legs if leg.error)


def _cell(finding: _TruthFindings, topic: Topic) -> Cell:
    """The truth as a cell of a board of one topic: what holes and conflicts are read from."""
    answer, covered = finding.answer, gap_table().evidence.covered
    state = _CELL_STATES.get(answer.state) or state_of(answer.evidence_score)
    if finding.error and state is not CellState.COVERED:
        state = CellState.ERROR  # half a search proves no hole
    result = finding.result if not answer.citations else None
    missed = nearest_miss(topic.name, result, finding.probability) if result else ()
    proof = answer.citations
    return Cell(topic.name, answer.truth, state, answer.evidence_score, covered, evidence=proof, near_misses=missed)


def _with_needs(
    findings: Sequence[_TruthFindings], cells: Sequence[Cell], topic: Topic, terms: WorkspaceTerms
) -> tuple[tuple[TruthAnswer, ...], tuple[Truth, ...]]:
    """Each truth with what it needs, and the truths with a hole, the worst first."""
    quoted = replace(topic, name=f"“{_in_short(topic.name)}”")
    gaps = gaps_of([replace(cell, topic=quoted.name) for cell in cells], terms, {quoted.name: quoted})
    needs = {gap.truth: gap.recommendation for gap in gaps} | {
        cell.truth: _ask_again(each)
        for cell, each in zip(cells, findings, strict=True)
        if cell.state is CellState.ERROR
    }
    answers = tuple(replace(each.answer, needed=needs.get(each.answer.truth, "")) for each in findings)
    return answers, tuple(gap.truth for gap in gaps)


def _ask_again(finding: _TruthFindings) -> str:
    """What a truth needs whose search failed wholly or in part; one that failed wholly has given the reason."""
    answer = finding.answer
    reason = "" if answer.state is TruthState.FAILED else f" {finding.error}"
    return f"Ask again when the {answer.truth} documents can be searched.{reason}"


def _in_short(question: str) -> str:
    """A question as the needs quote it, each of which repeats it.

    >>> _in_short("Who pays?"), len(_in_short("Who pays? " * 40)) <= _QUOTED
    ('Who pays?', True)
    """
    if len(question) <= _QUOTED:
        return question
    cut = question[: _QUOTED - 2]
    return f"{cut.rsplit(' ', 1)[0] if ' ' in cut else cut} …"


_QUOTED = 90
"""Characters of a question that are quoted in what it needs. Chosen by hand."""


def _conflicts(findings: Sequence[_TruthFindings], board: Board) -> tuple[Conflict, ...]:
    """Where the passages behind the chosen sentences disagree."""
    passages: dict[int, Passage] = {}
    documents: dict[int, Document] = {}
    for each in findings:
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
        *([f"Include {listed(left_out)} in the filters."] if left_out else []),
    )


def _in_words(filters: SearchFilters, findings: Sequence[_TruthFindings]) -> tuple[str, ...]:
    """The filters as asked; documents by name, where a search says it."""
    chosen = SearchFilters(truths=filters.truths, exclude_truths=filters.exclude_truths).in_words()
    filter_words = next((each.result.filters_in_words for each in findings if each.result), None)
    if filter_words is None:
        return filters.in_words()
    return (*chosen, *(words for words in filter_words if not words.startswith(_OWN_WORDS)))


def _notices(findings: Sequence[_TruthFindings], counted: tuple[Figure, ...] | FivefoldError) -> tuple[str, ...]:
    """What went wrong or was left out, each once. A truth whose search failed tells that itself."""
    found: list[str] = []
    failed = {each.answer.truth for each in findings if each.answer.state is TruthState.FAILED}
    for each in findings:
        truth = each.answer.truth
        if each.result is None or truth in failed:
            continue
        found += each.result.notices
        if number := each.result.undated_left_out:
            left = "1 undated document was" if number == 1 else f"{number} undated documents were"
            found.append(f"{truth.capitalize()}: {left} left out by the date filter.")
    if isinstance(counted, FivefoldError) and Truth.REALITY not in failed:
        found.append(f"No figures could be counted: {counted}")
    return tuple(dict.fromkeys(found))
