"""What each clue tells of every truth: weights fitted on labelled documents, and where none is fitted the table's own.

`cli.py evaluate fit-classifier` writes core/tables/fitted.toml (core.tuning.fitting).
"""

from collections.abc import Mapping
from functools import cache

from core.documents import Truth
from core.errors import BadTable
from core.tables.decisions import weighings
from core.tables.loading import check_keys, table
from core.tables.manners import manners
from core.tables.truths import truths

__all__ = ["clue_weights", "given_weights", "lean"]

_SECTIONS = ("lean", "weights")


@cache
def given_weights() -> Mapping[str, Mapping[str, float]]:
    """Clue key → truth → log-odds as the tables give them: a sign speaks for its own truth only, a manner for none."""
    weighing = weighings()["truth"]
    given: dict[str, dict[str, float]] = {}
    for truth, row in truths().items():
        for kind, signs in (("name", row.names), ("sign", row.signs)):
            given |= {f"{kind} {truth}: {sign.rule}": {truth.value: sign.weight} for sign in signs}
        given[f"meaning: {truth}"] = {truth.value: weighing.meaning}
        given[f"foreign meaning: {truth}"] = {truth.value: weighing.meaning_of(native=False)}
    return given | {f"manner: {manner.rule}": {} for manner in manners()}


@cache
def clue_weights() -> Mapping[str, Mapping[str, float]]:
    """Clue key → truth → log-odds ≥ 0, the least of them 0: fitted where fitted, else as given. Raises BadTable."""
    rows = _table().get("weights", {})
    check_keys("fitted", "weights", rows, given_weights())
    return {key: _row(key, rows.get(key, given)) for key, given in given_weights().items()}


@cache
def lean() -> Mapping[str, float]:
    """Truth → log-odds ≥ 0 before a word is read. Raises BadTable."""
    return _row("lean", _table().get("lean", {}))


def _row(key: str, row: Mapping[str, float]) -> Mapping[str, float]:
    check_keys("fitted", key, row, list(Truth))
    if min(row.values(), default=0) < 0:
        raise BadTable(f"core/tables/fitted.toml: '{key}' must hold numbers of 0 or more.", "Fit the classifier again.")
    return {truth: float(weight) for truth, weight in row.items()}


def _table() -> Mapping[str, Mapping]:  # type: ignore[type-arg]
    rows = table("fitted")
    check_keys("fitted", "top level", rows, _SECTIONS)
    return rows
