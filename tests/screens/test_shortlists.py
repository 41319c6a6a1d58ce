"""Shortlists: ordered, noted, truthful about documents that changed; ticked, undone and shared on the Search page."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from core.domain.errors import BadRequest, NotFound, Outdated
from core.domain.queries import SearchRequest
from core.library.shortlists import Shortlist, ShortlistService, item_of
from core.library.trash import REDACTED
from tests.screens.conftest import Opened, Stack, words
from tests.stores.contracts.usage import AT

QUESTION = "When must overtime be paid at one and one-half times the regular rate?"


def _filled(stack: Stack) -> tuple[ShortlistService, Shortlist]:
    service = stack.workbench.shortlists
    hits = stack.workbench.search.run(SearchRequest(QUESTION), remember=False).hits[:3]
    shortlist = service.create("  For   the board ", "Ann")
    for hit in hits:
        shortlist = service.add(shortlist.id, item_of(hit, QUESTION, AT))
    return service, shortlist


def test_items_are_kept_once_in_an_order_that_people_choose(stocked: Stack) -> None:
    service, shortlist = _filled(stocked)
    first, second, third = shortlist.items
    assert shortlist.name == "For the board"
    assert service.add(shortlist.id, first).items == shortlist.items
    assert service.move(shortlist.id, third, -1).items == (first, third, second)
    assert service.move(shortlist.id, first, -1).items == (first, third, second)
    assert service.note(shortlist.id, third, " why ").items[1].note == "why"
    left = service.remove(shortlist.id, first)
    assert [each.key for each in left.items] == [third.key, second.key]
    assert service.insert(shortlist.id, 0, first).items[0] == first


def _noted(shortlist: Shortlist) -> list[tuple[int, str]]:
    """The passages with their notes, in order."""
    return [(each.passage_id, each.note) for each in shortlist.items]


def test_a_change_meets_the_item_that_was_seen_wherever_it_is_by_now(stocked: Stack) -> None:
    service, shortlist = _filled(stocked)
    first, second, third = shortlist.items
    service.remove(shortlist.id, first)
    service.note(shortlist.id, third, "third")
    assert _noted(service.get(shortlist.id)) == [(second.passage_id, ""), (third.passage_id, "third")]
    assert _noted(service.move(shortlist.id, third, -1)) == [(third.passage_id, "third"), (second.passage_id, "")]
    assert _noted(service.remove(shortlist.id, second)) == [(third.passage_id, "third")]


def test_a_change_of_an_item_that_somebody_removed_or_noted_meanwhile_is_refused(stocked: Stack) -> None:
    service, shortlist = _filled(stocked)
    first, second, _ = shortlist.items
    service.remove(shortlist.id, first)
    left = service.note(shortlist.id, second, "by Ann")
    changes: tuple[Callable[[], object], ...] = (
        lambda: service.remove(shortlist.id, first),
        lambda: service.move(shortlist.id, first, 1),
        lambda: service.note(shortlist.id, first, "late"),
        lambda: service.note(shortlist.id, second, "by Bo"),
    )
    for change in changes:
        with pytest.raises(Outdated, match="changed by someone else"):
            change()
    assert service.get(shortlist.id) == left


def test_items_whose_quotes_are_deleted_for_good_are_still_told_apart(stocked: Stack) -> None:
    service, shortlist = _filled(stocked)
    one = shortlist.items[0]
    twins = [replace(one, quote="(deleted for good)", passage_id=number) for number in (1, 2)]
    made = service.create("Remains", "Ann")
    for each in twins:
        service.insert(made.id, 9, each)
    assert _noted(service.note(made.id, twins[1], "second")) == [(1, ""), (2, "second")]


def test_a_deleted_shortlist_comes_back_whole(stocked: Stack) -> None:
    service, shortlist = _filled(stocked)
    deleted = service.delete(shortlist.id)
    assert not service.all()
    with pytest.raises(NotFound):
        service.get(shortlist.id)
    assert service.restore(deleted).items == shortlist.items
    with pytest.raises(BadRequest):
        service.create(" ", "")


def test_an_item_outlives_its_document_and_says_so(stocked: Stack) -> None:
    service, shortlist = _filled(stocked)
    assert service.changes(shortlist) == {}
    document_id = shortlist.items[0].document_id
    stocked.workbench.documents.archive(document_id, archived=True)
    assert "archived" in service.changes(shortlist)[0]
    stocked.workbench.documents.delete(document_id)
    assert "was deleted" in service.changes(shortlist)[0]
    assert service.get(shortlist.id).items == shortlist.items
    gone = replace(shortlist, items=tuple(replace(each, quote=REDACTED) for each in shortlist.items))
    assert set(service.changes(gone).values()) == {"The document was deleted for good, and its quote with it."}


def _ticked(stocked: Stack, opened: Opened) -> Shortlist:
    screen = opened("search.py", q=QUESTION)
    next(each for each in screen.button if each.label == "Shortlist").click().run()
    assert any(each.label == "In shortlist" for each in screen.button)
    (shortlist,) = stocked.workbench.shortlists.all()
    return shortlist


def test_the_first_tick_creates_a_shortlist_and_the_second_takes_the_result_out(stocked: Stack, opened: Opened) -> None:
    shortlist = _ticked(stocked, opened)
    assert len(shortlist.items) == 1 and shortlist.items[0].question == QUESTION
    screen = opened("search.py", q=QUESTION)
    next(each for each in screen.button if each.label == "In shortlist").click().run()
    assert not stocked.workbench.shortlists.get(shortlist.id).items


def test_a_link_opens_a_shortlist_with_its_quotes_and_what_became_of_their_documents(
    stocked: Stack, opened: Opened
) -> None:
    shortlist = _ticked(stocked, opened)
    stocked.workbench.documents.archive(shortlist.items[0].document_id, archived=True)
    screen = opened("search.py", shortlist=str(shortlist.id))
    text = words(screen).replace("\\", "")
    assert "one-half" in text and "The document is archived" in text
    assert any(shortlist.items[0].place in each.label.replace("\\", "") for each in screen.page_link)
    assert screen.query_params["shortlist"] == str(shortlist.id)


def test_removed_items_and_deleted_shortlists_come_back(stocked: Stack, opened: Opened) -> None:
    shortlist = _ticked(stocked, opened)
    screen = opened("search.py", shortlist=str(shortlist.id))
    screen.button(key="icon.shortlist.remove.0").click().run()
    assert not stocked.workbench.shortlists.get(shortlist.id).items
    screen.button(key="shortlist.undo.now").click().run()
    assert stocked.workbench.shortlists.get(shortlist.id).items == shortlist.items
    screen.button(key="shortlist.delete").click().run()
    assert not stocked.workbench.shortlists.all() and "No shortlists yet" in words(screen)
    screen.button(key="shortlist.undo.now").click().run()
    assert len(stocked.workbench.shortlists.all()) == 1


def _changed_by_a_colleague(stocked: Stack, shortlist: Shortlist) -> Shortlist:
    """What a colleague makes of a shortlist meanwhile, in another browser."""
    return stocked.stores.shortlists.change_shortlist(shortlist)


def test_a_note_and_a_click_meet_the_item_that_was_drawn(stocked: Stack, opened: Opened) -> None:
    service, shortlist = _filled(stocked)
    _, second, third = shortlist.items
    screen = opened("search.py", shortlist=str(shortlist.id))
    _changed_by_a_colleague(stocked, replace(shortlist, items=(second, third)))
    screen.text_input(key=f"shortlist.note.{shortlist.id}.1.{shortlist.version}").set_value("about the second").run()
    assert _noted(service.get(shortlist.id)) == [(second.passage_id, "about the second"), (third.passage_id, "")]
    _changed_by_a_colleague(stocked, replace(now := service.get(shortlist.id), items=now.items[::-1]))
    screen.button(key="icon.shortlist.remove.1").click().run()
    assert _noted(service.get(shortlist.id)) == [(second.passage_id, "about the second")]
    screen.button(key="shortlist.undo.now").click().run()
    assert len(service.get(shortlist.id).items) == 2


def test_a_click_on_an_item_that_a_colleague_removed_changes_nothing_and_says_so(
    stocked: Stack, opened: Opened
) -> None:
    service, shortlist = _filled(stocked)
    screen = opened("search.py", shortlist=str(shortlist.id))
    first, _, third = shortlist.items
    left = _changed_by_a_colleague(stocked, replace(shortlist, items=(first, third)))
    screen.button(key="icon.shortlist.remove.1").click().run()
    assert service.get(shortlist.id) == left
    assert "has been changed by someone else" in words(screen)
    assert not [each for each in screen.button if each.key == "shortlist.undo.now"]
    assert len([each for each in screen.button if (each.key or "").startswith("icon.shortlist.remove.")]) == 2


def test_a_shortlist_of_a_given_name_is_ticked_into(stocked: Stack, opened: Opened) -> None:
    screen = opened("search.py", view="shortlists")
    screen.text_input(key="shortlist.create.name").set_value("Audit")
    screen.button(key="shortlist.create.now").click().run()
    (shortlist,) = stocked.workbench.shortlists.all()
    assert shortlist.name == "Audit" and screen.query_params["shortlist"] == str(shortlist.id)
    screen.text_input(key="shortlist.rename.name").set_value("Audit 2026")
    screen.button(key="shortlist.rename.now").click().run()
    assert stocked.workbench.shortlists.get(shortlist.id).name == "Audit 2026"
