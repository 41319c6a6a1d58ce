"""The learned classifier: linear models over words, form and sentence vectors, so that every decision can be quoted.

One head per label (truth, authority, kind of place), one over the words of a passage, and one over the mean vector for
the built-in domains. The score of a class is a
bias plus, for each block of features (words, opening, name, form, mean sentence vector), the sum of feature · weight:
multinomial logistic regression, fitted by `cli evaluate fit-classifier` (core.evaluation.tuning.classifier_fitting) on
documents of public sources, which docs/classifier-sources.csv lists, and checked ones. Only single words and numbers
are stored.
"""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.domain.errors import BadTable
from core.ingestion.classification.document_features import FORM_FEATURES, DocumentFeatures

__all__ = [
    "DOMAIN_HEAD",
    "PASSAGE_HEAD",
    "Blocks",
    "ClassifierModel",
    "Head",
    "TermWeights",
    "built_in_model",
    "from_bytes",
    "softmax",
    "to_bytes",
]

PASSAGE_HEAD = "passage"
"""Name of the head over the words of a passage."""
DOMAIN_HEAD = "domain"
"""Name of the head over the mean sentence vector that tells the built-in domains."""
_FILE = "classifier_model.npz"
_WORD_BLOCKS = ("words", "opening", "name")

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TermWeights:
    """The words of one block. index: word → row. idf: float64, shape (words,), smoothed as in scikit-learn."""

    index: Mapping[str, int]
    idf: Matrix

    def vector(self, counts: Mapping[str, int]) -> tuple[NDArray[np.intp], Matrix]:
        """Rows and values of the known words: (1 + ln count) · idf, scaled to length 1 (Salton & Buckley 1988)."""
        known = [(row, count) for word, count in counts.items() if (row := self.index.get(word)) is not None]
        rows = np.array([row for row, _ in known], dtype=np.intp)
        values = np.array([1.0 + log(count) for _, count in known]) * self.idf[rows]
        length = float(np.linalg.norm(values))
        return rows, values / length if length else values


@dataclass(frozen=True, slots=True)
class Blocks:
    """The features of one document as the heads read them: (rows, values) per word block, form, and mean vector.

    form: standardised, shape (len(FORM_FEATURES),). mean: shape (dim,); zeros without sentences. unknown: share of the
    words of the text that the vocabulary lacks, in [0, 1]. language: ISO 639-1 code of the text.
    """

    words: Mapping[str, tuple[NDArray[np.intp], Matrix]]
    form: Matrix
    mean: Matrix
    unknown: float
    language: str


@dataclass(frozen=True, slots=True)
class Head:
    """The weights of one label. Every matrix has one column per class; a block that is absent does not count.

    words: block → shape (words, classes). form: (features, classes). mean: (dim, classes). bias: (classes,).
    temperature: (at no unknown word, its growth per share of unknown words), in logs; above 0 lowers certainty.
    """

    classes: tuple[str, ...]
    words: Mapping[str, Matrix]
    form: Matrix
    mean: Matrix
    bias: Matrix
    temperature: tuple[float, float] = (0.0, 0.0)

    def scores(self, blocks: Blocks) -> Matrix:
        """Log-odds of every class up to a constant, calibrated; shape (classes,)."""
        return self.uncalibrated(blocks) / self.heat(blocks)

    def uncalibrated(self, blocks: Blocks) -> Matrix:
        total = self.bias + blocks.form @ self.form + blocks.mean @ self.mean
        for name, weights in self.words.items():
            rows, values = blocks.words[name]
            total = total + (values * self.retained_share(name, blocks)) @ weights[rows]
        return np.asarray(total, dtype=np.float64)

    def retained_share(self, name: str, blocks: Blocks) -> float:
        """The share of a word block's scores that counts, in (0, 1]: a file name may move two classes by 1.5 at most.

        A name is easily wrong ("policy_draft_from_law.pdf") and never outvotes a long text.
        """
        if name != "name":
            return 1.0
        rows, values = blocks.words[name]
        scores = values @ self.words[name][rows]
        return min(1.0, _NAME_CAP / max(float(scores.max() - scores.min()), 1e-9))

    def heat(self, blocks: Blocks) -> float:
        """The softmax temperature for this document (Guo et al. 2017); grows with the share of unknown words."""
        return float(np.exp(self.temperature[0] + self.temperature[1] * blocks.unknown))


@dataclass(frozen=True, slots=True)
class ClassifierModel:
    """vocabularies: per word block. form_mean, form_scale: of the form features, shape (len(FORM_FEATURES),).

    heads: label → its weights. numbers: small weights by group and name (dates, places, passages, thresholds).
    embedder: name of the embedding model whose vectors the heads weigh; those of others do not count. context: shape
    (dim + 1, dim), the map of `as_alone`, its last row a constant; no rows where none was fitted.
    """

    vocabularies: Mapping[str, TermWeights]
    form_mean: Matrix
    form_scale: Matrix
    heads: Mapping[str, Head]
    numbers: Mapping[str, Mapping[str, float]]
    embedder: str
    context: Matrix = field(default_factory=lambda: np.zeros((0, 0)))

    def reads_context(self, embedder: str) -> bool:
        """Whether `as_alone` was fitted to the vectors of this embedding model; its name as for `comparable`."""
        return bool(len(self.context)) and embedder.partition("@")[0] == self.embedder

    def as_alone(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """About the vectors that sentences have alone, from those in their passages; both float32, shape (n, dim).

        A least-squares estimate: the less the one tells of the other, the shorter it is, of length 0.8 mostly. The
        heads are sums, so that scaling it to length 1 would make them too sure.
        """
        # Not by BLAS, whose idle threads spin for some 30 ms, beside those of the embedding model.
        found = np.einsum("nd,de->ne", vectors, self.context[:-1]) + self.context[-1]
        return np.asarray(found, dtype=np.float32)

    def comparable(self, vectors: NDArray[np.float32], embedder: str) -> NDArray[np.float32]:
        """The vectors if they come from the embedding model of the heads, else none; shape (n, dim).

        embedder: its name, with or without "@" and the digest of its files.
        """
        same = embedder.partition("@")[0] == self.embedder and vectors.shape[1] == self.dimensions
        return vectors if same else np.zeros((0, self.dimensions), dtype=np.float32)

    @property
    def dimensions(self) -> int:
        """Of the sentence vectors."""
        return len(next(iter(self.heads.values())).mean)

    def blocks(self, features: DocumentFeatures, vectors: NDArray[np.float32]) -> Blocks:
        """A document's features for the heads. vectors: of its sampled sentences, as `comparable` gives them."""
        counts = {"words": features.words, "opening": features.opening, "name": features.name}
        known = self.vocabularies["words"].index
        total = sum(features.words.values())
        missing = sum(count for word, count in features.words.items() if word not in known)
        form = np.clip((features.form - self.form_mean) / self.form_scale, -_MOST_DEVIATIONS, _MOST_DEVIATIONS)
        return Blocks(
            {name: self.vocabularies[name].vector(counts[name]) for name in _WORD_BLOCKS},
            form / np.sqrt(len(form)),
            mean_vector(vectors),
            missing / total if total else 1.0,
            features.language,
        )


_NAME_CAP = 1.5  # log-odds, before calibration: odds of 4.5 to 1; chosen by hand
_MOST_DEVIATIONS = 4.0  # a rate further from the mean than so many standard deviations counts as this many


def mean_vector(vectors: NDArray[np.float32]) -> Matrix:
    """The mean of sentence vectors, float64, shape (dim,); zeros when there are none."""
    if not len(vectors):
        return np.zeros(vectors.shape[1], dtype=np.float64)
    return np.asarray(vectors.mean(axis=0), dtype=np.float64)


def softmax(scores: Matrix) -> Matrix:
    """Probabilities along the last axis."""
    grown = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(grown / grown.sum(axis=-1, keepdims=True), dtype=np.float64)


@cache
def built_in_model() -> ClassifierModel:
    """The model of this version, from core/knowledge/classifier_model.npz. Raises BadTable."""
    return from_bytes(files("core.knowledge").joinpath(_FILE).read_bytes())


def to_bytes(model: ClassifierModel) -> bytes:
    """The model as a compressed .npz file; weights as float16, so that it stays small."""
    arrays: dict[str, NDArray[Any]] = {"form_mean": model.form_mean, "form_scale": model.form_scale}
    arrays["context"] = model.context.astype(np.float16)
    for name, vocabulary in model.vocabularies.items():
        words = sorted(vocabulary.index, key=lambda word: vocabulary.index[word])
        arrays[f"vocabulary.{name}"] = np.frombuffer("\n".join(words).encode(), dtype=np.uint8)
        arrays[f"idf.{name}"] = vocabulary.idf.astype(np.float16)
    for label, head in model.heads.items():
        for name, weights in head.words.items():
            arrays[f"head.{label}.{name}"] = weights.astype(np.float16)
        arrays[f"head.{label}.form"] = head.form.astype(np.float32)
        arrays[f"head.{label}.mean"] = head.mean.astype(np.float32)
        arrays[f"head.{label}.bias"] = head.bias.astype(np.float32)
    heads = {label: {"classes": head.classes, "temperature": head.temperature} for label, head in model.heads.items()}
    settings = {
        "heads": heads,
        "numbers": model.numbers,
        "form": FORM_FEATURES,
        "embedder": model.embedder,
    }
    arrays["settings"] = np.frombuffer(json.dumps(settings, sort_keys=True).encode(), dtype=np.uint8)
    out = io.BytesIO()
    np.savez_compressed(out, allow_pickle=False, **arrays)
    return out.getvalue()


def from_bytes(data: bytes) -> ClassifierModel:
    """The model in a file of `to_bytes`. Raises BadTable."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return _model({name: arrays[name] for name in arrays.files})
    except (ValueError, KeyError, OSError) as error:
        raise BadTable(
            f"core/knowledge/{_FILE} is not a classifier model: {error}.",
            "Write it with `cli evaluate fit-classifier`.",
        ) from error


def _model(arrays: Mapping[str, NDArray[Any]]) -> ClassifierModel:
    settings = json.loads(arrays["settings"].tobytes())
    if tuple(settings["form"]) != FORM_FEATURES:
        raise ValueError("it was fitted with other form features")
    vocabularies = {}
    for name in _WORD_BLOCKS:
        words = arrays[f"vocabulary.{name}"].tobytes().decode().split("\n")
        index = {word: row for row, word in enumerate(words)}
        vocabularies[name] = TermWeights(index, arrays[f"idf.{name}"].astype(np.float64))
    heads = {label: _head(label, row, arrays) for label, row in settings["heads"].items()}
    return ClassifierModel(
        vocabularies,
        arrays["form_mean"],
        arrays["form_scale"],
        heads,
        settings["numbers"],
        settings["embedder"],
        arrays["context"].astype(np.float32),
    )


def _head(label: str, row: Mapping[str, Sequence[Any]], arrays: Mapping[str, NDArray[Any]]) -> Head:
    def block(name: str) -> Matrix:
        return arrays[f"head.{label}.{name}"].astype(np.float64)

    first, growth = row["temperature"]
    words = {name: block(name) for name in _WORD_BLOCKS if f"head.{label}.{name}" in arrays}
    return Head(tuple(row["classes"]), words, block("form"), block("mean"), block("bias"), (first, growth))
