"""Presentation of a profile: name, weights as a strip or bars, other settings in words, and differences."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from core.domain.queries import LEG_LABELS, LegWeights, ScoreProfile
from core.domain.results import Factor, Score
from core.evaluation.tuning.profile_registry import ProfileDifference
from core.knowledge.factors import factor_table
from core.knowledge.gaps import evidence_row
from core.knowledge.routes import routes
from core.search.explanation import factor_label
from pages.components import charts
from pages.components.wording import chart_text, plain, shorten

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["difference_rows", "key_label", "profile_label", "setting_lines", "weight_bars", "weight_strip"]

_SHOWN = 3  # factors named below a strip; chosen by hand
_KEYS = {
    "threshold": "Threshold",
    "floor": "Minimum similarity",
    "max_results": "Max. results",
    "half_life_days": "Half-life, days",
    "fusion_k": "k of fusion",
    "routing_outside": "Truths outside the route",
    "covered": "Covered from",
    "partial": "Partly covered from",
}
_TABLES = {"weights": "Weight", "multipliers": "Multiplier", "legs": "Leg", "relational_legs": "Leg if relational"}


def profile_label(profile: ScoreProfile, length: int = 60) -> str:
    """What a profile is called, as safe markdown: its name in at most so many characters, and its version in gray."""
    return plain(shorten(profile.name, length)) + (f":gray[\\@{profile.version}]" if profile.version else "")


def _ordered(weights: Mapping[str, float]) -> list[tuple[str, float]]:
    """The factors that count, heaviest first."""
    return sorted(((name, weight) for name, weight in weights.items() if weight), key=lambda each: -each[1])


def weight_strip(profile: ScoreProfile) -> None:
    """The weights as a thin bar in which they fill the track, the threshold as a tick; the heaviest in words."""
    parts = _ordered(profile.weights)
    best = Score(1.0, tuple(Factor(name, 1.0, weight, weight, "") for name, weight in parts))
    words = [f"{factor_label(name)} {weight:.2f}" for name, weight in parts]
    st.image(charts.score_strip(best, profile.threshold), width="stretch", alt=" · ".join(words))
    rest = [f"{len(words) - _SHOWN} more"] if len(words) > _SHOWN else []
    st.caption(" · ".join(part.replace(" ", "\u00a0") for part in [*words[:_SHOWN], *rest]))


def weight_bars(after: ScoreProfile, before: ScoreProfile | None = None, *, dark: bool = False) -> "Figure":
    """The weights of a profile, heaviest on top; those of the one before it as open marks on the same lines."""
    from plotly.graph_objects import Bar, Figure, Scatter

    names = list(dict(_ordered(after.weights)) | dict(_ordered(before.weights if before else {})))
    labels = [factor_label(name) for name in names]
    values = [after.weights.get(name, 0.0) for name in names]
    means = [factor_table()[name].means if name in factor_table().rows else "" for name in names]
    ink, fill = ("#e4e8ee", "#7da2dc") if dark else ("#1f2733", "#5b84b8")
    figure = Figure(
        Bar(
            orientation="h", x=values, y=labels, customdata=means, name=after.ref,
            text=[f"{value:.2f}" if value else "" for value in values], textposition="outside", cliponaxis=False,
            hovertemplate="%{y}: %{x:.3f}<br>%{customdata}<extra></extra>", marker={"color": fill},
        )
    )  # fmt: skip
    if before is not None:
        figure.add_trace(
            Scatter(
                x=[before.weights.get(name, 0.0) for name in names], y=labels, mode="markers", name=before.ref,
                marker={"symbol": "line-ns-open", "size": 20, "color": ink, "line": {"width": 2.5, "color": ink}},
                hovertemplate=f"%{{y}}: %{{x:.3f}}<extra>{chart_text(before.ref)}</extra>",
            )
        )  # fmt: skip
    figure.update_layout(height=50 + 28 * len(names), margin={"l": 8, "r": 40, "t": 8, "b": 8}, bargap=0.35)
    figure.update_layout(showlegend=False, hoverlabel={"align": "left"})
    most = max([*values, *(before.weights.values() if before else ())], default=1.0)
    figure.update_xaxes(range=[0, most * 1.15], showticklabels=False, showgrid=False, zeroline=False, fixedrange=True)
    figure.update_yaxes(autorange="reversed", fixedrange=True)
    return figure


def setting_lines(profile: ScoreProfile) -> Sequence[tuple[str, str]]:
    """All settings but the weights, as (label, text); unset ones show their default."""
    row = evidence_row(profile)
    outside = routes().outside if profile.routing_outside is None else profile.routing_outside
    times = [f"{factor_label(name)} at {strength:.0%}" for name, strength in profile.multipliers.items()]
    return (
        ("Shown", f"from a score of {profile.threshold:.2f}, at most {profile.max_results}"),
        ("Evidence", f"similarity of at least {profile.floor:.2f}, or a keyword"),
        ("Multiplied by", ", ".join(times) or "nothing"),
        ("Legs", f"{_legs(profile.legs)}; k {profile.fusion_k}"),
        ("Legs if relational", _legs(profile.relational_legs)),
        ("Outside the route", f"a truth weighs {outside:.2f}{_default_note(profile.routing_outside)}"),
        ("Half-life", _half_life_text(profile.half_life_days)),
        ("Covered", f"from {row.covered:.2f}{_default_note(profile.covered)}"),
        ("Partly covered", f"from {row.partial:.2f}{_default_note(profile.partial)}"),
    )


def _legs(legs: LegWeights) -> str:
    return ", ".join(f"{label} {getattr(legs, leg):.2f}" for leg, label in LEG_LABELS.items())


def _half_life_text(days: float | None) -> str:
    """The half-life in words; without one of the profile, each source type's own."""
    if days is not None:
        return f"{days:g} days"
    row = factor_table()["half_life"]
    sources = "".join(f", {source} {own:g}" for source, own in row.by_value.items() if own != row["days"])
    return f"{row['days']:g} days{sources}{_default_note(days)}"


def _default_note(own: float | None) -> str:
    return ", as usual" if own is None else ""


def key_label(key: str) -> str:
    """What a key of a profile is called.

    >>> key_label("weights.keyword"), key_label("legs.dense"), key_label("fusion_k")
    ('Weight: Keywords', 'Leg: by meaning', 'k of fusion')
    """
    table, _, name = key.partition(".")
    if not name:
        return _KEYS.get(key, key)
    return f"{_TABLES[table]}: {LEG_LABELS[name] if table.endswith('legs') else factor_label(name)}"


def difference_rows(
    found: Sequence[ProfileDifference], before: str = "Before", after: str = "After"
) -> list[dict[str, str]]:
    """Differences as table rows. before, after: the two column labels, which must differ."""
    return [
        {
            "What": key_label(each.key),
            before: _value_text(each, each.before),
            after: _value_text(each, each.after),
            "Change": _change(each),
        }
        for each in found
    ]


def _value_text(difference: ProfileDifference, value: float | None) -> str:
    if value is None:
        return "none" if "." in difference.key else "as usual"
    return _number_text(value)


def _change(difference: ProfileDifference) -> str:
    """How far it moved; a weight that is not set is 0, for the rest there is no such number."""
    before, after = difference.before, difference.after
    if difference.key.startswith("weights."):
        before, after = before or 0.0, after or 0.0
    return "" if before is None or after is None else _signed(after - before)


def _number_text(value: float) -> str:
    """
    >>> _number_text(0.5), _number_text(0.125), _number_text(60), _number_text(14.0)
    ('0.50', '0.125', '60', '14')
    """
    two = f"{value:.2f}"
    return f"{value:.4g}" if value == round(value) or float(two) != round(value, 9) else two


def _signed(change: float) -> str:
    """
    >>> _signed(-0.5), _signed(16.0)
    ('−0.50', '+16')
    """
    return f"{'−' if change < 0 else '+'}{_number_text(abs(change))}"
