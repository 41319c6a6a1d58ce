"""A filter inside another admits exactly what both admit, or says why it cannot."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.documents import Authority, Passage, Truth
from core.domain.errors import BadFilters
from core.domain.filters import SearchFilters
from core.search.query.filter_intersection import narrowed

PLAIN = Passage("words", 1, 0, 5, ())
NOW = datetime(2026, 1, 15, tzinfo=UTC)
tags = st.lists(st.sampled_from("abc"), unique=True, max_size=3).map(tuple)
truths = st.lists(st.sampled_from([each.value for each in Truth][:3]), unique=True, max_size=2).map(tuple)
projects = st.lists(st.sampled_from(["p", "q"]), unique=True, max_size=2).map(tuple)
days = st.integers(1, 28).map(lambda day: datetime(2026, 1, day, tzinfo=UTC))
passages = st.builds(
    lambda **labels: replace(PLAIN, **labels),
    truth=st.none() | st.sampled_from(list(Truth)[:3]),
    tags=tags,
    project=st.sampled_from([None, "p", "q"]),
    authority=st.none() | st.sampled_from(list(Authority)),
    date=st.none() | days,
    archived=st.booleans(),
    document_id=st.integers(1, 3),
)
filters = st.builds(
    SearchFilters,
    truths=truths,
    exclude_truths=truths,
    tags=tags,
    tags_mode=st.sampled_from(["any", "all"]),
    exclude_tags=tags,
    projects=projects,
    exclude_authorities=st.lists(st.sampled_from([each.value for each in Authority]), max_size=2).map(tuple),
    documents=st.lists(st.integers(1, 3), unique=True, max_size=2).map(tuple),
    date_from=st.none() | days,
    date_to=st.none() | days,
    recency_months=st.none() | st.integers(1, 3),
    include_undated=st.booleans(),
    archived=st.sampled_from([None, False, True]),
)


@given(filters, filters, st.lists(passages, min_size=1, max_size=12))
def test_what_is_narrowed_admits_what_both_admit(
    outer: SearchFilters, inner: SearchFilters, stored: list[Passage]
) -> None:
    try:
        both = narrowed(outer, inner).resolved(NOW)
    except BadFilters:
        return
    for passage in stored:
        expected = outer.resolved(NOW).admits(passage) and inner.resolved(NOW).admits(passage)
        assert both.admits(passage) == expected


@given(filters.filter(lambda each: not (each.date_from and each.date_to) or each.date_from <= each.date_to))
def test_nothing_said_narrows_nothing(outer: SearchFilters) -> None:
    both = narrowed(outer, SearchFilters(archived=None))
    assert all(both.resolved(NOW).admits(each) == outer.resolved(NOW).admits(each) for each in EVERY)


EVERY = [
    replace(PLAIN, truth=truth, tags=stored, project=project, date=date, archived=archived)
    for truth in (None, Truth.REGULATORY, Truth.INTENT)
    for stored in ((), ("a",), ("a", "b"))
    for project in (None, "p")
    for date in (None, datetime(2026, 1, 10, tzinfo=UTC))
    for archived in (False, True)
]


def test_every_field_without_anything_in_common_is_named() -> None:
    outer = SearchFilters(truths=("regulatory",), tags=("a", "b"), date_from=datetime(2026, 1, 2, tzinfo=UTC))
    inner = SearchFilters(truths=("intent",), tags=("c",), date_to=datetime(2026, 1, 1, tzinfo=UTC), archived=True)
    with pytest.raises(BadFilters) as raised:
        narrowed(outer, inner)
    assert [problem.split(":")[0] for problem in raised.value.problems] == ["truths", "tags", "date_from", "archived"]
