"""What passages name: entities of a closed set of types, and the graph of the passages that share them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import log
from typing import Protocol

from core.documents import Passage
from core.filters import SearchFilters
from core.ports import PassageIds

__all__ = ["Entity", "EntityGraph", "EntityPage", "EntityType", "KnownEntity", "rarity"]


class EntityType(StrEnum):
    """What kind of thing is named. Closed; the order is the order of every list of choices.

    FORM holds numbered papers of an agency, its publications too; TECHNOLOGY holds products, systems and technical
    standards; CONCEPT holds terms a text defines, and the well-known ones of core/tables/entities.toml.
    """

    ORGANIZATION = "organization"
    PERSON = "person"
    LAW = "law"
    FORM = "form"
    MONEY = "money"
    DATE = "date"
    PLACE = "place"
    TECHNOLOGY = "technology"
    CONCEPT = "concept"


@dataclass(frozen=True, slots=True)
class Entity:
    """Something named, under its one canonical name: "Form W-2", "26 U.S.C. § 3402", "Fair Labor Standards Act".

    aliases: short forms that stand for it in this very spelling ("FLSA"), sorted.
    """

    name: str
    type: EntityType
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownEntity:
    """An entity of the library. passages ≥ 1: how many living passages name it."""

    entity: Entity
    passages: int


@dataclass(frozen=True, slots=True)
class EntityPage:
    """One page of entities, those in most passages first, then by name. total: how many there are on all pages."""

    entries: tuple[KnownEntity, ...]
    total: int


class EntityGraph(Protocol):
    """Which passages name what, for one tenant. Passages are joined by the entities they share."""

    def add(self, passages: Sequence[Passage], entities: Sequence[Entity]) -> None:
        """Keep what stored passages (id > 0) name; `entities` tells the type and aliases of every name in them.

        What was kept of the same documents is replaced.
        """
        ...

    def delete(self, document_ids: Sequence[int]) -> None: ...

    def known(self, names: Sequence[str]) -> Mapping[str, KnownEntity]:
        """Those of the asked spellings that name an entity of a living passage → that entity, its aliases left out.

        A canonical name is known in any capitals, an alias only as it is spelled. Of several entities with one alias,
        the one in most passages is meant, then the first by name.
        """
        ...

    def holding(
        self, weights: Mapping[str, float], filters: SearchFilters, among: PassageIds | None, most: int
    ) -> Sequence[tuple[int, tuple[str, ...]]]:
        """At most `most` admissible passages that name any of these entities, each with all names it holds.

        weights: canonical name → weight > 0; passages come by the sum of the weights they hold, largest first, then by
        id. filters: resolved. among: of these passages only, beside the filters; None means all.
        """
        ...

    def rows(self, filters: SearchFilters, among: PassageIds | None) -> tuple[int, int]:
        """(passages in the library, those that may be found)."""
        ...

    def search(self, part: str, kind: EntityType | None, *, limit: int, offset: int = 0) -> EntityPage:
        """Entities of living passages whose name or alias holds `part`, whatever its capitals, "%" and "_" as they are;
        "" for every entity. kind: of this type only."""
        ...


def rarity(passages: int, library: int) -> float:
    """How much it says that two passages share an entity: ln(1 + N/n) / ln(1 + N), in (0, 1]; 1 for n = 1.

    passages: n ≥ 1, how many name it. library: N, how many there are. It is the inverse document frequency of BM25
    (Robertson & Zaragoza 2009) without its correction, divided by its largest value.

    >>> [round(rarity(n, 1000), 2) for n in (1, 10, 100, 1000)]
    [1.0, 0.67, 0.35, 0.1]
    """
    held, there = max(passages, 1), max(library, passages, 1)
    return log(1 + there / held) / log(1 + there)
