"""Score profiles as text that people read, compare and pass on: TOML in and out, and what differs between two."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

from core.errors import BadRequest
from core.queries import LegWeights, ScoreProfile
from core.tables.profiles import parse_profiles

__all__ = ["Difference", "differences", "from_toml", "to_toml"]

_SAME = 1e-12
"""Numbers closer than this are the same weight, reached another way."""
_MOST_BYTES = 1_000_000
_HEADER = """\
# Score profiles of Fivefold, one [name] each. Weights sum to 1; a multiplier has a strength in (0, 1].
# What a profile leaves out is as usual; a version is told, and counted anew where the file is taken in.
"""


@dataclass(frozen=True, slots=True)
class Difference:
    """One value that two profiles do not share. key: as in TOML, "weights.authority"; None: not set there."""

    key: str
    before: float | None
    after: float | None


def differences(before: ScoreProfile, after: ScoreProfile) -> tuple[Difference, ...]:
    """What has to change to make `after` of `before`, in the order of the fields; name and version aside.

    A weight of 0 and none at all are the same.

    >>> plain = ScoreProfile("plain", {"similarity": 1.0})
    >>> differences(plain, ScoreProfile("mixed", {"similarity": 0.75, "recency": 0.25}))[1]
    Difference(key='weights.recency', before=None, after=0.25)
    """
    found: list[Difference] = []
    for field in fields(ScoreProfile):
        if field.name not in ("name", "version"):
            old, new = (_values(field.name, profile) for profile in (before, after))
            both = ((key, old.get(key), new.get(key)) for key in dict.fromkeys([*old, *new]))
            found.extend(Difference(*each) for each in both if not _same(*each))
    return tuple(found)


def _values(name: str, profile: ScoreProfile) -> dict[str, float | None]:
    """The numbers of one field by their keys."""
    value = getattr(profile, name)
    if isinstance(value, LegWeights):
        return {f"{name}.{leg}": weight for leg, weight in _legs(value).items()}
    if isinstance(value, Mapping):
        return {f"{name}.{factor}": number for factor, number in value.items()}
    return {name: value}


def _same(key: str, old: float | None, new: float | None) -> bool:
    if key.startswith("weights."):
        old, new = old or 0.0, new or 0.0
    return old == new if old is None or new is None else abs(old - new) <= _SAME


def _legs(legs: LegWeights) -> dict[str, float]:
    return {field.name: getattr(legs, field.name) for field in fields(LegWeights)}


def to_toml(profiles: Iterable[ScoreProfile]) -> str:
    """Profiles as TOML that `from_toml` reads back exactly. Raises BadRequest when two have the same name."""
    import tomli_w

    rows: dict[str, dict[str, object]] = {}
    for profile in profiles:
        if profile.name in rows:
            raise BadRequest(f"Two profiles are called '{profile.name}'.", "Export one version of each.")
        rows[profile.name] = _row(profile)
    return f"{_HEADER}\n{tomli_w.dumps(rows)}"


def _row(profile: ScoreProfile) -> dict[str, object]:
    """Everything a profile says, also what is as usual, so that it means the same wherever it is taken in."""
    row: dict[str, object] = {}
    for field in fields(ScoreProfile):
        value = getattr(profile, field.name)
        if isinstance(value, LegWeights):
            row[field.name] = _legs(value)
        elif isinstance(value, Mapping):
            row[field.name] = dict(value)
        elif value is not None and field.name != "name":
            row[field.name] = value
    row = {key: value for key, value in row.items() if key != "multipliers" or value}
    return row if profile.version else {key: value for key, value in row.items() if key != "version"}


def from_toml(text: str | bytes, name: str) -> Mapping[str, ScoreProfile]:
    """The profiles of a file called `name`, checked, in its order.

    Raises BadRequest for what is too large, no text, no TOML (naming the line) or holds no profile; BadTable naming
    file, profile and every wrong key.
    """
    if len(text) > _MOST_BYTES:
        raise BadRequest(f"'{name}' is too large for a file of profiles.", "Choose a file of at most 1 MB.")
    try:
        said = text.decode("utf-8-sig") if isinstance(text, bytes) else text.removeprefix("\ufeff")
        raw = tomllib.loads(said)
    except UnicodeDecodeError as error:
        raise BadRequest(f"'{name}' is not UTF-8 text.", "Export the profiles again as TOML.") from error
    except ValueError as error:  # also of numbers with thousands of digits, which are no TOMLDecodeError
        raise BadRequest(f"'{name}' is not TOML: {error}.", "Correct the line, then import it again.") from error
    except RecursionError as error:
        raise BadRequest(f"'{name}' is nested too deeply.", "A profile has tables of numbers only.") from error
    if not raw:
        raise BadRequest(f"'{name}' holds no profile.", "A profile begins with its [name] and has weights.")
    return parse_profiles(raw, name)
