"""Decides what a document is about (domain) and who issued it (authority)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Evidence, EvidenceSource, Label, Truth
from core.ingestion.classification.label_evidence import READS_LIKE
from core.ingestion.classification.linear_model import DOMAIN_HEAD, Blocks, ClassifierModel
from core.ingestion.classification.sample import DocumentSample, quote_around
from core.ingestion.classification.truth import LEAST_WORDS, NO_TEXT, decided
from core.ingestion.classification.weighting import (
    BESIDE_HEAD,
    FEW_WORDS,
    Prototypes,
    decide,
    signal_evidence,
    total_weights,
    weights_of,
)
from core.knowledge.classifier_weights import DomainWeights
from core.knowledge.domains import GENERAL
from core.knowledge.label_signals import LabelSignal, SignalMatch
from core.knowledge.workspace_terms import WorkspaceTerms

__all__ = ["LEAST_WORDS_FOR_MEANING", "authority_label", "domain_evidence", "domain_label", "truth_shares"]

LEAST_WORDS_FOR_MEANING = 20
"""In shorter texts only keywords tell the domain; chosen by hand."""

_CONFIRMED = 1.5  # weight of what a truth suggests when a person confirmed it; chosen by hand
_LEAST_SHARE = 0.001  # of a truth that a label does not name


def truth_shares(truth: Label) -> dict[Truth, float]:
    """Truth → probability, from a label; what it does not name is shared equally. An unknown truth counts as its
    runner-up with its probability.

    >>> round(truth_shares(Label("intent", 0.7, "reference", 0.24))[Truth.REALITY], 4)
    0.02
    """
    known = {truth.value: truth.probability, truth.runner_up: truth.runner_up_probability}
    named = {Truth(value): share for value, share in known.items() if value is not None}
    others = [each for each in Truth if each not in named]
    rest = max(0.0, 1.0 - sum(named.values())) / max(1, len(others))
    shares = {each: max(_LEAST_SHARE, named.get(each, rest)) for each in Truth}
    total = sum(shares.values())
    return {each: share / total for each, share in shares.items()}


def authority_label(
    sample: DocumentSample,
    blocks: Blocks,
    vectors: NDArray[np.float32],
    truth: Label,
    model: ClassifierModel,
    terms: WorkspaceTerms,
) -> Label:
    """Who issued the document: by its words and form, by what its truth suggests, and by the workspace's own names.

    The truth adds `from_truth` · ln Σ P(truth) · P(authority | truth); more once a person confirmed it, and it alone
    decides where there are too few words. vectors: of sample.segments, or none.
    """
    if not sample.words:
        return NO_TEXT
    head, numbers = model.heads["authority"], model.numbers["authority"]
    given = model.numbers["authority_given_truth"]
    if sample.words < LEAST_WORDS:
        return _of_truth(truth, given, head.classes)
    shares = truth_shares(truth)
    prior = [log(sum(shares[t] * given[f"{t}/{a}"] for t in Truth)) for a in head.classes]
    hits = terms.authorities.finder.find(sample.body)
    named = {a: _named(sample, [hit for hit in hits if hit.sign.value == a]) for a in head.classes}
    follows = _CONFIRMED if truth.confirmed else numbers["from_truth"]
    scores = head.scores(blocks) + follows / head.heat(blocks) * np.array(prior)
    scores += np.array([item.weight if (item := named[a]) else 0.0 for a in head.classes])
    label = decided("authority", scores, sample, blocks, vectors, model)
    first = label.value or label.runner_up
    own = [item for item in named.values() if item is not None and item.value == first]
    return replace(label, evidence=(*own, *label.evidence))


def _of_truth(truth: Label, given: Mapping[str, float], classes: Sequence[str]) -> Label:
    """The authority that mostly issues documents of this truth, where the text is too short to say more."""
    if truth.value is None:
        return Label(reason="Too little text to tell who issued it.")
    order = sorted(classes, key=lambda each: -given[f"{truth.value}/{each}"])
    first, second = (given[f"{truth.value}/{each}"] for each in order[:2])
    rule = f"{truth.value} documents mostly come from: {order[0]}"
    evidence = tuple(replace(each, value=order[0], rule=rule) for each in truth.evidence[:1] if each.quote)
    return Label(order[0], first, order[1], second, evidence)


def domain_label(
    sample: DocumentSample,
    prototypes: Prototypes,
    vectors: NDArray[np.float32],
    terms: WorkspaceTerms,
    model: ClassifierModel,
    known: NDArray[np.float32],
    native: bool = True,
) -> Label:
    """The main domain of a document; "general" if it fits none.

    vectors: of sample.segments. known: the same if the model's heads can weigh them, else none.
    """
    if not sample.words:
        return NO_TEXT
    learned = _learned_evidence(sample, known, model, list(terms.domains.keywords))
    few_words = sample.words < LEAST_WORDS_FOR_MEANING
    weights = weights_of(model, FEW_WORDS if few_words else BESIDE_HEAD if learned else "domain")
    evidence = [*domain_evidence(sample, prototypes, vectors, terms, weights, native), *learned]
    return decide(total_weights(terms.domains.keywords, evidence), [item for item in evidence if item.quote], weights)


def _learned_evidence(
    sample: DocumentSample, vectors: NDArray[np.float32], model: ClassifierModel, domains: Sequence[str]
) -> list[Evidence]:
    """What the head for domains finds for each of `domains` rather than for "general", in log-odds.

    A workspace's own domain, which it never met, counts as the built-in ones do on average. The quote is the sentence
    whose vector says most.
    """
    head = model.heads.get(DOMAIN_HEAD)
    if head is None or not len(vectors) or sample.words < LEAST_WORDS_FOR_MEANING:
        return []
    general = head.classes.index(GENERAL)
    margins = head.mean - head.mean[:, [general]]
    sentences = vectors.astype(np.float64) @ margins
    leads = sentences.mean(axis=0) + head.bias - head.bias[general]
    found = []
    for value in domains:
        if value in head.classes:
            at = head.classes.index(value)
            quote, lead = sample.segments[int(sentences[:, at].argmax())], float(leads[at])
        else:
            quote, lead = "", float(np.delete(leads, general).mean())
        found.append(Evidence(quote, EvidenceSource.MEANING, value, round(lead, 6), f"{READS_LIKE} {value}"))
    return found


def domain_evidence(
    sample: DocumentSample,
    prototypes: Prototypes,
    vectors: NDArray[np.float32],
    terms: WorkspaceTerms,
    weights: DomainWeights,
    native: bool,
) -> list[Evidence]:
    """What speaks for each domain: its words in text and name, and what the sentences mean. native: as `meaning_of`."""
    evidence = [Evidence("", EvidenceSource.TEXT, GENERAL, weights.general_lead, "no subject stands out")]
    positions: dict[str, list[tuple[int, int]]] = {}
    for found in terms.domains.find_keywords(sample.body):
        positions.setdefault(found.key, []).append((found.start, found.end))
    hits = [
        SignalMatch(LabelSignal(key, weights.keyword, f"words of {key}"), tuple(spans))
        for key, spans in positions.items()
    ]
    evidence += signal_evidence(sample, hits, weights)
    for found in terms.domains.find_in_name(sample.name_words):
        quote = sample.name_words[found.start : found.end]
        quote = quote if quote in sample.name else sample.name
        evidence.append(Evidence(quote, EvidenceSource.NAME, found.key, weights.name, f"file name: {found.key}"))
    if len(vectors) and sample.words >= LEAST_WORDS_FOR_MEANING:
        prototype_evidence = prototypes.evidence(
            sample.segments, prototypes.nearness(vectors), weights.meaning_of(native)
        )
        evidence += [item for item in prototype_evidence if item.value in terms.domains.keywords]
    return evidence


def _named(sample: DocumentSample, hits: Sequence[SignalMatch]) -> Evidence | None:
    """What the workspace's own names of one authority add; more when they are named more often."""
    if not hits:
        return None
    times = sum(len(hit.spans) for hit in hits)
    sign, quote = hits[0].sign, quote_around(sample.body, *hits[0].spans[0])
    weight = round(sign.weight * (1.0 - exp(-times)), 6)
    return Evidence(quote, EvidenceSource.TEXT, sign.value, weight, sign.rule)
