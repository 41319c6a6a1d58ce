"""What words beside a date tell of it."""

import re
from dataclasses import dataclass
from functools import cache

from core.errors import BadTable
from core.tables.loading import check_keys, table

__all__ = ["DatedLead", "dated_leads"]


@dataclass(frozen=True, slots=True)
class DatedLead:
    """what: the date of what it is. pattern: over the text that ends where the date begins."""

    what: str
    pattern: re.Pattern[str]


@cache
def dated_leads() -> tuple[DatedLead, ...]:
    """Every row in table order. Raises BadTable."""
    leads = []
    for row in table("dated")["leads"]:
        check_keys("dated", "leads", row, ("what", "pattern"))
        try:
            leads.append(DatedLead(row["what"], re.compile(row["pattern"])))
        except (KeyError, re.error) as error:
            raise BadTable(f"core/tables/dated.toml: [leads] {error}.", "Correct the row.") from error
    return tuple(leads)
