"""The entity browser: a table one can narrow and turn over, whose names open Search among their passages."""

from collections.abc import Sequence

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.entities import Entity, EntityPage, EntityType, KnownEntity

SHOWN = [
    KnownEntity(Entity("Form W-2", EntityType.FORM, ("Wage and Tax Statement",)), 62),
    KnownEntity(Entity("*Acme* [Tools] Inc", EntityType.ORGANIZATION), 12),
    *(KnownEntity(Entity(f"term {number:02}", EntityType.CONCEPT), 1) for number in range(20)),
]


def look_up(part: str, kind: EntityType | None, limit: int, offset: int) -> EntityPage:
    """A small library's entities."""
    found = [
        each
        for each in SHOWN
        if kind in (None, each.entity.type)
        and part.casefold() in f"{each.entity.name} {each.entity.aliases}".casefold()
    ]
    return EntityPage(tuple(found[offset : offset + limit]), len(found))


def nothing(part: str, kind: EntityType | None, limit: int, offset: int) -> EntityPage:
    """A library that names nothing."""
    return EntityPage((), 0)


def browser(empty: bool = False) -> None:
    """The page around it; AppTest runs its source by itself, so it imports what it needs."""
    from pages.components.library.entity_browser import draw_entities
    from tests.screens import test_entities

    draw_entities(test_entities.nothing if empty else test_entities.look_up)


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The browser alone, its links noted where they lead."""
    links: list[tuple[str, str, dict[str, Sequence[str]]]] = []

    def noted(page: str, *, label: str, icon: str, query_params: dict[str, Sequence[str]]) -> None:
        links.append((page, label, query_params))

    monkeypatch.setattr("streamlit.page_link", noted)
    shown = AppTest.from_function(browser, default_timeout=60)
    shown.session_state["links"] = links
    return shown.run()


def labels(screen: AppTest) -> list[str]:
    assert not screen.exception, screen.exception[0].value
    links = screen.session_state["links"]
    shown = [label for _, label, _ in links]
    links.clear()
    return shown


def words(screen: AppTest) -> str:
    return "\n".join(str(each.value) for each in [*screen.markdown, *screen.caption])


def test_names_kinds_and_numbers_are_shown_and_the_name_leads_to_its_passages(screen: AppTest) -> None:
    said = words(screen)
    assert "22 entities" in said and "Form" in said and "62" in said and "Wage and Tax Statement" in said
    page, label, params = screen.session_state["links"][0]
    assert page.endswith("search.py") and label == "Form W\\-2"
    assert params == {"q": ["Form W-2"], "entities": ["Form W-2"]}


def test_a_name_with_markup_stays_text(screen: AppTest) -> None:
    assert "\\*Acme\\* \\[Tools\\] Inc" in labels(screen)


def test_a_part_of_a_name_and_a_kind_narrow_the_table(screen: AppTest) -> None:
    labels(screen)
    screen.text_input(key="entities.part").set_value("w-").run()
    assert labels(screen) == ["Form W\\-2"]
    screen.text_input(key="entities.part").set_value("").run()
    labels(screen)
    screen.selectbox(key="entities.kind").set_value(EntityType.ORGANIZATION).run()
    assert len(labels(screen)) == 1


def test_there_are_pages_and_a_new_search_starts_on_the_first(screen: AppTest) -> None:
    assert len(labels(screen)) == 15
    screen.pagination(key="entities.pager.None..2.1").set_value(2).run()
    assert labels(screen) == [f"term {number:02}" for number in range(13, 20)]
    screen.text_input(key="entities.part").set_value("term").run()
    assert labels(screen)[0] == "term 00"


def test_a_page_that_is_no_more_is_the_last_one(screen: AppTest) -> None:
    labels(screen)
    screen.session_state["entities.page.None."] = 9
    screen.run()
    assert labels(screen) == [f"term {number:02}" for number in range(13, 20)]
    assert "16–22 of 22 entities" in words(screen)


def test_what_matches_nothing_says_so(screen: AppTest) -> None:
    screen.text_input(key="entities.part").set_value("zebra").run()
    assert "No entity matches" in words(screen)


def test_a_library_that_names_nothing_says_what_will_be_here() -> None:
    shown = AppTest.from_function(browser, args=(True,), default_timeout=60).run()
    assert not shown.exception and "Nothing is named yet" in words(shown)
