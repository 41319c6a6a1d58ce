"""Finds passages whose truth differs from their document's: a law quoted in a contract is still a law.

Signs tell it where words state it; else a linear model over the words of a passage, learned from passages that count
as their document's truth. It only finds law and advice, which documents of other truths quote, and only where it holds
them likelier than all other truths together.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from core.domain.documents import Authority, Evidence, EvidenceSource, Label, Labels, Passage, TemporalClass, Truth
from core.ingestion.classification.document_features import word_places
from core.ingestion.classification.label_evidence import READS_LIKE, strongest_sentence
from core.ingestion.classification.linear_model import PASSAGE_HEAD, ClassifierModel, softmax
from core.ingestion.classification.relabel import parse_date, possible_labels
from core.ingestion.classification.sample import quote_around
from core.knowledge.label_signals import LabelSignalFinder
from core.knowledge.truths import passage_signs

__all__ = ["labelled_passages"]

_FIRM = 1.0  # Minimum sum of signal weights (log-odds). Chosen by hand, not fitted.
_QUOTED = (Truth.REGULATORY, Truth.REFERENCE)  # what documents of other truths quote
_LIKELIER = 0.5  # than all other truths together
_LEAST_WORDS = 12  # known ones; fewer could be any passage's; chosen by hand
_GOES_ON = re.compile(r"[\s>*-]*(?:\\?\([a-z0-9]{1,3}\\?\)|[a-z])")


def labelled_passages(labels: Labels, passages: Sequence[Passage], model: ClassifierModel) -> tuple[Passage, ...]:
    """The passages with their document's labels, or their own truth where their words clearly state another."""
    truth = Truth(labels.truth.value) if labels.truth.value else None
    date = parse_date(labels.effective_date.value)
    authority = Authority(labels.authority.value) if labels.authority.value else None
    temporal = TemporalClass(labels.temporal_class.value) if labels.temporal_class.value else None
    labelled: list[Passage] = []
    for passage in passages:
        with_label = replace(
            passage,
            domain=labels.domain.value,
            authority=authority,
            jurisdiction=labels.jurisdiction.value,
            date=date or passage.date,
            temporal_class=temporal,
        )
        labelled.append(_labelled(with_label, truth, labels.truth, labelled[-1] if labelled else None, model))
    return tuple(replace(each, possible_labels=possible_labels(labels, each)) for each in labelled)


def _labelled(
    passage: Passage, truth: Truth | None, label: Label, before: Passage | None, model: ClassifierModel
) -> Passage:
    own = None
    if not label.confirmed:
        own = None if truth in (Truth.REGULATORY, Truth.REALITY) else _own_truth(passage, truth)
        own = own or _read_as(passage, truth, model)
    if own is None:
        if _continues(passage, truth, before) and before is not None:
            evidence = replace(before.truth_evidence[0], rule=f"continues: {before.truth_evidence[0].rule}")
            return replace(passage, truth=before.truth, truth_probability=0.75, truth_evidence=(evidence,))
        return replace(passage, truth=truth, truth_probability=label.probability, truth_evidence=label.evidence)
    value, probability, evidence = own
    return replace(passage, truth=value, truth_probability=probability, truth_evidence=(evidence,))


def _continues(passage: Passage, truth: Truth | None, before: Passage | None) -> bool:
    """Whether a list item or unfinished sentence continues the law that signs told just before it, in one section."""
    if before is None or truth is None or before.truth in (None, truth) or before.section != passage.section:
        return False
    first = not before.truth_evidence[0].rule.startswith(("continues", READS_LIKE))
    return first and before.truth == Truth.REGULATORY and _GOES_ON.match(passage.text) is not None


def _own_truth(passage: Passage, truth: Truth | None) -> tuple[Truth, float, Evidence] | None:
    """The strongest other truth whose signals reach the threshold."""
    sums: dict[str, float] = {}
    quotes: dict[str, Evidence] = {}
    sources = ((passage.section, EvidenceSource.HEADING), (passage.text, EvidenceSource.TEXT))
    for text, source in sources:
        for hit in _signs().find(text):
            start, end = hit.spans[0]
            value = hit.sign.value
            item = Evidence(quote_around(text, start, end), source, value, hit.sign.weight, hit.sign.rule)
            sums[value] = sums.get(value, 0.0) + hit.sign.weight
            if value not in quotes or quotes[value].weight < item.weight:
                quotes[value] = item
    others = {value: weight for value, weight in sums.items() if value != truth and weight >= _FIRM}
    if not others:
        return None
    best = max(others, key=lambda value: others[value])
    return Truth(best), min(0.95, 0.7 + 0.1 * others[best]), quotes[best]


def _read_as(passage: Passage, truth: Truth | None, model: ClassifierModel) -> tuple[Truth, float, Evidence] | None:
    """Law or advice that the words of a passage are, by the learned model, where that is not the document's truth."""
    head = model.heads.get(PASSAGE_HEAD)
    if head is None:
        return None
    vocabulary = model.vocabularies["words"]
    rows, values = vocabulary.vector(word_places(passage.text).counts)
    if len(rows) < _LEAST_WORDS:
        return None
    weights = head.words["words"][rows]
    shares = softmax(head.bias + values @ weights)
    best = int(np.argmax(shares))
    value, probability = Truth(head.classes[best]), float(shares[best])
    if value not in _QUOTED or value is truth or probability < _LIKELIER:
        return None
    other = head.classes.index(truth) if truth is not None else int(np.argsort(-shares, kind="stable")[1])
    margin = values * (weights[:, best] - weights[:, other])
    return value, probability, strongest_sentence(vocabulary.index, rows, margin, passage.text, value)


@cache
def _signs() -> LabelSignalFinder:
    return LabelSignalFinder(passage_signs())
