"""The sliders: every number of a profile, the weights by their shares, with what each does and what was changed."""

from collections.abc import Mapping, Sequence

import streamlit as st

from core.queries import ScoreProfile
from core.search.sums import factor_label
from core.tuning.trials import Group, Slider, idle, value_of
from pages.parts.tuning.state import group_key, slider_key

__all__ = ["draw"]

_OPEN = (Group.WEIGHTS, Group.SHOWN)
"""What is in sight at once; the other groups are opened."""
_SAID = {
    Group.OTHERS: "More factors (weight 0)",
    Group.MULTIPLIERS: "Multipliers",
}
_NARROWEST = 190
_LEAST_SHARE = 0.0005


def draw(rows: Sequence[Slider], base: ScoreProfile, trial: ScoreProfile | None, changes: Mapping[str, float]) -> None:
    """All sliders, group by group. trial: the profile they make, None when there can be none."""
    for group in Group:
        own = [row for row in rows if row.group is group]
        if not own:
            continue
        if group in _OPEN:
            st.markdown(f"**{group.value}**{_hint(group)}")
            _grid(own, base, trial, changes)
        else:
            # Its words stay the same and a closed one draws nothing: it keeps its state, and a move stays quick.
            opened = st.expander(_SAID.get(group, group.value), key=group_key(group), on_change="rerun")
            if opened.open:
                with opened:
                    _grid(own, base, trial, changes)
                    _idle(own, trial or base)


def _hint(group: Group) -> str:
    return " :gray[· shares of what they add up to]" if group is Group.WEIGHTS else ""


def _grid(rows: Sequence[Slider], base: ScoreProfile, trial: ScoreProfile | None, changes: Mapping[str, float]) -> None:
    grid = st.grid("auto", min_column_width=_NARROWEST, gap=("xxsmall", "medium"))
    for row in rows:
        kind = int if row.whole else float
        grid.slider(
            _label(row, base, trial, changes),
            kind(row.least),
            kind(row.most),
            step=kind(row.step),
            format="%.2f" if row.step < 1 else "%d",
            key=slider_key(row.key),
            help=row.means,
            persist_state="session",  # a closed group must not forget
        )


def _label(row: Slider, base: ScoreProfile, trial: ScoreProfile | None, changes: Mapping[str, float]) -> str:
    """What it is called, the share a weight comes to, and what it was before it was moved."""
    if row.key.startswith("w."):
        name = row.key.removeprefix("w.")
        share, was = (profile.weights.get(name, 0.0) if profile else 0.0 for profile in (trial, base))
        words = f"{row.label} · {share:.0%}" if share >= _LEAST_SHARE else row.label
        return words + (f" :primary[• was {was:.0%}]" if row.key in changes else "")
    if row.key not in changes:
        return row.label
    was = value_of(base, row.key)
    return f"{row.label} :primary[• was {f'{was:.2f}' if row.step < 1 else f'{was:g}'}]"


def _idle(rows: Sequence[Slider], trial: ScoreProfile) -> None:
    """Which of them change nothing, and why."""
    still = [row for row in rows if idle(row, trial)]
    for through in dict.fromkeys(row.through for row in still):
        names = ", ".join(row.label for row in still if row.through == through)
        st.caption(f":material/link_off: {names}: no effect while the factor *{factor_label(through)}* has no weight.")
