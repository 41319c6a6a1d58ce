"""Filters: every field narrows and leaves out, counts honour each other, active values stay, the view survives."""

from dataclasses import fields
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.filters import FIELDS, SearchFilters
from core.domain.queries import SearchRequest
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from pages.components import filters as parts
from pages.components.filters import Facets
from pages.components.urls import params_of, request_from
from tests.screens.conftest import Opened, Stack, words

QUESTION = "When must overtime be paid at one and one-half times the regular rate?"

_KEPT = st.text(min_size=1, max_size=8).filter(lambda expected: "\0" not in expected)
"""What a store can keep; the rest is replaced before it is a filter."""


def _values(name: str) -> st.SearchStrategy[tuple[Any, ...]]:
    """Values of a filter field: of its closed set, numbers of documents, or any words."""
    field = next(each for each in FIELDS if each.name == name.removeprefix("exclude_"))
    if field.values is not None:
        each: st.SearchStrategy[Any] = st.sampled_from([value.value for value in field.values])
    else:
        each = st.integers(1, 10**9) if field.name == "documents" else _KEPT
    return st.lists(each, unique=True, max_size=3).map(tuple)


days = st.dates(datetime(1950, 1, 1).date(), datetime(2090, 1, 1).date())
starts = days.map(lambda day: datetime.combine(day, time.min, UTC))
ends = days.map(lambda day: datetime.combine(day, time.min, UTC) + timedelta(days=1, microseconds=-1))
modes = st.sampled_from(["any", "all"])
every_field = {f"{prefix}{field.name}": _values(field.name) for field in FIELDS for prefix in ("", "exclude_")}
filters = st.builds(
    SearchFilters,
    **every_field,
    tags_mode=modes,
    entities_mode=modes,
    date_from=st.none() | starts,
    date_to=st.none() | ends,
    recency_months=st.none() | st.integers(1, 600),
    include_undated=st.booleans(),
    strict_labels=st.booleans(),
    archived=st.sampled_from([None, False, True]),
).filter(lambda each: not (each.date_from and each.date_to) or each.date_from <= each.date_to)


def test_every_field_of_a_filter_is_tried() -> None:
    tried = {*every_field, "tags_mode", "entities_mode", "date_from", "date_to", "recency_months"}
    assert {each.name for each in fields(SearchFilters)} == {*tried, "include_undated", "strict_labels", "archived"}


@given(filters)
def test_what_is_wanted_and_what_is_left_out_survives_the_url(narrowed: SearchFilters) -> None:
    request = SearchRequest("overtime", narrowed)
    assert request_from(params_of(request)) == request


@given(filters)
def test_what_the_widgets_are_set_to_is_what_they_say(narrowed: SearchFilters) -> None:
    parts.seed(narrowed)
    assert parts.filters_before_drawing(SearchFilters()) == narrowed
    parts.clear()
    assert parts.filters_before_drawing(narrowed) == SearchFilters()


def _lists(facets: Facets, **chosen: list[str]) -> dict[str, dict[str, Any]]:
    """Field → what its check list is drawn from, while these values are chosen."""
    parts.seed(SearchFilters(**{name: tuple(values) for name, values in chosen.items()}))
    groups = parts.filter_groups(parts.WIDGETS, facets, {"7": "Guide.pdf"}, BUILT_IN_TERMS)
    return {group["field"]: group for group in groups}


def _counts(group: dict[str, Any]) -> dict[str, int]:
    return {each["title"]: each["count"] for each in group["values"]}


def _states(group: dict[str, Any]) -> dict[str, str]:
    return {each["value"]: each["state"] for each in group["values"]}


def test_a_value_is_wanted_excluded_or_neither() -> None:
    parts.clear()
    parts.set_value("truths", "intent", "in")
    parts.set_value("truths", "reality", "out")
    assert parts.filters_before_drawing(SearchFilters()) == SearchFilters(
        truths=("intent",), exclude_truths=("reality",)
    )
    parts.set_value("truths", "intent", "out")
    parts.set_value("truths", "reality", "")
    assert parts.filters_before_drawing(SearchFilters()) == SearchFilters(exclude_truths=("intent",))


def test_lists_say_what_is_wanted_and_what_is_excluded() -> None:
    lists = _lists({"documents": {"7": 3}}, truths=["intent"], exclude_truths=["reality"])
    assert {value: state for value, state in _states(lists["truths"]).items() if state} == {
        "intent": "in",
        "reality": "out",
    }
    assert _counts(lists["documents"]) == {"Guide.pdf": 3}


def test_an_active_value_stays_in_sight_at_zero() -> None:
    lists = _lists({}, tags=["never used"], exclude_projects=["Nowhere"])
    assert _counts(lists["tags"]) == {"never used": 0} and _counts(lists["projects"]) == {"Nowhere": 0}


def test_values_stand_by_count_and_lists_without_values_are_left_out() -> None:
    lists = _lists({"tags": {"b": 2, "a": 2, "c": 5, "none": 0}})
    assert list(_counts(lists["tags"])) == ["c", "a", "b"] and "entities" not in lists


def test_of_very_many_values_the_most_frequent_are_sent_and_any_is_found_by_its_letters() -> None:
    facets = {"tags": {f"tag {number:03}": 500 - number for number in range(300)}}
    sent = _lists(facets, tags=["tag 299"])["tags"]
    assert len(sent["values"]) == 101 and sent["values"][0]["title"] == "tag 000" and sent["withheld"] == 200
    assert _states(sent)["tag 299"] == "in", "an active value is always sent"
    parts._apply({"field": "tags", "find": "G 25"})
    sent = _lists(facets)["tags"]
    assert [each["title"] for each in sent["values"]] == [f"tag 25{number}" for number in range(10)]
    assert sent["partial"] and not sent["withheld"]
    parts._apply({"field": "tags", "find": "nowhere"})
    assert _lists(facets)["tags"]["values"] == [], "the field stays, so that other letters can be typed"
    parts._apply({"field": "tags", "find": ""})
    assert not _lists({"tags": {"a": 1}})["tags"]["partial"]


def test_dates_become_bars_without_gaps_and_the_chosen_ones_are_marked() -> None:
    bars = parts.date_bars({"2015-03": 2, "2020-11": 4}, date(2017, 5, 1), None)
    assert [bar["label"] for bar in bars] == ["2015", "2016", "2017", "2018", "2019", "2020"]
    assert [bar["count"] for bar in bars] == [2, 0, 0, 0, 0, 4]
    assert [bar["label"] for bar in bars if bar["on"]] == ["2017", "2018", "2019", "2020"]
    assert (bars[0]["from"], bars[0]["to"]) == ("2015-01-01", "2015-12-31")
    assert parts.date_bars({}, None, None) == []


def test_months_are_counted_under_every_filter_but_the_dates(stocked: Stack) -> None:
    stocked.add("dated.md", "# Overtime rules\nEffective date: March 3, 2021\n\nOvertime must be approved.\n")
    search, late = stocked.workbench.search, datetime(2100, 1, 1, tzinfo=UTC)
    every = search.months(SearchFilters())
    assert every.get("2021-03", 0) > 0 and search.months(SearchFilters(date_from=late)) == every
    assert search.months(SearchFilters(documents=(10**6,))) == {}


@pytest.mark.parametrize(("chosen", "offered"), [(["a"], False), (["a", "b"], True)])
def test_any_or_all_is_asked_once_there_are_two_tags(
    stocked: Stack, opened: Opened, chosen: list[str], offered: bool
) -> None:
    stocked.add("tagged.md", POLICY, tags=("a", "b"))
    screen = opened("search.py", q=QUESTION, tags=chosen)
    assert bool(_lists({}, tags=chosen)["tags"]["mode"]) == offered
    if offered:
        screen.session_state["filter.tags_mode"] = "all"
        screen.run()
        assert screen.query_params["tags_mode"] == "all"
        assert "tag is a and b" in words(screen)


POLICY = "# Overtime\nOvertime must be approved by a manager before it is worked.\n"


def test_archived_documents_can_be_searched(stocked: Stack, opened: Opened) -> None:
    stocked.workbench.documents.archive(stocked.add("old_policy.md", POLICY), archived=True)
    screen = opened("search.py", q=QUESTION)
    assert "old\\_policy" not in words(screen)
    screen.selectbox(key="filter.archived").set_value("only").run()
    assert screen.query_params["archived"] == "only" and "old\\_policy" in words(screen)


def test_dates_that_make_no_sense_leave_the_filters_where_they_can_be_corrected(stocked: Stack, opened: Opened) -> None:
    screen = opened("search.py", q=QUESTION)
    screen.date_input(key="filter.date_from").set_value(datetime(2026, 2, 1).date()).run()
    screen.date_input(key="filter.date_to").set_value(datetime(2026, 1, 1).date()).run()
    assert "date_from must be" in screen.warning[0].value.replace("\\", "")
    screen.date_input(key="filter.date_to").set_value(datetime(2026, 3, 1).date()).run()
    assert not screen.warning


def _dated_page() -> None:
    import streamlit as st

    from core.knowledge.workspace_terms import BUILT_IN_TERMS
    from pages.components import filters

    narrowed = filters.draw_filters({"tags": {"a": 3}}, {}, BUILT_IN_TERMS, lambda query: 4)
    st.write(str(narrowed.dated))


def test_how_many_undated_documents_are_left_out_is_told_beside_the_dates() -> None:
    from streamlit.testing.v1 import AppTest

    screen = AppTest.from_function(_dated_page).run()
    assert not any("undated" in each.value for each in screen.caption)
    screen.number_input(key="filter.recency_months").set_value(6).run()
    assert any("4 undated documents left out" in each.value for each in screen.caption)
    assert any("last 6 months" in each.label for each in screen.expander)
    screen.toggle(key="filter.include_undated").set_value(True).run()
    assert not any("undated" in each.value for each in screen.caption)
