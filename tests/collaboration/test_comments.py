"""Comments and mentions: what people write, who is told, and what nobody may do."""

from dataclasses import replace

import pytest

from core.collaboration.target import TargetKind, on_cell
from core.domain.coverage import GapKind
from core.domain.errors import AccessDenied, BadRequest, NotFound
from core.domain.people import Role
from tests.collaboration.room import Room, person

ANN, BO, CY, DI = person("ann"), person("bo"), person("cy"), person("di")


def test_a_comment_is_written_edited_deleted_and_restored() -> None:
    room = Room()
    on = room.on_document()
    written = room.comments.write(on, "  Is this the current policy? ", ANN)
    assert written.text == "Is this the current policy?" and written.author_name == "Ann"
    assert list(room.comments.on(on, CY)) == [written]
    edited = room.comments.edit(written.id, "Is this current?", ANN)
    assert edited.edited_at == room.now and room.comments.on(on, ANN)[0].text == "Is this current?"
    room.comments.delete(written.id, ANN)
    assert room.comments.on(on, ANN) == []
    room.comments.restore(written.id, ANN)
    assert [each.text for each in room.comments.on(on, ANN)] == ["Is this current?"]


def test_nobody_changes_what_another_wrote_but_an_administrator_may_delete_it() -> None:
    room = Room()
    written = room.comments.write(room.cell, "Covered by § 4?", ANN)
    with pytest.raises(AccessDenied, match="Ann"):
        room.comments.edit(written.id, "No.", BO)
    with pytest.raises(AccessDenied):
        room.comments.delete(written.id, CY)
    with pytest.raises(AccessDenied):
        room.comments.edit(written.id, "No.", person("bo", Role.ADMINISTRATOR))
    room.comments.delete(written.id, person("bo", Role.ADMINISTRATOR))
    assert room.comments.on(room.cell, ANN) == []


@pytest.mark.parametrize("text", ["", "  \n", "a" * 4001])
def test_a_comment_needs_a_text_of_readable_length(text: str) -> None:
    room = Room()
    with pytest.raises(BadRequest):
        room.comments.write(room.cell, text, ANN)


def test_those_who_are_mentioned_are_told_once_and_the_writer_is_not() -> None:
    room = Room()
    on = room.on_document()
    written = room.comments.write(on, "@bo and @ann, please look; also @BO.", ANN, ["cy"])
    assert set(written.mentions) == {"ann", "bo", "cy"}
    assert room.messages("bo") == room.messages("cy") == ["Ann mentioned you"] and room.messages("ann") == []
    assert room.notifications.listed(BO)[0].on == on


def test_an_edit_tells_only_those_who_are_new_in_it() -> None:
    room = Room()
    written = room.comments.write(room.cell, "@bo?", ANN)
    room.notifications.mark_all_read(BO)
    room.comments.edit(written.id, "@bo? @cy?", ANN)
    assert room.notifications.unread(BO) == 0 and room.notifications.unread(CY) == 1


def test_what_the_mentioned_were_told_goes_with_the_comment_and_comes_back_with_it() -> None:
    room = Room()
    on = room.on_document()
    written = room.comments.write(on, "@bo @cy, the budget is cut.", ANN)
    room.comments.delete(written.id, ANN)
    assert room.messages("bo") == room.messages("cy") == [] and list(room.store.unmailed(room.now)) == []
    room.team.people = [each for each in room.team.people if each.login != "cy"]
    room.comments.restore(written.id, ANN)
    assert room.notifications.unread(BO) == 1 and room.messages("cy") == []
    room.notifications.mark_all_read(BO)
    room.comments.restore(written.id, ANN)
    assert room.notifications.unread(BO) == 0


def test_an_edit_changes_what_people_were_told_and_withdraws_it_from_those_no_longer_mentioned() -> None:
    room = Room()
    written = room.comments.write(room.cell, "@bo @cy, the password is hunter2.", ANN)
    room.store.mark_mailed([each.id for each in room.store.unmailed(room.now)], room.now)
    room.comments.edit(written.id, "@bo, ask me for the password.", ANN)
    [told] = room.notifications.listed(BO, unread=True)
    assert told.text == "@bo, ask me for the password." and told.mailed_at == room.now
    assert room.messages("cy") == []


@pytest.mark.parametrize("how", ["in the text", "from the list"])
def test_somebody_who_may_not_see_it_cannot_be_mentioned(how: str) -> None:
    room = Room()
    on = room.on_document("north")
    text, chosen = ("Look, @di.", []) if how == "in the text" else ("Look.", ["di"])
    with pytest.raises(BadRequest, match="Di may not see the project 'north'") as caught:
        room.comments.write(on, text, ANN, chosen)
    assert "role" in caught.value.hint
    assert room.comments.on(on, ANN) == [] and room.messages("di") == []


def test_somebody_unknown_in_the_list_is_refused_and_in_the_text_is_only_text() -> None:
    room = Room()
    with pytest.raises(BadRequest, match="'zed'"):
        room.comments.write(room.cell, "Hello", ANN, ["zed"])
    assert room.comments.write(room.cell, "Ask @zed", ANN).mentions == ()


def test_only_people_who_may_see_something_are_offered() -> None:
    room = Room()
    assert [each.login for each in room.comments.mentionable(room.on_document("north"), ANN)] == ["bo", "cy"]
    assert [each.login for each in room.comments.mentionable(room.on_document(None), CY)] == ["ann", "bo", "di"]


def test_what_a_person_may_not_see_they_can_neither_read_nor_comment() -> None:
    room = Room()
    on = room.on_document("north")
    written = room.comments.write(on, "Secret", ANN)
    for attempt in (
        lambda: room.comments.on(on, DI),
        lambda: room.comments.mentionable(on, DI),
        lambda: room.comments.write(on, "Hello", DI),
        lambda: room.comments.on(room.cell, DI),
        lambda: room.comments.edit(written.id, "Hello", DI),
        lambda: room.comments.delete(written.id, DI),
        lambda: room.comments.restore(written.id, DI),
    ):
        with pytest.raises(NotFound):
            attempt()


def test_the_project_of_a_document_counts_not_the_one_a_caller_claims() -> None:
    room = Room()
    forged = replace(room.on_document("north"), project="south", name="harmless.pdf")
    with pytest.raises(NotFound):
        room.comments.on(forged, DI)
    assert room.comments.write(forged, "Hello", ANN).on.project == "north"


def test_a_document_shows_the_comments_on_its_passages_and_a_passage_only_its_own() -> None:
    room = Room()
    whole = room.on_document()
    one = replace(whole, kind=TargetKind.PASSAGE, passage_id=7, page=2, quote="Overtime is paid.")
    two = replace(one, passage_id=8, quote="Leave is granted.")
    texts = {room.comments.write(on, text, ANN).text: on for on, text in ((whole, "w"), (one, "1"), (two, "2"))}
    assert [each.text for each in room.comments.on(whole, ANN)] == list(texts)
    assert [each.text for each in room.comments.on(one, ANN)] == ["1"]
    read_again = replace(one, passage_id=70)  # a passage gets a new id when its document is processed again
    assert [each.text for each in room.comments.on(read_again, ANN)] == ["1"]


def test_cells_of_two_projects_and_columns_are_told_apart() -> None:
    room = Room()
    room.comments.write(room.cell, "north", BO)
    room.comments.write(on_cell("Overtime", 4, GapKind.INTENT, None), "whole library", BO)
    room.comments.write(on_cell("Overtime", 4, GapKind.REALITY, "north"), "other column", BO)
    assert [each.text for each in room.comments.on(room.cell, BO)] == ["north"]


def test_the_board_of_the_whole_library_is_only_for_those_who_see_all_projects() -> None:
    room = Room()
    whole = on_cell("Overtime", 4, GapKind.INTENT, None)
    with pytest.raises(NotFound):
        room.comments.on(whole, CY)
    with pytest.raises(BadRequest, match="the board of the whole library"):
        room.comments.write(whole, "@cy", ANN)


def test_what_is_said_about_a_document_moves_with_it() -> None:
    room = Room()
    on = room.on_document("north")
    written = room.comments.write(on, "By Cy", CY)
    task = room.assignments.assign(on, "Look", "cy", CY)
    room.move(on, "south")
    for attempt in (
        lambda: room.comments.on(on, CY),
        lambda: room.comments.edit(written.id, "Again", CY),
        lambda: room.assignments.finish(task.id, CY),
    ):
        with pytest.raises(NotFound):
            attempt()
    assert room.assignments.mine(CY) == [] and [each.text for each in room.comments.on(on, DI)] == ["By Cy"]
    assert room.assignments.finish(task.id, DI).done_by == "Di"


def test_a_comment_that_was_deleted_in_another_tab_is_not_edited_and_nobody_is_told_of_it() -> None:
    room = Room()
    written = room.comments.write(room.cell, "Look", ANN)
    room.comments.delete(written.id, ANN)
    with pytest.raises(NotFound):
        room.comments.edit(written.id, "Look, @bo", ANN)
    assert room.notifications.listed(BO) == []
