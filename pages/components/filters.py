"""Filter widgets with contextual counts. Each categorical filter of core.domain.filters.FIELDS is one row of _WIDGETS.

Every field has one box of values to narrow to, and a second of values to leave out, which is there while it holds
something or the switch "Leave out" is on. Widget state lives under "filter.<field>"; `seed` fills it before the widgets
are drawn, `stated` and `drawn` read it back. Each seeding after the first draws new widgets, "filter.<field>.<n>": with
a click made before the browser received it come the old values, and they must not count.
"""
# Over 300 lines: one widget per kind of filter, all over the same state.

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import streamlit as st

from core.domain.documents import Authority, Origin, Sector, SourceType, TemporalClass, Truth
from core.domain.errors import BadFilters
from core.domain.filters import SearchFilters, check_filters
from core.knowledge.workspace_terms import WorkspaceTerms
from pages.components.styles import truth_style
from pages.components.wording import count

__all__ = ["clear", "draw_filters", "filters_before_drawing", "seed"]

Facets = Mapping[str, Mapping[str, int]]
CountUndated = Callable[[SearchFilters], int]
"""How many undated documents a date filter leaves out."""


Title = Callable[[str, WorkspaceTerms], str]
"""Names a value of a field for people, in the terms of a workspace."""


def _as_written(value: str, terms: WorkspaceTerms) -> str:
    return value


def _capital(value: str, terms: WorkspaceTerms) -> str:
    return value[:1].upper() + value[1:]


def _truth_title(value: str, terms: WorkspaceTerms) -> str:
    style = truth_style(value)
    return f"{style.symbol} {_capital(style.words, terms)}"


def _domain_title(value: str, terms: WorkspaceTerms) -> str:
    return terms.domains.title(value)


def _jurisdiction_title(value: str, terms: WorkspaceTerms) -> str:
    return terms.jurisdictions.title(value)


@dataclass(frozen=True, slots=True)
class _Widget:
    """`title` names a value for people; `closed` values are always offered, in order; others come from the counts.
    first: stands in sight, not among the further filters. many: a passage holds several values."""

    field: str
    label: str
    title: Title = _as_written
    closed: Sequence[str] = ()
    help: str = ""
    first: bool = True
    many: bool = False


_WIDGETS = (
    _Widget("truths", "Truth", _truth_title, tuple(Truth), "Which kind of truth a passage states."),
    _Widget("authorities", "Authority", _capital, tuple(Authority), "Who speaks."),
    _Widget("domains", "Domain", _domain_title),
    _Widget("jurisdictions", "Jurisdiction", _jurisdiction_title, help="Where a rule applies."),
    _Widget("projects", "Project", help="Documents without a project belong to every project."),
    _Widget("tags", "Tag", many=True),
    _Widget("documents", "Document"),
    _Widget("entities", "Named in the text", help="People, places, laws and forms.", first=False, many=True),
    _Widget("temporal_classes", "Temporal class", _capital, tuple(TemporalClass), first=False),
    _Widget("source_types", "Source type", _capital, tuple(SourceType), "Source channel", first=False),
    _Widget("origins", "Origin", _capital, tuple(Origin), "Content type", first=False),
    _Widget("sectors", "Sector", _capital, tuple(Sector), "Of insights and episodes.", first=False),
)
_SEEDING = "filter.seeding"
_COUNT, _NAME = "count", "name"
_ORDERS = {_COUNT: ":material/sort:", _NAME: ":material/sort_by_alpha:"}
_MODES = {"any": "Any of them", "all": "All of them"}
_LIVING, _TOO, _ONLY = "living", "too", "only"
_ARCHIVED: Mapping[str, bool | None] = {_LIVING: False, _TOO: None, _ONLY: True}
_ARCHIVED_WORDS = {_LIVING: "Left out", _TOO: "Searched too", _ONLY: "Only archived"}


def _key(name: str) -> str:
    """Where the state of a widget lives since the filters were last set as a whole."""
    seeding = st.session_state.get(_SEEDING, 0)
    return f"filter.{name}.{seeding}" if seeding else f"filter.{name}"


def _value_of(name: str, otherwise: Any = None) -> Any:
    return st.session_state.get(_key(name), otherwise)


def seed(filters: SearchFilters) -> None:
    """Set every widget to these filters, whatever a click under way still sends of the old ones."""
    values: dict[str, Any] = {
        f"{each.field}_mode": getattr(filters, f"{each.field}_mode") for each in _WIDGETS if each.many
    }
    for widget in _WIDGETS:
        for field in (widget.field, f"exclude_{widget.field}"):
            values[field] = [str(value) for value in getattr(filters, field)]
    values |= {"date_from": _as_day(filters.date_from), "date_to": _as_day(filters.date_to)}
    values |= {"recency_months": filters.recency_months, "include_undated": filters.include_undated}
    values["strict_labels"] = filters.strict_labels
    values["archived"] = next(word for word, meaning in _ARCHIVED.items() if meaning is filters.archived)
    state = st.session_state
    for name in values:
        state.pop(_key(name), None)
    state[_SEEDING] = state.get(_SEEDING, -1) + 1
    state.update({_key(name): value for name, value in values.items()})


def clear() -> None:
    """Widen the search to the whole library."""
    seed(SearchFilters())


def _as_day(moment: datetime | None) -> date | None:
    return moment.astimezone(UTC).date() if moment is not None else None


def filters_before_drawing(otherwise: SearchFilters) -> SearchFilters:
    """The filters in the session state before the widgets are drawn, so that counts include the last click; `otherwise`
    while they are invalid."""
    try:
        return _filters_in_state()
    except BadFilters:
        return otherwise


def draw_filters(
    facets: Facets, document_names: Mapping[str, str], terms: WorkspaceTerms, left_out: CountUndated | None = None
) -> SearchFilters:
    """Draw the widgets and return their filters. left_out: counts the undated documents that a date filter excludes;
    called only while one is set. Raises BadFilters."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        leaving = st.toggle(
            "Exclude",
            key="filter.leaving",
            persist_state="session",
            help="A second box per filter for values to exclude.",
        )
        order = st.segmented_control(
            "Order of the values",
            list(_ORDERS),
            default=_COUNT,
            required=True,
            key="filter.order",
            format_func=_ORDERS.__getitem__,
            label_visibility="collapsed",
            help="The most frequent values first, or by name.",
            persist_state="session",
        )
    drawing = _FieldBoxes(facets, document_names, terms, leaving=leaving, by_name=order == _NAME)
    for widget in _WIDGETS:
        if widget.first:
            drawing.field(widget)
    beside_dates = _dates()
    further = [widget for widget in _WIDGETS if not widget.first]
    used = sum(_is_set(widget) for widget in further) + (_value_of("archived", _LIVING) != _LIVING)
    used += bool(_value_of("strict_labels"))
    with st.expander(f"More filters{f' · {used} set' if used else ''}", icon=":material/tune:", expanded=used > 0):
        for widget in further:
            drawing.field(widget)
        _archived()
        _strict_labels()
    filters = _filters_in_state()
    if left_out is not None and filters.dated and not filters.include_undated and (number := left_out(filters)):
        beside_dates.caption(f":material/event_busy: {count(number, 'undated document')} left out by the dates.")
    return filters


def _strict_labels() -> None:
    st.toggle(
        "Certain labels only",
        key=_key("strict_labels"),
        help="Leave out passages whose truth, domain, authority or jurisdiction only may be the one you filter on.",
    )


def _archived() -> None:
    st.selectbox(
        "Old versions and archived documents",
        list(_ARCHIVED_WORDS),
        key=_key("archived"),
        format_func=_ARCHIVED_WORDS.__getitem__,
        help="What a newer version replaced, or was archived, is searched on request only.",
    )


def _is_set(widget: _Widget) -> bool:
    return bool(_chosen(widget.field) or _chosen(f"exclude_{widget.field}"))


def _chosen(field: str) -> list[str]:
    return list(_value_of(field) or ())


def _filters_in_state() -> SearchFilters:
    """The filters the session state holds. Raises BadFilters."""
    raw: dict[str, Any] = {}
    for widget in _WIDGETS:
        for field in (widget.field, f"exclude_{widget.field}"):
            raw[field] = [int(value) for value in _chosen(field)] if widget.field == "documents" else _chosen(field)
        if widget.many:
            raw[f"{widget.field}_mode"] = _value_of(f"{widget.field}_mode") or "any"
    months = _value_of("recency_months")
    raw |= {"recency_months": int(months) if months else None}
    raw |= {name: bool(_value_of(name)) for name in ("include_undated", "strict_labels")}
    raw |= {name: _value_of(name) for name in ("date_from", "date_to")}
    return check_filters(raw).replace(archived=_ARCHIVED[_value_of("archived", _LIVING)])


class _FieldBoxes:
    """Draws the boxes of a field; counts: value → passages under all other fields' filters."""

    def __init__(
        self, facets: Facets, names: Mapping[str, str], terms: WorkspaceTerms, *, leaving: bool, by_name: bool
    ) -> None:
        self._facets, self._names, self._terms = facets, names, terms
        self._leaving, self._by_name = leaving, by_name

    def field(self, widget: _Widget) -> None:
        """The box of a field, how its values join, and what is left out of it."""
        wanted, unwanted = _chosen(widget.field), _chosen(f"exclude_{widget.field}")
        offered = self._offered(widget, (*wanted, *unwanted))
        if not offered:
            return
        self._box(widget, offered, wanted, unwanted)
        if widget.many and (len(wanted) > 1 or _value_of(f"{widget.field}_mode") == "all"):
            self._mode(widget)
        if self._leaving or unwanted:
            self._box(widget, offered, unwanted, wanted, leave_out=True)

    def _offered(self, widget: _Widget, active: Sequence[str]) -> list[str]:
        """Closed values in their order, then values with passages; active values stay visible even at zero."""
        counts = self._counts(widget)
        known = [value for value, number in counts.items() if number or value in active]
        if self._by_name:
            known.sort(key=lambda value: self._title(widget, value).casefold())
        else:
            known.sort(key=lambda value: (-counts[value], self._title(widget, value).casefold()))
        return list(dict.fromkeys([*map(str, widget.closed), *known, *active]))

    def _counts(self, widget: _Widget) -> dict[str, int]:
        return {str(value): number for value, number in self._facets.get(widget.field, {}).items()}

    def _title(self, widget: _Widget, value: str) -> str:
        if widget.field == "documents":
            return self._names.get(value, f"document {value}")
        return widget.title(value, self._terms)

    def _box(
        self,
        widget: _Widget,
        offered: Sequence[str],
        chosen: Collection[str],
        other: Collection[str],
        *,
        leave_out: bool = False,
    ) -> None:
        """One box. A value of the other box is not offered: nothing can be wanted and left out."""
        counts = self._counts(widget)
        label = f"⊘ {widget.label}: exclude" if leave_out else widget.label
        st.multiselect(
            label,
            [value for value in offered if value in chosen or value not in other],
            key=_key(f"{'exclude_' if leave_out else ''}{widget.field}"),
            format_func=lambda value: f"{self._title(widget, value)} ({counts.get(value, 0):,})",
            help=None if leave_out else widget.help or None,
            placeholder="No exclusions" if leave_out else "Any",
            label_visibility="visible",
        )

    def _mode(self, widget: _Widget) -> None:
        st.segmented_control(
            f"{widget.label}: any or all",
            list(_MODES),
            key=_key(f"{widget.field}_mode"),
            required=True,
            format_func=_MODES.__getitem__,
            label_visibility="collapsed",
        )


def _dates() -> Any:
    """The date widgets; returns their container."""
    with st.expander(f"Date{_date_words()}", icon=":material/calendar_month:", expanded=bool(_date_words())) as box:
        months = {"min_value": 1, "max_value": 600, "value": None, "placeholder": "Any age"}
        st.number_input("Last months", key=_key("recency_months"), **months)  # type: ignore[call-overload]
        first = date(1900, 1, 1)
        st.date_input("From", value=None, key=_key("date_from"), format="YYYY-MM-DD", min_value=first)
        st.date_input("To", value=None, key=_key("date_to"), format="YYYY-MM-DD", min_value=first)
        st.toggle(
            "Undated documents too",
            key=_key("include_undated"),
            help="The date is the document's own, not its upload's. A dated search leaves undated documents out.",
        )
    return box


def _date_words() -> str:
    """The active date filters, for the heading of the closed box."""
    start, end, months = (_value_of(name) for name in ("date_from", "date_to", "recency_months"))
    parts = [f"from {start}" if start else "", f"to {end}" if end else "", f"last {months} months" if months else ""]
    words = ", ".join(part for part in parts if part)
    return f" · {words}" if words else ""
