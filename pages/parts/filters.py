"""Filter widgets with contextual counts. Each categorical filter of core.filters.FIELDS is one row of WIDGETS.

Widget state lives under "filter.<field>"; `seed` fills it before the widgets are drawn, `drawn` reads it back.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import streamlit as st

from core.documents import Authority, TemporalClass, Truth
from core.filters import SearchFilters, check_filters
from core.tables.domains import domain_title
from core.tables.jurisdictions import jurisdiction_title
from pages.parts.looks import truth_look

__all__ = ["clear", "drawn", "seed", "title_of"]

Facets = Mapping[str, Mapping[str, int]]


def _capital(value: str) -> str:
    return value[:1].upper() + value[1:]


def _truth_title(value: str) -> str:
    look = truth_look(value)
    return f"{look.symbol} {_capital(look.words)}"


@dataclass(frozen=True, slots=True)
class _Widget:
    """`title` names a value for people; `closed` values are always offered, in order; others come from the counts."""

    field: str
    label: str
    title: Callable[[str], str] = str
    closed: Sequence[str] = ()
    help: str = ""


_WIDGETS = (
    _Widget("truths", "Truth", _truth_title, tuple(Truth), "Which kind of truth a passage states."),
    _Widget("authorities", "Authority", _capital, tuple(Authority), "Who speaks."),
    _Widget("domains", "Domain", domain_title),
    _Widget("jurisdictions", "Jurisdiction", jurisdiction_title, help="Where a rule applies."),
    _Widget("projects", "Project", help="Documents without a project belong to every project."),
    _Widget("temporal_classes", "Temporal class", _capital, tuple(TemporalClass)),
    _Widget("tags", "Tag"),
    _Widget("documents", "Document"),
)
_BY_FIELD = {widget.field: widget for widget in _WIDGETS}
_EXCLUDABLE = ("truths", "authorities", "domains", "jurisdictions", "documents")


def title_of(field: str, value: str) -> str:
    """The words a page shows for a value of a filter field."""
    return _BY_FIELD[field].title(value) if field in _BY_FIELD else value


def seed(filters: SearchFilters) -> None:
    """Set every widget to what these filters say."""
    for widget in _WIDGETS:
        st.session_state[f"filter.{widget.field}"] = [str(value) for value in getattr(filters, widget.field)]
    for field in _EXCLUDABLE:
        st.session_state[f"filter.exclude_{field}"] = [str(v) for v in getattr(filters, f"exclude_{field}")]
    st.session_state["filter.date_from"] = _as_day(filters.date_from)
    st.session_state["filter.date_to"] = _as_day(filters.date_to)
    st.session_state["filter.recency_months"] = filters.recency_months
    st.session_state["filter.include_undated"] = filters.include_undated


def clear() -> None:
    """Widen the search to the whole library."""
    seed(SearchFilters())


def _as_day(moment: datetime | None) -> date | None:
    return moment.astimezone(UTC).date() if moment is not None else None


def drawn(facets: Facets, document_names: Mapping[str, str]) -> SearchFilters:
    """Draw the widgets and give the filters they say. Raises BadFilters."""
    raw: dict[str, Any] = {}
    for widget in _WIDGETS:
        raw[widget.field] = _choice(widget, facets, document_names)
    raw |= _dates()
    with st.expander("Leave out", icon=":material/block:"):
        for field in _EXCLUDABLE:
            raw[f"exclude_{field}"] = _choice(_BY_FIELD[field], facets, document_names, leave_out=True)
    for field in ("documents", "exclude_documents"):
        raw[field] = [int(value) for value in raw[field]]
    return check_filters(raw)


def _choice(widget: _Widget, facets: Facets, names: Mapping[str, str], *, leave_out: bool = False) -> list[str]:
    key = f"filter.{'exclude_' if leave_out else ''}{widget.field}"
    counts = {str(value): number for value, number in facets.get(widget.field, {}).items()}
    chosen = st.session_state.get(key, [])
    known = [value for value, number in sorted(counts.items(), key=_most_first) if number or value in chosen]
    options = list(dict.fromkeys([*map(str, widget.closed), *known, *chosen]))
    if not options:
        return []

    def shown(value: str) -> str:
        title = names.get(value, f"document {value}") if widget.field == "documents" else widget.title(value)
        return f"{title} ({counts.get(value, 0):,})"

    help_text = widget.help or None
    return list(st.multiselect(widget.label, options, key=key, format_func=shown, help=help_text, placeholder="Any"))


def _most_first(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def _dates() -> dict[str, Any]:
    with st.expander("Date", icon=":material/calendar_month:", expanded=_dated()):
        months = st.number_input(
            "Last months", min_value=1, max_value=600, value=None, key="filter.recency_months", placeholder="Any age"
        )
        start = st.date_input(
            "From", value=None, key="filter.date_from", format="YYYY-MM-DD", min_value=date(1900, 1, 1)
        )
        end = st.date_input("To", value=None, key="filter.date_to", format="YYYY-MM-DD", min_value=date(1900, 1, 1))
        undated = st.toggle(
            "Undated documents too",
            key="filter.include_undated",
            help="The date is the document's own, not its upload's. A dated search leaves undated documents out.",
        )
    raw: dict[str, Any] = {"recency_months": int(months) if months else None, "include_undated": undated}
    return raw | {"date_from": start, "date_to": end}


def _dated() -> bool:
    return any(st.session_state.get(f"filter.{name}") for name in ("date_from", "date_to", "recency_months"))
