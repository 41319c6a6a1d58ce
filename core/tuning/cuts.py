"""What a threshold does to the questions of an experiment: what is kept and lost, and who is left without an answer."""

from dataclasses import dataclass

from core.experiments import Experiment, Outcome
from core.tuning.measuring import UNGRADED
from core.tuning.thresholds import Consequences, ThresholdHelp, Triple, consequences, threshold_help

__all__ = ["Cut", "Cuts", "cuts_of"]

_FEW = 20


@dataclass(frozen=True, slots=True)
class Cut:
    """What showing only totals of at least `threshold` comes to, over all questions of an experiment.

    kept, lost, dropped: graded results, as `counts` holds them. losing: keys of questions that lose their last relevant
    result. silent: of those that have an answer and are shown nothing. answered: of those that nothing answers and are
    shown something all the same; refused: of those rightly shown nothing.
    """

    threshold: float
    counts: Consequences
    losing: tuple[str, ...]
    silent: tuple[str, ...]
    answered: tuple[str, ...]
    refused: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cuts:
    """An experiment's graded results, to be cut at any threshold.

    help: their distribution, and the threshold that parts them best. relevant, irrelevant: how many of each there are;
    by_kind: how many of the irrelevant ones come from questions that nothing answers. doubts: why the figures flatter,
    in words.
    """

    help: ThresholdHelp
    triples: tuple[Triple, ...]
    outcomes: tuple[Outcome, ...]
    relevant: int
    irrelevant: int
    by_kind: int
    doubts: tuple[str, ...]

    def at(self, threshold: float) -> Cut:
        """What a threshold in [0, 1] does; a result whose total equals it is shown."""
        counts = consequences(self.triples, threshold)
        shown = {each.key for each in self.outcomes if any(total >= threshold for _, total, _ in each.scored)}
        answerable = [each.key for each in self.outcomes if each.answerable]
        nothing = [each.key for each in self.outcomes if not each.answerable]
        return Cut(
            threshold,
            counts,
            counts.losing,
            tuple(key for key in answerable if key not in shown),
            tuple(key for key in nothing if key in shown),
            tuple(key for key in nothing if key not in shown),
        )


def cuts_of(experiment: Experiment) -> Cuts:
    """The graded results of an experiment with its outcomes. Grade 1 or more is relevant; what nobody has graded only
    says whether a question is shown anything."""
    triples = tuple(
        (total, grade > 0, outcome.key)
        for outcome in experiment.outcomes
        for _, total, grade in outcome.scored
        if grade != UNGRADED
    )
    nothing = {outcome.key for outcome in experiment.outcomes if not outcome.answerable}
    relevant = sum(good for _, good, _ in triples)
    by_kind = sum(not good and key in nothing for _, good, key in triples)
    irrelevant = len(triples) - relevant
    return Cuts(
        threshold_help(triples),
        triples,
        experiment.outcomes,
        relevant,
        irrelevant,
        by_kind,
        _doubts(relevant, irrelevant, by_kind, experiment.unjudged),
    )


def _doubts(relevant: int, irrelevant: int, by_kind: int, unjudged: float | None) -> tuple[str, ...]:
    """Why precision looks better than it is, or says little."""
    said = []
    if relevant and irrelevant and min(relevant, irrelevant) < _FEW:
        said.append(f"Only {relevant} relevant and {irrelevant} irrelevant results are graded; a few more may move it.")
    if irrelevant and by_kind == irrelevant:
        said.append(
            "Every irrelevant result belongs to a question that nothing answers; none beside an answer is graded."
        )
    if unjudged:
        said.append(
            f"{unjudged:.0%} of the first ten results nobody has graded; most of these are irrelevant as a rule, so"
            " precision looks better than it is."
        )
    return tuple(said)
