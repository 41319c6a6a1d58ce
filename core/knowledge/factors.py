"""The checked table of ranking factors: their parameters, and the value used when a fact is unknown."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from core.domain.documents import Authority, Sector, SourceType, TemporalClass
from core.domain.errors import BadTable
from core.knowledge.loading import check_keys, table

__all__ = ["FactorRow", "FactorTable", "factor_table", "parse_factors"]

_NUMBERS: Mapping[str, tuple[str, ...]] = {
    "similarity": (),
    "keyword": (),
    "keyword_overlap": ("unknown",),
    "term_coverage": ("unknown",),
    "best_sentence_similarity": ("unknown",),
    "answer_kind": ("unknown",),
    "synonym_match": ("least", "wording", "unknown"),
    "phrase_match": ("unknown",),
    "fusion": ("unknown",),
    "rerank": ("unknown",),
    "authority": ("unknown",),
    "domain": ("same", "unknown", "different"),
    "recency": ("older", "unknown", "future"),
    "half_life": ("unknown", "future"),
    "freshness": ("unknown", "future"),
    "jurisdiction": ("exact", "enclosing", "state_for_federal", "unknown", "other_country", "other_state"),
    "date_match": ("inside", "unknown", "outside"),
    "label_match": ("certain", "uncertain"),
    "trend": ("unknown", "not_asked"),
    "utility": ("distinct_weight",),
    "strength": ("least", "documents"),
    "routing": ("unknown",),
    "temporal": ("unknown",),
}
_SCALES: Mapping[str, tuple[str, ...]] = {
    "synonym_match": ("words",),
    "half_life": ("days",),
    "freshness": ("scale_days",),
    "trend": ("half_life_days",),
    "utility": ("full_at",),
}
_MAPS: Mapping[str, tuple[str, type[StrEnum]]] = {
    "half_life": ("source_days", SourceType),
    "strength": ("base_days", Sector),
    "temporal": ("values", TemporalClass),
}


@dataclass(frozen=True, slots=True)
class FactorRow:
    """One factor: `label` and `means` are shown to users; `numbers` and `by_value` parametrise the formula."""

    name: str
    label: str
    means: str
    numbers: Mapping[str, float]
    by_value: Mapping[str, float]

    def __getitem__(self, key: str) -> float:
        return self.numbers[key]


@dataclass(frozen=True, slots=True)
class FactorTable:
    """All factors. authority_matrix: category → authority → value. recency_steps: (age in days, value), ascending."""

    rows: Mapping[str, FactorRow]
    authority_matrix: Mapping[str, Mapping[str, float]]
    recency_steps: tuple[tuple[float, float], ...]

    def __getitem__(self, name: str) -> FactorRow:
        return self.rows[name]


@cache
def factor_table() -> FactorTable:
    """core/knowledge/factors.toml. Raises BadTable naming file and key."""
    return parse_factors(table("factors"))


def parse_factors(raw: Mapping[str, Any]) -> FactorTable:
    """Parses and checks a factor table. Raises BadTable naming file and key."""
    check_keys("factors", "factors", raw, _NUMBERS)
    missing = [name for name in _NUMBERS if name not in raw]
    if missing:
        raise BadTable(f"core/knowledge/factors.toml: the factor [{missing[0]}] is missing.", "Add it.")
    rows = {name: _row(name, raw[name]) for name in _NUMBERS}
    matrix = raw["authority"].get("matrix", {})
    for category, values in matrix.items():
        row = f"authority.matrix.{category}"
        check_keys("factors", row, values, list(Authority))
        for authority in Authority:
            _number("factors", row, values, authority)
    steps = tuple((float(days), float(value)) for days, value in raw["recency"].get("steps_days", ()))
    if list(steps) != sorted(steps) or not all(0 <= value <= 1 for _, value in steps):
        raise BadTable(
            "core/knowledge/factors.toml: [recency] steps_days must ascend, with values in [0, 1].", "Sort them."
        )
    return FactorTable(rows, {name: dict(values) for name, values in matrix.items()}, steps)


def _row(name: str, raw: Mapping[str, Any]) -> FactorRow:
    map_key, map_values = _MAPS.get(name, ("", None))
    extra = {"authority": ("matrix",), "recency": ("steps_days",)}.get(name, ())
    scales = _SCALES.get(name, ())
    check_keys(
        "factors", name, raw, ("label", "means", *_NUMBERS[name], *scales, *extra, *([map_key] if map_key else []))
    )
    for key in ("label", "means"):
        if not raw.get(key):
            raise BadTable(f"core/knowledge/factors.toml: [{name}] has no '{key}'.", "Every factor explains itself.")
    numbers = {key: _number("factors", name, raw, key) for key in _NUMBERS[name]}
    numbers |= {key: float(raw[key]) for key in scales}
    by_value: dict[str, float] = {}
    if map_values is not None:
        check_keys("factors", f"{name}] {map_key} [", raw.get(map_key, {}), list(map_values))
        by_value = {str(key): float(value) for key, value in raw.get(map_key, {}).items()}
    return FactorRow(name, raw["label"], raw["means"], numbers, by_value)


def _number(file: str, row: str, raw: Mapping[str, Any], key: str) -> float:
    value = raw.get(key)
    if not isinstance(value, int | float) or not 0 <= value <= 1:
        raise BadTable(f"core/knowledge/{file}.toml: [{row}] '{key}' must be in [0, 1], not {value!r}.", "Correct it.")
    return float(value)
