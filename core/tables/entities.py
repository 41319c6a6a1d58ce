"""Well-known entities with their spellings, and the words that tell what a capitalised name is."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache

from core.entities import Entity, EntityType
from core.errors import BadTable
from core.tables.loading import check_keys, table

__all__ = ["NameWords", "known_entities", "name_words"]


@dataclass(frozen=True, slots=True)
class NameWords:
    """Words that decide what a capitalised name is; each is described in core/tables/entities.toml.

    wordlike, not_terms: lower case; the others as they are written in names.
    """

    wordlike: frozenset[str]
    organization: frozenset[str]
    law: frozenset[str]
    public: frozenset[str]
    national: frozenset[str]
    abbreviated_law: frozenset[str]
    abbreviated_technology: frozenset[str]
    technical: frozenset[str]
    heads: frozenset[str]
    not_of: frozenset[str]
    honorifics: frozenset[str]
    first_names: frozenset[str]
    not_last: frozenset[str]
    not_terms: frozenset[str]


_SECTIONS: Mapping[str, Mapping[str, str]] = {
    "endings": {
        name: name
        for name in (
            "organization",
            "law",
            "public",
            "national",
            "abbreviated_law",
            "abbreviated_technology",
            "technical",
        )
    },
    "heads": {"organization": "heads", "not_of": "not_of"},
    "person": {name: name for name in ("honorifics", "first_names", "not_last")},
    "definitions": {"not_terms": "not_terms"},
}
"""Table section → its key → the field of NameWords."""


@cache
def known_entities() -> tuple[Entity, ...]:
    """Every entity the table knows; its other spellings, sorted, are its aliases. Raises BadTable.

    >>> next(each for each in known_entities() if "FLSA" in each.aliases).name
    'Fair Labor Standards Act'
    """
    rows = _rows()["known"]
    check_keys("entities", "known", rows, list(EntityType))
    found: dict[str, Entity] = {}
    for kind, names in rows.items():
        for name, spellings in names.items():
            entity = Entity(name, EntityType(kind), tuple(sorted(spellings)))
            for spelling in (name, *spellings):
                if spelling in found:
                    raise BadTable(
                        f"core/tables/entities.toml: [known.{kind}] '{spelling}' names '{found[spelling].name}' too.",
                        "Take it out of one of them.",
                    )
                found[spelling] = entity
    return tuple(dict.fromkeys(found.values()))


@cache
def name_words() -> NameWords:
    """The words of the other sections. Raises BadTable."""
    rows = _rows()
    words: dict[str, frozenset[str]] = {"wordlike": _words("wordlike", rows.get("wordlike"))}
    for section, keys in _SECTIONS.items():
        check_keys("entities", section, rows.get(section, {}), keys)
        for key, field in keys.items():
            words[field] = _words(f"[{section}] {key}", rows.get(section, {}).get(key))
    return NameWords(**{field.name: words[field.name] for field in fields(NameWords)})


def _words(place: str, said: object) -> frozenset[str]:
    if not isinstance(said, list) or not said or not all(isinstance(word, str) for word in said):
        raise BadTable(f"core/tables/entities.toml: {place} must be a list of words.", "Write the words in brackets.")
    return frozenset(said)


def _rows() -> Mapping[str, Mapping]:  # type: ignore[type-arg]
    rows = table("entities")
    check_keys("entities", "top level", rows, ["known", "wordlike", *_SECTIONS])
    return rows
