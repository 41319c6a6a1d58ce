"""Labelled documents to learn from, and their features as the matrices that are fitted."""
# Over 300 lines: documents, their copies and their features as matrices are one step from files to numbers.

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import md5
from itertools import islice
from math import log

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from core.domain.documents import EvidenceSource
from core.evaluation.judgments.files import LabelRow
from core.ingestion.classification.document_features import DocumentFeatures, features_of
from core.ingestion.classification.jurisdiction import (
    PlaceMention,
    place_mentions,
)
from core.ingestion.classification.linear_model import ClassifierModel, TermWeights, mean_vector
from core.ingestion.classification.sample import DocumentSample, name_words
from core.ingestion.classification.subject import LEAST_WORDS_FOR_MEANING, domain_evidence
from core.ingestion.classification.weighting import Prototypes, total_weights
from core.knowledge.classifier_weights import domain_weights
from core.knowledge.domains import GENERAL
from core.knowledge.languages import NATIVE
from core.knowledge.workspace_terms import WorkspaceTerms

__all__ = [
    "BLOCKS",
    "COPY_WEIGHT",
    "EQUAL_PARTS",
    "LEAST_PART_CHARACTERS",
    "SHORT_CHARACTERS",
    "STEPS",
    "UNSURE_DATE",
    "FittingProblem",
    "Matrix",
    "TrainingDocument",
    "equal_parts",
    "first_lines",
    "fold_of",
    "part_of",
    "short_lengths",
    "stacked_terms",
    "training_document",
]

Matrix = NDArray[np.float64]

BLOCKS = ("words", "opening", "name", "form", "mean")
"""The blocks of features, in the order of their stack weights."""
UNSURE_DATE = "?"
"""In place of a date: the text names one that may or may not be its own, so that nothing is learned about dates."""
STEPS = 300  # most iterations of a solver; the models converge in fewer

SHORT_CHARACTERS = (700, 150)
"""Lengths of the short texts that documents are also learned as: about 110 and 25 words. Chosen by hand."""
COPY_WEIGHT = 0.5
"""How important a copy with a part of the text is beside the whole document; chosen by hand."""
EQUAL_PARTS, LEAST_PART_CHARACTERS = 3, 1_000
"""Documents are also learned as so many equal parts, of so many characters at least. Chosen by hand: twelve ways to
cut and weigh them gave about the same loss on sources left out."""

_WORD = re.compile(r"[^\W_]+")
_INNER_FOLDS = 4
_PASSAGES = 6  # learned from per document, so that long ones do not rule; chosen by hand
_SOURCES_OF_WORD = {"words": (3, 12_000), "opening": (3, 4_000), "name": (2, 2_000)}
"""Least number of sources that use a word, and most words kept: keeps the file small and single texts out of it."""


@dataclass(frozen=True, slots=True)
class TrainingDocument:
    """A labelled document as the classifier reads it, under a neutral name.

    Documents of one owner's sources are left out together. features: with the words of its real name. vectors: of
    sample.segments, each embedded alone. mentions: the places it names. date: ISO, "" for none, or UNSURE_DATE. weight:
    how much its labels count; above 1 for checked ones. passages: texts of some, spread over the document.
    passage_vectors: theirs, shape (n, dim). domain: a built-in one. domain_evidence: domain → how strongly keywords and
    meaning speak for it, before weights. first_evidence: the same of its first words alone, too few for meaning.
    in_context: of sample.segments in their passages, shape (n, dim); 0 for one that is whole in none.
    """

    source: str
    truth: str
    authority: str
    jurisdiction: str
    date: str
    language: str
    sample: DocumentSample
    features: DocumentFeatures
    vectors: NDArray[np.float32]
    mentions: tuple[PlaceMention, ...]
    weight: float = 1.0
    passages: tuple[str, ...] = ()
    passage_vectors: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))
    domain: str = GENERAL
    domain_evidence: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    first_evidence: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    in_context: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))


def training_document(
    row: LabelRow,
    language: str,
    sample: DocumentSample,
    vectors: NDArray[np.float32],
    terms: WorkspaceTerms,
    weight: float = 1.0,
    passages: Sequence[str] = (),
    embed: Callable[[Sequence[int]], NDArray[np.float32]] | None = None,
    prototypes: Prototypes | None = None,
) -> TrainingDocument:
    """A labelled document, sampled under a neutral name; `row.name` gives the words of its real one.

    vectors: of sample.segments. passages: texts of all; an even spread of them is kept. embed: gives the vectors of
    the passages with these numbers; without it they are 0. prototypes: without them nothing is learned about domains.
    """
    spread = _spread(len(passages))
    named = replace(sample, name=row.name, name_words=name_words(row.name))
    features = replace(features_of(sample, language), name=features_of(named, language).name)
    return TrainingDocument(
        row.source,
        row.truth,
        row.authority,
        row.jurisdiction,
        row.effective_date,
        language,
        sample,
        features,
        vectors,
        tuple(place_mentions(sample, language, terms)),
        weight,
        tuple(passages[number] for number in spread),
        embed(spread) if embed and spread else np.zeros((len(spread), vectors.shape[1]), dtype=np.float32),
        GENERAL if row.domain in ("", "other") else row.domain,
        _domain_evidence(sample, prototypes, vectors, terms, language) if prototypes else {},
        _domain_evidence(_first_words(sample), prototypes, vectors[:0], terms, language) if prototypes else {},
    )


def _first_words(sample: DocumentSample) -> DocumentSample:
    """A sample of the first words of a text, too few for meaning."""
    ends = [match.end() for match in islice(_WORD.finditer(sample.body), LEAST_WORDS_FOR_MEANING - 1)]
    return part_of(sample, 0, ends[-1] if ends else 0)


def _domain_evidence(
    sample: DocumentSample, prototypes: Prototypes, vectors: NDArray[np.float32], terms: WorkspaceTerms, language: str
) -> dict[str, tuple[float, float]]:
    plain = replace(domain_weights(), general_lead=0.0, keyword=1.0, meaning=1.0)
    found = domain_evidence(sample, prototypes, vectors, terms, plain, language == NATIVE)
    parts = [
        total_weights(terms.domains.keywords, [item for item in found if item.source is source])
        for source in (EvidenceSource.TEXT, EvidenceSource.MEANING)
    ]
    return {value: (parts[0][value], parts[1][value]) for value in terms.domains.keywords}


def _spread(count: int) -> Sequence[int]:
    """The numbers of at most `_PASSAGES` of so many passages, the first and the last among them."""
    if count <= _PASSAGES:
        return range(count)
    return [round(at) for at in np.linspace(0, count - 1, _PASSAGES)]


def fold_of(source: str, folds: int, salt: str = "") -> int:
    """The fold of a source: a hash of its owner's name, so that it never depends on the other documents.

    Sources of one owner, the part before the first "/", are left out together: they speak alike.
    """
    owner = source.lower().partition("/")[0]
    return int(md5(f"{salt}{owner}".encode(), usedforsecurity=False).hexdigest(), 16) % folds


@dataclass(frozen=True, slots=True)
class FittingProblem:
    """The features of all documents as matrices, and their inner folds and weights.

    Each document counts by the inverse root of its source's documents, so that no source dominates.
    """

    documents: Sequence[TrainingDocument]
    vocabularies: Mapping[str, TermWeights]
    form_mean: Matrix
    form_scale: Matrix
    blocks: Mapping[str, sparse.csr_matrix]
    folds: NDArray[np.intp]
    weights: Matrix
    unknown: Sequence[float]

    @classmethod
    def of(
        cls, documents: Sequence[TrainingDocument], blocks: Sequence[str], base: ClassifierModel | None = None
    ) -> "FittingProblem":
        """base: a model whose words and scales count; else those of the documents do."""
        base = base or _without_heads(documents)
        vocabularies = base.vocabularies
        rows = [base.blocks(each.features, each.vectors) for each in documents]
        matrices: dict[str, sparse.csr_matrix] = {
            name: stacked_terms([row.words[name] for row in rows], len(vocabularies[name].idf)) for name in vocabularies
        }
        matrices["form"] = sparse.csr_matrix(np.stack([row.form for row in rows]))
        matrices["mean"] = sparse.csr_matrix(np.stack([mean_vector(each.vectors) for each in documents]))
        folds = np.array([fold_of(each.source, _INNER_FOLDS, "inner") for each in documents])
        chosen = {name: matrices[name] for name in BLOCKS if name in blocks}
        return cls(
            documents,
            vocabularies,
            base.form_mean,
            base.form_scale,
            chosen,
            folds,
            _weights(documents),
            [row.unknown for row in rows],
        )

    def first(self, count: int) -> "FittingProblem":
        """The first documents of the problem; the features of heads stay those of all."""
        return self.only(np.arange(count))

    def only(self, chosen: NDArray[np.intp]) -> "FittingProblem":
        """The documents with these numbers; the features of heads stay those of all."""
        documents = [self.documents[at] for at in chosen.tolist()]
        return replace(self, documents=documents, folds=self.folds[chosen], weights=_weights(documents))


def _weights(documents: Sequence[TrainingDocument]) -> Matrix:
    """How much each document counts, 1 on average."""
    counts = Counter(each.source for each in documents)
    weights: Matrix = np.array([each.weight * counts[each.source] ** -0.5 for each in documents])
    weights /= weights.mean()
    return weights


def first_lines(document: TrainingDocument) -> Sequence[TrainingDocument]:
    """Copies with only the first lines of the document, so that notes and one-page files are learned, too."""
    return [
        _partial_copy(document, 0, characters, _whole_sentences(document, 0, characters) or slice(1))
        for characters in short_lengths(document.sample)
    ]


def equal_parts(document: TrainingDocument) -> Iterator[TrainingDocument]:
    """Copies with one of equal parts of the text, so that words count that are rare in the whole.

    A part needs a whole sentence with a vector.
    """
    characters = len(document.sample.body) // EQUAL_PARTS
    for number in range(EQUAL_PARTS if characters >= LEAST_PART_CHARACTERS else 0):
        if sentences := _whole_sentences(document, number * characters, characters):
            yield _partial_copy(document, number * characters, characters, sentences)


def short_lengths(sample: DocumentSample) -> Sequence[int]:
    """Those of `SHORT_CHARACTERS` that are shorter than the text."""
    return [characters for characters in SHORT_CHARACTERS if characters < len(sample.body)]


def part_of(sample: DocumentSample, start: int, characters: int) -> DocumentSample:
    """The sample as if only so many characters of its text were there, from `start` on."""
    text = sample.body[start : start + characters]
    segments = tuple(each for each in sample.segments if each in text)
    words = sum(1 for _ in _WORD.finditer(text))
    return replace(sample, body=text, opening=text, segments=segments, words=words)


def _whole_sentences(document: TrainingDocument, start: int, characters: int) -> list[int]:
    """The numbers of those sentences with a vector that the part holds whole."""
    text = document.sample.body[start : start + characters]
    known = document.sample.segments[: len(document.vectors)]
    return [number for number, each in enumerate(known) if each in text]


def _partial_copy(
    document: TrainingDocument, start: int, characters: int, sentences: list[int] | slice
) -> TrainingDocument:
    """sentences: those whose vectors the copy keeps; slice(1): the first one, though it is cut."""
    sample = part_of(document.sample, start, characters)
    features = replace(features_of(sample, document.language), name=document.features.name)
    return replace(
        document,
        sample=sample,
        features=features,
        vectors=document.vectors[sentences],
        weight=document.weight * COPY_WEIGHT,
        passages=(),
        passage_vectors=document.vectors[:0],
        in_context=document.vectors[:0],
    )


def _without_heads(documents: Sequence[TrainingDocument]) -> ClassifierModel:
    """A model that knows the words and the form of these documents, and no label yet."""
    forms = np.stack([each.features.form for each in documents])
    scale = forms.std(axis=0)
    scale[scale < 1e-9] = 1.0
    vocabularies = {name: _vocabulary(documents, name) for name in _SOURCES_OF_WORD}
    return ClassifierModel(vocabularies, forms.mean(axis=0), scale, {}, {}, "")


def _vocabulary(documents: Sequence[TrainingDocument], name: str) -> TermWeights:
    """Words by the number of sources that use them; idf over documents, smoothed: ln((1 + n) / (1 + df)) + 1."""
    least, most = _SOURCES_OF_WORD[name]
    sources: dict[str, set[str]] = {}
    counts: Counter[str] = Counter()
    for each in documents:
        words = getattr(each.features, name)
        counts.update(words.keys())
        for word in words:
            sources.setdefault(word, set()).add(each.source)
    frequent = sorted((w for w, found in sources.items() if len(found) >= least), key=lambda w: (-len(sources[w]), w))[
        :most
    ]
    idf = np.array([log((1 + len(documents)) / (1 + counts[word])) + 1.0 for word in frequent])
    return TermWeights({word: row for row, word in enumerate(frequent)}, idf)


def stacked_terms(rows: Sequence[tuple[NDArray[np.intp], Matrix]], width: int) -> sparse.csr_matrix:
    """Rows and values as `TermWeights.vector` gives them, as a matrix of shape (len(rows), width)."""
    starts = np.cumsum([0, *(len(columns) for columns, _ in rows)])
    columns = np.concatenate([columns for columns, _ in rows])
    values = np.concatenate([values for _, values in rows])
    return sparse.csr_matrix((values, columns, starts), shape=(len(rows), width))
