"""Service of the coverage pages: topics, boards, decisions, conflicts and the meeting pack of one tenant."""
# Longer than 300 lines: one facade over topics, boards, decisions and the views of a board.

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from core.coverage.board_view import distinct_names, with_distinct_names
from core.coverage.conflicts import find_conflicts
from core.coverage.detection.detector import Detector, assess
from core.coverage.detection.evidence import WeightedPassage
from core.coverage.detection.risks import RiskReader
from core.coverage.gaps import as_needed, assembled
from core.coverage.meeting_pack.pack import MeetingPack
from core.coverage.meeting_pack.xlsx import DecisionImportPreview, read_decisions
from core.coverage.meetings.meeting import Minutes
from core.coverage.requirements import requirements
from core.coverage.review import (
    apply_decisions,
    broken_pins,
    check_decision,
    check_decisions,
    current_decisions,
    decision_on,
    known_people,
    queue,
    undoing,
)
from core.coverage.runs import CoverageRuns, changes
from core.coverage.store import CoverageBoardStore
from core.coverage.topics import TopicEdit, as_before, propose_topics, topic_edits, with_detected_labels
from core.coverage.traceability import TraceRow, orphans, trace
from core.domain.coverage import (
    Board,
    BoardChanges,
    Cell,
    Conflict,
    CoverageRun,
    Decision,
    DecisionHistory,
    GapKind,
    Orphan,
    ReviewedCell,
    ReviewerOpinion,
    ReviewVerdict,
    RunState,
    Topic,
)
from core.domain.documents import Document, Truth
from core.domain.errors import BadRequest, NotFound
from core.knowledge.profiles import BUILT_IN
from core.knowledge.workspace_terms import WorkspaceTerms
from core.ports.catalogue import Catalogue
from core.ports.clock import Timer
from core.ports.model_choice import DEFAULT_CHOICE, ModelChoice, under_one_model
from core.ports.stores import Embedder, Profiles, SparseIndex, VectorIndex
from core.search.query.expansion import SynonymFinder

__all__ = ["CoverageService"]

_MOST_REVISIONS = 10_000  # of topics, searched for an edit; chosen by hand


class CoverageService:
    """Topics, runs and decisions are stored; a board combines the detected states of a run with the current decisions.

    project None means the board of the whole library. Every method raises StoreFailed when the store fails.
    """

    def __init__(
        self,
        *,
        store: CoverageBoardStore,
        catalogue: Catalogue,
        vectors: VectorIndex,
        sparse: SparseIndex,
        embedder: Embedder,
        terms: Callable[[], WorkspaceTerms],
        profiles: Profiles = BUILT_IN,
        now: Callable[[], datetime],
        timer: Timer,
        choice: ModelChoice = DEFAULT_CHOICE,
        near: SynonymFinder | None = None,
    ) -> None:
        """near: None for a library without word vectors."""
        self._timer, self._choice = timer, choice
        self._store, self._catalogue, self._vectors = store, catalogue, vectors
        self._now, self._terms = now, terms
        self._detector = Detector(catalogue, vectors, sparse, embedder, choice, near)
        self.runs = CoverageRuns(store, self._detector, catalogue, now, profiles)
        self._profiles = profiles

    # Topics

    def topics(self, project: str | None) -> Sequence[Topic]:
        """The active topics of a board, in the order they were added."""
        return self._store.topics(project)

    def add_topics(self, topics: Sequence[Topic], who: str = "") -> Sequence[Topic]:
        """Store new topics, with domain and jurisdiction detected from their names; existing topics stay unchanged.

        A requirement belongs to the project of the document it is quoted from, also when it was found in all documents.
        """
        terms = self._terms()
        quoted = self._catalogue.documents_by_id([topic.source.document_id for topic in topics if topic.source])
        new = [with_detected_labels(_in_project(topic, quoted), terms) for topic in topics]
        return self._store.add_topics(new, who.strip(), self._now())

    def change_topics(self, topics: Sequence[Topic], who: str = "") -> Sequence[Topic]:
        """Store changed topics, all or none. Raises Outdated when someone else changed one since it was read."""
        return self._store.change_topics(topics, who.strip(), self._now())

    def topic_edits(self, limit: int) -> Sequence[TopicEdit]:
        """The newest edits of topics, newest first; made from at most `limit` revisions."""
        now = {each.id: each.version for each in (*self._store.topics(None), *self._store.topics(None, retired=True))}
        return topic_edits(self._store.topic_revisions(limit), now)

    def undo_topic_edit(self, edit: int, who: str) -> Sequence[Topic]:
        """Store the topics of an edit as they were before; new ones are retired. Raises BadRequest unless each is seen,
        and as the edit left it."""
        found = next((each for each in self.topic_edits(_MOST_REVISIONS) if each.number == edit), None)
        if found is not None and any(each.hidden for each in found.revisions):
            raise BadRequest("This changed more topics than you can see.", "Ask somebody who sees them all to undo it.")
        if found is None or not found.current:
            raise BadRequest("These topics were changed again since.", "Look at them as they are now.")
        before = [each.before for each in found.revisions if each.before is not None]
        return self.change_topics(as_before(before, [each.after for each in found.revisions]), who)

    def weighed(self, topics: Sequence[Topic], truth: Truth) -> list[list[WeightedPassage]]:
        """What a truth holds about each topic, strongest first. Raises ModelUnavailable."""
        return self._detector.weighed(
            topics, GapKind(truth.value), now=self._now(), profile=self._profiles.default(None)
        )

    def found_requirements(self, project: str | None) -> Sequence[Topic]:
        """Proposed topics: requirement sentences of the intent documents that are not topics yet."""
        return self._new(requirements(self._catalogue, project, self._terms()), project)

    def found_clusters(self, project: str | None) -> Sequence[Topic]:
        """Proposed topics: clusters of the library's passages, named by keywords."""
        return self._new(propose_topics(self._catalogue, self._vectors, project, self._terms()), project)

    def _new(self, proposals: Sequence[Topic], project: str | None) -> Sequence[Topic]:
        topics = self._store.topics(project)
        known = {topic.name.casefold() for topic in topics}
        quoted = {_quoted(topic) for topic in topics if topic.source}  # earlier versions named them otherwise
        return [
            replace(topic, project=project)
            for topic in proposals
            if topic.name.casefold() not in known and _quoted(topic) not in quoted
        ]

    # Boards

    def snapshots(self, project: str | None) -> Sequence[CoverageRun]:
        """All runs of a board, newest first, finished or not."""
        return self._store.runs(project)

    def name_snapshot(self, run_id: int, name: str) -> None:
        """Rename a run. Raises NotFound."""
        self._store.change_run(replace(self._store.run(run_id), name=" ".join(name.split())))

    def delete_snapshot(self, run_id: int) -> None:
        """Delete a run and its cells; decisions taken on it stay in the log."""
        self._store.delete_run(run_id)

    def board(self, project: str | None, run_id: int | None = None) -> Board | None:
        """A run with the current decisions applied: the given one, else the latest finished; None when there is none.

        Raises NotFound when `run_id` is not a run of this project.
        """
        run = self._finished(project, run_id)
        return None if run is None else self._reviewed(run)

    def glance(
        self,
        topics: Sequence[Topic],
        project: str | None = None,
        on_cell: Callable[[int, int], None] = lambda done, total: None,
    ) -> Board:
        """A board of any topics, assessed immediately and not stored. Raises BadRequest without topics."""
        terms = self._terms()
        board = assess(
            self._detector,
            [with_detected_labels(topic, terms) for topic in topics],
            terms=terms,
            timer=self._timer,
            project=project,
            now=self._now(),
            profile=self._profiles.default(project),
            on_cell=on_cell,
        )
        run = CoverageRun(0, project, RunState.DONE, board.topics, len(board.cells), board.taken_at, board.taken_at)
        reader = RiskReader(self._scope(project), self._now(), terms)
        doubted = replace(board, cells=reader.with_risks(board.cells, {topic.id: topic for topic in board.topics}))
        return self._with_unread(doubted, run, reader)

    @staticmethod
    def _with_unread(board: Board, run: CoverageRun, reader: RiskReader) -> Board:
        return replace(board, unread=reader.unread(board.cells), waiting=reader.waiting(board.cells, run))

    def _finished(self, project: str | None, run_id: int | None) -> CoverageRun | None:
        for run in self._store.runs(project):
            if run.id == run_id or (run_id is None and run.state is RunState.DONE):
                return self._store.run(run.id)
        if run_id is None:
            return None
        raise NotFound(f"There is no snapshot {run_id} of this board.", "Choose one of the list.")

    def _reviewed(self, run: CoverageRun) -> Board:
        terms = self._terms()
        board = self._detected(run, terms)
        decisions = self.current_decisions(run.project)
        return apply_decisions(board, decisions, self.shaken(run.project), self._now().date(), terms)

    def shaken(self, project: str | None) -> Mapping[int, str]:
        """Decision id → explanation, for current acceptances of the board's cells whose cited sentence has changed
        since."""
        needs = {topic.id: topic.needs for topic in self._store.topics(project)}
        of_board = [
            each
            for (topic_id, kind), each in self.current_decisions(project).items()
            if kind in set(GapKind) and GapKind(kind).truth in needs.get(topic_id, ())
        ]
        return broken_pins(of_board, self._catalogue, project)

    def _detected(self, run: CoverageRun, terms: WorkspaceTerms) -> Board:
        """The detected board with the current names, owners and needs of its topics; omits topics retired since."""
        now = {topic.id: topic for topic in self._store.topics(run.project)}
        then = {topic.id: topic for topic in run.topics}
        remaining = [topic for topic in run.topics if topic.id in now]
        cells = [
            as_needed(replace(cell, topic=now[cell.topic_id].name), now[cell.topic_id], then[cell.topic_id])
            for cell in self._store.cells(run.id)
            if cell.topic_id in now and cell.topic_id in then
        ]
        reader = RiskReader(self._scope(run.project), self._now(), terms)
        current = replace(run, topics=tuple(now[topic.id] for topic in remaining))
        return self._with_unread(assembled(current, reader.with_risks(cells, now), terms), run, reader)

    def _scope(self, project: str | None) -> Sequence[Document]:
        """The documents of a project and those shared by all projects; None: every document."""
        return [
            document
            for document in self._catalogue.documents()
            if project is None or document.project in (None, project)
        ]

    def history(self, topic_id: int, kind: GapKind, project: str | None) -> Sequence[DecisionHistory]:
        """The state of a cell in each finished run, oldest first."""
        return self._store.history(topic_id, kind, project)

    def changes(self, project: str | None, since: int, until: int | None = None) -> BoardChanges:
        """Detected changes from snapshot `since` to `until` (default: the latest finished). Raises NotFound.

        Topics are called as on the board of their snapshot: those of one name carry their project.
        """
        before, after = self._finished(project, since), self._finished(project, until)
        if before is None or after is None:
            raise NotFound("There is no snapshot to compare with.", "Assess the topics first.")
        old, new = (
            with_distinct_names(assembled(run, self._store.cells(run.id), self._terms())) for run in (before, after)
        )
        return changes(replace(before, topics=old.topics), old.cells, replace(after, topics=new.topics), new.cells)

    # Review

    def log(self, project: str | None) -> Sequence[Decision]:
        """The complete decision log of a board, oldest first."""
        return self._store.decisions(project)

    def decisions_of_all_boards(self) -> Sequence[Decision]:
        """The decision logs of all projects and of the whole library, of each cell oldest first."""
        topics = (*self._store.topics(None), *self._store.topics(None, retired=True))
        projects = {each.project for each in topics} | {*self._catalogue.projects()}
        return [
            each for project in (None, *sorted(projects - {None}, key=str)) for each in self._store.decisions(project)
        ]

    def undo_decision(self, decision_id: int, who: str) -> Decision:
        """Undo a decision by its id; both stay in the log. Raises BadRequest unless it is current."""
        log = self.decisions_of_all_boards()
        decision = next((each for each in log if each.id == decision_id), None)
        if (
            decision is None
            or decision not in current_decisions([each for each in log if each.project == decision.project]).values()
        ):
            raise BadRequest("This decision is not the current one.", "Look at the cell again.")
        if not who.strip():
            raise BadRequest("A decision needs a name.", "Enter your name first.")
        number = sum(
            (each.topic_id, each.kind, each.project) == (decision.topic_id, decision.kind, decision.project)
            for each in log
        )
        return self._store.decide([undoing(decision, who, self._now(), number + 1)])[0]

    def current_decisions(self, project: str | None) -> Mapping[tuple[int, str], Decision]:
        """(topic id, kind) → the current decision."""
        return current_decisions(self._store.decisions(project), self._store.topics(project))

    def queue(self, board: Board) -> Sequence[ReviewedCell]:
        """The cells a meeting should review, worst first."""
        return queue(board, self.current_decisions(board.project))

    def decide(self, board: Board, cell: Cell, opinion: ReviewerOpinion) -> Decision:
        """Store a reviewer's decision on a cell.

        Raises BadRequest naming what is missing, Outdated when someone has decided since `opinion.after`.
        """
        today = self._now().date()
        check_decision(opinion.verdict, opinion.who, opinion.reason, opinion.expires, opinion.due, cell, today)
        return self._confirmed_opinion(board, cell, opinion)

    def decide_together(self, board: Board, opinions: Sequence[tuple[Cell, ReviewerOpinion]]) -> Sequence[Decision]:
        """Store one decision per cell, all or none.

        Raises BadRequest naming what is missing and where, Outdated when someone has decided on one of them since.
        """
        check_decisions(opinions, self._now().date())
        now = self._now()
        return self._store.decide([decision_on(board, cell, opinion, now) for cell, opinion in opinions])

    def undo_together(self, decisions: Sequence[Decision], who: str) -> Sequence[Decision]:
        """Undo decisions that nobody has changed since, all or none; the log keeps both. Raises BadRequest without a
        name, Outdated when someone has decided on one of them since."""
        if not who.strip():
            raise BadRequest("A decision needs a name.", "Enter your name first.")
        now = self._now()
        return self._store.decide([undoing(each, who, now, each.number + 1) for each in decisions])

    def people(self, project: str | None) -> Sequence[str]:
        """Everyone who decided or owns something on a board, latest first."""
        return known_people(self._store.decisions(project), self._store.topics(project))

    def undo(self, board: Board, cell: Cell, who: str, after: int) -> Decision:
        """Undo the current decision on a cell; both stay in the log. Raises BadRequest when there is none."""
        if (cell.topic_id, cell.kind.value) not in self.current_decisions(board.project):
            raise BadRequest("There is no decision to undo.", "Look at the cell's history.")
        if not who.strip():
            raise BadRequest("A decision needs a name.", "Enter your name first.")
        return self._confirmed_opinion(board, cell, ReviewerOpinion(ReviewVerdict.UNDONE, who, after))

    def _confirmed_opinion(self, board: Board, cell: Cell, opinion: ReviewerOpinion) -> Decision:
        return self._store.decide([decision_on(board, cell, opinion, self._now())])[0]

    def preview(self, board: Board, data: bytes, name: str) -> DecisionImportPreview:
        """Preview of importing an edited meeting-pack workbook. Raises BadRequest when the file is not one."""
        log = self._store.decisions(board.project)
        return read_decisions(data, name, board, log, current_decisions(log, board.topics), self._now())

    def decide_all(self, decisions: Sequence[Decision]) -> Sequence[Decision]:
        """Store imported decisions (from an edited meeting pack), all or none. Raises Outdated."""
        return self._store.decide(decisions)

    # Other views of a board

    def trace(self, board: Board) -> Sequence[TraceRow]:
        """The traceability matrix: each requirement with its supporting evidence per column."""
        return trace(board)

    def orphans(self, project: str | None) -> Sequence[Orphan]:
        """Policy sections and configuration rows that no requirement asks for."""
        topics = self._store.topics(project)
        profile = self._profiles.default(project)
        return under_one_model(
            self._choice,
            lambda: orphans(self._detector, self._catalogue, topics, project, now=self._now(), profile=profile),
        )

    def conflicts(self, board: Board) -> Sequence[Conflict]:
        """Sentences of different truths that contradict each other on one topic, with the current decision on each."""
        cited = [citation for cell in board.cells for citation in (*cell.evidence, *cell.near_misses)]
        passages = self._catalogue.passages(sorted({citation.passage_id for citation in cited}))
        documents = self._catalogue.documents_by_id(sorted({citation.document_id for citation in cited}))
        decisions = {kind: each for (_, kind), each in self.current_decisions(board.project).items()}
        found = find_conflicts(board, passages, documents)
        return [replace(each, decision=decisions.get(f"conflict:{each.key}")) for each in found]

    def settle(self, board: Board, conflict: Conflict, opinion: ReviewerOpinion) -> Decision:
        """Store a reviewer's decision on a conflict: confirmed, dismissed, or the last decision undone.

        Raises BadRequest without a name or without a decision to undo, Outdated when someone has decided since.
        """
        if not opinion.who.strip():
            raise BadRequest("A decision needs a name.", "Enter your name first.")
        kind = f"conflict:{conflict.key}"
        log = [each for each in self.log(board.project) if each.kind == kind]
        if opinion.verdict is ReviewVerdict.UNDONE and not current_decisions(log):
            raise BadRequest("There is no decision to undo.", "Look at the conflict again.")
        decision = Decision(
            log[0].topic_id if log else conflict.topic.id,  # the pair may be listed under another topic by now
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

    def pack(
        self, board: Board, *, since: int | None = None, who: str = "", minutes: Sequence[Minutes] = ()
    ) -> MeetingPack:
        """The meeting pack of a board, with the changes since a snapshot if one is given. minutes: of past meetings.

        Topics of one name carry their project.
        """
        names, named = distinct_names(board), with_distinct_names(board)
        topics = {topic.id: topic for topic in named.topics}
        return MeetingPack(
            board=named,
            run=self._store.run(board.run_id),
            decisions=tuple(
                replace(each, topic=names.get(each.topic_id, each.topic)) for each in self.log(board.project)
            ),
            queue=tuple(self.queue(named)),
            conflicts=tuple(replace(each, topic=topics[each.topic.id]) for each in self.conflicts(board)),
            trace=tuple(self.trace(named)),
            changes=None if since is None else self.changes(board.project, since, board.run_id),
            made_at=self._now(),
            made_by=who.strip(),
            minutes=tuple(minutes),
            domain_titles={
                topic.domain: self._terms().domains.title(topic.domain) for topic in board.topics if topic.domain
            },
        )


def _quoted(topic: Topic) -> tuple[int, str] | None:
    """Document and sentence of a requirement; None for other topics."""
    return (topic.source.document_id, topic.source.quote) if topic.source else None


def _in_project(topic: Topic, documents: Mapping[int, Document]) -> Topic:
    if topic.project is not None or topic.source is None or topic.source.document_id not in documents:
        return topic
    return replace(topic, project=documents[topic.source.document_id].project)
