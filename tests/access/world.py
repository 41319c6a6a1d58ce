"""A library with a secret: project Beta, which Eve may not see, and everything people can make of its documents."""
# Long: each part of the product leaves something of the secret.

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from bootstrap.environment import Settings
from bootstrap.workbench import OpenWorkbench, open_workbench
from core.collaboration.target import on_cell, on_document, on_passage
from core.coverage.meetings.meeting import Meeting
from core.domain.coverage import (
    Board,
    Conflict,
    ConflictKind,
    GapKind,
    ReviewerOpinion,
    ReviewVerdict,
    Statement,
    Topic,
)
from core.domain.documents import Document, Truth
from core.domain.evaluation import Level
from core.domain.filters import SearchFilters
from core.domain.people import Door, Principal, Role, local_principal
from core.domain.queries import SearchRequest
from core.insights.store import Episode, EvidenceLink, InsightOrEpisode
from core.library.bulk_edit.store import LabelEdit
from core.library.saved_searches import VisitedResult
from core.library.shortlists import ShortlistItem
from core.workbench import Workbench
from tests.coverage.boards import citation

__all__ = ["EVE", "SECRET", "World", "opened_world"]

SECRET = "quillfeather"
"""Stands in the name, the text and everything else of what is hidden."""

_WORLDS = count(1)  # the database of a test process is shared, and each world is a tenant of its own
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)

EVE = Principal("eve@example.org", "Eve", (("Alpha", Role.ADMINISTRATOR),), Door.REST)
"""An administrator of another project, so that no lower role hides a leak."""

_SHARED = b"# Holiday policy\nEmployees must request annual leave two weeks ahead. The turbine hall closes in May.\n"
_ALPHA = b"# Alpha overtime policy\nAll overtime must be approved in writing by a manager before it is worked.\n"
_BETA = (
    "# Quillfeather turbine policy\nThe Quillfeather Act requires that every turbine is inspected by Quillfeather staff"
    " each year. Quillfeather overtime must be paid at twice the rate. The {} edition applies from 1 May 2025.\n"
)
_TABLE = "employee_id,quillfeather_site,hours\n" + "".join(f"{n},quillfeather {n},{n * 3}\n" for n in range(1, 9))


@dataclass(frozen=True, slots=True)
class World:
    """The open library, its whole workbench, what Eve's workbench is, and candidates for arguments by parameter name.

    hidden: the secret documents."""

    library: OpenWorkbench
    whole: Workbench
    eve: Workbench
    hidden: tuple[Document, ...]
    candidates: Mapping[str, tuple[Any, ...]]


@contextmanager
def opened_world(folder: Path, models: Path, database_url: str) -> Iterator[World]:
    """The library, filled by people who may see everything."""
    (folder / "models").symlink_to(models, target_is_directory=True)
    library = open_workbench(
        Settings(folder, database_url=database_url, worker=False, tenant=f"attacked-{next(_WORLDS)}")
    )
    try:
        whole = library.workbench
        shared = _ingest(whole, "holiday.md", _SHARED, None)
        _ingest(whole, "alpha overtime.md", _ALPHA, "Alpha")
        hidden = (
            _ingest(whole, f"{SECRET} plan 1.md", _BETA.format("first").encode(), "Beta"),
            _ingest(whole, f"{SECRET} plan 2.md", _BETA.format("second").encode(), "Beta"),
            _ingest(whole, "beta hours.csv", _TABLE.encode(), "Beta"),
        )
        whole.search.warm()
        candidates = _filled(whole, shared, hidden)
        hidden = tuple(whole.documents.get(each.id) for each in hidden)
        yield World(library, whole, library.for_principal(EVE), hidden, candidates)
    finally:
        library.close()


def _ingest(whole: Workbench, name: str, data: bytes, project: str | None) -> Document:
    receipt = whole.documents.upload(name, data, project=project, tags=(SECRET,) if project == "Beta" else ())
    whole.ingestion.ingest(receipt.document_id)
    whole.enrichment.enrich(receipt.document_id)
    return whole.documents.get(receipt.document_id)


# Long: one thing after the other that people do.
def _filled(whole: Workbench, shared: Document, hidden: tuple[Document, ...]) -> Mapping[str, tuple[Any, ...]]:
    plan, newer, table = hidden
    passage = whole.documents.passages(plan.id)[0]
    quote = passage.text.splitlines()[-1][:60]
    link = EvidenceLink(passage.id, plan.id, plan.name, 1, 0, len(quote), quote)
    insights = [whole.insights.save(f"{SECRET} {n}", links=(link,), project=n, who="Ann") for n in (None, "Beta")]
    episodes = [
        whole.insights.finish_episode(f"{SECRET}?", opened=[passage.id], reflection=SECRET, project=n, who="Ann")
        for n in (None, "Beta")
    ]
    whole.bulk_edit.apply([LabelEdit(plan.id, plan.name, "owner", "", SECRET)], f"Owner {SECRET}", "Ann")
    whole.bulk_edit.set_labels([(plan.id, "truth", "intent")], "Ann")
    whole.versions.accept(plan.id, newer.id, "Ann")
    whole.enrichment.edits.rewrite_summary(plan.id, f"About {SECRET}.", "Ann")
    holiday = whole.search.run(SearchRequest("annual leave", SearchFilters(documents=(shared.id,))))
    result = whole.search.run(SearchRequest(f"Who inspects the {SECRET} turbine?"))
    whole.usage.shown(result, "Ann")
    whole.usage.mark(passage, f"{SECRET}?", "Ann", helpful=True)
    whole.usage.flush()
    shortlist = whole.shortlists.create(f"Turbines of {SECRET}", "Ann")
    item = ShortlistItem(f"{SECRET}?", plan.id, plan.name, passage.id, "intent", quote, plan.name, NOW)
    shortlist = whole.shortlists.add(shortlist.id, item)
    request = SearchRequest(f"{SECRET} turbine", SearchFilters(projects=("Beta",)))
    view = whole.saved_searches.save(f"{SECRET} view", request, "", local_principal(Door.COMMAND, "Ann"), shared=True)
    boards, topics = [], []
    for project in (None, "Beta"):
        (topic,) = whole.coverage.add_topics(
            [Topic(f"{SECRET if project else 'yearly'} turbine inspection", project=project)], "Ann"
        )
        run = whole.coverage.runs.start(project)
        whole.coverage.runs.carry_out(run.id)
        board = whole.coverage.board(project)
        assert board is not None
        opinion = ReviewerOpinion(ReviewVerdict.CONFIRMED, "Ann", comment=SECRET)
        cell = next(each for each in board.cells if each.state.value in ("gap", "partial", "covered", "suspect"))
        whole.coverage.decide(board, cell, opinion)
        boards.append(board)
        topics.append(topic)
    sets = []
    for project in (None, "Beta"):
        question_set = whole.evaluation.judging.add_set(f"{SECRET} set", project, Level.DOCUMENT, "Ann")
        question = whole.evaluation.judging.add_question(question_set.id, f"Who inspects the {SECRET} turbine?")
        pool = whole.evaluation.judging.pool(question_set.id, question.id, ["balanced"], who="Ann")
        whole.evaluation.judging.judge(question_set.id, question.id, pool.items[0].unit, 3, "Ann")
        experiment = whole.evaluation.experiments.begin(question_set.id, "balanced", "Ann")
        sets.append((question_set, question, experiment))
    whole.tables.run_sql(f"SELECT hours FROM {whole.tables.tables()[0].name} WHERE quillfeather_site = '{SECRET} 1'")
    ann = Principal("ann@example.org", "Ann", ((None, Role.ADMINISTRATOR),), Door.BROWSER)
    targets = [
        on_document(plan),
        on_passage(passage),
        on_cell(topics[1].name, topics[1].id, GapKind.COMPLIANCE, "Beta"),
    ]
    comments = [whole.comments.write(each, f"{SECRET}!", ann) for each in targets]
    whole.people.invite(ann.login, Role.ADMINISTRATOR)
    assignments = [whole.assignments.assign(each, f"Ask {SECRET}", ann.login, ann) for each in targets]
    whole.alerts.follow(view.id, ann)
    meetings = [_met(whole, board) for board in boards for _ in range(2)]
    statements = [whole.meetings.comment(each.id, each.at, f"{SECRET}!", "Ann") for each in meetings]
    meetings[3] = whole.meetings.end(meetings[3].id, "Ann")
    reality = whole.tables.tables()[0]
    feed = whole.feeds.add(f"https://example.org/{SECRET}.xml", project="Beta", tags=(SECRET,))
    cited = citation(document_id=plan.id, passage_id=passage.id, quote="x", document_name="x")
    one = Statement(cited, Truth.COMPLIANCE, "x")
    conflict = Conflict("a" * 64, replace(topics[1], name="x"), ConflictKind.NUMBER, one, one, "x", 0.5)
    decisions = [each for project in (None, "Beta") for each in whole.coverage.log(project)]
    return {
        "item": tuple(map(_unknown_item, (*insights, *episodes))),
        "items": (list(map(_unknown_item, (*insights, *episodes))),),
        "insight_id": tuple(each.id for each in insights),
        "episode_id": tuple(each.id for each in episodes),
        "looked": (VisitedResult(replace(view, name="x", request=SearchRequest("turbine")), holiday, NOW),),
        "older_id": (plan.id,),
        "newer_id": (newer.id,),
        "one_id": (plan.id,),
        "other_id": (newer.id,),
        "before_id": (plan.id,),
        "after_id": (newer.id,),
        "feed_id": (feed.id,),
        "folder_id": (1,),
        "entry": tuple(replace(each, what="x", changes=()) for each in whole.history.newest()),
        "version_decision": tuple(whole.versions.decisions()),
        "question_set": tuple(replace(each[0], name="x") for each in sets),
        "conflict": (conflict,),
        "target": tuple(replace(each, name="x", quote="") for each in targets),
        "about": tuple(replace(each, name="x", quote="") for each in targets),
        "comment_id": tuple(each.id for each in comments),
        "assignment_id": tuple(each.id for each in assignments),
        "meeting_id": tuple(each.id for each in meetings),
        "contribution_id": tuple(each.id for each in statements),
        "meeting_cell": tuple(dict.fromkeys(each.at for each in meetings)),
        "links": ([replace(link, document_name="", quote="")],),
        "passage": (replace(passage, text="", document_name="", section="", entities=(), tags=()),),
        "passage_id": tuple(each.id for document in hidden for each in whole.documents.passages(document.id)),
        "shared_id": (shared.id,),
        "passage_ids": ([each.id for document in hidden for each in whole.documents.passages(document.id)],),
        "before": ([each.id for each in hidden],),
        "parents": ([each.id for each in hidden],),
        "units": tuple(str(each.id) for each in hidden),
        "document_id": tuple(each.id for each in hidden),
        "document": (_unknown(plan), _unknown(table)),
        "document_ids": ([each.id for each in hidden], [shared.id, plan.id]),
        "documents": ([_unknown(plan), _unknown(newer)],),
        "project": ("Beta", None, "Alpha"),
        "board": tuple(_unknown_board(each) for each in boards),
        "topic_id": tuple(each.id for each in topics),
        "edit": tuple(each.number for each in whole.coverage.topic_edits(100)),
        "topics": ([Topic("turbine inspection", project="Beta")], [replace(topics[1], name="x", retired=True)]),
        "run_id": tuple(each.run_id for each in boards),
        "since": tuple(each.run_id for each in boards),
        "decision": tuple(replace(each, comment="", topic="", pinned=()) for each in decisions),
        "decisions": ([replace(each, comment="", topic="", pinned=()) for each in decisions],),
        "decision_id": tuple(each.id for each in decisions),
        "set_id": (*(each[0].id for each in sets), 1),
        "question_id": tuple(each[1].id for each in sets),
        "questions": ([replace(each[1], question="x") for each in sets],),
        "experiment_id": tuple(each[2].id for each in sets),
        "shortlist_id": (shortlist.id,),
        "shortlist": (replace(shortlist, name="x", items=()),),
        "view": (replace(view, name="x", request=SearchRequest("turbine")),),
        "view_id": (view.id,),
        "views": ([replace(view, name="x", request=SearchRequest("turbine"))],),
        "table": (replace(reality, document_name="", columns=()),),
        "older": (replace(reality, document_name="", columns=()),),
        "name": (reality.name, "x"),
        "sql": (f"SELECT * FROM {reality.name}", "SELECT 1"),
    }


def _met(whole: Workbench, board: Board) -> Meeting:
    return whole.meetings.start(board, f"About {SECRET}", board.cells[:3], (f"Bob {SECRET}",), "Ann")


def _unknown(document: Document) -> Document:
    """What an intruder knows of a document: its number."""
    return replace(document, name="x", title="", tags=(), owner="", url="", warnings=())


def _unknown_item(item: InsightOrEpisode) -> InsightOrEpisode:
    words = {"question": "x", "reflection": "x"} if isinstance(item, Episode) else {"text": "x"}
    return replace(item, links=(), tags=(), **words)  # type: ignore[arg-type]


def _unknown_board(board: Board) -> Board:
    return replace(board, topics=(), cells=(), gaps=())
