"""Experiments: begun in somebody's name, carried out, stopped, killed, begun again, kept, and due by the clock."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import permutations
from math import isclose

import pytest

from core.domain.coverage import RunState
from core.domain.documents import Truth
from core.domain.errors import BadRequest, NotFound, StoreFailed
from core.domain.evaluation import (
    Experiment,
    ExperimentKind,
    JudgedQuestion,
    Judgment,
    Level,
    OptimiserSettings,
    QuestionSet,
    Relevant,
)
from core.domain.filters import SearchFilters
from core.domain.queries import ScoreProfile, SearchRequest
from core.domain.results import DropReason, SearchResult
from core.evaluation.experiments import (
    DEPTH,
    QUIET_AFTER,
    UNGRADED,
    ExperimentRunner,
    ExperimentSettings,
    interrupted,
    request_of,
    scored,
)
from core.evaluation.judgments.units import passage_unit, passages_in
from core.evaluation.metrics.grades import GradedResult, grades_of, measured, prepared
from core.evaluation.tuning.profile_registry import ProfileRegistry
from core.knowledge.profiles import profiles
from tests.fakes import FakeEvaluationStore
from tests.label_edits import store_labels
from tests.search.library import NOW, Library, payroll_library

SECONDS = 30
SECOND = timedelta(seconds=1)
WANTED = OptimiserSettings(("similarity", "term_coverage", "keyword"), trials=3, folds=2)


class Clock:
    """Time that passes by a second whenever it is looked at."""

    def __init__(self) -> None:
        self.time, self.step = NOW, SECOND

    def __call__(self) -> datetime:
        self.time += self.step
        return self.time


class Room:
    """Experiments over a small library, with a set of questions whose answers are known."""

    def __init__(self, library: Library | None = None) -> None:
        self.store, self.clock, self.library = FakeEvaluationStore(), Clock(), library or payroll_library()
        self.book = ProfileRegistry(self.store, self.clock)
        self.library.searcher._profiles = self.book
        self.experiments = ExperimentRunner(
            self.store, self.library.searcher, self.library.catalogue, self.book, self.clock
        )

    def set(self, name: str = "Payroll", project: str | None = None, level: Level = Level.PASSAGE) -> QuestionSet:
        return self.store.add_set(QuestionSet(name, project, level, "Ada", NOW))

    def asks(
        self, question_set: QuestionSet, *questions: str, kind: str = "natural", file: str = "", words: str = ""
    ) -> None:
        """Questions of a set; with a file, the answer to each stands in it."""
        known = self.relevant(file, words)
        taken = len(self.store.questions(question_set.id))
        self.store.add_questions(
            [
                JudgedQuestion(question_set.id, f"q{taken + number}", question, kind, relevant=known)
                for number, question in enumerate(questions, 1)
            ]
        )

    def relevant(self, file: str, words: str) -> tuple[Relevant, ...]:
        return tuple(
            Relevant(document.sha256, (words,), 3)
            for document in self.library.catalogue.documents()
            if document.name == file
        )

    def measured(self, question_set: QuestionSet, profile: str = "balanced", **how: object) -> Experiment:
        return self.experiments.carry_out(self.experiments.begin(question_set.id, profile, "Ada", **how).id)


@pytest.fixture
def room() -> Room:
    return Room()


@pytest.fixture
def payroll(room: Room) -> QuestionSet:
    """Six questions: five that can be answered, one that nothing answers."""
    question_set = room.set()
    room.asks(
        question_set, "When are deposits due?", "deposit withheld taxes", file="pub.pdf", words="deposits are due"
    )
    room.asks(question_set, "How much vacation accrues?", file="handbook.md", words="accrues at two days")
    room.asks(
        question_set, "How many locations need overtime?", kind="keyword", file="sow.docx", words="three locations"
    )
    room.asks(
        question_set, "earning code per overtime rate", kind="keyword", file="guide.html", words="one earning code"
    )
    room.asks(question_set, "Zeppelin hangar mooring mast", kind="none")
    return question_set


# Begun


def test_an_experiment_is_begun_in_somebodys_name_and_kept_at_once(room: Room, payroll: QuestionSet) -> None:
    begun = room.experiments.begin(payroll.id, "relevance", "  Ada ", note=" before the change ")
    assert (begun.who, begun.note, begun.profile.ref) == ("Ada", "before the change", "relevance")
    assert (begun.state, begun.kind, begun.total, begun.done) == (RunState.RUNNING, ExperimentKind.MEASURED, 6, 0)
    assert (begun.set_name, begun.project, begun.scheduled) == ("Payroll", None, False)
    assert room.experiments.experiment(begun.id) == begun


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ({"who": " "}, "needs a name"),
        ({"profile": "charm"}, "charm"),
        ({"optimising": OptimiserSettings(("similarity",))}, "nothing to weigh"),
    ],
)
def test_what_cannot_be_done_is_not_begun(
    room: Room, payroll: QuestionSet, what: dict[str, object], expected: str
) -> None:
    with pytest.raises(BadRequest, match=expected):
        room.experiments.begin(payroll.id, **{"profile": "balanced", "who": "Ada"} | what)
    assert room.experiments.experiments() == []


def test_a_set_without_questions_is_not_measured(room: Room) -> None:
    with pytest.raises(BadRequest, match="'Empty' contains no questions"):
        room.experiments.begin(room.set("Empty").id, "balanced", "Ada")


def test_a_set_that_is_not_there_is_not_measured(room: Room) -> None:
    with pytest.raises(NotFound):
        room.experiments.begin(99, "balanced", "Ada")


def test_a_version_of_a_profile_is_kept_as_it_was(room: Room, payroll: QuestionSet) -> None:
    room.book.save(ScoreProfile("mine", {"similarity": 1.0}, threshold=0.1), "Ada")
    begun = room.experiments.begin(payroll.id, "mine", "Ada")
    room.book.save(ScoreProfile("mine", {"keyword": 1.0}, threshold=0.1), "Ada", after=1)
    room.book.retire("mine", "Ada", 2)
    ended = room.experiments.carry_out(begun.id)
    assert ended.profile == ScoreProfile("mine", {"similarity": 1.0}, threshold=0.1, version=1)
    again = room.measured(payroll, "mine@1")
    assert [each.measures for each in again.outcomes] == [each.measures for each in ended.outcomes]


# Carried out


def test_a_measurement_says_what_was_found_and_what_it_stood_on(room: Room, payroll: QuestionSet) -> None:
    ended = room.measured(payroll)
    assert (ended.state, ended.done, ended.total, ended.problem) == (RunState.DONE, 6, 6, "")
    assert ended.finished_at is not None
    assert ended.milliseconds > 0
    assert [outcome.key for outcome in ended.outcomes] == [f"q{number}" for number in range(1, 7)]
    assert ended.measures["ndcg@10"].n == 5
    assert ended.measures["refused"].mean == 1.0
    assert ended.measures["ndcg@10"].low <= ended.measures["ndcg@10"].mean <= ended.measures["ndcg@10"].high
    assert ended.unjudged is not None
    assert 0 < ended.unjudged < 1
    assert ExperimentSettings(ended.judgments_version, ended.corpus_hash) == room.experiments.ground(payroll.id)
    assert room.experiments.experiment(ended.id) == ended


def test_what_is_measured_is_what_a_search_gives(room: Room, payroll: QuestionSet) -> None:
    ended = room.measured(payroll, "relevance")
    questions = room.store.questions(payroll.id)
    results = {each.id: room.library.searcher.search(request_of(each, payroll, "relevance"), NOW) for each in questions}
    alone = measured(questions, results, [], payroll.level)
    assert [(each.measures, each.ranking, each.first, each.hits) for each in ended.outcomes] == [
        (each.measures, each.ranking, each.first, each.hits) for each in alone
    ]


def test_more_questions_than_are_asked_at_once_are_measured_alike(room: Room) -> None:
    """What is measured a few at a time is what all at once give, judgments of people included."""
    question_set = room.set()
    room.asks(
        question_set, *(f"deposits of month {number}" for number in range(1, 12)), file="pub.pdf", words="deposits are"
    )
    questions = room.store.questions(question_set.id)
    results = {
        each.id: room.library.searcher.search(request_of(each, question_set, "balanced"), NOW) for each in questions
    }
    units = list(passages_in(results[questions[0].id]))
    room.store.judge(
        [Judgment(question_set.id, each.id, unit, 1, "Ada", NOW) for each in questions for unit in units[:2]]
    )
    judgments = room.store.judgments(question_set.id)
    ended = room.measured(question_set)
    assert [each.measures for each in ended.outcomes] == [
        each.measures for each in measured(questions, results, judgments, question_set.level)
    ]
    assert ended.judgments_version == max(judgment.id for judgment in judgments)


def test_questions_are_asked_within_their_sets_project_and_their_own_filters(room: Room) -> None:
    question_set = room.set(project="Tallgrass")
    plain = JudgedQuestion(question_set.id, "q1", "overtime")
    narrowed = replace(plain, filters=SearchFilters(projects=("Other",), truths=(Truth.INTENT,)))
    documents = SearchFilters(origins=("document",))
    assert request_of(plain, question_set, "mine@2").filters == documents.replace(projects=("Tallgrass",))
    assert request_of(narrowed, question_set, "balanced").filters == narrowed.filters.replace(origins=("document",))
    assert request_of(plain, replace(question_set, project=None), "mine") == SearchRequest(
        "overtime", documents, "mine", 50
    )


def test_hits_are_measured_without_citing_them(room: Room, payroll: QuestionSet) -> None:
    seen: list[bool] = []
    search_many = room.library.searcher.search_many

    def watched(requests: Sequence[SearchRequest], now: datetime, *, cited: bool = True) -> Sequence[SearchResult]:
        seen.append(cited)
        return search_many(requests, now, cited=cited)

    room.library.searcher.search_many = watched  # type: ignore[method-assign]
    room.measured(payroll)
    assert seen == [False, False]


def test_one_that_is_done_stays_as_it_is(room: Room, payroll: QuestionSet) -> None:
    ended = room.measured(payroll)
    room.library.add("new.md", "Deposits are due whenever you like.")
    assert room.experiments.carry_out(ended.id) == ended


def test_the_set_may_have_grown_since_it_was_begun(room: Room, payroll: QuestionSet) -> None:
    begun = room.experiments.begin(payroll.id, "balanced", "Ada")
    room.asks(payroll, "overtime rate")
    ended = room.experiments.carry_out(begun.id)
    assert (begun.total, ended.total, ended.done, len(ended.outcomes)) == (6, 7, 7, 7)


def test_a_set_emptied_meanwhile_leaves_it_failed_with_why(room: Room, payroll: QuestionSet) -> None:
    begun = room.experiments.begin(payroll.id, "balanced", "Ada")
    for each in room.store.questions(payroll.id):
        room.store.retire_question(each.id)
    ended = room.experiments.carry_out(begun.id)
    assert ended.state is RunState.FAILED
    assert "contains no questions" in ended.problem


# Progress, stopping, failing, and beginning again


def test_progress_is_told_every_few_questions_and_kept(room: Room, payroll: QuestionSet) -> None:
    reports: list[tuple[int, int, int]] = []
    begun = room.experiments.begin(payroll.id, "balanced", "Ada")

    def on_step(done: int, total: int) -> None:
        reports.append((done, total, room.experiments.experiment(begun.id).done))

    room.experiments.carry_out(begun.id, on_step=on_step)
    assert reports == [(4, 6, 0), (6, 6, 4)]


def test_another_program_stops_it_and_it_can_begin_again(room: Room, payroll: QuestionSet) -> None:
    begun = room.experiments.begin(payroll.id, "balanced", "Ada")
    elsewhere = ExperimentRunner(room.store, room.library.searcher, room.library.catalogue, room.book, room.clock)
    ended = room.experiments.carry_out(begun.id, on_step=lambda done, total: elsewhere.stop(begun.id))
    assert ended.state is RunState.STOPPED and 0 < ended.done < ended.total and ended.problem == ""
    again = room.experiments.carry_out(begun.id)
    assert again.state is RunState.DONE == elsewhere.stop(begun.id).state


def test_a_stop_ends_it_between_questions_and_it_can_begin_again(room: Room, payroll: QuestionSet) -> None:
    done: list[int] = []
    begun = room.experiments.begin(payroll.id, "balanced", "Ada")
    ended = room.experiments.carry_out(begun.id, stop=lambda: bool(done), on_step=lambda n, total: done.append(n))
    assert (ended.state, ended.done, ended.outcomes) == (RunState.STOPPED, 4, ())
    again = room.experiments.carry_out(begun.id)
    assert (again.state, again.done, len(again.outcomes)) == (RunState.DONE, 6, 6)


def test_a_failing_search_leaves_it_failed_and_it_can_begin_again(room: Room, payroll: QuestionSet) -> None:
    searcher = room.library.searcher
    search_many = searcher.search_many

    def broken(*options: object, **how: object) -> object:
        raise StoreFailed("The disk is full.", "Make room.")

    searcher.search_many = broken  # type: ignore[method-assign, assignment]
    ended = room.measured(payroll)
    assert (ended.state, ended.problem) == (RunState.FAILED, "The disk is full. Make room.")
    assert ended.finished_at is not None
    searcher.search_many = search_many  # type: ignore[method-assign]
    again = room.experiments.carry_out(ended.id)
    assert (again.state, again.problem) == (RunState.DONE, "")


def test_an_error_nobody_expected_is_not_swallowed(room: Room, payroll: QuestionSet) -> None:
    def broken(*options: object, **how: object) -> object:
        raise ZeroDivisionError

    room.library.searcher.search_many = broken  # type: ignore[method-assign, assignment]
    with pytest.raises(ZeroDivisionError):
        room.measured(payroll)


def test_what_has_not_beaten_for_a_minute_was_killed(room: Room, payroll: QuestionSet) -> None:
    begun = room.experiments.begin(payroll.id, "balanced", "Ada")
    assert not interrupted(begun, begun.beat_at + QUIET_AFTER)
    assert interrupted(begun, begun.beat_at + QUIET_AFTER + SECOND)
    assert not interrupted(room.experiments.carry_out(begun.id), begun.beat_at + 10 * QUIET_AFTER)


def test_a_killed_one_begun_again_is_under_way_at_once(room: Room, payroll: QuestionSet) -> None:
    begun = room.experiments.begin(payroll.id, "balanced", "Ada")
    room.clock.time += 10 * QUIET_AFTER
    seen: list[Experiment] = []
    room.experiments.carry_out(begun.id, stop=lambda: bool(seen.append(room.experiments.experiment(begun.id))))
    assert not interrupted(seen[0], room.clock.time)


def test_one_deleted_while_it_runs_is_gone(room: Room, payroll: QuestionSet) -> None:
    begun = room.experiments.begin(payroll.id, "balanced", "Ada")
    with pytest.raises(NotFound):
        room.experiments.carry_out(begun.id, on_step=lambda done, total: room.experiments.delete(begun.id))
    assert room.experiments.experiments() == []


# Kept


def test_experiments_are_listed_newest_first_without_outcomes(room: Room, payroll: QuestionSet) -> None:
    other = room.set("Other")
    room.asks(other, "overtime")
    first, second = room.measured(payroll), room.measured(payroll, "relevance")
    third = room.measured(other)
    assert [each.id for each in room.experiments.experiments()] == [third.id, second.id, first.id]
    assert [each.id for each in room.experiments.experiments(payroll.id)] == [second.id, first.id]
    assert all(each.outcomes == () and each.measures for each in room.experiments.experiments())


def test_a_note_is_written_beside_it_and_nothing_else_changes(room: Room, payroll: QuestionSet) -> None:
    ended = room.measured(payroll)
    room.experiments.annotate(ended.id, "  with the new synonyms ")
    assert room.experiments.experiment(ended.id) == replace(ended, note="with the new synonyms")
    with pytest.raises(NotFound):
        room.experiments.annotate(99, "?")


def test_a_note_written_while_it_runs_is_kept(room: Room, payroll: QuestionSet) -> None:
    begun = room.experiments.begin(payroll.id, "balanced", "Ada")
    ended = room.experiments.carry_out(
        begun.id, on_step=lambda done, total: room.experiments.annotate(begun.id, f"seen at {done}")
    )
    assert ended.note == "seen at 6"
    assert room.experiments.experiment(begun.id) == ended


def test_a_note_written_at_the_very_end_does_not_bring_back_what_was_before(room: Room, payroll: QuestionSet) -> None:
    """Writing a note reads an experiment and stores it: between the two, it must not end."""
    begun = room.experiments.begin(payroll.id, "balanced", "Ada")
    reading, go_on = threading.Event(), threading.Event()
    read = room.store.experiment

    def slowly(experiment_id: int) -> Experiment:
        found = read(experiment_id)
        if threading.current_thread().name == "note":
            reading.set()
            assert go_on.wait(SECONDS)
        return found

    room.store.experiment = slowly  # type: ignore[method-assign]
    noting = threading.Thread(target=room.experiments.annotate, args=(begun.id, "just now"), name="note")
    noting.start()
    assert reading.wait(SECONDS)
    running = threading.Thread(target=room.experiments.carry_out, args=(begun.id,))
    running.start()
    go_on.set()
    noting.join(SECONDS)
    running.join(SECONDS)
    question_set = read(begun.id)
    assert (question_set.state, question_set.note) == (RunState.DONE, "just now")


def test_deleting_one_that_is_gone_is_harmless(room: Room, payroll: QuestionSet) -> None:
    ended = room.measured(payroll)
    for _ in range(2):
        room.experiments.delete(ended.id)
    assert room.experiments.experiments() == []


# What it stood on


def test_a_judgment_and_an_upload_change_the_ground(room: Room, payroll: QuestionSet) -> None:
    ended = room.measured(payroll)
    questions = room.store.questions(payroll.id)[0]
    room.store.judge([Judgment(payroll.id, questions.id, ended.outcomes[0].ranking[0], 0, "Ada", NOW)])
    now = room.experiments.ground(payroll.id)
    assert now.judgments_version > ended.judgments_version
    assert now.corpus_hash == ended.corpus_hash
    room.library.add("new.md", "Deposits are due whenever you like.")
    assert room.experiments.ground(payroll.id).corpus_hash != ended.corpus_hash


def test_an_upload_during_a_run_came_after_it(room: Room, payroll: QuestionSet) -> None:
    before = room.experiments.ground(payroll.id)
    begun = room.experiments.begin(payroll.id, "balanced", "Ada")
    ended = room.experiments.carry_out(begun.id, on_step=lambda done, total: _uploaded(room.library))
    assert ended.corpus_hash == before.corpus_hash != room.experiments.ground(payroll.id).corpus_hash


def _uploaded(library: Library) -> None:
    if not any(each.name == "meanwhile.md" for each in library.catalogue.documents()):
        library.add("meanwhile.md", "Deposits are due whenever you like.")


def test_a_sets_ground_is_its_projects_library(room: Room) -> None:
    question_set = room.set(project="Tallgrass")
    (there,) = room.library.add("there.md", "Of some project.")
    moved: dict[str, ExperimentSettings] = {}
    for project in ("Tallgrass", "Other"):
        document = replace(room.library.catalogue.document(there.document_id), project=project)
        store_labels(room.library.catalogue, document, [replace(there, project=project)])
        moved[project] = room.experiments.ground(question_set.id)
    assert moved["Tallgrass"] != moved["Other"]
    document = replace(document, name="renamed.md")
    store_labels(room.library.catalogue, document, [replace(there, project="Other", document_name="renamed.md")])
    assert room.experiments.ground(question_set.id) == moved["Other"]


# Graded scores


def graded(result: SearchResult, **grades: int) -> GradedResult:
    """Grades by the first word of a passage."""
    units = {unit: grades[p.text.split()[0]] for unit, p in passages_in(result).items() if p.text.split()[0] in grades}
    return GradedResult(True, units)


def firsts(result: SearchResult, found: Sequence[tuple[str, float, int]]) -> list[tuple[str, int]]:
    """First word and grade, best first."""
    texts = passages_in(result)
    return [(texts[unit].text.split()[0], grade) for unit, _, grade in found]


def test_graded_results_are_scored_whether_they_are_shown_or_not(room: Room) -> None:
    request = SearchRequest("overtime rate", profile="relevance", top_k=1)
    result = room.library.searcher.search(request, NOW)
    found = scored(result, graded(result, OT1=3, We=2, The=0), Level.PASSAGE)
    assert len(result.hits) == 1
    assert {DropReason.BELOW_THRESHOLD, DropReason.BEYOND_MAX} & {each.reason for each in result.dropped}
    known = {each for each in firsts(result, found) if each[1] != UNGRADED}
    assert known == {("OT1", 3), ("We", 2), ("The", 0)}
    totals = [total for _, total, _ in found]
    assert totals == sorted(totals, reverse=True)


def test_what_has_no_evidence_is_not_scored_however_relevant(room: Room) -> None:
    profile = ScoreProfile("strict", {"authority": 1.0}, threshold=0.0, floor=1.0)
    room.book.save(profile, "Ada")
    result = room.library.searcher.search(SearchRequest("overtime rate", profile="strict"), NOW)
    below = {d.candidate.passage.text.split()[0] for d in result.dropped if d.reason is DropReason.BELOW_FLOOR}
    assert "Vacation" in below
    assert "Vacation" not in dict(firsts(result, scored(result, graded(result, Vacation=3, OT1=1), Level.PASSAGE)))


def test_the_best_result_stands_there_though_nobody_has_graded_it(room: Room) -> None:
    result = room.library.searcher.search(SearchRequest("overtime rate"), NOW)
    found = scored(result, GradedResult(True, {}), Level.PASSAGE)
    assert [(total, grade) for _, total, grade in found] == [(result.hits[0].score.total, UNGRADED)]


def test_of_a_question_that_nothing_answers_what_is_seen_first_is_irrelevant_unless_people_say_so(room: Room) -> None:
    for number in range(14):
        room.library.add(f"more{number}.md", f"Overtime note {number} says nothing about rate {number * 7919}.")
    result = room.library.searcher.search(SearchRequest("overtime rate", top_k=DEPTH), NOW)
    nothing = replace(graded(result, OT1=1), answerable=False)
    found = scored(result, nothing, Level.PASSAGE)
    assert len(found) >= 10
    assert dict(firsts(result, found))["OT1"] == 1
    assert {grade for word, grade in firsts(result, found) if word != "OT1"} == {0}


def test_a_document_has_the_total_of_its_best_passage(room: Room) -> None:
    result = room.library.searcher.search(SearchRequest("withheld taxes statement", profile="relevance"), NOW)
    [sha256] = {d.sha256 for d in result.documents.values() if d.name == "pub.pdf"}
    [(unit, total, grade)] = [
        each for each in scored(result, GradedResult(True, {sha256: 2}), Level.DOCUMENT) if each[2] != UNGRADED
    ]
    own = [
        item.score.total
        for item in (*result.hits, *result.dropped)
        if item.score and result.documents[item.candidate.passage.document_id].sha256 == sha256
    ]
    assert (unit, total, grade) == (sha256, max(own), 2)
    assert len(own) == 2


def test_what_hides_behind_its_twin_is_not_scored(room: Room) -> None:
    text = "Garnishments are withheld from disposable earnings after mandatory deductions, in the order received."
    (first,) = room.library.add("one.md", text)
    (second,) = room.library.add("two.md", text, "The cafeteria opens at noon.")[:1]
    result = room.library.searcher.search(SearchRequest("In which order are garnishments withheld?"), NOW)
    shas = {document.id: document.sha256 for document in result.documents.values()}
    units = {each.id: passage_unit(shas[each.document_id], each) for each in (first, second)}
    found = scored(result, GradedResult(True, dict.fromkeys(units.values(), 3)), Level.PASSAGE)
    assert [unit for unit, _, _ in found] == [units[first.id]]


def test_an_experiments_outcomes_hold_their_graded_scores(room: Room, payroll: QuestionSet) -> None:
    ended = room.measured(payroll)
    questions = {each.id: each for each in room.store.questions(payroll.id)}
    for outcome in ended.outcomes:
        question = questions[outcome.question_id]
        result = room.library.searcher.search(request_of(question, payroll, "balanced"), NOW)
        known = grades_of(question, [], payroll.level, passages_in(result))
        again = scored(result, known, payroll.level)
        assert [(unit, grade) for unit, _, grade in outcome.scored] == [(unit, grade) for unit, _, grade in again]
        assert all(isclose(one[1], other[1], abs_tol=1e-9) for one, other in zip(outcome.scored, again, strict=True))


# Better weights


@pytest.fixture
def many(room: Room) -> QuestionSet:
    """Twelve questions with known answers, and two without."""
    question_set = room.set("Many")
    for file, words in (("pub.pdf", "deposits are due"), ("handbook.md", "accrues"), ("sow.docx", "three locations")):
        room.asks(question_set, *(f"{words} in year {year}" for year in range(4)), file=file, words=words)
    room.asks(question_set, "Zeppelin hangar mooring mast", kind="none")
    room.asks(question_set, "Who is the boss?", kind="keyword")
    return question_set


def test_a_search_for_weights_measures_the_base_and_keeps_what_it_found(room: Room, many: QuestionSet) -> None:
    reports: list[tuple[int, int]] = []
    begun = room.experiments.begin(many.id, "relevance", "Ada", optimising=WANTED)
    ended = room.experiments.carry_out(begun.id, on_step=lambda done, total: reports.append((done, total)))
    assert (ended.kind, ended.state, ended.problem) == (ExperimentKind.OPTIMISED, RunState.DONE, "")
    assert begun.total == ended.total == ended.done == 14 + 3 * 3
    assert reports == [(4, 23), (8, 23), (12, 23), *((number, 23) for number in range(14, 24))]
    assert ended.optimised is not None
    assert ended.optimised.held_out.n == 12
    assert ended.optimised.baseline.mean == pytest.approx(ended.measures["ndcg@10"].mean)
    assert ended.measures.keys() == room.measured(many, "relevance").measures.keys()
    assert room.experiments.experiment(ended.id) == ended


@pytest.mark.parametrize("level", list(Level))
@pytest.mark.parametrize("measure", ["ndcg@10", "map", "recall@20", "p@5"])
def test_a_search_for_weights_measures_as_a_measurement_does(room: Room, level: Level, measure: str) -> None:
    question_set = room.set(level=level)
    room.book.save(replace(profiles()["relevance"], name="open", threshold=0.05, multipliers={}), "Ada")
    for number in range(30):
        text = "overtime rate of deposits " * (number % 3 + 1)
        room.library.add(
            f"other{number}.md", f"{text} in {number * 7919}.", f"Rate {number * 13} of overtime {number}."
        )
    words = ("overtime", "deposits", "rate", "regular")
    room.asks(question_set, *map(" ".join, list(permutations(words, 3))[:12]), file="codes.csv", words="regular rate")
    ended = room.measured(question_set, "open", optimising=replace(WANTED, measure=measure))
    assert ended.optimised is not None, ended.problem
    assert 0 < ended.measures[measure].mean < 1
    assert ended.optimised.baseline.mean == pytest.approx(ended.measures[measure].mean, abs=1e-12)


def test_the_same_search_for_weights_finds_the_same(room: Room, many: QuestionSet) -> None:
    first, again = (room.measured(many, "relevance", optimising=WANTED) for _ in range(2))
    assert first.optimised == again.optimised


def test_too_few_questions_leave_it_failed_with_what_to_do(room: Room, payroll: QuestionSet) -> None:
    ended = room.measured(payroll, optimising=WANTED)
    assert ended.state is RunState.FAILED
    assert "5 judged questions are too few" in ended.problem
    assert "at least 10" in ended.problem


def test_a_search_for_weights_stops_between_two_mixes(room: Room, many: QuestionSet) -> None:
    done: list[int] = []
    begun = room.experiments.begin(many.id, "relevance", "Ada", optimising=WANTED)
    ended = room.experiments.carry_out(
        begun.id, stop=lambda: bool(done) and done[-1] >= 16, on_step=lambda n, total: done.append(n)
    )
    assert (ended.state, ended.done, ended.optimised) == (RunState.STOPPED, 16, None)


def test_grades_of_a_batch_are_those_of_the_whole(room: Room, many: QuestionSet) -> None:
    questions = room.store.questions(many.id)
    results = {each.id: room.library.searcher.search(request_of(each, many, "balanced"), NOW) for each in questions}
    whole = prepared(questions, results, [], many.level)
    for each in questions:
        assert prepared([each], results, [], many.level).questions[each.id] == whole.questions[each.id]
