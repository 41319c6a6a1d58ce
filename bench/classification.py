"""Benchmark of labelling a document of 30 pages, its vectors given, against scikit-learn's TF-IDF and regression.

The peer is what a tutorial would build: it names one label of five and says nothing of why, where or when. It is fitted
on pages of the same files, because only its time counts here.
"""

from collections.abc import Callable, Sequence
from itertools import cycle, islice
from pathlib import Path
from time import process_time

import numpy as np

from bench.measured import Headline, Report, clock, quantile
from bench.stock import read_text
from core.domain.documents import Page, Truth
from core.formats.terminal import aligned
from core.knowledge.workspace_terms import BUILT_IN_TERMS

__all__ = ["run"]

_PAGES, _PAGE_CHARACTERS = 30, 2_000  # a page of running text
_DOCUMENTS = 10  # so that no text is in a cache of the text before
_ROUNDS = 3


def run(files: Sequence[Path]) -> Report:
    """Milliseconds per document of each way to label it, on the clock and of CPU; each counts with its best round.

    Documents are made of the files' pages.
    """
    from adapters.inference.embedder import DEFAULT_MODEL, load_embedder
    from bootstrap.workbench import settings_from_environment
    from core.ingestion.classification.classifier import TruthClassifier
    from core.ingestion.classification.sample import read_for_classifying

    documents = _documents(files)
    embedder = load_embedder(DEFAULT_MODEL, settings_from_environment().data_folder / "models", 0)
    classifier, peer = TruthClassifier(embedder), _peer(documents)
    vectors = [classifier.read("made.pdf", "", pages)[1] for pages in documents]

    def label(number: int) -> None:
        sample = read_for_classifying("made.pdf", "", documents[number], {})
        classifier.labels(sample, vectors[number], {}, BUILT_IN_TERMS)

    ways: tuple[tuple[str, Callable[[int], object]], ...] = (
        ("seven labels with evidence", label),
        ("its sentences embedded", lambda number: classifier.read("made.pdf", "", documents[number])),
        ("TF-IDF and logistic regression, one label", lambda number: peer(_text(documents[number]))),
    )
    rows = [(name, *_milliseconds(way)) for name, way in ways]
    headline = Headline(
        f"label {_PAGES} pages, vectors given", "ms", rows[0][1], "TF-IDF and regression, one label", rows[-1][1]
    )
    return Report([headline], aligned(("way", "ms, median", "ms of CPU, median"), rows))


def _milliseconds(way: Callable[[int], object]) -> tuple[float, float]:
    """Medians over the documents, on the clock and of CPU, each document's the best of the rounds."""
    way(0)
    rounds = [[_measured(way, number) for number in range(_DOCUMENTS)] for _ in range(_ROUNDS)]
    best = np.array(rounds).min(axis=0)
    return quantile(best[:, 0], 0.5), quantile(best[:, 1], 0.5)


def _measured(way: Callable[[int], object], number: int) -> tuple[float, float]:
    began = process_time()
    with clock() as taken:
        way(number)
    return 1000 * taken.seconds, 1000 * (process_time() - began)


def _documents(files: Sequence[Path]) -> list[list[Page]]:
    """Documents of 30 full pages, from the text of the files; the text begins again where it ends."""
    text = "\n\n".join(read_text(file) for file in files)
    cut = [text[at : at + _PAGE_CHARACTERS] for at in range(0, len(text), _PAGE_CHARACTERS)]
    pages = islice(cycle([page for page in cut if page.strip()]), _DOCUMENTS * _PAGES)
    numbered = [Page(number % _PAGES + 1, page) for number, page in enumerate(pages)]
    return [numbered[at : at + _PAGES] for at in range(0, len(numbered), _PAGES)]


def _text(pages: Sequence[Page]) -> str:
    return "\n\n".join(page.text for page in pages)


def _peer(documents: Sequence[Sequence[Page]]) -> Callable[[str], object]:
    """A fitted scikit-learn pipeline that names the truth of a text."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    pages = [page.text for document in documents for page in document]
    truths = [truth.value for truth in islice(cycle(Truth), len(pages))]
    pipeline = make_pipeline(TfidfVectorizer(sublinear_tf=True), LogisticRegression()).fit(pages, truths)
    return lambda text: pipeline.predict_proba([text])
