"""The three rooms of Tuning: what each is for, what comes next, and the old links into them."""

import pytest

from pages.components.tuning.rooms import ROOMS, VIEWS
from tests.screens.conftest import Opened, Stack, words


def test_tuning_begins_with_judging(stocked: Stack, opened: Opened) -> None:
    screen = opened("tuning.py")
    assert screen.segmented_control(key="tuning.room").value == "judge"
    assert VIEWS["judge"].purpose in words(screen) and "No question set yet" in words(screen)


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_says_what_it_is_for_and_leads_to_the_next(view: str, stocked: Stack, opened: Opened) -> None:
    screen = opened("tuning.py", view=view)
    assert screen.segmented_control(key="tuning.room").value == VIEWS[view].room
    assert VIEWS[view].purpose in words(screen)
    screen.button(key="tuning.next").click().run()
    assert screen.query_params["view"] == VIEWS[view].next
    assert VIEWS[VIEWS[view].next].purpose in words(screen)


@pytest.mark.parametrize(
    ("named", "opens"), [("improve", "tune"), ("sliders", "tune"), ("compare", "profiles"), ("nonsense", "judge")]
)
def test_links_by_another_name_open_a_room(named: str, opens: str, stocked: Stack, opened: Opened) -> None:
    screen = opened("tuning.py", view=named)
    assert VIEWS[opens].purpose in words(screen)
    assert screen.query_params["view"] == opens


def test_a_link_to_a_question_opens_its_sliders(stocked: Stack, opened: Opened) -> None:
    assert VIEWS["tune"].purpose in words(opened("tuning.py", q="overtime"))


def test_a_room_opens_again_as_it_was_left(stocked: Stack, opened: Opened) -> None:
    screen = opened("tuning.py", view="tune")
    screen.segmented_control(key="tuning.view").set_value("threshold").run()
    for room in ("judge", "improve"):
        screen.segmented_control(key="tuning.room").set_value(room).run()
        assert screen.segmented_control(key="tuning.room").value == room
    assert VIEWS["threshold"].purpose in words(screen)


def test_every_room_has_a_view() -> None:
    assert {each.room for each in VIEWS.values()} == set(ROOMS)
    assert {each.next for each in VIEWS.values()} <= set(VIEWS)
