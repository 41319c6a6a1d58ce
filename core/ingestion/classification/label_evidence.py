"""Why a head preferred one class to another: sentences, name and form, with contributions that add up to the margin."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Evidence, EvidenceSource
from core.ingestion.classification.document_features import FORM_FEATURES, form_quote, word_spans
from core.ingestion.classification.linear_model import Blocks, Head, TermWeights
from core.ingestion.classification.sample import DocumentSample, quote_around, sentence_starts

__all__ = ["explained"]

_SHOWN = 3  # sentences quoted per decision: what a person reads at a glance; chosen by hand
_LEAST = 1e-6  # log-odds below which a part is not listed: nothing to see after rounding


@dataclass(frozen=True, slots=True)
class _Occurrence:
    """A word of the text at [start, end), with its contribution to the margin."""

    start: int
    end: int
    weight: float


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

    found = list(_occurrences(head, vocabularies, blocks, sample, margin))
    found += _segment_occurrences(sample, vectors, margin(head.mean))
    text = sum(each.weight for each in found)
    shown = _strongest_sentences(sample.body, found)
    evidence = [
        Evidence(quote, EvidenceSource.TEXT, first, round(weight, 6), f"reads like {first}") for quote, weight in shown
    ]
    name = 0.0
    if "name" in head.words:
        rows, values = blocks.words["name"]
        name = float(values @ margin(head.words["name"][rows])) * head.share_kept("name", blocks)
    shape = blocks.form * margin(head.form)
    strongest = int(shape.argmax() if shape.sum() > 0 else shape.argmin())
    form = form_quote(FORM_FEATURES[strongest], sample.body)
    rest = text - sum(weight for _, weight in shown)
    parts = (
        (sample.name, EvidenceSource.NAME, name, "words of the file name"),
        (form, EvidenceSource.TEXT, float(shape.sum()), f"the form of the text, above all: {FORM_FEATURES[strongest]}"),
        ("", EvidenceSource.TEXT, rest, "the rest of the text"),
        ("", EvidenceSource.TEXT, float(margin(head.bias)), "how common it is"),
    )
    for quote, source, weight, rule in parts:
        if abs(weight) >= _LEAST:
            evidence.append(Evidence(quote, source, first if weight > 0 else second, round(abs(weight), 6), rule))
    return tuple(evidence)


def _occurrences(
    head: Head,
    vocabularies: Mapping[str, TermWeights],
    blocks: Blocks,
    sample: DocumentSample,
    margin: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> Iterator[_Occurrence]:
    """Every known word of the text; a word's contribution is shared equally by its occurrences."""
    for name, text in (("words", sample.body), ("opening", sample.opening)):
        if name not in head.words:
            continue
        rows, values = blocks.words[name]
        by_row = dict(zip(rows.tolist(), (values * margin(head.words[name][rows])).tolist(), strict=True))
        index = vocabularies[name].index
        places: dict[int, list[tuple[int, int]]] = {}
        for word, start in word_spans(text):
            row = index.get(word)
            if row is not None:
                places.setdefault(row, []).append((start, start + len(word)))
        for row, spans in places.items():
            share = by_row[row] / len(spans)
            yield from (_Occurrence(start, end, share) for start, end in spans)


def _segment_occurrences(
    sample: DocumentSample, vectors: NDArray[np.float32], weights: NDArray[np.float64]
) -> Iterator[_Occurrence]:
    """The sampled sentences, by what their vectors say; the mean vector is the mean of theirs."""
    if not len(vectors):
        return
    at = 0
    for segment, vector in zip(sample.segments, vectors, strict=True):
        found = sample.body.find(segment, at)
        at = found if found >= 0 else at
        yield _Occurrence(at, at + 1, float(vector.astype(np.float64) @ weights) / len(vectors))


def _strongest_sentences(text: str, found: Sequence[_Occurrence]) -> list[tuple[str, float]]:
    """Quotes of the sentences that contribute most, with their contributions; at most three, each once."""
    starts = sentence_starts(text)
    sums: dict[int, float] = {}
    best: dict[int, _Occurrence] = {}
    for each in found:
        at = bisect_right(starts, each.start) - 1
        sums[at] = sums.get(at, 0.0) + each.weight
        if at not in best or best[at].weight < each.weight:
            best[at] = each
    shown: dict[str, float] = {}
    for at in sorted(sums, key=lambda key: (-sums[key], key)):
        if sums[at] <= _LEAST or len(shown) == _SHOWN:
            break
        quote = quote_around(text, best[at].start, best[at].end)
        if quote and quote not in shown:
            shown[quote] = sums[at]
    return list(shown.items())
