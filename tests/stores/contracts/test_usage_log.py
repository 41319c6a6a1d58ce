"""What every core.search.store.UsageLog does."""

from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings

from core.search.store import (
    DocumentUsage,
    QuestionUsage,
    UsageEvent,
    UsageKind,
    UsageLog,
    UsageSummary,
    tallied,
)
from storage.postgres.usage import SqlUsageLog
from tests.database import new_tenant
from tests.fakes import FakeUsageLog
from tests.stores.contracts.usage import AT, event, histories

NewLog = Callable[[], UsageLog]


@pytest.fixture(params=["memory", "postgres"])
def new_log(request: pytest.FixtureRequest) -> NewLog:
    """Makes an empty log, of a new tenant at each call."""
    if request.param == "memory":
        return FakeUsageLog
    engine = request.getfixturevalue("engine")
    return lambda: SqlUsageLog(new_tenant(engine))


@pytest.fixture
def log(new_log: NewLog) -> UsageLog:
    """An empty log."""
    return new_log()


def test_only_what_was_opened_cited_or_found_helpful_counts(log: UsageLog) -> None:
    log.record([event(kind, document_id) for document_id, kind in enumerate(UsageKind)])
    used = [kind for document_id, kind in enumerate(UsageKind) if document_id in log.uses(range(len(UsageKind)))]
    assert used == [UsageKind.OPENED, UsageKind.CITED, UsageKind.HELPFUL]
    assert set(log.uses(range(100)).values()) == {DocumentUsage(1, AT, ("Due?",))}


def test_a_document_never_used_is_absent_and_asking_for_none_gives_none(log: UsageLog) -> None:
    log.record([event(UsageKind.SHOWN)])
    log.record([])
    assert log.uses([1, 2]) == {} == log.uses([])


def test_every_opening_counts_and_the_last_time_is_the_latest(log: UsageLog) -> None:
    log.record([event(UsageKind.OPENED, minute=5), event(UsageKind.OPENED, minute=9), event(UsageKind.CITED, minute=7)])
    assert log.uses([1])[1] == DocumentUsage(3, AT + timedelta(minutes=9), ("Due?",))


def test_a_changed_mind_counts_once_and_a_mark_taken_back_not_at_all(log: UsageLog) -> None:
    for minute, kind in enumerate([UsageKind.HELPFUL, UsageKind.HELPFUL, UsageKind.NOT_HELPFUL, UsageKind.HELPFUL]):
        log.record([event(kind, minute=minute)])
    assert log.uses([1])[1] == DocumentUsage(1, AT + timedelta(minutes=3), ("Due?",))
    log.record([event(UsageKind.HELPFUL, who="Bob"), event(UsageKind.HELPFUL, question="Why?")])
    assert log.uses([1])[1].uses == 3
    log.record([event(UsageKind.UNMARKED, minute=4), event(UsageKind.NOT_HELPFUL, who="Bob", minute=4)])
    assert log.uses([1])[1] == DocumentUsage(1, AT, ("Why?",))
    log.record([event(UsageKind.UNMARKED, question="Why?")])
    assert log.uses([1]) == {}


def test_the_latest_fifty_distinct_questions_are_kept_the_latest_first(log: UsageLog) -> None:
    log.record([event(UsageKind.OPENED, question=f"q{number}", minute=number) for number in range(60)])
    log.record([event(UsageKind.CITED, question="q20", minute=70), event(UsageKind.OPENED, question="", minute=80)])
    use = log.uses([1])[1]
    assert use.questions == ("q20", *(f"q{number}" for number in range(59, 9, -1) if number != 20))
    assert (use.uses, use.last) == (62, AT + timedelta(minutes=80))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(batches=histories)
def test_uses_are_what_a_count_of_all_events_says(new_log: NewLog, batches: Sequence[Sequence[UsageEvent]]) -> None:
    log, statement = new_log(), []
    for batch in batches:
        log.record(batch)
        statement += batch
        assert log.uses([1, 2, -3]) == tallied(statement)
        last = [(number, each.last) for number, each in tallied(statement).items()]
        assert sorted(log.last_used(9)) == sorted(last)


def test_the_documents_used_last_come_first(log: UsageLog) -> None:
    log.record([event(UsageKind.OPENED, number, minute=minute) for minute, number in enumerate([3, 1, 2, 3])])
    log.record([event(UsageKind.SHOWN, 4, minute=9)])
    assert [number for number, _ in log.last_used(2)] == [3, 2] and len(log.last_used(9)) == 3


def test_events_are_read_back_in_their_order_without_the_shown(log: UsageLog) -> None:
    kinds = [UsageKind.OPENED, UsageKind.SHOWN, UsageKind.HELPFUL, UsageKind.CITED]
    statements = [event(kind, who="Ann 残業", minute=-number) for number, kind in enumerate(kinds)]
    other = event(UsageKind.OPENED, passage_id=11, question="Why?")
    elsewhere = event(UsageKind.OPENED, 2, 11)
    log.record([*statements, other])
    log.record([elsewhere])
    mine = [statements[0], statements[2], statements[3]]
    assert list(log.events_of(question="Due?")) == [*mine, elsewhere]
    assert list(log.events_of(passage_id=11)) == [other, elsewhere]
    assert list(log.events_of(question="Due?", passage_id=10)) == mine
    assert list(log.events_of(question="Due?", limit=2)) == [statements[3], elsewhere]
    assert list(log.events_of(question="What?")) == [] == list(log.events_of(passage_id=99))
    with pytest.raises(ValueError, match="whose events"):
        log.events_of()


def test_a_deleted_document_takes_its_uses_along_and_leaves_those_of_others(log: UsageLog) -> None:
    log.record([event(UsageKind.OPENED, document_id) for document_id in (1, 2, -3)])
    log.delete([1, -3, 99])
    log.delete([])
    assert set(log.uses([1, 2, -3])) == {2}
    assert [each.document_id for each in log.events_of(question="Due?")] == [2]


def test_an_insight_is_used_like_a_document(log: UsageLog) -> None:
    log.record([event(UsageKind.CITED, -3)])
    assert log.uses([-3])[-3].uses == 1


def test_a_summary_counts_what_was_shown_opened_and_cited_by_question(log: UsageLog) -> None:
    assert log.summary(1) == UsageSummary()
    shown = [event(UsageKind.SHOWN, passage_id=number, minute=number) for number in (10, 11)]
    taken = [event(UsageKind.OPENED, minute=20), event(UsageKind.CITED, question="Why?", minute=5)]
    whole = event(UsageKind.OPENED, passage_id=0, question="", minute=30)
    log.record([*shown, *taken, whole, event(UsageKind.HELPFUL, minute=40), event(UsageKind.OPENED, document_id=2)])
    assert log.summary(1) == UsageSummary(
        shown=2,
        opened=2,
        cited=1,
        last=AT + timedelta(minutes=30),
        questions=(
            QuestionUsage("", 0, 1, 0, AT + timedelta(minutes=30)),
            QuestionUsage("Due?", 2, 1, 0, AT + timedelta(minutes=20)),
            QuestionUsage("Why?", 0, 0, 1, AT + timedelta(minutes=5)),
        ),
    )
    log.delete([1])
    assert log.summary(1) == UsageSummary() and log.summary(2).opened == 1
