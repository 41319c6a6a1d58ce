"""Decides where a document applies: weighs the places it names, its language, and what kind of document it is."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log, log1p

import numpy as np

from core.domain.documents import Authority, Evidence, EvidenceSource, Label, Truth
from core.ingestion.classification.linear_model import Blocks, ClassifierModel, softmax
from core.ingestion.classification.sample import DocumentSample, quote_around
from core.ingestion.classification.subject import truth_shares
from core.ingestion.classification.truth import NO_TEXT
from core.knowledge.gazetteer import currency_countries, find_places, language_countries
from core.knowledge.jurisdictions import federation_of, federations, implied_places
from core.knowledge.language_varieties import countries_of_text
from core.knowledge.languages import NATIVE
from core.knowledge.workspace_terms import WorkspaceTerms

__all__ = [
    "ELSEWHERE",
    "PLACE_KINDS",
    "PlaceMention",
    "jurisdiction_label",
    "kind_scores",
    "place_candidates",
    "place_kind",
    "place_mentions",
]

ELSEWHERE = "elsewhere"
"""The candidate that stands for every place that a text neither names nor suggests by its language."""
PLACE_KINDS = ("global", "federal", "state", "country")
"""The kinds of jurisdiction, in the order of the head "place"."""

_MENTIONS = ("self", "name", "law", "code", "region", "city", "net", "money")
_LEADING = ("self", "name", "law", "city")
_SAYS = frozenset({"self", "name", "law"})  # of a country; a city, an address or money is only a hint
_NAMED = frozenset({"self", "name", "law", "region", "city", "code"})
_KIND = {
    "self": "self", "issuer": "self", "name": "name", "country": "name", "form": "name", "agency": "law", "law": "law",
    "citation": "law", "code": "code", "region": "region", "city": "city", "mail": "net", "site": "net",
    "money": "money",
}  # fmt: skip
_HAVE_FEDERAL = frozenset({"es", "pt"})  # languages other than English with the word "federal"
_LIKELY_SHARE = 0.5  # of a language's countries that is likely to be meant; chosen by hand
_LANGUAGE_PLACES = 6  # countries of a language that are candidates though the text does not name them; chosen by hand
_MAIN_SHARE = 0.7  # a language spoken mainly in one country; chosen by hand
_LEAST_WORDS = 200  # shorter texts count as this long in densities; chosen by hand
_FIRST_SCALE = 300  # characters after which a first mention counts half as early; chosen by hand
_QUOTES = 4  # mentions quoted per label; chosen by hand
_OWNER_CHARACTERS = 200  # of a line, where it says who owns something; chosen by hand
_OWNER_LINE = re.compile(r"(?i)(?:©|\(c\)|copyright|all rights reserved|\b(?:printed|made) in\b)")
_SUM = re.compile(r"([A-Z]{3})(?:(?<![A-Za-z].{3})\s?\d|(?:(?<=\d.{3})|(?<=\d\s.{3}))(?![A-Za-z]))", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PlaceMention:
    """A place named at text[start:end]. kind: one of _MENTIONS. leading: in the title or the opening. generic: as in
    core.knowledge.jurisdictions.Place."""

    value: str
    kind: str
    text: str
    start: int
    end: int
    source: EvidenceSource
    leading: bool
    generic: bool = False

    def evidence(self, weight: float, terms: WorkspaceTerms) -> Evidence:
        """The mention as evidence for its place."""
        rule = f"names {terms.jurisdictions.title(self.value)}"
        return Evidence(quote_around(self.text, self.start, self.end), self.source, self.value, weight, rule)


def jurisdiction_label(
    sample: DocumentSample,
    blocks: Blocks,
    truth: Label,
    authority: Label,
    language: Label,
    model: ClassifierModel,
    terms: WorkspaceTerms,
) -> Label:
    """The place of application: the most probable of the places named, the language's countries, and "global".

    Probabilities come from a conditional logit (McFadden 1974) over the candidates; with that of places that are no
    candidates they sum to 1.
    """
    if not sample.words:
        return NO_TEXT
    main_language = language.value or NATIVE
    mentions = tuple(place_mentions(sample, main_language, terms))
    values, features = place_candidates(sample, mentions, main_language, truth, authority, kind_scores(blocks, model))
    weights = model.numbers["place_features"]
    scores = np.array([sum(weights.get(name, 0.0) * value for name, value in row.items()) for row in features])
    shares = softmax(scores)
    order = np.argsort(-shares[:-1], kind="stable")  # elsewhere lowers the shares of all others, but is no label
    best, second = values[order[0]], values[order[1]]
    own = sorted((each for each in mentions if each.value == best), key=lambda each: (not each.leading, each.start))
    quotes = [each for each in own if each.source is not EvidenceSource.NAME][:_QUOTES]
    share = float(shares[order[0]])
    evidence = tuple(each.evidence(round(share / len(quotes), 6), terms) for each in quotes)
    reason = "" if evidence else _reason(best, main_language, sample.body)
    return Label(best, share, second, float(shares[order[1]]), evidence, reason)


def _reason(value: str, language: str, text: str) -> str:
    if value == "global":
        return "Nothing ties it to one place."
    spelled = countries_of_text(language, text).get(value, 0.0)
    if language != NATIVE and spelled > language_countries(language).get(value, 0.0):
        return f"It names no place, but its spelling ({language}) is the one used there."
    return f"It names no place; of such documents in this language ({language}), many apply there."


def place_kind(value: str) -> str:
    """The kind of a jurisdiction.

    >>> [place_kind(value) for value in ("global", "federal", "state:CA", "country:FR")]
    ['global', 'federal', 'state', 'country']
    """
    return value.partition(":")[0]


def kind_scores(blocks: Blocks, model: ClassifierModel) -> Mapping[str, float]:
    """Kind of place → log probability, by the words and the form of a document."""
    head = model.heads["place"]
    shares = softmax(head.scores(blocks))
    return {kind: log(float(share) + 1e-6) for kind, share in zip(head.classes, shares, strict=True)}


def place_mentions(sample: DocumentSample, language: str, terms: WorkspaceTerms) -> Iterator[PlaceMention]:
    """Every place named in the title and the text, except in lines that say who owns or made something."""
    mentions = list(_all_mentions(sample, language, terms))
    named = [mention for mention in mentions if not mention.generic]
    federation = _federation(named, language, sample.body)
    for mention in mentions:
        if not mention.generic:
            yield mention
        elif federation is not None:
            yield replace(mention, value=federation)


def _federation(named: Sequence[PlaceMention], language: str, text: str) -> str | None:
    """The jurisdiction that "federal" stands for in a text that names these places, or None.

    In a language that has the word itself, the federation that is named most, if more often than the United States;
    where none is named, the country of the text's spelling, if that is a federation.
    """
    counts = Counter("federal" if mention.value.startswith("state:") else mention.value for mention in named)
    if language in _HAVE_FEDERAL:
        others = federations().intersection(counts)
        best = max(sorted(others), key=lambda value: counts[value], default="")
        if counts[best] > counts["federal"]:
            return best
        if counts["federal"]:
            return "federal"
        likely = (value for value, share in countries_of_text(language, text).items() if share > _LIKELY_SHARE)
        return next((value for value in likely if value in federations()), None)
    leading = (mention.value for mention in named if mention.leading and mention.kind in _SAYS)
    return federation_of((mention.value for mention in named), leading)


def _all_mentions(sample: DocumentSample, language: str, terms: WorkspaceTerms) -> Iterator[PlaceMention]:
    for text, source, opening in (
        (sample.title, EvidenceSource.METADATA, len(sample.title)),
        (sample.body, EvidenceSource.TEXT, len(sample.opening)),
    ):
        taken: set[int] = set()
        for place in (*terms.jurisdictions.places(text), *implied_places(text)):
            begun = text.rfind("\n", 0, place.start) + 1
            line = text[begun : begun + _OWNER_CHARACTERS].split("\n", 1)[0]
            if source is EvidenceSource.TEXT and _OWNER_LINE.search(line):
                continue
            taken.add(place.start)
            leading = place.start < opening
            kind = _KIND[place.kind]
            yield PlaceMention(place.value, kind, text, place.start, place.end, source, leading, place.generic)
        for value, kind, start, end in find_places(text, language):
            if start not in taken:
                yield PlaceMention(value, _KIND[kind], text, start, end, source, start < opening)
        for match in _SUM.finditer(text):
            country = currency_countries().get(match.group(1))
            if country is not None:
                yield PlaceMention(country, "money", text, *match.span(), source, match.start() < opening)


def place_candidates(
    sample: DocumentSample,
    mentions: Sequence[PlaceMention],
    language: str,
    truth: Label,
    authority: Label,
    kinds: Mapping[str, float],
) -> tuple[tuple[str, ...], tuple[Mapping[str, float], ...]]:
    """Candidate jurisdictions, ELSEWHERE last, and the features of each. kinds: kind of place → log probability."""
    by_value: dict[str, list[PlaceMention]] = {}
    for mention in mentions:
        by_value.setdefault(mention.value, []).append(mention)
    population = countries_of_text(language, sample.body) if language != NATIVE else {}
    likely = sorted(population, key=lambda value: -population[value])[:_LANGUAGE_PLACES]
    values = (*sorted({*by_value, "federal", "global", *likely}), ELSEWHERE)
    named = {value: sum(m.kind in _NAMED for m in by_value.get(value, ())) for value in values}
    mentions_of_text = _Whole(
        len(mentions),
        sum(m.leading for m in mentions),
        max(named.values()),
        sum(named.values()),
        len(by_value),
        max(_LEAST_WORDS, sample.words),
        language == NATIVE,
        truth_shares(truth),
        _authority_shares(authority),
    )
    rows = tuple(
        {
            **_mention_features(by_value.get(value, ()), named[value], mentions_of_text),
            "language": population.get(value, 0.0),
            "main language": float(population.get(value, 0.0) > _MAIN_SHARE),
            **_kind_features(value, mentions_of_text),
            "kind": kinds[place_kind(value)],
        }
        for value in values[:-1]
    )
    return values, (*rows, {ELSEWHERE: 1.0})


@dataclass(frozen=True, slots=True)
class _Whole:
    """What all candidates of a document share."""

    mentions: int
    leading: int
    most: int
    named: int
    places: int
    words: int
    english: bool
    truths: Mapping[Truth, float]
    authorities: Mapping[Authority, float]


def _mention_features(own: Sequence[PlaceMention], named: int, mentions_of_text: _Whole) -> dict[str, float]:
    counts, leading = Counter(m.kind for m in own), Counter(m.kind for m in own if m.leading)
    ahead = leading.total()
    first = min((m.start for m in own), default=10**6)
    return {
        **{f"{kind} mentions": log1p(counts[kind]) for kind in _MENTIONS},
        **{f"leading {kind} mentions": log1p(leading[kind]) for kind in _LEADING},
        "leading mentions": log1p(ahead),
        "share of mentions": len(own) / max(1, mentions_of_text.mentions),
        "share of leading mentions": ahead / mentions_of_text.leading if mentions_of_text.leading else 0.0,
        "density": log1p(1000.0 * len(own) / mentions_of_text.words),
        "first mention": 1.0 / (1.0 + first / _FIRST_SCALE),
        "most named": float(bool(own) and named == mentions_of_text.most),
    }


def _kind_features(value: str, mentions_of_text: _Whole) -> dict[str, float]:
    kind = place_kind(value)
    official, internal = (
        mentions_of_text.authorities[Authority.GOVERNMENT],
        mentions_of_text.authorities[Authority.INTERNAL],
    )
    found = {kind: 1.0, "country:EU": float(value == "country:EU")}
    if kind == "global":
        found |= {
            "global, English": float(mentions_of_text.english),
            "global, density of places": log1p(1000.0 * mentions_of_text.mentions / mentions_of_text.words),
            "global, most named": log1p(mentions_of_text.most),
            "global, share of the most named": mentions_of_text.most / max(1, mentions_of_text.named),
            "global, places": log1p(mentions_of_text.places),
            **{f"global, {truth}": share for truth, share in mentions_of_text.truths.items()},
            **{f"global, {authority}": share for authority, share in mentions_of_text.authorities.items()},
        }
    elif kind == "federal":
        found |= {
            "federal, English": float(mentions_of_text.english),
            "federal, government": official,
            "federal, internal": internal,
        }
    else:
        found["place, government"] = official
    return found


def _authority_shares(authority: Label) -> dict[Authority, float]:
    known = {authority.value: authority.probability, authority.runner_up: authority.runner_up_probability}
    named = {Authority(value): share for value, share in known.items() if value is not None}
    rest = max(0.0, 1.0 - sum(named.values())) / max(1, len(Authority) - len(named))
    return {each: named.get(each, rest) for each in Authority}
