"""Long lists: every item stands on one page, a list that got shorter shows its last page, and a URL names a page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from pages.components.pager import page_from_params, page_params, pages_of, range_words
from tests.screens.conftest import Opened, Stack, words


def _list() -> None:
    import streamlit as st

    from pages.components.pager import paged

    items = range(st.session_state.get("so many", 25))
    st.write(f"shown {list(paged(items, 10, 'list', in_url=True))}")


def test_a_page_holds_its_part_of_the_list() -> None:
    screen = AppTest.from_function(_list).run()
    assert screen.markdown[0].value == f"shown {list(range(10))}"
    screen.pagination(key="list").set_value(3).run()
    assert screen.markdown[0].value == "shown [20, 21, 22, 23, 24]"


def test_one_page_needs_no_way_to_others() -> None:
    screen = AppTest.from_function(_list)
    screen.session_state["so many"] = 10
    screen.run()
    assert not screen.get("pagination") and screen.markdown[0].value == f"shown {list(range(10))}"
    screen.session_state["so many"] = 0
    assert screen.run().markdown[0].value == "shown []"


def test_who_looks_at_the_last_page_of_a_list_that_gets_shorter_stays_at_its_end() -> None:
    screen = AppTest.from_function(_list).run()
    screen.pagination(key="list").set_value(3).run()
    screen.session_state["so many"] = 20
    for _ in range(2):
        assert screen.run().markdown[0].value == f"shown {list(range(10, 20))}"


@given(st.integers(0, 150), st.integers(1, 20))
def test_every_item_stands_on_exactly_one_page(total: int, per_page: int) -> None:
    statements = [range_words(page, per_page, total, "item") for page in range(1, pages_of(total, per_page) + 1)]
    starts, ends = zip(*(map(int, each.split(" of ")[0].split("–")) for each in statements), strict=True)
    assert starts[0] == 1 and ends[-1] == total and starts[1:] == tuple(end + 1 for end in ends[:-1])


@given(st.integers(1, 200), st.sampled_from(["page", "at"]))
def test_a_page_survives_its_url(page: int, name: str) -> None:
    assert page_from_params(page_params(page, name), name) == page


@pytest.mark.parametrize("named", ["", "0", "-1", "two", "²", "99999999"])
def test_what_is_no_page_is_the_first(named: str) -> None:
    assert page_from_params({"page": [named]}) == 1


def test_notes_are_turned_page_by_page_and_the_url_names_the_page(library: Stack, opened: Opened) -> None:
    for number in range(23):
        library.workbench.insights.save(f"Note {number:03} on overtime.", who="Ann")
    screen = opened("insights.py")
    assert "1–20 of 23 insights" in words(screen) and "Note 002" not in words(screen)
    screen.pagination(key="insights.pager.2.1").set_value(2).run()
    assert "21–23 of 23 insights" in words(screen) and "Note 002" in words(screen)
    assert screen.query_params["at"] == "2"
