"""Score profiles, checked: rows of core/tables/profiles.toml, or of a workspace."""

from collections.abc import Mapping
from functools import cache
from math import fsum, isfinite
from typing import Any

from core.errors import BadTable
from core.queries import ScoreProfile
from core.tables.factors import factor_table
from core.tables.loading import check_keys, table

__all__ = ["check_profile", "parse_profiles", "profiles"]

_KEYS = ("weights", "multipliers", "threshold", "floor", "max_results", "half_life_days", "version")


@cache
def profiles() -> Mapping[str, ScoreProfile]:
    """core/tables/profiles.toml by name, the default first. Raises BadTable naming file and key."""
    return parse_profiles(table("profiles"))


def parse_profiles(raw: Mapping[str, Any], file: str = "core/tables/profiles.toml") -> Mapping[str, ScoreProfile]:
    """Checked profiles from parsed TOML. Raises BadTable naming file and key."""
    found = {}
    for name, row in raw.items():
        check_keys("profiles", name, row, _KEYS)
        multipliers = tuple(row.get("multipliers", ()))
        given = {key: row[key] for key in _KEYS[2:] if key in row}
        found[name] = check_profile(ScoreProfile(name, dict(row.get("weights", {})), multipliers, **given), file)
    return found


def check_profile(profile: ScoreProfile, file: str = "profile") -> ScoreProfile:
    """The profile itself, when it is sound.

    Raises BadTable naming file and key: an unknown factor, a negative weight, weights that do not sum to 1, a threshold
    or floor outside [0, 1].
    """
    known = factor_table().rows
    for key, names in (("weights", profile.weights), ("multipliers", profile.multipliers)):
        for factor in names:
            if factor not in known:
                raise _bad(
                    file, profile, key, f"names the unknown factor '{factor}'", f"Factors are: {', '.join(known)}."
                )
    for factor, weight in profile.weights.items():
        if not isfinite(weight) or weight < 0:
            raise _bad(file, profile, f"weights.{factor}", f"is {weight}", "A weight is at least 0.")
    total = fsum(profile.weights.values())
    if abs(total - 1) > 1e-9:
        raise _bad(file, profile, "weights", f"sum to {total:g}", "They must sum to 1.")
    for key, value in (("threshold", profile.threshold), ("floor", profile.floor)):
        if not 0 <= value <= 1:
            raise _bad(file, profile, key, f"is {value}", "It must be in [0, 1].")
    if profile.max_results < 1 or profile.half_life_days <= 0:
        raise _bad(file, profile, "max_results, half_life_days", "must be above 0", "Correct them.")
    return profile


def _bad(file: str, profile: ScoreProfile, key: str, problem: str, hint: str) -> BadTable:
    return BadTable(f"{file}: [{profile.name}] '{key}' {problem}.", hint)
