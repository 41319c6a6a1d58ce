"""How complete and undisputed an answer is, and in words why."""

from collections.abc import Iterator, Mapping, Sequence

from core.coverage.gaps import score_in_words
from core.documents import Truth
from core.five_truths import Agreement, TruthAnswer, TruthState
from core.queries import Route
from core.reviews import Conflict
from core.search.route import truth_weight

__all__ = ["confidence_of"]

_IN_DISPUTE = 0.8
"""A conflict leaves four fifths: what is said stands, but somebody has to decide."""
_AGREED = 0.1
"""An agreement closes a tenth of what is missing: two sources are better than one, but they may share an error."""


def confidence_of(
    truths: Sequence[TruthAnswer], route: Route, conflicts: Sequence[Conflict], agreements: Sequence[Agreement]
) -> tuple[float, str]:
    """Confidence in [0, 1] and its reason.

    The mean evidence score of the truths the question is routed to, each by its weight there, silent and failed ones
    counting 0; a truth outside the route counts only when it answers. Then conflict and agreement.
    """
    asked = [each for each in truths if each.state is not TruthState.NOT_ASKED]
    needed = [each for each in asked if each.truth in route.truths] or asked
    weights = _weights(asked, needed, route)
    total = sum(weights.values())
    if not total:
        return 0.0, "No truth was asked."
    value = sum(weights.get(each.truth, 0.0) * each.evidence_score for each in asked) / total
    if agreements:
        value += _AGREED * (1 - value)
    if conflicts:
        value *= _IN_DISPUTE
    return value, " ".join(_reasons(asked, needed, conflicts, agreements))


def _weights(asked: Sequence[TruthAnswer], needed: Sequence[TruthAnswer], route: Route) -> Mapping[Truth, float]:
    return {
        each.truth: truth_weight(route, each.truth)
        for each in asked
        if each in needed or each.state is TruthState.ANSWERED
    }


def _reasons(
    asked: Sequence[TruthAnswer],
    needed: Sequence[TruthAnswer],
    conflicts: Sequence[Conflict],
    agreements: Sequence[Agreement],
) -> Iterator[str]:
    """One sentence per thing that moved the value."""
    answering = [each for each in needed if each.state is TruthState.ANSWERED]
    beside = [each for each in asked if each.state is TruthState.ANSWERED and each not in needed]
    if len(needed) > 1:
        share = "All" if len(answering) == len(needed) else f"{len(answering) or 'None'} of the"
        verb = "answers" if len(answering) == 1 else "answer"
        yield f"{share} {len(needed)} truths this question needs {verb}{_scores(answering)}."
    else:
        verb = "answers" if answering else "does not answer"
        yield f"This question needs {needed[0].truth}, which {verb}{_scores(answering)}."
    for state, words in ((TruthState.SILENT, "silent"), (TruthState.FAILED, "unknown, because the search failed")):
        named = [each.truth.value for each in needed if each.state is state]
        if named:
            yield f"{_listed(named).capitalize()} {'is' if len(named) == 1 else 'are'} {words}."
    if beside:
        yield f"Beyond what it needs, other truths answer{_scores(beside)}."
    if agreements:
        yield f"{_counted(agreements, 'agreement')} raised it."
    if conflicts:
        yield f"{_counted(conflicts, 'conflict')} lowered it."


def _scores(answering: Sequence[TruthAnswer]) -> str:
    shown = ", ".join(f"{each.truth} {score_in_words(each.evidence_score)}" for each in answering)
    return f" ({shown})" if shown else ""


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _counted(found: Sequence[object], noun: str) -> str:
    return f"One {noun}" if len(found) == 1 else f"{len(found)} {noun}s together"
