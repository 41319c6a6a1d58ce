"""Inter-judge agreement beyond chance: Cohen's kappa per pair, Krippendorff's alpha for all, disputed results."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from core.domain.evaluation import GRADES, Judgment

__all__ = [
    "DisputedResult",
    "JudgeAgreement",
    "PairAgreement",
    "agreement",
    "disputed",
    "grades_by_judge",
    "ordinal_alpha",
    "strength",
]

_BANDS = (
    (0.2, "slight agreement"),
    (0.4, "fair agreement"),
    (0.6, "moderate agreement"),
    (0.8, "substantial agreement"),
    (1.0, "almost perfect agreement"),
)
"""(upper bound of the coefficient, name of the agreement): Landis & Koch 1977."""
_DISPUTED_FROM = 2  # grades between highest and lowest. Chosen by hand, not fitted.
_ONE_JUDGE = "Agreement needs two judges who have graded."
_NO_OVERLAP = "No result was graded by more than one of them."
_NO_VARIATION = "Every result graded by more than one has the same grade: agreement cannot be told from chance."

Unit = tuple[int, str]
"""(question id, unit): what is graded."""


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two judges. kappa: Cohen's, quadratic weights, in [-1, 1]; None when undefined, then `words` say why.

    units: results both have graded.
    """

    first: str
    second: str
    kappa: float | None
    units: int
    words: str


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """All judges. alpha: Krippendorff's, ordinal, at most 1; None when undefined, then `words` say why.

    judges: those who have graded something, by name. units: results graded by at least two of them.
    """

    alpha: float | None
    judges: tuple[str, ...]
    units: int
    words: str
    pairs: tuple[PairAgreement, ...] = ()


@dataclass(frozen=True, slots=True)
class DisputedResult:
    """A result whose grades differ widely. grades: (judge, grade), sorted by judge."""

    question_id: int
    unit: str
    grades: tuple[tuple[str, int], ...]

    @property
    def distance(self) -> int:
        """Highest grade less the lowest."""
        return max(grade for _, grade in self.grades) - min(grade for _, grade in self.grades)


def strength(coefficient: float) -> str:
    """A coefficient of agreement in words, by the bands of Landis & Koch (1977).

    >>> strength(0.7), strength(-0.1)
    ('substantial agreement', 'poor agreement, worse than chance')
    """
    if coefficient < 0:
        return "poor agreement, worse than chance"
    return next((words for most, words in _BANDS if coefficient <= most), _BANDS[-1][1])


def grades_by_judge(judgments: Iterable[Judgment]) -> dict[Unit, dict[str, int]]:
    """(question id, unit) → judge → latest grade; "can't judge" is left out.

    The latest is the one stored last; among those not stored yet, the one given last.
    """
    latest = {(j.question_id, j.unit, j.who): j.grade for j in sorted(judgments, key=lambda j: (j.id, j.at))}
    grades: dict[Unit, dict[str, int]] = {}
    for (question_id, unit, who), grade in latest.items():
        if grade is not None:
            grades.setdefault((question_id, unit), {})[who] = grade
    return grades


def agreement(judgments: Sequence[Judgment]) -> JudgeAgreement:
    """Agreement of the judges of a set: per pair and overall."""
    grades = grades_by_judge(judgments)
    judges = sorted({who for given in grades.values() for who in given})
    shared = [given for given in grades.values() if len(given) > 1]
    alpha, words = _alpha(judges, shared)
    pairs = tuple(_pair(first, second, shared) for first, second in combinations(judges, 2))
    return JudgeAgreement(alpha, tuple(judges), len(shared), words, pairs)


def disputed(judgments: Sequence[Judgment]) -> tuple[DisputedResult, ...]:
    """The results on which judges differ by two grades or more, worst first; then by question and unit."""
    found = [
        DisputedResult(question_id, unit, tuple(sorted(given.items())))
        for (question_id, unit), given in grades_by_judge(judgments).items()
    ]
    far = [one for one in found if one.distance >= _DISPUTED_FROM]
    return tuple(sorted(far, key=lambda one: (-one.distance, one.question_id, one.unit)))


def _alpha(judges: Sequence[str], shared: Sequence[dict[str, int]]) -> tuple[float | None, str]:
    """Krippendorff's alpha with ordinal distances, and what it says in words."""
    if reason := _undefined(judges, [list(given.values()) for given in shared]):
        return None, reason
    counts = np.array([[list(given.values()).count(grade) for grade in GRADES] for given in shared])
    alpha = ordinal_alpha(counts)
    return alpha, strength(alpha)


def ordinal_alpha(counts: NDArray[np.integer]) -> float:
    """Krippendorff's alpha with ordinal distances, at most 1 (Krippendorff 2011, "Computing Krippendorff's
    Alpha-Reliability", section D). Written here because the package of that name is under the GPL.

    counts: shape (units, values), how often each value was given to each unit; the values in their order, two or more
    given to each unit, and two different ones in all.
    """
    given = counts.sum(axis=1)
    pairs = counts[:, :, None] * (counts[:, None, :] - np.eye(counts.shape[1]))
    coincidences = (pairs / (given - 1)[:, None, None]).sum(axis=0)
    totals = coincidences.sum(axis=0)
    middle = np.cumsum(totals) - totals / 2
    distances = (middle[:, None] - middle[None, :]) ** 2  # the values between two, half of each of the two included
    observed = (coincidences * distances).sum()
    expected = (np.outer(totals, totals) * distances).sum() / (totals.sum() - 1)
    return float(1 - observed / expected)


def _pair(first: str, second: str, shared: Sequence[dict[str, int]]) -> PairAgreement:
    """Cohen's kappa with quadratic weights (Cohen 1968)."""
    both = [[given[first], given[second]] for given in shared if first in given and second in given]
    if reason := _undefined((first, second), both):
        return PairAgreement(first, second, None, len(both), reason)
    from sklearn.metrics import cohen_kappa_score

    ones, others = zip(*both, strict=True)
    kappa = float(cohen_kappa_score(ones, others, labels=list(GRADES), weights="quadratic"))
    return PairAgreement(first, second, kappa, len(both), strength(kappa))


def _undefined(judges: Sequence[str], shared: Sequence[Sequence[int]]) -> str:
    """Why no coefficient of agreement exists; "" when one does. shared: per result, the grades of those judges."""
    if len(judges) < 2:
        return _ONE_JUDGE
    if not shared:
        return _NO_OVERLAP
    return _NO_VARIATION if len({grade for grades in shared for grade in grades}) == 1 else ""
