"""The checked gap table: thresholds of coverage, severity of gaps, and what to obtain."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

from core.domain.coverage import GapKind
from core.domain.documents import Truth
from core.domain.errors import BadTable
from core.domain.queries import ScoreProfile
from core.knowledge.loading import check_keys, table

__all__ = ["SEVERITIES", "EvidenceRow", "GapRow", "GapTable", "evidence_row", "gap_table", "read_gap_table"]

SEVERITIES = ("high", "medium", "low")
"""Worst first."""


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """How coverage evidence is weighed.

    covered, partial: thresholds of the evidence score, in [0, 1]. floor: lower scores count as 0.
    bias, meaning, words: coefficients of the logistic for configuration rows and requirements. meaning_floor,
    words_floor: of these, one below either is unrelated. passages: how many of each leg are scored per cell. shown:
    how many sentences a cell keeps as evidence, and as near misses. old_years: older evidence is flagged as doubtful.
    """

    covered: float
    partial: float
    floor: float
    bias: float
    meaning: float
    words: float
    meaning_floor: float
    words_floor: float
    passages: int
    shown: int
    old_years: int


@dataclass(frozen=True, slots=True)
class GapRow:
    """A missing truth: severity (one of SEVERITIES), what to obtain, and who is likely to have it."""

    severity: str
    obtain: str
    source: str


@dataclass(frozen=True, slots=True)
class GapTable:
    """core/knowledge/gaps.toml as a value."""

    evidence: EvidenceRow
    truths: Mapping[Truth, GapRow]
    configuration: GapRow

    def row(self, kind: GapKind) -> GapRow:
        """The row for a gap of this kind."""
        return self.configuration if kind is GapKind.CONFIGURATION else self.truths[kind.truth]


def evidence_row(profile: ScoreProfile) -> EvidenceRow:
    """Evidence settings for a profile: its own thresholds, else the table's; `partial` never exceeds `covered`, nor
    `floor` `partial`."""
    row = gap_table().evidence
    covered = row.covered if profile.covered is None else profile.covered
    partial = min(row.partial if profile.partial is None else profile.partial, covered)
    return replace(row, covered=covered, partial=partial, floor=min(row.floor, partial))


def read_gap_table(raw: Mapping[str, Any]) -> GapTable:
    """Parses and checks the table. Raises BadTable naming row and key."""
    check_keys("gaps", "", raw, ("evidence", "truth", "configuration"))
    truths = _truths(raw.get("truth", {}))
    return GapTable(_evidence(raw.get("evidence", {})), truths, _row("configuration", raw.get("configuration")))


@cache
def gap_table() -> GapTable:
    """The built-in table. Raises BadTable."""
    return read_gap_table(table("gaps"))


def _evidence(raw: Mapping[str, Any]) -> EvidenceRow:
    names = [field.name for field in fields(EvidenceRow)]
    check_keys("gaps", "evidence", raw, names)
    for name in names:
        if not isinstance(raw.get(name), int | float) or isinstance(raw[name], bool):
            raise _bad("evidence", f"'{name}' must be a number")
    row = EvidenceRow(**{name: raw[name] for name in names})
    if not 0 <= row.floor <= row.partial:
        raise _bad("evidence", "0 <= floor <= partial must hold")
    if not 0 < row.partial <= row.covered <= 1:
        raise _bad("evidence", "0 < partial <= covered <= 1 must hold")
    if row.passages < 1 or row.shown < 1:
        raise _bad("evidence", "'passages' and 'shown' must be at least 1")
    return row


def _truths(raw: Mapping[str, Any]) -> Mapping[Truth, GapRow]:
    check_keys("gaps", "truth", raw, list(Truth))
    return {truth: _row(f"truth.{truth}", raw.get(truth.value)) for truth in Truth}


def _row(name: str, row: Mapping[str, Any] | None) -> GapRow:
    if row is None:
        raise _bad(name, "is missing")
    check_keys("gaps", name, row, ("severity", "obtain", "from"))
    if row.get("severity") not in SEVERITIES:
        raise _bad(name, f"'severity' must be one of {', '.join(SEVERITIES)}")
    if not row.get("obtain") or not row.get("from"):
        raise _bad(name, "'obtain' and 'from' must say something")
    return GapRow(row["severity"], row["obtain"], row["from"])


def _bad(row: str, problem: str) -> BadTable:
    return BadTable(f"core/knowledge/gaps.toml: [{row}] {problem}.", "Correct the row.")
