"""Named entities of a closed set of types, and their rarity in the entity graph."""

from dataclasses import dataclass
from enum import StrEnum
from math import log

__all__ = ["Entity", "EntityMentions", "EntityPage", "EntityType", "KnownEntity", "MentionPage", "rarity"]


class EntityType(StrEnum):
    """Type of an entity. Closed; the order is that of every list of choices.

    FORM: an agency's numbered forms and publications; TECHNOLOGY: products, systems and technical standards; CONCEPT:
    terms defined in a text, and the well-known ones of core/knowledge/entities.toml."""

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
    """A named entity with its canonical name: "Form W-2", "26 U.S.C. § 3402", "Fair Labor Standards Act".

    aliases: short forms, matched exactly as spelled ("FLSA"), sorted.
    """

    name: str
    type: EntityType
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownEntity:
    """An entity of the library. passages ≥ 1: number of living passages that mention it."""

    entity: Entity
    passages: int


@dataclass(frozen=True, slots=True)
class EntityPage:
    """One page of entities, most passages first, then by name. total: number of entities on all pages."""

    entries: tuple[KnownEntity, ...]
    total: int


@dataclass(frozen=True, slots=True)
class EntityMentions:
    """A living document that mentions an entity. passages ≥ 1: in how many passages; first: the id of the first."""

    document_id: int
    passages: int
    first: int


@dataclass(frozen=True, slots=True)
class MentionPage:
    """One page of the documents that mention an entity, most passages first, then the newest. total: on all pages."""

    entries: tuple[EntityMentions, ...]
    total: int


def rarity(passages: int, library: int) -> float:
    """Weight of a shared entity: ln(1 + N/n) / ln(1 + N), in (0, 1]; 1 for n = 1.

    passages: n ≥ 1, passages that mention it. library: N, all passages. It is the inverse document frequency of BM25
    (Robertson & Zaragoza 2009) without its correction, divided by its maximum.

    >>> [round(rarity(n, 1000), 2) for n in (1, 10, 100, 1000)]
    [1.0, 0.67, 0.35, 0.1]
    """
    mentions, total = max(passages, 1), max(library, passages, 1)
    return log(1 + total / mentions) / log(1 + total)
