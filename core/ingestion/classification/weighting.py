"""Combines evidence for a domain into one label: keywords saturate, meaning adds, a softmax decides."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import exp

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Evidence, EvidenceSource, Label
from core.ingestion.classification.linear_model import ClassifierModel, built_in_model
from core.ingestion.classification.sample import DocumentSample, quote_around
from core.knowledge.classifier_weights import DomainWeights, domain_weights
from core.knowledge.label_signals import SignalMatch
from core.knowledge.prototypes import prototypes
from core.ports.stores import Embedder

__all__ = [
    "BESIDE_HEAD",
    "FEW_WORDS",
    "Prototypes",
    "confirmed_label",
    "decide",
    "expected_signals",
    "signal_evidence",
    "threshold_of",
    "total_weights",
    "weights_of",
]

BESIDE_HEAD = "domain beside its head"
"""The group of a model's numbers with the weights of keywords and meaning where its head for domains counts, too."""
FEW_WORDS = "domain in few words"
"""The group with the weights of texts that are too short for meaning."""

_NEAREST = 2  # Prototypes averaged per value. Chosen by hand, not fitted.
_SHARPNESS = 25.0  # Softmax sharpness over cosines. Chosen by hand, not fitted.
_GROWTH = 0.7  # Exponent of the expected signal count. Chosen by hand, not fitted.
_LEAST_COSINE = 0.15  # Below this a sentence is near to no value. Chosen by hand, not fitted.
_SHOWN = 6  # Most pieces of evidence kept per label. Chosen by hand, not fitted.


class Prototypes:
    """The embedded prototype sentences of the domains. more: a workspace's own domains with their sentences."""

    def __init__(self, embedder: Embedder, more: Iterable[tuple[str, Sequence[str]]] = ()) -> None:
        rows = {**prototypes(), **dict(more)}
        self.values = tuple(rows)
        owners = [i for i, value in enumerate(rows) for _ in rows[value]]
        self._owners = np.array(owners)
        self._vectors = embedder.embed([sentence for value in rows for sentence in rows[value]])

    def nearness(self, vectors: NDArray[np.float32]) -> NDArray[np.float64]:
        """Shape (n, values): softmax similarity of each vector to each value; rows sum to 1 (0 if none is near)."""
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
        """Per value: the most similar sentence, with the weight of all sentences together."""
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


def expected_signals(reading: DocumentSample, weighing: DomainWeights) -> float:
    """Expected count of a signal in a text: grows with the 0.7th power of the words, because long texts repeat
    themselves less.
    """
    return 0.5 + float((reading.words / weighing.words_per_sign) ** _GROWTH)


def signal_evidence(
    reading: DocumentSample,
    hits: Iterable[SignalMatch],
    weighing: DomainWeights,
    source: EvidenceSource = EvidenceSource.TEXT,
) -> list[Evidence]:
    """One Evidence per signal in the body: weight · (1 - e^(-count / expected)), more if it occurs in the opening."""
    expected = expected_signals(reading, weighing)
    found = []
    for hit in hits:
        start, end = hit.spans[0]
        share = 1.0 - exp(-len(hit.spans) / expected)
        if start < len(reading.opening):
            share += weighing.opening_share
        quote = quote_around(reading.body, start, end)
        found.append(Evidence(quote, source, hit.sign.value, round(hit.sign.weight * share, 6), hit.sign.rule))
    return found


def total_weights(values: Iterable[str], evidence: Iterable[Evidence]) -> dict[str, float]:
    """Value → sum of its evidence's weights."""
    sums = {str(value): 0.0 for value in values}
    for item in evidence:
        sums[item.value] += item.weight
    return sums


def decide(scores: Mapping[str, float], evidence: Iterable[Evidence], weighing: DomainWeights) -> Label:
    """The most probable value by softmax, or an abstention with its reason."""
    highest = max(scores.values())
    grown = {value: exp(score - highest) for value, score in scores.items()}
    order = sorted(grown, key=lambda value: -grown[value])
    total = sum(grown.values())
    first, second = order[0], order[1]
    probability, runner_up = grown[first] / total, grown[second] / total
    shown = sorted(
        (item for item in evidence if item.value == first and item.weight > 0), key=lambda item: -item.weight
    )
    label = Label(first, probability, second, runner_up, tuple(shown[:_SHOWN]))
    if probability >= weighing.threshold:
        return label
    reason = f"Only {probability:.0%} for {first} and {runner_up:.0%} for {second}: too close to decide."
    return Label(None, 0.0, first, probability, label.evidence, reason)


def confirmed_label(label: Label) -> Label:
    """A label from an analyst's correction, with probability 1."""
    evidence = label.evidence or (
        Evidence(label.value or "", EvidenceSource.CORRECTION, label.value or "", 1.0, "an analyst confirmed it"),
    )
    return Label(label.value, 1.0, evidence=evidence, confirmed=True)


def weights_of(model: ClassifierModel, group: str) -> DomainWeights:
    """How the evidence for domains is weighed: a group of the model's numbers, and the rest of the table.

    group: "domain", BESIDE_HEAD or FEW_WORDS.
    """
    return replace(domain_weights(), **model.numbers.get(group, {}))


def threshold_of(field: str) -> float:
    """The probability below which the classifier abstains; 0 for a field it always labels. Raises BadTable."""
    if field == "domain":
        return domain_weights().threshold
    return built_in_model().numbers.get(field, {}).get("threshold", 0.0)
