"""Well-known entities with their spellings, and the words that determine the type of a capitalised name."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache

from core.domain.entities import Entity, EntityType
from core.domain.errors import BadTable
from core.knowledge.loading import check_keys, table

__all__ = ["NameWords", "known_entities", "name_words"]


@dataclass(frozen=True, slots=True)
class NameWords:
    """Words that determine the type of a capitalised name; each field is described in core/knowledge/entities.toml.

    wordlike, not_terms and technology_kinds are lower case; the others are spelled as in names.
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
    technology_kinds: frozenset[str]


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
    "definitions": {"not_terms": "not_terms", "technology_kinds": "technology_kinds"},
}
"""Table section → key → field of NameWords."""


@cache
def known_entities() -> tuple[Entity, ...]:
    """All entities of the table; other spellings become aliases, sorted. Raises BadTable.

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
                        f"core/knowledge/entities.toml: [known.{kind}] '{spelling}' names "
                        f"'{found[spelling].name}' too.",
                        "Remove it from one of them.",
                    )
                found[spelling] = entity
    return tuple(dict.fromkeys(found.values()))


@cache
def name_words() -> NameWords:
    """The word lists of the other sections. Raises BadTable."""
    rows = _rows()
    words: dict[str, frozenset[str]] = {"wordlike": _words("wordlike", rows.get("wordlike"))}
    for section, keys in _SECTIONS.items():
        check_keys("entities", section, rows.get(section, {}), keys)
        for key, field in keys.items():
            words[field] = _words(f"[{section}] {key}", rows.get(section, {}).get(key))
    return NameWords(**{field.name: words[field.name] for field in fields(NameWords)})


def _words(location: str, listed: object) -> frozenset[str]:
    if not isinstance(listed, list) or not listed or not all(isinstance(word, str) for word in listed):
        raise BadTable(
            f"core/knowledge/entities.toml: {location} must be a list of words.", "Write the words in brackets."
        )
    return frozenset(listed)


def _rows() -> Mapping[str, Mapping]:  # type: ignore[type-arg]
    rows = table("entities")
    check_keys("entities", "top level", rows, ["known", "wordlike", *_SECTIONS])
    return rows
