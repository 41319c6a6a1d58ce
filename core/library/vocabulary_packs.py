"""Vocabularies the project wrote, which a workspace can add with one click."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from core.errors import BadTable
from core.library.vocabulary_text import from_data
from core.tables.loading import table
from core.vocabulary import Vocabulary

__all__ = ["Pack", "packs"]

_TOLD = ("title", "about")


@dataclass(frozen=True, slots=True)
class Pack:
    """A vocabulary with a title and a sentence on what it is about."""

    name: str
    title: str
    about: str
    vocabulary: Vocabulary


@cache
def packs() -> Mapping[str, Pack]:
    """Every pack of core/tables/packs.toml by name, in table order. Raises BadTable, BadRequest naming the wrong key.

    >>> list(packs())
    ['finance', 'privacy', 'procurement']
    """
    found: dict[str, Pack] = {}
    for name, row in table("packs").items():
        title, about = (row.get(key) for key in _TOLD)
        if not isinstance(title, str) or not isinstance(about, str):
            raise BadTable(f"core/tables/packs.toml: [{name}] needs a title and about.", "Add them.")
        words = {key: value for key, value in row.items() if key not in _TOLD}
        found[name] = Pack(name, title, about, from_data(words, f"core/tables/packs.toml [{name}]"))
    return found
