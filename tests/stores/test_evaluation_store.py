"""Tunings in PostgreSQL: what happens to values, between tenants, and between people who act at once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, given, settings
from sqlalchemy import Engine, text

from core.domain.errors import BadRequest, NotFound, Outdated, StoreFailed
from core.domain.evaluation import Experiment, JudgedQuestion, Judgment, QuestionSet
from core.domain.profiles import DefaultProfile, ProfileVersion
from storage.postgres.database import Database
from storage.postgres.evaluation import SqlEvaluationStore
from tests.database import new_tenant
from tests.stores.contracts.evaluation import AT, experiment_of, judgment, made, question, set_of, version_of


@pytest.fixture
def store(database: Database) -> SqlEvaluationStore:
    """An empty store."""
    return SqlEvaluationStore(database)


anything = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@anything
@given(version=made(ProfileVersion))
def test_any_profile_is_read_back_as_it_was_saved(engine: Engine, version: ProfileVersion) -> None:
    store = SqlEvaluationStore(new_tenant(engine))
    first = replace(version, profile=replace(version.profile, version=1))
    store.save_profile(first)
    (read,) = store.profile_versions()
    assert read == first
    assert list(read.profile.weights.items()) == list(first.profile.weights.items())


@anything
@given(experiment=made(Experiment))
def test_any_experiment_is_read_back_as_it_was_stored(store: SqlEvaluationStore, experiment: Experiment) -> None:
    searched = experiment.optimising.factors if experiment.optimising else ()
    assume(len(set(searched)) == len(searched))  # a factor given twice is read as one
    stored = store.add_experiment(experiment)
    assert replace(stored, id=experiment.id) == experiment
    assert store.experiment(stored.id) == stored
    store.change_experiment(stored)
    assert store.experiment(stored.id) == stored
    assert store.experiments(stored.set_id)[0] == replace(stored, outcomes=())


@anything
@given(questions=made(QuestionSet), question=made(JudgedQuestion), expected=made(Judgment))
def test_any_set_question_and_judgment_is_read_back_as_it_was_stored(
    engine: Engine, questions: QuestionSet, question: JudgedQuestion, expected: Judgment
) -> None:
    store = SqlEvaluationStore(new_tenant(engine))
    question_set = store.add_set(questions)
    assert question_set == replace(questions, id=question_set.id, version=1) == store.question_set(question_set.id)
    stored = store.add_questions([replace(question, set_id=question_set.id, retired=False)])
    assert list(store.questions(question_set.id)) == stored
    judged = store.judge([replace(expected, set_id=question_set.id, question_id=stored[0].id)])
    assert list(store.judgments(question_set.id)) == judged


def test_what_postgres_refuses_in_a_text_is_replaced_and_the_rest_kept(store: SqlEvaluationStore) -> None:
    odd, seen = "a\0\ud800b", "a\ufffd?b"
    store.save_profile(version_of(odd, 1, who=odd, note=odd))
    (version,) = store.profile_versions()
    assert (version.profile.name, version.who, version.note) == (seen, seen, seen)
    with pytest.raises(Outdated):
        store.save_profile(version_of(odd, 1))
    store.set_default(DefaultProfile(odd, odd, odd, AT))
    assert list(store.defaults()) == [DefaultProfile(seen, seen, seen, AT)]
    question_set = store.add_set(set_of(odd, odd, note=odd))
    assert [each.name for each in store.sets(odd)] == [seen]
    questions = store.add_questions([question(question_set, odd), question(question_set, odd, question=odd)])
    assert [(each.key, each.question) for each in store.questions(question_set.id)] == [(seen, seen)]
    store.judge([judgment(questions[0], odd, 1, odd), judgment(questions[0], odd, 2, odd)])
    assert [(each.unit, each.who, each.grade) for each in store.judgments(question_set.id)] == [(seen, seen, 2)]
    begun = store.add_experiment(experiment_of(question_set.id, note=odd))
    assert store.experiment(begun.id).note == seen


def test_no_tenant_sees_or_changes_what_another_keeps(engine: Engine) -> None:
    ours, theirs = SqlEvaluationStore(new_tenant(engine)), SqlEvaluationStore(new_tenant(engine))
    theirs.save_profile(version_of("mine", 1))
    theirs.set_default(DefaultProfile(None, "mine", "Bob", AT))
    question_set = theirs.add_set(set_of("Leave"))
    (questions,) = theirs.add_questions([question(question_set, "a")])
    theirs.judge([judgment(questions, "u", 3)])
    begun = theirs.add_experiment(experiment_of(question_set.id))
    seen = [ours.profile_versions(), ours.defaults(), ours.sets(None), ours.questions(question_set.id)]
    assert [*seen, ours.judgments(question_set.id), ours.experiments(), ours.experiments(question_set.id)] == [[]] * 7
    refused: list[Callable[[], object]] = [
        lambda: ours.question_set(question_set.id),
        lambda: ours.change_set(replace(question_set, note="stolen")),
        lambda: ours.add_questions([question(question_set, "b")]),
        lambda: ours.retire_question(questions.id),
        lambda: ours.judge([judgment(questions, "u", 0)]),
        lambda: ours.experiment(begun.id),
        lambda: ours.change_experiment(replace(begun, note="stolen")),
    ]
    for attempt in refused:
        with pytest.raises(NotFound):
            attempt()
    ours.delete_experiment(begun.id)
    ours.save_profile(version_of("mine", 1))
    ours.add_set(set_of("Leave"))
    assert theirs.experiment(begun.id) == begun
    assert theirs.question_set(question_set.id) == question_set and list(theirs.questions(question_set.id)) == [
        questions
    ]
    assert [each.grade for each in theirs.judgments(question_set.id)] == [3]


@pytest.mark.parametrize(
    "statement",
    [
        *(f"DELETE FROM {table}" for table in ("score_profiles", "default_profiles", "judgments")),
        *(f"UPDATE {table} SET data = '{{}}'" for table in ("score_profiles", "default_profiles", "judgments")),
        *("DELETE FROM question_sets", "DELETE FROM questions"),
        *("UPDATE question_sets SET id = 1", "UPDATE questions SET set_id = 1", "UPDATE questions SET key = 'x'"),
        "UPDATE experiments SET tenant_id = 'other'",
    ],
)
def test_what_is_only_ever_added_cannot_be_changed_or_deleted(database: Database, statement: str) -> None:
    with (
        pytest.raises(StoreFailed, match="The database refuses access"),
        database.transaction("trespassing") as connection,
    ):
        connection.execute(text(statement))


def _won(attempt: Callable[[int], object], refusal: type[Exception]) -> int:
    """How many of eight who try at once are not refused."""

    def tried(number: int) -> bool:
        try:
            attempt(number)
        except refusal:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        return sum(threads.map(tried, range(8)))


def test_of_those_who_save_the_same_version_at_once_exactly_one_wins(store: SqlEvaluationStore) -> None:
    for number in (1, 2, 3):
        assert _won(lambda who, n=number: store.save_profile(version_of("mine", n, f"r{who}")), Outdated) == 1  # type: ignore[misc]
    assert [each.profile.version for each in store.profile_versions()] == [1, 2, 3]


def test_of_those_who_give_a_set_the_same_name_at_once_exactly_one_wins(store: SqlEvaluationStore) -> None:
    assert _won(lambda who: store.add_set(set_of("Leave", note=str(who))), BadRequest) == 1
    spare = [store.add_set(set_of(f"s{number}")) for number in range(8)]
    assert _won(lambda who: store.change_set(replace(spare[who], name="Pay")), BadRequest) == 1
    assert [each.name for each in store.sets(None)].count("Pay") == 1


def test_of_those_who_change_a_set_at_once_exactly_one_wins(store: SqlEvaluationStore) -> None:
    question_set = store.add_set(set_of("Leave"))
    assert _won(lambda who: store.change_set(replace(question_set, note=str(who))), Outdated) == 1
    assert store.question_set(question_set.id).version == question_set.version + 1


def test_those_who_add_the_same_keys_at_once_meet_in_one_question_each(store: SqlEvaluationStore) -> None:
    question_set = store.add_set(set_of("Leave"))
    keys = [f"q{number}" for number in range(20)]

    def add(who: int) -> list[JudgedQuestion]:
        mine = keys if who % 2 else keys[::-1]
        return list(store.add_questions([question(question_set, key, question=f"{who}?") for key in mine]))

    with ThreadPoolExecutor(8) as threads:
        added = [each for batch in threads.map(add, range(8)) for each in batch]
    assert len({(each.key, each.id) for each in added}) == len(keys)
    assert len({each.question for each in store.questions(question_set.id)}) == 1  # one person's batch, whole


def test_judgments_of_a_set_become_seen_in_the_order_of_their_ids(store: SqlEvaluationStore) -> None:
    question_set = store.add_set(set_of("Leave"))
    (questions,) = store.add_questions([question(question_set, "a")])

    def judge(who: int) -> list[set[int]]:
        seen = []
        for number in range(10):
            store.judge([judgment(questions, f"u{number}", 1, f"r{who}")])
            seen.append({each.id for each in store.judgments(question_set.id)})
        return seen

    with ThreadPoolExecutor(8) as threads:
        seen = [each for views in threads.map(judge, range(8)) for each in views]
    final = {each.id for each in store.judgments(question_set.id)}
    assert len(final) == 80
    for ids in seen:  # so the last id tells which judgments an experiment knew
        assert ids == {each for each in final if each <= max(ids)}


def test_a_profile_and_an_experiment_under_former_factor_names_are_read_under_the_current_ones(engine: Engine) -> None:
    database = new_tenant(engine)
    store = SqlEvaluationStore(database)
    store.save_profile(version_of("mine", 1))
    stored = store.add_experiment(experiment_of())
    with engine.begin() as connection:
        for table in ("score_profiles", "experiments"):
            former = f"UPDATE {table} SET data = replace(data::text, '\"similarity\"', '\"in_a_row\"')::json"
            connection.execute(text(f"{former} WHERE tenant_id = :own"), {"own": database.tenant})
    assert list(store.profile_versions()[0].profile.weights) == ["phrase_match"]
    weighed = [store.experiment(stored.id).profile.weights, store.experiments()[0].profile.weights]
    assert all("phrase_match" in each and "similarity" not in each for each in weighed)
