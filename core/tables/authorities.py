"""Who speaks: how likely for each truth, and what in a text tells."""

from collections.abc import Mapping
from functools import cache

from core.documents import Authority, Truth
from core.errors import BadTable
from core.tables.loading import check_keys, table
from core.tables.signs import Sign, signs_of

__all__ = ["authority_prior", "authority_signs"]


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


@cache
def authority_signs() -> tuple[Sign, ...]:
    """The signs of every authority. Raises BadTable."""
    return tuple(sign for a in Authority for sign in signs_of("authorities", a, _table().get(a, {}).get("signs", [])))


def _table() -> Mapping[str, Mapping]:  # type: ignore[type-arg]
    rows = table("authorities")
    check_keys("authorities", "top level", rows, ["prior", *Authority])
    return rows
