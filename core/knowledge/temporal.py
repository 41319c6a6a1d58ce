"""Date vocabulary: month names, phrases before effective and other dates, signals of temporal classes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from core.domain.documents import TemporalClass, Truth
from core.domain.errors import BadTable
from core.knowledge.label_signals import LabelSignal, signals_of
from core.knowledge.loading import check_keys, table

__all__ = ["DateCue", "DateLead", "date_leads", "dated_leads", "month_names", "temporal_by_truth", "temporal_signs"]


@dataclass(frozen=True, slots=True)
class DateLead:
    """A phrase directly before the document's own date; probability that this is the effective date.

    of_rules: only in laws, policies and contracts; other documents use it for the dates of the rules they discuss.
    of_prose: not in table rows, where the same word is a column header.
    latest: it introduces a list of changes, of which the last date counts.
    """

    pattern: re.Pattern[str]
    probability: float
    rule: str
    of_rules: bool = False
    of_prose: bool = False
    latest: bool = False


@cache
def date_leads() -> tuple[DateLead, ...]:
    """The leads, most probable first. Raises BadTable."""
    leads = []
    for row in table("temporal")["leads"]:
        check_keys("temporal", "leads", row, ("pattern", "probability", "rule", "of_rules", "of_prose", "latest"))
        if not 0.0 < row["probability"] <= 1.0:
            raise BadTable(
                f"core/knowledge/temporal.toml: [leads] {row['rule']}: probability is not in (0, 1].", "Correct it."
            )
        leads.append(
            DateLead(
                re.compile(row["pattern"]),
                float(row["probability"]),
                row["rule"],
                bool(row.get("of_rules")),
                bool(row.get("of_prose")),
                bool(row.get("latest")),
            )
        )
    return tuple(leads)


@cache
def month_names() -> Mapping[str, int]:
    """Lower-case month name → number. Raises BadTable."""
    rows = table("temporal")["months"]
    check_keys("temporal", "months", rows, [str(number) for number in range(1, 13)])
    return {name.lower(): int(number) for number, names in rows.items() for name in names}


@cache
def temporal_by_truth() -> Mapping[Truth, TemporalClass]:
    """Truth → its temporal class when no signal is found. Raises BadTable."""
    rows = table("temporal")
    check_keys("temporal", "top level", rows, ["by_truth", "leads", "months", *TemporalClass])
    check_keys("temporal", "by_truth", rows["by_truth"], list(Truth))
    try:
        return {Truth(key): TemporalClass(value) for key, value in rows["by_truth"].items()}
    except ValueError as error:
        raise BadTable(f"core/knowledge/temporal.toml: [by_truth] {error}.", "Correct the row.") from error


@cache
def temporal_signs() -> tuple[LabelSignal, ...]:
    """The signals of all temporal classes. Raises BadTable."""
    rows = table("temporal")
    return tuple(sign for c in TemporalClass for sign in signals_of("temporal", c, rows.get(c, {}).get("signs", [])))


@dataclass(frozen=True, slots=True)
class DateCue:
    """what: the kind of date. pattern: over the text before the date."""

    what: str
    pattern: re.Pattern[str]


@cache
def dated_leads() -> tuple[DateCue, ...]:
    """All rows in table order. Raises BadTable."""
    leads = []
    for row in table("date_cues")["leads"]:
        check_keys("date_cues", "leads", row, ("what", "pattern"))
        try:
            leads.append(DateCue(row["what"], re.compile(row["pattern"])))
        except (KeyError, re.error) as error:
            raise BadTable(f"core/knowledge/date_cues.toml: [leads] {error}.", "Correct the row.") from error
    return tuple(leads)
