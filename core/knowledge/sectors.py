"""Sectors of insights: titles, and the words and sentences that indicate each."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from core.domain.documents import Sector
from core.domain.errors import BadTable
from core.knowledge.loading import check_keys, table

__all__ = ["SectorRow", "sectors"]

_KEYS = ("label", "means", "words", "sentences")


@dataclass(frozen=True, slots=True)
class SectorRow:
    """label: title. means: explanation in one sentence. words: indicative phrases, matched by stem ("=word" only as
    written). sentences: typical examples."""

    label: str
    means: str
    words: tuple[str, ...]
    sentences: tuple[str, ...]


@cache
def sectors() -> Mapping[Sector, SectorRow]:
    """Sector → row, in table order, which breaks ties. Raises BadTable."""
    rows = table("sectors")
    names = [sector.value for sector in Sector]
    check_keys("sectors", "top level", rows, names)
    if missing := [name for name in names if name not in rows]:
        raise BadTable(f"core/knowledge/sectors.toml: [{missing[0]}] is missing.", "Add the section.")
    for name, row in rows.items():
        check_keys("sectors", name, row, _KEYS)
        for key in _KEYS:
            if not row.get(key):
                raise BadTable(f"core/knowledge/sectors.toml: [{name}] {key} is missing.", "Add it.")
    return {
        Sector(name): SectorRow(row["label"], row["means"], tuple(row["words"]), tuple(row["sentences"]))
        for name, row in rows.items()
    }
