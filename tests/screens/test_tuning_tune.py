"""Tuning, live: sliders move a question's ranking and its URL; a trial is opened, undone and kept."""

import re
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.coverage import CellState, ReviewerOpinion, ReviewVerdict, Topic
from core.domain.documents import Truth
from core.domain.errors import StoreFailed
from core.domain.evaluation import Level
from core.domain.filters import SearchFilters
from core.domain.queries import ScoreProfile, SearchRequest
from core.evaluation.tuning.sliders import tried
from core.evaluation.tuning.trial import compared
from core.knowledge.profiles import profiles
from pages.components.tuning.rank_changes import KINDS, kind_of, rank_lines
from tests.screens.conftest import Opened, Stack, words

QUESTION = "When must overtime be paid at one and one-half times the regular rate?"
TOPIC = "Employer pay overtime one and one-half times the regular rate hours beyond forty workweek"
HOSTILE = "w.zebra:1,threshold:nan,floor:-9,max_results:2.5,m.:,__class__:1"


def slider(screen: AppTest, key: str) -> Any:
    """The slider of a weight or another number of the profile."""
    (found,) = (each for each in screen.slider if re.fullmatch(rf"tune\.at\.[0-9]+\.{re.escape(key)}", each.key))
    return found


def slid(screen: AppTest, key: str, value: float) -> AppTest:
    """Move a slider."""
    return slider(screen, key).set_value(value).run()


def pressed(screen: AppTest, label: str) -> AppTest:
    """Press the button of that label."""
    next(each for each in screen.button if each.label == label).click()
    screen.run()
    assert not screen.exception, screen.exception[0].value
    return screen


def opening(screen: AppTest, **parts: Any) -> AppTest:
    """Open a group of sliders, a tab, or the window that saves: what only a click in a browser opens."""
    for name, value in parts.items():
        screen.session_state[f"tune.{name.replace('_', '.')}"] = value
    return screen.run()


def saved(screen: AppTest, name: str, who: str = "Ann") -> AppTest:
    """Keep the trial under a name."""
    screen.text_input(key="person").set_value(who).run()
    screen.text_input(key="tune.save.name").set_value(name)
    return pressed(screen, "Save")


def heads(screen: AppTest) -> list[str]:
    """Rank and fate of each result of the new list, top to bottom."""
    return [each.value for each in screen.markdown if re.match(r"\*\*\d+\*\* :", each.value)]


def assessed(library: Stack, *names: str) -> None:
    desk = library.workbench.coverage
    desk.add_topics([Topic(name) for name in names])
    desk.runs.carry_out(desk.runs.start(None).id)


# What is asked


def test_an_empty_library_says_what_to_do(library: Stack, opened: Opened) -> None:
    assert "Nothing to tune on yet" in words(opened("tuning.py", view="tune"))


def test_without_a_question_what_others_asked_is_offered(stocked: Stack, opened: Opened) -> None:
    stocked.workbench.search.run(SearchRequest(QUESTION))
    screen = opened("tuning.py", view="tune")
    assert "**Last searches**" in words(screen)
    next(button for button in screen.button if button.key == "tune.ask.Last searches.0").click().run()
    assert screen.text_input(key="tune.question").value == QUESTION
    assert screen.query_params["q"] == QUESTION


def test_questions_of_a_set_are_offered_and_asked_as_they_are_narrowed(stocked: Stack, opened: Opened) -> None:
    judging = stocked.workbench.evaluation.judging
    narrow = SearchFilters(truths=("regulatory",))
    judging.add_question(judging.add_set("Payroll", None, Level.PASSAGE, "Ann").id, QUESTION, filters=narrow)
    screen = opened("tuning.py", q="overtime")
    chosen = next(each for each in screen.selectbox if each.label == "Payroll")
    chosen.set_value(QUESTION).run()
    assert (screen.query_params["q"], screen.query_params["truths"]) == (QUESTION, "regulatory")
    pressed(screen, "Clear filters")
    assert screen.query_params["q"] == QUESTION and "truths" not in screen.query_params


def test_a_leg_that_failed_is_told_and_the_rest_is_tuned(
    stocked: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise StoreFailed("The keyword index is gone.", "Rebuild it.")

    monkeypatch.setattr(stocked.stores.sparse, "search", broken)
    screen = opened("tuning.py", q=QUESTION)
    assert "keyword index is gone" in screen.warning[0].value
    opening(screen, group_FUSION=True)
    assert [each.label for each in screen.slider if "keyword" in each.label] == []
    assert len(heads(screen)) >= 1


def test_a_failed_search_is_an_error(stocked: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise StoreFailed("The database went away.", "Start it again.")

    monkeypatch.setattr(stocked.workbench.evaluation, "retrieved", broken)
    screen = opened("tuning.py", q=QUESTION)
    assert "The database went away" in screen.error[0].value and not screen.slider


# What is tried


def test_a_slider_moves_the_ranking_the_shares_and_the_url(stocked: Stack, opened: Opened) -> None:
    screen = opened("tuning.py", q=QUESTION)
    assert "Nothing changed yet" in words(screen) and "trial" not in screen.query_params
    before = heads(screen)
    slid(slid(screen, "w.keyword", 1.0), "threshold", 0.4)
    assert heads(screen) != before
    assert "RBO" in words(screen) and "re-scored in" in words(screen)
    assert screen.query_params["trial"] == "w.keyword:1,threshold:0.4"
    labels = [each.label for each in screen.slider]
    weights = profiles()["balanced"].weights
    total = 1 + 1 - weights["keyword"]
    assert f"Keywords · {1 / total:.0%} :primary[• was {weights['keyword']:.0%}]" in labels
    assert f"Similarity · {weights['similarity'] / total:.0%}" in labels
    assert "Threshold :primary[• was 0.00]" in labels


def test_the_ranking_is_that_of_a_search_with_the_same_numbers(stocked: Stack, opened: Opened) -> None:
    screen = opened("tuning.py", q=QUESTION, trial="w.authority:0.6,threshold:0.2")
    book = stocked.workbench.evaluation.profiles
    made = tried(book.find("balanced"), {"w.authority": 0.6, "threshold": 0.2})
    result = stocked.workbench.evaluation.rescored(stocked.workbench.search.run(SearchRequest(QUESTION)), made)
    totals = [each.value for each in screen.markdown if each.value.startswith("**0.")]
    assert totals == [f"**{hit.score.total:.3f}**" for hit in result.hits]


def test_reset_lets_every_slider_stand_where_it_stood(stocked: Stack, opened: Opened) -> None:
    screen = opened("tuning.py", q=QUESTION, trial="w.keyword:0.6,threshold:0.2")
    pressed(screen, "Reset")
    assert "trial" not in screen.query_params and "Nothing changed yet" in words(screen)
    assert slider(screen, "w.keyword").value == 0.2
    assert "Reset" not in [button.label for button in screen.button]


def test_a_url_opens_the_trial_of_a_colleague_with_its_group(stocked: Stack, opened: Opened) -> None:
    screen = opened("tuning.py", q=QUESTION, base="trend", trial="fusion_k:20,legs.dense:0.1,w.fusion:0.4", depth="20")
    assert screen.selectbox(key="tune.base").value == "trend"
    assert slider(screen, "fusion_k").value == 20
    assert slider(screen, "legs.dense").value == pytest.approx(0.1)
    assert slider(screen, "w.fusion").label == "Rank fusion (RRF) · 57% :primary[• was 70%]"
    assert screen.segmented_control(key="tune.depth").value == 20
    assert screen.query_params["base"] == "trend" and screen.query_params["depth"] == "20"


def test_filters_of_a_url_narrow_what_is_tuned_and_stay_in_it(stocked: Stack, opened: Opened) -> None:
    screen = opened("tuning.py", q="overtime", truths="regulatory")
    assert "truth is regulatory" in words(screen) and screen.query_params["truths"] == "regulatory"


def test_a_hostile_trial_is_told_once_and_the_rest_of_it_holds(stocked: Stack, opened: Opened) -> None:
    screen = opened("tuning.py", q=QUESTION, trial=f"{HOSTILE},w.authority:0.5", base="<b>x</b>", depth="1e9")
    text = "".join(each.value for each in screen.warning).replace("\\", "")
    assert "'w.zebra' is nothing that can be moved" in text and "There is no score profile '<b>x</b>'" in text
    assert screen.query_params["trial"] == "w.authority:0.5"
    slid(screen, "w.similarity", 0.3)
    assert not screen.warning


def test_a_profile_without_any_weight_is_told_and_scores_nothing(stocked: Stack, opened: Opened) -> None:
    screen = opened("tuning.py", q=QUESTION, base="memory")
    slid(screen, "w.fusion", 0.0)
    assert "Every weight is 0" in screen.warning[0].value
    assert not heads(screen) and slider(screen, "w.fusion").label == "Rank fusion (RRF) :primary[• was 100%]"
    slid(screen, "w.fusion", 0.5)
    assert not screen.warning and heads(screen)


def test_a_threshold_nothing_reaches_is_said_with_what_leaves(stocked: Stack, opened: Opened) -> None:
    screen = opened("tuning.py", q=QUESTION, trial="threshold:1")
    assert "Nothing reached the threshold 1" in screen.info[0].value
    opening(screen, tabs="Enters and leaves")
    assert "below threshold" in words(screen).replace("\\", "") and "**Enters** · 0" in words(screen)


def test_sliders_that_change_nothing_say_why(stocked: Stack, opened: Opened) -> None:
    screen = opening(opened("tuning.py", q=QUESTION), group_FUSION=True)
    assert "no effect while the factor *Rank fusion (RRF)* has no weight" in words(screen)


def test_what_was_moved_in_a_group_that_is_closed_stays_moved(stocked: Stack, opened: Opened) -> None:
    screen = opening(opened("tuning.py", q=QUESTION), group_MULTIPLIERS=True)
    slid(screen, "m.temporal", 0.5)
    opening(screen, group_MULTIPLIERS=False)
    assert not any(each.key.endswith(".m.temporal") for each in screen.slider)
    slid(slid(screen, "threshold", 0.3), "floor", 0.2)
    assert screen.query_params["trial"] == "m.temporal:0.5,threshold:0.3,floor:0.2"
    opening(screen, group_MULTIPLIERS=True)
    assert slider(screen, "m.temporal").value == 0.5
    opening(screen, group_MULTIPLIERS=False)
    opening(pressed(screen, "Reset"), group_MULTIPLIERS=True)
    assert slider(screen, "m.temporal").value == 0.0


def test_a_slider_that_was_set_anew_takes_no_late_value_of_the_old_one(stocked: Stack, opened: Opened) -> None:
    screen = slid(opened("tuning.py", q=QUESTION), "threshold", 0.3)
    old = slider(screen, "threshold").key
    pressed(screen, "Reset")
    assert slider(screen, "threshold").key != old and slider(screen, "threshold").value == 0.0
    screen.session_state[old] = 0.3
    assert "trial" not in screen.run().query_params


def test_a_relational_question_has_its_own_leg_weights(stocked: Stack, opened: Opened) -> None:
    stocked.add(
        "rates.md", "# Rates\nThe overtime rate is related to the regular rate: it is one and one-half times it.\n"
    )
    screen = opening(opened("tuning.py", q="How is the overtime rate related to the regular rate?"), group_FUSION=True)
    legs = [f"relational_legs.{name}" for name in ("dense", "sparse", "graph")]
    assert sorted(each.key for each in screen.slider if "legs" in each.key) == sorted(
        slider(screen, each).key for each in legs
    )


def test_another_base_begins_anew_and_the_first_is_found_as_it_was_left(stocked: Stack, opened: Opened) -> None:
    screen = slid(opened("tuning.py", q=QUESTION), "w.similarity", 0.5)
    screen.selectbox(key="tune.base").set_value("relevance").run()
    assert slider(screen, "w.similarity").value == 0.45
    assert "trial" not in screen.query_params and screen.query_params["base"] == "relevance"
    screen.selectbox(key="tune.base").set_value("balanced").run()
    assert slider(screen, "w.similarity").value == 0.5


def test_another_room_and_back_finds_the_trial_as_it_was(stocked: Stack, opened: Opened) -> None:
    screen = slid(opened("tuning.py", q="overtime", depth="20"), "w.similarity", 0.5)
    screen.text_input(key="tune.question").set_value(QUESTION).run()
    screen.selectbox(key="tune.base").set_value("relevance").run()
    slid(screen, "w.similarity", 0.75)
    screen.segmented_control(key="tuning.view").set_value("classifier").run()
    assert screen.query_params["view"] == "classifier"
    screen.run()
    screen.segmented_control(key="tuning.view").set_value("tune").run()
    assert slider(screen, "w.similarity").value == 0.75
    assert screen.text_input(key="tune.question").value == QUESTION
    assert screen.selectbox(key="tune.base").value == "relevance"
    assert screen.segmented_control(key="tune.depth").value == 20
    assert screen.query_params["trial"] == "w.similarity:0.75"


# How it is drawn


def test_no_two_kinds_of_move_look_alike_without_their_colour() -> None:
    looks = [(kind.symbol, kind.dash, kind.sign) for kind in KINDS.values()]
    assert len(set(looks)) == len({look[0] for look in looks}) == len(KINDS)


def test_the_lines_join_the_ranks_of_both_lists_and_names_are_only_text(stocked: Stack) -> None:
    tuning = stocked.workbench.evaluation
    stocked.add("<b>overtime</b>.md", "# Overtime\nOvertime is paid at one and one-half times the regular rate.\n")
    before = tuning.retrieved(SearchRequest(QUESTION))
    after = tuning.rescored(before, tried(before.profile, {"w.authority": 1.0, "threshold": 0.45}))
    trial = compared(before, after)
    figure = rank_lines(trial, ("balanced", "trial"), lambda move: "page 1").to_dict()
    labels = [text for trace in figure["data"] if trace["mode"] == "text" for text in trace["text"]]
    assert any("An employer shall" in label for label in labels)  # passages of one file are told apart
    lines = [trace for trace in figure["data"] if trace["mode"] == "lines+markers"]
    assert {trace["name"] for trace in lines} == {kind_of(move).words for move in trial.moves}
    drawn = {pair for trace in lines for pair in zip(trace["y"][::3], trace["y"][1::3], strict=True)}
    below = max(move.position_before or 0 for move in trial.moves) + 1
    assert drawn == {(move.position_before or below, move.position_after or below) for move in trial.moves}
    shown_text = " ".join(
        str(each) for trace in figure["data"] for each in (*trace.get("text", ()), *trace.get("hovertext", ()))
    )
    assert "&lt;b&gt;overtime&lt;/b&gt;" in shown_text and "<b>overtime</b>" not in shown_text


# What is kept


def test_a_trial_is_saved_as_the_next_version_which_becomes_the_base(stocked: Stack, opened: Opened) -> None:
    screen = slid(opened("tuning.py", q=QUESTION), "w.keyword", 0.5)
    saved(screen, "mine")
    book = stocked.workbench.evaluation.profiles
    first = book.find("mine")
    assert (first.ref, book.versions("mine")[0].who, book.versions("mine")[0].origin) == ("mine@1", "Ann", "balanced")
    assert first.weights["keyword"] == pytest.approx(0.5 / 1.3)
    assert screen.selectbox(key="tune.base").value == "mine@1" and screen.query_params["base"] == "mine@1"
    assert "trial" not in screen.query_params and "Nothing changed yet" in words(screen)
    slid(screen, "threshold", 0.4)
    saved(screen, "mine")
    assert book.find("mine").ref == "mine@2" and book.find("mine").threshold == 0.4
    assert screen.selectbox(key="tune.base").value == "mine@2"


def test_what_would_be_saved_is_shown_before(stocked: Stack, opened: Opened) -> None:
    screen = slid(opened("tuning.py", q=QUESTION), "threshold", 0.4)
    assert "**1 change** to balanced" in words(screen)
    (row,) = screen.dataframe[0].value.to_dict("records")
    assert (row["What"], row["balanced"], row["trial"]) == ("Threshold", "0", "0.40")


def test_who_saves_must_be_said_and_who_was_slower_is_told(stocked: Stack, opened: Opened) -> None:
    book = stocked.workbench.evaluation.profiles
    screen = slid(opened("tuning.py", q=QUESTION), "threshold", 0.4)
    saved(screen, "mine", who="")
    assert "Fill in “Your name”" in "".join(each.value for each in screen.warning)
    assert not book.versions("mine")
    screen.text_input(key="person").set_value("Ann").run()
    book.save(ScoreProfile("mine", {"similarity": 1.0}), "Bob")
    pressed(screen, "Save")
    assert "Bob has saved version 1" in "".join(each.value for each in screen.warning)
    assert [version.who for version in book.versions("mine")] == ["Bob"]
    assert screen.query_params["trial"] == "threshold:0.4"


def test_another_profile_of_the_name_gets_a_version_only_when_that_is_meant(stocked: Stack, opened: Opened) -> None:
    book = stocked.workbench.evaluation.profiles
    book.save(ScoreProfile("Audit", {"similarity": 1.0}), "Bob")
    screen = slid(opened("tuning.py", q=QUESTION), "threshold", 0.4)
    saved(screen, "audit")
    assert "There is another profile named Audit" in "".join(each.value for each in screen.warning)
    assert len(book.versions("Audit")) == 1
    pressed(screen, "Save as version 2 of Audit")
    assert (book.find("Audit").ref, book.find("Audit").threshold) == ("Audit@2", 0.4)


def test_a_moved_slider_is_saved_with_one_click(stocked: Stack, opened: Opened) -> None:
    screen = opened("tuning.py", q=QUESTION)
    screen.text_input(key="person").set_value("Ann").run()
    pressed(slid(screen, "threshold", 0.4), "Save")
    assert stocked.workbench.evaluation.profiles.find("balanced tuned").threshold == 0.4


def test_a_built_in_name_is_not_taken(stocked: Stack, opened: Opened) -> None:
    screen = saved(slid(opened("tuning.py", q=QUESTION), "threshold", 0.4), "Relevance")
    assert "comes with the product" in "".join(each.value for each in screen.warning)


def test_a_kept_profile_is_made_the_default_and_leads_to_search(stocked: Stack, opened: Opened) -> None:
    screen = saved(slid(opened("tuning.py", q=QUESTION, project="Tallgrass"), "threshold", 0.4), "mine")
    pressed(screen, "For Tallgrass")
    book = stocked.workbench.evaluation.profiles
    assert book.default("Tallgrass").name == "mine" and book.default(None).name == "balanced"
    assert "For Tallgrass" not in [button.label for button in screen.button]
    assert "base" not in screen.query_params
    assert "Search with it" in [link.label for link in screen.page_link]


# The board


def test_without_a_board_coverage_is_where_to_go(stocked: Stack, opened: Opened) -> None:
    screen = opening(opened("tuning.py", q=QUESTION, trial="covered:0.9"), tabs="Coverage")
    assert "No board is assessed yet" in words(screen) and "Assess topics on Coverage" in words(screen)


def test_cells_that_would_flip_are_listed_and_a_decision_stays(stocked: Stack, opened: Opened) -> None:
    assessed(stocked, TOPIC)
    desk = stocked.workbench.coverage
    board = desk.board(None)
    assert board is not None
    covered = [cell for cell in board.cells if cell.state is CellState.COVERED]
    regulatory = board.cell(TOPIC, Truth.REGULATORY)
    assert regulatory in covered
    desk.decide(board, regulatory, ReviewerOpinion(ReviewVerdict.ACCEPTED, "Ann", reason="read it"))
    screen = opened("tuning.py", q=QUESTION, trial="covered:1")
    assert f"**{len(covered)} cell" in words(screen)
    opening(screen, tabs="Coverage")
    rows = screen.dataframe[-1].value.to_dict("records")
    assert {row["Column"] for row in rows} >= {"§ regulatory"}
    assert {row["Would go"] for row in rows} == {"✓ covered → ◐ partial"}
    assert "not by a profile's weights" in words(screen)
    pressed(screen, "Reset")
    assert "**Coverage cells that would flip** · 0" in words(screen)


def test_hostile_names_are_only_text(stocked: Stack, opened: Opened) -> None:
    screen = opened("tuning.py", q="overtime <b>bold</b> :red[rate] $5", trial="w.authority:0.4")
    assert "<b>" not in words(screen) and ":red[x" not in words(screen)
