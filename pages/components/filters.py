"""Filter widgets with contextual counts. Each categorical filter of core.domain.filters.FIELDS is one row of WIDGETS.

Every field is a check list; a value is wanted, excluded, or neither. State lives under "filter.<field>" and
"filter.exclude_<field>"; `seed` fills it before anything is drawn. Each seeding after the first uses new names,
"filter.<field>.<n>": with a click made before the browser received it come the old values of the plain widgets, and
they must not count. A click in a check list is sent as one change of one value, so nothing old comes with it.
"""
# Over 300 lines: check lists, dates and chips, all over the same state.

from calendar import monthrange
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import streamlit as st

from core.domain.documents import Authority, Origin, Sector, SourceType, TemporalClass, Truth
from core.domain.errors import BadFilters
from core.domain.filters import SearchFilters, check_filters
from core.knowledge.glossary import meaning
from core.knowledge.workspace_terms import WorkspaceTerms
from pages.components import browser_scripts
from pages.components.styles import truth_style
from pages.components.wording import count, plain, shorten_middle

__all__ = [
    "WIDGETS",
    "Chip",
    "Facets",
    "clear",
    "date_bars",
    "draw_chips",
    "draw_filters",
    "filter_groups",
    "filters_before_drawing",
    "seed",
    "set_value",
]

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
    term: the glossary's name of the field, whose meaning is shown on hover; `help` where it has none. first: stands in
    sight, not among the further filters. many: a passage holds several values."""

    field: str
    label: str
    title: Title = _as_written
    closed: Sequence[str] = ()
    term: str = ""
    help: str = ""
    first: bool = True
    many: bool = False


WIDGETS = (
    _Widget("truths", "Truth", _truth_title, tuple(Truth), "truth"),
    _Widget("authorities", "Authority", _capital, tuple(Authority), "authority"),
    _Widget("domains", "Domain", _domain_title, term="domain"),
    _Widget("jurisdictions", "Jurisdiction", _jurisdiction_title, term="jurisdiction"),
    _Widget("projects", "Project", term="project"),
    _Widget("tags", "Tag", many=True),
    _Widget("documents", "Document", term="document"),
    _Widget("entities", "Named in the text", term="entity", first=False, many=True),
    _Widget("temporal_classes", "Temporal class", _capital, tuple(TemporalClass), "temporal_class", first=False),
    _Widget("source_types", "Source type", _capital, tuple(SourceType), help="Source channel", first=False),
    _Widget("origins", "Origin", _capital, tuple(Origin), help="Content type", first=False),
    _Widget("sectors", "Sector", _capital, tuple(Sector), "sector", first=False),
)
_SEEDING = "filter.seeding"
_LIVING, _TOO, _ONLY = "living", "too", "only"
_ARCHIVED: Mapping[str, bool | None] = {_LIVING: False, _TOO: None, _ONLY: True}
_ARCHIVED_WORDS = {_LIVING: "Excluded", _TOO: "Included", _ONLY: "Only archived"}


def _key(name: str) -> str:
    """Where the state of a widget lives since the filters were last set as a whole."""
    seeding = st.session_state.get(_SEEDING, 0)
    return f"filter.{name}.{seeding}" if seeding else f"filter.{name}"


def _value_of(name: str, otherwise: Any = None) -> Any:
    return st.session_state.get(_key(name), otherwise)


def seed(filters: SearchFilters) -> None:
    """Set every widget to these filters, whatever a click under way still sends of the old ones."""
    values: dict[str, Any] = {
        f"{each.field}_mode": getattr(filters, f"{each.field}_mode") for each in WIDGETS if each.many
    }
    for widget in WIDGETS:
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
    facets: Facets,
    document_names: Mapping[str, str],
    terms: WorkspaceTerms,
    left_out: CountUndated | None = None,
    months: Mapping[str, int] | None = None,
) -> SearchFilters:
    """Draw the check lists and dates, and return their filters. left_out: counts the undated documents that a date
    filter excludes; called only while one is set. months: "2024-05" → passages. Raises BadFilters."""
    first = [widget for widget in WIDGETS if widget.first]
    further = [widget for widget in WIDGETS if not widget.first]
    bars = date_bars(months or {}, _value_of("date_from"), _value_of("date_to"))
    _draw_lists("first", filter_groups(first, facets, document_names, terms), bars)
    beside_dates = _dates()
    used = sum(_is_set(widget) for widget in further) + (_value_of("archived", _LIVING) != _LIVING)
    used += bool(_value_of("strict_labels"))
    with st.expander(f"More filters{f' · {used} set' if used else ''}", icon=":material/tune:", expanded=used > 0):
        _draw_lists("further", filter_groups(further, facets, document_names, terms), [])
        _archived()
        _strict_labels()
    filters = _filters_in_state()
    if left_out is not None and filters.dated and not filters.include_undated and (number := left_out(filters)):
        beside_dates.caption(f":material/event_busy: {count(number, 'undated document')} left out by the dates.")
    return filters


def _draw_lists(name: str, groups: Sequence[Mapping[str, Any]], bars: Sequence[Mapping[str, Any]]) -> None:
    key = f"filter.lists.{name}"
    draw = browser_scripts.browser_component("fivefold_filters", "filters.js")
    draw(
        key=key, data={"groups": groups, "bars": bars}, on_changed_change=lambda: _apply(st.session_state[key].changed)
    )


def _apply(change: Mapping[str, Any] | None) -> None:
    """What was clicked in the check lists or the date bars."""
    if not change:
        return
    if "mode" in change:
        st.session_state[_key(f"{change['field']}_mode")] = change["mode"]
    elif "find" in change:
        st.session_state[_find_key(change["field"])] = change["find"]
    elif "from" in change:
        for name, day in (("date_from", change["from"]), ("date_to", change["to"])):
            st.session_state[_key(name)] = date.fromisoformat(day) if day else None
    else:
        set_value(change["field"], change["value"], change["state"])


def _find_key(field: str) -> str:
    """Where the letters typed to find a value live; setting the filters as a whole leaves them."""
    return f"filter.{field}_find"


def set_value(field: str, value: str, state: str) -> None:
    """Narrow a field to a value ("in"), exclude it ("out"), or neither ("")."""
    for name, holds in ((field, state == "in"), (f"exclude_{field}", state == "out")):
        rest = [each for each in _chosen(name) if each != value]
        st.session_state[_key(name)] = [*rest, value] if holds else rest


def _strict_labels() -> None:
    st.toggle(
        "Certain labels only",
        key=_key("strict_labels"),
        help="Exclude passages whose labels are uncertain and may not be the ones you filter on.",
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
    for widget in WIDGETS:
        for field in (widget.field, f"exclude_{widget.field}"):
            raw[field] = [int(value) for value in _chosen(field)] if widget.field == "documents" else _chosen(field)
        if widget.many:
            raw[f"{widget.field}_mode"] = _value_of(f"{widget.field}_mode") or "any"
    months = _value_of("recency_months")
    raw |= {"recency_months": int(months) if months else None}
    raw |= {name: bool(_value_of(name)) for name in ("include_undated", "strict_labels")}
    raw |= {name: _value_of(name) for name in ("date_from", "date_to")}
    return check_filters(raw).replace(archived=_ARCHIVED[_value_of("archived", _LIVING)])


# Long: all that one check list is drawn from.
def filter_groups(
    widgets: Sequence[_Widget], facets: Facets, names: Mapping[str, str], terms: WorkspaceTerms
) -> list[dict[str, Any]]:
    """What the check lists are drawn from: per field its values with their passages under all other fields' filters.

    Closed values come in their order, the others by count. An active value stays, even at zero. Of very many values
    only the most frequent are sent, or those that have the letters typed to find one."""
    groups = []
    for widget in widgets:
        counts = {str(value): number for value, number in facets.get(widget.field, {}).items()}
        included, unwanted = _chosen(widget.field), _chosen(f"exclude_{widget.field}")
        known = [value for value, number in counts.items() if number]
        titles = {
            value: _title(widget, value, names, terms) for value in (*widget.closed, *known, *included, *unwanted)
        }
        known.sort(key=lambda value: (-counts[value], titles[value].casefold()))
        partial = len(known) > _MOST_VALUES
        known = _with_letters(widget.field, known, titles) if partial else known
        withheld, known = max(len(known) - _MOST_VALUES, 0), known[:_MOST_VALUES]
        offered = list(dict.fromkeys([*map(str, widget.closed), *known, *included, *unwanted]))
        if not offered and not partial:
            continue
        most = max([counts.get(value, 0) for value in offered] + [1])
        state = dict.fromkeys(included, "in") | dict.fromkeys(unwanted, "out")
        values = [
            {
                "value": value,
                "title": titles[value],
                "count": counts.get(value, 0),
                "share": round(counts.get(value, 0) / most, 3),
                "state": state.get(value, ""),
                "colour": truth_style(value).colour if widget.field == "truths" else "primary",
            }
            for value in offered
        ]
        mode = _value_of(f"{widget.field}_mode") or "any" if widget.many else ""
        joins = mode if len(included) > 1 or mode == "all" else ""
        about = {
            "field": widget.field,
            "label": widget.label,
            "help": meaning(widget.term) if widget.term else widget.help,
        }
        groups.append({**about, "values": values, "mode": joins, "partial": partial, "withheld": withheld})
    return groups


def _with_letters(field: str, values: Sequence[str], titles: Mapping[str, str]) -> list[str]:
    """The values whose title has the letters typed to find one; all without letters."""
    letters = str(st.session_state.get(_find_key(field), "")).strip().casefold()
    return [value for value in values if letters in titles[value].casefold()]


_MOST_VALUES = 100  # of a field sent to the browser at once: each costs some 150 bytes at every click


def _title(widget: _Widget, value: str, names: Mapping[str, str], terms: WorkspaceTerms) -> str:
    if widget.field == "documents":
        return names.get(value, f"document {value}")
    return widget.title(value, terms)


_QUARTERS_UP_TO = 3
"""Years that are drawn by quarter; more are drawn by year, so that a bar stays wide enough to hit."""


def date_bars(months: Mapping[str, int], start: date | None, end: date | None) -> list[dict[str, Any]]:
    """The bars of the date histogram, without gaps: label, first and last day, passages, and whether the dates from
    `start` to `end` include it. months: "2024-05" → passages.

    >>> [(bar["label"], bar["count"]) for bar in date_bars({"2023-11": 2, "2024-02": 1}, None, None)]
    [('2023 Q4', 2), ('2024 Q1', 1)]
    """
    if not months:
        return []
    first, last = int(min(months)[:4]), int(max(months)[:4])
    long = 3 if last - first < _QUARTERS_UP_TO else 12  # months of a bar
    counted: dict[tuple[int, int], int] = {}
    for month, number in months.items():
        bar = (int(month[:4]), (int(month[5:7]) - 1) // long)
        counted[bar] = counted.get(bar, 0) + number
    every = [(year, part) for year in range(first, last + 1) for part in range(12 // long)]
    bars = []
    for year, part in (each for each in every if min(counted) <= each <= max(counted)):
        after = part * long + long  # months of the year up to the end of this bar
        begin, finish = date(year, part * long + 1, 1), date(year, after, monthrange(year, after)[1])
        dated = start is not None or end is not None
        bars.append(
            {
                "label": f"{year} Q{part + 1}" if long < 12 else str(year),
                "from": begin.isoformat(),
                "to": finish.isoformat(),
                "count": counted.get((year, part), 0),
                "on": dated and (start is None or start <= finish) and (end is None or end >= begin),
            }
        )
    return bars


_MOST_CHIPS = 6  # values of one field with a chip each; more share one. Chosen by hand.


Chip = tuple[str, str, Callable[..., None], tuple[Any, ...]]
"""Key, label, and what removes it."""


def draw_chips(
    document_names: Mapping[str, str],
    terms: WorkspaceTerms,
    others: Sequence[Chip] = (),
    beside: Callable[[], None] = lambda: None,
) -> None:
    """The active filters as buttons that remove them, and one that removes all. others: chips of the page's own.
    beside: draws what follows them."""
    chips = [*others]
    chips += [chip for widget in WIDGETS for chip in _chips_of(widget, document_names, terms)]
    if words := _date_words():
        chips.append(("dates", f"Date:{words.replace(' ·', '', 1)}", _clear_dates, ()))
    if (archived := _value_of("archived", _LIVING)) != _LIVING:
        reset = ("archived", _LIVING)
        chips.append(("archived", f"Archived: {_ARCHIVED_WORDS[archived].casefold()}", _set_state, reset))
    if _value_of("strict_labels"):
        chips.append(("strict_labels", "Certain labels only", _set_state, ("strict_labels", False)))
    if not chips:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="filter_chips"):
        for name, label, remove, args in chips:
            st.button(
                label,
                key=f"filter.chip.{name}",
                icon=":material/close:",
                icon_position="right",
                help="Remove this filter",
                on_click=remove,
                args=args,
            )
        st.button("Clear all", key="filter.chips.clear", type="tertiary", on_click=_clear_all, args=(others,))
        beside()


def _clear_all(others: Sequence[Chip]) -> None:
    clear()
    for _, _, remove, args in others:
        remove(*args)


def _chips_of(widget: _Widget, names: Mapping[str, str], terms: WorkspaceTerms) -> list[Chip]:
    chips: list[Chip] = []
    for field, word in ((widget.field, ""), (f"exclude_{widget.field}", "not ")):
        chosen = _chosen(field)
        if len(chosen) > _MOST_CHIPS:
            label = f"{widget.label}: {word}{len(chosen)} values"
            chips.append((field, label, _set_state, (field, [])))
            continue
        for value in chosen:
            title = plain(shorten_middle(_title(widget, value, names, terms), _CHIP_LETTERS))
            chips.append((f"{field}.{value}", f"{widget.label}: {word}{title}", set_value, (widget.field, value, "")))
    return chips


_CHIP_LETTERS = 40  # of a value in its chip


def _set_state(name: str, value: Any) -> None:
    st.session_state[_key(name)] = value


def _clear_dates() -> None:
    for name in ("date_from", "date_to", "recency_months"):
        st.session_state[_key(name)] = None


def _dates() -> Any:
    """The date widgets; returns their container."""
    with st.expander(
        f"Exact dates{_date_words()}", icon=":material/calendar_month:", expanded=bool(_date_words())
    ) as box:
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
