"""The checked table of rerankers: model, deadline and weight."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from core.domain.errors import BadTable
from core.knowledge.loading import check_keys, table

__all__ = ["RERANKERS", "RerankTable", "RerankerRow", "parse_rerankers", "rerank_table"]

RERANKERS = ("fast", "balanced", "accurate")
_READING = ("share", "candidates", "characters")
_NUMBERS = ("max_tokens", "deadline_ms")
_WORDS = ("label", "means", "model")


@dataclass(frozen=True, slots=True)
class RerankerRow:
    """One reranker. label, means: shown to users. model: a Hugging Face name or a folder. max_tokens: for question and
    passage together. deadline_ms: time limit per question."""

    name: str
    label: str
    means: str
    model: str
    max_tokens: int
    deadline_ms: int


@dataclass(frozen=True, slots=True)
class RerankTable:
    """All rerankers by name. share: weight of the factor `rerank` in a profile that has none, in (0, 1). candidates:
    maximum passages reranked, ≥ 1. characters: maximum read of each passage, ≥ 1."""

    rows: Mapping[str, RerankerRow]
    share: float
    candidates: int
    characters: int


@cache
def rerank_table() -> RerankTable:
    """core/knowledge/rerankers.toml. Raises BadTable naming file and key."""
    return parse_rerankers(table("rerankers"))


def parse_rerankers(raw: Mapping[str, Any]) -> RerankTable:
    """Parses and checks a table of rerankers. Raises BadTable naming file and key."""
    check_keys("rerankers", "top level", raw, ("reading", *RERANKERS))
    for name in ("reading", *RERANKERS):
        if name not in raw:
            raise BadTable(f"core/knowledge/rerankers.toml: [{name}] is missing.", "Add it.")
    reading = raw["reading"]
    check_keys("rerankers", "reading", reading, _READING)
    share = reading.get("share")
    if not isinstance(share, float) or not 0 < share < 1:
        raise BadTable(
            f"core/knowledge/rerankers.toml: [reading] 'share' must be in (0, 1), not {share!r}.", "Correct it."
        )
    return RerankTable(
        {name: _row(name, raw[name]) for name in RERANKERS},
        share,
        _integer("reading", reading, "candidates"),
        _integer("reading", reading, "characters"),
    )


def _row(name: str, raw: Mapping[str, Any]) -> RerankerRow:
    check_keys("rerankers", name, raw, (*_WORDS, *_NUMBERS))
    for key in _WORDS:
        if not isinstance(raw.get(key), str) or not raw[key]:
            raise BadTable(f"core/knowledge/rerankers.toml: [{name}] has no '{key}'.", "Add it, in quotes.")
    words, numbers = (raw[key] for key in _WORDS), (_integer(name, raw, key) for key in _NUMBERS)
    return RerankerRow(name, *words, *numbers)


def _integer(row: str, raw: Mapping[str, Any], key: str) -> int:
    value = raw.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise BadTable(
            f"core/knowledge/rerankers.toml: [{row}] '{key}' must be a whole number above 0, not {value!r}.",
            "Correct it.",
        )
    return value
