"""The stock classifier that ours is compared with: TF-IDF and logistic regression, as a tutorial would build it."""

from collections.abc import Mapping, Sequence

from core.domain.documents import Label, Labels

__all__ = ["STOCK_FIELDS", "stock_labels"]

STOCK_FIELDS = ("truth", "authority", "jurisdiction", "domain")
_WORDS, _INVERSE_RIDGE, _STEPS = 50_000, 10.0, 300


def stock_labels(texts: Sequence[str], judged: Sequence[Mapping[str, str]], others: Sequence[str]) -> Sequence[Labels]:
    """Labels of the `others`, in order, learned from texts whose judged labels give a value to all STOCK_FIELDS."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    words = TfidfVectorizer(sublinear_tf=True, max_features=_WORDS)
    known, met = words.fit_transform(texts), words.transform(others)
    found: list[dict[str, Label]] = [{} for _ in others]
    for name in STOCK_FIELDS:
        values = [each[name] for each in judged]
        if len(set(values)) == 1:
            shares, classes = [[1.0]] * len(others), values[:1]
        else:
            model = LogisticRegression(C=_INVERSE_RIDGE, max_iter=_STEPS).fit(known, values)
            shares, classes = model.predict_proba(met).tolist(), model.classes_.tolist()
        for label, row in zip(found, shares, strict=True):
            best = max(range(len(classes)), key=row.__getitem__)
            label[name] = Label(str(classes[best]), row[best])
    return [Labels(**each) for each in found]
