"""Sliders of the tuning page: one per number of a score profile, and the trial profile their values make."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import fsum, isfinite
from typing import Any

from core.domain.errors import BadRequest
from core.domain.profiles import current_factor_name
from core.domain.queries import LEG_LABELS, ScoreProfile
from core.knowledge.factors import factor_table
from core.knowledge.gaps import gap_table
from core.knowledge.profiles import profiles
from core.knowledge.routes import routes

__all__ = [
    "Slider",
    "SliderGroup",
    "acting",
    "changed",
    "changes_from_text",
    "changes_in_text",
    "idle",
    "sliders",
    "tried",
    "value_of",
]

_SAME = 1e-9  # numbers that differ by less are equal
_LONGEST = 2_000  # characters of changes in a URL. Chosen by hand, not fitted.
_TOLD = 3  # problems listed before "n more"


class SliderGroup(StrEnum):
    """Which numbers stand together, in the order they are shown."""

    WEIGHTS = "Weights"
    OTHERS = "More factors"
    MULTIPLIERS = "Multipliers"
    SHOWN = "Results shown"
    FUSION = "Fusion of the legs"
    TIME_AND_ROUTE = "Time and route"
    COVERAGE = "Coverage"


@dataclass(frozen=True, slots=True)
class Slider:
    """One number that can be moved from `least` to `most`.

    key: its short name, as in a URL: "w.authority" (weight), "m.temporal" (strength of a multiplier), else the name of
    the profile's field. through: the factor it acts through, "" when it acts by itself. leg: whose weight it is;
    relational: in questions about how things hang together, or else in all others.
    """

    key: str
    label: str
    means: str
    group: SliderGroup
    least: float = 0.0
    most: float = 1.0
    step: float = 0.01
    through: str = ""
    leg: str = ""
    relational: bool = False

    @property
    def is_integer(self) -> bool:
        """Whether it counts in whole numbers."""
        return self.key in ("max_results", "fusion_k")


def _leg(field: str, leg: str) -> Slider:
    relational = field == "relational_legs"
    when = "A question about how things hang together has weights of its own. " if relational else ""
    means = f"{when}How much a rank in the search {LEG_LABELS[leg]} counts where ranks are fused."
    label = LEG_LABELS[leg].capitalize()
    return Slider(f"{field}.{leg}", label, means, SliderGroup.FUSION, 0, 1, 0.05, "fusion", leg, relational)


_SETTINGS = (
    Slider("threshold", "Threshold", "Least score that is shown; what scores less is left out.", SliderGroup.SHOWN),
    Slider(
        "floor",
        "Minimum similarity",
        "Least similarity that counts as evidence. A passage below it is left out unless it holds a word of the"
        " question, whatever its score.",
        SliderGroup.SHOWN,
    ),
    Slider("max_results", "Max. results", "How many results are shown before more are requested.", SliderGroup.SHOWN,
           1, 50, 1),
    Slider(
        "fusion_k",
        "Fusion k",
        "A rank is worth weight ÷ (k + rank): the larger k, the less the very first ranks stand out.",
        SliderGroup.FUSION, 1, 200, 1, "fusion",
    ),
    *(_leg(field, leg) for field in ("legs", "relational_legs") for leg in LEG_LABELS),
    Slider(
        "half_life_days",
        "Half-life, days",
        "After so many days the factor Half-life is worth half, for every document. Until a profile sets it, feeds and"
        " papers have their own.",
        SliderGroup.TIME_AND_ROUTE, 1, 365, 1, "half_life",
    ),
    Slider(
        "routing_outside",
        "Truths outside the route",
        "What a truth is worth that the question was not routed to: 1 routes nothing, 0 counts the route alone.",
        SliderGroup.TIME_AND_ROUTE, through="routing",
    ),
    Slider(
        "covered",
        "Covered from",
        "Least evidence score of a cell of the coverage board that is covered. It moves no result.",
        SliderGroup.COVERAGE, 0.05,
    ),
    Slider(
        "partial",
        "Partly covered from",
        "Least evidence score of a cell that is partly covered; below it is a gap. It moves no result.",
        SliderGroup.COVERAGE, 0.05,
    ),
)  # fmt: skip


def sliders(base: ScoreProfile) -> tuple[Slider, ...]:
    """Every number that can be tried, in the order of SliderGroup: the base's own factors first, largest weight first.

    A multiplier is what one profile at least multiplies by. A range reaches as far as the base's own number.

    >>> from core.knowledge.profiles import profiles
    >>> [row.key for row in sliders(profiles()["trend"])][:3]
    ['w.fusion', 'w.half_life', 'w.similarity']
    """
    table, weights = factor_table(), base.weights
    own = sorted((name for name in weights if weights[name]), key=lambda name: -weights[name])
    named = (*profiles().values(), base)
    times = dict.fromkeys([*base.multipliers, *(name for each in named for name in each.multipliers)])
    rows = [Slider(f"w.{name}", table[name].label, table[name].means, SliderGroup.WEIGHTS) for name in own]
    rows += [
        Slider(f"w.{name}", row.label, row.means, SliderGroup.OTHERS)
        for name, row in table.rows.items()
        if name not in own
    ]
    rows += [
        Slider(f"m.{name}", f"× {table[name].label}", f"{table[name].means} At 1 it multiplies the score, at 0 not.",
               SliderGroup.MULTIPLIERS)
        for name in times
    ]  # fmt: skip
    return tuple(_reaching(row, value_of(base, row.key)) for row in (*rows, *_SETTINGS))


def _reaching(row: Slider, value: float) -> Slider:
    return replace(row, least=min(row.least, value), most=max(row.most, value))


def acting(rows: Sequence[Slider], legs: Collection[str], *, relational: bool) -> tuple[Slider, ...]:
    """The rows that can move the results of a question: without the legs that did not run, and those weighed for
    questions of the other sort."""
    return tuple(row for row in rows if not row.leg or (row.leg in legs and row.relational == relational))


def idle(row: Slider, profile: ScoreProfile) -> bool:
    """Whether moving it changes nothing, because the factor it acts through has no weight."""
    return bool(row.through) and not profile.weights.get(row.through) and not profile.multipliers.get(row.through)


def value_of(profile: ScoreProfile, key: str) -> float:
    """The number of a profile under a slider's key; what it leaves open as it is usual, a factor it does not name 0."""
    table, _, name = key.partition(".")
    if table in ("w", "m"):
        return (profile.weights if table == "w" else profile.multipliers).get(name, 0.0)
    if name:
        return float(getattr(getattr(profile, table), name))
    own = getattr(profile, key)
    return _usual(key) if own is None else own


def _usual(key: str) -> float:
    if key == "half_life_days":
        return factor_table()["half_life"]["days"]
    return routes().outside if key == "routing_outside" else float(getattr(gap_table().evidence, key))


def changed(base: ScoreProfile, values: Mapping[str, float]) -> Mapping[str, float]:
    """Slider key → number, of those that differ from the base."""
    return {key: value for key, value in values.items() if abs(value - value_of(base, key)) > _SAME}


def tried(base: ScoreProfile, changes: Mapping[str, float]) -> ScoreProfile:
    """The base with these numbers instead, version 0; without changes the base itself.

    The numbers of weights need not sum to 1: their shares become the weights. A multiplier of strength 0 is off. Raises
    BadRequest when every weight is 0, every leg is off, or a cell would be covered before it is partly so.

    >>> tried(ScoreProfile("plain", {"similarity": 1.0}), {"w.recency": 0.25}).weights
    {'similarity': 0.8, 'recency': 0.2}
    """
    if not changes:
        return base
    fields: dict[str, Any] = {key: _number(key, value) for key, value in changes.items() if "." not in key}
    for table in ("legs", "relational_legs"):
        if legs := _under(table, changes):
            fields[table] = replace(getattr(base, table), **legs)
            if not any(getattr(fields[table], leg) for leg in LEG_LABELS):
                raise BadRequest("Every leg is off, so no rank can be fused.", "Give at least one leg a weight.")
    times = {**base.multipliers, **_under("m", changes)}
    fields["multipliers"] = {name: strength for name, strength in times.items() if strength > 0}
    if weights := _under("w", changes):
        fields["weights"] = _shares({**base.weights, **weights})
    made = replace(base, version=0, **fields)
    partial, covered = (value_of(made, key) for key in ("partial", "covered"))
    if partial > covered:
        problem = f"A cell cannot be partly covered from {partial:.2f} and covered from {covered:.2f}."
        raise BadRequest(problem, "Move one of the two.")
    return made


def _number(key: str, value: float) -> float:
    is_integer = any(row.key == key and row.is_integer for row in _SETTINGS)
    return round(value) if is_integer else value


def _under(table: str, changes: Mapping[str, float]) -> dict[str, float]:
    return {key.partition(".")[2]: value for key, value in changes.items() if key.startswith(f"{table}.")}


def _shares(weights: Mapping[str, float]) -> Mapping[str, float]:
    total = fsum(weights.values())
    if total <= 0:
        raise BadRequest("Every weight is 0, so nothing can be scored.", "Give at least one factor a weight.")
    return {name: weight / total for name, weight in weights.items() if weight > 0}


def changes_in_text(changes: Mapping[str, float]) -> str:
    """Changes as a URL holds them.

    >>> changes_in_text({"w.authority": 0.12, "max_results": 20})
    'w.authority:0.12,max_results:20'
    """
    return ",".join(f"{key}:{value:.9g}" for key, value in changes.items())


def changes_from_text(text: str, rows: Sequence[Slider]) -> tuple[Mapping[str, float], tuple[str, ...]]:
    """What a URL says is changed, and in words what of it cannot be; never raises.

    >>> changes_from_text("threshold:0.3,floor:high", [Slider("threshold", "Threshold", "", SliderGroup.SHOWN)])
    ({'threshold': 0.3}, ("'floor' is nothing that can be moved",))
    """
    if len(text) > _LONGEST:
        return {}, (f"it is longer than {_LONGEST:,} characters",)
    known, found, problems = {row.key: row for row in rows}, {}, []
    for part in filter(None, text.split(",")):
        key, _, value_text = part.partition(":")
        row, value = known.get(_current_key(key.strip())), _read(value_text)
        if row is None:
            problems.append(f"'{key.strip()[:30]}' is nothing that can be moved")
        elif value is None or not row.least <= value <= row.most or (row.is_integer and value != round(value)):
            kind = "a whole number" if row.is_integer else "a number"
            problems.append(f"'{row.key}' is '{value_text[:12]}', not {kind} from {row.least:g} to {row.most:g}")
        else:
            found[row.key] = value
    more = len(problems) - _TOLD
    return found, (*problems[:_TOLD], *([f"{more} more"] if more > 0 else []))


def _current_key(key: str) -> str:
    """A slider's key under the current name of its factor."""
    table, dot, name = key.partition(".")
    return f"{table}.{current_factor_name(name)}" if dot and table in ("w", "m") else key


def _read(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None
