"""Decides the effective date and the temporal class of a document."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Evidence, EvidenceSource, Label, Truth
from core.ingestion.classification.date_candidates import DateCandidate, date_candidates
from core.ingestion.classification.linear_model import ClassifierModel, softmax
from core.ingestion.classification.sample import DocumentSample, quote_around
from core.knowledge.label_signals import LabelSignalFinder
from core.knowledge.temporal import temporal_by_truth, temporal_signs

__all__ = ["date_shares", "effective_date_label", "temporal_label"]

_FURTHER_RULE_PROBABILITY = 0.6  # of a temporal class that follows from the truth; chosen by hand


def effective_date_label(sample: DocumentSample, truth: Label, language: Label, model: ClassifierModel) -> Label:
    """The date from which the text applies, if the text states it with enough certainty; else no value.

    Probabilities come from a conditional logit over every mention of a date and "no date"; those of one date add up.
    Precision goes before recall: the threshold is the one that gives almost no undated document a date, on sources
    left out of the fitting.
    """
    candidates, none = date_candidates(sample, truth, language.value or "en")
    if not candidates:
        return Label(reason="The document gives no date of its own.")
    weights = model.numbers["date_features"]
    scores = np.array(
        [
            sum(weights.get(name, 0.0) * value for name, value in row.items())
            for row in (none, *(c.features for c in candidates))
        ]
    )
    shares = softmax(scores)[1:]
    by_date = date_shares(candidates, shares)
    best, *others = sorted(by_date, key=lambda value: (-by_date[value], value))
    own = [(share, each) for share, each in zip(shares, candidates, strict=True) if each.value == best]
    share, mention = max(own, key=lambda item: (item[0], -item[1].start))
    evidence = mention.evidence(round(float(share), 6))
    probability = by_date[best]
    if probability < model.numbers["date"]["threshold"]:
        return Label(
            reason=f"No date is certain enough to be its own; nearest: “{evidence.quote}” ({probability:.0%})."
        )
    second = others[0] if others else None
    return Label(best, probability, second, by_date[second] if second else 0.0, (evidence,))


def date_shares(candidates: Sequence[DateCandidate], shares: NDArray[np.float64]) -> dict[str, float]:
    """Date → probability; shares: of each mention."""
    found: dict[str, float] = defaultdict(float)
    for each, share in zip(candidates, shares, strict=True):
        found[each.value] += float(share)
    return found


def temporal_label(sample: DocumentSample, truth: Label) -> Label:
    """Evergreen, current, dated or historical: by signals in the opening and the text, else by the truth."""
    if not sample.words:
        return Label(reason="The document contains no text that could be read.")
    hits = _temporal_signs().find(sample.opening)
    if hits:
        start, end = hits[0].spans[0]
        quote = quote_around(sample.opening, start, end)
        sign = hits[0].sign
        evidence = Evidence(quote, EvidenceSource.TEXT, sign.value, sign.weight, sign.rule)
        return Label(sign.value, 0.8, evidence=(evidence,))
    if truth.value is None:
        return Label(reason="No sign of time, and the truth is unknown.")
    value = temporal_by_truth()[Truth(truth.value)]
    return Label(
        value, _FURTHER_RULE_PROBABILITY, reason=f"{truth.value} documents are {value} unless they say otherwise"
    )


@cache
def _temporal_signs() -> LabelSignalFinder:
    return LabelSignalFinder(temporal_signs())
