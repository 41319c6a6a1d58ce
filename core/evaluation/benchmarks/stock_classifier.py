"""The stock classifier that ours is compared with: TF-IDF and logistic regression, as a tutorial would build it."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Label, Labels

__all__ = ["STOCK_FIELDS", "stock_labels"]

STOCK_FIELDS = ("truth", "authority", "jurisdiction", "domain")
_WORDS, _INVERSE_RIDGE, _STEPS = 50_000, 10.0, 300


def stock_labels(
    texts: Sequence[str],
    judged: Sequence[Mapping[str, str]],
    weights: NDArray[np.float64],
    others: Sequence[str],
) -> Sequence[Labels]:
    """Labels of the `others`, in order, learned from texts.

    judged: a value for each of STOCK_FIELDS. weights: shape (texts,), how much each text counts.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    words = TfidfVectorizer(sublinear_tf=True, max_features=_WORDS)
    known, met = words.fit_transform(texts), words.transform(others)
    found: list[dict[str, Label]] = [{} for _ in others]
    for name in STOCK_FIELDS:
        values = [each[name] for each in judged]
        if len(set(values)) == 1:
            shares, classes = np.ones((len(others), 1)), values[:1]
        else:
            model = LogisticRegression(C=_INVERSE_RIDGE, max_iter=_STEPS).fit(known, values, sample_weight=weights)
            shares, classes = model.predict_proba(met), model.classes_.tolist()
        for label, row in zip(found, shares, strict=True):
            label[name] = Label(str(classes[int(row.argmax())]), float(row.max()))
    return [Labels(**each) for each in found]
