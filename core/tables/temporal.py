"""How time touches what is said: signs of each temporal class, and what a truth is without one."""

from collections.abc import Mapping
from functools import cache

from core.documents import TemporalClass, Truth
from core.errors import BadTable
from core.tables.loading import check_keys, table
from core.tables.signs import Sign, signs_of

__all__ = ["temporal_by_truth", "temporal_signs"]


@cache
def temporal_by_truth() -> Mapping[Truth, TemporalClass]:
    """The class a truth has without a sign. Raises BadTable."""
    rows = table("temporal")
    check_keys("temporal", "top level", rows, ["by_truth", *TemporalClass])
    check_keys("temporal", "by_truth", rows["by_truth"], list(Truth))
    try:
        return {Truth(key): TemporalClass(value) for key, value in rows["by_truth"].items()}
    except ValueError as error:
        raise BadTable(f"core/tables/temporal.toml: [by_truth] {error}.", "Correct the row.") from error


@cache
def temporal_signs() -> tuple[Sign, ...]:
    """The signs of every temporal class. Raises BadTable."""
    rows = table("temporal")
    return tuple(sign for c in TemporalClass for sign in signs_of("temporal", c, rows.get(c, {}).get("signs", [])))
