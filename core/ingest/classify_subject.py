"""What a document is about (domain), who speaks (authority) and where it applies (jurisdiction)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np
from numpy.typing import NDArray

from core.documents import Authority, Evidence, EvidenceSource, Label, Truth
from core.ingest.classify_language import is_native
from core.ingest.classify_reading import Reading, quote_around
from core.ingest.classify_weighing import Prototypes, decided, sign_evidence, totals
from core.tables.authorities import authority_finder, authority_prior
from core.tables.decisions import place_weights, subject_weights, weighings
from core.tables.domains import domains, keyword_places, name_places
from core.tables.jurisdictions import Place, place_hits, unstated_government_jurisdiction
from core.tables.signs import Sign, SignHit

__all__ = ["authority_label", "domain_label", "jurisdiction_label"]

_GENERAL = "general"
_LEAST_WORDS_FOR_MEANING = 20
_OWNER_LINE = re.compile(r"(?i)(?:©|\(c\)|copyright|all rights reserved)")


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


def jurisdiction_label(reading: Reading, truth: Label, authority: Label, language: Label) -> Label:
    """Where the document applies: the place its opening and its text name most.

    Product and professional literature applies everywhere ("global") unless it names one place again and again; laws
    and agencies that a private document names in passing do not place it.
    """
    if not reading.words:
        return Label(reason="The document holds no text that could be read.")
    official = authority.value == Authority.GOVERNMENT
    data = truth.value == Truth.REALITY
    mentions = _mentions(reading, ("agency", "law") if data else (), official)
    scores, quotes = _place_scores(mentions)
    everywhere = authority.value in (Authority.VENDOR, Authority.INDUSTRY) or (data and not official)
    if not scores or (everywhere and _density(reading, mentions) < place_weights().everywhere_per_1000_words):
        return _placeless(truth, authority, language, scores, everywhere)
    whole = sum(scores.values())
    order = sorted(scores, key=lambda value: -scores[value])
    probability = scores[order[0]] / (whole + 1.0)
    runner = order[1] if len(order) > 1 else None
    second = scores[runner] / (whole + 1.0) if runner else 0.0
    return Label(order[0], min(probability, 0.98), runner, second, quotes[order[0]][:4])


@dataclass(frozen=True, slots=True)
class _Mention:
    place: Place
    text: str
    source: EvidenceSource
    leading: bool

    @property
    def weight(self) -> float:
        return place_weights().of(self.place.kind, self.place.value)


def _mentions(reading: Reading, ignored: Sequence[str], official: bool) -> tuple[_Mention, ...]:
    """The places named, without those of the owner's line, and without the passing ones of a private document."""
    found = [mention for mention in _all_mentions(reading) if mention.place.kind not in ignored]
    if official:
        return tuple(found)
    passing: dict[str, int] = {}
    for mention in found:
        passing[mention.place.value] = passing.get(mention.place.value, 0) + 1
    most = place_weights().passing_mentions
    lasting = {m.place.value for m in found if m.place.kind not in ("law", "agency")}
    return tuple(m for m in found if m.place.value in lasting or passing[m.place.value] >= most)


def _all_mentions(reading: Reading) -> Iterator[_Mention]:
    for place in place_hits(reading.name_words):
        yield _Mention(place, reading.name_words, EvidenceSource.NAME, True)
    for place in place_hits(reading.title):
        yield _Mention(place, reading.title, EvidenceSource.METADATA, True)
    for place in place_hits(reading.body):
        line = reading.body[reading.body.rfind("\n", 0, place.start) + 1 :].split("\n", 1)[0]
        if not _OWNER_LINE.search(line[:200]):
            yield _Mention(place, reading.body, EvidenceSource.TEXT, place.start < len(reading.opening))


def _density(reading: Reading, mentions: Sequence[_Mention]) -> float:
    """The weight of the most named place per 1,000 words."""
    sums: dict[str, float] = {}
    for mention in mentions:
        sums[mention.place.value] = sums.get(mention.place.value, 0.0) + mention.weight
    return 1000.0 * max(sums.values(), default=0.0) / max(reading.words, 300)


def _placeless(truth: Label, authority: Label, language: Label, scores: dict[str, float], everywhere: bool) -> Label:
    if truth.value is None and truth.runner_up is None:
        return Label(reason="The text names no place.")
    if authority.value == Authority.GOVERNMENT and not scores:
        value = unstated_government_jurisdiction(language.value)
        if value is None:
            return Label(reason="A public body that names no place, in a language of many countries.")
        return Label(value, 0.6, "global", 0.2, reason="a public body that names no place")
    local = None if is_native(language) else unstated_government_jurisdiction(language.value)
    if authority.value in (Authority.INTERNAL, Authority.CUSTOMER) and truth.value != Truth.REALITY and local:
        return Label(local, 0.5, "global", 0.3, reason="names no place, and its language is mostly written there")
    runner = max(scores, key=lambda v: scores[v]) if scores else None
    return Label("global", 0.7 if everywhere else 0.5, runner, 0.2 if runner else 0.0, reason="names no one place")


def _place_scores(mentions: Sequence[_Mention]) -> tuple[dict[str, float], dict[str, tuple[Evidence, ...]]]:
    """Place → its weight, and the first words that name it."""
    scores: dict[str, float] = {}
    quotes: dict[str, tuple[Evidence, ...]] = {}
    for mention in mentions:
        place = mention.place
        weight = mention.weight * (place_weights().opening if mention.leading else 1.0)
        scores[place.value] = scores.get(place.value, 0.0) + weight
        if len(quotes.get(place.value, ())) < 4 and mention.source is not EvidenceSource.NAME:
            quote = quote_around(mention.text, place.start, place.end)
            item = Evidence(quote, mention.source, place.value, weight, f"names {place.value} ({place.kind})")
            quotes[place.value] = (*quotes.get(place.value, ()), item)
    return scores, {value: quotes.get(value, ()) for value in scores}
