"""Judging: sets and questions, results pooled over profiles and put before judges, and how much of them is judged."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.environment import utc_now
from core.domain.coverage import RunState
from core.domain.documents import Authority, Truth
from core.domain.errors import BadRequest, NotFound, Outdated
from core.domain.evaluation import (
    Experiment,
    ExperimentKind,
    JudgedQuestion,
    Judgment,
    Level,
    QuestionOutcome,
    QuestionSet,
    Relevant,
)
from core.domain.filters import SearchFilters
from core.domain.profiles import ProfileVersion
from core.domain.queries import SearchRequest
from core.evaluation.judgments.pools import Pool, progress_of
from core.evaluation.judgments.service import JudgmentService
from core.evaluation.judgments.units import document_of, passage_unit
from core.evaluation.tuning.profile_registry import ProfileRegistry
from core.knowledge.profiles import profiles
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from core.search.pipeline import SearchPipeline
from tests.fakes import FakeEvaluationStore
from tests.search.library import NOW, Library, payroll_library

QUESTION = "When are withheld income taxes due?"
PROFILES = ("balanced", "relevance")


class Bench:
    """A judging desk over a small library, with one set and one question."""

    def __init__(self, library: Library | None = None, *, level: Level = Level.PASSAGE) -> None:
        self.library = library or payroll_library()
        self.store = FakeEvaluationStore()
        self.requests: list[SearchRequest] = []
        book = ProfileRegistry(self.store, now=utc_now)
        library = self.library
        self.searcher = SearchPipeline(
            library.catalogue,
            library.vectors,
            library.sparse,
            library.embedder,
            book,
            terms=lambda: BUILT_IN_TERMS,
            timer=perf_counter,
        )
        self.desk = JudgmentService(self.store, self.search, library.catalogue, lambda: NOW)
        self.set = self.desk.add_set("Payroll", None, level, "Ada")
        self.question = self.desk.add_question(self.set.id, QUESTION)

    def search(self, request: SearchRequest) -> object:
        self.requests.append(request)
        return self.searcher.search(request, NOW)

    def pool(self, who: str = "Ada", *, blind: bool = False, depth: int = 10, reveal: bool = False) -> Pool:
        return self.desk.pool(self.set.id, self.question.id, PROFILES, who=who, blind=blind, depth=depth, reveal=reveal)

    def judge(self, unit: str, grade: int | None, who: str = "Ada", *, blind: bool = False) -> Sequence[Judgment]:
        return self.desk.judge(self.set.id, self.question.id, unit, grade, who, blind=blind)


def taxing_library() -> Library:
    """Many passages that speak of the same, so that profiles rank them differently."""
    library = payroll_library()
    for number in range(12):
        library.add(
            f"note_{number:02}.md",
            f"Income taxes are due in month {number}. Withheld taxes number {number} follow." + " More of it." * number,
            authority=Authority.INTERNAL if number % 2 else Authority.GOVERNMENT,
            truth=Truth.REGULATORY if number % 3 else Truth.COMPLIANCE,
        )
    return library


# Sets


def test_a_set_is_kept_for_its_project_and_seen_from_there() -> None:
    bench = Bench()
    mine = bench.desk.add_set("  Overtime \n questions ", "Tallgrass", Level.DOCUMENT, " Ada ", "For the pilot.")
    assert (mine.name, mine.who, mine.note, mine.at, mine.level) == (
        "Overtime questions", "Ada", "For the pilot.", NOW, Level.DOCUMENT
    )  # fmt: skip
    assert [each.name for each in bench.desk.sets("Tallgrass")] == ["Payroll", "Overtime questions"]
    assert [each.name for each in bench.desk.sets("Other")] == ["Payroll"]


@pytest.mark.parametrize("name", ["", " \n", "x" * 81, "a\0b", "\ud800"])
def test_what_cannot_be_a_name_is_refused(name: str) -> None:
    with pytest.raises(BadRequest):
        Bench().desk.add_set(name, None, Level.PASSAGE, "Ada")


def test_a_set_needs_a_person_and_a_name_of_its_own() -> None:
    bench = Bench()
    with pytest.raises(BadRequest, match="name of who judges"):
        bench.desk.add_set("New", None, Level.PASSAGE, " ")
    with pytest.raises(BadRequest, match="'payroll'"):
        bench.desk.add_set("payroll", None, Level.PASSAGE, "Ada")


def test_a_set_is_renamed_annotated_scheduled_retired_and_taken_up_again() -> None:
    bench = Bench()
    changed = bench.desk.schedule(bench.desk.annotate(bench.desk.rename(bench.set, "Pay"), "Why"), 24)
    assert (changed.name, changed.note, changed.every_hours, changed.version) == ("Pay", "Why", 24, 4)
    retired = bench.desk.retire(changed)
    assert bench.desk.sets(None) == [] and bench.desk.sets(None, retired=True) == [retired]
    assert bench.desk.restore(retired).retired is False
    with pytest.raises(Outdated):
        bench.desk.rename(bench.set, "Late")
    with pytest.raises(BadRequest, match="-1 hours"):
        bench.desk.schedule(changed, -1)


# Questions


def test_questions_get_the_next_key_and_are_not_kept_twice() -> None:
    bench = Bench()
    second = bench.desk.add_question(bench.set.id, " How long do we keep Form I-9? ", kind=" Acronym ")
    assert (bench.question.key, second.key, second.kind) == ("q1", "q2", "acronym")
    assert bench.desk.add_question(bench.set.id, "how long do we keep  form i-9?") == second
    narrowed = bench.desk.add_question(bench.set.id, second.question, filters=SearchFilters(truths=("intent",)))
    assert (narrowed.key, narrowed.question) == ("q3", second.question)
    assert bench.desk.find_question(bench.set.id, QUESTION) == bench.question
    assert bench.desk.find_question(bench.set.id, QUESTION, SearchFilters(truths=("intent",))) is None


def test_a_question_is_the_same_whether_its_project_comes_from_its_filters_or_its_set() -> None:
    bench = Bench()
    project = bench.desk.add_set("Project", "Tallgrass", Level.PASSAGE, "Ada")
    questions = bench.desk.add_question(project.id, QUESTION)
    assert bench.desk.find_question(project.id, QUESTION, SearchFilters(projects=("Tallgrass",))) == questions


@pytest.mark.parametrize(
    ("question", "key", "problem"),
    [
        ("  ", "", "The question is empty"),
        ("x" * 2_001, "", "at most 2,000 characters"),
        ("Why\0?", "", "invalid character"),
        ("Why?", "q 1", "holds blanks"),
        ("Why?", "q1", "is taken"),
        ("Why?", "k" * 65, "at most 64"),
    ],
)
def test_what_cannot_be_a_question_is_refused(question: str, key: str, problem: str) -> None:
    bench = Bench()
    with pytest.raises(BadRequest, match=problem):
        bench.desk.add_question(bench.set.id, question, key=key)


def test_a_changed_question_keeps_its_key_its_id_and_what_was_said_of_it() -> None:
    bench = Bench()
    unit = bench.pool().items[0].unit
    bench.judge(unit, 3)
    (changed,) = bench.desk.change_questions([replace(bench.question, kind="None")])
    assert (changed.id, changed.key, changed.kind, changed.answerable) == (bench.question.id, "q1", "none", False)
    assert len(bench.desk.judgments(bench.set.id)) == 1
    known = replace(changed, relevant=(Relevant("00", (), 3),))
    with pytest.raises(BadRequest, match="has a known answer"):
        bench.desk.change_questions([known])


def test_a_retired_question_is_gone_from_the_set() -> None:
    bench = Bench()
    bench.desk.retire_question(bench.question.id)
    assert bench.desk.questions(bench.set.id) == []
    with pytest.raises(NotFound):
        bench.pool()


def test_grades_of_a_retired_question_count_neither_as_agreement_nor_as_a_dispute() -> None:
    bench = Bench()
    unit = bench.pool().items[0].unit
    for who, grade in (("Ada", 3), ("Ben", 0)):
        bench.judge(unit, grade, who)
    assert bench.desk.agreement(bench.set.id).units == len(bench.desk.disputed(bench.set.id)) == 1
    bench.desk.retire_question(bench.question.id)
    assert bench.desk.agreement(bench.set.id).units == len(bench.desk.disputed(bench.set.id)) == 0


# Judging


@pytest.mark.parametrize("grade", [0, 1, 2, 3, None])
def test_every_grade_is_kept_with_who_when_and_how(grade: int | None) -> None:
    bench = Bench()
    (stored,) = bench.judge("ff:1:00", grade, " Ada ", blind=True)
    assert (stored.grade, stored.who, stored.at, stored.blind) == (grade, "Ada", NOW, True)
    assert list(bench.desk.judgments(bench.set.id)) == [stored]


@pytest.mark.parametrize("grade", [4, 7, -1, True, False, 2.0, "3", float("nan")])
def test_anything_else_is_no_grade(grade: object) -> None:
    with pytest.raises(BadRequest, match="is not a grade"):
        Bench().judge("ff:1:00", grade)  # type: ignore[arg-type]


def test_a_judgment_needs_a_result_and_a_person() -> None:
    bench = Bench()
    with pytest.raises(BadRequest, match="name of who judges"):
        bench.judge("ff:1:00", 1, "  ")
    with pytest.raises(BadRequest, match="no result"):
        bench.judge("", 1)


def test_several_results_are_judged_at_once_and_the_later_word_holds() -> None:
    bench = Bench()
    bench.desk.judge(bench.set.id, bench.question.id, ["a", "b"], 0, "Ada")
    bench.judge("a", 3)
    bench.judge("a", 2, "Ben")
    values = {(each.unit, each.who): each.grade for each in bench.desk.judgments(bench.set.id)}
    assert values == {("a", "Ada"): 3, ("b", "Ada"): 0, ("a", "Ben"): 2}


# The pool


def test_the_pool_is_the_union_of_what_the_profiles_show_first() -> None:
    bench = Bench(taxing_library())
    pool = bench.pool(depth=5)
    shown = {
        profile: [
            passage_unit(result.documents[hit.candidate.passage.document_id].sha256, hit.candidate.passage)
            for hit in result.hits[:5]
        ]
        for profile in PROFILES
        for result in [bench.searcher.search(SearchRequest(QUESTION, profile=profile), NOW)]
    }
    assert set(pool.units) == {*shown["balanced"], *shown["relevance"]} and len(pool.units) > 5
    for item in pool.items:
        assert item.ranks == {name: units.index(item.unit) + 1 for name, units in shown.items() if item.unit in units}
        assert item.score is not None and item.citation is not None
        assert item.document.id == item.passage.document_id and document_of(item.unit) == item.document.sha256
    assert [min(item.ranks.values()) for item in pool.items] == sorted(min(item.ranks.values()) for item in pool.items)


def test_a_blind_pool_holds_the_same_results_and_tells_nothing_of_their_places() -> None:
    bench = Bench(taxing_library())
    seen, blind = bench.pool(depth=8), bench.pool(depth=8, blind=True)
    assert set(blind.units) == set(seen.units) and blind.units != seen.units
    for item in blind.items:
        assert (item.ranks, item.score, item.known) == ({}, None, None)


def test_the_blind_order_is_each_judges_own_and_stays() -> None:
    bench = Bench(taxing_library())
    mine = bench.pool(blind=True).units
    assert bench.pool(blind=True).units == mine
    assert bench.pool("Ben", blind=True).units != mine and set(bench.pool("Ben", blind=True).units) == set(mine)
    fewer = bench.pool(depth=4, blind=True).units
    assert fewer == tuple(unit for unit in mine if unit in fewer)


def test_the_question_is_asked_in_the_project_of_its_set_unless_it_names_one() -> None:
    bench = Bench()
    project = bench.desk.add_set("Project", "Tallgrass", Level.PASSAGE, "Ada")
    plain = bench.desk.add_question(project.id, QUESTION)
    other = bench.desk.add_question(project.id, QUESTION, filters=SearchFilters(projects=("Other",)))
    for question in (plain, other):
        bench.desk.pool(project.id, question.id, ["balanced"], who="Ada")
    assert [request.filters.projects for request in bench.requests] == [("Tallgrass",), ("Other",)]
    assert [request.top_k for request in bench.requests] == [10, 10]


def test_a_profile_named_twice_is_asked_once() -> None:
    bench = Bench()
    pool = bench.desk.pool(bench.set.id, bench.question.id, ["balanced", "balanced"], who="Ada")
    assert len(bench.requests) == 1 and pool.profiles == ("balanced",)


def test_a_version_of_ones_own_profile_is_pooled_by_its_number() -> None:
    bench = Bench()
    own = replace(profiles()["balanced"], name="mine", version=1)
    bench.store.save_profile(ProfileVersion(own, "Ada", NOW))
    pool = bench.desk.pool(bench.set.id, bench.question.id, ["balanced", "mine@1"], who="Ada")
    assert pool.profiles == ("balanced", "mine@1") and "mine@1" in pool.items[0].ranks


def test_an_unknown_profile_is_refused() -> None:
    bench = Bench()
    with pytest.raises(BadRequest, match="no score profile 'wild'"):
        bench.desk.pool(bench.set.id, bench.question.id, ["wild"], who="Ada")


def test_my_grades_are_shown_and_the_others_only_when_asked_for() -> None:
    bench = Bench()
    first = bench.pool().items[0].unit
    bench.judge(first, 3)
    bench.judge(first, 0, "Ben")
    mine = bench.pool().item(first)
    assert mine is not None and mine.mine is not None and (mine.mine.grade, mine.others) == (3, ())
    shown = bench.pool(reveal=True).item(first)
    assert shown is not None and [(each.who, each.grade) for each in shown.others] == [("Ben", 0)]
    stranger = bench.pool("Cy").item(first)
    assert stranger is not None and stranger.mine is None


def test_a_pool_is_told_what_is_new_without_searching_again() -> None:
    bench = Bench()
    pool = bench.pool(reveal=True)
    unit = pool.items[0].unit
    reported = (
        pool.with_judgments(bench.judge(unit, None))
        .with_judgments(bench.judge(unit, 1, "Ben"))
        .with_judgments(bench.judge(unit, 2, "Ben"))
    )
    assert reported == bench.pool(reveal=True)
    assert reported.judged == 1 and pool.judged == 0
    assert reported.with_judgments([replace(reported.items[0].others[0], question_id=99, grade=0)]) == reported


def test_the_next_open_result_is_the_one_after_and_then_from_the_start() -> None:
    bench = Bench(taxing_library())
    pool = bench.pool()
    first, second, *_, last = pool.units
    assert pool.next_open().unit == first  # type: ignore[union-attr]
    assert pool.next_open(first).unit == second  # type: ignore[union-attr]
    assert pool.next_open(last).unit == first  # type: ignore[union-attr]
    done = pool.with_judgments(bench.desk.judge(bench.set.id, bench.question.id, list(pool.units), None, "Ada"))
    assert done.judged == len(pool.items) and done.next_open(second) is None


def test_known_answers_are_told_except_to_a_blind_judge() -> None:
    bench = Bench()
    sha256 = bench.pool().items[0].document.sha256
    known = replace(bench.question, relevant=(Relevant(sha256, ("due on the 15th",), 3),))
    bench.desk.change_questions([known])
    assert 3 in [item.known for item in bench.pool().items]
    assert {item.known for item in bench.pool(blind=True).items} == {None}


def test_where_nothing_is_shown_the_nearest_misses_can_be_judged() -> None:
    bench = Bench()
    silent = bench.desk.add_question(bench.set.id, "zebra xylophone quark taxes")
    pool = bench.desk.pool(bench.set.id, silent.id, ("relevance-draft",), who="Ada")
    assert pool.nearest and 0 < len(pool.items) <= 5
    assert all(item.ranks == {} and item.citation is not None for item in pool.items)
    scores = [item.score or 0.0 for item in pool.items]
    assert scores == sorted(scores, reverse=True)
    assert not bench.pool().nearest


def test_a_set_of_documents_is_judged_by_document() -> None:
    bench = Bench(taxing_library(), level=Level.DOCUMENT)
    pool = bench.pool(depth=10)
    assert len(pool.units) == len(set(pool.units)) >= 10
    assert all(item.unit == item.document.sha256 for item in pool.items)
    assert all(rank <= 10 for item in pool.items for rank in item.ranks.values())


def test_retrieving_degraded_parts_is_told() -> None:
    from tests.search.library import WordEmbedder

    bench = Bench(payroll_library(WordEmbedder(broken=True)))
    assert len(bench.pool().notices) == 1


# How much is judged


def measured(bench: Bench, profile: str, *ranking: str, state: RunState = RunState.DONE) -> None:
    outcome = QuestionOutcome(bench.question.id, "q1", QUESTION, "natural", True, len(ranking), {}, None, ranking)
    bench.store.add_experiment(
        Experiment(
            bench.set.id,
            bench.set.name,
            None,
            ExperimentKind.MEASURED,
            profiles()[profile],
            "Ada",
            NOW,
            NOW,
            state,
            outcomes=(outcome,),
        )
    )


def test_without_a_measurement_no_pool_is_known_and_a_question_is_open_until_begun() -> None:
    bench = Bench()
    progress = bench.desk.progress(bench.set.id, "Ada")
    assert (progress.graded, progress.mine, progress.questions[0].pooled) == (None, None, None)
    assert bench.desk.next_unjudged(bench.set.id, "Ada") == bench.question
    bench.judge("a", 1)
    assert bench.desk.next_unjudged(bench.set.id, "Ada") is None
    assert bench.desk.next_unjudged(bench.set.id, "Ben") == bench.question


def test_the_meter_counts_the_first_ten_of_the_last_two_profiles_measured() -> None:
    bench = Bench()
    measured(bench, "trend", "old")
    measured(bench, "relevance", "a", "b")
    measured(bench, "balanced", "before")
    measured(bench, "balanced", "b", "c", "d", *(f"x{n}" for n in range(7)), "beyond")
    measured(bench, "authority", "killed", state=RunState.STOPPED)
    bench.judge("a", 3)
    bench.judge("b", None)
    bench.judge("c", 0, "Ben")
    (part,) = bench.desk.progress(bench.set.id, "Ada").questions
    assert (part.pooled, part.graded, part.mine, part.open) == (11, 2, 2, True)


def test_pools_that_were_looked_at_are_counted_instead() -> None:
    bench = Bench()
    measured(bench, "balanced", "a", "b")
    bench.judge("a", 3)
    progress = bench.desk.progress(bench.set.id, "Ada", {bench.question.id: ("a",)})
    assert (progress.graded, progress.mine, progress.next_open()) == (1.0, 1.0, None)
    assert bench.desk.next_unjudged(bench.set.id, "Ada") == bench.question


def test_the_next_question_is_looked_for_from_the_one_after() -> None:
    bench = Bench()
    second, third = (bench.desk.add_question(bench.set.id, f"What of {name}?") for name in ("vacation", "overtime"))
    assert bench.desk.next_unjudged(bench.set.id, "Ada", bench.question.id) == second
    assert bench.desk.next_unjudged(bench.set.id, "Ada", third.id) == bench.question
    bench.desk.judge(bench.set.id, second.id, "a", 0, "Ada")
    assert bench.desk.next_unjudged(bench.set.id, "Ada", bench.question.id) == third


UNITS = st.sampled_from("abcdef")
WORDS = st.lists(st.tuples(UNITS, st.sampled_from([0, 1, 2, 3, None]), st.sampled_from(["Ada", "Ben"])), max_size=20)


@given(WORDS, st.lists(UNITS, unique=True))
def test_shares_are_shares_and_nobody_has_judged_more_than_the_pool(
    expected: list[tuple[str, int | None, str]], pool: list[str]
) -> None:
    question = JudgedQuestion(1, "q1", "Why?", id=7)
    judgments = [Judgment(1, 7, unit, grade, who, NOW) for unit, grade, who in expected]
    progress = progress_of([question], judgments, "Ada", {7: pool})
    for share in (progress.graded, progress.mine):
        assert share is None if not pool else 0 <= share <= 1  # type: ignore[operator]
    open_units = set(pool) - {unit for unit, _, who in expected if who == "Ada"}
    assert progress.questions[0].open is bool(open_units)


def test_judges_who_disagree_are_told_with_what_they_disagree_on() -> None:
    bench = Bench()
    for unit, mine, theirs in (("a", 3, 3), ("b", 0, 3), ("c", 1, 1)):
        bench.judge(unit, mine)
        bench.judge(unit, theirs, "Ben")
    agreement = bench.desk.agreement(bench.set.id)
    assert agreement.judges == ("Ada", "Ben") and agreement.units == 3 and agreement.alpha is not None
    (far,) = bench.desk.disputed(bench.set.id)
    assert (far.question_id, far.unit, far.distance) == (bench.question.id, "b", 3)


def test_a_set_that_is_not_there_is_told() -> None:
    bench = Bench()
    for call in (
        lambda: bench.desk.question_set(99),
        lambda: bench.desk.add_question(99, "Why?"),
        lambda: bench.desk.pool(99, 1, PROFILES, who="Ada"),
        lambda: bench.desk.judge(99, 1, "a", 1, "Ada"),
    ):
        with pytest.raises(NotFound):
            call()


def test_moments_are_those_of_the_clock_it_was_given() -> None:
    late = datetime(2030, 5, 1, tzinfo=UTC)
    bench = Bench()
    desk = JudgmentService(bench.store, bench.search, bench.library.catalogue, lambda: late)  # type: ignore[arg-type]
    assert isinstance(desk.add_set("Later", None, Level.PASSAGE, "Ada"), QuestionSet)
    assert desk.judge(bench.set.id, bench.question.id, "a", 1, "Ada")[0].at == late
