"""What a document is about (domain) and who speaks (authority)."""

from dataclasses import replace
from math import log

import numpy as np
from numpy.typing import NDArray

from core.documents import Authority, Evidence, EvidenceSource, Label, Truth
from core.ingest.classify_reading import Reading
from core.ingest.classify_weighing import Prototypes, decided, sign_evidence, totals
from core.tables.authorities import authority_finder, authority_prior
from core.tables.decisions import subject_weights, weighings
from core.tables.domains import domains, keyword_places, name_places
from core.tables.signs import Sign, SignHit

__all__ = ["authority_label", "domain_label"]

_GENERAL = "general"
_LEAST_WORDS_FOR_MEANING = 20


def domain_label(reading: Reading, prototypes: Prototypes, vectors: NDArray[np.float32], native: bool = True) -> Label:
    """The one domain a document is mostly about; "general" when it is about none of them."""
    weighing, weights = weighings()["domain"], subject_weights()
    if not reading.words:
        return Label(reason="The document holds no text that could be read.")
    evidence = [Evidence("", EvidenceSource.TEXT, _GENERAL, weights.general_lead, "no subject stands out")]
    places: dict[str, list[tuple[int, int]]] = {}
    for found in keyword_places(reading.body):
        places.setdefault(found.key, []).append((found.start, found.end))
    hits = [SignHit(Sign(key, weights.keyword, f"words of {key}"), tuple(spans)) for key, spans in places.items()]
    evidence += sign_evidence(reading, hits, weighing)
    for found in name_places(reading.name_words):
        quote = reading.name_words[found.start : found.end]
        quote = quote if quote in reading.name else reading.name
        evidence.append(Evidence(quote, EvidenceSource.NAME, found.key, weights.name, f"file name: {found.key}"))
    if len(vectors) and reading.words >= _LEAST_WORDS_FOR_MEANING:
        meant = prototypes.evidence(reading.segments, prototypes.nearness(vectors), weighing.meaning_of(native))
        evidence += [item for item in meant if item.value in domains()]
    return decided(totals(domains(), evidence), [item for item in evidence if item.quote], weighing)


def authority_label(
    reading: Reading, truth: Label, prototypes: Prototypes, vectors: NDArray[np.float32], native: bool = True
) -> Label:
    """Who speaks: what the truth makes likely, moved by signs and meaning. An undecided truth counts by its runner-up.

    The meaning counts for recommendations only, and signs mostly: laws, policies, requests and data tell by their
    truth who speaks, and an agency's own handbook names agencies too.
    """
    weighing, weights = weighings()["authority"], subject_weights()
    spoken = truth.value or truth.runner_up
    if spoken is None:
        return Label(reason="Who speaks follows from the truth, which is unknown.")
    prior = authority_prior()[Truth(spoken)]
    base = {a.value: log(max(prior[a], weights.least_prior)) for a in Authority}
    evidence = sign_evidence(reading, authority_finder().find(reading.body), weighing)
    if spoken != Truth.REFERENCE:
        evidence = [replace(item, weight=item.weight * weights.signs_elsewhere) for item in evidence]
    elif len(vectors):
        evidence += prototypes.evidence(reading.segments, prototypes.nearness(vectors), weighing.meaning_of(native))
    scores = totals(Authority, evidence)
    likely = max(prior, key=lambda a: prior[a])
    said = [
        replace(
            item, value=likely.value, weight=weights.least_prior, rule=f"{spoken} is mostly said by: {likely.value}"
        )
        for item in truth.evidence[:1]
    ]
    return decided({a: scores[a] + base[a] for a in scores}, [*evidence, *said], weighing)
