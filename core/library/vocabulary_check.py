"""Whether a vocabulary can be used: what is wrong with it, and what is allowed and worth knowing."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.matching import STOP_WORDS, stem
from core.speaking import speaking
from core.tables.domains import GENERAL, built_in_domains, built_in_titles, domain_title, domains
from core.tables.jurisdictions import built_in_jurisdictions, jurisdiction_title, parse_jurisdiction
from core.vocabulary import BUILT_IN, DomainWords, JurisdictionNames, Vocabulary

__all__ = ["TERRITORIES", "Findings", "checked"]

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_CODE = re.compile(r"(country|state):[A-Z]{2}")
_PART = re.compile(r"[^\W_]+")
_RESERVED = frozenset({"unknown", "not", "none"})
_MOST_WORDS = 2_000  # of one domain, authority or place
_LONGEST = 120  # characters of a keyword, name or title
TERRITORIES = frozenset({"AS", "GU", "MP", "PR", "VI"})
"""State codes the table lacks: only of the United States, whose federal law every "state:" stands under."""


@dataclass(frozen=True, slots=True)
class Findings:
    """problems: what keeps a vocabulary from being saved. notices: what is allowed, and worth a look. Both in words."""

    problems: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def checked(vocabulary: Vocabulary) -> Findings:
    """Everything wrong with a vocabulary, and everything worth knowing of it, in its own order.

    >>> checked(Vocabulary((DomainWords("privacy", "Privacy", ("the", "data subject")),))).problems
    ("Privacy: 'the' is too common to be a keyword: it stands in nearly every text.",)
    """
    problems: list[str] = []
    notices: list[str] = []
    problems += _twice((each.name for each in vocabulary.domains), "The domain")
    problems += _twice((each.authority for each in vocabulary.authorities), "The authority")
    problems += _twice((each.value for each in vocabulary.jurisdictions), "The jurisdiction")
    for domain in vocabulary.domains:
        problems += _domain_problems(domain)
    problems += _titles_twice(vocabulary)
    for speaker in vocabulary.authorities:
        problems += _word_problems(speaker.authority.capitalize(), "name", speaker.names)
    for place in vocabulary.jurisdictions:
        problems += _place_problems(place)
    if not problems:
        notices += _without_effect(vocabulary)
        notices += _shared_keywords(vocabulary)
        notices += _shared_names(vocabulary)
    return Findings(tuple(dict.fromkeys(problems)), tuple(dict.fromkeys(notices)))


def _twice(keys: Iterable[str], what: str) -> Iterator[str]:
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            yield f"{what} '{key}' stands there twice."
        seen.add(key)


def _domain_problems(domain: DomainWords) -> Iterator[str]:
    own = domain.name not in built_in_domains()
    called = domain.title or built_in_titles().get(domain.name, domain.name)
    if not _NAME.fullmatch(domain.name) or domain.name in _RESERVED:
        yield (
            f"'{domain.name}' cannot name a domain: use small letters, digits and '_', begin with a letter, at most 40."
        )
    if own and not domain.title.strip():
        yield f"The domain '{domain.name}' has no title."
    if len(domain.title) > _LONGEST:
        yield f"The title of '{domain.name}' is longer than {_LONGEST} characters."
    if own and not domain.keywords and not domain.off:
        yield f"{called}: it has no keyword, so nothing could ever be labelled with it."
    if domain.name == GENERAL and (domain.off or domain.keywords):
        yield f"{called}: it is for what no other domain's words name, so it has no keywords and stays switched on."
    kept = [word for word in built_in_domains().get(domain.name, ()) if word not in domain.without]
    yield from _word_problems(called, "keyword", domain.keywords, kept)
    yield from _word_problems(called, "name word", domain.name_words)


def _word_problems(called: str, what: str, words: Sequence[str], known: Sequence[str] = ()) -> Iterator[str]:
    """Of keywords and of names that are matched as keywords are. known: those of the product that stay."""
    if len(words) > _MOST_WORDS:
        yield f"{called}: more than {_MOST_WORDS:,} {what}s."
    seen = {_matched(word): word for word in known}
    for word in words:
        parts = _PART.findall(word.lower())
        if not word.strip():
            yield f"{called}: a {what} is empty."
        elif not parts:
            yield f"{called}: '{word}' holds no letter or digit."
        elif len(word) > _LONGEST:
            yield f"{called}: '{word[:40]}…' is longer than {_LONGEST} characters."
        elif all(part in STOP_WORDS or (len(part) == 1 and part.isalpha()) for part in parts):
            yield f"{called}: '{word}' is too common to be a {what}: it stands in nearly every text."
        elif (alike := seen.get(_matched(word))) is not None:
            same = "stands there twice" if alike == word else f"finds the same as '{alike}'"
            yield f"{called}: '{word}' {same}."
        seen.setdefault(_matched(word), word)


def _matched(word: str) -> tuple[str, ...]:
    """What of a keyword is compared with a text: two with the same find the same."""
    parts = _PART.findall(word.lower())
    return tuple(f"={part}" if word.startswith("=") else stem(part) for part in parts)


def _titles_twice(vocabulary: Vocabulary) -> Iterator[str]:
    with speaking(vocabulary):
        seen: dict[str, str] = {}
        for name in dict.fromkeys((*domains(), *(each.name for each in vocabulary.domains))):
            title = domain_title(name).casefold().strip()
            if title in seen:
                yield f"Two domains are called '{domain_title(name)}': '{seen[title]}' and '{name}'."
            seen.setdefault(title, name)


def _place_problems(place: JurisdictionNames) -> Iterator[str]:
    called = place.title or built_in_jurisdictions().get(place.value, place.value)
    known = place.value in built_in_jurisdictions() or place.value == "country:US"
    if not known:
        yield from _code_problems(place)
    if len(place.title) > _LONGEST:
        yield f"The title of '{place.value}' is longer than {_LONGEST} characters."
    for what, names in (("name", place.names), ("agency", place.agencies)):
        yield from _twice(names, f"{called}: the {what}")
        for name in names:
            if len(_PART.findall(name)) == 0:
                yield f"{called}: a {what} is empty."
            elif len(name) > _LONGEST:
                yield f"{called}: '{name[:40]}…' is longer than {_LONGEST} characters."
            elif name.lower() in STOP_WORDS or (len(name) <= 2 and name.lower() == name):
                yield f"{called}: '{name}' is too common to name a place."
        if len(names) > _MOST_WORDS:
            yield f"{called}: more than {_MOST_WORDS:,} names."


def _code_problems(place: JurisdictionNames) -> Iterator[str]:
    if not _CODE.fullmatch(place.value):
        yield f"'{place.value}' is not a jurisdiction: write federal, global, country:XX or state:XX, as in country:CA."
        return
    kind, _, code = place.value.partition(":")
    if kind == "state" and code not in TERRITORIES:
        yield (
            f"'{place.value}' is no state or territory of the United States, whose federal law stands above every"
            " 'state:'. Give the names of a province to its country."
        )
    if not place.title.strip():
        yield f"'{place.value}' is new here and needs a title, the name pages show."


def _without_effect(vocabulary: Vocabulary) -> Iterator[str]:
    """Keywords taken away that the product does not (or no longer) have."""
    for domain in vocabulary.domains:
        known = set(built_in_domains().get(domain.name, ()))
        for word in domain.without:
            if word not in known:
                yield f"'{word}' is no keyword of the product's for '{domain.name}': leaving it out does nothing."


def _shared_keywords(vocabulary: Vocabulary) -> Iterator[str]:
    """Keywords that another domain has as well: both are named by it."""
    with speaking(vocabulary):
        owners = _owners(domains())
        for domain in vocabulary.domains:
            for word in domain.keywords if not domain.off else ():
                others = [owner for owner in owners.get(_matched(word), ()) if owner != domain.name]
                if others:
                    titles = " and ".join(domain_title(each) for each in others)
                    yield f"'{word}' of {domain_title(domain.name)} belongs to {titles} too: it counts for both."


def _owners(rows: Mapping[str, Sequence[str]]) -> Mapping[tuple[str, ...], list[str]]:
    owners: dict[tuple[str, ...], list[str]] = {}
    for name, words in rows.items():
        for word in words:
            owners.setdefault(_matched(word), []).append(name)
    return owners


def _shared_names(vocabulary: Vocabulary) -> Iterator[str]:
    """Names that mean another place without the workspace, or to another row of its own."""
    mine: dict[str, str] = {}
    known = _meant([name for each in vocabulary.jurisdictions for name in (*each.names, *each.agencies)])
    with speaking(vocabulary):
        title: Callable[[str], str] = jurisdiction_title
        for place in vocabulary.jurisdictions:
            for name in (*place.names, *place.agencies):
                other = mine.setdefault(name, place.value)
                other = other if other != place.value else known.get(name) or place.value
                if other != place.value:
                    yield f"'{name}' names {title(other)} too: it will mean {title(place.value)}."


def _meant(names: Sequence[str]) -> Mapping[str, str]:
    """What the product takes each name for."""
    with speaking(BUILT_IN):
        found = {name: parse_jurisdiction(name) for name in names}
    return {name: place for name, place in found.items() if place}
