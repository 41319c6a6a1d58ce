"""Shortlists of results whose documents changed: the list and its briefs say how, and lead to what is said now."""

from dataclasses import replace

import pytest

from core.domain.documents import Document
from core.domain.queries import SearchRequest
from core.library.shortlists import Shortlist, ShortlistItem, item_of
from pages.components.search.shortlists import _changes, _markdown
from tests.screens.conftest import Opened, Stack, words
from tests.stores.contracts.usage import AT

QUESTION = "When must overtime be paid at one and one-half times the regular rate?"


def _ticked(stocked: Stack) -> Shortlist:
    """A shortlist of the best result."""
    service = stocked.workbench.shortlists
    best = stocked.workbench.search.run(SearchRequest(QUESTION), remember=False).hits[0]
    return service.add(service.create("For the board", "Ann").id, item_of(best, QUESTION, AT))


def _replaced(stocked: Stack, old: ShortlistItem, text: str) -> Document:
    """The newer version of an item's document, with this text."""
    newer = stocked.add("flsa_section_207_v2.md", text)
    stocked.workbench.versions.accept(old.document_id, newer, "Ann")
    return stocked.workbench.documents.get(newer)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("# Overtime\n{quote}\n", "which says the same."),
        ("# Overtime\n{changed}\n", "which does not say this word for word. It says: “{changed}”"),
        ("# Overtime\nSee elsewhere.\n", "which does not say this word for word."),
    ],
)
def test_an_item_whose_document_was_replaced_leads_to_the_newer_version_and_quotes_it(
    stocked: Stack, opened: Opened, text: str, says: str
) -> None:
    shortlist = _ticked(stocked)
    (item,) = shortlist.items
    words_of = {"quote": item.quote, "changed": item.quote.replace("one and one-half times", "at least twice")}
    newer = _replaced(stocked, item, text.format_map(words_of))
    screen = opened("search.py", shortlist=str(shortlist.id))
    shown = words(screen).replace("\\", "")
    change = f"The document was replaced by '{newer.name}', {says.format_map(words_of)}"
    assert change in shown and "is archived" not in shown and "1 changed since they were added" in shown
    (link,) = [each for each in screen.page_link if each.label == "Open the newer version"]
    assert f"id={newer.id}" in link.proto.query_string
    for brief in (_markdown(shortlist).decode(), *_changes(shortlist).values()):
        assert change in brief.replace("\\", "")


def test_an_item_that_its_document_no_longer_says_quotes_what_it_says_now(stocked: Stack, opened: Opened) -> None:
    shortlist = _ticked(stocked)
    (item,) = shortlist.items
    stocked.stores.shortlists.change_shortlist(
        replace(shortlist, items=(replace(item, quote=item.quote.replace("pay", "pey")),))
    )
    shown = words(opened("search.py", shortlist=str(shortlist.id))).replace("\\", "")
    assert f"The document was read again and no longer says this. It says: “{item.quote}”" in shown
