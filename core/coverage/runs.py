"""Coverage runs: judged batch by batch and kept as they go, so that one can be watched, stopped, killed and resumed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from core.boards import Cell, CellState, GapKind, Run, RunState, Topic
from core.coverage.detect import Detector
from core.coverage.gaps import assembled
from core.coverage.rerun import touched
from core.coverage.store import BoardStore
from core.documents import Origin
from core.errors import BadRequest, FivefoldError
from core.filters import SearchFilters
from core.ports import Catalogue, Profiles
from core.queries import ScoreProfile
from core.tables.built_in import BUILT_IN

__all__ = ["QUIET_AFTER", "Runs", "interrupted", "unassessed"]

QUIET_AFTER = timedelta(seconds=60)
"""A running run that has not said anything for this long was killed."""

_BATCH = 200  # cells judged between two looks at `stop`
_Wanted = tuple[Topic, GapKind]


def interrupted(run: Run, now: datetime) -> bool:
    """Whether a run stopped half-way, by itself or by hand, and can go on."""
    quiet = run.state is RunState.RUNNING and now - run.beat_at > QUIET_AFTER
    return quiet or run.state in (RunState.STOPPED, RunState.FAILED)


def unassessed(run: Run, topics: Sequence[Topic]) -> int:
    """How many topics the run does not know, or knows with another name, needs or place."""
    then = {topic.id: _meaning(topic) for topic in run.topics}
    return sum(then.get(topic.id) != _meaning(topic) for topic in topics)


def _meaning(topic: Topic) -> tuple[object, ...]:
    """What a topic is judged by."""
    return topic.name, topic.needs, topic.jurisdiction


class Runs:
    """Starts and carries out the runs of one tenant."""

    def __init__(
        self,
        store: BoardStore,
        detector: Detector,
        catalogue: Catalogue,
        now: Callable[[], datetime],
        profiles: Profiles = BUILT_IN,
    ) -> None:
        self._store, self._detector, self._catalogue, self._now = store, detector, catalogue, now
        self._profiles = profiles

    def start(self, project: str | None) -> Run:
        """A new run of the project's topics under its profile; the one under way, when there is one.

        Raises BadRequest without topics.
        """
        now = self._now()
        latest = next(iter(self._store.runs(project)), None)
        if latest is not None and latest.state is RunState.RUNNING and not interrupted(latest, now):
            return latest
        topics = tuple(self._store.topics(project))
        if not topics:
            raise BadRequest("There is no topic to assess.", "Add topics first, such as 'minimum wage'.")
        total = len(topics) * len(GapKind)
        profile = self._profiles.default(project).ref
        run = Run(0, project, RunState.RUNNING, topics, total, started_at=now, beat_at=now, profile=profile)
        return self._store.add_run(run)

    def look(self, run_id: int) -> Run:
        """A run as it stands. Raises NotFound."""
        return self._store.run(run_id)

    def carry_out(
        self,
        run_id: int,
        *,
        stop: Callable[[], bool] = lambda: False,
        on_cell: Callable[[int, int], None] = lambda done, total: None,
        whole: bool = False,
    ) -> Run:
        """Judge what is still open of a run, and keep it. Unless `whole`, cells of the run before that nothing has
        touched since are carried over. `stop` is asked between batches; a store that fails leaves the run failed, with
        what was judged so far. Gives the run as it ended.

        Raises NotFound, and StoreFailed when not even the failure could be kept.
        """
        run = self._store.run(run_id)
        began = self._now()
        run = replace(run, state=RunState.RUNNING, problem="")
        try:
            profile = self._profiles.find(run.profile)
            run, kept = self._kept(run, profile, whole)
            for run in self._judged(run, profile, kept, on_cell):  # noqa: B020 - the same run, further on
                if stop() and run.done < run.total:
                    return self._ended(run, RunState.STOPPED, began)
        except FivefoldError as problem:
            return self._ended(replace(run, problem=str(problem)), RunState.FAILED, began)
        return self._ended(run, RunState.DONE, began)

    def _kept(self, run: Run, profile: ScoreProfile, whole: bool) -> tuple[Run, frozenset[tuple[int, GapKind]]]:
        """The run with what is known of the library now, and the cells that need no judging."""
        projects = (run.project,) if run.project else ()
        filters = SearchFilters(origins=(Origin.DOCUMENT.value,), projects=projects).resolved(self._now())
        corpus = self._catalogue.fingerprints(filters)
        digest = self._detector.configuration(profile)
        own = tuple(self._store.cells(run.id))
        before, cells = run.corpus, own
        if not own and not whole:
            before, cells = self._before(run, digest)
        elif own and digest != run.configuration_hash:
            cells = ()
        sound = self._sound(run, profile, cells, before, corpus)
        if not own:
            self._store.save_cells(run.id, [replace(cell, carried=True) for cell in sound])
        run = replace(run, corpus=corpus, configuration_hash=digest, done=len(sound))
        run = replace(run, carried=run.carried if own else len(sound))
        self._store.change_run(run)
        return run, frozenset((cell.topic_id, cell.kind) for cell in sound)

    def _before(self, run: Run, digest: str) -> tuple[Mapping[int, str], tuple[Cell, ...]]:
        """What the last finished run under the same configuration knew and said."""
        for past in self._store.runs(run.project):
            if past.state is RunState.DONE and past.configuration_hash == digest:
                return self._store.run(past.id).corpus, tuple(self._same(run, past, self._store.cells(past.id)))
        return {}, ()

    @staticmethod
    def _same(run: Run, past: Run, cells: Sequence[Cell]) -> Iterator[Cell]:
        """Cells of topics that mean the same as then."""
        then = {topic.id: _meaning(topic) for topic in past.topics}
        now = {topic.id: _meaning(topic) for topic in run.topics}
        return (cell for cell in cells if cell.topic_id in now and now[cell.topic_id] == then.get(cell.topic_id))

    def _sound(
        self,
        run: Run,
        profile: ScoreProfile,
        cells: Sequence[Cell],
        before: Mapping[int, str],
        after: Mapping[int, str],
    ) -> list[Cell]:
        """The cells nothing can have changed since the library was as `before`."""
        cells = [cell for cell in cells if cell.state is not CellState.ERROR]
        if not cells:
            return []
        topics, now = {topic.id: topic for topic in run.topics}, self._now()
        changed = touched(self._detector, cells, topics, before, after, project=run.project, now=now, profile=profile)
        return [cell for cell in cells if (cell.topic_id, cell.kind) not in changed]

    def _judged(
        self,
        run: Run,
        profile: ScoreProfile,
        kept: frozenset[tuple[int, GapKind]],
        on_cell: Callable[[int, int], None],
    ) -> Iterator[Run]:
        """The run after each batch; the cells are stored by then."""
        on_cell(run.done, run.total)
        wanted = [(topic, kind) for kind in GapKind for topic in run.topics if (topic.id, kind) not in kept]
        yield run
        for start in range(0, len(wanted), _BATCH):
            batch = wanted[start : start + _BATCH]
            cells = self._detector.judge(batch, project=run.project, now=self._now(), profile=profile)
            self._store.save_cells(run.id, cells)
            run = replace(run, done=run.done + len(batch), beat_at=self._now())
            self._store.change_run(run)
            on_cell(run.done, run.total)
            yield run

    def _ended(self, run: Run, state: RunState, began: datetime) -> Run:
        now = self._now()
        spent = run.milliseconds + (now - began) / timedelta(milliseconds=1)
        run = replace(run, state=state, beat_at=now, milliseconds=spent)
        if state is RunState.DONE:
            coverage = assembled(run, self._store.cells(run.id)).coverage
            run = replace(run, finished_at=now, coverage=coverage)
        self._store.change_run(run)
        return run
