"""Fits the map from the vectors that sentences have in their passages to those that they have alone."""

from collections.abc import Sequence

import numpy as np

from core.evaluation.tuning.training_documents import Matrix, TrainingDocument, fold_of

__all__ = ["explained_variance", "fitted_context"]

_PENALTY = 3.0  # pulls the map towards leaving vectors as they are; the best of 3, 30 and 100 on sources left out
_FOLDS = 5


def fitted_context(documents: Sequence[TrainingDocument]) -> Matrix:
    """The map for `ClassifierModel.as_alone`, shape (dim + 1, dim), by ridge regression over all sampled sentences; no
    labels are used. Without a sentence that is whole in a passage it has no rows.
    """
    inside, alone = _sentences(documents)
    if not len(inside):
        return np.zeros((0, 0))
    x, y = inside - inside.mean(axis=0), alone - alone.mean(axis=0)
    pull = _PENALTY * np.eye(x.shape[1])
    weights = np.linalg.solve(x.T @ x + pull, x.T @ y + pull)
    return np.vstack([weights, alone.mean(axis=0) - inside.mean(axis=0) @ weights])


def explained_variance(documents: Sequence[TrainingDocument]) -> float:
    """The share of the variance of lone vectors that maps explain on documents of owners they were not fitted to (R²);
    nan where the owners that have a sentence that is whole in a passage are all in one fold."""
    known = [each for each in documents if each.in_context.any()]
    folds = np.array([fold_of(each.source, _FOLDS) for each in known])
    missed = total = 0.0
    for fold in sorted(set(folds.tolist())):
        learned, left_out = ([known[at] for at in np.flatnonzero((folds == fold) == out)] for out in (False, True))
        if not learned:
            return float("nan")
        (inside, alone), weights = _sentences(left_out), fitted_context(learned)
        missed += float(((alone - inside @ weights[:-1] - weights[-1]) ** 2).sum())
        total += float(((alone - _sentences(learned)[1].mean(axis=0)) ** 2).sum())
    return 1.0 - missed / total if total else float("nan")


def _sentences(documents: Sequence[TrainingDocument]) -> tuple[Matrix, Matrix]:
    """The vectors of sentences that are whole in a passage: in it, and alone; each shape (sentences, dim)."""
    known = [each for each in documents if each.in_context.any()]
    if not known:
        return np.zeros((0, 0)), np.zeros((0, 0))
    inside = np.concatenate([each.in_context for each in known]).astype(np.float64)
    alone = np.concatenate([each.vectors for each in known]).astype(np.float64)
    whole = inside.any(axis=1)
    return inside[whole], alone[whole]
