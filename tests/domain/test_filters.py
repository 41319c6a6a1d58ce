"""Filters: what raw input is refused, what a bound means, what a passage must hold to pass."""

import pickle
from datetime import UTC, datetime, timedelta, timezone

import pytest

from core.domain.documents import Passage, Truth
from core.domain.errors import BadFilters
from core.domain.filters import FIELDS, MetadataFilter, SearchFilters, check_filters, parse_bound

MARCH = datetime(2024, 3, 15, 12, tzinfo=UTC)


def passage(**values: object) -> Passage:
    return Passage(text="Pay overtime.", page=1, start=0, end=13, sentences=(), **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("raw", "problems"),
    [
        ({"source_types": ["fax"]}, ("Invalid source types: ['fax']",)),
        ({"tags": ["payroll", 123]}, ("tags must be a list of strings",)),
        ({"tags": "payroll"}, ("tags must be a list of strings",)),
        ({"documents": ["one"]}, ("documents must be a list of numbers",)),
        ({"documents": [True]}, ("documents must be a list of numbers",)),
        ({"documents": [3, 2**63]}, (f"Invalid documents: ['{2**63}']",)),
        ({"exclude_documents": [-1]}, ("Invalid exclude documents: ['-1']",)),
        ({"date_to": "2026-13-99"}, ("date_to is not a date: '2026-13-99'",)),
        ({"date_from": "0001-01-01T00:00+05:00"}, ("date_from is not a date: '0001-01-01T00:00+05:00'",)),
        ({"date_from": "2024-02-02", "date_to": "2024-02-01"}, ("date_from must be <= date_to",)),
        ({"recency_months": 0}, ("recency_months must be a whole number above 0, not 0",)),
        ({"tags_mode": "some"}, ("tags_mode must be 'any' or 'all', not 'some'",)),
        ({"include_undated": "yes"}, ("include_undated must be true or false, not 'yes'",)),
        ({"colour": ["red"]}, ("unknown filter: 'colour'",)),
        (
            {"date_from": "soon", "exclude_truths": ["opinion"], "truths": ["belief"]},
            ("Invalid truths: ['belief']", "date_from is not a date: 'soon'", "Invalid exclude truths: ['opinion']"),
        ),
    ],
)
def test_invalid_input_lists_every_problem_in_field_order(raw: dict[str, object], problems: tuple[str, ...]) -> None:
    with pytest.raises(BadFilters) as caught:
        check_filters(raw)
    assert caught.value.problems == problems


def test_an_invalid_value_is_answered_with_the_valid_ones() -> None:
    with pytest.raises(BadFilters) as caught:
        check_filters({"origins": ["graph"], "exclude_origins": ["web"], "tags": "payroll"})
    assert caught.value.problems[0] == "Invalid origins: ['graph']"
    assert caught.value.hint == "Correct the filter and search again. Origins are: document, insight, episode."
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_the_former_origin_of_stored_filters_means_documents_and_excludes_nothing() -> None:
    stored = SearchFilters(origins=("graph", "insight", "document"), exclude_origins=("graph", "episode"))
    assert (stored.origins, stored.exclude_origins) == (("document", "insight"), ("episode",))
    assert SearchFilters(origins=("graph",)).admits(passage())
    assert SearchFilters(exclude_origins=("graph",)) == SearchFilters()


@pytest.mark.parametrize("raw", [{}, {"truths": None}, {"truths": []}, {"tags": ()}])
def test_none_and_empty_mean_no_restriction(raw: dict[str, object]) -> None:
    assert check_filters(raw) == SearchFilters()


@pytest.mark.parametrize(
    ("value", "upper", "moment"),
    [
        ("2024-03-15", False, datetime(2024, 3, 15, tzinfo=UTC)),
        ("2024-03-15", True, datetime(2024, 3, 15, 23, 59, 59, 999999, tzinfo=UTC)),
        ("9999-12-31", True, datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)),
        ("2024-03-15T10:00:00", True, datetime(2024, 3, 15, 10, tzinfo=UTC)),
        ("2024-03-15T10:00:00+02:00", False, datetime(2024, 3, 15, 8, tzinfo=UTC)),
        (datetime(2024, 3, 15, tzinfo=timezone(timedelta(hours=1))), False, datetime(2024, 3, 14, 23, tzinfo=UTC)),
    ],
)
def test_bounds_are_aware_and_a_date_only_upper_bound_covers_its_day(
    value: object, upper: bool, moment: datetime
) -> None:
    assert parse_bound(value, upper=upper) == moment


def test_a_naive_and_an_aware_bound_compare() -> None:
    filters = check_filters({"date_from": "2024-01-01", "date_to": "2024-02-01T00:00:00+00:00"})
    assert filters.admits(passage(date=datetime(2024, 2, 1, tzinfo=UTC)))


@pytest.mark.parametrize(
    ("filters", "values", "admitted"),
    [
        ({}, {}, True),
        ({"truths": ("regulatory", "intent")}, {"truth": Truth.INTENT}, True),
        ({"truths": ("regulatory",)}, {"truth": None}, False),
        ({"exclude_truths": ("intent",)}, {"truth": Truth.INTENT}, False),
        ({"exclude_truths": ("intent",)}, {"truth": None}, True),
        ({"truths": ("intent",), "domains": ("taxes",)}, {"truth": Truth.INTENT, "domain": "time"}, False),
        ({"tags": ("a", "b")}, {"tags": ("b",)}, True),
        ({"tags": ("a", "b"), "tags_mode": "all"}, {"tags": ("b",)}, False),
        ({"tags": ("a", "b"), "tags_mode": "all"}, {"tags": ("a", "b", "c")}, True),
        ({"projects": ("north",)}, {"project": "south"}, False),
        ({"projects": ("north",)}, {"project": None}, True),
        ({"exclude_projects": ("north",)}, {"project": None}, True),
        ({"date_from": MARCH}, {"date": MARCH}, True),
        ({"date_to": MARCH}, {"date": MARCH}, True),
        ({"date_to": MARCH}, {"date": MARCH + timedelta(microseconds=1)}, False),
        ({"date_from": MARCH}, {"date": None}, False),
        ({"date_from": MARCH, "include_undated": True}, {"date": None}, True),
        ({}, {"archived": True}, False),
        ({"archived": True}, {"archived": True}, True),
        ({"archived": None}, {"archived": True}, True),
    ],
)
def test_what_passes(filters: dict[str, object], values: dict[str, object], admitted: bool) -> None:
    assert SearchFilters(**filters).admits(passage(**values)) is admitted  # type: ignore[arg-type]


def test_recency_months_count_thirty_days_and_combine_with_a_range() -> None:
    now = datetime(2024, 6, 30, tzinfo=UTC)
    assert SearchFilters(recency_months=2).resolved(now).date_from == now - timedelta(days=60)
    later = now - timedelta(days=10)
    assert SearchFilters(recency_months=2, date_from=later).resolved(now).date_from == later


@pytest.mark.parametrize("months", [30_000, 10**12])
def test_more_months_than_the_calendar_holds_admit_every_date(months: int) -> None:
    filters = check_filters({"recency_months": months}).resolved(MARCH)
    assert filters.admits(passage(date=datetime(2, 1, 1, tzinfo=UTC))) and not filters.admits(passage())


def test_values_no_store_can_keep_become_ones_that_it_can() -> None:
    assert check_filters({"tags": ["a\0b"]}).tags == ("a\ufffdb",)
    assert check_filters({"projects": ["c\ud800"]}).projects == ("c?",)


def test_every_field_reads_an_attribute_passages_have_and_can_be_excluded() -> None:
    for field in FIELDS:
        assert field.attribute in Passage.__dataclass_fields__
        assert f"exclude_{field.name}" in SearchFilters.__dataclass_fields__


def test_filters_say_what_they_do_in_words() -> None:
    filters = check_filters({"truths": ["regulatory", "compliance"], "exclude_domains": ["time"], "recency_months": 6})
    assert filters.in_words() == (
        "truth is regulatory or compliance",
        "domain is not time",
        "dated in the last 6 months",
    )


@pytest.mark.parametrize("field", [field.name for field in FIELDS])
def test_a_single_filter_refuses_an_empty_list_because_there_it_is_a_programming_error(field: str) -> None:
    with pytest.raises(ValueError, match=f"{field} needs at least one value"):
        getattr(MetadataFilter, field)([])


def test_a_single_filter_restricts_its_field_alone() -> None:
    assert MetadataFilter.source_types(["feed"]) == SearchFilters(source_types=("feed",))


def test_a_filter_admits_a_passage_that_may_have_the_label() -> None:
    unsure = passage(truth=Truth.INTENT, possible_labels=("truth:compliance", "domain:taxes"))
    filters = SearchFilters(truths=("compliance",))
    assert filters.admits(unsure)
    assert filters.uncertain_fields(unsure) == ("truth",)
    assert not filters.replace(strict_labels=True).admits(unsure)
    assert not filters.replace(exclude_truths=("intent",)).admits(unsure)
    assert not filters.replace(domains=("time",)).admits(unsure)
    assert filters.replace(domains=("taxes",)).uncertain_fields(unsure) == ("truth", "domain")
    assert SearchFilters(truths=("intent",)).uncertain_fields(unsure) == ()
    assert SearchFilters(tags=("compliance",)).uncertain_fields(unsure) == ()
    assert filters.replace(strict_labels=True).in_words() == ("truth is compliance", "certain labels only")
