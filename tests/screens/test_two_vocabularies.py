"""Two libraries open in one process: each one's pages show titles of its own vocabulary, whichever was drawn before."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.coverage import Topic
from pages.components import session
from tests.library.test_two_vocabularies import HAULIERS, NOTICE, OURS, THEIRS
from tests.screens.conftest import Opened, Stack, filter_values, listed, words

Shown = Callable[..., tuple[AppTest, AppTest]]


@pytest.fixture
def libraries(library: Stack, tmp_path: Path) -> tuple[Stack, Stack]:
    """Two libraries with the same documents, each read by its own vocabulary."""
    both = library, Stack(tmp_path / "theirs")
    for library, vocabulary in zip(both, (OURS, THEIRS), strict=True):
        library.workbench.vocabulary.save(vocabulary, who="Ann")
        library.add("notice.md", NOTICE)
        library.add("hauliers.md", HAULIERS)
    return both


@pytest.fixture
def shown(libraries: tuple[Stack, Stack], opened: Opened, monkeypatch: pytest.MonkeyPatch) -> Shown:
    """Draw a page for the first library, for the second, and for the first again; gives the last two."""

    def shown(page: str, **params: str | list[str]) -> tuple[AppTest, AppTest]:
        drawn = []
        for library in (*libraries, libraries[0]):
            monkeypatch.setattr(session, "workbench", lambda library=library: library.workbench)
            drawn.append(opened(page, **params))
        return drawn[2], drawn[1]

    return shown


def test_chips_filters_and_results_have_the_titles_of_their_own_library(shown: Shown) -> None:
    screens = shown("search.py", q="which erasure request came from Kosova?")
    assert [{"Privacy", "Haulage"} & set(filter_values(screen, "domains")) for screen in screens] == [
        {"Privacy"},
        {"Haulage"},
    ]
    assert [{"Kosovo", "Dominion"} & set(filter_values(screen, "jurisdictions")) for screen in screens] == [
        {"Kosovo"},
        {"Dominion"},
    ]
    chips = [" ".join(str(option) for each in screen.button_group for option in each.options) for screen in screens]
    assert ["domain: Privacy" in statement and "jurisdiction: Kosovo" in statement for statement in chips] == [
        True,
        False,
    ]
    assert ["domain: Haulage" in statement and "jurisdiction: Dominion" in statement for statement in chips] == [
        False,
        True,
    ]
    answered = shown("search.py", q="what rest does the Ministry of Northern Roads recommend?")
    facts = [" ".join(each.value for each in screen.caption) for screen in answered]
    assert [("Kosovo" in statement, "Dominion" in statement) for statement in facts] == [(True, False), (False, True)]


def test_the_library_and_its_labels_have_the_titles_of_their_own_library(shown: Shown) -> None:
    tables = [[row["cells"] for row in listed(screen)] for screen in shown("library.py")]
    domains = [{cells["domain"] for cells in table} for table in tables]
    places = [{cells["jurisdiction"] for cells in table} for table in tables]
    assert [{"Privacy", "Haulage"} & found for found in domains] == [{"Privacy"}, {"Haulage"}]
    assert [{"Kosovo", "Dominion"} & found for found in places] == [{"Kosovo"}, {"Dominion"}]
    labels = shown("library.py", document="1")
    assert ["Domain **Privacy**" in words(screen) for screen in labels] == [True, False]
    assert ["Domain **Haulage**" in words(screen) for screen in labels] == [False, True]
    offered = [next(each for each in screen.selectbox if each.label == "Correct domain").options for screen in labels]
    assert ["Privacy" in options for options in offered] == [True, False]
    assert ["Duties" in options for options in offered] == [False, True]


def test_coverage_has_the_titles_of_their_own_library(libraries: tuple[Stack, Stack], shown: Shown) -> None:
    for library in libraries:
        desk = library.workbench.coverage
        desk.add_topics([Topic("erasure request in Kosova")])
        desk.runs.carry_out(desk.runs.start(None).id)
    shares = [
        " ".join(each.text for each in screen.get("progress")) for screen in shown("coverage.py", view="Snapshots")
    ]
    assert ["Privacy · " in statement for statement in shares] == [True, False]
    assert ["Haulage · " in statement for statement in shares] == [False, True]
    needs = [words(screen) for screen in shown("coverage.py", view="To obtain")]
    assert ["for Kosovo" in statement for statement in needs] == [True, False]
    assert ["for Dominion" in statement for statement in needs] == [False, True]


def test_settings_show_and_try_the_vocabulary_of_their_own_library(shown: Shown) -> None:
    domains = [set(screen.dataframe[0].value["Domain"]) for screen in shown("settings.py", part="vocabulary")]
    assert [{"Privacy", "Haulage", "Duties"} & titles for titles in domains] == [{"Privacy"}, {"Haulage", "Duties"}]
