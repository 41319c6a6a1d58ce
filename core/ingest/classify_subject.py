"""What a document is about (domain), who speaks (authority) and where it applies (jurisdiction)."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from math import log

import numpy as np
from numpy.typing import NDArray

from core.documents import Authority, Evidence, EvidenceSource, Label, Truth
from core.ingest.classify_reading import Reading, quote_around
from core.ingest.classify_weighing import Prototypes, decided, sign_evidence, totals
from core.tables.authorities import authority_prior, authority_signs
from core.tables.decisions import weighings
from core.tables.domains import domains, keyword_places
from core.tables.jurisdictions import Place, place_hits, unstated_government_jurisdiction
from core.tables.signs import Sign, SignFinder, SignHit

__all__ = ["authority_label", "domain_label", "jurisdiction_label"]

_GENERAL = "general"
_LEAST_WORDS_FOR_MEANING = 20
_GENERAL_LEAD = 2.8
_NAME_WEIGHT = 1.5
_KEYWORD_WEIGHT = 2.4
_LEAST_PRIOR = 0.001
_SIGN_SHARE_ELSEWHERE = 0.3
_PLACE_WEIGHTS = {"self": 4.0, "name": 1.0, "agency": 1.0, "law": 0.8, "citation": 1.5, "code": 1.0}
_STATE_FACTOR = 1.6
_OPENING_FACTOR = 6.0
_VENDOR_PLACES_PER_1000_WORDS = 6.0


def domain_label(reading: Reading, prototypes: Prototypes, vectors: NDArray[np.float32]) -> Label:
    """The one domain a document is mostly about; "general" when it is about none of them."""
    weighing = weighings()["domain"]
    if not reading.words:
        return Label(reason="The document holds no text that could be read.")
    evidence = [Evidence("", EvidenceSource.TEXT, _GENERAL, _GENERAL_LEAD, "no subject stands out")]
    places: dict[str, list[tuple[int, int]]] = {}
    for found in keyword_places(reading.body):
        places.setdefault(found.key, []).append((found.start, found.end))
    hits = [SignHit(Sign(key, _KEYWORD_WEIGHT, f"words of {key}"), tuple(spans)) for key, spans in places.items()]
    evidence += sign_evidence(reading, hits, weighing)
    for found in keyword_places(reading.name_words):
        quote = reading.name_words[found.start : found.end]
        quote = quote if quote in reading.name else reading.name
        evidence.append(Evidence(quote, EvidenceSource.NAME, found.key, _NAME_WEIGHT, f"file name: {found.key}"))
    if len(vectors) and reading.words >= _LEAST_WORDS_FOR_MEANING:
        evidence += prototypes.evidence(reading.segments, prototypes.nearness(vectors), weighing.meaning)
    return decided(totals(domains(), evidence), [item for item in evidence if item.quote], weighing)


def authority_label(reading: Reading, truth: Label, prototypes: Prototypes, vectors: NDArray[np.float32]) -> Label:
    """Who speaks: what the truth makes likely, moved by signs and meaning.

    The meaning counts for recommendations only, and signs mostly: laws, policies, requests and data tell by their
    truth who speaks, and an agency's own handbook names agencies too.
    """
    weighing = weighings()["authority"]
    if truth.value is None:
        return Label(reason="Who speaks follows from the truth, which is unknown.")
    prior = authority_prior()[Truth(truth.value)]
    base = {a.value: log(max(prior[a], _LEAST_PRIOR)) for a in Authority}
    evidence = sign_evidence(reading, _authority_signs().find(reading.body), weighing)
    if truth.value != Truth.REFERENCE:
        evidence = [replace(item, weight=item.weight * _SIGN_SHARE_ELSEWHERE) for item in evidence]
    if truth.value == Truth.REFERENCE and len(vectors):
        evidence += prototypes.evidence(reading.segments, prototypes.nearness(vectors), weighing.meaning)
    scores = totals(Authority, evidence)
    likely = max(prior, key=lambda a: prior[a])
    said = [
        replace(item, value=likely.value, weight=_LEAST_PRIOR, rule=f"{truth.value} is mostly said by: {likely.value}")
        for item in truth.evidence[:1]
    ]
    return decided({a: scores[a] + base[a] for a in scores}, [*evidence, *said], weighing)


def jurisdiction_label(reading: Reading, truth: Label, authority: Label) -> Label:
    """Where the document applies: the place its opening and its text name most.

    Product and professional literature applies everywhere ("global") unless it names one place again and again.
    """
    if not reading.words:
        return Label(reason="The document holds no text that could be read.")
    ignored = ("agency", "law") if truth.value == Truth.REALITY else ()
    scores, quotes = _place_scores(reading, ignored)
    whole = sum(scores.values())
    everywhere = authority.value in (Authority.VENDOR, Authority.INDUSTRY) or (
        truth.value == Truth.REALITY and authority.value != Authority.GOVERNMENT
    )
    density = 1000.0 * max(scores.values(), default=0.0) / max(reading.words, 200)
    if not scores or (everywhere and density < _VENDOR_PLACES_PER_1000_WORDS):
        if truth.value is None and not scores:
            return Label(reason="The text names no place.")
        if authority.value == Authority.GOVERNMENT and not scores:
            return Label(
                unstated_government_jurisdiction(), 0.6, "global", 0.2, reason="a public body that names no place"
            )
        runner = max(scores, key=lambda v: scores[v]) if scores else None
        return Label("global", 0.7 if everywhere else 0.5, runner, 0.2 if runner else 0.0, reason="names no one place")
    order = sorted(scores, key=lambda value: -scores[value])
    probability = scores[order[0]] / (whole + 1.0)
    runner = order[1] if len(order) > 1 else None
    second = scores[runner] / (whole + 1.0) if runner else 0.0
    return Label(order[0], min(probability, 0.98), runner, second, quotes[order[0]][:4])


def _place_scores(reading: Reading, ignored: Sequence[str]) -> tuple[dict[str, float], dict[str, tuple[Evidence, ...]]]:
    scores: dict[str, float] = {}
    quotes: dict[str, tuple[Evidence, ...]] = {}
    named = [(place, reading.name_words, EvidenceSource.NAME) for place in place_hits(reading.name_words)]
    titled = [(place, reading.title, EvidenceSource.METADATA) for place in place_hits(reading.title)]
    for place, text, source in [
        *named,
        *titled,
        *((p, reading.body, EvidenceSource.TEXT) for p in place_hits(reading.body)),
    ]:
        if place.kind in ignored:  # an agency in a table is a department of its owner
            continue
        leading = source is not EvidenceSource.TEXT or place.start < len(reading.opening)
        weight = _place_weight(place) * (_OPENING_FACTOR if leading else 1.0)
        scores[place.value] = scores.get(place.value, 0.0) + weight
        if len(quotes.get(place.value, ())) < 4 and source is not EvidenceSource.NAME:
            quote = quote_around(text, place.start, place.end)
            item = Evidence(quote, source, place.value, weight, f"names {place.value} ({place.kind})")
            quotes[place.value] = (*quotes.get(place.value, ()), item)
    return scores, {value: quotes.get(value, ()) for value in scores}


def _place_weight(place: Place) -> float:
    return _PLACE_WEIGHTS[place.kind] * (_STATE_FACTOR if place.value.startswith("state:") else 1.0)


@cache
def _authority_signs() -> SignFinder:
    return SignFinder(authority_signs())
