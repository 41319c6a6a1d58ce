"""Measuring in the pages: A held against B, weights searched for, thresholds tried; nothing flatters itself."""

import json
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.coverage import RunState
from core.domain.errors import StoreFailed
from core.domain.evaluation import (
    Experiment,
    Interval,
    JudgedQuestion,
    Judgment,
    Level,
    MetricChange,
    OptimiserResult,
    OptimiserSettings,
    QuestionSet,
    Relevant,
)
from core.domain.filters import SearchFilters
from core.domain.queries import ScoreProfile
from core.evaluation.experiment_report import comparison_data, comparison_table
from core.evaluation.experiments import QUIET_AFTER, ExperimentRunner
from core.evaluation.metrics.comparison import comparison, trend
from core.evaluation.metrics.measures import MEASURES
from core.evaluation.tuning.optimiser import weight_changes
from core.evaluation.tuning.thresholds import cuts_of, threshold_help
from core.formats.terminal import json_text
from core.knowledge.profiles import profiles
from pages.components.data.rows import rows_csv
from pages.components.tuning.charts import LABELS, MOST_LINES, OUTCOME_SIGNS, interval_dots, trend_lines
from pages.components.tuning.optimise import gain_chart, weight_bars
from pages.components.tuning.threshold import ThresholdMark, threshold_chart
from tests.evaluation.test_comparison import NDCG, experiment, graded, ndcgs, outcome
from tests.screens.conftest import Opened, Stack, words

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)
WANTED = OptimiserSettings(("similarity", "keyword", "term_coverage"), trials=10, folds=2)


def experiment_runner(library: Stack) -> ExperimentRunner:
    return library.workbench.evaluation.experiments


def kept_set(library: Stack, *questions: str, level: Level = Level.PASSAGE) -> QuestionSet:
    """A set; what answers each question is known: the memo that says its words."""
    made = library.workbench.evaluation.judging.add_set("Payroll", None, level, "Ben")
    shas = {document.name: document.sha256 for document in library.workbench.documents.list()}
    library.tunings.add_questions(
        [
            JudgedQuestion(
                made.id,
                f"q{number}",
                question,
                "odd" if number % 2 else "even",
                relevant=(Relevant(shas[f"memo_{number}.md"], (f"number {number * 7919}",), 3),),
            )
            for number, question in enumerate(questions)
        ]
    )
    return made


@pytest.fixture
def stocked(stocked: Stack) -> Stack:
    """The small library, with memos that each answer one question."""
    for number in range(12):
        stocked.add(
            f"memo_{number}.md", f"# Memo {number}\nThe overtime rate of shift number {number * 7919} is high.\n"
        )
    return stocked


@pytest.fixture
def payroll(stocked: Stack) -> QuestionSet:
    """Twelve questions, and one that nothing answers."""
    made = kept_set(stocked, *(f"What is the overtime rate of shift number {n * 7919}?" for n in range(12)))
    stocked.tunings.add_questions([JudgedQuestion(made.id, "n1", "Zeppelin hangar mooring mast", "none")])
    return made


def measured(library: Stack, questions: QuestionSet, profile: str = "relevance", **how: object) -> Experiment:
    """An experiment that is carried out at once."""
    return experiment_runner(library).carry_out(
        experiment_runner(library).begin(questions.id, profile, "Ben", **how).id
    )


def named(screen: AppTest, name: str = "Ada") -> AppTest:
    """Say who works here."""
    screen.text_input(key="person").set_value(name)
    return screen.run()


def pressed(screen: AppTest, label: str) -> AppTest:
    """Press the button of that label, and wait until nothing is under way any more."""
    next(each for each in screen.button if each.label == label).click()
    screen.run()
    deadline = time.monotonic() + 60
    while any(each.label == "Stop" for each in screen.button) and time.monotonic() < deadline:
        time.sleep(0.05)
        screen.run()
    assert not screen.exception, screen.exception[0].value
    return screen


def tables(screen: AppTest) -> str:
    """What the tables say."""
    return "\n".join(each.value.to_csv() for each in screen.table)


def params(screen: AppTest) -> dict[str, str]:
    """The URL."""
    fields = {name: values for name, values in screen.query_params.items() if values}
    return {name: values if isinstance(values, str) else values[0] for name, values in fields.items()}


# Measure


def test_without_a_set_the_view_says_what_one_is_for(stocked: Stack, opened: Opened) -> None:
    assert "No question set yet" in words(opened("tuning.py", view="measure"))


def test_a_set_without_questions_says_where_to_add_them(stocked: Stack, opened: Opened) -> None:
    kept_set(stocked)
    text = words(opened("tuning.py", view="measure"))
    assert "Payroll has no questions" in text
    assert "under *Judge*" in text


def test_what_is_not_measured_yet_says_what_measuring_does(payroll: QuestionSet, opened: Opened) -> None:
    text = words(opened("tuning.py", view="measure", a="relevance"))
    assert "relevance has not been measured with this set" in text
    assert "each of the 13 questions is asked" in text


def test_nobody_measures_without_a_name(stocked: Stack, payroll: QuestionSet, opened: Opened) -> None:
    screen = pressed(opened("tuning.py", view="measure", a="relevance"), "Measure")
    assert "Fill in “Your name”" in words(screen)
    assert experiment_runner(stocked).experiments() == []


def test_two_profiles_are_measured_and_held_against_each_other(
    stocked: Stack, payroll: QuestionSet, opened: Opened
) -> None:
    screen = named(opened("tuning.py", view="measure", a="relevance", b="balanced"))
    pressed(screen, "Measure")
    experiment = experiment_runner(stocked).experiments(payroll.id)
    assert {(each.profile.ref, each.state, each.who) for each in experiment} == {
        ("relevance", RunState.DONE, "Ada"),
        ("balanced", RunState.DONE, "Ada"),
    }
    text, shown = words(screen), tables(screen)
    assert "**A relevance** · 13 questions · just now by Ada" in text
    assert "**B balanced**" in text
    assert "A relevance" in shown
    assert "B − A" in shown
    for name in experiment[0].measures:
        assert LABELS[name].replace(" ", "\u00a0") in shown
    first = next(each for each in experiment if each.profile.ref == "relevance").measures[NDCG]
    assert f"{first.mean:.3f}" in shown
    assert "of the first ten results are not judged" in text
    assert "**nDCG@10 by kind of question**" in text
    assert "B is higher in" in text
    assert "**Saved runs** :gray[· 2 experiments with this set]" in text


def test_the_unjudged_share_stands_beside_every_figure(stocked: Stack, payroll: QuestionSet, opened: Opened) -> None:
    ended = measured(stocked, payroll)
    assert ended.unjudged is not None
    screen = opened("tuning.py", view="measure", a="relevance")
    part = f"{ended.unjudged:.0%}"
    assert f"{part} of the first ten unjudged" in words(screen)
    assert "Unjudged" in tables(screen)
    questions, text = (each.value for each in screen.dataframe)
    assert "Unjudged A" in questions.columns
    assert list(text["Unjudged"]) == [part]
    assert f"{part} unjudged" in json.dumps(
        json.loads(screen.get("plotly_chart")[0].proto.spec)["data"], ensure_ascii=False
    )


def test_what_is_fully_judged_has_no_warning(stocked: Stack, payroll: QuestionSet, opened: Opened) -> None:
    first = measured(stocked, payroll)
    stocked.tunings.judge(
        [
            Judgment(payroll.id, each.question_id, unit, 0, "Ben", NOW)
            for each in first.outcomes
            for unit in each.ranking[:10]
        ]
    )
    assert measured(stocked, payroll).unjudged == 0
    text = words(opened("tuning.py", view="measure", a="relevance"))
    assert "0% of the first ten unjudged" in text
    assert "are not judged" not in text


def test_judging_what_is_unjudged_pools_both_profiles(stocked: Stack, payroll: QuestionSet, opened: Opened) -> None:
    for profile in ("relevance", "authority"):
        measured(stocked, payroll, profile)
    screen = opened("tuning.py", view="measure", a="relevance", b="authority")
    next(each for each in screen.button if each.label == "Judge them").click().run()
    assert (params(screen)["view"], params(screen)["set"]) == ("judge", str(payroll.id))
    assert (screen.session_state["judge.first"], screen.session_state["judge.second"]) == ("relevance", "authority")


def test_a_measure_is_looked_at_more_closely(stocked: Stack, payroll: QuestionSet, opened: Opened) -> None:
    for profile in ("relevance", "authority"):
        measured(stocked, payroll, profile)
    screen = opened("tuning.py", view="measure", a="relevance", b="authority")
    screen.session_state["lab.measure"] = "recall@20"
    screen.run()
    text = words(screen)
    assert "**Recall@20 by kind of question**" in text
    assert "**Recall@20 question by question**" in text


def test_a_question_opens_in_sliders_as_it_was_asked(
    stocked: Stack, payroll: QuestionSet, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    import streamlit as st

    narrowed = SearchFilters(truths=("regulatory",), archived=None)
    (asked,) = stocked.tunings.add_questions([JudgedQuestion(payroll.id, "q0", "Who pays overtime?", filters=narrowed)])
    measured(stocked, payroll)
    monkeypatch.setattr(st, "dataframe", lambda *_, **__: {"selection": {"rows": [0]}})
    screen = opened("tuning.py", view="measure", a="relevance", tags="pay", recency_months="3", trial="threshold:.9")
    next(each for each in screen.button if each.label.startswith("With A")).click().run()
    own = {name: value for name, value in params(screen).items() if name not in ("a", "set")}
    assert own == {
        "view": "tune", "q": asked.question, "base": "relevance", "truths": "regulatory", "origins": "document",
        "archived": "too",
    }  # fmt: skip
    assert screen.session_state["tune.request"].filters == narrowed.replace(origins=("document",))


def test_what_changed_since_is_told(stocked: Stack, payroll: QuestionSet, opened: Opened) -> None:
    ended = measured(stocked, payroll)
    assert "changed since]" not in words(opened("tuning.py", view="measure", a="relevance"))
    first = ended.outcomes[0]
    stocked.tunings.judge([Judgment(payroll.id, first.question_id, first.ranking[0], 0, "Ben", NOW)])
    screen = opened("tuning.py", view="measure", a="relevance")
    assert "judgments have changed since" in words(screen)
    assert list(screen.dataframe[1].value["Changed since"]) == ["judgments"]
    stocked.add("new.md", "The overtime rate is new.")
    assert "judgments and the library have changed since" in words(opened("tuning.py", view="measure", a="relevance"))


def test_questions_that_came_or_went_since_are_told(stocked: Stack, payroll: QuestionSet, opened: Opened) -> None:
    measured(stocked, payroll)
    judging = stocked.workbench.evaluation.judging
    first, second = judging.questions(payroll.id)[:2]
    judging.change_questions([replace(first, question="What is paid on a holiday?")])
    assert "· :orange[:material/history: questions have changed since]" in words(
        opened("tuning.py", view="measure", a="relevance")
    )
    judging.retire_question(second.id)
    screen = opened("tuning.py", view="measure", a="relevance")
    assert list(screen.dataframe[1].value["Changed since"]) == ["questions"]
    assert "questions have changed since" in words(opened("tuning.py", view="threshold", a="relevance"))


def test_a_search_for_weights_says_what_has_changed_since(stocked: Stack, payroll: QuestionSet, opened: Opened) -> None:
    found_in(stocked, payroll, "relevance", recommended=True)
    assert "changed since]" not in words(opened("tuning.py", view="optimise", a="relevance"))
    stocked.add("new.md", "The overtime rate is new.")
    assert "the library has changed since" in words(opened("tuning.py", view="optimise", a="relevance"))


def test_what_is_measured_anew_is_not_called_outdated(stocked: Stack, payroll: QuestionSet, opened: Opened) -> None:
    ended = measured(stocked, payroll)
    screen = opened("tuning.py", view="measure", a="relevance")
    first = ended.outcomes[0]
    stocked.tunings.judge([Judgment(payroll.id, first.question_id, first.ranking[0], 0, "Ben", NOW)])
    measured(stocked, payroll)
    screen.run()
    assert "**A relevance**" in words(screen)
    assert "changed since]" not in words(screen)


def test_kept_experiments_are_compared_as_the_address_says_with_what_to_doubt(
    stocked: Stack, payroll: QuestionSet, opened: Opened
) -> None:
    one = measured(stocked, payroll, note="before")
    stocked.add("new.md", "The overtime rate is new.")
    two, three = measured(stocked, payroll), measured(stocked, payroll, "authority")
    screen = opened("tuning.py", view="measure", a="balanced", runs=f"{one.id}.{two.id}.{three.id}.999")
    text = words(screen)
    assert "**Saved runs side by side**" in text
    assert "“before”" in text
    assert "They were measured on another library" in text
    assert "C authority" in tables(screen)
    pressed(screen, "Back to the latest")
    assert "runs" not in params(screen)
    assert "balanced has not been measured" in words(screen)


def test_a_second_profile_without_a_measurement_says_so(stocked: Stack, payroll: QuestionSet, opened: Opened) -> None:
    measured(stocked, payroll)
    text = words(opened("tuning.py", view="measure", a="relevance", b="authority"))
    assert "authority has not been measured with this set yet" in text
    assert "**A relevance**" in text


def test_a_version_is_measured_as_it_was(stocked: Stack, payroll: QuestionSet, opened: Opened) -> None:
    book = stocked.workbench.evaluation.profiles
    book.save(replace(profiles()["relevance"], name="mine", threshold=0.1), "Ben")
    book.save(replace(profiles()["relevance"], name="mine", threshold=0.2), "Ben", after=1)
    screen = named(opened("tuning.py", view="measure", a="mine@1", b="mine"))
    pressed(screen, "Measure")
    assert {each.profile.ref for each in experiment_runner(stocked).experiments()} == {"mine@1", "mine@2"}
    assert "**A mine\\@1**" in words(screen)


def test_an_unknown_profile_in_the_address_falls_back_to_the_one_that_holds(
    stocked: Stack, payroll: QuestionSet, opened: Opened
) -> None:
    stocked.workbench.evaluation.profiles.choose(None, "authority", "Ben")
    screen = opened("tuning.py", view="measure", a="charm@9", b="")
    assert "authority has not been measured" in words(screen)
    assert params(screen)["a"] == "authority"


def test_a_killed_measurement_can_begin_again(stocked: Stack, payroll: QuestionSet, opened: Opened) -> None:
    begun = experiment_runner(stocked).begin(payroll.id, "relevance", "Ben")
    long_ago = datetime.now(UTC) - 2 * QUIET_AFTER
    stocked.tunings.change_experiment(replace(begun, beat_at=long_ago, started_at=long_ago, done=4))
    screen = opened("tuning.py", view="measure", a="relevance")
    assert "was interrupted at 4 of 13 questions, 2 min ago" in words(screen)
    pressed(screen, "Begin again")
    assert experiment_runner(stocked).experiment(begun.id).state is RunState.DONE
    assert "**A relevance**" in words(screen)


def test_one_under_way_elsewhere_is_told_and_can_be_stopped(
    stocked: Stack, payroll: QuestionSet, opened: Opened
) -> None:
    begun = experiment_runner(stocked).begin(payroll.id, "relevance", "Ben")
    stocked.tunings.change_experiment(replace(begun, beat_at=datetime.now(UTC), done=4))
    screen = opened("tuning.py", view="measure", a="relevance")
    (bar,) = screen.get("progress")
    assert "elsewhere · 4 of 13 questions asked" in bar.proto.text
    assert all(each.label != "Begin again" for each in screen.button)
    next(each for each in screen.button if each.label == "Stop").click().run()
    assert experiment_runner(stocked).experiment(begun.id).state is RunState.STOPPED
    assert "was stopped at 4 of 13 questions" in words(screen.run())


def test_a_failed_measurement_says_why_and_can_be_forgotten(
    stocked: Stack, payroll: QuestionSet, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*options: object, **how: object) -> object:
        raise StoreFailed("The disk is full.", "Make room.")

    monkeypatch.setattr(stocked.workbench.search._pipeline, "search_many", broken)
    screen = pressed(named(opened("tuning.py", view="measure", a="relevance")), "Measure")
    assert "failed" in words(screen)
    assert "The disk is full" in words(screen)
    [failed] = experiment_runner(stocked).experiments()
    screen.button(key=f"icon.lab.forget.{failed.id}").click().run()
    assert experiment_runner(stocked).experiments() == []


def test_measuring_can_be_stopped(
    stocked: Stack, payroll: QuestionSet, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = stocked.workbench.search._pipeline.search_many
    may: list[bool] = []

    def slowly(*options: object, **how: object) -> object:
        deadline = time.monotonic() + 30
        while not may and time.monotonic() < deadline:
            time.sleep(0.01)
        return search(*options, **how)

    monkeypatch.setattr(stocked.workbench.search._pipeline, "search_many", slowly)
    screen = named(opened("tuning.py", view="measure", a="relevance"))
    next(each for each in screen.button if each.label == "Measure").click()
    screen.run()
    next(each for each in screen.button if each.label == "Stop").click()
    screen.run()
    may.append(True)
    deadline = time.monotonic() + 30
    while "was stopped" not in words(screen.run()) and time.monotonic() < deadline:
        assert experiment_runner(stocked).experiments()[0].state is RunState.STOPPED
    assert "was stopped at 4 of 13 questions" in words(screen)


def test_a_measure_over_time_is_drawn_from_the_second_measurement_on(
    stocked: Stack, payroll: QuestionSet, opened: Opened
) -> None:
    measured(stocked, payroll)
    assert "over time" not in words(opened("tuning.py", view="measure", a="relevance"))
    stocked.add("new.md", "The overtime rate is new.")
    measured(stocked, payroll)
    text = words(opened("tuning.py", view="measure", a="relevance"))
    assert "**nDCG@10 over time** :gray[· a line per profile]" in text
    assert "An open mark" in text


def test_a_store_that_does_not_answer_is_told(
    stocked: Stack, payroll: QuestionSet, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object) -> object:
        raise StoreFailed("The database does not answer.", "Start it.")

    monkeypatch.setattr(stocked.tunings, "experiments", broken)
    assert "The database does not answer" in words(opened("tuning.py", view="measure"))


def test_a_hostile_question_and_note_are_shown_as_they_are(stocked: Stack, opened: Opened) -> None:
    made = kept_set(stocked, "=cmd|'/c calc'!A1 :red[x] overtime?", "overtime **rate**")
    ended = measured(stocked, made, note=":red[shout] *x*")
    text = words(opened("tuning.py", view="measure", a="relevance"))
    assert "“\\:red\\[shout\\] \\*x\\*”" in text
    written = rows_csv(*comparison_table([ended]))
    assert "'=cmd|'/c calc'!A1" in written
    assert '"question": "=cmd|' in json_text(comparison_data([ended]))


# Optimise


def test_a_search_for_weights_is_begun_from_the_chosen_base(
    stocked: Stack, payroll: QuestionSet, opened: Opened
) -> None:
    screen = named(opened("tuning.py", view="optimise", a="relevance"))
    assert "No search for weights yet" in words(screen)
    screen.number_input(key="optimise.trials").set_value(10)
    screen.number_input(key="optimise.folds").set_value(2)
    screen.number_input(key="optimise.seed").set_value(7)
    screen.run()
    pressed(screen, "Search for better weights")
    [experiment] = experiment_runner(stocked).experiments()
    assert experiment.state is RunState.DONE, experiment.problem
    assert experiment.optimising is not None
    settings = experiment.optimising
    assert (settings.measure, settings.trials, settings.folds, settings.seed) == (NDCG, 10, 2, 7)
    used = {name for name, weight in profiles()["relevance"].weights.items() if weight}
    assert set(experiment.optimising.factors) == used | {
        "similarity",
        "keyword",
        "best_sentence_similarity",
        "synonym_match",
    }
    assert experiment.optimised is not None
    text = words(screen)
    assert experiment.optimised.verdict.split(":")[0] in text
    assert "reproducible (seed 7)" in text


def test_too_few_judged_questions_say_how_many_are_needed(stocked: Stack, opened: Opened) -> None:
    kept_set(stocked, "overtime rate", "overtime shift")
    screen = pressed(named(opened("tuning.py", view="optimise", a="relevance")), "Search for better weights")
    assert "2 judged questions are too few" in words(screen)
    assert "at least 10 questions first" in words(screen)


def found_in(library: Stack, questions: QuestionSet, base: str, **differs: object) -> Experiment:
    """A finished search for weights whose worth is given."""
    ended = measured(library, questions, base, optimising=WANTED)
    assert ended.optimised is not None, ended.problem
    better = replace(ended.optimised.profile, weights={"similarity": 0.4, "term_coverage": 0.6})
    reported = replace(ended, optimised=replace(ended.optimised, profile=better, **differs))
    library.tunings.change_experiment(reported)
    return reported


def test_what_is_recommended_becomes_a_profile_with_one_click(
    stocked: Stack, payroll: QuestionSet, opened: Opened
) -> None:
    ended = found_in(stocked, payroll, "relevance", recommended=True, verdict="Recommended: ndcg@10 +0.2.")
    screen = named(opened("tuning.py", view="optimise", a="relevance"))
    assert [each.value for each in screen.success] == ["Recommended\\: ndcg\\@10 \\+0\\.2\\."]
    screen.text_input(key=f"optimise.keep.{ended.id}.name").set_value("tuned")
    pressed(screen, "Apply as a new version")
    [version] = stocked.workbench.evaluation.profiles.versions("tuned")
    assert version.profile.weights == {"similarity": 0.4, "term_coverage": 0.6}
    assert version.profile.threshold == profiles()["relevance"].threshold
    assert (version.who, version.origin) == ("Ada", "relevance")
    assert version.note == f"Recommended: ndcg@10 +0.2. Experiment {ended.id} on 'Payroll'."
    assert "Saved as **tuned\\@1**" in words(screen)
    next(each for each in screen.button if each.label == "Open in Profiles").click().run()
    assert (params(screen)["view"], params(screen)["profile"]) == ("profiles", "tuned@1")


def test_what_is_not_recommended_is_saved_only_when_one_insists(
    stocked: Stack, payroll: QuestionSet, opened: Opened
) -> None:
    book = stocked.workbench.evaluation.profiles
    book.save(replace(profiles()["relevance"], name="mine"), "Ben")
    ended = found_in(stocked, payroll, "mine", recommended=False, verdict="Not recommended: chance.")
    screen = named(opened("tuning.py", view="optimise", a="mine"))
    assert any("Not recommended" in each.value for each in screen.warning)
    apply = f"optimise.keep.{ended.id}.save"
    assert screen.button(key=apply).disabled
    assert "It becomes version 2 of **mine**" in words(screen)
    screen.checkbox(key=f"optimise.although.{ended.id}").check().run()
    assert not screen.button(key=apply).disabled
    screen.button(key=apply).click().run()
    assert [(each.profile.ref, each.origin) for each in book.versions("mine")] == [("mine@2", "mine@1"), ("mine@1", "")]
    assert "Saved as **mine\\@2**" in words(screen)


def test_a_name_that_cannot_be_one_is_refused(stocked: Stack, payroll: QuestionSet, opened: Opened) -> None:
    ended = found_in(stocked, payroll, "relevance", recommended=True)
    screen = named(opened("tuning.py", view="optimise", a="relevance"))
    screen.text_input(key=f"optimise.keep.{ended.id}.name").set_value("balanced")
    pressed(screen, "Apply as a new version")
    assert "comes with the product and does not change" in words(screen)


def test_weights_the_folds_do_not_agree_on_are_told(stocked: Stack, payroll: QuestionSet, opened: Opened) -> None:
    spread = {"similarity": (0.1, 0.6), "term_coverage": (0.5, 0.6), "keyword": (0.0, 0.0)}
    change = MetricChange("q1", "What got worse?", "natural", 1.0, 0.25)
    found_in(stocked, payroll, "relevance", spread=spread, worse=(change,), better=())
    screen = opened("tuning.py", view="optimise", a="relevance")
    assert "The folds do not agree on Similarity: these questions do not decide what it should weigh" in words(screen)
    assert "**Got worse** :gray[· 1 held-out question]" in words(screen)
    assert list(screen.dataframe[0].value["Change"]) == [-0.75]
    assert "0.100 to 0.600 :orange[wide]" in tables(screen)


def test_of_several_searches_the_newest_from_the_base_is_shown(
    stocked: Stack, payroll: QuestionSet, opened: Opened
) -> None:
    found_in(stocked, payroll, "relevance", verdict="Not recommended: first.", recommended=False)
    found_in(stocked, payroll, "authority", verdict="Not recommended: second.", recommended=False)
    assert "first" in words(opened("tuning.py", view="optimise", a="relevance"))
    assert "second" in words(opened("tuning.py", view="optimise", a="authority"))
    assert "second" in words(opened("tuning.py", view="optimise", a="knowledge"))


# Threshold


def test_a_threshold_needs_a_measurement_first(stocked: Stack, payroll: QuestionSet, opened: Opened) -> None:
    screen = named(opened("tuning.py", view="threshold", a="relevance"))
    assert "relevance has not been measured with this set" in words(screen)
    pressed(screen, "Measure")
    assert "relevant and" in words(screen)


def judged_well(library: Stack, questions: QuestionSet) -> Experiment:
    """Measured, with the first ten of every question judged: what is not known to answer is irrelevant."""
    first = measured(library, questions)
    library.tunings.judge(
        [
            Judgment(questions.id, each.question_id, unit, 0, "Ben", NOW)
            for each in first.outcomes
            for unit in each.ranking[:10]
            if unit not in {name for name, _, grade in each.scored if grade > 0}
        ]
    )
    return measured(library, questions)


def test_the_consequences_of_a_threshold_are_told_and_follow_the_slider(
    stocked: Stack, payroll: QuestionSet, opened: Opened
) -> None:
    ended = judged_well(stocked, payroll)
    cuts = cuts_of(ended)
    assert cuts.help.suggested is not None
    screen = opened("tuning.py", view="threshold", a="relevance")
    assert f"{cuts.relevant} relevant and {cuts.irrelevant} irrelevant results graded" in words(screen)
    shown = tables(screen)
    assert f"**{ended.profile.threshold:.3f}** in use" in shown
    assert f"**{cuts.help.suggested:.3f}** suggested" in shown
    assert "slider" not in shown
    screen.slider(key=f"threshold.at.{ended.id}").set_value(0.995).run()
    assert "**0.995** slider" in tables(screen)
    cut = cuts.at(0.995)
    assert f"**{cut.counts.relevant_retained} of {cuts.relevant} relevant** results are kept" in words(screen)
    assert "lose their last relevant result" in words(screen)
    assert "**Lose their last relevant result** · 12" in words(screen)


def test_a_threshold_is_saved_as_a_new_version(stocked: Stack, payroll: QuestionSet, opened: Opened) -> None:
    book = stocked.workbench.evaluation.profiles
    book.save(replace(profiles()["relevance"], name="mine"), "Ben")
    ended = measured(stocked, payroll, "mine")
    screen = named(opened("tuning.py", view="threshold", a="mine"))
    slider = f"threshold.at.{ended.id}"
    save = f"threshold.keep.{ended.id}.save"
    screen.slider(key=slider).set_value(ended.profile.threshold).run()
    assert screen.button(key=save).disabled
    screen.slider(key=slider).set_value(0.42).run()
    screen.button(key=save).click().run()
    newest = book.versions("mine")[0]
    assert newest.profile == replace(book.find("mine@1"), threshold=0.42, version=2)
    assert (newest.origin, newest.who) == ("mine@1", "Ada")
    assert newest.note.startswith("Threshold 0.5 → 0.42: ")


def test_figures_that_flatter_are_doubted(stocked: Stack, payroll: QuestionSet, opened: Opened) -> None:
    measured(stocked, payroll)
    screen = opened("tuning.py", view="threshold", a="relevance")
    assert any("Nobody has graded" in each.value for each in screen.warning)


# Pictures


@pytest.mark.parametrize("dark", [False, True])
def test_every_measure_is_a_row_with_a_mark_and_its_interval_per_experiment(dark: bool) -> None:
    before, after = ndcgs(1, *[0.2, 0.4] * 10), ndcgs(2, *[0.5, 0.4] * 10, version=2)
    found = comparison([before, after])
    one, other = interval_dots(found, dark=dark).data
    assert list(one.x) == [before.measures[NDCG].mean]
    assert other.x[0] + other.error_x.array[0] == pytest.approx(after.measures[NDCG].high)
    assert other.x[0] - other.error_x.arrayminus[0] == pytest.approx(after.measures[NDCG].low)
    assert one.marker.symbol != other.marker.symbol
    assert one.marker.color != other.marker.color
    assert "A mine@1 · 0% unjudged" in one.name
    assert one.y[0] < other.y[0]


@pytest.mark.parametrize(("questions", "drawn"), [(1, False), (4, False), (5, True)])
def test_an_interval_is_drawn_and_told_from_five_questions_on(questions: int, drawn: bool) -> None:
    found = comparison([ndcgs(1, *[0.2, 0.9, 0.4, 0.6, 0.8][:questions])])
    (dots,) = interval_dots(found).data
    assert (dots.error_x.array[0] > 0) is drawn
    assert ("95% interval" in dots.customdata[0]) is drawn
    assert dots.customdata[0].endswith(f"over {questions} question{'' if questions == 1 else 's'}")


def test_a_measure_that_one_experiment_lacks_has_no_mark_there() -> None:
    found = comparison([experiment(1, outcome(1, {NDCG: 0.5})), experiment(2, outcome(1, {NDCG: 0.5, "map": 0.4}))])
    one, other = interval_dots(found).data
    assert (len(one.x), len(other.x)) == (1, 2)


@pytest.mark.parametrize("dark", [False, True])
def test_a_line_over_time_marks_what_else_had_changed(dark: bool) -> None:
    listed = [ndcgs(3, 0.9, corpus_hash="d"), ndcgs(2, 0.8, version=2), ndcgs(1, 0.7)]
    [line] = trend_lines(trend(listed, NDCG), dark=dark).data
    assert list(line.y) == [0.7, 0.8, 0.9]
    assert list(line.marker.symbol) == ["circle", "circle", "circle-open"]
    assert "another library" in line.customdata[2]


def test_only_the_lines_measured_last_are_drawn() -> None:
    listed = [ndcgs(20 - n, 0.5, profile=f"p{n}") for n in range(MOST_LINES + 3)]
    assert [line.name for line in trend_lines(trend(listed, NDCG)).data] == [f"p{n}" for n in range(MOST_LINES)]


def test_moments_that_touch_share_a_tick() -> None:
    close = [ndcgs(n, 0.5, finished_at=NOW + timedelta(seconds=n)) for n in (3, 2, 1)]
    far = ndcgs(4, 0.5, finished_at=NOW + timedelta(days=1))
    assert len(trend_lines(trend([far, *close], NDCG)).layout.xaxis.tickvals) == 2
    assert len(trend_lines(()).data) == 0


FOUND = OptimiserResult(
    training=Interval(0.7, 0.6, 0.8, 54),
    held_out=Interval(0.6, 0.5, 0.7, 54),
    baseline=Interval(0.4, 0.3, 0.5, 54),
    gain=Interval(0.2, 0.1, 0.3, 54),
    p_value=0.001,
    recommended=True,
    verdict="Recommended.",
    profile=ScoreProfile("mine", {"similarity": 0.7, "term_coverage": 0.3}),
    spread={"similarity": (0.2, 0.75), "term_coverage": (0.25, 0.4), "keyword": (0.0, 0.1)},
)


@pytest.mark.parametrize("dark", [False, True])
def test_what_a_search_is_worth_shows_all_three_with_intervals(dark: bool) -> None:
    rows = gain_chart(FOUND, NDCG, dark=dark).data
    assert [row.x[0] for row in rows] == [0.4, 0.7, 0.6]
    assert [row.x[0] + row.error_x.array[0] for row in rows] == pytest.approx([0.5, 0.8, 0.7])
    assert len({row.marker.symbol for row in rows}) == 3


@pytest.mark.parametrize("dark", [False, True])
def test_weights_show_before_after_and_spread(dark: bool) -> None:
    changes = weight_changes(ScoreProfile("mine", {"similarity": 0.5, "authority": 0.5}), FOUND)
    assert [(each.factor, each.before, each.after) for each in changes] == [
        ("similarity", 0.5, 0.7),
        ("term_coverage", 0.0, 0.3),
        ("authority", 0.5, 0.0),
        ("keyword", 0.0, 0.0),
    ]
    assert [each.wide for each in changes] == [True, False, False, False]
    bars, *spread, marks = weight_bars(changes, dark=dark).data
    assert list(bars.x) == [0.7, 0.3, 0.0, 0.0]
    assert list(marks.x) == [0.5, 0.0, 0.5, 0.0]
    assert [tuple(line.x) for line in spread] == [(0.2, 0.75), (0.25, 0.4), (0.0, 0.0), (0.0, 0.1)]


@pytest.mark.parametrize("dark", [False, True])
def test_scores_and_curves_share_their_thresholds(dark: bool) -> None:
    cuts = cuts_of(graded())
    marks = [
        ThresholdMark(0.25, "in use", "use"),
        ThresholdMark(0.5, "suggested", "offer"),
        ThresholdMark(0.27, "slider", "try"),
    ]
    picture = threshold_chart(cuts.help, marks, dark=dark)
    relevant, irrelevant, precision, recall = picture.data
    assert sum(relevant.y) == 3
    assert sum(irrelevant.y) == -3
    assert list(precision.x)[1:] == list(cuts.help.thresholds)
    assert list(recall.y)[1:] == list(cuts.help.recall)
    assert [line.x0 for line in picture.layout.shapes] == [0.25, 0.27, 0.5]
    values = {note.text: note.yshift for note in picture.layout.annotations if note.yref == "paper"}
    assert values["in use 0.250"] != values["slider 0.270"]


def test_without_a_curve_only_the_scores_are_drawn() -> None:
    found = threshold_help([(0.5, True, "q1")])
    assert len(threshold_chart(found, [ThresholdMark(0.25, "in use", "use")]).data) == 2


def test_every_measure_and_every_turn_has_its_words() -> None:
    assert set(LABELS) == set(MEASURES)
    assert len({symbol for symbol, _ in OUTCOME_SIGNS.values()}) == len(OUTCOME_SIGNS)
