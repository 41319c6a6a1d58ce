"""Memories made by hand."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from core.domain.documents import Sector
from core.insights.store import Episode, EvidenceLink, Insight

AT = datetime(2026, 3, 1, 9, 30, 15, 123456, tzinfo=UTC)
NOWHERE = 10**9
"""An id that nothing has."""

LINK = EvidenceLink(7, 3, "Überstunden 'quoted'; --.pdf", 12, 40, 62, "Überstunden – 残業 🙂.")


def insight(text: str = "Overtime is approved in writing.", **values: Any) -> Insight:
    return replace(Insight(text=text, at=AT), **values)


def episode(question: str = "Who approves overtime?", **values: Any) -> Episode:
    return replace(Episode(question=question, at=AT, sector=Sector.EPISODIC), **values)


FULL = {
    "who": "Ann 'quoted'; --",
    "project": "north",
    "tags": ("straße", '{a,b}"', "2024"),
    "sector": Sector.REFLECTIVE,
    "sector_reason": "it says “learnt”",
    "links": (LINK, replace(LINK, passage_id=8, start=0, quote="%_")),
    "changed_at": AT,
}
"""Every field that insights and episodes share."""
