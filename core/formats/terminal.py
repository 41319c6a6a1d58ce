"""Results and metrics as plain text for a terminal."""

import json
from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

from core.domain.documents import Document
from core.domain.errors import FivefoldError

__all__ = ["aligned", "grouped", "json_text", "outcome_text", "plain", "printable"]


def printable(value: Any) -> str:
    """A value for display: three decimals, "–" for a missing value.

    >>> printable(0.85714), printable(float("nan")), printable(12), printable(None)
    ('0.857', '–', '12', '–')
    """
    if value is None or (isinstance(value, float) and isnan(value)):
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def plain(value: Any) -> Any:
    """Data that JSON can represent: NaN becomes null, tuples become lists.

    >>> plain({"ece": float("nan"), "wrong": (1, 2)})
    {'ece': None, 'wrong': [1, 2]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and isnan(value) else value


def json_text(value: Any) -> str:
    """Data as indented JSON, non-ASCII characters unescaped."""
    return json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False)


def aligned(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table with a header; numbers are right-aligned, text left-aligned.

    >>> print(aligned(("leg", "ndcg"), [("dense", 0.4), ("sparse", 0.39)]))
    leg      ndcg
    dense   0.400
    sparse  0.390
    """
    numeric = [all(not isinstance(row[i], str) for row in rows) for i in range(len(header))]
    lines = [list(header), *([printable(value) for value in row] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    placed = [
        [
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(line, widths, numeric, strict=True)
        ]
        for line in lines
    ]
    return "\n".join("  ".join(line).rstrip() for line in placed)


def grouped(name: str, groups: Mapping[str, Mapping[str, Any]]) -> str:
    """A table of group → measure → value, one row per group."""
    columns = list(dict.fromkeys(column for values in groups.values() for column in values))
    rows = [[group, *(values.get(column) for column in columns)] for group, values in groups.items()]
    return aligned([name, *columns], rows)


def outcome_text(name: str, outcome: Document | FivefoldError) -> str:
    """One line on the result of a file upload."""
    if isinstance(outcome, FivefoldError):
        return f"failed   {name}: {outcome}"
    if outcome.failure:
        return f"failed   {name}: {outcome.failure} {outcome.remedy}".rstrip()
    truth = outcome.labels.truth
    known = f"{truth.value} (p {truth.probability:.2f})" if truth.value else f"unknown truth: {truth.reason}"
    stored = f" [here already as {outcome.name}]" if outcome.name != name else ""
    warnings = "".join(f" ! {warning}" for warning in outcome.warnings)
    size = f"{_count(outcome.pages, 'page')}, {_count(outcome.passages, 'passage')}"
    return f"{outcome.state:8} {name}{stored}: {known}, {size}{warnings}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
