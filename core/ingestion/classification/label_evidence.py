"""Why a head preferred one class to another: sentences, name and form, with contributions that add up to the margin."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Evidence, EvidenceSource
from core.ingestion.classification.document_features import FORM_FEATURES, english_word_places, first_lines, form_quote
from core.ingestion.classification.linear_model import Blocks, Head, TermWeights
from core.ingestion.classification.sample import DocumentSample, quote_around, sentence_starts
from core.knowledge.languages import NATIVE

__all__ = ["READS_LIKE", "explained", "strongest_sentence"]

READS_LIKE = "reads like"
"""How the reason of a sentence begins that was decided by its words."""

_SHOWN = 3  # sentences quoted per decision: what a person reads at a glance; chosen by hand
_LEAST = 1e-6  # log-odds below which a part is not listed: nothing to see after rounding


@dataclass(frozen=True, slots=True)
class _Occurrences:
    """The parts of the text at [starts, ends), with their contributions to the margin; arrays of one length."""

    starts: NDArray[np.intp]
    ends: NDArray[np.intp]
    weights: NDArray[np.float64]


# Over 40 lines: the parts of one sum, which must be read together.
def explained(
    head: Head,
    vocabularies: Mapping[str, TermWeights],
    blocks: Blocks,
    sample: DocumentSample,
    vectors: NDArray[np.float32],
    first: str,
    second: str,
) -> tuple[Evidence, ...]:
    """What speaks for `first` rather than `second`, the strongest sentences first.

    Weights are log-odds: those for `first` minus those for `second` are the margin of the calibrated scores, to six
    digits. vectors: of sample.segments, or none. Quotes are verbatim; the rest of the text and the prior have none.
    """
    one, other = head.classes.index(first), head.classes.index(second)
    heat = head.heat(blocks)

    def margin(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray((weights[..., one] - weights[..., other]) / heat, dtype=np.float64)

    parts = [
        *_word_occurrences(head, vocabularies, blocks, sample, margin),
        _segment_occurrences(sample, vectors, margin(head.mean)),
    ]
    found = _Occurrences(
        np.concatenate([part.starts for part in parts]),
        np.concatenate([part.ends for part in parts]),
        np.concatenate([part.weights for part in parts]),
    )
    text = float(found.weights.sum())
    shown = _strongest_sentences(sample.body, found)
    evidence = [
        Evidence(quote, EvidenceSource.TEXT, first, round(weight, 6), f"{READS_LIKE} {first}")
        for quote, weight in shown
    ]
    name = 0.0
    if "name" in head.words:
        rows, values = blocks.words["name"]
        name = float(values @ margin(head.words["name"][rows])) * head.retained_share("name", blocks)
    shape = blocks.form * margin(head.form)
    strongest = int(shape.argmax() if shape.sum() > 0 else shape.argmin())
    form = form_quote(FORM_FEATURES[strongest], sample.body)
    rest = text - sum(weight for _, weight in shown)
    others = (
        (sample.name, EvidenceSource.NAME, name, "words of the file name"),
        (form, EvidenceSource.TEXT, float(shape.sum()), f"the form of the text, above all: {FORM_FEATURES[strongest]}"),
        ("", EvidenceSource.TEXT, rest, "the rest of the text"),
        ("", EvidenceSource.TEXT, float(margin(head.bias)), "how common it is"),
    )
    for quote, source, weight, rule in others:
        if abs(weight) >= _LEAST:
            evidence.append(Evidence(quote, source, first if weight > 0 else second, round(abs(weight), 6), rule))
    return tuple(evidence)


def _word_occurrences(
    head: Head,
    vocabularies: Mapping[str, TermWeights],
    blocks: Blocks,
    sample: DocumentSample,
    margin: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> Iterator[_Occurrences]:
    """Every known word of the text; a word's contribution is shared equally by its occurrences."""
    for name, text in (("words", sample.body), ("opening", first_lines(sample))):
        if name not in head.words:
            continue
        rows, values = blocks.words[name]
        contributions = values * margin(head.words[name][rows])
        yield _occurrences(vocabularies[name].index, rows, contributions, text, blocks.language)


def _occurrences(
    index: Mapping[str, int], rows: NDArray[np.intp], contributions: NDArray[np.float64], text: str, language: str
) -> _Occurrences:
    """The words of a text that are known, with what the rows of their vocabulary contribute."""
    shares = np.zeros(len(index) + 1)  # the last for words that are not known
    shares[rows] = contributions
    positions = english_word_places(text, language)
    row_of = np.array([index.get(word, -1) for word in positions.words], dtype=np.intp)
    each = shares[row_of] / np.bincount(positions.numbers, minlength=1)
    known = row_of[positions.numbers] >= 0
    return _Occurrences(positions.starts[known], positions.ends[known], each[positions.numbers][known])


def strongest_sentence(
    index: Mapping[str, int], rows: NDArray[np.intp], contributions: NDArray[np.float64], text: str, value: str
) -> Evidence:
    """The sentence of an English text whose known words speak most for `value`. contributions: per row of `rows`."""
    shown = _strongest_sentences(text, _occurrences(index, rows, contributions, text, NATIVE))
    quote, weight = shown[0] if shown else ("", 0.0)
    return Evidence(quote, EvidenceSource.TEXT, value, round(weight, 6), f"{READS_LIKE} {value}")


def _segment_occurrences(
    sample: DocumentSample, vectors: NDArray[np.float32], weights: NDArray[np.float64]
) -> _Occurrences:
    """The sampled sentences, by what their vectors say; the mean vector is the mean of theirs."""
    starts: list[int] = []
    for segment in sample.segments if len(vectors) else ():
        before = starts[-1] if starts else 0
        found = sample.body.find(segment, before)
        starts.append(found if found >= 0 else before)
    scores = [float(vector.astype(np.float64) @ weights) / len(vectors) for vector in vectors]
    begun = np.array(starts, dtype=np.intp)
    return _Occurrences(begun, begun + 1, np.array(scores, dtype=np.float64))


def _strongest_sentences(text: str, found: _Occurrences) -> list[tuple[str, float]]:
    """Quotes of the sentences that contribute most, with their contributions; at most three, each once."""
    sentences = np.searchsorted(sentence_starts(text), found.starts, side="right") - 1
    sums = np.bincount(sentences, found.weights, minlength=1)
    shown: dict[str, float] = {}
    for at in np.argsort(-sums, kind="stable"):
        if sums[at] <= _LEAST or len(shown) == _SHOWN:
            break
        own = np.flatnonzero(sentences == at)
        best = own[found.weights[own].argmax()]
        quote = quote_around(text, int(found.starts[best]), int(found.ends[best]))
        if quote and quote not in shown:
            shown[quote] = float(sums[at])
    return list(shown.items())
