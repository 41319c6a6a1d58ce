"""Judging in the pages: sets are kept, results graded one by one or on Search, and a blind judge gets no hint."""

import json
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.errors import StoreFailed
from core.domain.evaluation import JudgedQuestion, Level, QuestionSet
from core.domain.queries import SearchRequest
from core.evaluation.judgments.service import JudgmentService
from pages.components.tuning.judge_state import FIRST, SECOND
from tests.screens.conftest import Opened, Stack, words

QUESTION = "When must overtime be paid at one and one-half times the regular rate?"


MEMOS = (
    "Overtime is paid at one and one-half times the regular rate after forty hours.",
    "Whoever works overtime on a holiday is paid two times the regular rate.",
    "The regular rate must be reckoned before overtime is paid.",
)


@pytest.fixture
def stocked(stocked: Stack) -> Stack:
    """The small library, with some more that speaks of overtime."""
    for number, memo in enumerate(MEMOS):
        stocked.add(f"memo_{number}.md", f"# Memo {number}\n{memo}\n")
    return stocked


def judgment_service(library: Stack) -> JudgmentService:
    return library.workbench.evaluation.judging


def kept_set(library: Stack, *questions: str, project: str | None = None, name: str = "Payroll") -> QuestionSet:
    """A set with questions, as the desk keeps it."""
    made = judgment_service(library).add_set(name, project, Level.PASSAGE, "Ben")
    for question in questions:
        judgment_service(library).add_question(made.id, question)
    return made


def questions_of(library: Stack, questions: QuestionSet) -> list[JudgedQuestion]:
    return list(judgment_service(library).questions(questions.id))


def judgments_in(library: Stack, questions: QuestionSet) -> list[tuple[str, int | None, bool]]:
    """Who said what, blind or not, in order."""
    return [(each.who, each.grade, each.blind) for each in judgment_service(library).judgments(questions.id)]


def named(screen: AppTest, name: str = "Ada") -> AppTest:
    """Say who works here."""
    screen.text_input(key="person").set_value(name)
    return screen.run()


def pressed(screen: AppTest, label: str) -> AppTest:
    """Press the button of that label."""
    next(each for each in screen.button if each.label == label).click()
    screen.run()
    assert not screen.exception, screen.exception[0].value
    return screen


def meter(screen: AppTest) -> str:
    """How much is judged, as the page says it."""
    (bar,) = [each.proto.text for each in screen.get("progress")]
    return str(bar)


# The Judge view


def test_without_a_set_the_view_says_what_one_is_for_and_makes_one(stocked: Stack, opened: Opened) -> None:
    screen = opened("tuning.py", view="judge")
    assert "No question set yet" in words(screen)
    named(screen).text_input(key="sets.new.name").set_value("Overtime").run()
    pressed(screen, "Create the set")
    (made,) = judgment_service(stocked).sets(None)
    assert (made.name, made.who, made.level) == ("Overtime", "Ada", Level.PASSAGE)
    screen.text_area(key="sets.typed").set_value(f"{QUESTION}\n\n Who approves overtime? ").run()
    pressed(screen, "Add questions")
    assert [each.question for each in questions_of(stocked, made)] == [QUESTION, "Who approves overtime?"]
    assert screen.query_params["set"] == str(made.id)


def test_a_set_without_a_name_or_a_person_is_refused_in_words(stocked: Stack, opened: Opened) -> None:
    screen = pressed(opened("tuning.py", view="judge"), "Create the set")
    assert "name is empty" in screen.warning[0].value
    screen.text_input(key="sets.new.name").set_value("Overtime").run()
    assert "name of who judges" in pressed(screen, "Create the set").warning[0].value
    assert judgment_service(stocked).sets(None) == []


def test_one_result_after_the_other_is_graded_until_none_is_left(stocked: Stack, opened: Opened) -> None:
    made = kept_set(stocked, QUESTION)
    screen = named(opened("tuning.py", view="judge"))
    assert f"### {QUESTION[:20]}" in words(screen).replace("\\", "")
    total = int(meter(screen).split(" of ")[1].split("*")[0])
    for number, label in zip(range(total), ["Answers", "Can't judge", *["Irrelevant"] * total], strict=False):
        assert meter(screen).startswith(f"**{number} of {total}** judged by you")
        pressed(screen, label)
    assert "Every result is judged" in words(screen)
    assert judgments_in(stocked, made)[:2] == [("Ada", 3, True), ("Ada", None, True)]
    assert len(judgments_in(stocked, made)) == total


def test_the_counts_of_the_set_follow_each_grade_at_once(stocked: Stack, opened: Opened) -> None:
    kept_set(stocked, QUESTION)
    screen = named(opened("tuning.py", view="judge"))
    screen.run()
    assert "the set 0% graded" in meter(screen) and "1 question left" in meter(screen)
    total = int(meter(screen).split(" of ")[1].split("*")[0])
    for number in range(1, total + 1):
        pressed(screen, "Answers")
        assert f"the set {number / total:.0%} graded" in meter(screen)
    assert "no other question left" in meter(screen)


def test_the_graded_share_is_of_the_questions_whose_results_are_known(stocked: Stack, opened: Opened) -> None:
    kept_set(stocked, QUESTION, "Who approves overtime?")
    screen = named(opened("tuning.py", view="judge"))
    screen.run()
    assert "in the 1 question seen so far 0% graded" in meter(screen)
    pressed(screen, "Next question").run()
    assert "the set 0% graded" in meter(screen)


def test_keys_press_the_grades_and_the_ways_on(stocked: Stack, opened: Opened) -> None:
    kept_set(stocked, QUESTION)
    screen = named(opened("tuning.py", view="judge"))
    keys = {each.label: each.proto.shortcut for each in screen.button if each.proto.shortcut}
    assert keys == {
        "Irrelevant": "0",
        "Related": "1",
        "Answers in part": "2",
        "Answers": "3",
        "Can't judge": "x",
        "Previous": "left",
        "Next": "right",
        "Next question": "n",
    }


def test_nobody_can_grade_without_a_name(stocked: Stack, opened: Opened) -> None:
    kept_set(stocked, QUESTION)
    screen = opened("tuning.py", view="judge")
    assert screen.button(key="judge.grade.3").disabled and "Enter your name above" in words(screen)
    assert not named(screen).button(key="judge.grade.3").disabled


def test_a_blind_judge_sees_no_rank_score_or_profile_of_a_result(stocked: Stack, opened: Opened) -> None:
    kept_set(stocked, QUESTION)
    screen = named(opened("tuning.py", view="judge"))
    text = words(screen)
    assert "rank 1" not in text and "score 0" not in text and "Inspect" not in text.split("\n")
    screen.segmented_control(key="judge.blind").set_value("seen").run()
    text = words(screen)
    assert "rank 1 under balanced" in text and "score 0." in text
    pressed(screen, "Related")
    made = judgment_service(stocked).sets(None)[0]
    assert judgments_in(stocked, made) == [("Ada", 1, False)]


def test_a_grade_is_changed_by_going_back_and_choosing_another(stocked: Stack, opened: Opened) -> None:
    made = kept_set(stocked, QUESTION)
    screen = pressed(named(opened("tuning.py", view="judge")), "Answers")
    pressed(screen, "Previous")
    assert screen.button(key="judge.grade.3").proto.type == "primary"
    pressed(screen, "Irrelevant")
    assert judgments_in(stocked, made) == [("Ada", 0, True)]


def test_the_next_question_is_the_next_with_something_left(stocked: Stack, opened: Opened) -> None:
    kept_set(stocked, QUESTION, "Who approves overtime?", "Who reviews the policy?")
    screen = named(opened("tuning.py", view="judge", question="q2"))
    assert screen.query_params["question"] == "q2"
    assert pressed(screen, "Next question").query_params["question"] == "q3"
    assert pressed(screen, "Next question").query_params["question"] == "q1"
    assert "### When must overtime" in words(screen)


def test_what_others_said_is_shown_only_when_asked_for_and_never_to_a_blind_judge(
    stocked: Stack, opened: Opened
) -> None:
    made = kept_set(stocked, QUESTION)
    (question,) = questions_of(stocked, made)
    pool = judgment_service(stocked).pool(made.id, question.id, ["balanced"], who="Ben")
    judgment_service(stocked).judge(made.id, question.id, pool.units, 2, "Ben")
    screen = named(opened("tuning.py", view="judge"))
    assert screen.toggle(key="judge.reveal").disabled
    screen.segmented_control(key="judge.blind").set_value("seen").run()
    assert "Ben: 2" not in words(screen)
    screen.toggle(key="judge.reveal").set_value(True).run()
    assert "Ben: 2 answers in part" in words(screen)
    screen.segmented_control(key="judge.blind").set_value("blind").run()
    assert "Ben: 2" not in words(screen)


def test_judges_who_disagree_are_told_and_a_blind_judge_only_where_they_had_their_say(
    stocked: Stack, opened: Opened
) -> None:
    made = kept_set(stocked, QUESTION)
    (question,) = questions_of(stocked, made)
    first, second = judgment_service(stocked).pool(made.id, question.id, ["balanced"], who="Ben").units[:2]
    for unit, who, grade in ((first, "Ben", 3), (first, "Cy", 0), (second, "Ben", 0), (second, "Ada", 3)):
        judgment_service(stocked).judge(made.id, question.id, unit, grade, who)
    screen = named(opened("tuning.py", view="judge"))
    assert any(each.label == "Agreement of 3 judges: Ada, Ben, Cy" for each in screen.expander)
    assert "disputed" not in words(screen)
    screen.session_state["judge.agreement.open"] = True
    text = words(screen.run())
    assert "Ada **3 answers** · Ben **0 irrelevant**" in text and "Cy **0" not in text
    assert "1 more disputed result you have not judged yet" in text
    pressed(screen, "Look again")
    assert screen.button(key="judge.grade.3").proto.type == "primary"


def test_a_question_nothing_answers_shows_its_nearest_misses_as_such(stocked: Stack, opened: Opened) -> None:
    kept_set(stocked, "zebra xylophone quark")
    screen = named(opened("tuning.py", view="judge"))
    screen.selectbox(key=FIRST).set_value("relevance").run()
    screen.selectbox(key=SECOND).set_value("authority").run()
    assert "No profile shows a result" in words(screen)


def test_a_failed_search_is_told_and_the_question_can_still_be_changed(
    stocked: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept_set(stocked, QUESTION, "Who approves overtime?")

    def broken(*args: object, **kwargs: object) -> None:
        raise StoreFailed("The database went away.", "Start it again.")

    monkeypatch.setattr(judgment_service(stocked), "pool", broken)
    screen = opened("tuning.py", view="judge")
    assert "The database went away" in screen.error[0].value
    assert any(each.label == "Question" for each in screen.selectbox)


def test_text_with_markup_is_shown_as_it_stands(stocked: Stack, opened: Opened) -> None:
    kept_set(stocked, ":red[shout] <b>overtime rate</b> per hour of $5", name="*Set* :red[x]")
    text = words(named(opened("tuning.py", view="judge")))
    assert "### \\:red\\[shout\\]" in text and "<b>" not in text


# Sets


def test_sets_of_a_project_are_offered_there_with_those_of_the_whole_library(stocked: Stack, opened: Opened) -> None:
    kept_set(stocked, QUESTION, name="All")
    kept_set(stocked, QUESTION, project="Tallgrass", name="Ours")

    def offered(screen: AppTest) -> list[str]:
        return next(list(each.options) for each in screen.selectbox if each.label == "Question set")

    assert offered(opened("tuning.py", view="judge")) == ["All"]
    assert offered(opened("tuning.py", view="judge", project="Tallgrass")) == ["All · whole library", "Ours"]


def test_a_url_opens_the_set_and_the_question_it_names(stocked: Stack, opened: Opened) -> None:
    kept_set(stocked, QUESTION, name="First")
    second = kept_set(stocked, QUESTION, "Who approves overtime?", name="Second")
    screen = opened("tuning.py", view="judge", set=str(second.id), question="q2")
    assert screen.query_params["set"] == str(second.id) and "### Who approves overtime" in words(screen)
    assert opened("tuning.py", view="judge", set="999", question="nonsense").query_params["question"] == "q1"


def test_a_set_is_renamed_scheduled_retired_and_taken_up_again(stocked: Stack, opened: Opened) -> None:
    kept_set(stocked, QUESTION, name="First")
    made = kept_set(stocked, QUESTION, name="Second")
    screen = named(opened("tuning.py", view="judge", part="set", set=str(made.id)))
    key = f"sets.change.{made.id}.1"
    screen.text_input(key=f"{key}.name").set_value("Renamed")
    screen.selectbox(key=f"{key}.hours").set_value(24).run()
    pressed(screen, "Save")
    now = judgment_service(stocked).question_set(made.id)
    assert (now.name, now.every_hours) == ("Renamed", 24)
    assert next(each.value for each in screen.selectbox if each.label == "Question set") == made.id
    pressed(screen, "Archive set")
    assert judgment_service(stocked).question_set(made.id).retired
    pressed(screen, "Restore")
    assert not judgment_service(stocked).question_set(made.id).retired
    assert screen.query_params["set"] == str(made.id)


def test_a_set_someone_else_has_changed_is_not_overwritten(stocked: Stack, opened: Opened) -> None:
    made = kept_set(stocked, QUESTION)
    screen = opened("tuning.py", view="judge", part="set")
    screen.text_input(key=f"sets.change.{made.id}.1.name").set_value("Mine").run()
    judgment_service(stocked).rename(made, "Theirs")
    screen.button(key=f"sets.change.{made.id}.1.save").click().run()
    assert "changed by someone else" in screen.warning[0].value
    assert judgment_service(stocked).question_set(made.id).name == "Theirs"


def edited(monkeypatch: pytest.MonkeyPatch, **cells: object) -> None:
    """What is typed into the first row of the table of questions, which AppTest cannot type into."""
    import streamlit as st

    monkeypatch.setattr(st, "data_editor", lambda rows, **_: [{**rows[0], **cells}, *rows[1:]])


def test_a_question_someone_else_has_changed_is_not_overwritten(
    stocked: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = kept_set(stocked, QUESTION)
    edited(monkeypatch, kind="keyword")
    screen = opened("tuning.py", view="judge", part="set")
    (before,) = questions_of(stocked, made)
    theirs = replace(before, question="Who approves overtime?")
    judgment_service(stocked).change_questions([theirs])
    screen.button(key="sets.save").click().run()
    assert "was changed or archived by someone else" in screen.warning[0].value
    assert questions_of(stocked, made) == [theirs]
    screen.button(key="sets.save").click().run()
    assert questions_of(stocked, made) == [replace(theirs, kind="keyword")]


def test_a_question_someone_else_has_archived_does_not_come_back_without_its_grades(
    stocked: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = kept_set(stocked, QUESTION, "Who approves overtime?")
    edited(monkeypatch, kind="keyword")
    screen = opened("tuning.py", view="judge", part="set")
    judgment_service(stocked).retire_question(questions_of(stocked, made)[0].id)
    screen.button(key="sets.save").click().run()
    assert "was changed or archived by someone else" in screen.warning[0].value
    assert [each.key for each in questions_of(stocked, made)] == ["q2"]


def test_last_searches_become_questions(stocked: Stack, opened: Opened) -> None:
    made = kept_set(stocked, QUESTION)
    opened("search.py", q="Who approves overtime?")
    opened("search.py", q=QUESTION)
    screen = opened("tuning.py", view="judge", part="set")
    offered = screen.multiselect(key="sets.searched").options
    assert offered == ["Who approves overtime?"]
    screen.multiselect(key="sets.searched").set_value(offered).run()
    pressed(screen, "Add these")
    assert [each.question for each in questions_of(stocked, made)] == [QUESTION, "Who approves overtime?"]


def test_a_file_is_looked_at_before_it_is_taken_over(stocked: Stack, opened: Opened) -> None:
    made = kept_set(stocked, QUESTION)
    lines = [{"id": "d1", "question": "Who reviews the policy?", "kind": "keyword"}, {"id": "d2", "question": ""}]
    screen = named(opened("tuning.py", view="judge", part="set"))
    data = "\n".join(json.dumps(line) for line in lines).encode()
    screen.file_uploader[0].set_value(("judged.jsonl", data, "application/x-ndjson")).run()
    text = words(screen)
    assert "**1 new question**" in text and "**1 refusal**" in text
    assert len(questions_of(stocked, made)) == 1
    pressed(screen, "Import")
    assert [each.key for each in questions_of(stocked, made)] == ["q1", "d1"]


def test_a_file_that_is_none_is_told(stocked: Stack, opened: Opened) -> None:
    kept_set(stocked, QUESTION)
    screen = opened("tuning.py", view="judge", part="set")
    screen.file_uploader[0].set_value(("judged.csv", b"\xff\xfe\x00", "text/csv")).run()
    assert "not UTF-8 text" in screen.warning[0].value.replace("\\", "")


def test_a_set_is_offered_in_four_formats(stocked: Stack, opened: Opened) -> None:
    kept_set(stocked, QUESTION)
    screen = opened("tuning.py", view="judge", part="set")
    labels = [each.proto.label.split(" :")[0] for each in screen.get("download_button")]
    assert labels == ["JSONL", "CSV", "TREC qrels", "Queries"]


# On Search


def grading(screen: AppTest) -> AppTest:
    """Switch judging on, as Ada."""
    screen.toggle(key="grading.on").set_value(True).run()
    return named(screen)


def rows(screen: AppTest) -> list[object]:
    """The rows of grades, one per result."""
    return [each for each in screen.segmented_control if each.label == "Your grade"]


def test_results_are_searched_without_grades_until_one_asks_for_them(stocked: Stack, opened: Opened) -> None:
    assert rows(opened("search.py", q=QUESTION)) == []


def test_a_first_set_is_begun_on_search(stocked: Stack, opened: Opened) -> None:
    screen = grading(opened("search.py", q=QUESTION))
    assert rows(screen) == []
    pressed(screen, "Begin the set “My judgments”")
    assert [each.name for each in judgment_service(stocked).sets(None)] == ["My judgments"]
    assert rows(screen)


def test_grading_a_result_adds_the_question_with_its_filters_once(stocked: Stack, opened: Opened) -> None:
    made = kept_set(stocked, name="Mine")
    screen = grading(opened("search.py", q=QUESTION, truths=["regulatory"]))
    rows(screen)[0].set_value("3").run()  # type: ignore[attr-defined]
    rows(screen)[0].set_value("x").run()  # type: ignore[attr-defined]
    (question,) = questions_of(stocked, made)
    assert (question.question, question.filters.truths) == (QUESTION, ("regulatory",))
    assert judgments_in(stocked, made) == [("Ada", None, False)]


def test_my_grades_stand_below_the_results_and_not_anothers(stocked: Stack, opened: Opened) -> None:
    made = kept_set(stocked, QUESTION)
    (question,) = questions_of(stocked, made)
    first, second = judgment_service(stocked).pool(made.id, question.id, ["balanced"], who="Ben").units[:2]
    judgment_service(stocked).judge(made.id, question.id, first, 3, "Ada")
    judgment_service(stocked).judge(made.id, question.id, second, None, "Ada")
    screen = grading(opened("search.py", q=QUESTION))
    mine = []
    for hit in stocked.workbench.search.run(SearchRequest(QUESTION), remember=False).hits:
        screen.session_state["search.chosen"] = hit.candidate.passage.id
        mine += [each.value for each in rows(screen.run())]  # type: ignore[attr-defined]
    assert mine[:2] == ["3", "x"] and set(mine[2:]) <= {None}
    theirs = opened("search.py", q=QUESTION)
    theirs.toggle(key="grading.on").set_value(True).run()
    assert {each.value for each in rows(named(theirs, "Ben"))} == {None}  # type: ignore[attr-defined]


def test_a_grade_given_on_one_page_stands_on_the_other(stocked: Stack, opened: Opened) -> None:
    kept_set(stocked, QUESTION)

    def turned(page: str) -> None:
        screen.switch_page(f"../{page}").run()
        assert not screen.exception, screen.exception[0].value

    screen = named(opened("tuning.py", view="judge"))
    turned("search.py")
    screen.text_input(key="question").set_value(QUESTION).run()
    screen.toggle(key="grading.on").set_value(True).run()
    rows(screen)[0].set_value("3").run()  # type: ignore[attr-defined]
    turned("tuning.py")
    screen.segmented_control(key="tuning.room").set_value("judge").run()
    assert meter(screen).startswith("**1 of ")
    pressed(screen, "Irrelevant")
    turned("search.py")
    mine = []
    for hit in stocked.workbench.search.run(SearchRequest(QUESTION), remember=False).hits:
        screen.session_state["search.chosen"] = hit.candidate.passage.id
        mine += [each.value for each in rows(screen.run())]  # type: ignore[attr-defined]
    assert "3" in mine and "0" in mine


def test_nobody_grades_on_search_without_a_name(stocked: Stack, opened: Opened) -> None:
    kept_set(stocked, QUESTION)
    screen = opened("search.py", q=QUESTION)
    screen.toggle(key="grading.on").set_value(True).run()
    assert all(each.disabled for each in rows(screen))  # type: ignore[attr-defined]
    assert "Enter your name" in words(screen)


def test_a_grade_that_cannot_be_kept_is_told_below_its_result(
    stocked: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = kept_set(stocked, QUESTION)
    screen = grading(opened("search.py", q=QUESTION))

    def broken(*args: object, **kwargs: object) -> None:
        raise StoreFailed("The database went away.", "Start it again.")

    monkeypatch.setattr(stocked.tunings, "judge", broken)
    rows(screen)[0].set_value("3").run()  # type: ignore[attr-defined]
    assert "The database went away" in screen.error[0].value
    assert rows(screen)[0].value is None  # type: ignore[attr-defined]
    assert judgments_in(stocked, made) == []


def test_a_document_is_graded_once_however_many_of_its_passages_are_shown(library: Stack, opened: Opened) -> None:
    library.add(
        "rules.md", "\n".join(f"# Part {n}\nOvertime of kind {n} is paid at rate {n}.\n" for n in range(6)) * 40
    )
    made = judgment_service(library).add_set("Documents", None, Level.DOCUMENT, "Ben")
    screen = grading(opened("search.py", q="At which rate is overtime paid?"))
    assert not screen.exception and len(rows(screen)) == 1
    rows(screen)[0].set_value("2").run()  # type: ignore[attr-defined]
    assert [each.unit for each in judgment_service(library).judgments(made.id)] == [
        library.workbench.documents.list()[0].sha256
    ]
