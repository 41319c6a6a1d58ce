"""Where a document applies (jurisdiction): the place its opening and its text name most."""

import re
from collections.abc import Iterator, Mapping, Sequence

from core.documents import Authority, Evidence, EvidenceSource, Label, Truth
from core.ingest.classify_cities import (
    Mention,
    several_cities,
    speaking_cities,
    states_of_rows,
    without_cities_called_as_states,
)
from core.ingest.classify_language import is_native
from core.ingest.classify_reading import Reading, quote_around
from core.tables.decisions import place_weights
from core.tables.jurisdictions import place_hits, unstated_government_jurisdiction
from core.tables.marks import marked_places

__all__ = ["jurisdiction_label"]

_ADDRESSES = ("code", "mail", "site")
_PASSING = ("law", "agency", "site", "money")
_OWNER_LINE = re.compile(r"(?i)(?:©|\(c\)|copyright|all rights reserved|\b(?:printed|made) in\b)")


def jurisdiction_label(reading: Reading, truth: Label, authority: Label, language: Label) -> Label:
    """Where the document applies: the place its opening and its text name most.

    Product and professional literature applies everywhere ("global") unless it names one place again and again; the
    publisher's address does not count in it. Laws and agencies that a private document names in passing do not place
    it. Several cities of one state name the state, where no federal law is the document's own.
    """
    if not reading.words:
        return Label(reason="The document holds no text that could be read.")
    official = authority.value == Authority.GOVERNMENT
    data = truth.value == Truth.REALITY
    mentions = _mentions(reading, data, official)
    federal = any(m.value == "federal" and m.kind in ("law", "agency") for m in mentions)
    cities = () if federal else several_cities(reading)
    if cities:
        mentions = (*(m for m in mentions if m.value != "federal"), *cities)
    literature = authority.value in (Authority.VENDOR, Authority.INDUSTRY)
    if literature and not data:
        mentions = tuple(mention for mention in mentions if mention.kind not in _ADDRESSES)
    scores, quotes = _place_scores(mentions)
    everywhere = literature or (data and not official and not cities)
    if not scores or (not official and (_scattered(scores) or _in_passing(reading, mentions, everywhere))):
        return _placeless(truth, authority, language, scores, everywhere)
    whole = sum(scores.values())
    order = sorted(scores, key=lambda value: -scores[value])
    probability = scores[order[0]] / (whole + 1.0)
    runner = order[1] if len(order) > 1 else None
    second = scores[runner] / (whole + 1.0) if runner else 0.0
    return Label(order[0], min(probability, 0.98), runner, second, quotes[order[0]][:4])


def _mentions(reading: Reading, data: bool, official: bool) -> tuple[Mention, ...]:
    """The places named, without those of the owner's line, and without the passing ones of a private document."""
    found = without_cities_called_as_states(reading, tuple(_all_mentions(reading)))
    if data:
        found = [m for m in found if m.kind not in ("agency", "law") and m.words not in ("federal", "Federal")]
    if official:
        return tuple(found)
    passing: dict[str, int] = {}
    for mention in found:
        passing[mention.value] = passing.get(mention.value, 0) + 1
    most = place_weights().passing_mentions
    lasting = {m.value for m in found if m.kind not in _PASSING and (m.leading or m.kind != "city")}
    return tuple(m for m in found if m.value in lasting or passing[m.value] >= most)


def _all_mentions(reading: Reading) -> Iterator[Mention]:
    texts = (
        (reading.name_words, EvidenceSource.NAME),
        (reading.title, EvidenceSource.METADATA),
        (reading.body, EvidenceSource.TEXT),
    )
    for text, source in texts:
        opening = len(reading.opening) if source is EvidenceSource.TEXT else len(text)
        for place in (*place_hits(text), *marked_places(text)):
            line = text[text.rfind("\n", 0, place.start) + 1 :].split("\n", 1)[0]
            if source is not EvidenceSource.TEXT or not _OWNER_LINE.search(line[:200]):
                yield Mention(place.value, place.kind, text, place.start, place.end, source, place.start < opening)
        yield from speaking_cities(text, source, opening)
    yield from states_of_rows(reading)


def _scattered(scores: Mapping[str, float]) -> bool:
    """Whether several states are named and none of them for the most part: a company's offices, a table of all laws."""
    states = sum(value.startswith("state:") for value in scores)
    return states >= place_weights().least_cities and max(scores.values()) < sum(scores.values()) / 2


def _in_passing(reading: Reading, mentions: Sequence[Mention], everywhere: bool) -> bool:
    """Whether a document that is no public body's names places without being of one. everywhere: as literature is."""
    weights = place_weights()
    if everywhere:
        return _density(reading, mentions) < weights.everywhere_per_1000_words
    leading = any(mention.leading for mention in mentions)
    return not leading and _density(reading, mentions) < weights.passing_per_1000_words


def _density(reading: Reading, mentions: Sequence[Mention]) -> float:
    """The weight of the most named place per 1,000 words, twice where the name, the title or the opening names it."""
    sums: dict[str, float] = {}
    for mention in mentions:
        sums[mention.value] = sums.get(mention.value, 0.0) + mention.weight * (2.0 if mention.leading else 1.0)
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


def _place_scores(mentions: Sequence[Mention]) -> tuple[dict[str, float], dict[str, tuple[Evidence, ...]]]:
    """Place → its weight, and the first words that name it."""
    scores: dict[str, float] = {}
    quotes: dict[str, tuple[Evidence, ...]] = {}
    for mention in mentions:
        weight = mention.weight * (place_weights().opening if mention.leading else 1.0)
        scores[mention.value] = scores.get(mention.value, 0.0) + weight
        if len(quotes.get(mention.value, ())) < 4 and mention.source is not EvidenceSource.NAME:
            quote = quote_around(mention.text, mention.start, mention.end)
            item = Evidence(quote, mention.source, mention.value, weight, mention.rule)
            quotes[mention.value] = (*quotes.get(mention.value, ()), item)
    return scores, {value: quotes.get(value, ()) for value in scores}
