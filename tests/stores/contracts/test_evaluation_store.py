"""What every core.evaluation.store.EvaluationStore does."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.domain.errors import BadRequest, NotFound, Outdated
from core.domain.evaluation import Level, Relevant
from core.domain.filters import SearchFilters
from core.domain.profiles import DefaultProfile, ProfileVersion
from core.evaluation.store import EvaluationStore
from storage.postgres.evaluation import SqlEvaluationStore
from tests.database import new_tenant
from tests.fakes import FakeEvaluationStore
from tests.stores.contracts.evaluation import (
    AT,
    FULL_EXPERIMENT,
    FULL_PROFILE,
    NOWHERE,
    experiment_of,
    judgment,
    question,
    set_of,
    version_of,
)


@pytest.fixture(params=["memory", "postgres"])
def store(request: pytest.FixtureRequest) -> EvaluationStore:
    """An empty store of each kind."""
    if request.param == "memory":
        return FakeEvaluationStore()
    return SqlEvaluationStore(new_tenant(request.getfixturevalue("engine")))


def test_profile_versions_are_read_back_exactly_by_name_and_then_version(store: EvaluationStore) -> None:
    full = ProfileVersion(FULL_PROFILE, "Ann", AT, note="for März", origin="relevance", retired=False)
    ended = replace(full, profile=replace(FULL_PROFILE, version=2), retired=True, origin=FULL_PROFILE.ref)
    saved = [full, ended, version_of("beta", 1), version_of("Alpha", 1), version_of("alpha", 2), version_of("a b", 1)]
    for version in saved:
        store.save_profile(version)
    read = list(store.profile_versions())
    assert read == [version_of("a b", 1), *saved[3:5], saved[2], full, ended]
    assert list(read[-1].profile.weights) == ["similarity", "a", "keywords"]  # pages list them in this order


def test_a_version_that_does_not_follow_the_newest_of_its_name_is_refused(store: EvaluationStore) -> None:
    with pytest.raises(Outdated, match="no profile 'mine' to continue") as raised:
        store.save_profile(version_of("mine", 2))
    assert "as a new profile" in raised.value.hint
    with pytest.raises(Outdated):
        store.save_profile(version_of("mine", 0))
    store.save_profile(version_of("Mine", 1, who="Bob"))
    for number in (0, 1, 3, NOWHERE):
        with pytest.raises(Outdated, match="Bob has saved version 1 of 'Mine' meanwhile; yours was not stored"):
            store.save_profile(version_of("MINE", number))
    store.save_profile(version_of("mINE", 2))
    assert [each.profile.ref for each in store.profile_versions()] == ["Mine@1", "mINE@2"]


def test_capitals_of_any_alphabet_make_no_other_name(store: EvaluationStore) -> None:
    store.save_profile(version_of("ÜBERSTUNDEN Ж", 1))
    with pytest.raises(Outdated):
        store.save_profile(version_of("überstunden ж", 1))
    store.add_set(set_of("ÜBERSTUNDEN Ж"))
    with pytest.raises(BadRequest):
        store.add_set(set_of("überstunden ж"))


def test_the_latest_choice_of_a_default_holds_for_each_project_and_for_all(store: EvaluationStore) -> None:
    assert list(store.defaults()) == []
    first = DefaultProfile(None, "relevance", "Ann", AT)
    north = DefaultProfile("north", "Mine", "Ann", AT)
    later = replace(first, name="balanced", who="Bob", at=AT - timedelta(1))
    south = replace(north, project="South", name="relevance")
    for default in (north, first, south, later):
        store.set_default(default)
    assert list(store.defaults()) == [later, south, north]
    store.set_default(replace(north, name=""))
    assert list(store.defaults()) == [later, south]
    store.set_default(replace(first, name=""))
    store.set_default(north)
    assert list(store.defaults()) == [south, north]
    narrowed = replace(first, name="", filters=SearchFilters(truths=("reality",), date_from=AT, archived=None))
    store.set_default(narrowed)
    assert list(store.defaults()) == [narrowed, south, north]


def test_a_project_has_its_own_sets_and_those_of_the_whole_library_in_order_of_age(store: EvaluationStore) -> None:
    full = set_of("Ü", "north", level=Level.DOCUMENT, note="n", every_hours=24, measured_at=AT)
    north, south, everywhere = (store.add_set(each) for each in (full, set_of("S", "south"), set_of("All")))
    assert (replace(north, id=0), north.version) == (full, 1)
    assert len({each.id for each in (north, south, everywhere)} - {0}) == 3
    assert list(store.sets("north")) == [north, everywhere]
    assert list(store.sets(None)) == [north, south, everywhere]
    assert list(store.sets("nowhere")) == [everywhere]
    assert store.question_set(south.id) == south
    with pytest.raises(NotFound, match=f"Question set {NOWHERE}"):
        store.question_set(NOWHERE)


def test_a_name_lives_once_per_project(store: EvaluationStore) -> None:
    store.add_set(set_of("Leave"))
    store.add_set(set_of("leave", "north"))
    for taken in (set_of("LEAVE"), set_of("Leave", "north")):
        with pytest.raises(BadRequest, match=f"a question set '{taken.name}' already"):
            store.add_set(taken)
    assert [each.name for each in store.sets(None)] == ["Leave", "leave"]


def test_a_changed_set_keeps_its_id_and_counts_its_version(store: EvaluationStore) -> None:
    question_set = store.add_set(set_of("Leave"))
    changed = store.change_set(
        replace(question_set, name="Sick leave", every_hours=24, project="north", measured_at=AT)
    )
    assert changed == replace(
        question_set,
        name="Sick leave",
        every_hours=24,
        project="north",
        measured_at=AT,
        version=question_set.version + 1,
    )
    assert store.question_set(question_set.id) == changed
    assert store.change_set(replace(changed, name="SICK LEAVE")).version == question_set.version + 2


def test_a_set_someone_else_has_changed_is_not_overwritten(store: EvaluationStore) -> None:
    question_set = store.add_set(set_of("Leave"))
    theirs = store.change_set(replace(question_set, note="Bob's"))
    with pytest.raises(Outdated, match="'Leave' has been changed by someone else"):
        store.change_set(replace(question_set, note="Ann's"))
    with pytest.raises(NotFound):
        store.change_set(replace(question_set, id=NOWHERE))
    assert store.question_set(question_set.id) == theirs


def test_a_set_cannot_take_a_living_name_but_that_of_a_retired_one(store: EvaluationStore) -> None:
    first, second = store.add_set(set_of("a")), store.add_set(set_of("b"))
    with pytest.raises(BadRequest, match="a question set 'A' already"):
        store.change_set(replace(second, name="A"))
    retired = store.change_set(replace(first, retired=True))
    assert store.change_set(replace(second, name="A")).name == "A"
    assert [each.name for each in store.sets(None)] == ["A"]
    assert list(store.sets(None, retired=True)) == [retired] == list(store.sets("north", retired=True))
    assert store.question_set(first.id) == retired
    with pytest.raises(BadRequest):
        store.change_set(replace(retired, retired=False))
    assert list(store.sets(None, retired=True)) == [retired]


def test_questions_are_read_back_exactly_in_the_order_they_were_added(store: EvaluationStore) -> None:
    question_set, other = store.add_set(set_of("Leave")), store.add_set(set_of("Pay"))
    full = question(
        question_set,
        "q2",
        question="Was gilt für Überstunden?",
        kind="negation",
        filters=SearchFilters(truths=("reality",), documents=(3, 5), date_from=AT, archived=None, tags_mode="all"),
        relevant=(Relevant("a" * 64, ("one", "two"), 3, page=4), Relevant("b" * 64, (), 1)),
    )
    stored = store.add_questions([full, question(question_set, "q1"), question(other, "q2")])
    assert [replace(each, id=0) for each in stored] == [full, question(question_set, "q1"), question(other, "q2")]
    stored = [*stored, *store.add_questions([question(question_set, "Q1")])]
    assert list(store.questions(question_set.id)) == [stored[0], stored[1], stored[3]]
    assert list(store.questions(other.id)) == [stored[2]]
    assert list(store.questions(NOWHERE)) == [] == list(store.add_questions([]))


def test_a_question_whose_key_lives_is_replaced_in_its_place_with_its_id(store: EvaluationStore) -> None:
    question_set = store.add_set(set_of("Leave"))
    first, second = store.add_questions([question(question_set, "a"), question(question_set, "b")])
    better = question(question_set, "a", question="Better?", kind="none", filters=SearchFilters(tags=("x",)))
    again, third, same = store.add_questions(
        [better, question(question_set, "c"), question(question_set, "c", question="Last?")]
    )
    assert (again, same.id) == (replace(better, id=first.id), third.id)
    assert list(store.questions(question_set.id)) == [again, second, same]


def test_questions_are_stored_all_or_none(store: EvaluationStore) -> None:
    question_set = store.add_set(set_of("Leave"))
    (first,) = store.add_questions([question(question_set, "a")])
    unknown = [
        question(question_set, "b"),
        question(question_set, "a", question="Better?"),
        question(replace(question_set, id=NOWHERE), "c"),
    ]
    with pytest.raises(NotFound, match=f"Question set {NOWHERE}"):
        store.add_questions(unknown)
    assert list(store.questions(question_set.id)) == [first]


def test_a_retired_question_leaves_its_key_and_keeps_its_judgments(store: EvaluationStore) -> None:
    question_set = store.add_set(set_of("Leave"))
    first, second = store.add_questions([question(question_set, "a"), question(question_set, "b")])
    statement = store.judge([judgment(first, "u", 3)])
    store.retire_question(first.id)
    assert list(store.questions(question_set.id)) == [second]
    assert list(store.judgments(question_set.id)) == list(statement)
    (successor,) = store.add_questions([question(question_set, "a")])
    assert successor.id not in (first.id, second.id)
    assert [each.key for each in store.questions(question_set.id)] == ["b", "a"]
    store.retire_question(first.id)  # whoever is second has what he wants
    with pytest.raises(NotFound, match=f"Question {NOWHERE}"):
        store.retire_question(NOWHERE)


def test_the_latest_judgment_per_question_unit_and_judge_holds(store: EvaluationStore) -> None:
    question_set, other = store.add_set(set_of("Leave")), store.add_set(set_of("Pay"))
    questions, also = store.add_questions([question(question_set, "a"), question(question_set, "b")])
    (elsewhere,) = store.add_questions([question(other, "a")])
    statements = [
        judgment(questions, "u", 0),
        judgment(questions, "u", 3, "Bob", blind=True),
        judgment(questions, "v", None),
        judgment(also, "u", 2),
        judgment(questions, "u", 1, "ann"),
        judgment(elsewhere, "u", 1),
    ]
    stored = store.judge(statements)
    assert [replace(each, id=0) for each in stored] == statements
    assert [each.id for each in stored] == sorted({each.id for each in stored} - {0})
    assert list(store.judgments(question_set.id)) == list(stored[:5])
    (again,) = store.judge([judgment(questions, "u", 2, at=AT - timedelta(1))])
    assert again.id > stored[-1].id
    assert list(store.judgments(question_set.id)) == [*stored[1:5], again]
    within = store.judge([judgment(questions, "w", 1), judgment(questions, "w", None)])
    assert list(store.judgments(question_set.id)) == [*stored[1:5], again, within[1]]
    assert list(store.judgments(other.id)) == [stored[5]]
    assert list(store.judgments(NOWHERE)) == [] == list(store.judge([]))


def test_judgments_are_stored_all_or_none_of_questions_that_stand_in_their_set(store: EvaluationStore) -> None:
    question_set, other = store.add_set(set_of("Leave")), store.add_set(set_of("Pay"))
    (questions,) = store.add_questions([question(question_set, "a")])
    strangers = {
        f"Question set {NOWHERE}": judgment(replace(questions, set_id=NOWHERE), "v", 1),
        f"Question {NOWHERE}": judgment(replace(questions, id=NOWHERE), "v", 1),
        f"Question {questions.id} is not": judgment(replace(questions, set_id=other.id), "v", 1),
    }
    for reported, stranger in strangers.items():
        with pytest.raises(NotFound, match=reported):
            store.judge([judgment(questions, "u", 1), stranger])
    assert list(store.judgments(question_set.id)) == [] == list(store.judgments(other.id))


def test_experiments_are_read_back_exactly_newest_first_with_outcomes_only_one_by_one(store: EvaluationStore) -> None:
    first = store.add_experiment(experiment_of(1))
    full = store.add_experiment(replace(FULL_EXPERIMENT, set_id=2))
    assert full == replace(FULL_EXPERIMENT, set_id=2, id=full.id)
    assert len({first.id, full.id} - {0}) == 2
    assert store.experiment(full.id) == full
    assert store.experiment(first.id) == first
    assert list(store.experiments()) == [replace(full, outcomes=()), first]
    assert list(store.experiments(1)) == [first]
    assert list(store.experiments(NOWHERE)) == []
    assert list(store.experiments()[0].measures) == ["ndcg@10", "map", "answer@1"]


def test_an_experiments_progress_end_and_note_are_stored(store: EvaluationStore) -> None:
    first, second = store.add_experiment(experiment_of(total=9)), store.add_experiment(experiment_of())
    for step in (replace(first, done=3, beat_at=AT + timedelta(1)), replace(FULL_EXPERIMENT, id=first.id)):
        store.change_experiment(step)
        assert store.experiment(first.id) == step
    assert [each.id for each in store.experiments()] == [second.id, first.id]
    assert store.experiment(second.id) == second
    for refused in (lambda: store.change_experiment(replace(first, id=NOWHERE)), lambda: store.experiment(NOWHERE)):
        with pytest.raises(NotFound, match=f"Experiment {NOWHERE}"):
            refused()


def test_a_forgotten_experiment_is_gone_and_its_set_stays(store: EvaluationStore) -> None:
    question_set = store.add_set(set_of("Leave"))
    first, second = (store.add_experiment(experiment_of(question_set.id)) for _ in range(2))
    store.delete_experiment(first.id)
    store.delete_experiment(first.id)
    assert list(store.experiments()) == [second]
    assert store.question_set(question_set.id) == question_set
    with pytest.raises(NotFound):
        store.change_experiment(first)
