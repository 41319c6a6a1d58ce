"""What every core.coverage.store.CoverageBoardStore does."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from core.coverage.store import CoverageBoardStore
from core.domain.coverage import (
    Cell,
    CellState,
    CoverageRun,
    Decision,
    DecisionHistory,
    GapKind,
    Modality,
    ReviewVerdict,
    Risk,
    RiskKind,
    RunState,
    Topic,
    TopicOrigin,
)
from core.domain.documents import Truth
from core.domain.errors import BadRequest, NotFound, Outdated
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from storage.postgres.coverage_boards import SqlCoverageBoardStore
from tests.coverage.boards import citation
from tests.database import new_tenant
from tests.fakes import FakeCoverageBoardStore

AT = datetime(2026, 3, 1, 9, 30, 15, 123456, tzinfo=UTC)


@pytest.fixture(params=["memory", "postgres"])
def store(request: pytest.FixtureRequest) -> CoverageBoardStore:
    """An empty store of each kind."""
    if request.param == "memory":
        return FakeCoverageBoardStore()
    return SqlCoverageBoardStore(new_tenant(request.getfixturevalue("engine")))


def run_of(*topics: Topic, project: str | None = None, **values: object) -> CoverageRun:
    return replace(CoverageRun(0, project, RunState.RUNNING, topics, 6, AT, AT), **values)


def decision(number: int, **values: object) -> Decision:
    decision = Decision(1, "regulatory", None, ReviewVerdict.CONFIRMED, "Ann", AT, number, topic="Sick leave")
    return replace(decision, **values)


FULL_TOPIC = Topic(
    "Überstunden – 残業 'quoted'; --",
    project="north",
    origin=TopicOrigin.REQUIREMENT,
    needs=(Truth.REGULATORY, Truth.REALITY),
    owner="Ann",
    domain="time",
    jurisdiction="state:CA",
    modality=Modality.SHALL,
    source=citation("The vendor shall do it.", date=AT, rows=(3, 9), page=None),
    keywords=("overtime", "pay"),
)
FULL_CELL = Cell(
    FULL_TOPIC.name,
    Truth.REALITY,
    CellState.PARTIAL,
    0.1 + 0.2,
    0.5,
    evidence=(citation(date=AT),),
    near_misses=(citation("Near.", truth=None), citation("Nearer.", rows=(1, 2))),
    request=SearchRequest("x", SearchFilters(truths=("reality",), projects=("north",), date_from=AT), only_routed=True),
    reason="because",
    configuration=True,
    topic_id=1,
    risks=(Risk(RiskKind.OUT_OF_DATE, "from 1999"),),
    carried=True,
)


def test_topics_are_read_back_exactly_in_the_order_they_came(store: CoverageBoardStore) -> None:
    stored = store.add_topics([FULL_TOPIC, Topic("b"), Topic("a")])
    assert [replace(topic, id=0) for topic in stored] == [FULL_TOPIC, Topic("b"), Topic("a")]
    assert list(store.topics(None)) == list(stored)
    assert len({topic.id for topic in stored}) == 3


def test_a_project_has_its_own_topics_and_those_of_all(store: CoverageBoardStore) -> None:
    store.add_topics([Topic("n", project="north"), Topic("s", project="south"), Topic("all")])
    assert [topic.name for topic in store.topics("north")] == ["n", "all"]
    assert [topic.name for topic in store.topics(None)] == ["n", "s", "all"]


def test_a_living_name_is_given_back_and_not_stored_twice(store: CoverageBoardStore) -> None:
    (first,) = store.add_topics([Topic("Sick leave", owner="Ann")])
    assert list(store.add_topics([Topic("SICK LEAVE"), Topic("new"), Topic("New")])) == [
        first,
        *store.topics(None)[1:2],
        *store.topics(None)[1:2],
    ]
    assert store.add_topics([Topic("sick leave", project="north")])[0].id != first.id


def test_a_rename_keeps_the_id_and_counts_the_version(store: CoverageBoardStore) -> None:
    (topic,) = store.add_topics([Topic("Sick leave")])
    (changed,) = store.change_topics([replace(topic, name="Paid sick leave", owner="Bob")])
    assert (changed.id, changed.version) == (topic.id, topic.version + 1)
    assert list(store.topics(None)) == [changed]


def test_a_topic_changed_by_someone_else_is_not_overwritten(store: CoverageBoardStore) -> None:
    first, second = store.add_topics([Topic("a"), Topic("b")])
    store.change_topics([replace(first, owner="Ann")])
    with pytest.raises(Outdated, match="'a' has been changed by someone else"):
        store.change_topics([replace(second, owner="Bob"), replace(first, owner="Bob")])
    assert [topic.owner for topic in store.topics(None)] == ["Ann", ""]


def test_a_taken_name_and_an_unknown_topic_are_told(store: CoverageBoardStore) -> None:
    first, second = store.add_topics([Topic("a"), Topic("b")])
    with pytest.raises(BadRequest, match="a topic 'A' already"):
        store.change_topics([replace(first, owner="Ann"), replace(second, name="A")])
    with pytest.raises(NotFound, match="'ghost'"):
        store.change_topics([Topic("ghost", id=10**9)])
    assert [(topic.name, topic.owner) for topic in store.topics(None)] == [("a", ""), ("b", "")]


def test_topics_keep_a_log_of_their_revisions(store: CoverageBoardStore) -> None:
    first, second = store.add_topics([Topic("a"), Topic("b")], "Ann", AT)
    store.add_topics([Topic("A"), Topic("c")], "Ann", AT)
    changed = store.change_topics([replace(first, owner="Ben"), replace(second, retired=True)], "Ben", AT)
    with pytest.raises(Outdated):
        store.change_topics([replace(first, owner="Cid")], "Cid", AT)
    log = store.topic_revisions(10)
    assert [(each.who, each.at, each.before, each.after) for each in log[:2]] == [
        ("Ben", AT, first, changed[0]),
        ("Ben", AT, second, changed[1]),
    ]
    assert [(each.before, each.after.name) for each in log[2:]] == [(None, "c"), (None, "a"), (None, "b")]
    assert log[0].edit == log[1].edit > log[2].edit > log[3].edit == log[4].edit
    assert list(store.topic_revisions(1)) == [log[0]]


def test_a_retired_topic_gives_its_name_free_also_in_the_same_step(store: CoverageBoardStore) -> None:
    first, second = store.add_topics([Topic("a"), Topic("b")])
    store.change_topics([replace(second, name="a"), replace(first, retired=True)])
    assert [topic.name for topic in store.topics(None)] == ["a"]
    assert [topic.id for topic in store.topics(None, retired=True)] == [first.id]
    assert store.add_topics([Topic("b")])[0].id not in (first.id, second.id)


def test_runs_are_read_back_exactly_newest_first_each_project_its_own(store: CoverageBoardStore) -> None:
    (topic,) = store.add_topics([FULL_TOPIC])
    first = store.add_run(run_of(topic, corpus={3: "ab", 12: "cd"}, name="März", coverage=None))
    second = store.add_run(run_of(topic, coverage=1 / 3, finished_at=AT, state=RunState.DONE))
    north = store.add_run(run_of(topic, project="north"))
    assert store.run(first.id) == first
    assert store.run(second.id).coverage == 1 / 3
    assert list(store.runs(None)) == [second, replace(first, corpus={})]
    assert [run.id for run in store.runs("north")] == [north.id]
    changed = replace(first, done=4, state=RunState.STOPPED, problem="stopped")
    store.change_run(changed)
    assert store.run(first.id) == changed
    with pytest.raises(NotFound):
        store.run(10**9)
    with pytest.raises(NotFound):
        store.change_run(replace(first, id=10**9))


def test_cells_are_read_back_exactly_in_order_and_replaced(store: CoverageBoardStore) -> None:
    run = store.add_run(run_of())
    plain = Cell("t", Truth.REALITY, CellState.GAP, 0.0, 0.5, topic_id=1)
    later = replace(plain, topic_id=2, truth=Truth.REGULATORY, error="down", state=CellState.ERROR)
    store.save_cells(run.id, [later, FULL_CELL, plain])
    assert list(store.cells(run.id)) == [plain, FULL_CELL, later]
    better = replace(plain, state=CellState.COVERED, evidence_score=0.9)
    store.save_cells(run.id, [better])
    assert list(store.cells(run.id)) == [better, FULL_CELL, later]
    store.save_cells(run.id, [])
    with pytest.raises(NotFound):
        store.save_cells(10**9, [plain])


def test_the_history_of_a_cell_is_what_finished_runs_said(store: CoverageBoardStore) -> None:
    cell = Cell("t", Truth.INTENT, CellState.GAP, 0.125, 0.5, topic_id=7)
    for days, state in ((0, RunState.DONE), (1, RunState.STOPPED), (2, RunState.DONE)):
        run = store.add_run(run_of(state=state, finished_at=AT + timedelta(days)))
        store.save_cells(run.id, [replace(cell, evidence_score=days / 4)])
    elsewhere = store.add_run(run_of(project="north", state=RunState.DONE, finished_at=AT))
    store.save_cells(elsewhere.id, [cell])
    past = list(store.history(7, GapKind.INTENT, None))
    assert [(each.at, each.score) for each in past] == [(AT, 0.0), (AT + timedelta(2), 0.5)]
    assert list(store.history(7, GapKind.INTENT, "north")) == [DecisionHistory(elsewhere.id, AT, CellState.GAP, 0.125)]
    assert list(store.history(7, GapKind.REALITY, None)) == []


def test_a_deleted_run_takes_its_cells_and_leaves_the_decisions(store: CoverageBoardStore) -> None:
    run = store.add_run(run_of())
    store.save_cells(run.id, [FULL_CELL])
    store.decide([decision(1, run_id=run.id)])
    store.delete_run(run.id)
    assert list(store.runs(None)) == [] and list(store.cells(run.id)) == []
    assert len(store.decisions(None)) == 1


def test_decisions_are_read_back_exactly_oldest_first_each_project_its_own(store: CoverageBoardStore) -> None:
    full = decision(
        1,
        project="north",
        verdict=ReviewVerdict.WAIVED,
        reason="Not in scope",
        comment="ok\x00",
        owner="Bob",
        due=date(2026, 5, 1),
        expires=date(2026, 12, 31),
        pinned=(citation(date=AT),),
        state=CellState.GAP,
        score=0.25,
        run_id=3,
    )
    store.decide([replace(full, comment="ok")])
    store.decide([decision(1), decision(2, verdict=ReviewVerdict.UNDONE)])
    (north,) = store.decisions("north")
    assert replace(north, id=0) == replace(full, comment="ok")
    assert [each.verdict for each in store.decisions(None)] == [ReviewVerdict.CONFIRMED, ReviewVerdict.UNDONE]


def test_whoever_is_slower_is_told_who_was_faster_and_overwrites_nothing(store: CoverageBoardStore) -> None:
    store.decide([decision(1, who="Bob", verdict=ReviewVerdict.ACCEPTED)])
    with pytest.raises(
        Outdated, match=r"Bob has decided on 'Sick leave'.*accepted as covered, 2026-03-01 09:30"
    ) as reported:
        store.decide([decision(1, kind="intent"), decision(1, who="Ann")])
    assert "Look at the cell again" in reported.value.hint
    assert [each.who for each in store.decisions(None)] == ["Bob"]
    with pytest.raises(Outdated):
        store.decide([decision(3)])
    store.decide([decision(2), decision(1, kind="intent")])


def test_of_two_who_decide_at_once_exactly_one_wins(store: CoverageBoardStore) -> None:
    def attempt(who: str) -> bool:
        try:
            store.decide([decision(1, who=who)])
        except Outdated as told:
            assert "has decided" in told.message
            return False
        return True

    attempts: list[Callable[[], bool]] = [lambda who=f"r{n}": attempt(who) for n in range(8)]  # type: ignore[misc]
    with ThreadPoolExecutor(8) as threads:
        won = list(threads.map(lambda each: each(), attempts))
    assert won.count(True) == 1
    assert len(store.decisions(None)) == 1
