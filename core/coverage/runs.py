"""Coverage runs: assessed and stored in batches, so that they can be watched, stopped, resumed and compared."""
# Over 300 lines: starting, assessing, stopping, resuming and comparing runs share their state in the store.

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from core.coverage.detection.detector import Detector
from core.coverage.gaps import coverage_of, ordered_cells
from core.coverage.store import CoverageBoardStore
from core.domain.coverage import BoardChanges, Cell, CellChange, CellState, CoverageRun, GapKind, RunState, Topic
from core.domain.documents import Origin
from core.domain.errors import BadRequest, FivefoldError
from core.domain.filters import SearchFilters
from core.domain.queries import ScoreProfile
from core.knowledge.profiles import BUILT_IN
from core.ports.catalogue import Catalogue
from core.ports.stores import Profiles
from core.search.citations.cite import display_quote

__all__ = ["QUIET_AFTER", "CoverageRuns", "changed_documents", "changes", "interrupted", "touched", "unassessed"]

_AT_ONCE = 1000


def changed_documents(before: Mapping[int, str], after: Mapping[int, str]) -> tuple[frozenset[int], frozenset[int]]:
    """Ids of documents removed or changed, and ids of documents added or changed.

    >>> changed_documents({1: "a", 2: "b", 3: "c"}, {1: "a", 2: "x", 4: "d"})
    (frozenset({2, 3}), frozenset({2, 4}))
    """
    old = frozenset(i for i, digest in before.items() if after.get(i) != digest)
    return old, frozenset(i for i, digest in after.items() if before.get(i) != digest)


def touched(
    detector: Detector,
    cells: Sequence[Cell],
    topics: Mapping[int, Topic],
    before: Mapping[int, str],
    after: Mapping[int, str],
    *,
    project: str | None,
    now: datetime,
    profile: ScoreProfile,
) -> frozenset[tuple[int, GapKind]]:
    """The cells, as (topic id, kind), whose evidence could have changed. before, after: Catalogue.fingerprints.

    A cell can change when a document it cites was removed or changed, or when an added or changed document has any
    evidence for its topic or is the first of its kind; to find these, cells are assessed against those documents only.
    A removed document may have been the last configuration table, or the last document. When the store fails, every
    cell in question counts.
    """
    old, new = changed_documents(before, after)
    hit, open_cells = set(), []
    for cell in cells:
        cited = {citation.document_id for citation in (*cell.evidence, *cell.near_misses)}
        if cited & old or (old and (cell.configuration or not after)):
            hit.add((cell.topic_id, cell.kind))
        else:
            open_cells.append(cell)
    for start in range(0, len(open_cells) if new else 0, _AT_ONCE):
        some = open_cells[start : start + _AT_ONCE]
        assessed = [(topics[cell.topic_id], cell.kind) for cell in some]
        alone = detector.judge(assessed, project=project, now=now, profile=profile, among=sorted(new))
        hit |= {(cell.topic_id, cell.kind) for cell, found in zip(some, alone, strict=True) if _reached(cell, found)}
    return frozenset(hit)


def _reached(cell: Cell, alone: Cell) -> bool:
    """Whether added or changed documents can change a cell. alone: the cell assessed against those documents only."""
    first = cell.state is CellState.NOT_ASSESSED and alone.state is not CellState.NOT_ASSESSED
    return first or alone.evidence_score > 0 or alone.state is CellState.ERROR


QUIET_AFTER = timedelta(seconds=60)
"""A running run without a heartbeat for this long counts as killed. Chosen by hand, not fitted."""

_BATCH = 200  # cells assessed between two checks of `stop`


def interrupted(run: CoverageRun, now: datetime) -> bool:
    """Whether a run was stopped or killed before its end and can be resumed."""
    quiet = run.state is RunState.RUNNING and now - run.beat_at > QUIET_AFTER
    return quiet or run.state in (RunState.STOPPED, RunState.FAILED)


def unassessed(run: CoverageRun, topics: Sequence[Topic]) -> int:
    """Number of topics the run lacks, or has with another name, needs or jurisdiction."""
    then = {topic.id: _meaning(topic) for topic in run.topics}
    return sum(then.get(topic.id) != _meaning(topic) for topic in topics)


def _meaning(topic: Topic) -> tuple[object, ...]:
    """The fields of a topic that affect its assessment."""
    return topic.name, topic.needs, topic.jurisdiction


class CoverageRuns:
    """Starts and executes the coverage runs of one tenant."""

    def __init__(
        self,
        store: CoverageBoardStore,
        detector: Detector,
        catalogue: Catalogue,
        now: Callable[[], datetime],
        profiles: Profiles = BUILT_IN,
    ) -> None:
        self._store, self._detector, self._catalogue, self._now = store, detector, catalogue, now
        self._profiles = profiles

    def start(self, project: str | None) -> CoverageRun:
        """Start a run of the project's topics with its profile; if one is running already, give that one.

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
        run = CoverageRun(0, project, RunState.RUNNING, topics, total, started_at=now, beat_at=now, profile=profile)
        return self._store.add_run(run)

    def progress(self, run_id: int) -> CoverageRun:
        """The current state of a run. Raises NotFound."""
        return self._store.run(run_id)

    def resume(self, run_id: int) -> CoverageRun:
        """A run that was stopped or killed before its end, to be carried out again. Raises NotFound, and BadRequest for
        one that is finished or under way."""
        run = self._store.run(run_id)
        if not interrupted(run, self._now()):
            raise BadRequest("This run is finished, or still under way.", "Start a new one.")
        return run

    def stop(self, run_id: int) -> CoverageRun:
        """Ask a run to stop after the cells under way, whichever program carries it out. Raises NotFound."""
        run = self._store.run(run_id)
        if run.state is RunState.RUNNING:
            run = replace(run, state=RunState.STOPPED)
            self._store.change_run(run)
        return run

    def changed_documents(self, run_id: int) -> int:
        """Number of documents added, removed or changed since a run, as far as search reads them. Raises NotFound."""
        run = self._store.run(run_id)
        if not run.configuration_hash:  # stored without its corpus
            return 0
        now = self._corpus(run.project)
        return sum(run.corpus.get(document) != now.get(document) for document in run.corpus.keys() | now.keys())

    def _corpus(self, project: str | None) -> Mapping[int, str]:
        """Document id → digest of what search reads of it."""
        projects = (project,) if project else ()
        filters = SearchFilters(origins=(Origin.DOCUMENT.value,), projects=projects).resolved(self._now())
        return self._catalogue.fingerprints(filters)

    def carry_out(
        self,
        run_id: int,
        *,
        stop: Callable[[], bool] = lambda: False,
        on_cell: Callable[[int, int], None] = lambda done, total: None,
        whole: bool = False,
    ) -> CoverageRun:
        """Assess the open cells of a run, store them, and give the finished run.

        Unless `whole`, copies cells of the previous run whose evidence cannot have changed. Checks `stop` between
        batches. When the store fails, the run ends as failed and keeps the cells assessed so far.

        Raises NotFound, and StoreFailed when the failure itself cannot be stored.
        """
        run = self._store.run(run_id)
        began = self._now()
        run = replace(run, state=RunState.RUNNING, problem="")
        try:
            profile = self._profiles.find(run.profile)
            run, carried_cells = self._carry_over(run, profile, whole)
            for run in self._assess(run, profile, carried_cells, on_cell):  # noqa: B020 - the same run, further on
                if (stop() or run.state is RunState.STOPPED) and run.done < run.total:
                    return self._finish(run, RunState.STOPPED, began)
        except FivefoldError as problem:
            return self._finish(replace(run, problem=str(problem)), RunState.FAILED, began)
        return self._finish(run, RunState.DONE, began)

    def _carry_over(
        self, run: CoverageRun, profile: ScoreProfile, whole: bool
    ) -> tuple[CoverageRun, frozenset[tuple[int, GapKind]]]:
        """The run with the library's current fingerprints, and the cells that need no assessment."""
        corpus = self._corpus(run.project)
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

    def _before(self, run: CoverageRun, digest: str) -> tuple[Mapping[int, str], tuple[Cell, ...]]:
        """Fingerprints and cells of the last finished run with the same configuration."""
        for past in self._store.runs(run.project):
            if past.state is RunState.DONE and past.configuration_hash == digest:
                return self._store.run(past.id).corpus, tuple(self._same(run, past, self._store.cells(past.id)))
        return {}, ()

    @staticmethod
    def _same(run: CoverageRun, past: CoverageRun, cells: Sequence[Cell]) -> Iterator[Cell]:
        """Cells of topics that are unchanged since the past run."""
        then = {topic.id: _meaning(topic) for topic in past.topics}
        now = {topic.id: _meaning(topic) for topic in run.topics}
        return (cell for cell in cells if cell.topic_id in now and now[cell.topic_id] == then.get(cell.topic_id))

    def _sound(
        self,
        run: CoverageRun,
        profile: ScoreProfile,
        cells: Sequence[Cell],
        before: Mapping[int, str],
        after: Mapping[int, str],
    ) -> list[Cell]:
        """The cells whose evidence cannot have changed between `before` and `after`."""
        cells = [cell for cell in cells if cell.state is not CellState.ERROR]
        if not cells:
            return []
        topics, now = {topic.id: topic for topic in run.topics}, self._now()
        changed = touched(self._detector, cells, topics, before, after, project=run.project, now=now, profile=profile)
        return [cell for cell in cells if (cell.topic_id, cell.kind) not in changed]

    def _assess(
        self,
        run: CoverageRun,
        profile: ScoreProfile,
        carried_cells: frozenset[tuple[int, GapKind]],
        on_cell: Callable[[int, int], None],
    ) -> Iterator[CoverageRun]:
        """The run after each batch, with the batch's cells stored."""
        on_cell(run.done, run.total)
        assessed = [(topic, kind) for kind in GapKind for topic in run.topics if (topic.id, kind) not in carried_cells]
        yield run
        for start in range(0, len(assessed), _BATCH):
            batch = assessed[start : start + _BATCH]
            cells = self._detector.judge(batch, project=run.project, now=self._now(), profile=profile)
            self._store.save_cells(run.id, cells)
            ended = self._store.run(run.id).state is RunState.STOPPED  # perhaps by another program
            state = RunState.STOPPED if ended else RunState.RUNNING
            run = replace(run, done=run.done + len(batch), beat_at=self._now(), state=state)
            self._store.change_run(run)
            on_cell(run.done, run.total)
            yield run

    def _finish(self, run: CoverageRun, state: RunState, began: datetime) -> CoverageRun:
        now = self._now()
        spent = run.milliseconds + (now - began) / timedelta(milliseconds=1)
        run = replace(run, state=state, beat_at=now, milliseconds=spent)
        if state is RunState.DONE:
            coverage = coverage_of(ordered_cells(run, self._store.cells(run.id)))
            run = replace(run, finished_at=now, coverage=coverage)
        self._store.change_run(run)
        return run


def changes(
    before: CoverageRun, before_cells: Sequence[Cell], after: CoverageRun, after_cells: Sequence[Cell]
) -> BoardChanges:
    """Changes between the cells of two runs, joined by topic id, so that a renamed topic is no change. A cell in only
    one run counts as changed only if its topic is in only one. Changes for the worse come first."""
    old = {(cell.topic_id, cell.kind): cell for cell in before_cells}
    names_before = {topic.id: topic.name for topic in before.topics}
    names_after = {topic.id: topic.name for topic in after.topics}
    changed = [
        CellChange(
            cell.topic,
            cell.kind,
            known.state,
            cell.state,
            known.evidence_score,
            cell.evidence_score,
            _why(known, cell),
        )
        for cell in after_cells
        if (known := old.get((cell.topic_id, cell.kind))) is not None and known.state is not cell.state
    ]
    return BoardChanges(
        before=before,
        after=after,
        coverage_before=before.coverage,
        coverage_after=after.coverage,
        cells=tuple(sorted(changed, key=lambda each: each.score_after - each.score_before)),
        topics_added=tuple(name for i, name in names_after.items() if i not in names_before),
        topics_gone=tuple(name for i, name in names_before.items() if i not in names_after),
    )


def _why(before: Cell, after: Cell) -> str:
    """Which evidence was added or removed, in words."""
    if after.state is CellState.ERROR:
        return after.error
    if before.state is CellState.ERROR:
        return "The search had failed before."
    if after.state is CellState.NOT_ASSESSED:
        return after.reason
    old = {citation.quote for citation in before.evidence}
    new = {citation.quote for citation in after.evidence}
    for citation in after.evidence:
        if citation.quote not in old:
            return f"New evidence: “{display_quote(citation.quote)}” ({citation.document_name})."
    for citation in before.evidence:
        if citation.quote not in new:
            return f"No longer there: “{display_quote(citation.quote)}” ({citation.document_name})."
    return "The threshold or what the topic needs has changed." if before.evidence == after.evidence else after.reason
