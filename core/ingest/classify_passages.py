"""Which passages state another truth than their document: a law quoted in a contract stays a law."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache

from core.documents import Authority, Evidence, EvidenceSource, Label, Labels, Passage, TemporalClass, Truth
from core.ingest.classify_reading import quote_around
from core.tables.signs import SignFinder
from core.tables.truths import passage_signs

__all__ = ["date_of", "labelled_passages"]

_FIRM = 1.0


def labelled_passages(labels: Labels, passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """The passages with their document's labels, or their own truth where their own words clearly state another."""
    truth = Truth(labels.truth.value) if labels.truth.value else None
    shared = {
        "domain": labels.domain.value,
        "authority": Authority(labels.authority.value) if labels.authority.value else None,
        "jurisdiction": labels.jurisdiction.value,
        "date": date_of(labels.effective_date),
        "temporal_class": TemporalClass(labels.temporal_class.value) if labels.temporal_class.value else None,
    }
    return tuple(_labelled(replace(passage, **shared), truth, labels.truth) for passage in passages)


def date_of(label: Label) -> datetime | None:
    """The first moment of an ISO date label, in UTC.

    >>> date_of(Label("2023-06")).isoformat()
    '2023-06-01T00:00:00+00:00'
    """
    if label.value is None:
        return None
    year, month, day = ([int(part) for part in label.value.split("-")] + [1, 1])[:3]
    return datetime(year, month, day, tzinfo=UTC)


def _labelled(passage: Passage, truth: Truth | None, label: Label) -> Passage:
    own = None if truth in (Truth.REGULATORY, Truth.REALITY) or label.confirmed else _own_truth(passage, truth)
    if own is None:
        return replace(passage, truth=truth, truth_probability=label.probability, truth_evidence=label.evidence)
    value, probability, evidence = own
    return replace(passage, truth=value, truth_probability=probability, truth_evidence=(evidence,))


def _own_truth(passage: Passage, truth: Truth | None) -> tuple[Truth, float, Evidence] | None:
    """The strongest other truth whose signs add up to a firm statement."""
    sums: dict[str, float] = {}
    quotes: dict[str, Evidence] = {}
    for hit in _signs().find(passage.text):
        start, end = hit.spans[0]
        quote = quote_around(passage.text, start, end)
        value = hit.sign.value
        item = Evidence(quote, EvidenceSource.TEXT, value, hit.sign.weight, hit.sign.rule)
        sums[value] = sums.get(value, 0.0) + hit.sign.weight
        if value not in quotes or quotes[value].weight < item.weight:
            quotes[value] = item
    others = {value: weight for value, weight in sums.items() if value != truth and weight >= _FIRM}
    if not others:
        return None
    best = max(others, key=lambda value: others[value])
    return Truth(best), min(0.95, 0.7 + 0.1 * others[best]), quotes[best]


@cache
def _signs() -> SignFinder:
    return SignFinder(passage_signs())
