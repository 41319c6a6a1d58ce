"""Shortlists: ordered, noted, truthful about documents that changed; ticked, undone and shared on the Search page."""

import pytest

from core.domain.errors import BadRequest, NotFound
from core.domain.queries import SearchRequest
from core.library.shortlists import Shortlist, ShortlistService, item_of
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
    assert service.move(shortlist.id, 2, -1).items == (first, third, second)
    assert service.move(shortlist.id, 0, -1).items == (first, third, second)
    assert service.note(shortlist.id, 1, " why ").items[1].note == "why"
    left = service.remove(shortlist.id, 0)
    assert [each.key for each in left.items] == [third.key, second.key]
    assert service.insert(shortlist.id, 0, first).items[0] == first
    with pytest.raises(NotFound):
        service.remove(shortlist.id, 9)


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


def test_a_shortlist_of_a_given_name_is_ticked_into(stocked: Stack, opened: Opened) -> None:
    screen = opened("search.py", view="shortlists")
    screen.text_input(key="shortlist.create.name").set_value("Audit")
    screen.button(key="shortlist.create.now").click().run()
    (shortlist,) = stocked.workbench.shortlists.all()
    assert shortlist.name == "Audit" and screen.query_params["shortlist"] == str(shortlist.id)
    screen.text_input(key="shortlist.rename.name").set_value("Audit 2026")
    screen.button(key="shortlist.rename.now").click().run()
    assert stocked.workbench.shortlists.get(shortlist.id).name == "Audit 2026"
