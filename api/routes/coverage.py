"""Coverage: topics, runs in the background, the board, decisions and the meeting pack."""
# Over 300 lines: topics, runs, board, decisions and pack are one conversation about one board.

from dataclasses import replace
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Any, Self

from fastapi import Path, Query
from pydantic import ConfigDict, Field
from starlette.responses import Response

from api.access import Caller
from api.inputs import CHOICE, Body, Day, Id, Project, Shape, ShortText, with_example
from api.paging import PageOf, Paging, paged_list
from api.route import AtWork, Reply, guarded_router
from bootstrap.environment import utc_now
from core.coverage.board_view import board_data, with_distinct_names
from core.coverage.meeting_pack.pack import decision_data, pack_data, pack_html, topic_data
from core.coverage.runs import interrupted
from core.coverage.unread_files import unread_files_data
from core.domain.coverage import Board, CoverageRun, GapKind, ReviewerOpinion, ReviewVerdict, RunState, Topic
from core.domain.documents import Truth
from core.domain.errors import BadRequest, NotFound

__all__ = ["routes"]


class TopicShape(Shape):
    """A topic that a project must cover."""

    id: int
    name: str
    project: str | None = Field(description="null: of all projects.")
    origin: str
    needs: list[str] = Field(description="The truths it requires.")
    owner: str
    domain: str | None
    jurisdiction: str | None
    modality: str | None
    source: dict[str, Any] | None = Field(description="The requirement's citation.")
    version: int = Field(description="Send it back with a change.")


class RunShape(Shape):
    """A coverage run; a snapshot of the board when done."""

    id: int
    project: str | None
    name: str
    state: str = Field(description="running, done, stopped (also when its program was killed) or failed.")
    done: int = Field(description="Cells assessed so far.")
    total: int
    carried: int = Field(description="Cells reused from the run before, because nothing relevant changed.")
    started_at: datetime
    finished_at: datetime | None
    coverage: float | None
    profile: str
    problem: str

    @classmethod
    def of(cls, run: CoverageRun, caller: Caller) -> Self:
        """As it is now: what is stored is behind a run that begins again, and one whose program was killed."""
        killed = run.state is RunState.RUNNING and interrupted(run, utc_now())
        here = caller.work.running(f"coverage run {run.id}")
        state = RunState.RUNNING if here else RunState.STOPPED if killed else run.state
        return cls.model_validate(replace(run, state=state))


class RiskShape(Shape):
    """A reason to doubt a cell, such as evidence that is old or not yet in force."""

    kind: str
    words: str


class CellShape(Shape):
    """One topic under one truth."""

    topic: str
    truth: str = Field(description="A truth, or configuration.")
    state: str
    needed: bool
    evidence_score: float
    threshold: float
    margin: float
    reason: str
    error: str
    risks: list[RiskShape]
    evidence: list[dict[str, Any]]
    near_misses: list[dict[str, Any]]


class GapShape(Shape):
    """A gap of the board, with what to obtain."""

    topic: str
    truth: str
    severity: str
    recommendation: str


class BoardShape(Shape):
    """The coverage board with current decisions applied."""

    run_id: int
    taken_at: str
    project: str | None
    profile: str
    coverage: float | None = Field(description="Covered ÷ assessed cells, in [0, 1].")
    milliseconds: float
    topics: list[str] = Field(description="Those of one name carry their project: overtime (Acme).")
    cells: list[CellShape]
    gaps: list[GapShape]
    unread: list[str] = Field(description="Documents that could not be read in full and may fill a gap.")
    waiting: int = Field(description="Files not read yet when it was assessed, which may fill a gap.")
    not_read: str = Field(description="Both in words; empty when all was read.")


class DecisionShape(Shape):
    """One entry of the decision log."""

    id: int
    topic_id: int
    topic: str
    kind: str = Field(description="A truth, configuration, or conflict:<key>.")
    number: int = Field(description="1, 2, 3 … per topic and kind.")
    verdict: str
    who: str
    at: str
    reason: str
    comment: str
    owner: str
    due: date | None
    expires: date | None
    state: str | None
    score: float
    pinned: list[dict[str, Any]]


class PackShape(Shape):
    """The meeting pack as data (schema fivefold.meeting-pack/1)."""

    model_config = ConfigDict(extra="allow")

    schema_: str = Field(alias="schema")
    made_at: str
    made_by: str
    snapshot: dict[str, Any]
    topics: list[dict[str, Any]]
    decisions: list[DecisionShape]
    conflicts: list[dict[str, Any]]


routes = guarded_router("coverage")

OfProject = Annotated[ShortText | None, Query(description="A project's board; without: the whole library's.")]
RunId = Annotated[int, Path(ge=1, le=2**63 - 1, description="The run's number.")]


def _topic(topic: Topic) -> dict[str, Any]:
    return {**topic_data(topic), "version": topic.version}


@routes.get("/coverage/topics", response_model=PageOf[TopicShape], summary="List topics")
def list_topics(caller: AtWork, paging: Paging, project: OfProject = None) -> dict[str, Any]:
    """The active topics of a board, in the order they were added."""
    return paged_list(paging, caller.workbench.coverage.topics(project or None), lambda each: each.id, _topic)


class NewTopic(Body):
    """name: what is searched for. needs: the truths it requires; empty: all five."""

    name: Annotated[ShortText, Field(min_length=1)]
    needs: list[Annotated[Truth, CHOICE]] = Field(default=[], max_length=5)
    owner: ShortText = ""


class NewTopics(Body):
    """Topics to add to a board."""

    model_config = with_example({"topics": [{"name": "overtime pay", "needs": ["regulatory", "compliance"]}]})

    project: Project = None
    topics: list[NewTopic] = Field(min_length=1, max_length=500)


@routes.post("/coverage/topics", status_code=201, response_model=list[TopicShape], summary="Add topics")
def add_topics(caller: AtWork, new: NewTopics) -> list[dict[str, Any]]:
    """Add topics; one that is there already stays as it is. Domain and jurisdiction are detected from the name."""
    topics = []
    for each in new.topics:
        name = " ".join(each.name.split())
        if not any(letter.isalnum() for letter in name):
            raise BadRequest(f"'{name}' is not a topic.", "Write at least a word.")
        needs = tuple(dict.fromkeys(each.needs)) or tuple(Truth)
        topics.append(Topic(name, project=new.project or None, needs=needs, owner=each.owner.strip()))
    return [_topic(each) for each in caller.workbench.coverage.add_topics(topics, caller.name)]


class TopicChange(Body):
    """The fields to change. version: of the topic as it was read."""

    version: int = Field(ge=1, le=2**31 - 1)
    project: Project = None
    name: Annotated[ShortText, Field(min_length=1)] | None = None
    needs: list[Annotated[Truth, CHOICE]] | None = Field(default=None, min_length=1, max_length=5)
    owner: ShortText | None = None
    retired: bool | None = None


@routes.patch("/coverage/topics/{topic_id}", response_model=TopicShape, summary="Change or archive a topic")
def change_topic(
    caller: AtWork, topic_id: Annotated[int, Path(ge=1, le=2**63 - 1)], change: TopicChange
) -> dict[str, Any]:
    """Change a topic of a board, or archive it with `retired`. 409 when someone else changed it since."""
    coverage = caller.workbench.coverage
    known = next((each for each in coverage.topics(change.project or None) if each.id == topic_id), None)
    if known is None:
        raise NotFound(f"There is no topic {topic_id} on this board.", "Give its project, and a number of the list.")
    values: dict[str, Any] = change.model_dump(exclude={"project"}, exclude_none=True)
    if change.needs is not None:
        values["needs"] = tuple(dict.fromkeys(change.needs))
    return _topic(coverage.change_topics([replace(known, **values)], caller.name)[0])


# Runs


class NewRun(Body):
    """project: whose topics. whole: assess every cell again. resume: a stopped or failed run to go on with."""

    model_config = with_example({"project": None})

    project: Project = None
    whole: bool = False
    resume: Id | None = None


@routes.post("/coverage/runs", status_code=202, response_model=RunShape, summary="Assess the topics")
def start_run(caller: AtWork, new: NewRun) -> Reply:
    """Start a run in the background, or return the one under way. Ask for it while its state is running."""
    coverage = caller.workbench.coverage
    if new.resume is None:
        known = {each.id for each in coverage.snapshots(new.project or None)}
        run = coverage.runs.start(new.project or None)
        ours = run.id not in known
    else:
        run, ours = coverage.runs.resume(new.resume), True
    if ours:
        name = f"coverage run {run.id}"
        caller.work.start(name, lambda stop: coverage.runs.carry_out(run.id, stop=stop, whole=new.whole))
    return Reply(RunShape.of(run, caller), headers={"Location": f"/api/coverage/runs/{run.id}"})


@routes.get("/coverage/runs", response_model=PageOf[RunShape], summary="List runs")
def list_runs(caller: AtWork, paging: Paging, project: OfProject = None) -> dict[str, Any]:
    """All runs of a board, newest first."""
    runs = caller.workbench.coverage.snapshots(project or None)
    return paged_list(paging, runs, lambda each: each.id, lambda each: RunShape.of(each, caller))


@routes.get("/coverage/runs/{run_id}", response_model=RunShape, summary="How far a run is")
def get_run(caller: AtWork, run_id: RunId) -> RunShape:
    """A run with its progress."""
    return RunShape.of(caller.workbench.coverage.runs.progress(run_id), caller)


@routes.post("/coverage/runs/{run_id}/stop", status_code=202, response_model=RunShape, summary="Stop a run")
def stop_run(caller: AtWork, run_id: RunId) -> RunShape:
    """Stop a run after the cells under way, whoever started it; it can be resumed."""
    stopped = caller.workbench.coverage.runs.stop(run_id)  # first: it asks whether the caller may
    caller.work.stop(f"coverage run {run_id}")
    return RunShape.of(stopped, caller)


@routes.delete("/coverage/runs/{run_id}", status_code=204, summary="Delete a run")
def delete_run(caller: AtWork, run_id: RunId) -> None:
    """Delete a snapshot; decisions taken on it stay in the log."""
    caller.workbench.coverage.runs.progress(run_id)
    if caller.work.running(f"coverage run {run_id}"):
        raise BadRequest("This run is under way.", "Stop it first.")
    caller.workbench.coverage.delete_snapshot(run_id)


# Board and decisions


OfRun = Annotated[int | None, Query(ge=1, le=2**63 - 1, description="A snapshot; without: the latest finished run.")]


def _board(caller: AtWork, project: str | None, run: int | None) -> Board:
    board = caller.workbench.coverage.board(project or None, run)
    if board is None:
        raise NotFound("This board was not assessed yet.", "Start a run first.")
    return board


@routes.get("/coverage/board", response_model=BoardShape, summary="The coverage board")
def get_board(caller: AtWork, project: OfProject = None, run: OfRun = None) -> dict[str, Any]:
    """Every topic under every truth, with its evidence and the current decisions applied; and the gaps."""
    board = _board(caller, project, run)
    return {"run_id": board.run_id, **board_data(with_distinct_names(board)), **unread_files_data(board)}


@routes.get("/coverage/decisions", response_model=PageOf[DecisionShape], summary="The decision log")
def list_decisions(caller: AtWork, paging: Paging, project: OfProject = None) -> dict[str, Any]:
    """All decisions on a board, oldest first; a decision that was undone stays."""
    return paged_list(paging, caller.workbench.coverage.log(project or None), lambda each: each.id, decision_data)


class Verdict(StrEnum):
    """A reviewer's verdict on a cell."""

    ACCEPTED = ReviewVerdict.ACCEPTED.value
    CONFIRMED = ReviewVerdict.CONFIRMED.value
    WAIVED = ReviewVerdict.WAIVED.value
    NEEDS_WORK = ReviewVerdict.NEEDS_WORK.value


class NewDecision(Body):
    """A decision on one cell. after: the number of the last decision you have seen on it, 0 for none."""

    model_config = with_example(
        {
            "topic_id": 1,
            "kind": "regulatory",
            "verdict": "waived",
            "reason": "No employees in this state.",
            "expires": "2027-06-30",
        }
    )

    topic_id: Id
    kind: Annotated[GapKind, CHOICE]
    verdict: Annotated[Verdict, CHOICE]
    after: int = Field(default=0, ge=0, le=2**31 - 1)
    project: Project = None
    run: Id | None = Field(default=None, description="The snapshot that was looked at; null: the latest.")
    reason: ShortText = ""
    comment: Annotated[ShortText, Field(max_length=2000)] = ""
    owner: ShortText = ""
    due: Day | None = None
    expires: Day | None = Field(default=None, description="Last day of a waiver.")


@routes.post("/coverage/decisions", status_code=201, response_model=DecisionShape, summary="Decide on a cell")
def decide(caller: AtWork, new: NewDecision) -> dict[str, Any]:
    """Accept a cell as covered, confirm its gap, waive it until a day, or say that it needs work. 409 when someone else
    decided since `after`."""
    board = _board(caller, new.project, new.run)
    cells = (each for each in board.cells if each.topic_id == new.topic_id and each.kind is new.kind)
    cell = next(cells, None)
    if cell is None:
        raise NotFound(f"The board has no cell of topic {new.topic_id} and {new.kind}.", "Choose one of the board.")
    opinion = ReviewerOpinion(
        ReviewVerdict(new.verdict.value),
        caller.name,
        after=new.after,
        reason=new.reason,
        comment=new.comment,
        owner=new.owner,
        due=new.due,
        expires=new.expires,
    )
    return decision_data(caller.workbench.coverage.decide(board, cell, opinion))


@routes.delete("/coverage/decisions/{decision_id}", response_model=DecisionShape, summary="Undo a decision")
def undo_decision(caller: AtWork, decision_id: Annotated[int, Path(ge=1, le=2**63 - 1)]) -> dict[str, Any]:
    """Undo the current decision on a cell; both stay in the log."""
    return decision_data(caller.workbench.coverage.undo_decision(decision_id, who=caller.name))


class PackFormat(StrEnum):
    """The formats of a meeting pack."""

    JSON = "json"
    HTML = "html"
    PDF = "pdf"
    XLSX = "xlsx"


_MEDIA_TYPES = {
    PackFormat.HTML: "text/html",
    PackFormat.PDF: "application/pdf",
    PackFormat.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_BINARY: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}


@routes.get(
    "/coverage/pack",
    response_model=PackShape,
    responses={200: {"content": dict.fromkeys(_MEDIA_TYPES.values(), _BINARY)}},
    summary="The meeting pack",
)
def get_pack(
    caller: AtWork,
    project: OfProject = None,
    run: OfRun = None,
    since: Annotated[int | None, Query(ge=1, le=2**63 - 1, description="A snapshot to compare with.")] = None,
    format_: Annotated[PackFormat, Query(alias="format")] = PackFormat.JSON,
) -> Any:
    """Board, gaps, decisions, conflicts and changes in one file: JSON, HTML, PDF or a workbook."""
    board = _board(caller, project, run)
    pack = caller.workbench.coverage.pack(board, since=since, who=caller.name)
    if format_ is PackFormat.JSON:
        return pack_data(pack)
    headers = {"Content-Disposition": f'attachment; filename="meeting-pack.{format_}"'}
    return Response(_FILES[format_](pack), 200, headers, _MEDIA_TYPES[format_])


def _pdf(pack: Any) -> bytes:
    from core.coverage.meeting_pack.pdf import pack_pdf

    return pack_pdf(pack)


def _xlsx(pack: Any) -> bytes:
    from core.coverage.meeting_pack.xlsx import pack_xlsx

    return pack_xlsx(pack)


_FILES = {PackFormat.HTML: lambda pack: pack_html(pack).encode(), PackFormat.PDF: _pdf, PackFormat.XLSX: _xlsx}
