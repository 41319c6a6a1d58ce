"""What every core.uses.UseLog does."""

from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings

from core.uses import DocumentUse, UseEvent, UseKind, UseLog, tallied
from storage.memory.uses import MemoryUseLog
from storage.use_store import SqlUseLog
from tests.stores.conftest import new_tenant
from tests.stores.contracts.uses import AT, event, histories

NewLog = Callable[[], UseLog]


@pytest.fixture(params=["memory", "postgres"])
def new_log(request: pytest.FixtureRequest) -> NewLog:
    """Makes an empty log, of a new tenant at each call."""
    if request.param == "memory":
        return MemoryUseLog
    engine = request.getfixturevalue("engine")
    return lambda: SqlUseLog(new_tenant(engine))


@pytest.fixture
def log(new_log: NewLog) -> UseLog:
    """An empty log."""
    return new_log()


def test_only_what_was_opened_cited_or_found_helpful_counts(log: UseLog) -> None:
    log.record([event(kind, document_id) for document_id, kind in enumerate(UseKind)])
    used = [kind for document_id, kind in enumerate(UseKind) if document_id in log.uses(range(len(UseKind)))]
    assert used == [UseKind.OPENED, UseKind.CITED, UseKind.HELPFUL]
    assert set(log.uses(range(100)).values()) == {DocumentUse(1, AT, ("Due?",))}


def test_a_document_never_used_is_absent_and_asking_for_none_gives_none(log: UseLog) -> None:
    log.record([event(UseKind.SHOWN)])
    log.record([])
    assert log.uses([1, 2]) == {} == log.uses([])


def test_every_opening_counts_and_the_last_time_is_the_latest(log: UseLog) -> None:
    log.record([event(UseKind.OPENED, minute=5), event(UseKind.OPENED, minute=9), event(UseKind.CITED, minute=7)])
    assert log.uses([1])[1] == DocumentUse(3, AT + timedelta(minutes=9), ("Due?",))


def test_a_changed_mind_counts_once_and_a_mark_taken_back_not_at_all(log: UseLog) -> None:
    for minute, kind in enumerate([UseKind.HELPFUL, UseKind.HELPFUL, UseKind.NOT_HELPFUL, UseKind.HELPFUL]):
        log.record([event(kind, minute=minute)])
    assert log.uses([1])[1] == DocumentUse(1, AT + timedelta(minutes=3), ("Due?",))
    log.record([event(UseKind.HELPFUL, who="Bob"), event(UseKind.HELPFUL, question="Why?")])
    assert log.uses([1])[1].uses == 3
    log.record([event(UseKind.UNMARKED, minute=4), event(UseKind.NOT_HELPFUL, who="Bob", minute=4)])
    assert log.uses([1])[1] == DocumentUse(1, AT, ("Why?",))
    log.record([event(UseKind.UNMARKED, question="Why?")])
    assert log.uses([1]) == {}


def test_the_latest_fifty_distinct_questions_are_kept_the_latest_first(log: UseLog) -> None:
    log.record([event(UseKind.OPENED, question=f"q{number}", minute=number) for number in range(60)])
    log.record([event(UseKind.CITED, question="q20", minute=70), event(UseKind.OPENED, question="", minute=80)])
    use = log.uses([1])[1]
    assert use.questions == ("q20", *(f"q{number}" for number in range(59, 9, -1) if number != 20))
    assert (use.uses, use.last) == (62, AT + timedelta(minutes=80))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(batches=histories)
def test_uses_are_what_a_count_of_all_events_says(new_log: NewLog, batches: Sequence[Sequence[UseEvent]]) -> None:
    log, said = new_log(), []
    for batch in batches:
        log.record(batch)
        said += batch
        assert log.uses([1, 2, -3]) == tallied(said)


def test_events_are_read_back_in_their_order_without_the_shown(log: UseLog) -> None:
    kinds = [UseKind.OPENED, UseKind.SHOWN, UseKind.HELPFUL, UseKind.CITED]
    said = [event(kind, who="Ann 残業", minute=-number) for number, kind in enumerate(kinds)]
    other = event(UseKind.OPENED, passage_id=11, question="Why?")
    elsewhere = event(UseKind.OPENED, 2, 11)
    log.record([*said, other])
    log.record([elsewhere])
    mine = [said[0], said[2], said[3]]
    assert list(log.events_of(question="Due?")) == [*mine, elsewhere]
    assert list(log.events_of(passage_id=11)) == [other, elsewhere]
    assert list(log.events_of(question="Due?", passage_id=10)) == mine
    assert list(log.events_of(question="Due?", limit=2)) == [said[3], elsewhere]
    assert list(log.events_of(question="What?")) == [] == list(log.events_of(passage_id=99))
    with pytest.raises(ValueError, match="whose events"):
        log.events_of()


def test_a_deleted_document_takes_its_uses_along_and_leaves_those_of_others(log: UseLog) -> None:
    log.record([event(UseKind.OPENED, document_id) for document_id in (1, 2, -3)])
    log.delete([1, -3, 99])
    log.delete([])
    assert set(log.uses([1, 2, -3])) == {2}
    assert [each.document_id for each in log.events_of(question="Due?")] == [2]


def test_an_insight_is_used_like_a_document(log: UseLog) -> None:
    log.record([event(UseKind.CITED, -3)])
    assert log.uses([-3])[-3].uses == 1
