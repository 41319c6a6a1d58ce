"""Sentences that sound like a label, written by this project; the embedding compares with them."""

from collections.abc import Mapping
from functools import cache

from core.documents import Authority, Truth
from core.errors import BadTable
from core.tables.domains import domains
from core.tables.loading import check_keys, table

__all__ = ["prototypes"]


@cache
def prototypes() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Field ("truth", "authority", "domain") → value → its sentences. Raises BadTable."""
    rows = table("prototypes")
    allowed: dict[str, list[str]] = {
        "truth": [t.value for t in Truth],
        "authority": [a.value for a in Authority],
        "domain": list(domains()),
    }
    check_keys("prototypes", "top level", rows, allowed)
    for field, values in rows.items():
        check_keys("prototypes", field, values, allowed[field])
        for value, sentences in values.items():
            if not sentences or not all(isinstance(sentence, str) and sentence for sentence in sentences):
                raise BadTable(
                    f"core/tables/prototypes.toml: [{field}] {value} must list sentences.", "Correct the row."
                )
    return {field: {value: tuple(s) for value, s in values.items()} for field, values in rows.items()}
