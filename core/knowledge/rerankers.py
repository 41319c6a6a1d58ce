"""The checked table of rerankers: model, what it reads, deadline and weight."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from core.domain.errors import BadTable
from core.knowledge.loading import check_keys, table

__all__ = ["INCLUDED", "RERANKERS", "RerankTable", "RerankerRow", "parse_rerankers", "rerank_table"]

RERANKERS = ("included", "fast", "balanced", "accurate")
INCLUDED = "included"
"""The reranker that needs no download, and its model."""
_NUMBERS = ("max_tokens", "deadline_ms", "candidates", "characters")
_WORDS = ("label", "means", "model")
_SWITCHES, _SHARE = ("english_only",), "share"


@dataclass(frozen=True, slots=True)
class RerankerRow:
    """One reranker. label, means: shown to users. model: a Hugging Face name, a folder or INCLUDED. max_tokens:
    for question and text together. deadline_ms: time limit per question. candidates: maximum passages read, ≥ 1.
    characters: of text read at a time, ≥ 1. english_only: whether passages in other languages are left out. share:
    weight of the factor `rerank` in a profile that has none, in (0, 1)."""

    name: str
    label: str
    means: str
    model: str
    max_tokens: int
    deadline_ms: int
    candidates: int
    characters: int
    english_only: bool
    share: float


@dataclass(frozen=True, slots=True)
class RerankTable:
    """All rerankers by name."""

    rows: Mapping[str, RerankerRow]


@cache
def rerank_table() -> RerankTable:
    """core/knowledge/rerankers.toml. Raises BadTable naming file and key."""
    return parse_rerankers(table("rerankers"))


def parse_rerankers(raw: Mapping[str, Any]) -> RerankTable:
    """Parses and checks a table of rerankers. Raises BadTable naming file and key."""
    check_keys("rerankers", "top level", raw, RERANKERS)
    for name in RERANKERS:
        if name not in raw:
            raise BadTable(f"core/knowledge/rerankers.toml: [{name}] is missing.", "Add it.")
    return RerankTable({name: _row(name, raw[name]) for name in RERANKERS})


def _row(name: str, raw: Mapping[str, Any]) -> RerankerRow:
    check_keys("rerankers", name, raw, (*_WORDS, *_NUMBERS, *_SWITCHES, _SHARE))
    for key in _WORDS:
        if not isinstance(raw.get(key), str) or not raw[key]:
            raise BadTable(f"core/knowledge/rerankers.toml: [{name}] has no '{key}'.", "Add it, in quotes.")
    for key in _SWITCHES:
        if not isinstance(raw.get(key), bool):
            raise BadTable(
                f"core/knowledge/rerankers.toml: [{name}] '{key}' must be true or false, not {raw.get(key)!r}.",
                "Correct it.",
            )
    share = raw.get(_SHARE)
    if not isinstance(share, float) or not 0 < share < 1:
        raise BadTable(
            f"core/knowledge/rerankers.toml: [{name}] 'share' must be in (0, 1), not {share!r}.", "Correct it."
        )
    words, numbers = (raw[key] for key in _WORDS), (_integer(name, raw, key) for key in _NUMBERS)
    return RerankerRow(name, *words, *numbers, *(raw[key] for key in (*_SWITCHES, _SHARE)))


def _integer(row: str, raw: Mapping[str, Any], key: str) -> int:
    value = raw.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise BadTable(
            f"core/knowledge/rerankers.toml: [{row}] '{key}' must be a whole number above 0, not {value!r}.",
            "Correct it.",
        )
    return value
