"""Finds passages whose truth differs from their document's: a law quoted in a contract is still a law.

Signs tell it where words state it; else a linear model over the words and the vector of a passage, learned from
passages that count as their document's truth. It only finds law and advice, which documents of other truths quote, and
only where they lead the document's truth by so much that few passages do. Half of what its document's passages say on
average is taken off, so that a contract about taxes does not read as law throughout. In other languages than English,
only signs count: what words say there was measured on whole documents only.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import exp

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Authority, Evidence, EvidenceSource, Label, Labels, Passage, TemporalClass, Truth
from core.ingestion.classification.document_features import word_places
from core.ingestion.classification.label_evidence import READS_LIKE, strongest_sentence
from core.ingestion.classification.linear_model import PASSAGE_HEAD, ClassifierModel
from core.ingestion.classification.relabel import parse_date, possible_labels
from core.ingestion.classification.sample import quote_around
from core.knowledge.label_signals import LabelSignalFinder
from core.knowledge.languages import is_native
from core.knowledge.truths import passage_signs

__all__ = ["LEAST_WORDS", "QUOTED", "beside_document", "labelled_passages"]

_FIRM = 1.0  # Minimum sum of signal weights (log-odds). Chosen by hand, not fitted.
QUOTED = (Truth.REGULATORY, Truth.REFERENCE)
"""What documents of other truths quote."""
_SUREST = 0.95  # probability that a passage's own truth may claim; chosen by hand
LEAST_WORDS = 12  # known ones; fewer could be any passage's; chosen by hand
_DOCUMENT_SHARE = 0.5  # of the mean taken off; on sources left out 0.3, 0.5 and 0.7 are alike, 0 and 1 worse
_LEAST_PASSAGES = 4  # that make a mean; chosen by hand
_GOES_ON = re.compile(r"[\s>*-]*(?:\\?\([a-z0-9]{1,3}\\?\)|[a-z])")


def labelled_passages(
    labels: Labels, passages: Sequence[Passage], vectors: NDArray[np.float32], model: ClassifierModel
) -> tuple[Passage, ...]:
    """The passages with their document's labels, or their own truth where their words clearly state another.

    vectors: of the passages, as `ClassifierModel.comparable` gives them, or none.
    """
    truth = Truth(labels.truth.value) if labels.truth.value else None
    date = parse_date(labels.effective_date.value)
    authority = Authority(labels.authority.value) if labels.authority.value else None
    temporal = TemporalClass(labels.temporal_class.value) if labels.temporal_class.value else None
    compared = is_native(labels.language) and len(passages) > 1  # an only one says what its document says
    scored = _scored(passages, vectors, model) if compared else [None] * len(passages)
    labelled: list[Passage] = []
    for passage, scores in zip(passages, scored, strict=True):
        with_label = replace(
            passage,
            domain=labels.domain.value,
            authority=authority,
            jurisdiction=labels.jurisdiction.value,
            date=date or passage.date,
            temporal_class=temporal,
        )
        before = labelled[-1] if labelled else None
        labelled.append(_labelled(with_label, truth, labels.truth, before, scores, model))
    return tuple(replace(each, possible_labels=possible_labels(labels, each)) for each in labelled)


@dataclass(frozen=True, slots=True)
class _ScoredPassage:
    """The known words of a passage as the vocabulary gives them, and its log-odds per truth beside its document's."""

    rows: NDArray[np.intp]
    values: NDArray[np.float64]
    scores: NDArray[np.float64]


def _scored(
    passages: Sequence[Passage], vectors: NDArray[np.float32], model: ClassifierModel
) -> list[_ScoredPassage | None]:
    """What the learned model finds in each passage; None for rows of tables, which are no sentences like those it was
    learned from, for passages with too few known words, and without a model."""
    head = model.heads.get(PASSAGE_HEAD)
    found: list[_ScoredPassage | None] = [None] * len(passages)
    if head is None:
        return found
    for number, passage in enumerate(passages):
        if passage.rows is not None:
            continue
        rows, values = model.vocabularies["words"].vector(word_places(passage.text).counts)
        if len(rows) >= LEAST_WORDS:
            scores = head.bias + values @ head.words["words"][rows]
            if len(vectors):
                scores = scores + vectors[number].astype(np.float64) @ head.mean
            found[number] = _ScoredPassage(rows, values, scores)
    known = [each for each in found if each is not None]
    if not known:
        return found
    relative = iter(beside_document(np.stack([each.scores for each in known])))
    return [each and replace(each, scores=next(relative)) for each in found]


def beside_document(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores of the passages of one document, shape (passages, truths), less half of their mean.

    >>> beside_document(np.array([[2.0, 0.0]] * 3 + [[2.0, 4.0]]))[-1].tolist()
    [1.0, 3.5]
    """
    return scores if len(scores) < _LEAST_PASSAGES else scores - _DOCUMENT_SHARE * scores.mean(axis=0)


def _labelled(
    passage: Passage,
    truth: Truth | None,
    label: Label,
    before: Passage | None,
    scored: _ScoredPassage | None,
    model: ClassifierModel,
) -> Passage:
    own = None if truth in (Truth.REGULATORY, Truth.REALITY) else _own_truth(passage, truth)
    own = own or (_read_as(passage, truth, scored, model) if scored is not None else None)
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


def _read_as(
    passage: Passage, truth: Truth | None, scored: _ScoredPassage, model: ClassifierModel
) -> tuple[Truth, float, Evidence] | None:
    """Law or advice that a passage is, by the learned model, where that clearly leads the document's truth."""
    head, scores = model.heads[PASSAGE_HEAD], scored.scores
    best = max((head.classes.index(each) for each in QUOTED if each is not truth), key=lambda at: scores[at])
    others = [at for at in range(len(scores)) if at != best]
    other = max(others, key=lambda at: scores[at]) if truth is None else head.classes.index(truth)
    lead = float(scores[best] - scores[other])
    if lead < model.numbers["passage"]["lead"]:
        return None
    value = Truth(head.classes[best])
    weights = head.words["words"][scored.rows]
    margin = scored.values * (weights[:, best] - weights[:, other])
    probability = min(_SUREST, 1.0 / (1.0 + exp(-lead)))
    index = model.vocabularies["words"].index
    return value, probability, strongest_sentence(index, scored.rows, margin, passage.text, value)


@cache
def _signs() -> LabelSignalFinder:
    return LabelSignalFinder(passage_signs())
