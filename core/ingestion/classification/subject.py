"""Decides what a document is about (domain) and who issued it (authority)."""

from dataclasses import replace
from math import log

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Authority, Evidence, EvidenceSource, Label, Truth
from core.ingestion.classification.sample import DocumentSample
from core.ingestion.classification.weighting import Prototypes, decide, signal_evidence, total_weights
from core.knowledge.authorities import authority_prior
from core.knowledge.classifier_weights import decision_weights, subject_weights
from core.knowledge.label_signals import LabelSignal, SignalMatch
from core.knowledge.workspace_terms import WorkspaceTerms

__all__ = ["authority_label", "domain_label"]

_GENERAL = "general"
_LEAST_WORDS_FOR_MEANING = 20  # Chosen by hand, not fitted.


def domain_label(
    reading: DocumentSample,
    prototypes: Prototypes,
    vectors: NDArray[np.float32],
    terms: WorkspaceTerms,
    native: bool = True,
) -> Label:
    """The main domain of a document; "general" if it fits none."""
    weighing, weights = decision_weights()["domain"], subject_weights()
    if not reading.words:
        return Label(reason="The document holds no text that could be read.")
    evidence = [Evidence("", EvidenceSource.TEXT, _GENERAL, weights.general_lead, "no subject stands out")]
    places: dict[str, list[tuple[int, int]]] = {}
    for found in terms.domains.find_keywords(reading.body):
        places.setdefault(found.key, []).append((found.start, found.end))
    hits = [
        SignalMatch(LabelSignal(key, weights.keyword, f"words of {key}"), tuple(spans)) for key, spans in places.items()
    ]
    evidence += signal_evidence(reading, hits, weighing)
    for found in terms.domains.find_in_name(reading.name_words):
        quote = reading.name_words[found.start : found.end]
        quote = quote if quote in reading.name else reading.name
        evidence.append(Evidence(quote, EvidenceSource.NAME, found.key, weights.name, f"file name: {found.key}"))
    if len(vectors) and reading.words >= _LEAST_WORDS_FOR_MEANING:
        meant = prototypes.evidence(reading.segments, prototypes.nearness(vectors), weighing.meaning_of(native))
        evidence += [item for item in meant if item.value in terms.domains.keywords]
    return decide(total_weights(terms.domains.keywords, evidence), [item for item in evidence if item.quote], weighing)


def authority_label(
    reading: DocumentSample,
    truth: Label,
    prototypes: Prototypes,
    vectors: NDArray[np.float32],
    terms: WorkspaceTerms,
    native: bool = True,
) -> Label:
    """The issuing authority: a prior from the truth, shifted by signals and meaning. An undecided truth counts as its
    runner-up.

    Meaning counts only for recommendations, and signals mainly there: for laws, policies, requests and data the truth
    itself implies the author, and even an agency's own handbook names other agencies.
    """
    weighing, weights = decision_weights()["authority"], subject_weights()
    spoken = truth.value or truth.runner_up
    if spoken is None:
        return Label(reason="Who speaks follows from the truth, which is unknown.")
    prior = authority_prior()[Truth(spoken)]
    base = {a.value: log(max(prior[a], weights.least_prior)) for a in Authority}
    evidence = signal_evidence(reading, terms.authorities.finder.find(reading.body), weighing)
    if spoken != Truth.REFERENCE:
        evidence = [replace(item, weight=item.weight * weights.signs_elsewhere) for item in evidence]
    elif len(vectors):
        evidence += prototypes.evidence(reading.segments, prototypes.nearness(vectors), weighing.meaning_of(native))
    scores = total_weights(Authority, evidence)
    likely = max(prior, key=lambda a: prior[a])
    said = [
        replace(
            item, value=likely.value, weight=weights.least_prior, rule=f"{spoken} is mostly said by: {likely.value}"
        )
        for item in truth.evidence[:1]
    ]
    return decide({a: scores[a] + base[a] for a in scores}, [*evidence, *said], weighing)
