"""The desk of a review: topics, boards, decisions and what leaves for the meeting. One desk serves one tenant."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from core.boards import Board, Cell, GapKind, Run, RunState, Topic
from core.coverage.changes import changes
from core.coverage.clusters import clusters
from core.coverage.conflicts import find_conflicts
from core.coverage.detect import Detector, assess
from core.coverage.gaps import as_needed, assembled
from core.coverage.pack import Pack
from core.coverage.pack_read import Preview, read_decisions
from core.coverage.pins import broken_pins
from core.coverage.requirements import requirements
from core.coverage.review import check_decision, decision_on, holding, queue, reviewed
from core.coverage.risks import RiskReader
from core.coverage.runs import Runs
from core.coverage.store import BoardStore
from core.coverage.topic_edits import described
from core.coverage.trace import TraceRow, orphans, trace
from core.documents import Document
from core.errors import BadRequest, NotFound
from core.moments import right_now
from core.ports import Catalogue, Embedder, Profiles, SparseIndex, VectorIndex
from core.reviews import Changes, Conflict, Decision, Opinion, Orphan, Past, Reviewed, Verdict
from core.speaking import Words, built_in_words, in_its_words
from core.tables.built_in import BUILT_IN

__all__ = ["CoverageDesk"]


class CoverageDesk:
    """Topics are kept, boards are runs that are kept, and every state a person sees is detection under decisions.

    project None is the whole library's board. Every method raises StoreFailed when the store does not answer.
    """

    def __init__(
        self,
        *,
        store: BoardStore,
        catalogue: Catalogue,
        vectors: VectorIndex,
        sparse: SparseIndex,
        embedder: Embedder,
        profiles: Profiles = BUILT_IN,
        words: Words = built_in_words,
        now: Callable[[], datetime] = right_now,
    ) -> None:
        self.words = words
        self._store, self._catalogue, self._vectors, self._embedder = store, catalogue, vectors, embedder
        self._now, self._detector = now, Detector(catalogue, vectors, sparse, embedder)
        self.runs = Runs(store, self._detector, catalogue, now, profiles)
        self._profiles = profiles

    # Topics

    def topics(self, project: str | None) -> Sequence[Topic]:
        """The living topics of a board, in the order they were added."""
        return self._store.topics(project)

    @in_its_words
    def add_topics(self, topics: Sequence[Topic]) -> Sequence[Topic]:
        """Keep new topics, domain and jurisdiction read from their names; one that is there already stays as it is."""
        return self._store.add_topics([described(topic) for topic in topics])

    def change_topics(self, topics: Sequence[Topic]) -> Sequence[Topic]:
        """Keep changed topics, all or none. Raises Outdated when someone else changed one since it was read."""
        return self._store.change_topics(topics)

    def found_requirements(self, project: str | None) -> Sequence[Topic]:
        """Requirement sentences of the intent documents that are not topics yet, as proposals."""
        return self._new(requirements(self._catalogue, project), project)

    def found_clusters(self, project: str | None) -> Sequence[Topic]:
        """What the library speaks of, grouped by meaning and named by keywords, as proposals."""
        return self._new(clusters(self._catalogue, self._vectors, project), project)

    def _new(self, proposals: Sequence[Topic], project: str | None) -> Sequence[Topic]:
        known = {topic.name.casefold() for topic in self._store.topics(project)}
        return [replace(topic, project=project) for topic in proposals if topic.name.casefold() not in known]

    # Boards

    def snapshots(self, project: str | None) -> Sequence[Run]:
        """Every run of a board, newest first, finished or not."""
        return self._store.runs(project)

    def name_snapshot(self, run_id: int, name: str) -> None:
        """Call a run by a name an analyst gives."""
        self._store.change_run(replace(self._store.run(run_id), name=" ".join(name.split())))

    def delete_snapshot(self, run_id: int) -> None:
        """Forget a run and its cells; the decisions taken on it stay in the log."""
        self._store.delete_run(run_id)

    @in_its_words
    def board(self, project: str | None, run_id: int | None = None) -> Board | None:
        """A finished run under the decisions that hold now, the latest unless named; None when there is none.

        Raises NotFound for a run that is not this project's.
        """
        run = self._finished(project, run_id)
        return None if run is None else self._reviewed(run)

    @in_its_words
    def glance(
        self,
        topics: Sequence[Topic],
        project: str | None = None,
        on_cell: Callable[[int, int], None] = lambda done, total: None,
    ) -> Board:
        """A board of any topics, judged at once and not kept. Raises BadRequest without topics."""
        return assess(
            self._detector,
            [described(topic) for topic in topics],
            project=project,
            now=self._now(),
            profile=self._profiles.default(project),
            on_cell=on_cell,
        )

    def _finished(self, project: str | None, run_id: int | None) -> Run | None:
        for run in self._store.runs(project):
            if run.id == run_id or (run_id is None and run.state is RunState.DONE):
                return self._store.run(run.id)
        if run_id is None:
            return None
        raise NotFound(f"There is no snapshot {run_id} of this board.", "Choose one of the list.")

    def _reviewed(self, run: Run) -> Board:
        board = self._detected(run)
        held = self.held(run.project)
        return reviewed(board, held, self.shaken(run.project), self._now().date())

    def shaken(self, project: str | None) -> Mapping[int, str]:
        """Decision id → words, for the acceptances that hold and rest on a sentence that has changed since."""
        return broken_pins(list(self.held(project).values()), self._catalogue, project)

    def _detected(self, run: Run) -> Board:
        """The board as detected, its topics as they are called, owned and needed now; one retired since is left out."""
        now = {topic.id: topic for topic in self._store.topics(run.project)}
        then = {topic.id: topic for topic in run.topics}
        kept = [topic for topic in run.topics if topic.id in now]
        cells = [
            as_needed(replace(cell, topic=now[cell.topic_id].name), now[cell.topic_id], then[cell.topic_id])
            for cell in self._store.cells(run.id)
            if cell.topic_id in now and cell.topic_id in then
        ]
        reader = RiskReader(self._scope(run.project), self._now())
        return assembled(replace(run, topics=tuple(now[topic.id] for topic in kept)), reader.with_risks(cells, now))

    def _scope(self, project: str | None) -> Sequence[Document]:
        """The documents of a project and those of all projects."""
        return [
            document
            for document in self._catalogue.documents()
            if project is None or document.project in (None, project)
        ]

    def history(self, topic_id: int, kind: GapKind, project: str | None) -> Sequence[Past]:
        """What the finished runs said of a cell, oldest first."""
        return self._store.history(topic_id, kind, project)

    def changes(self, project: str | None, since: int, until: int | None = None) -> Changes:
        """What detection says otherwise in snapshot `until` (the latest) than in `since`. Raises NotFound."""
        before, after = self._finished(project, since), self._finished(project, until)
        if before is None or after is None:
            raise NotFound("There is no snapshot to compare with.", "Assess the topics first.")
        old, new = (assembled(run, self._store.cells(run.id)).cells for run in (before, after))
        return changes(before, old, after, new)

    # Review

    def log(self, project: str | None) -> Sequence[Decision]:
        """Every decision ever taken on a board, oldest first."""
        return self._store.decisions(project)

    def held(self, project: str | None) -> Mapping[tuple[int, str], Decision]:
        """The decision that holds, by topic id and kind."""
        return holding(self._store.decisions(project))

    def queue(self, board: Board) -> Sequence[Reviewed]:
        """What a meeting has to look at, worst first."""
        return queue(board, self.held(board.project))

    def decide(self, board: Board, cell: Cell, opinion: Opinion) -> Decision:
        """Keep what a reviewer says of a cell.

        Raises BadRequest saying what is missing, Outdated when someone has decided since `opinion.after`.
        """
        today = self._now().date()
        check_decision(opinion.verdict, opinion.who, opinion.reason, opinion.expires, opinion.due, cell, today)
        return self._kept(board, cell, opinion)

    def undo(self, board: Board, cell: Cell, who: str, after: int) -> Decision:
        """Take back the decision that holds on a cell; the log keeps both. Raises BadRequest when there is none."""
        if (cell.topic_id, cell.kind.value) not in self.held(board.project):
            raise BadRequest("There is no decision to take back.", "Look at the cell's history.")
        if not who.strip():
            raise BadRequest("A decision needs a name.", "Say who you are.")
        return self._kept(board, cell, Opinion(Verdict.UNDONE, who, after))

    def _kept(self, board: Board, cell: Cell, opinion: Opinion) -> Decision:
        return self._store.decide([decision_on(board, cell, opinion, self._now())])[0]

    def preview(self, board: Board, data: bytes, name: str) -> Preview:
        """What an edited workbook of a meeting pack would change. Raises BadRequest for a file that is none."""
        log = self._store.decisions(board.project)
        return read_decisions(data, name, board, log, holding(log), self._now())

    def decide_all(self, decisions: Sequence[Decision]) -> Sequence[Decision]:
        """Keep decisions made elsewhere (an edited meeting pack), all or none. Raises Outdated."""
        return self._store.decide(decisions)

    # The other ways to look at a board

    def trace(self, board: Board) -> Sequence[TraceRow]:
        """Each requirement with what stands behind it, truth by truth."""
        return trace(board)

    def orphans(self, project: str | None) -> Sequence[Orphan]:
        """Policies and set-up rows no requirement asks for."""
        return orphans(self._catalogue, self._vectors, self._embedder, self._store.topics(project), project)

    def conflicts(self, board: Board) -> Sequence[Conflict]:
        """Sentences of different truths that disagree on one topic, with what was decided of them."""
        cited = [citation for cell in board.cells for citation in (*cell.evidence, *cell.near_misses)]
        passages = self._catalogue.passages(sorted({citation.passage_id for citation in cited}))
        documents = self._catalogue.documents_by_id(sorted({citation.document_id for citation in cited}))
        held = self.held(board.project)
        found = find_conflicts(board, passages, documents)
        return [replace(each, decision=held.get((each.topic.id, f"conflict:{each.key}"))) for each in found]

    def settle(self, board: Board, conflict: Conflict, opinion: Opinion) -> Decision:
        """Keep what a reviewer says of a conflict: a conflict, none, or the last word undone."""
        if not opinion.who.strip():
            raise BadRequest("A decision needs a name.", "Say who you are.")
        kind = f"conflict:{conflict.key}"
        if opinion.verdict is Verdict.UNDONE and (conflict.topic.id, kind) not in self.held(board.project):
            raise BadRequest("There is no decision to take back.", "Look at the conflict again.")
        decision = Decision(
            conflict.topic.id,
            kind,
            board.project,
            opinion.verdict,
            opinion.who.strip(),
            self._now(),
            opinion.after + 1,
            topic=conflict.topic.name,
            comment=opinion.comment.strip(),
            owner=opinion.owner.strip(),
            due=opinion.due,
            pinned=(conflict.first.citation, conflict.second.citation),
            run_id=board.run_id,
        )
        return self._store.decide([decision])[0]

    def pack(self, board: Board, *, since: int | None = None, who: str = "") -> Pack:
        """All a meeting needs of a board, with what changed since a snapshot."""
        return Pack(
            board=board,
            run=self._store.run(board.run_id),
            decisions=tuple(self.log(board.project)),
            queue=tuple(self.queue(board)),
            conflicts=tuple(self.conflicts(board)),
            trace=tuple(self.trace(board)),
            changes=None if since is None else self.changes(board.project, since, board.run_id),
            made_at=self._now(),
            made_by=who.strip(),
        )
