"""The terms of one workspace: built-in domains, authorities and jurisdictions with its vocabulary's changes."""

from dataclasses import dataclass
from functools import cached_property

from core.domain.vocabulary import BUILT_IN, Vocabulary
from core.knowledge.authorities import AuthorityTable, authority_table
from core.knowledge.domains import DomainTable, domain_table
from core.knowledge.jurisdictions import JurisdictionTable, jurisdiction_table
from core.knowledge.prototypes import own_prototypes

__all__ = ["BUILT_IN_TERMS", "WorkspaceTerms"]


@dataclass(frozen=True)
class WorkspaceTerms:
    """An immutable value passed to everything that classifies, routes or labels.

    Services read it once per operation, so an operation never mixes two vocabulary versions. Equal vocabularies share
    their tables, which are built at first use.

    >>> from core.domain.vocabulary import DomainWords
    >>> own = WorkspaceTerms(Vocabulary((DomainWords("privacy", "Privacy", ("data subject",)),)))
    >>> own.domains.hits("Every data subject"), BUILT_IN_TERMS.domains.hits("Every data subject")
    ({'privacy': ('data subject',)}, {})
    """

    vocabulary: Vocabulary

    @cached_property
    def domains(self) -> DomainTable:
        """Subject areas: keywords, titles, finders. Raises BadTable."""
        return domain_table(self.vocabulary.domains)

    @cached_property
    def authorities(self) -> AuthorityTable:
        """Signals that identify the author. Raises BadTable."""
        return authority_table(self.vocabulary.authorities)

    @cached_property
    def jurisdictions(self) -> JurisdictionTable:
        """Places: titles, parsing, finding. Raises BadTable."""
        return jurisdiction_table(self.vocabulary.jurisdictions)

    @cached_property
    def prototypes(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Domain → prototype sentences, for the workspace's own domains; hashable."""
        return own_prototypes(self.vocabulary.domains)


BUILT_IN_TERMS = WorkspaceTerms(BUILT_IN)
"""The terms without a workspace, for checks of the tables, project tools and tests."""
