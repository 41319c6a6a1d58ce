"""How signs, names and meaning are weighed into one decision per label field."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache

from core.errors import BadTable
from core.tables.loading import check_keys, table

__all__ = ["Weighing", "weighings"]


@dataclass(frozen=True, slots=True)
class Weighing:
    """opening_share: what a sign in the opening adds, as a share of its weight.
    words_per_sign: one sign is expected in so many words.
    meaning: log-odds when every sampled sentence is nearest to one value.
    temperature: above 1 is humbler. threshold: least probability for a label.
    doubt_cap: the most a law or policy label may claim on one kind of evidence.
    """

    opening_share: float
    words_per_sign: float
    meaning: float
    temperature: float
    threshold: float
    doubt_cap: float


@cache
def weighings() -> Mapping[str, Weighing]:
    """Label field → its weighing. Raises BadTable."""
    rows = table("decisions")
    check_keys("decisions", "top level", rows, ("truth", "authority", "domain"))
    names = [field.name for field in fields(Weighing)]
    for field, row in rows.items():
        check_keys("decisions", field, row, names)
        missing = [name for name in names if name not in row]
        if missing:
            raise BadTable(f"core/tables/decisions.toml: [{field}] lacks '{missing[0]}'.", "Add it.")
    return {field: Weighing(**{name: float(row[name]) for name in names}) for field, row in rows.items()}
