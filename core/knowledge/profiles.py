"""Parses and checks score profiles; the built-in ones are core/knowledge/profiles.toml."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from math import fsum, inf
from typing import Any, TypeGuard

from core.domain.embedding_models import DEFAULT_NAME, ModelInUse
from core.domain.errors import BadRequest, BadTable
from core.domain.profiles import current_factor_names
from core.domain.queries import LegWeights, ScoreProfile
from core.knowledge.factors import factor_table
from core.knowledge.gaps import gap_table
from core.knowledge.loading import table

__all__ = [
    "BUILT_IN",
    "BuiltInProfiles",
    "built_in_for_another",
    "check_profile",
    "fitted_for_another",
    "parse_profiles",
    "profiles",
]

_FILE = "core/knowledge/profiles.toml"

_KEYS = tuple(field.name for field in fields(ScoreProfile) if field.name != "name")

_LEGS = tuple(field.name for field in fields(LegWeights))


@dataclass(frozen=True, slots=True)
class _Limit:
    """The range of a key: from `least` (exclusive if `above`) to `most`."""

    least: float = 0
    most: float = inf
    above: bool = False
    integer: bool = False
    optional: bool = False

    def holds(self, value: object) -> bool:
        if value is None:
            return self.optional
        if not _is_number(value) or (self.integer and not isinstance(value, int)):
            return False
        return self.least <= value <= self.most and not (self.above and value == self.least)

    def __str__(self) -> str:
        kind = "a whole number" if self.integer else "a number"
        if self.most == inf:
            return f"{kind} {'above' if self.above else 'of at least'} {self.least}"
        return f"{kind} in {'(' if self.above else '['}{self.least}, {self.most}]"


_LIMITS = {
    "threshold": _Limit(0, 1),
    "floor": _Limit(0, 1),
    "max_results": _Limit(1, 100, integer=True),
    "half_life_days": _Limit(above=True, optional=True),
    "fusion_k": _Limit(1, 1000, integer=True),
    "routing_outside": _Limit(0, 1, optional=True),
    "covered": _Limit(0, 1, above=True, optional=True),
    "partial": _Limit(0, 1, above=True, optional=True),
    "version": _Limit(0, integer=True),
}

_WEIGHT, _STRENGTH, _LEG = _Limit(0, 1), _Limit(0, 1, above=True), _Limit()

_FLOATS = tuple(key for key, limit in _LIMITS.items() if not limit.integer)


@dataclass(frozen=True, slots=True)
class _ProfileProblem:
    """What is wrong with a key, and what is allowed."""

    key: str
    what: str
    hint: str


@cache
def profiles() -> Mapping[str, ScoreProfile]:
    """core/knowledge/profiles.toml by name, the default first. Raises BadTable naming file and key."""
    return parse_profiles(table("profiles"))


def parse_profiles(raw: Mapping[str, Any], file: str = _FILE) -> Mapping[str, ScoreProfile]:
    """Parses and checks profiles from TOML. Multipliers: a list of names (strength 1) or a table of strengths. Leg
    weights: tables that name every leg. Files other than the built-in one need a version. Former factor names are
    accepted.

    Raises BadTable naming file, profile and every wrong key of the first profile that has one.
    """
    found = {}
    for name, row in raw.items():
        if not isinstance(row, Mapping):
            raise BadTable(f"{file}: '{name}' belongs to no profile.", "Write it below the [name] of its profile.")
        given, problems = _read(row, [key for key in _KEYS if key != "version" or file != _FILE])
        profile = ScoreProfile(name, **{"weights": {}, **given})
        wrong = {problem.key for problem in problems}
        problems += [problem for problem in _problems(profile) if problem.key not in wrong]
        found[name] = _sound(profile, problems, file)
    return found


def check_profile(profile: ScoreProfile, file: str = "profile") -> ScoreProfile:
    """Returns the profile unchanged if it is valid.

    Raises BadTable naming file and every wrong key: unknown factors, weights below 0 or not summing to 1, strengths
    outside (0, 1], numbers out of range, leg weights that are all 0, `partial` above `covered`.
    """
    return _sound(profile, list(_problems(profile)), file)


def _sound(profile: ScoreProfile, problems: Sequence[_ProfileProblem], file: str) -> ScoreProfile:
    if problems:
        details = "; ".join(f"'{problem.key}' {problem.what}" for problem in problems)
        hints = dict.fromkeys(problem.hint for problem in problems)
        raise BadTable(f"{file}: [{profile.name}] {details}.", " ".join(hints))
    return profile


def _read(row: Mapping[str, Any], keys: Sequence[str]) -> tuple[dict[str, Any], list[_ProfileProblem]]:
    """The parsed values of a row, and the problems found."""
    given: dict[str, Any] = {}
    problems = []
    for key, value in row.items():
        if key not in keys:
            problems.append(_ProfileProblem(key, "is not a key of a profile", f"Keys are: {', '.join(keys)}."))
        elif key == "multipliers" and isinstance(value, list) and all(isinstance(each, str) for each in value):
            given[key] = current_factor_names(dict.fromkeys(value, 1.0))
        elif key in ("weights", "multipliers", "legs", "relational_legs"):
            if not isinstance(value, Mapping):
                problems.append(_ProfileProblem(key, "is not a table", f"Write {key} = {{ name = number, … }}."))
            elif key in ("weights", "multipliers"):
                given[key] = {name: _float(number) for name, number in current_factor_names(value).items()}
            elif set(value) == set(_LEGS):
                given[key] = LegWeights(**{leg: _float(value[leg]) for leg in _LEGS})
            else:
                problems.append(_ProfileProblem(key, f"names {', '.join(value) or 'no leg'}", _legs_hint(key)))
        else:
            given[key] = _float(value) if key in _FLOATS else value
    return given, problems


def _legs_hint(key: str) -> str:
    return f"'{key}' gives each of {', '.join(_LEGS)} a weight; 0 turns one off."


def _problems(profile: ScoreProfile) -> Iterator[_ProfileProblem]:
    """All problems of a profile, in field order."""
    yield from _factor_problems("weights", profile.weights, _WEIGHT)
    if all(_WEIGHT.holds(weight) for weight in profile.weights.values()):
        total = fsum(profile.weights.values())
        if abs(total - 1) > 1e-9:
            yield _ProfileProblem("weights", f"sum to {total:.10g}", "Weights must sum to 1.")
    yield from _factor_problems("multipliers", profile.multipliers, _STRENGTH)
    for key in _KEYS:
        value = getattr(profile, key)
        if key in _LIMITS and not _LIMITS[key].holds(value):
            yield _wrong(key, value, _LIMITS[key])
        elif isinstance(value, LegWeights):
            yield from _leg_problems(key, value)
        elif key == "embedder" and not isinstance(value, str):
            yield _ProfileProblem(key, f"is {repr(value)[:40]}", "'embedder' is the name of an embedding model.")
    yield from _order_problems(profile)


def _factor_problems(key: str, given: Mapping[str, float], limit: _Limit) -> Iterator[_ProfileProblem]:
    known = factor_table().rows
    for factor, value in given.items():
        if factor not in known:
            yield _ProfileProblem(key, f"names the unknown factor '{factor}'", f"Factors are: {', '.join(known)}.")
        elif not limit.holds(value):
            yield _wrong(f"{key}.{factor}", value, limit)


def _leg_problems(key: str, legs: LegWeights) -> Iterator[_ProfileProblem]:
    weights = {leg: getattr(legs, leg) for leg in _LEGS}
    for leg, weight in weights.items():
        if not _LEG.holds(weight):
            yield _wrong(f"{key}.{leg}", weight, _LEG)
    if not any(weights.values()):
        yield _ProfileProblem(key, "turns every leg off", "At least one leg must weigh more than 0.")


def _order_problems(profile: ScoreProfile) -> Iterator[_ProfileProblem]:
    """Checks partial ≤ covered; a missing threshold is taken from the gap table."""
    if profile.covered is None and profile.partial is None:
        return
    usual = gap_table().evidence
    covered = usual.covered if profile.covered is None else profile.covered
    partial = usual.partial if profile.partial is None else profile.partial
    if _LIMITS["covered"].holds(covered) and _LIMITS["partial"].holds(partial) and partial > covered:
        values_text = [f"{value:g}{' (as usual)' if own is None else ''}" for value, own in
                ((partial, profile.partial), (covered, profile.covered))]  # fmt: skip
        yield _ProfileProblem(
            "partial", f"is {values_text[0]}, above 'covered' {values_text[1]}", "'partial' must be at most 'covered'."
        )


def _wrong(key: str, value: object, limit: _Limit) -> _ProfileProblem:
    return _ProfileProblem(key, f"is {repr(value)[:40]}", f"'{key}' must be {limit}.")


def _is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a finite number of reasonable size; booleans are not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15


def _float(value: Any) -> Any:
    """An int as float; anything else unchanged."""
    return float(value) if isinstance(value, int) and _is_number(value) else value


def fitted_for_another(profile: ScoreProfile, in_use: ModelInUse) -> tuple[str, ...]:
    """A notice for the user when a profile is used with another embedding model than it was made for.

    Thresholds on similarity, weights, and what counts as an answer do not carry over from one model to another.

    >>> fitted_for_another(ScoreProfile("balanced", {}), ModelInUse("default"))
    ()
    """
    made_for = profile.embedder or DEFAULT_NAME
    if made_for == in_use.label:
        return ()
    if made_for == DEFAULT_NAME:
        return (built_in_for_another(in_use),)
    return (
        f"The profile “{profile.ref}” was fitted with {made_for}, and this library uses {in_use.label}: scores may be"
        " off. Measure the profile on the Tuning page.",
    )


def built_in_for_another(in_use: ModelInUse) -> str:
    """A notice for the user of a library with another embedding model than the built-in one; the same on every page and
    with every result, so that a page can say it once."""
    return (
        f"This library uses {in_use.label}. Built-in profiles and the probabilities of answers and covered topics were"
        f" fitted with {DEFAULT_NAME} and may be off; labels are decided without the meaning of sentences. Measure a"
        " profile on the Tuning page."
    )


class BuiltInProfiles:
    """The built-in profiles as core.ports.stores.Profiles; the first row is the default."""

    def find(self, ref: str) -> ScoreProfile:
        """The profile with this name. Raises BadRequest listing the known names."""
        known = profiles()
        if ref not in known:
            raise BadRequest(f"There is no score profile '{ref}'.", f"Profiles are: {', '.join(known)}.")
        return known[ref]

    def default(self, project: str | None) -> ScoreProfile:
        """The first row."""
        return next(iter(profiles().values()))


BUILT_IN = BuiltInProfiles()
