"""How time touches what is said: signs of each temporal class, and what a truth is without one."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from core.documents import TemporalClass, Truth
from core.errors import BadTable
from core.tables.loading import check_keys, table
from core.tables.signs import Sign, signs_of

__all__ = ["DateLead", "date_leads", "month_names", "temporal_by_truth", "temporal_signs"]


@dataclass(frozen=True, slots=True)
class DateLead:
    """Words that end right before a date which is the document's own; probability that it is the effective date.

    of_rules: only in laws, policies and contracts; literature speaks so of the rules it writes about.
    of_prose: not in table rows, where the same word heads a column of dates.
    latest: it leads a list of changes, of which the last one counts.
    """

    pattern: re.Pattern[str]
    probability: float
    rule: str
    of_rules: bool = False
    of_prose: bool = False
    latest: bool = False


@cache
def date_leads() -> tuple[DateLead, ...]:
    """The leads, likeliest first. Raises BadTable."""
    leads = []
    for row in table("temporal")["leads"]:
        check_keys("temporal", "leads", row, ("pattern", "probability", "rule", "of_rules", "of_prose", "latest"))
        if not 0.0 < row["probability"] <= 1.0:
            raise BadTable(
                f"core/tables/temporal.toml: [leads] {row['rule']}: probability is not in (0, 1].", "Correct it."
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
    """Lower-case month name → its number. Raises BadTable."""
    rows = table("temporal")["months"]
    check_keys("temporal", "months", rows, [str(number) for number in range(1, 13)])
    return {name.lower(): int(number) for number, names in rows.items() for name in names}


@cache
def temporal_by_truth() -> Mapping[Truth, TemporalClass]:
    """The class a truth has without a sign. Raises BadTable."""
    rows = table("temporal")
    check_keys("temporal", "top level", rows, ["by_truth", "leads", "months", *TemporalClass])
    check_keys("temporal", "by_truth", rows["by_truth"], list(Truth))
    try:
        return {Truth(key): TemporalClass(value) for key, value in rows["by_truth"].items()}
    except ValueError as error:
        raise BadTable(f"core/tables/temporal.toml: [by_truth] {error}.", "Correct the row.") from error


@cache
def temporal_signs() -> tuple[Sign, ...]:
    """The signs of every temporal class. Raises BadTable."""
    rows = table("temporal")
    return tuple(sign for c in TemporalClass for sign in signs_of("temporal", c, rows.get(c, {}).get("signs", [])))
