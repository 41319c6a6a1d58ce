"""Issuing authorities: their probability per truth, and the text signals that identify them.

Built-in signals: core/knowledge/authorities.toml. A workspace adds names (WorkspaceTerms.authorities).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from core.domain.documents import Authority, Truth
from core.domain.errors import BadTable
from core.domain.vocabulary import AuthorityNames, findable
from core.knowledge.label_signals import LabelSignal, LabelSignalFinder, signals_of
from core.knowledge.loading import check_keys, table

__all__ = ["AuthorityTable", "authority_prior", "authority_table"]

_NAME_WEIGHT = 2.0  # log-odds: a workspace's own name weighs as much as the heaviest signal of the table
_NAME_RULE = "is named so in this workspace's vocabulary"
_CACHED_TABLES = 16  # more than the libraries and drafts one process has open; chosen by hand


@cache
def authority_prior() -> Mapping[Truth, Mapping[Authority, float]]:
    """Truth → authority → probability; the values of each truth sum to 1. Raises BadTable."""
    rows = _table()["prior"]
    check_keys("authorities", "prior", rows, list(Truth))
    for truth in Truth:
        row = rows.get(truth.value, {})
        check_keys("authorities", f"prior.{truth}", row, list(Authority))
        if abs(sum(row.values()) - 1.0) > 1e-9:
            raise BadTable(f"core/knowledge/authorities.toml: [prior] {truth} must add up to 1.", "Correct the row.")
    return {truth: {a: float(rows[truth].get(a, 0.0)) for a in Authority} for truth in Truth}


@dataclass(frozen=True, slots=True, eq=False)
class AuthorityTable:
    """The authority signals of one workspace, built-in ones first, with a finder for all of them."""

    signals: tuple[LabelSignal, ...]
    finder: LabelSignalFinder


@lru_cache(_CACHED_TABLES)
def authority_table(names: tuple[AuthorityNames, ...]) -> AuthorityTable:
    """The built-in signals plus a workspace's names. Raises BadTable."""
    phrases = ((each.authority, findable(each.names)) for each in names)
    own = tuple(LabelSignal(authority, _NAME_WEIGHT, _NAME_RULE, words) for authority, words in phrases if words)
    signals = _built_in_signals() + own
    return AuthorityTable(signals, LabelSignalFinder(signals))


@cache
def _built_in_signals() -> tuple[LabelSignal, ...]:
    return tuple(
        signal for a in Authority for signal in signals_of("authorities", a, _table().get(a, {}).get("signs", []))
    )


def _table() -> Mapping[str, Mapping]:  # type: ignore[type-arg]
    rows = table("authorities")
    check_keys("authorities", "top level", rows, ["prior", *Authority])
    return rows
