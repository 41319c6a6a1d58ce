"""Fits the small models over candidates: which place, and whether a date counts.

Both are fitted on truths and authorities predicted for sources left out, as they will be met later.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from core.domain.documents import Label
from core.evaluation.tuning.training_documents import (
    STEPS,
    FittingProblem,
    Matrix,
)
from core.ingestion.classification.dates import date_candidate
from core.ingestion.classification.jurisdiction import (
    place_candidates,
)

__all__ = ["fitted_dates", "fitted_places"]

_PLACE_RIDGE, _DATE_RIDGE = 0.5, 0.1  # the best of some on sources left out
_INVENTED_SHARE = 0.03  # of undated documents that may be given a date, on sources left out


def fitted_places(
    problem: FittingProblem, truths: Sequence[Label], authorities: Sequence[Label], kinds: Sequence[Mapping[str, float]]
) -> dict[str, float]:
    """Weights of the conditional logit over candidate places; documents whose place is no candidate do not count."""
    rows: list[Mapping[str, float]] = []
    starts, right, counts = [], [], []
    for each, truth, authority, kind, weight in zip(
        problem.documents, truths, authorities, kinds, problem.weights, strict=True
    ):
        values, features = place_candidates(each.sample, each.mentions, each.language, truth, authority, kind)
        if each.jurisdiction in values:
            starts.append(len(rows))
            right.append(len(rows) + values.index(each.jurisdiction))
            counts.append(weight)
            rows.extend(features)
    names, matrix, scale = _matrix(rows)
    segment = np.repeat(np.arange(len(starts)), np.diff([*starts, len(rows)]))
    first, chosen, weights = np.array(starts), np.array(right), np.array(counts)

    def loss(flat: Matrix) -> tuple[float, Matrix]:
        scores = matrix @ flat
        highest = np.maximum.reduceat(scores, first)
        grown = np.exp(scores - highest[segment])
        sums = np.add.reduceat(grown, first)
        shares = grown / sums[segment]
        value = -float(weights @ (scores[chosen] - highest - np.log(sums))) + _PLACE_RIDGE / 2 * float(flat @ flat)
        slope = matrix.T @ (shares * weights[segment]) - matrix[chosen].T @ weights + _PLACE_RIDGE * flat
        return value, slope

    found = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", options={"maxiter": STEPS}).x
    return {name: float(weight) for name, weight in zip(names, found / scale, strict=True)}


def _matrix(rows: Sequence[Mapping[str, float]]) -> tuple[list[str], Matrix, Matrix]:
    """Feature names in order, the features scaled to unit deviation, and the scales."""
    names = sorted({name for row in rows for name in row})
    matrix = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    scale = matrix.std(axis=0)
    scale[scale < 1e-9] = 1.0
    return names, matrix / scale, scale


def fitted_dates(problem: FittingProblem, truths: Sequence[Label]) -> tuple[dict[str, float], dict[str, float]]:
    """Weights of the date features, and the threshold that invents few dates on sources left out."""
    from sklearn.linear_model import LogisticRegression

    found = [date_candidate(each.sample, truth) for each, truth in zip(problem.documents, truths, strict=True)]
    dates = [each.date for each in problem.documents]
    owner = np.array([at for at, each in enumerate(found) if each is not None], dtype=np.intp)
    known = [each for each in found if each is not None]
    rows = [each.features for each in known]
    right = np.array(
        [bool(dates[at]) and each.evidence.value.startswith(dates[at]) for at, each in zip(owner, known, strict=True)]
    )
    if right.all() or not right.any():
        return {}, {"threshold": 1.0}
    names, matrix, scale = _matrix(rows)

    def regression(inside: NDArray[np.bool_]) -> LogisticRegression:
        weights = problem.weights[owner[inside]]
        return LogisticRegression(C=_DATE_RIDGE, max_iter=STEPS, fit_intercept=False).fit(
            matrix[inside], right[inside], weights
        )

    shares = np.zeros(len(rows))
    for fold in sorted(set(problem.folds.tolist())):
        out = problem.folds[owner] == fold
        if out.any():
            shares[out] = regression(~out).predict_proba(matrix[out])[:, 1]
    best = np.zeros(len(dates))
    np.maximum.at(best, owner, shares)
    undated = np.array([not each for each in dates])
    tried = np.arange(0.2, 0.96, 0.01)
    kept = [float(each) for each in tried if (best[undated] >= each).mean() <= _INVENTED_SHARE]
    fitted = regression(np.ones(len(rows), dtype=bool)).coef_[0] / scale
    return dict(zip(names, fitted.tolist(), strict=True)), {"threshold": round(min(kept, default=0.95), 2)}
