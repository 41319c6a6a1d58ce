"""Assignments: who has to do what, when they are told, and when it is done."""

from datetime import date

import pytest

from core.collaboration.team import Teammate
from core.domain.errors import BadRequest, NotFound
from core.domain.people import Door, local_principal
from tests.collaboration.room import Room, person

ANN, BO, CY, DI = person("ann"), person("bo"), person("cy"), person("di")
FRIDAY = date(2026, 11, 27)


def test_a_person_is_told_of_a_task_and_the_one_who_gave_it_when_it_is_done() -> None:
    room = Room()
    given = room.assignments.assign(room.on_document(), "Ask for  the signed copy", "cy", ANN, FRIDAY)
    assert (given.task, given.to_name, given.by_name) == ("Ask for the signed copy", "Cy", "Ann")
    assert list(room.assignments.mine(CY)) == [given] and room.assignments.mine(ANN) == []
    assert room.messages("cy") == ["Ann assigned this to you, due 2026-11-27"]
    done = room.assignments.finish(given.id, CY)
    assert done.done_by == "Cy" and room.assignments.mine(CY) == []
    assert room.messages("cy") == [] and room.messages("ann") == ["Cy has done what you assigned"]
    room.assignments.reopen(given.id, ANN)
    assert [each.id for each in room.assignments.mine(CY)] == [given.id] and room.messages("ann") == []


def test_finishing_twice_tells_once() -> None:
    room = Room()
    given = room.assignments.assign(room.cell, "Look", "bo", ANN)
    assert room.assignments.finish(given.id, BO) == room.assignments.finish(given.id, BO)
    assert len(room.messages("ann")) == 1


def test_what_one_assigns_to_oneself_tells_nobody() -> None:
    room = Room()
    given = room.assignments.assign(room.cell, "Look", "ann", ANN)
    room.assignments.finish(given.id, ANN)
    assert room.messages("ann") == []


def test_a_task_goes_only_to_somebody_who_may_see_it() -> None:
    room = Room()
    with pytest.raises(BadRequest, match="Di may not see the project 'north'"):
        room.assignments.assign(room.on_document("north"), "Look", "di", ANN)
    with pytest.raises(BadRequest, match="'zed'"):
        room.assignments.assign(room.cell, "Look", "zed", ANN)
    with pytest.raises(NotFound):
        room.assignments.assign(room.on_document("north"), "Look", "bo", DI)
    assert [each.login for each in room.assignments.assignable(room.cell, ANN)] == ["ann", "bo", "cy"]


@pytest.mark.parametrize("task", ["", " \n ", "a" * 1001])
def test_a_task_needs_words(task: str) -> None:
    room = Room()
    with pytest.raises(BadRequest):
        room.assignments.assign(room.cell, task, "bo", ANN)


def test_a_task_cannot_be_due_in_the_past() -> None:
    room = Room()
    with pytest.raises(BadRequest, match="2026-11-22 has passed"):
        room.assignments.assign(room.cell, "Look", "bo", ANN, date(2026, 11, 22))


def test_people_are_reminded_once_the_day_before() -> None:
    room = Room()
    room.assignments.assign(room.cell, "Look", "bo", ANN, FRIDAY)
    room.assignments.assign(room.cell, "No hurry", "bo", ANN)
    room.notifications.mark_all_read(BO)
    room.assignments.remind()
    assert room.notifications.unread(BO) == 0
    room.later(days=3)
    room.assignments.remind()
    room.assignments.remind()
    assert [each.title for each in room.notifications.listed(BO, unread=True)] == ["Due on 2026-11-27"]
    [dated, _] = room.assignments.mine(BO)
    assert not dated.overdue(FRIDAY) and dated.overdue(date(2026, 11, 28))


def test_open_tasks_of_a_thing_come_first() -> None:
    room = Room()
    first = room.assignments.assign(room.cell, "First", "bo", ANN)
    room.assignments.assign(room.cell, "Second", "bo", ANN)
    room.assignments.finish(first.id, BO)
    assert [each.task for each in room.assignments.on(room.cell, CY)] == ["Second", "First"]
    with pytest.raises(NotFound):
        room.assignments.finish(first.id, DI)


def test_one_person_without_sign_in_assigns_to_themselves() -> None:
    room, me = Room(), local_principal(Door.BROWSER, "Eve")
    assert room.assignments.assignable(room.cell, me) == [Teammate("local", "Eve")]
    given = room.assignments.assign(room.cell, "Look", "local", me)
    assert list(room.assignments.mine(me)) == [given] and room.comments.mentionable(room.cell, me) == []
