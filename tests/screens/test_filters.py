"""Filters: every field narrows and leaves out, counts honour each other, active values stay, the view survives."""

import re
from dataclasses import fields
from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.filters import FIELDS, SearchFilters
from core.domain.queries import SearchRequest
from pages.components import filters as parts
from pages.components.urls import params_of, request_from
from tests.screens.conftest import Opened, Stack, words

QUESTION = "When must overtime be paid at one and one-half times the regular rate?"

_KEPT = st.text(min_size=1, max_size=8).filter(lambda said: "\0" not in said)
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


def _options(screen: Any, field: str) -> dict[str, int]:
    """Value as it is shown → its count."""
    found = [re.fullmatch(r"(.+) \(([\d,]+)\)", each) for each in screen.multiselect(key=f"filter.{field}").options]
    return {match[1]: int(match[2].replace(",", "")) for match in found if match}


def _keys(screen: Any) -> set[str]:
    return {box.key for box in screen.multiselect}


def test_a_second_box_leaves_out_and_is_there_only_when_it_is_wanted(stocked: Stack, opened: Opened) -> None:
    screen = opened("search.py", q=QUESTION)
    assert "filter.exclude_truths" not in _keys(screen)
    screen.toggle(key="filter.leaving").set_value(True).run()
    screen.multiselect(key="filter.exclude_truths").set_value(["regulatory"]).run()
    assert screen.query_params["exclude_truths"] == "regulatory"
    assert "truth is not regulatory" in words(screen).replace("\\", "")
    screen.toggle(key="filter.leaving").set_value(False).run()
    assert "filter.exclude_truths" in _keys(screen) and "filter.exclude_domains" not in _keys(screen)
    assert screen.multiselect(key="filter.exclude_truths").value == ["regulatory"]


def test_a_url_that_leaves_something_out_shows_it(stocked: Stack, opened: Opened) -> None:
    screen = opened("search.py", q=QUESTION, exclude_documents=["2"], exclude_source_types=["feed"])
    assert screen.multiselect(key="filter.exclude_documents").value == ["2"]
    assert screen.multiselect(key="filter.exclude_source_types").value == ["feed"]
    assert any("More filters · 1 set" in each.label for each in screen.expander)


def test_a_value_cannot_be_wanted_and_left_out_at_once(stocked: Stack, opened: Opened) -> None:
    screen = opened("search.py", q=QUESTION, truths=["regulatory"], exclude_truths=["intent"])
    assert not any("Intent" in each for each in _options(screen, "truths"))
    assert not any("Regulatory" in each for each in _options(screen, "exclude_truths"))


def test_an_active_value_stays_in_sight_at_zero(stocked: Stack, opened: Opened) -> None:
    screen = opened("search.py", q=QUESTION, tags=["never used"], projects=["Nowhere"])
    assert _options(screen, "tags") == {"never used": 0}
    assert _options(screen, "projects")["Nowhere"] == 0


def test_counts_are_those_of_the_other_filters(stocked: Stack, opened: Opened) -> None:
    screen = opened("search.py", q=QUESTION, projects=["Tallgrass"])
    before = _options(opened("search.py", q=QUESTION), "documents")
    after = _options(screen, "documents")
    narrowed = stocked.workbench.search.facets(SearchFilters(projects=("Tallgrass",)))["documents"]
    assert sum(after.values()) == sum(narrowed.values()) and sum(before.values()) >= sum(after.values())


def test_values_stand_by_count_or_by_name(stocked: Stack, opened: Opened) -> None:
    stocked.add("aaa.md", "# Short\nOvertime is paid.\n")
    screen = opened("search.py", q=QUESTION)
    counts = list(_options(screen, "documents").values())
    assert counts == sorted(counts, reverse=True)
    screen.segmented_control(key="filter.order").set_value("name").run()
    names = list(_options(screen, "documents"))
    assert names == sorted(names, key=str.casefold) and names[0] == "aaa.md"


@pytest.mark.parametrize(("chosen", "offered"), [(["a"], False), (["a", "b"], True)])
def test_any_or_all_is_asked_once_there_are_two_tags(
    stocked: Stack, opened: Opened, chosen: list[str], offered: bool
) -> None:
    stocked.add("tagged.md", POLICY, tags=("a", "b"))
    screen = opened("search.py", q=QUESTION, tags=chosen)
    modes = [each for each in screen.segmented_control if each.key == "filter.tags_mode"]
    assert bool(modes) == offered
    if offered:
        modes[0].set_value("all").run()
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

    narrowed = filters.draw_filters({"tags": {"a": 3}}, {}, BUILT_IN_TERMS, lambda asked: 4)
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
