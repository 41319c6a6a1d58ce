"""Learning from corrections on its screen: what was learned, what would change, applying, undoing, honest numbers."""

import time
import tomllib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.evaluation.metrics.classifier_report import LabelRate
from core.library.active_learning.corrections import Period
from core.library.active_learning.store import LabelVerdict
from pages.components import session
from pages.components.tuning.active_learning import accuracy_chart
from tests.screens.conftest import POLICY, Stack, words

KINDS = tomllib.loads((Path(__file__).parents[1] / "ingestion" / "lessons.toml").read_text("utf-8"))["kind"]
TALKS = next(kind["document"] for kind in KINDS if kind["name"] == "toolbox talks")
SCRIPT = """
from pathlib import Path
import streamlit as st
from pages.components.tuning.active_learning import draw_learning

place = Path(__file__).parents[1]
st.navigation([st.Page(draw_learning, title="Tuning", default=True), st.Page(place / "library.py", title="L")]).run()
"""
Look = Callable[[], AppTest]


@pytest.fixture
def look(tmp_path: Path) -> Look:
    """Draw the part by itself, and wait until nothing is looked at any more."""
    place = tmp_path / "app" / "frame"
    place.mkdir(parents=True)
    (place / "main.py").write_text(SCRIPT, "utf-8")
    (place.parent / "library.py").write_text("import streamlit as st\n", "utf-8")
    session._own.clear()
    return lambda: settled(AppTest.from_file(str(place / "main.py"), default_timeout=60).run())


def settled(screen: AppTest) -> AppTest:
    """The screen once nothing runs behind it."""
    deadline = time.monotonic() + 30
    while screen.get("progress") and time.monotonic() < deadline:
        time.sleep(0.05)
        screen.run()
    assert not screen.exception, screen.exception[0].value
    return screen


def pressed(screen: AppTest, key: str) -> AppTest:
    """The screen after a button, settled."""
    return settled(screen.button(key=key).click().run())


@pytest.fixture
def taught(library: Stack) -> Stack:
    """Six toolbox talks, all but the first corrected."""
    ids = [library.add(f"{each['name']}.txt", each["text"]) for each in TALKS]
    library.workbench.documents.correct_many([(each, "truth", "compliance") for each in ids[1:]], "Ann")
    return library


def test_nothing_is_said_while_nobody_confirmed_a_label(library: Stack, look: Look) -> None:
    library.add("overtime_policy.md", POLICY)
    assert words(look()) == ""


def test_what_was_learned_is_told_with_its_worth(taught: Stack, look: Look) -> None:
    screen = look()
    assert "Lessons 1, learned" in words(screen) and "from 5 confirmed documents" in words(screen)
    [table] = [each.value for each in screen.dataframe]
    assert list(table["Label"]) == ["Truth"] and list(table["Confirmed"]) == [5]
    assert list(table["Right when taught"]) == [100.0] and list(table["Used"]) == ["yes"]


def test_a_change_is_looked_at_applied_and_undone(taught: Stack, look: Look) -> None:
    [first] = [each for each in taught.workbench.documents.list() if each.name.startswith("Talk 03")]
    before = taught.workbench.documents.get(first.id).labels
    screen = pressed(look(), "learning.look")
    assert taught.workbench.documents.get(first.id).labels == before
    assert "Lessons 1 would change 1 of" in words(screen)
    flips = screen.dataframe[1].value
    assert set(flips["Document"]) == {first.name} and "Compliance" in set(flips["Would be"])
    assert any(each.startswith("reads like 'Talk ") for each in flips["Because it"])
    screen = pressed(screen, "learning.apply")
    assert taught.workbench.documents.get(first.id).labels.truth.value == "compliance"
    assert "would change none of" in words(screen) and f"{len(flips)} label" in words(screen)
    [act] = taught.workbench.active_learning.acts()
    screen = pressed(screen, f"learning.undo.{act.number}")
    assert taught.workbench.documents.get(first.id).labels == before
    assert "undone" in words(screen) and not [
        each for each in screen.button if str(each.key).startswith("learning.undo.")
    ]


def test_lessons_changed_since_the_look_are_not_applied_unseen(taught: Stack, look: Look) -> None:
    screen = pressed(look(), "learning.look")
    [corrected] = [each for each in taught.workbench.documents.list() if each.name.startswith("Talk 07")]
    taught.workbench.documents.correct(corrected.id, "truth", "intent", "Ann")
    screen = settled(screen.run())
    assert "The lessons have changed since you looked." in words(screen)
    assert "learning.apply" not in {each.key for each in screen.button}


def test_new_documents_wait_when_a_person_prefers_so(taught: Stack, look: Look) -> None:
    screen = look()
    settled(screen.toggle[0].set_value(False).run())
    assert not taught.workbench.active_learning.choice().at_once
    settled(look().toggle[0].set_value(True).run())
    assert taught.workbench.active_learning.choice().at_once


def test_a_correction_is_taken_back(taught: Stack, look: Look) -> None:
    [corrected] = [each for each in taught.workbench.documents.list() if each.name.startswith("Talk 19")]
    screen = pressed(look(), f"learning.back.{corrected.id}.truth")
    assert not taught.workbench.documents.get(corrected.id).labels.truth.confirmed
    assert "Lessons 2, learned" in words(screen)
    assert f"learning.back.{corrected.id}.truth" not in {each.key for each in screen.button}


def test_documents_whose_long_names_differ_only_at_their_ends_are_told_apart(library: Stack, look: Look) -> None:
    names = [f"rules_{'of_conduct_for_everybody_' * 4}in_{year}.md" for year in (2024, 2025)]
    for name in names:
        library.workbench.documents.correct(library.add(name, f"# {name}\n{POLICY}"), "truth", "compliance")
    shown = [link.label.replace("\\", "") for link in look().page_link]
    assert len(set(shown)) == 2 and all(len(each) < 50 for each in shown)
    assert {each[-8:] for each in shown} == {"_2024.md", "_2025.md"}


def test_too_few_judged_labels_are_said_to_be_too_few(taught: Stack, look: Look) -> None:
    screen = look()
    assert "Too few to say:" in words(screen) and "of 5 automatic labels people judged were right" in words(screen)
    assert not screen.get("plotly_chart")


def test_enough_judged_labels_are_drawn_week_by_week(taught: Stack, look: Look) -> None:
    now = datetime.now(UTC)
    statements = [
        LabelVerdict(1000 + n, "ab", "truth", "intent", "Ann", now - timedelta(days=7 * (n % 3)), "intent")
        for n in range(30)
    ]
    taught.stores.lessons.add_verdicts(statements)
    screen = look()
    assert "of 35 automatic labels were right when a person first judged them" in words(screen)
    assert len(screen.get("plotly_chart")) == 1


def test_weeks_of_few_labels_are_hollow() -> None:
    monday = datetime(2024, 5, 13, tzinfo=UTC).date()
    figure = accuracy_chart(
        [Period(monday, LabelRate(3, 4)), Period(monday + timedelta(7), LabelRate(9, 12))], by_month=False
    )
    [dots] = figure.data
    assert dots.marker.color[0] != dots.marker.color[1] == dots.line.color
    assert list(dots.y) == [0.75, 0.75] and "Week of May 13, 2024<br>3 of 4 right" in dots.customdata[0]
    assert list(figure.layout.xaxis.ticktext) == ["May 13<br>n 4", "May 20<br>n 12"]
