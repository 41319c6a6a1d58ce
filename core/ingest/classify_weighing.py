"""From evidence to one calibrated label: signs saturate, meaning adds, a softmax decides."""

from collections.abc import Iterable, Mapping, Sequence
from math import exp

import numpy as np
from numpy.typing import NDArray

from core.documents import Evidence, EvidenceSource, Label
from core.ingest.classify_reading import Reading, quote_around
from core.ports import Embedder
from core.tables.decisions import Weighing
from core.tables.prototypes import prototypes
from core.tables.signs import SignHit

__all__ = ["Prototypes", "confirmed", "decided", "expected_signs", "sign_evidence", "totals"]

_NEAREST = 2
_SHARPNESS = 25.0
_GROWTH = 0.7
_LEAST_COSINE = 0.15
_SHOWN = 6


class Prototypes:
    """The labelled sentences of one field, embedded once. more: further values with theirs."""

    def __init__(self, embedder: Embedder, field: str, more: Iterable[tuple[str, Sequence[str]]] = ()) -> None:
        rows = {**prototypes()[field], **dict(more)}
        self.values = tuple(rows)
        owners = [i for i, value in enumerate(rows) for _ in rows[value]]
        self._owners = np.array(owners)
        self._vectors = embedder.embed([sentence for value in rows for sentence in rows[value]])

    def nearness(self, vectors: NDArray[np.float32]) -> NDArray[np.float64]:
        """Shape (n, values): how near each vector is to each value, rows adding up to 1 (0 where nothing is near)."""
        cosines: NDArray[np.float64] = vectors.astype(np.float64) @ self._vectors.T.astype(np.float64)
        best = np.stack([self._best(cosines[:, self._owners == i]) for i in range(len(self.values))], axis=1)
        grown = np.exp(_SHARPNESS * (best - best.max(axis=1, keepdims=True)))
        shares: NDArray[np.float64] = grown / grown.sum(axis=1, keepdims=True)
        shares[best.max(axis=1) < _LEAST_COSINE] = 0.0
        return shares

    @staticmethod
    def _best(cosines: NDArray[np.float64]) -> NDArray[np.float64]:
        top: NDArray[np.float64] = np.sort(cosines, axis=1)[:, -_NEAREST:].mean(axis=1)
        return top

    def evidence(self, segments: Sequence[str], nearness: NDArray[np.float64], weight: float) -> list[Evidence]:
        """Per value: the sentence that sounds most like it, with the weight all sentences together give it."""
        shares = nearness.mean(axis=0)
        return [
            Evidence(
                quote=segments[int(nearness[:, i].argmax())],
                source=EvidenceSource.MEANING,
                value=value,
                weight=round(weight * float(shares[i]), 6),
                rule=f"reads most like {value}",
            )
            for i, value in enumerate(self.values)
        ]


def expected_signs(reading: Reading, weighing: Weighing) -> float:
    """How often a sign is expected in a text: it grows with the 0.7th power of the words, because a long text repeats
    itself less than it grows.
    """
    return 0.5 + float((reading.words / weighing.words_per_sign) ** _GROWTH)


def sign_evidence(
    reading: Reading, hits: Iterable[SignHit], weighing: Weighing, source: EvidenceSource = EvidenceSource.TEXT
) -> list[Evidence]:
    """One Evidence per sign in the body: weight · (1 - e^(-count / expected)), more when it stands in the opening."""
    expected = expected_signs(reading, weighing)
    found = []
    for hit in hits:
        start, end = hit.spans[0]
        share = 1.0 - exp(-len(hit.spans) / expected)
        if start < len(reading.opening):
            share += weighing.opening_share
        quote = quote_around(reading.body, start, end)
        found.append(Evidence(quote, source, hit.sign.value, round(hit.sign.weight * share, 6), hit.sign.rule))
    return found


def totals(values: Iterable[str], evidence: Iterable[Evidence]) -> dict[str, float]:
    """Value → the sum of its evidence's weights."""
    sums = {str(value): 0.0 for value in values}
    for item in evidence:
        sums[item.value] += item.weight
    return sums


def decided(scores: Mapping[str, float], evidence: Iterable[Evidence], weighing: Weighing) -> Label:
    """The most probable value by softmax(score / temperature), or an abstention that says why."""
    highest = max(scores.values())
    grown = {value: exp((score - highest) / weighing.temperature) for value, score in scores.items()}
    order = sorted(grown, key=lambda value: -grown[value])
    whole = sum(grown.values())
    first, second = order[0], order[1]
    probability, runner_up = grown[first] / whole, grown[second] / whole
    shown = sorted(
        (item for item in evidence if item.value == first and item.weight > 0), key=lambda item: -item.weight
    )
    label = Label(first, probability, second, runner_up, tuple(shown[:_SHOWN]))
    if probability >= weighing.threshold:
        return label
    reason = f"Only {probability:.0%} for {first} and {runner_up:.0%} for {second}: too close to decide."
    return Label(None, 0.0, first, probability, label.evidence, reason)


def confirmed(label: Label) -> Label:
    """An analyst's correction as a label: it wins, with probability 1."""
    evidence = label.evidence or (
        Evidence(label.value or "", EvidenceSource.CORRECTION, label.value or "", 1.0, "an analyst confirmed it"),
    )
    return Label(label.value, 1.0, evidence=evidence, confirmed=True)
