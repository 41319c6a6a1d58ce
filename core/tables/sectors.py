"""The kinds of memory: their titles, and what speaks for each."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from core.documents import Sector
from core.errors import BadTable
from core.tables.loading import check_keys, table

__all__ = ["SectorRow", "sectors"]

_KEYS = ("label", "means", "words", "sentences")


@dataclass(frozen=True, slots=True)
class SectorRow:
    """label: its title; means: the sentence that explains it. words: phrases that speak for it, matched by stems
    ("=word" only as written). sentences: what such a note sounds like."""

    label: str
    means: str
    words: tuple[str, ...]
    sentences: tuple[str, ...]


@cache
def sectors() -> Mapping[Sector, SectorRow]:
    """Every sector's row, in table order, which decides a tie. Raises BadTable."""
    rows = table("sectors")
    names = [sector.value for sector in Sector]
    check_keys("sectors", "top level", rows, names)
    if missing := [name for name in names if name not in rows]:
        raise BadTable(f"core/tables/sectors.toml: [{missing[0]}] is missing.", "Add the section.")
    for name, row in rows.items():
        check_keys("sectors", name, row, _KEYS)
        for key in _KEYS:
            if not row.get(key):
                raise BadTable(f"core/tables/sectors.toml: [{name}] {key} is missing.", "Add it.")
    return {
        Sector(name): SectorRow(row["label"], row["means"], tuple(row["words"]), tuple(row["sentences"]))
        for name, row in rows.items()
    }
