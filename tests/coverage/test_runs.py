"""Runs that are kept: watched, stopped, killed, resumed, and carried over."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from core.coverage import runs as runs_module
from core.coverage.detection.detector import Detector, TopicCell
from core.coverage.runs import QUIET_AFTER, CoverageRuns, interrupted
from core.domain.coverage import Cell, CellState, CoverageRun, GapKind, RunState, Topic
from core.domain.documents import Truth
from core.domain.errors import BadRequest, StoreFailed
from core.domain.queries import ScoreProfile
from tests.fakes import FakeCoverageBoardStore
from tests.label_edits import store_labels
from tests.search.library import NOW, Library, payroll_library

TOPICS = [Topic("deposit of withheld income taxes"), Topic("vacation accrual per month"), Topic("zebra husbandry")]


class Clock:
    """A clock that goes on by a second whenever it is looked at."""

    def __init__(self) -> None:
        self.at = NOW

    def __call__(self) -> datetime:
        self.at += timedelta(seconds=1)
        return self.at


class Room:
    """Runs over a real library in memory; `judged` holds the cells that were really judged."""

    def __init__(self, library: Library | None = None) -> None:
        self.library = library or payroll_library()
        self.store, self.clock = FakeCoverageBoardStore(), Clock()
        self.store.add_topics(TOPICS)
        self.judged: list[tuple[str, GapKind]] = []
        room = self

        class Watched(Detector):
            def judge(
                self,
                expected: Sequence[TopicCell],
                *,
                project: str | None,
                now: datetime,
                profile: ScoreProfile,
                among: Sequence[int] = (),
            ) -> tuple[Cell, ...]:
                room.judged += [(topic.name, kind) for topic, kind in expected if not among]
                return super().judge(expected, project=project, now=now, profile=profile, among=among)

        stored = self.library
        detector = Watched(stored.catalogue, stored.vectors, stored.sparse, stored.embedder)
        self.runs = CoverageRuns(self.store, detector, stored.catalogue, self.clock)

    def assess(self, **how: object) -> CoverageRun:
        self.judged.clear()
        return self.runs.carry_out(self.runs.start(None).id, **how)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs_module, "_BATCH", 4)


def states(room: Room, run: CoverageRun) -> dict[tuple[str, str], CellState]:
    return {(cell.topic, cell.kind.value): cell.state for cell in room.store.cells(run.id)}


def test_a_run_judges_every_cell_once_and_is_kept() -> None:
    room, seen = Room(), []
    run = room.assess(on_cell=lambda done, total: seen.append((done, total)))
    assert (run.state, run.done, run.total, run.carried) == (RunState.DONE, 18, 18, 0)
    assert len(room.judged) == len(set(room.judged)) == 18
    assert seen[0] == (0, 18) and seen[-1] == (18, 18)
    assert states(room, run)["vacation accrual per month", "compliance"] is CellState.COVERED
    assert room.store.run(run.id) == run
    assert run.coverage == pytest.approx(2 / 15)
    assert run.configuration_hash and run.corpus and run.profile == "balanced"


def test_without_topics_there_is_nothing_to_assess() -> None:
    room = Room()
    with pytest.raises(BadRequest, match="no topic"):
        CoverageRuns(FakeCoverageBoardStore(), None, room.library.catalogue, room.clock).start(None)  # type: ignore[arg-type]


def test_an_unchanged_library_is_carried_over_whole() -> None:
    room = Room()
    first = room.assess()
    again = room.assess()
    assert room.judged == []
    assert again.carried == again.done == 18
    assert states(room, again) == states(room, first)
    assert all(cell.carried for cell in room.store.cells(again.id))
    room.assess(whole=True)
    assert len(room.judged) == 18


def test_documents_added_changed_and_removed_since_a_run_are_counted() -> None:
    room = Room()
    run = room.assess()
    assert room.runs.changed_documents(run.id) == 0
    known = [each.id for each in room.library.catalogue.documents()]
    room.library.add("zebras.md", "Zebra husbandry must follow the zoo rules.", truth=Truth.REGULATORY)
    room.library.catalogue.delete(known[0])
    changed = room.library.catalogue.document(known[1])
    passages = [replace(each, truth=Truth.INTENT) for each in room.library.catalogue.passages_of(changed.id)]
    store_labels(room.library.catalogue, changed, passages)
    assert room.runs.changed_documents(run.id) == 3
    assert room.runs.changed_documents(room.assess().id) == 0


def test_only_cells_a_new_document_could_change_are_judged_again() -> None:
    room = Room()
    room.assess()
    room.library.add("zebras.md", "Zebra husbandry must follow the zoo rules.", truth=Truth.REGULATORY)
    run = room.assess()
    assert ("zebra husbandry", GapKind.REGULATORY) in room.judged
    assert len(room.judged) < 6
    assert states(room, run)["zebra husbandry", "regulatory"] is CellState.COVERED


def test_a_topic_that_means_something_else_is_judged_again() -> None:
    room = Room()
    room.assess()
    topic = room.store.topics(None)[2]
    room.store.change_topics([Topic("overtime at three locations", id=topic.id)])
    run = room.assess()
    assert {name for name, _ in room.judged} == {"overtime at three locations"}
    assert states(room, run)["overtime at three locations", "intent"] is CellState.COVERED


def test_a_stopped_run_goes_on_where_it_was() -> None:
    room = Room()
    stopped = room.assess(stop=lambda: len(room.judged) >= 8)
    assert (stopped.state, stopped.done) == (RunState.STOPPED, 8)
    assert interrupted(stopped, room.clock())
    first = list(room.judged)
    run = room.runs.carry_out(stopped.id)
    assert (run.state, run.done) == (RunState.DONE, 18)
    assert len(room.judged) == 18 and room.judged[:8] == first
    assert len(set(room.judged)) == 18


def test_another_program_stops_a_run_after_the_cells_under_way() -> None:
    room = Room()
    run = room.runs.start(None)

    def on_cell(done: int, total: int) -> None:
        if done == 4:
            assert room.runs.stop(run.id).state is RunState.STOPPED

    stopped = room.runs.carry_out(run.id, on_cell=on_cell)
    assert (stopped.state, stopped.done) == (RunState.STOPPED, 8)
    assert room.runs.carry_out(run.id).state is RunState.DONE
    assert len(set(room.judged)) == len(room.judged) == 18
    assert room.runs.stop(run.id).state is RunState.DONE, "what is done stays done"


def test_what_changed_while_a_run_stood_still_is_judged_again() -> None:
    room = Room()
    stopped = room.assess(stop=lambda: len(room.judged) >= 8)
    room.library.add("zebras.md", "Zebra husbandry must follow the zoo rules.", truth=Truth.REGULATORY)
    run = room.runs.carry_out(stopped.id)
    assert room.judged.count(("zebra husbandry", GapKind.REGULATORY)) == 2
    assert states(room, run)["zebra husbandry", "regulatory"] is CellState.COVERED


def test_a_killed_run_counts_as_interrupted_after_a_minute_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    room = Room()
    save = room.store.save_cells

    def killed(run_id: int, cells: Sequence[Cell]) -> None:
        if len(room.judged) > 8:
            raise KeyboardInterrupt  # nothing of ours runs any more
        save(run_id, cells)

    monkeypatch.setattr(room.store, "save_cells", killed)
    with pytest.raises(KeyboardInterrupt):
        room.assess()
    monkeypatch.undo()
    left = room.store.runs(None)[0]
    assert (left.state, left.done) == (RunState.RUNNING, 8)
    assert room.runs.start(None).id == left.id
    room.clock.at += QUIET_AFTER
    assert interrupted(left, room.clock())
    assert room.runs.carry_out(left.id).state is RunState.DONE


def test_a_store_that_fails_leaves_the_run_failed_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    room = Room()

    def down(run_id: int, cells: Sequence[Cell]) -> None:
        raise StoreFailed("The database did not answer.", "Start it.")

    monkeypatch.setattr(room.store, "save_cells", down)
    run = room.assess()
    assert (run.state, run.done, run.coverage) == (RunState.FAILED, 0, None)
    assert "did not answer" in run.problem
    monkeypatch.undo()
    assert room.runs.carry_out(run.id).state is RunState.DONE


def test_cells_in_error_are_never_carried_over(monkeypatch: pytest.MonkeyPatch) -> None:
    room = Room()

    def down(*args: object) -> None:
        raise StoreFailed("The index did not answer.")

    monkeypatch.setattr(room.library.vectors, "blocks", down)
    monkeypatch.setattr(room.library.sparse, "search_many", down)
    broken = room.assess()
    assert CellState.ERROR in set(states(room, broken).values())
    assert CellState.GAP not in set(states(room, broken).values())
    monkeypatch.undo()
    run = room.assess()
    assert CellState.ERROR not in set(states(room, run).values())
    assert states(room, run)["vacation accrual per month", "compliance"] is CellState.COVERED
