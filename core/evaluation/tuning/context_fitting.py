"""Fits the map from the vectors that sentences have in their passages to those that they have alone."""

from collections.abc import Sequence

import numpy as np

from core.evaluation.tuning.training_documents import Matrix, TrainingDocument

__all__ = ["fitted_context"]

_PENALTY = 3.0  # pulls the map towards leaving vectors as they are; the best of 3, 30 and 100 on sources left out


def fitted_context(documents: Sequence[TrainingDocument]) -> Matrix:
    """The map for `ClassifierModel.as_alone`, shape (dim + 1, dim), by ridge regression over all sampled sentences; no
    labels are used. Without a sentence that is whole in a passage it has no rows.
    """
    known = [each for each in documents if each.in_context.any()]
    if not known:
        return np.zeros((0, 0))
    inside = np.concatenate([each.in_context for each in known]).astype(np.float64)
    alone = np.concatenate([each.vectors for each in known]).astype(np.float64)
    whole = inside.any(axis=1)
    inside, alone = inside[whole], alone[whole]
    x, y = inside - inside.mean(axis=0), alone - alone.mean(axis=0)
    pull = _PENALTY * np.eye(x.shape[1])
    weights = np.linalg.solve(x.T @ x + pull, x.T @ y + pull)
    return np.vstack([weights, alone.mean(axis=0) - inside.mean(axis=0) @ weights])
