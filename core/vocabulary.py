"""The words of one workspace: what it adds to the product's domains, authorities and jurisdictions, and changes.

A vocabulary holds only what differs from core/tables, so that words the product learns later reach every workspace.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from core.documents import Authority
from core.errors import NotFound, Outdated

__all__ = [
    "BUILT_IN",
    "Application",
    "AuthorityNames",
    "DomainWords",
    "JurisdictionNames",
    "Vocabulary",
    "VocabularyStore",
    "VocabularyVersion",
    "findable",
    "no_application",
    "outdated_vocabulary",
]


@dataclass(frozen=True, slots=True)
class DomainWords:
    """A domain of the workspace's own, or what it changes of one of the product's.

    name: what documents carry ("privacy"). title: what pages show; "": the product's. keywords: words and phrases,
    matched by their stems on word borders, "=word" only as written; they come to the product's. without: keywords of
    the product that do not count here. name_words: count in file names only. off: given to no document any more; those
    that carry it keep it.
    """

    name: str
    title: str = ""
    keywords: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    name_words: tuple[str, ...] = ()
    off: bool = False

    @property
    def silent(self) -> bool:
        """Whether it says nothing."""
        return self == DomainWords(self.name)


@dataclass(frozen=True, slots=True)
class AuthorityNames:
    """Who speaks as an authority: names and phrases, matched as keywords are ("Ministry of Labour")."""

    authority: Authority
    names: tuple[str, ...] = ()

    @property
    def silent(self) -> bool:
        """Whether it says nothing."""
        return not self.names


@dataclass(frozen=True, slots=True)
class JurisdictionNames:
    """More names of a place, or a place the product does not know.

    value: "federal", "global", "country:XX" or "state:XX". title: what pages show; "": the product's. names: of the
    place, agencies: of its public bodies, both matched as written or in capitals, longer ones in small letters too.
    """

    value: str
    title: str = ""
    names: tuple[str, ...] = ()
    agencies: tuple[str, ...] = ()

    @property
    def silent(self) -> bool:
        """Whether it says nothing."""
        return self == JurisdictionNames(self.value)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a workspace adds and changes; each domain, authority and jurisdiction stands in it once."""

    domains: tuple[DomainWords, ...] = ()
    authorities: tuple[AuthorityNames, ...] = ()
    jurisdictions: tuple[JurisdictionNames, ...] = ()

    def domain(self, name: str) -> DomainWords:
        """What it says of a domain; an empty change when nothing."""
        return next((each for each in self.domains if each.name == name), DomainWords(name))

    def authority(self, authority: Authority) -> AuthorityNames:
        """What it says of an authority; an empty change when nothing."""
        return next((each for each in self.authorities if each.authority is authority), AuthorityNames(authority))

    def jurisdiction(self, value: str) -> JurisdictionNames:
        """What it says of a jurisdiction; an empty change when nothing."""
        return next((each for each in self.jurisdictions if each.value == value), JurisdictionNames(value))

    def told(self, *changes: DomainWords | AuthorityNames | JurisdictionNames) -> "Vocabulary":
        """The vocabulary with these in place of what it said of the same; one that says nothing is left out.

        >>> own = Vocabulary().told(DomainWords("privacy", "Privacy", ("personal data",)))
        >>> own.domain("privacy").keywords, own.told(DomainWords("privacy")) == Vocabulary()
        (('personal data',), True)
        """
        domains = _replaced(self.domains, [each for each in changes if isinstance(each, DomainWords)])
        speakers = _replaced(self.authorities, [each for each in changes if isinstance(each, AuthorityNames)])
        places = _replaced(self.jurisdictions, [each for each in changes if isinstance(each, JurisdictionNames)])
        return Vocabulary(domains, speakers, places)


BUILT_IN = Vocabulary()
"""The product's own words, unchanged."""

_Change = TypeVar("_Change", DomainWords, AuthorityNames, JurisdictionNames)


def _replaced(known: Sequence[_Change], changes: Sequence[_Change]) -> tuple[_Change, ...]:
    rows = {_key(each): each for each in known}
    rows.update({_key(each): each for each in changes})
    return tuple(each for each in rows.values() if not each.silent)


def _key(change: DomainWords | AuthorityNames | JurisdictionNames) -> str:
    if isinstance(change, DomainWords):
        return change.name
    return change.authority if isinstance(change, AuthorityNames) else change.value


@dataclass(frozen=True, slots=True)
class VocabularyVersion:
    """A vocabulary as it was saved. number: from 1, without holes; who, note: "" when not said."""

    number: int
    vocabulary: Vocabulary
    who: str
    at: datetime
    note: str = ""


@dataclass(frozen=True, slots=True)
class Application:
    """One run that decides the labels of the library anew. id: 0 until stored.

    version: of the vocabulary it began with. total, done, changed: documents; changed: those with another domain,
    authority or jurisdiction than before. reached: the id of the last document looked at, until: of the last there was.
    ended: None while it runs or waits. stopped: somebody asked it to end.
    """

    version: int
    who: str
    at: datetime
    total: int
    until: int
    id: int = 0
    done: int = 0
    changed: int = 0
    reached: int = 0
    stopped: bool = False
    ended: datetime | None = None


def findable(words: Sequence[str]) -> tuple[str, ...]:
    """Those with a letter or digit: one being typed may have none yet.

    >>> findable(["tax", "", "–"])
    ('tax',)
    """
    return tuple(word for word in words if any(sign.isalnum() for sign in word))


class VocabularyStore(Protocol):
    """Keeps the vocabularies of one tenant; versions are only ever added. Every method raises StoreFailed."""

    def newest(self) -> VocabularyVersion | None:
        """The one that holds; None while the workspace has saved none."""
        ...

    def versions(self) -> Sequence[VocabularyVersion]:
        """All of them, newest first."""
        ...

    def add(self, version: VocabularyVersion) -> None:
        """Keep a new version. Raises Outdated when its number is not the next one: someone else was faster."""
        ...

    def begin(self, application: Application) -> Application:
        """Keep a new application; gives it with its id."""
        ...

    def advance(self, application: Application) -> Application:
        """Keep how far one has come (done, changed, reached, ended); gives it as it is now, `stopped` by whoever asked.

        Raises NotFound.
        """
        ...

    def stop(self, application_id: int) -> None:
        """Ask one to end. Raises NotFound."""
        ...

    def application(self, application_id: int) -> Application:
        """Raises NotFound."""
        ...

    def latest_application(self) -> Application | None:
        """The one begun last; None when there is none."""
        ...


def outdated_vocabulary(newest: int) -> Outdated:
    """Someone has saved a version meanwhile."""
    return Outdated(
        f"Someone else has saved version {newest} of the vocabulary meanwhile; nothing was overwritten.",
        "Look at what they changed, then make your changes again.",
    )


def no_application(application_id: int) -> NotFound:
    """The application is not stored."""
    return NotFound(f"Run {application_id} over the library is not (or no longer) here.", "Look at the page again.")
