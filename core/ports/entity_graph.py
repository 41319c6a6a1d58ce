"""The entity graph: passages linked by the entities they mention."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from core.domain.documents import Passage
from core.domain.entities import Entity, EntityPage, EntityType, KnownEntity
from core.domain.filters import SearchFilters
from core.ports.stores import PassageIds

__all__ = ["EntityGraph"]


class EntityGraph(Protocol):
    """Which passages mention which entities, for one tenant. Passages that share an entity are linked."""

    def add(self, passages: Sequence[Passage], entities: Sequence[Entity]) -> None:
        """Store the entities that stored passages (id > 0) mention; `entities` gives type and aliases of each name.

        Replaces what was stored for the same documents.
        """
        ...

    def delete(self, document_ids: Sequence[int]) -> None: ...

    def known(self, names: Sequence[str]) -> Mapping[str, KnownEntity]:
        """Spelling → entity, for those of the given names that match an entity of a living passage; without its
        aliases.

        Canonical names match in any case, aliases only as spelled. When several entities share an alias, the one in
        most passages is taken, then the first by name."""
        ...

    def holding(
        self, weights: Mapping[str, float], filters: SearchFilters, among: PassageIds | None, most: int
    ) -> Sequence[tuple[int, tuple[str, ...]]]:
        """At most `most` admissible passages that mention any of these entities, each with all names it mentions.

        weights: canonical name → weight > 0. Order: by the sum of the weights of the entities mentioned, largest first,
        then by id. filters: resolved. among: restricts to these passages as well; None means all.
        """
        ...

    def rows(self, filters: SearchFilters, among: PassageIds | None) -> tuple[int, int]:
        """(passages in the library, passages the filters admit)."""
        ...

    def search(self, part: str, kind: EntityType | None, *, limit: int, offset: int = 0) -> EntityPage:
        """Entities of living passages whose name or alias contains `part`; ignores case, "%" and "_" are literal.
        "" matches every entity. kind: only entities of this type."""
        ...
