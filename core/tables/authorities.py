"""Who speaks: how likely for each truth, and what in a text tells.

The signs are those of core/tables/authorities.toml and the names the workspace adds (core.speaking).
"""

from collections.abc import Mapping
from functools import cache, lru_cache

from core.documents import Authority, Truth
from core.errors import BadTable
from core.speaking import spoken
from core.tables.loading import check_keys, table
from core.tables.signs import Sign, SignFinder, signs_of
from core.vocabulary import AuthorityNames, findable

__all__ = ["authority_finder", "authority_prior", "authority_signs"]

_NAMED_WEIGHT = 2.0  # log-odds: a name the workspace gives weighs as much as the heaviest sign of the table
_NAMED_RULE = "is named so in this workspace's vocabulary"
_KEPT_VOCABULARIES = 16


@cache
def authority_prior() -> Mapping[Truth, Mapping[Authority, float]]:
    """Truth → authority → probability; each truth's add up to 1. Raises BadTable."""
    rows = _table()["prior"]
    check_keys("authorities", "prior", rows, list(Truth))
    for truth in Truth:
        row = rows.get(truth.value, {})
        check_keys("authorities", f"prior.{truth}", row, list(Authority))
        if abs(sum(row.values()) - 1.0) > 1e-9:
            raise BadTable(f"core/tables/authorities.toml: [prior] {truth} must add up to 1.", "Correct the row.")
    return {truth: {a: float(rows[truth].get(a, 0.0)) for a in Authority} for truth in Truth}


def authority_signs() -> tuple[Sign, ...]:
    """The signs of every authority, then the workspace's names. Raises BadTable, StoreFailed."""
    return _told(spoken().authorities)[0]


def authority_finder() -> SignFinder:
    """Finds them all in a text. Raises BadTable, StoreFailed."""
    return _told(spoken().authorities)[1]


@lru_cache(_KEPT_VOCABULARIES)
def _told(names: tuple[AuthorityNames, ...]) -> tuple[tuple[Sign, ...], SignFinder]:
    told = ((each.authority, findable(each.names)) for each in names)
    signs = _built_in_signs() + tuple(Sign(who, _NAMED_WEIGHT, _NAMED_RULE, words) for who, words in told if words)
    return signs, SignFinder(signs)


@cache
def _built_in_signs() -> tuple[Sign, ...]:
    return tuple(sign for a in Authority for sign in signs_of("authorities", a, _table().get(a, {}).get("signs", [])))


def _table() -> Mapping[str, Mapping]:  # type: ignore[type-arg]
    rows = table("authorities")
    check_keys("authorities", "top level", rows, ["prior", *Authority])
    return rows
