"""Edits of a vocabulary: applies form edits, merges and checks vocabularies, and describes differences in sentences."""
# An edit, its check and its description change together, so they stand in one module.

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.domain.vocabulary import AuthorityNames, DomainWords, JurisdictionNames, Vocabulary
from core.knowledge.domains import GENERAL, built_in_domains, built_in_titles
from core.knowledge.jurisdictions import built_in_jurisdictions
from core.knowledge.workspace_terms import BUILT_IN_TERMS, WorkspaceTerms
from core.text.tokenize import STOP_WORDS, stem

__all__ = [
    "TERRITORIES",
    "VocabularyFindings",
    "check_vocabulary",
    "differences",
    "domain_keywords",
    "edit_domain",
    "merge_vocabularies",
    "new_domain_name",
]

_WORDS_LISTED = 8  # words of one change that are listed; the rest is counted. Chosen by hand.


def new_domain_name(title: str, taken: Sequence[str]) -> str:
    """A name for a new domain, from its title; one that is taken gets a number.

    >>> new_domain_name("Data protection & privacy", []), new_domain_name("Privacy", ["privacy"])
    ('data_protection_privacy', 'privacy_2')
    """
    words = "".join(sign if sign.isascii() and sign.isalnum() else " " for sign in title.lower()).split()
    name = ("_".join(words) or "domain")[:36].strip("_")
    name = name if name[0].isalpha() else f"domain_{name}"
    if name not in taken:
        return name
    return next(f"{name}_{number}" for number in range(2, len(taken) + 3) if f"{name}_{number}" not in taken)


def domain_keywords(vocabulary: Vocabulary, name: str) -> tuple[str, ...]:
    """All keywords of a domain under a vocabulary, also of a disabled one: built-in ones, then the workspace's own."""
    own = vocabulary.domain(name)
    keywords = (word for word in built_in_domains().get(name, ()) if word not in own.without)
    return tuple(dict.fromkeys((*keywords, *own.keywords)))


# One argument for each field of the form that is edited.
def edit_domain(
    vocabulary: Vocabulary, name: str, *, title: str, keywords: Sequence[str], name_words: Sequence[str], off: bool
) -> Vocabulary:
    """The vocabulary with a domain as a form gives it: `keywords` is the complete list, built-in ones included.

    >>> keywords = [*built_in_domains()["learning"], "mentor circle"]
    >>> edit_domain(Vocabulary(), "learning", title="Learning", keywords=keywords, name_words=[], off=False).domains
    (DomainWords(name='learning', title='', keywords=('mentor circle',), without=(), name_words=(), off=False),)
    """
    known = built_in_domains().get(name, ())
    unique = dict.fromkeys(keywords)
    return vocabulary.with_changes(
        DomainWords(
            name,
            "" if title.strip() == built_in_titles().get(name) else title.strip(),
            tuple(word for word in keywords if word not in known),
            tuple(word for word in known if word not in unique),
            tuple(name_words),
            off,
        )
    )


def merge_vocabularies(known: Vocabulary, more: Vocabulary) -> Vocabulary:
    """Merge two vocabularies: words are united; titles, removals and disabled domains of `more` win."""
    domains = [_merge_domains(known.domain(each.name), each) for each in more.domains]
    authorities = []
    for authority in more.authorities:
        current = known.authority(authority.authority)
        authorities.append(AuthorityNames(current.authority, _union(current.names, authority.names)))
    jurisdictions = []
    for jurisdiction in more.jurisdictions:
        old = known.jurisdiction(jurisdiction.value)
        names, agencies = _union(old.names, jurisdiction.names), _union(old.agencies, jurisdiction.agencies)
        jurisdictions.append(JurisdictionNames(jurisdiction.value, jurisdiction.title or old.title, names, agencies))
    return known.with_changes(*domains, *authorities, *jurisdictions)


def _merge_domains(old: DomainWords, new: DomainWords) -> DomainWords:
    return DomainWords(
        new.name,
        new.title or old.title,
        _union(old.keywords, new.keywords),
        _union(old.without, new.without),
        _union(old.name_words, new.name_words),
        old.off or new.off,
    )


def _union(old: Sequence[str], new: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*old, *new)))


def differences(before: Vocabulary, after: Vocabulary) -> tuple[str, ...]:
    """The changes from `before` to `after`, in sentences; empty when both are equivalent.

    >>> differences(Vocabulary(), Vocabulary((DomainWords("privacy", "Privacy", ("data subject", "dpia")),)))
    ('New domain Privacy: data subject, dpia.',)
    """
    found: list[str] = []
    for name in dict.fromkeys(each.name for each in (*before.domains, *after.domains)):
        found += _domain_differences(before, after, name)
    authorities = dict.fromkeys(each.authority for each in (*before.authorities, *after.authorities))
    for authority in authorities:
        old, new = before.authority(authority).names, after.authority(authority).names
        found += _word_differences(authority.capitalize(), "names", old, new)
    for value in dict.fromkeys(each.value for each in (*before.jurisdictions, *after.jurisdictions)):
        found += _place_differences(before, after, value)
    return tuple(found)


def _domain_differences(before: Vocabulary, after: Vocabulary, name: str) -> Iterator[str]:
    old, new = before.domain(name), after.domain(name)
    title = _domain_title(before if new.silent else after, name)
    if name not in built_in_domains() and old.silent != new.silent:
        yield f"New domain {title}: {_listed(new.keywords)}." if not new.silent else f"Domain {title} removed."
        if new.off:
            yield f"{title} switched off."
        yield from _word_differences(title, "words of file names", (), new.name_words)
        return
    was = _domain_title(before, name)
    if was != title:
        yield f"{was} is now called {title}."
    if old.off != new.off:
        yield f"{title} switched {'off' if new.off else 'on'}."
    yield from _word_differences(title, "keywords", domain_keywords(before, name), domain_keywords(after, name))
    yield from _word_differences(title, "words of file names", old.name_words, new.name_words)


def _place_differences(before: Vocabulary, after: Vocabulary, value: str) -> Iterator[str]:
    old, new = before.jurisdiction(value), after.jurisdiction(value)
    title = _jurisdiction_title(before if new.silent else after, value)
    if value not in built_in_jurisdictions() and old.silent != new.silent:
        yield f"New place {title} ({value})." if not new.silent else f"{title} ({value}) removed."
    elif old.title != new.title:
        yield f"{value} is now called {_jurisdiction_title(after, value)}."
    yield from _word_differences(title, "names", old.names, new.names)
    yield from _word_differences(title, "agencies", old.agencies, new.agencies)


def _domain_title(vocabulary: Vocabulary, name: str) -> str:
    return WorkspaceTerms(vocabulary).domains.title(name)


def _jurisdiction_title(vocabulary: Vocabulary, value: str) -> str:
    return WorkspaceTerms(vocabulary).jurisdictions.title(value)


def _word_differences(called: str, what: str, old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    added, removed = [word for word in new if word not in old], [word for word in old if word not in new]
    if added:
        yield f"{called}: {what} added: {_listed(added)}."
    if removed:
        yield f"{called}: {what} taken away: {_listed(removed)}."


def _listed(words: Sequence[str]) -> str:
    rest = len(words) - _WORDS_LISTED
    shown = ", ".join(words[:_WORDS_LISTED])
    return f"{shown} and {rest} more" if rest > 0 else shown


_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")

_CODE = re.compile(r"(country|state):[A-Z]{2}")

_PART = re.compile(r"[^\W_]+")

_RESERVED = frozenset({"unknown", "not", "none"})

_MOST_WORDS = 2_000  # of one domain, authority or place; chosen by hand

_LONGEST = 120  # characters of a keyword, name or title; chosen by hand

TERRITORIES = frozenset({"AS", "GU", "MP", "PR", "VI"})
"""State codes the table lacks: only of the United States, whose federal law every "state:" stands under."""


@dataclass(frozen=True, slots=True)
class VocabularyFindings:
    """Messages about a vocabulary. problems: they prevent saving. notices: allowed, but worth a look."""

    problems: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def check_vocabulary(vocabulary: Vocabulary) -> VocabularyFindings:
    """All problems and notices of a vocabulary, in the vocabulary's order.

    >>> check_vocabulary(Vocabulary((DomainWords("privacy", "Privacy", ("the", "data subject")),))).problems
    ("Privacy: 'the' is too common to be a keyword: it occurs in nearly every text.",)
    """
    problems: list[str] = []
    notices: list[str] = []
    problems += _twice((each.name for each in vocabulary.domains), "The domain")
    problems += _twice((each.authority for each in vocabulary.authorities), "The authority")
    problems += _twice((each.value for each in vocabulary.jurisdictions), "The jurisdiction")
    for domain in vocabulary.domains:
        problems += _domain_problems(domain)
    problems += _titles_twice(vocabulary)
    for authority in vocabulary.authorities:
        problems += _word_problems(authority.authority.capitalize(), "name", authority.names)
    for jurisdiction in vocabulary.jurisdictions:
        problems += _place_problems(jurisdiction)
    if not problems:
        notices += _without_effect(vocabulary)
        notices += _shared_keywords(vocabulary)
        notices += _shared_names(vocabulary)
    return VocabularyFindings(tuple(dict.fromkeys(problems)), tuple(dict.fromkeys(notices)))


def _twice(keys: Iterable[str], what: str) -> Iterator[str]:
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            yield f"{what} '{key}' is listed twice."
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
    keywords = [word for word in built_in_domains().get(domain.name, ()) if word not in domain.without]
    yield from _word_problems(called, "keyword", domain.keywords, keywords)
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
            yield f"{called}: '{word}' contains no letter or digit."
        elif len(word) > _LONGEST:
            yield f"{called}: '{word[:40]}…' is longer than {_LONGEST} characters."
        elif all(part in STOP_WORDS or (len(part) == 1 and part.isalpha()) for part in parts):
            yield f"{called}: '{word}' is too common to be a {what}: it occurs in nearly every text."
        elif (alike := seen.get(_matched(word))) is not None:
            same = "is listed twice" if alike == word else f"finds the same as '{alike}'"
            yield f"{called}: '{word}' {same}."
        seen.setdefault(_matched(word), word)


def _matched(word: str) -> tuple[str, ...]:
    """What of a keyword is compared with a text: two with the same find the same."""
    parts = _PART.findall(word.lower())
    return tuple(f"={part}" if word.startswith("=") else stem(part) for part in parts)


def _titles_twice(vocabulary: Vocabulary) -> Iterator[str]:
    domains = WorkspaceTerms(vocabulary).domains
    seen: dict[str, str] = {}
    for name in dict.fromkeys((*domains.keywords, *(each.name for each in vocabulary.domains))):
        title = domains.title(name).casefold().strip()
        if title in seen:
            yield f"Two domains are called '{domains.title(name)}': '{seen[title]}' and '{name}'."
        seen.setdefault(title, name)


def _place_problems(jurisdiction: JurisdictionNames) -> Iterator[str]:
    called = jurisdiction.title or built_in_jurisdictions().get(jurisdiction.value, jurisdiction.value)
    known = jurisdiction.value in built_in_jurisdictions() or jurisdiction.value == "country:US"
    if not known:
        yield from _code_problems(jurisdiction)
    if len(jurisdiction.title) > _LONGEST:
        yield f"The title of '{jurisdiction.value}' is longer than {_LONGEST} characters."
    for what, names in (("name", jurisdiction.names), ("agency", jurisdiction.agencies)):
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


def _code_problems(jurisdiction: JurisdictionNames) -> Iterator[str]:
    if not _CODE.fullmatch(jurisdiction.value):
        yield (
            f"'{jurisdiction.value}' is not a jurisdiction: write federal, global, country:XX or state:XX,"
            " as in country:CA."
        )
        return
    kind, _, code = jurisdiction.value.partition(":")
    if kind == "state" and code not in TERRITORIES:
        yield (
            f"'{jurisdiction.value}' is not a state or territory of the United States, whose federal law ranks above"
            " every 'state:'. Give the names of a province to its country."
        )
    if not jurisdiction.title.strip():
        yield f"'{jurisdiction.value}' is new here and needs a title, the name pages show."


def _without_effect(vocabulary: Vocabulary) -> Iterator[str]:
    """Keywords taken away that the product does not (or no longer) have."""
    for domain in vocabulary.domains:
        known = set(built_in_domains().get(domain.name, ()))
        for word in domain.without:
            if word not in known:
                yield f"'{word}' is not a built-in keyword of '{domain.name}': leaving it out does nothing."


def _shared_keywords(vocabulary: Vocabulary) -> Iterator[str]:
    """Keywords that another domain has as well: both are named by it."""
    domains = WorkspaceTerms(vocabulary).domains
    owners = _owners(domains.keywords)
    for domain in vocabulary.domains:
        for word in domain.keywords if not domain.off else ():
            others = [owner for owner in owners.get(_matched(word), ()) if owner != domain.name]
            if others:
                titles = " and ".join(domains.title(each) for each in others)
                yield f"'{word}' of {domains.title(domain.name)} belongs to {titles} too: it counts for both."


def _owners(rows: Mapping[str, Sequence[str]]) -> Mapping[tuple[str, ...], list[str]]:
    owners: dict[tuple[str, ...], list[str]] = {}
    for name, words in rows.items():
        for word in words:
            owners.setdefault(_matched(word), []).append(name)
    return owners


def _shared_names(vocabulary: Vocabulary) -> Iterator[str]:
    """Names that mean another place without the workspace, or to another row of its own."""
    mine: dict[str, str] = {}
    title = WorkspaceTerms(vocabulary).jurisdictions.title
    for jurisdiction in vocabulary.jurisdictions:
        for name in (*jurisdiction.names, *jurisdiction.agencies):
            other = mine.setdefault(name, jurisdiction.value)
            other = (
                other if other != jurisdiction.value else BUILT_IN_TERMS.jurisdictions.parse(name) or jurisdiction.value
            )
            if other != jurisdiction.value:
                yield f"'{name}' names {title(other)} too: it will mean {title(jurisdiction.value)}."
