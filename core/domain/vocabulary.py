"""A workspace's vocabulary: additions and changes to the built-in domains, authorities and jurisdictions.

It stores only differences from core/knowledge, so that later additions to the product reach every workspace.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from core.domain.documents import Authority

__all__ = [
    "BUILT_IN",
    "AuthorityNames",
    "DomainWords",
    "JurisdictionNames",
    "Vocabulary",
    "findable",
]


@dataclass(frozen=True, slots=True)
class DomainWords:
    """A domain of the workspace's own, or changes to a built-in one.

    name: the label value ("privacy"). title: shown on pages; "": the built-in one. keywords: words and phrases, matched
    by stem on word boundaries, "=word" only as written; added to the built-in ones. without: built-in keywords to
    ignore. name_words: apply to file names only. off: no longer assigned; documents that have it keep it."""

    name: str
    title: str = ""
    keywords: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    name_words: tuple[str, ...] = ()
    off: bool = False

    @property
    def silent(self) -> bool:
        """Whether it changes nothing."""
        return self == DomainWords(self.name)


@dataclass(frozen=True, slots=True)
class AuthorityNames:
    """Names and phrases that indicate an authority, matched like keywords ("Ministry of Labour")."""

    authority: Authority
    names: tuple[str, ...] = ()

    @property
    def silent(self) -> bool:
        """Whether it changes nothing."""
        return not self.names


@dataclass(frozen=True, slots=True)
class JurisdictionNames:
    """More names of a built-in jurisdiction, or a new one.

    value: "federal", "global", "country:XX" or "state:XX". title: shown on pages; "": the built-in one. names: of the
    place, agencies: of its public bodies, both matched as written or in capitals, longer ones in lower case too."""

    value: str
    title: str = ""
    names: tuple[str, ...] = ()
    agencies: tuple[str, ...] = ()

    @property
    def silent(self) -> bool:
        """Whether it changes nothing."""
        return self == JurisdictionNames(self.value)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A workspace's additions and changes; each domain, authority and jurisdiction occurs once."""

    domains: tuple[DomainWords, ...] = ()
    authorities: tuple[AuthorityNames, ...] = ()
    jurisdictions: tuple[JurisdictionNames, ...] = ()

    def domain(self, name: str) -> DomainWords:
        """The changes to a domain; an empty change if there are none."""
        return next((each for each in self.domains if each.name == name), DomainWords(name))

    def authority(self, authority: Authority) -> AuthorityNames:
        """The changes to an authority; an empty change if there are none."""
        return next((each for each in self.authorities if each.authority is authority), AuthorityNames(authority))

    def jurisdiction(self, value: str) -> JurisdictionNames:
        """The changes to a jurisdiction; an empty change if there are none."""
        return next((each for each in self.jurisdictions if each.value == value), JurisdictionNames(value))

    def with_changes(self, *changes: DomainWords | AuthorityNames | JurisdictionNames) -> "Vocabulary":
        """The vocabulary with these changes replacing those of the same name; empty changes are removed.

        >>> own = Vocabulary().with_changes(DomainWords("privacy", "Privacy", ("personal data",)))
        >>> own.domain("privacy").keywords, own.with_changes(DomainWords("privacy")) == Vocabulary()
        (('personal data',), True)
        """
        domains = _replaced(self.domains, [each for each in changes if isinstance(each, DomainWords)])
        authorities = _replaced(self.authorities, [each for each in changes if isinstance(each, AuthorityNames)])
        jurisdictions = _replaced(self.jurisdictions, [each for each in changes if isinstance(each, JurisdictionNames)])
        return Vocabulary(domains, authorities, jurisdictions)


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


def findable(words: Sequence[str]) -> tuple[str, ...]:
    """Those with a letter or digit; an incomplete entry may have none.

    >>> findable(["tax", "", "–"])
    ('tax',)
    """
    return tuple(word for word in words if any(sign.isalnum() for sign in word))
