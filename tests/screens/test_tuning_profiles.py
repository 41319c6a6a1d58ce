"""The Profiles view: what holds is chosen, versions are compared, rolled back and retired, files go in and out."""

from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from bootstrap.environment import utc_now
from core.domain.queries import ScoreProfile
from core.evaluation.tuning.profile_registry import ProfileRegistry, to_toml
from core.knowledge.profiles import profiles
from tests.fakes import FakeEvaluationStore
from tests.screens.conftest import words

MINE = ScoreProfile("law first", {"similarity": 0.6, "authority": 0.4}, threshold=0.3)
HOSTILE = "=1+1 :red[x] <b>$5</b> *y*"


def script() -> None:
    import streamlit as st

    from pages.components.tuning import profiles
    from pages.components.user_name import name_input

    name_input()
    profiles.view(st.query_params.get("project"))


@pytest.fixture
def book(monkeypatch: pytest.MonkeyPatch) -> ProfileRegistry:
    """An own profile in two versions, made by Ada, and behind the view."""
    from pages.components import session

    book = ProfileRegistry(FakeEvaluationStore(), lambda: datetime(2025, 3, 1, 12, tzinfo=UTC))
    book.save(MINE, "Ada", note="Statutes were too low.", origin="relevance")
    book.save(replace(MINE, weights={"similarity": 0.5, "authority": 0.5}), "Ada", origin="law first@1", after=1)
    monkeypatch.setattr(session, "workbench", lambda: SimpleNamespace(evaluation=SimpleNamespace(profiles=book)))
    return book


def drawn(person: str = "", **params: str) -> AppTest:
    """The view as it is opened, by somebody who has said who they are."""
    screen = AppTest.from_function(script, default_timeout=60)
    for name, value in params.items():
        screen.query_params[name] = value
    screen.run()
    if person:
        screen.text_input(key="person").set_value(person).run()
    assert not screen.exception, screen.exception[0].value
    return screen


def pressed(screen: AppTest, key: str) -> AppTest:
    screen.button(key=f"tuning.profiles.{key}").click().run()
    assert not screen.exception, screen.exception[0].value
    return screen


def toasts(screen: AppTest) -> str:
    return "\n".join(each.value for each in screen.toast)


# Seen


def test_a_library_without_own_profiles_says_how_to_make_one(monkeypatch: pytest.MonkeyPatch) -> None:
    from pages.components import session

    empty = SimpleNamespace(evaluation=SimpleNamespace(profiles=ProfileRegistry(FakeEvaluationStore(), now=utc_now)))
    monkeypatch.setattr(session, "workbench", lambda: empty)
    text = words(drawn())
    assert "None yet. Open one of those below in *Sliders*" in text
    assert "searches with **balanced** :gray[– the built-in default]" in text


def test_own_and_built_in_profiles_stand_with_a_picture_each(book: ProfileRegistry) -> None:
    screen = drawn()
    text = words(screen)
    assert all(name in text.replace("\\", "") for name in [*profiles(), "law first"])
    assert len(screen.image) == len(profiles()) + 1
    assert "Similarity\u00a00.50 · Authority\u00a00.50" in text


def test_the_url_opens_a_version_with_who_made_it_and_why(book: ProfileRegistry) -> None:
    text = words(drawn(profile="law first@1"))
    assert "version 1 of 2" in text
    assert "Ada, 2025-03-01 12:00 · from relevance · “Statutes were too low\\.”" in text


def test_a_url_that_names_nothing_says_so_and_shows_the_default(book: ProfileRegistry) -> None:
    screen = drawn(profile="yours@7")
    assert "There is no score profile" in screen.warning[0].value
    assert "### balanced" in words(screen)


def test_a_name_that_looks_like_markup_is_shown_as_it_is(book: ProfileRegistry) -> None:
    book.save(replace(MINE, name=HOSTILE), "Ada", note=HOSTILE)
    text = words(drawn(profile=HOSTILE))
    assert ":red[x]" not in text and "<b>" not in text
    assert "\\*y\\*" in text


def test_opening_another_profile_is_kept_in_the_url(book: ProfileRegistry) -> None:
    screen = pressed(drawn(), "open.law first")
    assert screen.query_params["profile"] == "law first@2"
    assert "### law first" in words(screen)


def test_a_profile_opens_in_tune(book: ProfileRegistry) -> None:
    screen = pressed(drawn(profile="law first@1"), "tune")
    assert (screen.query_params["view"], screen.query_params["base"]) == ("tune", "law first@1")


# Chosen


def test_a_default_is_set_for_the_project_and_given_back(book: ProfileRegistry) -> None:
    screen = pressed(drawn("Ben", project="Tallgrass", profile="law first"), "choose.Tallgrass")
    assert (book.default("Tallgrass").ref, book.default(None).name) == ("law first@2", "balanced")
    assert "**Tallgrass** searches with **law first:gray[\\@2]** :gray[– chosen by Ben" in words(screen)
    pressed(screen, "back.Tallgrass")
    assert book.default("Tallgrass").name == "balanced"
    assert "Tallgrass no longer has a default of its own" in toasts(screen)


def test_a_default_is_set_for_the_whole_library(book: ProfileRegistry) -> None:
    screen = pressed(drawn("Ben", project="Tallgrass", profile="relevance"), "choose.")
    assert book.default(None).name == book.default("Tallgrass").name == "relevance"
    assert ":gray[– as the whole library does]" in words(screen)


def test_nobody_chooses_without_a_name(book: ProfileRegistry) -> None:
    screen = pressed(drawn(profile="law first"), "choose.")
    assert "Fill in “Your name”" in screen.warning[0].value
    assert book.default(None).name == "balanced"


def test_a_choice_that_is_retired_is_told_with_what_holds_instead(book: ProfileRegistry) -> None:
    book.choose(None, "law first", "Ada")
    book.retire("law first", "Ada", 2)
    assert "**balanced** :orange[– law first, which Ada chose, is archived]" in words(drawn())


# Compared


def test_the_newest_version_is_held_against_the_one_before(book: ProfileRegistry) -> None:
    screen = drawn(profile="law first")
    assert "**2 differences**" in words(screen)
    table = screen.dataframe[0].value
    assert list(table.columns) == ["What", "Before", "After", "Change"]
    assert table.to_numpy().tolist() == [
        ["Weight: Similarity", "0.60", "0.50", "−0.10"],
        ["Weight: Authority", "0.40", "0.50", "+0.10"],
    ]


def test_any_two_are_compared_and_the_choice_stays(book: ProfileRegistry) -> None:
    screen = drawn(profile="law first")
    screen.selectbox(key="tuning.profiles.law first@2.before").set_value("balanced").run()
    screen.run()
    assert "Weight: Best-sentence similarity" in screen.dataframe[0].value["What"].to_list()
    screen.selectbox(key="tuning.profiles.law first@2.after").set_value("balanced").run()
    assert "They are identical." in words(screen)


# Its past


def test_the_history_tells_what_each_version_changed(book: ProfileRegistry) -> None:
    text = words(drawn(profile="law first"))
    assert "Weight\\: Similarity 0\\.60 → 0\\.50 · Weight\\: Authority 0\\.40 → 0\\.50" in text
    assert "The first version." in text


def test_rolling_back_makes_a_new_version_and_opens_it(book: ProfileRegistry) -> None:
    screen = pressed(drawn("Ben", profile="law first@1"), "roll.law first@1")
    assert book.find("law first").weights == MINE.weights
    assert book.versions("law first")[0].who == "Ben"
    assert "Version 3 of law first is identical to version 1" in toasts(screen)
    assert screen.query_params["profile"] == "law first"


def test_what_was_changed_meanwhile_is_not_overwritten(book: ProfileRegistry) -> None:
    screen = drawn("Ben", profile="law first")
    book.save(replace(MINE, threshold=0.5), "Chidi", after=2)
    pressed(screen, "retire")
    assert "Chidi has saved version 3" in screen.warning[0].value.replace("\\", "")
    assert book.find("law first").threshold == 0.5


def test_a_retired_profile_is_shown_and_can_be_brought_back(book: ProfileRegistry) -> None:
    screen = pressed(drawn("Ben", profile="law first"), "retire")
    assert "law first" not in book.choices()
    text = words(screen)
    assert "Archived by Ben, 2025-03-01" in text
    assert "tuning.profiles.retire" not in [button.key for button in screen.button]
    pressed(screen, "again")
    assert book.find("law first").ref == "law first@4"


def test_a_built_in_profile_has_no_past_and_no_end(book: ProfileRegistry) -> None:
    screen = drawn(profile="relevance")
    assert "comes with the product and does not change" in words(screen)
    assert "tuning.profiles.retire" not in [button.key for button in screen.button]


def test_a_long_history_is_cut_and_shown_whole_on_demand(book: ProfileRegistry) -> None:
    for after in range(2, 16):
        book.save(replace(MINE, max_results=after), "Ada", after=after)
    screen = drawn(profile="law first")
    assert "**Version 16**" in words(screen) and "**Version 4**" not in words(screen)
    screen.toggle(key="tuning.profiles.all").set_value(True).run()
    assert "**Version 1**" in words(screen)


# Files


def brought(screen: AppTest, text: str) -> AppTest:
    screen.file_uploader[0].set_value(("theirs.toml", text.encode(), "application/toml")).run()
    assert not screen.exception, screen.exception[0].value
    return screen


def test_a_file_is_looked_at_before_anything_is_saved(book: ProfileRegistry) -> None:
    newer = replace(MINE, threshold=0.2)
    text = to_toml([newer, replace(MINE, name="fresh"), profiles()["trend"], replace(MINE, name="memory")])
    screen = brought(drawn("Ben"), text)
    shown_text = words(screen)
    assert "holds 4 profiles, 2 of them worth saving" in shown_text
    assert all(each in shown_text for each in ("version 3, 3 changes", "new", "identical to trend", "cannot be saved"))
    assert "comes with the product" in shown_text.replace("\\", "")
    assert len(book.versions("law first")) == 2 and "fresh" not in book.choices()
    pressed(screen, "import")
    assert book.find("law first").threshold == 0.2
    assert book.versions("fresh")[0].note == "Imported from theirs.toml."
    assert "Saved law first@3, fresh@1" in toasts(screen).replace("\\", "")
    assert "theirs.toml" not in words(screen)


def test_what_is_not_ticked_is_not_saved(book: ProfileRegistry) -> None:
    screen = brought(drawn("Ben"), to_toml([replace(MINE, name="one"), replace(MINE, name="two")]))
    screen.checkbox(key="tuning.profiles.take.0.0").uncheck().run()
    pressed(screen, "import")
    assert "two" in book.choices() and "one" not in book.choices()


def test_a_built_in_name_can_be_changed_before_it_is_saved(book: ProfileRegistry) -> None:
    screen = brought(drawn("Ben"), to_toml([replace(MINE, name="memory")]))
    screen.text_input(key="tuning.profiles.name.0.0").set_value("memory of laws").run()
    screen.checkbox(key="tuning.profiles.take.0.0").check().run()
    pressed(screen, "import")
    assert book.find("memory of laws").weights == MINE.weights


def test_a_name_typed_just_before_the_click_is_looked_at_first(book: ProfileRegistry) -> None:
    screen = brought(drawn("Ben"), to_toml([replace(MINE, name="fresh")]))
    screen.text_input(key="tuning.profiles.name.0.0").set_value("law first")
    pressed(screen, "import")
    assert "A name was changed since" in screen.warning[0].value
    assert "fresh" not in book.choices() and len(book.versions("law first")) == 2


def test_importing_without_a_name_says_so_and_keeps_the_preview(book: ProfileRegistry) -> None:
    screen = pressed(brought(drawn(), to_toml([replace(MINE, name="fresh")])), "import")
    assert "Fill in “Your name”" in screen.warning[0].value and "Fill in “Your name”" in toasts(screen)
    assert "holds 1 profile" in words(screen) and "fresh" not in book.choices()


def test_a_file_that_cannot_be_read_is_told_by_name_and_key(book: ProfileRegistry) -> None:
    screen = brought(drawn(), "[mine]\nweights = { charm = 1 }\nthreshold = 3")
    text = screen.error[0].value.replace("\\", "")
    assert "theirs.toml: [mine]" in text and "'charm'" in text and "'threshold' is 3" in text


def test_own_profiles_and_all_of_them_can_be_downloaded(book: ProfileRegistry) -> None:
    assert [each.label for each in drawn().download_button] == ["TOML", "Your own (1)", f"All ({len(profiles()) + 1})"]
