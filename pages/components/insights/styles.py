"""The look of insights, episodes and their sectors. Colour is never the only sign."""

from collections.abc import Mapping

import streamlit as st

from core.domain.documents import Origin, Passage, Sector
from core.insights.store import InsightOrEpisode
from core.knowledge.sectors import sectors

__all__ = ["OUTCOMES", "memory_badge", "outcome_words", "sector_badge", "sector_choice", "sector_title"]

_ICONS: Mapping[Sector, str] = {
    Sector.SEMANTIC: ":material/lightbulb:",
    Sector.EPISODIC: ":material/event:",
    Sector.PROCEDURAL: ":material/checklist:",
    Sector.EMOTIONAL: ":material/mood:",
    Sector.REFLECTIVE: ":material/psychology:",
}
_ORIGINS: Mapping[Origin, tuple[str, str]] = {
    Origin.INSIGHT: ("Insight", ":material/edit_note:"),
    Origin.EPISODE: ("Episode", ":material/history:"),
}
OUTCOMES: Mapping[float, str] = {
    -1.0: "Misled",
    -0.5: "Did not help",
    0.0: "Neither good nor bad",
    0.5: "Helped",
    1.0: "Answered it",
}
"""Outcome in [-1, 1] → its words; what lies between is said by the nearest."""


def sector_title(sector: Sector) -> str:
    """Icon and name of a sector."""
    return f"{_ICONS[sector]} {sector.value.capitalize()}"


def sector_badge(memory: InsightOrEpisode) -> None:
    """The sector; its meaning and why it was suggested appear on hover."""
    row = sectors()[memory.sector]
    why = f" Suggested: {memory.sector_reason}." if memory.sector_reason else ""
    st.badge(memory.sector.value.capitalize(), icon=_ICONS[memory.sector], color="gray", help=f"{row.means}{why}")


def memory_badge(passage: Passage) -> None:
    """A badge for insights and episodes in the place of a document's truth; draws nothing for documents."""
    if passage.origin in _ORIGINS:
        words, icon = _ORIGINS[passage.origin]
        means = f" {sectors()[passage.sector].means}" if passage.sector else ""
        st.badge(words, icon=icon, color="gray", help=f"Written by an analyst; no evidence of any truth.{means}")


def sector_choice(label: str, key: str, *, help: str | None = None) -> Sector:
    """Choose a sector; `key` holds the one chosen."""
    return st.selectbox(
        label,
        list(sectors()),
        key=key,
        format_func=lambda sector: f"{sector.value.capitalize()} – {sectors()[sector].label.lower()}",
        help=help or "What kind of memory it is decides how slowly it fades in search.",
    )


def outcome_words(reward: float) -> str:
    """An outcome in words and as a number.

    >>> outcome_words(0.5), outcome_words(-0.9), outcome_words(0)
    ('Helped (+0.5)', 'Misled (-0.9)', 'Neither good nor bad')
    """
    nearest = min(OUTCOMES, key=lambda each: abs(each - reward))
    return f"{OUTCOMES[nearest]} ({reward:+g})" if reward else OUTCOMES[0.0]
