"""Changes of a vocabulary: as an editor makes them, as two are joined, and told in words."""

from collections.abc import Iterator, Sequence

from core.speaking import speaking
from core.tables.domains import built_in_domains, built_in_titles, domain_title
from core.tables.jurisdictions import built_in_jurisdictions, jurisdiction_title
from core.vocabulary import AuthorityNames, DomainWords, JurisdictionNames, Vocabulary

__all__ = ["differences", "domain_named", "edited_domain", "joined", "keywords_of"]

_NAMED = 8  # words of one change that are told; the rest is counted


def domain_named(title: str, taken: Sequence[str]) -> str:
    """A name for a new domain, from its title; one that is taken gets a number.

    >>> domain_named("Data protection & privacy", []), domain_named("Privacy", ["privacy"])
    ('data_protection_privacy', 'privacy_2')
    """
    words = "".join(sign if sign.isascii() and sign.isalnum() else " " for sign in title.lower()).split()
    name = ("_".join(words) or "domain")[:36].strip("_")
    name = name if name[0].isalpha() else f"domain_{name}"
    if name not in taken:
        return name
    return next(f"{name}_{number}" for number in range(2, len(taken) + 3) if f"{name}_{number}" not in taken)


def keywords_of(vocabulary: Vocabulary, name: str) -> tuple[str, ...]:
    """All keywords of a domain under a vocabulary, also of one that is switched off: the product's, then its own."""
    own = vocabulary.domain(name)
    kept = (word for word in built_in_domains().get(name, ()) if word not in own.without)
    return tuple(dict.fromkeys((*kept, *own.keywords)))


# One argument for each field of the form that is edited.
def edited_domain(
    vocabulary: Vocabulary, name: str, *, title: str, keywords: Sequence[str], name_words: Sequence[str], off: bool
) -> Vocabulary:
    """The vocabulary with a domain as a form says it: `keywords` are all that shall count, the product's among them.

    >>> keywords = [*built_in_domains()["learning"], "mentor circle"]
    >>> edited_domain(Vocabulary(), "learning", title="Learning", keywords=keywords, name_words=[], off=False).domains
    (DomainWords(name='learning', title='', keywords=('mentor circle',), without=(), name_words=(), off=False),)
    """
    known = built_in_domains().get(name, ())
    wanted = dict.fromkeys(keywords)
    return vocabulary.told(
        DomainWords(
            name,
            "" if title.strip() == built_in_titles().get(name) else title.strip(),
            tuple(word for word in keywords if word not in known),
            tuple(word for word in known if word not in wanted),
            tuple(name_words),
            off,
        )
    )


def joined(known: Vocabulary, more: Vocabulary) -> Vocabulary:
    """Both: the words of `more` come to those known; its titles, and what it leaves out or switches off, hold."""
    domains = [_joined_domain(known.domain(each.name), each) for each in more.domains]
    speakers = []
    for speaker in more.authorities:
        held = known.authority(speaker.authority)
        speakers.append(AuthorityNames(held.authority, _both(held.names, speaker.names)))
    places = []
    for place in more.jurisdictions:
        old = known.jurisdiction(place.value)
        names, agencies = _both(old.names, place.names), _both(old.agencies, place.agencies)
        places.append(JurisdictionNames(place.value, place.title or old.title, names, agencies))
    return known.told(*domains, *speakers, *places)


def _joined_domain(old: DomainWords, new: DomainWords) -> DomainWords:
    return DomainWords(
        new.name,
        new.title or old.title,
        _both(old.keywords, new.keywords),
        _both(old.without, new.without),
        _both(old.name_words, new.name_words),
        old.off or new.off,
    )


def _both(old: Sequence[str], new: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*old, *new)))


def differences(before: Vocabulary, after: Vocabulary) -> tuple[str, ...]:
    """What has to change to make `after` of `before`, in sentences; empty when they say the same.

    >>> differences(Vocabulary(), Vocabulary((DomainWords("privacy", "Privacy", ("data subject", "dpia")),)))
    ('New domain Privacy: data subject, dpia.',)
    """
    found: list[str] = []
    for name in dict.fromkeys(each.name for each in (*before.domains, *after.domains)):
        found += _domain_differences(before, after, name)
    speakers = dict.fromkeys(each.authority for each in (*before.authorities, *after.authorities))
    for authority in speakers:
        old, new = before.authority(authority).names, after.authority(authority).names
        found += _words(authority.capitalize(), "names", old, new)
    for value in dict.fromkeys(each.value for each in (*before.jurisdictions, *after.jurisdictions)):
        found += _place_differences(before, after, value)
    return tuple(found)


def _domain_differences(before: Vocabulary, after: Vocabulary, name: str) -> Iterator[str]:
    old, new = before.domain(name), after.domain(name)
    title = _domain_title(before if new.silent else after, name)
    if name not in built_in_domains() and old.silent != new.silent:
        yield f"New domain {title}: {_told(new.keywords)}." if not new.silent else f"Domain {title} removed."
        if new.off:
            yield f"{title} switched off."
        yield from _words(title, "words of file names", (), new.name_words)
        return
    was = _domain_title(before, name)
    if was != title:
        yield f"{was} is now called {title}."
    if old.off != new.off:
        yield f"{title} switched {'off' if new.off else 'on'}."
    yield from _words(title, "keywords", keywords_of(before, name), keywords_of(after, name))
    yield from _words(title, "words of file names", old.name_words, new.name_words)


def _place_differences(before: Vocabulary, after: Vocabulary, value: str) -> Iterator[str]:
    old, new = before.jurisdiction(value), after.jurisdiction(value)
    with speaking(before if new.silent else after):
        title = jurisdiction_title(value)
    if value not in built_in_jurisdictions() and old.silent != new.silent:
        yield f"New place {title} ({value})." if not new.silent else f"{title} ({value}) removed."
    elif old.title != new.title:
        with speaking(after):
            yield f"{value} is now called {jurisdiction_title(value)}."
    yield from _words(title, "names", old.names, new.names)
    yield from _words(title, "agencies", old.agencies, new.agencies)


def _domain_title(vocabulary: Vocabulary, name: str) -> str:
    with speaking(vocabulary):
        return domain_title(name)


def _words(called: str, what: str, old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    added, gone = [word for word in new if word not in old], [word for word in old if word not in new]
    if added:
        yield f"{called}: {what} added: {_told(added)}."
    if gone:
        yield f"{called}: {what} taken away: {_told(gone)}."


def _told(words: Sequence[str]) -> str:
    rest = len(words) - _NAMED
    shown = ", ".join(words[:_NAMED])
    return f"{shown} and {rest} more" if rest > 0 else shown
