"""Decides a document's jurisdiction: the place that its opening and text name most."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.domain.documents import Authority, Evidence, EvidenceSource, Label, Truth
from core.ingestion.classification.language import is_native
from core.ingestion.classification.sample import DocumentSample, quote_around
from core.knowledge.cities import NamedCity, cities_called_as_states, named_cities, states_listed
from core.knowledge.classifier_weights import place_weights
from core.knowledge.jurisdictions import implied_places, unstated_government_jurisdiction
from core.knowledge.workspace_terms import WorkspaceTerms

__all__ = [
    "CityMention",
    "cities_of_one_place",
    "issuing_cities",
    "jurisdiction_label",
    "state_column_mentions",
    "without_ambiguous_cities",
]


@dataclass(frozen=True, slots=True)
class CityMention:
    """A place named at text[start:end].

    kind: as in core.knowledge.jurisdictions.Place; also "city" for a city as author, "cities" for one of several.
    leading: in the name, the title or the opening. city: name of the city or county.
    """

    value: str
    kind: str
    text: str
    start: int
    end: int
    source: EvidenceSource
    leading: bool
    city: str = ""

    @property
    def weight(self) -> float:
        return place_weights().of(self.kind, self.value)

    @property
    def words(self) -> str:
        return self.text[self.start : self.end]

    def rule(self, terms: WorkspaceTerms) -> str:
        """Why the mention counts, as a text for users."""
        title = terms.jurisdictions.title(self.value)
        if not self.city:
            return f"names {title} ({self.kind})"
        what = "" if self.city.endswith(" County") else "city of "
        return f"names {self.city} ({what}{title})"


def issuing_cities(text: str, source: EvidenceSource, opening: int) -> Iterator[CityMention]:
    """Cities and counties that issue the text: "City of Austin", "Kitsap County"."""
    for city in named_cities(text):
        if city.kind == "spoken":
            yield _city_mention(city, "city", text, source, city.start < opening)


def cities_of_one_place(reading: DocumentSample) -> tuple[CityMention, ...]:
    """The cities of the place that most named cities belong to, each once; empty if few or without clear majority."""
    weights = place_weights()
    found = named_cities(reading.body)
    firsts: dict[tuple[str, str], NamedCity] = {}
    times: dict[str, int] = {}
    for city in found:
        firsts.setdefault((city.value, city.name), city)
        times[city.value] = times.get(city.value, 0) + 1
    names: dict[str, list[NamedCity]] = {}
    for (value, _), city in firsts.items():
        names.setdefault(value, []).append(city)
    value = max(names, key=lambda each: (each != "", len(names[each])), default="")
    of_one = names.get(value, [])
    listed = sum(city.kind == "listed" for city in of_one)
    least = weights.least_listed if listed == len(of_one) else weights.least_cities
    if not value or len(of_one) < max(least, weights.most_cities * len(firsts)) or 2 * times[value] < len(found):
        return ()
    opening = len(reading.opening)
    return tuple(
        _city_mention(city, "cities", reading.body, EvidenceSource.TEXT, city.start < opening) for city in of_one
    )


def without_ambiguous_cities(reading: DocumentSample, mentions: Sequence[CityMention]) -> list[CityMention]:
    """Drops mentions of New York or Singapore when they stand among several cities of other places."""
    called = cities_called_as_states()
    if not any(mention.words in called for mention in mentions):
        return [*mentions]
    cities = {(city.value, city.name) for city in named_cities(reading.body)}
    least = place_weights().least_cities
    return [m for m in mentions if m.words not in called or sum(value != m.value for value, _ in cities) < least]


def state_column_mentions(reading: DocumentSample) -> Iterator[CityMention]:
    """Cells of a state column, if most of them hold the same code."""
    weights, cells = place_weights(), states_listed(reading.body)
    value = max(cells, key=lambda each: len(cells[each]), default="")
    of_one = cells.get(value, ())
    if len(of_one) >= weights.least_cities and len(of_one) >= weights.most_cities * sum(map(len, cells.values())):
        for cell in of_one:
            leading = cell.start() < len(reading.opening)
            yield CityMention(value, "code", reading.body, *cell.span(1), EvidenceSource.TEXT, leading)


def _city_mention(city: NamedCity, kind: str, text: str, source: EvidenceSource, leading: bool) -> CityMention:
    return CityMention(city.value, kind, text, city.start, city.end, source, leading, city.name)


_ADDRESSES = ("code", "mail", "site")

_PASSING = ("law", "agency", "site", "money")

_OWNER_LINE = re.compile(r"(?i)(?:©|\(c\)|copyright|all rights reserved|\b(?:printed|made) in\b)")


def jurisdiction_label(
    reading: DocumentSample, truth: Label, authority: Label, language: Label, terms: WorkspaceTerms
) -> Label:
    """The jurisdiction label: the place that the opening and the text name most.

    Product and professional literature applies everywhere ("global") unless it names one place repeatedly; its
    publisher's address is ignored. Laws and agencies mentioned in passing do not place a private document. Several
    cities of one state count as the state, unless the document itself is a federal law.
    """
    if not reading.words:
        return Label(reason="The document holds no text that could be read.")
    official = authority.value == Authority.GOVERNMENT
    data = truth.value == Truth.REALITY
    mentions = _mentions(reading, data, official, terms)
    federal = any(m.value == "federal" and m.kind in ("law", "agency") for m in mentions)
    cities = () if federal else cities_of_one_place(reading)
    if cities:
        mentions = (*(m for m in mentions if m.value != "federal"), *cities)
    literature = authority.value in (Authority.VENDOR, Authority.INDUSTRY)
    if literature and not data:
        mentions = tuple(mention for mention in mentions if mention.kind not in _ADDRESSES)
    scores, quotes = _place_scores(mentions, terms)
    everywhere = literature or (data and not official and not cities)
    if not scores or (not official and (_scattered(scores) or _in_passing(reading, mentions, everywhere))):
        return _placeless(truth, authority, language, scores, everywhere)
    whole = sum(scores.values())
    order = sorted(scores, key=lambda value: -scores[value])
    probability = scores[order[0]] / (whole + 1.0)
    runner = order[1] if len(order) > 1 else None
    second = scores[runner] / (whole + 1.0) if runner else 0.0
    return Label(order[0], min(probability, 0.98), runner, second, quotes[order[0]][:4])


def _mentions(reading: DocumentSample, data: bool, official: bool, terms: WorkspaceTerms) -> tuple[CityMention, ...]:
    """The places named, except in copyright lines, and except passing mentions in a private document."""
    found = without_ambiguous_cities(reading, tuple(_all_mentions(reading, terms)))
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


def _all_mentions(reading: DocumentSample, terms: WorkspaceTerms) -> Iterator[CityMention]:
    texts = (
        (reading.name_words, EvidenceSource.NAME),
        (reading.title, EvidenceSource.METADATA),
        (reading.body, EvidenceSource.TEXT),
    )
    for text, source in texts:
        opening = len(reading.opening) if source is EvidenceSource.TEXT else len(text)
        for place in (*terms.jurisdictions.places(text), *implied_places(text)):
            line = text[text.rfind("\n", 0, place.start) + 1 :].split("\n", 1)[0]
            if source is not EvidenceSource.TEXT or not _OWNER_LINE.search(line[:200]):
                yield CityMention(place.value, place.kind, text, place.start, place.end, source, place.start < opening)
        yield from issuing_cities(text, source, opening)
    yield from state_column_mentions(reading)


def _scattered(scores: Mapping[str, float]) -> bool:
    """Whether several states are named without a majority: a company's offices, a table of all states' laws."""
    states = sum(value.startswith("state:") for value in scores)
    return states >= place_weights().least_cities and max(scores.values()) < sum(scores.values()) / 2


def _in_passing(reading: DocumentSample, mentions: Sequence[CityMention], everywhere: bool) -> bool:
    """Whether a private document names places only in passing. everywhere: it is literature."""
    weights = place_weights()
    if everywhere:
        return _density(reading, mentions) < weights.everywhere_per_1000_words
    leading = any(mention.leading for mention in mentions)
    return not leading and _density(reading, mentions) < weights.passing_per_1000_words


def _density(reading: DocumentSample, mentions: Sequence[CityMention]) -> float:
    """Weight of the most named place per 1,000 words; doubled if the name, title or opening names it."""
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


def _place_scores(
    mentions: Sequence[CityMention], terms: WorkspaceTerms
) -> tuple[dict[str, float], dict[str, tuple[Evidence, ...]]]:
    """Place → weight, and the first words that name it."""
    scores: dict[str, float] = {}
    quotes: dict[str, tuple[Evidence, ...]] = {}
    for mention in mentions:
        weight = mention.weight * (place_weights().opening if mention.leading else 1.0)
        scores[mention.value] = scores.get(mention.value, 0.0) + weight
        if len(quotes.get(mention.value, ())) < 4 and mention.source is not EvidenceSource.NAME:
            quote = quote_around(mention.text, mention.start, mention.end)
            item = Evidence(quote, mention.source, mention.value, weight, mention.rule(terms))
            quotes[mention.value] = (*quotes.get(mention.value, ()), item)
    return scores, {value: quotes.get(value, ()) for value in scores}
