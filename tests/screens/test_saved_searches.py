"""Saved views: kept in two clicks, opened in one, and honest about what is new since when."""

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.filters import SearchFilters
from core.domain.people import Door, local_principal
from core.domain.queries import SearchRequest
from core.library.saved_searches import SavedSearch
from pages.components.search import result_list
from pages.components.search.result_list import list_rows
from tests.screens.conftest import Opened, Stack, words

ANN, BOB, NOBODY = (local_principal(Door.BROWSER, name) for name in ("Ann", "Bob", ""))
QUESTION = "When must overtime be paid at one and one-half times the regular rate?"
NEWS = """# Overtime notice
Overtime must be paid at one and one-half times the regular rate from the first of March.
"""


def as_person(opened: Opened, name: str, question: str = QUESTION, **params: str) -> AppTest:
    """The Search page, in a session of somebody's own."""
    screen = opened("search.py", **({"q": question} if question else {}), **params)
    screen.session_state["person"] = name
    return screen.run()


def saved(stocked: Stack, name: str = "Overtime", **options: object) -> SavedSearch:
    """A view of Ann's, shared with everybody."""
    request = SearchRequest(QUESTION, **options)  # type: ignore[arg-type]
    return stocked.workbench.saved_searches.save(name, request, "results", ANN, shared=True)


def later(stocked: Stack, monkeypatch: pytest.MonkeyPatch, **time: float) -> None:
    """Let time pass at the desk of saved views."""
    views = stocked.workbench.saved_searches
    now = views._now
    monkeypatch.setattr(views, "_now", lambda: now() + timedelta(**time))


def links(screen: AppTest) -> dict[str, str]:
    """Label → query string of the links of the page."""
    return {link.label: link.proto.query_string for link in screen.page_link}


def popovers(screen: AppTest) -> list[str]:
    """What the buttons say that open something."""
    return [str(each.proto.popover.label) for each in screen.get("popover")]


def badges(screen: AppTest) -> list[str]:
    return [str(each.value) for each in screen.markdown if "-badge[" in str(each.value)]


def test_a_search_is_saved_under_a_name_for_oneself_or_for_everybody(stocked: Stack, opened: Opened) -> None:
    ann = as_person(opened, "Ann", truths="regulatory")
    ann.text_input(key="views.name").set_value("Overtime *duty*").run()
    ann.button(key="views.save.now").click().run()
    (mine,) = stocked.workbench.saved_searches.views(None, ANN)
    assert (mine.name, mine.owner, mine.shown) == ("Overtime *duty*", "Ann", "results")
    assert mine.request == SearchRequest(QUESTION, SearchFilters(truths=("regulatory",)))
    assert "**Overtime \\*duty\\***" in links(ann)
    assert "This search is saved as “Overtime \\*duty\\*”" in words(ann)
    assert "**Overtime \\*duty\\***" not in links(as_person(opened, "Bob"))
    ann.text_input(key="views.name").set_value("Ours").run()
    ann.segmented_control(key="views.for").set_value("Everybody").run()
    ann.button(key="views.save.now").click().run()
    assert "**Ours**" in links(as_person(opened, "Bob"))


def test_without_a_name_it_is_called_by_its_question_and_kept_for_everybody(stocked: Stack, opened: Opened) -> None:
    screen = opened("search.py", q="overtime policy", view="five")
    assert "this view will be visible to everyone" in words(screen)
    screen.button(key="views.save.now").click().run()
    (view,) = stocked.workbench.saved_searches.views(None, NOBODY)
    assert (view.name, view.owner, view.shown) == ("overtime policy", "", "five")
    assert "view=five" in links(screen)["**overtime policy**"]


def test_a_name_that_is_taken_is_refused_where_one_typed_it(stocked: Stack, opened: Opened) -> None:
    saved(stocked, "Leave")
    screen = opened("search.py", q="overtime policy")
    screen.text_input(key="views.name").set_value("leave").run()
    screen.button(key="views.save.now").click().run()
    assert "There is a shared view 'leave'" in screen.warning[0].value.replace("\\", "")
    assert screen.text_input(key="views.name").value == "leave"


def test_a_link_opens_the_view_with_its_filters_and_profile(stocked: Stack, opened: Opened) -> None:
    saved(stocked, filters=SearchFilters(truths=("regulatory",)), profile="relevance")
    target = links(as_person(opened, "Ann", ""))["**Overtime**"]
    assert "truths=regulatory" in target and "profile=relevance" in target
    screen = as_person(opened, "Ann", truths="regulatory", profile="relevance")
    assert "first visit" in words(screen)


def test_new_results_are_marked_and_it_is_said_since_when(
    stocked: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(stocked)
    drawn: list[list[dict[str, Any]]] = []

    def spy(*args: Any, **kwargs: Any) -> list[dict[str, Any]]:
        drawn.append(list_rows(*args, **kwargs))
        return drawn[-1]

    monkeypatch.setattr(result_list, "list_rows", spy)
    assert "**Overtime** · first visit" in words(as_person(opened, "Ann"))
    assert not any("new" in row["notes"] for row in drawn[-1])
    since = stocked.workbench.saved_searches.last_visits(ANN)
    (at,) = since.values()
    stocked.add("overtime_notice.md", NEWS)
    later(stocked, monkeypatch, hours=1)
    for _ in range(2):  # a page that is loaded again is the same look
        screen = as_person(opened, "Ann")
        text = words(screen)
        assert (
            re.search(rf"\d new results? since {at:%Y-%m-%d %H:%M} UTC", text) and "1 document uploaded since" in text
        )
        assert any("new" in row["notes"] for row in drawn[-1])
    later(stocked, monkeypatch, hours=1)
    text = words(as_person(opened, "Ann"))
    assert "no new result since" in text and "no document uploaded since" in text


def test_another_search_says_nothing_of_views(stocked: Stack, opened: Opened) -> None:
    saved(stocked)
    assert "first visit" not in words(as_person(opened, "Ann", truths="regulatory"))
    assert stocked.workbench.saved_searches.last_visits(ANN) == {}


def test_all_views_are_checked_when_one_asks_and_not_before(
    stocked: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(stocked)
    other = saved(stocked, "Policy", filters=SearchFilters(truths=("compliance",)))
    as_person(opened, "Ann")
    stocked.add("overtime_notice.md", NEWS)
    later(stocked, monkeypatch, hours=1)
    screen = as_person(opened, "Ann", "")
    assert "not looked at yet" in " ".join(badges(screen)) and "new" not in " ".join(badges(screen))
    screen.button(key="views.check").click().run()
    assert any(re.search(r"\d new", badge) for badge in badges(screen))
    assert "not looked at yet" in " ".join(badges(screen))
    assert stocked.workbench.saved_searches.last_visits(ANN).keys().isdisjoint({other.id})
    assert "new" not in " ".join(badges(as_person(opened, "Bob", "")))
    assert any(re.fullmatch(r"Saved views · \d new", label) for label in popovers(screen))
    screen.query_params["q"] = QUESTION
    screen.run()
    assert re.search(r"\d new results? since", words(screen)) and "Saved views" in popovers(screen)


def test_a_view_is_renamed_deleted_and_brought_back(stocked: Stack, opened: Opened) -> None:
    view, _ = saved(stocked), saved(stocked, "Taken")
    screen = as_person(opened, "Ann", "")
    screen.button(key=f"icon.views.rename.{view.id}").click().run()
    screen.text_input(key=f"views.called.{view.id}").set_value("taken").run()
    assert "There is a shared view 'taken'" in screen.warning[0].value.replace("\\", "")
    screen.text_input(key=f"views.called.{view.id}").set_value("Pay").run()
    assert set(links(screen)) >= {"**Pay**", "**Taken**"}
    screen.button(key=f"icon.views.delete.{view.id}").click().run()
    assert "**Pay**" not in links(screen) and "“Pay” is deleted" in words(screen)
    screen.button(key="views.undo").click().run()
    assert "**Pay**" in links(screen) and "is deleted" not in words(screen)


def test_what_a_colleague_changed_meanwhile_is_told(stocked: Stack, opened: Opened) -> None:
    view = saved(stocked)
    screen = as_person(opened, "Ann", "")
    stocked.workbench.saved_searches.rename(view, "Wages", BOB)
    screen.button(key=f"icon.views.delete.{view.id}").click().run()
    assert "'Wages' has been changed by someone else" in screen.warning[0].value.replace("\\", "")
    assert "**Wages**" in links(screen)


def test_a_view_whose_profile_is_gone_says_so_and_opens_with_the_default(stocked: Stack, opened: Opened) -> None:
    book = stocked.workbench.evaluation.profiles
    book.save(replace(book.find("relevance"), name="mine", threshold=0.1), "Ann")
    saved(stocked, profile="mine")
    book.retire("mine", "Bob", 1)
    screen = as_person(opened, "Ann", "")
    assert any("profile gone" in badge for badge in badges(screen))
    assert "profile=" not in links(screen)["**Overtime**"]


def test_nothing_saved_says_what_to_do(stocked: Stack, opened: Opened) -> None:
    assert "Nothing saved yet" in words(as_person(opened, "Ann", ""))


def test_views_of_another_project_are_not_listed_where_one_is_chosen(stocked: Stack, opened: Opened) -> None:
    for project in ("Tallgrass", "Elsewhere"):
        saved(stocked, f"{project} overtime", filters=SearchFilters(projects=(project,)))
    assert set(links(as_person(opened, "Ann", projects="Tallgrass"))) >= {"**Tallgrass overtime**"}
    assert not any("Elsewhere" in label for label in links(as_person(opened, "Ann", projects="Tallgrass")))
    assert "**Elsewhere overtime** :gray[· Elsewhere]" in links(as_person(opened, "Ann"))
