"""Eve may do everything in project Alpha and nothing elsewhere: every method of every service is tried on the secret.

The attempts are made by reflection over the rights table: each method is called with everything its parameters may be
given by somebody who guesses numbers. A new method is tried without a new test; a parameter of a new name needs a
candidate, or the test fails.
"""

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Engine, text

from core.access.audit import AuditOutcome, AuditQuery
from core.access.rights import NESTED, RIGHTS
from core.domain.coverage import Cell, CellState, GapKind, ReviewerOpinion, ReviewVerdict
from core.domain.dataset_queries import TableQuery
from core.domain.datasets import LinkState, TableLink
from core.domain.document_list import DocumentQuery
from core.domain.documents import TableRole, Truth
from core.domain.entities import Entity, EntityType
from core.domain.errors import AccessDenied, FivefoldError
from core.domain.evaluation import Level
from core.domain.filters import SearchFilters
from core.domain.people import Role
from core.domain.queries import SearchRequest
from core.evaluation.judgments.files import FILES
from core.evaluation.judgments.imports import JudgmentImportPreview
from core.insights.store import Episode, Insight, InsightQuery
from core.knowledge.profiles import BUILT_IN
from core.library.bulk_edit.plan import BulkEdit
from core.library.bulk_edit.store import LabelEdit
from core.library.enrichment.values import Operation, QuotedSpan
from core.library.upload_queue import NewFile, UploadQueueView
from core.table_qa.guided import GuidedForm
from core.workbench import Workbench
from storage.migrations.schema import METADATA
from storage.postgres.database import Scope
from tests.access.world import EVE, SECRET, World, opened_world

_QUESTION = "Who inspects the turbine each year, and at what rate is overtime paid?"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, models: Path, engine: Engine) -> Iterator[World]:
    """The library with its secret."""
    url = engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
    with opened_world(tmp_path_factory.mktemp("world"), models, url) as opened:
        yield opened


def _method(workbench: Workbench, action: str) -> Any:
    found: Any = workbench
    for part in action.split("."):
        found = getattr(found, part)
    return found


def _attempts(world: World, action: str) -> list[dict[str, Any]]:
    """Arguments for several calls; a parameter that has a default is left out once."""
    method = _method(world.whole, action)
    if not callable(method) or isinstance(inspect.getattr_static(type(method), "__call__", None), property):
        return [{}]
    parameters = inspect.signature(method).parameters
    given = {name: _candidates(world, action, parameter) for name, parameter in parameters.items()}
    required = [name for name, each in parameters.items() if each.default is inspect.Parameter.empty]
    rounds = max([1, *(len(given[name]) for name in given if given[name])])
    calls = []
    for turn in range(rounds):
        chosen = {name: values[turn % len(values)] for name, values in given.items() if values}
        calls += [chosen, {name: chosen[name] for name in required}]
    return calls


def _candidates(world: World, action: str, parameter: inspect.Parameter) -> tuple[Any, ...]:
    name = parameter.name
    found = _BY_ACTION.get((action, name)) or world.candidates.get(name) or _COMMON.get(name)
    if callable(found):
        found = found(world)
    if found is None and RIGHTS[action].library_wide:
        return (None,)  # refused whatever it is given
    if found is None and parameter.default is inspect.Parameter.empty:
        pytest.fail(f"{action} has a parameter '{name}' that no attempt is made with: add a candidate to this test.")
    return tuple(found or ())


def _result(world: World) -> tuple[Any, ...]:
    """A result of Eve's own, for what is done with one."""
    return (world.eve.search.run(SearchRequest(_QUESTION), remember=False),)


def _answer(world: World) -> tuple[Any, ...]:
    return (world.eve.answers.ask(_QUESTION, filters=SearchFilters(), profile=""),)


def _hidden_edit(world: World) -> tuple[Any, ...]:
    """A change of a hidden document, one that takes it to Alpha, and one that takes a shared document to Beta."""
    edits = (("owner", "", "Eve", world.hidden[0].id), ("project", "Beta", "Alpha", world.hidden[0].id))
    changes = [[LabelEdit(number, "x", field, before, after)] for field, before, after, number in edits]
    return (*changes, [LabelEdit(world.candidates["shared_id"][0], "holiday.md", "project", "", "Beta")])


def _rows_of_hidden(world: World) -> tuple[Any, ...]:
    return ([(each.id, "truth", "regulatory") for each in world.hidden],)


def _plan(world: World) -> tuple[Any, ...]:
    return ({each.id: [BulkEdit("owner", "Eve")] for each in world.hidden},)


def _vocabulary(world: World) -> tuple[Any, ...]:
    return (world.eve.vocabulary.current(),)


def _opinions(world: World) -> tuple[Any, ...]:
    return ([],)


_COMMON: Mapping[str, Any] = {
    "question": (_QUESTION,),
    "request": (
        SearchRequest(_QUESTION),
        SearchRequest(_QUESTION, SearchFilters(projects=("Beta",))),
        SearchRequest('"turbine"', SearchFilters(archived=None)),
    ),
    "requests": ([SearchRequest(_QUESTION)],),
    "truth": tuple(Truth),
    "filters": lambda world: (
        SearchFilters(),
        SearchFilters(projects=("Beta",)),
        SearchFilters(archived=None, documents=tuple(each.id for each in world.hidden)),
    ),
    "query": (DocumentQuery(), DocumentQuery(project="Beta"), DocumentQuery(state="archived")),
    "result": _result,
    "profile": (BUILT_IN.default(None),),
    "part": ("", "turbine"),
    "kind": (None,),
    "limit": (50,),
    "offset": (0,),
    "page": (1,),
    "per_page": (20,),
    "who": ("Ann",),
    "by": (EVE,),
    "words": ("", "turbine"),
    "sure": (0.5,),
    "number": (1,),
    "entity": (Entity("turbine", next(iter(EntityType))),),
    "term": ("turbine",),
    "terms": (["turbine"],),
    "cache": ({},),
    "text": ("turbine",),
    "tags": ((),),
    "data": (b"Overtime is paid at Alpha.",),
    "answer": _answer,
    "field": ("truth", "project"),
    "value": ("intent",),
    "archived": (True,),
    "password": ("secret",),
    "quote": (QuotedSpan("x", 1, 0, 1, 1, 0),),
    "operation": (Operation.SUMMARY,),
    "note": ("x",),
    "at_once": (True,),
    "ref": ("balanced",),
    "brought": ([BUILT_IN.default(None)],),
    "profiles": (["balanced"],),
    "level": (Level.DOCUMENT,),
    "every_hours": (1,),
    "after": (0, 1),
    "role": (TableRole.SETUP,),
    "labels": _rows_of_hidden,
    "requested": _plan,
    "cell": (Cell("turbine", Truth.INTENT, CellState.GAP, 0.0, 0.5, topic_id=2),),
    "opinion": (ReviewerOpinion(ReviewVerdict.CONFIRMED, "Eve"),),
    "opinions": _opinions,
    "verdict": (ReviewVerdict.CONFIRMED,),
    "title": ("x",),
    "invited": (["Ann"],),
    "state": (LinkState.CONFIRMED,),
    "link": (TableLink("hours", "beta_hours", "hours", 1.0),),
    "url": ("https://127.0.0.1/x",),
    "path": ("/x",),
    "most": (10,),
    "most_rows": (10,),
    "used": (True,),
    "form": (GuidedForm("beta_hours", column="quillfeather_site"),),
    "what": ("x",),
    "grade": (3,),
    "conflict": lambda world: world.candidates["conflict"],
    "shared": (True,),
    "paused": (True,),
    "site": ("https://library.example.org",),
    "key": ("x",),
    "fingerprint": ("x",),
    "status": (200,),
    "reply": ({},),
    "mailed": (frozenset(),),
    "ids": ([1, 2, 3],),
    "to": ("ann@example.org", EVE.login),
    "task": ("x",),
    "due": (None,),
    "mentions": ((), ("ann@example.org",)),
    "file": (next(iter(FILES)),),
    "shown": (UploadQueueView.ALL,),
    "index": (0,),
    "step": (1,),
    "action": ("x",),
    "first": (True,),
    "helpful": (True,),
    "expires": (None,),
    "token_id": (1,),
    "on_step": (),
    "vocabulary": _vocabulary,
}
"""Parameter → what it is called with, where it says nothing of the secret."""

_BY_ACTION: Mapping[tuple[str, str], Any] = {
    ("bulk_edit.apply", "changes"): _hidden_edit,
    ("documents.correct_many", "changes"): _rows_of_hidden,
    ("insights.counts", "kind"): (Insight, Episode),
    ("insights.counts", "query"): (InsightQuery(), InsightQuery(project="Beta"), InsightQuery(deleted=True)),
    ("insights.episodes", "query"): (InsightQuery(), InsightQuery(project="Beta"), InsightQuery(deleted=True)),
    ("insights.insights", "query"): (InsightQuery(), InsightQuery(project="Beta"), InsightQuery(words="turbine")),
    ("coverage.history", "kind"): tuple(GapKind),
    **{
        (f"meetings.{name}", "cell"): lambda world: world.candidates["meeting_cell"]
        for name in ("comment", "propose", "raise_point", "show")
    },
    ("meetings.start", "agenda"): ([Cell("turbine", Truth.INTENT, CellState.GAP, 0.0, 0.5, topic_id=2)],),
    ("answers.ask", "profile"): ("",),
    ("cite_check.check", "text"): (
        "\n".join(f"A turbine is inspected each year [{number}]." for number in range(60)),
        "\n".join(f"A turbine is inspected each year [{number}.0]." for number in range(60)),
    ),
    ("evaluation.judging.accept", "preview"): lambda world: [
        JudgmentImportPreview(number, "x") for number in world.candidates["set_id"]
    ],
    ("history.undo", "entry"): lambda world: world.candidates["entry"],
    ("versions.named", "decision"): lambda world: world.candidates["version_decision"],
    ("upload_queue.take_in", "files"): ([NewFile("x.md", lambda: b"Overtime is paid at Alpha.")],),
    ("evaluation.experiments.begin", "profile"): ("balanced",),
    **{
        (f"evaluation.judging.{name}", "questions"): lambda world: world.candidates["question_set"]
        for name in ("annotate", "rename", "restore", "retire", "schedule")
    },
    ("tokens.create", "role"): (Role.VIEWER,),
    ("tables.rows", "query"): (TableQuery("beta_hours"),),
    ("tables.follow", "query"): (TableQuery("beta_hours"),),
}
"""Where the same name means something else."""


def _texts(value: object, depth: int = 0) -> Iterator[str]:
    """Every text inside a value."""
    if depth > 12 or value is None or isinstance(value, bool | int | float | np.ndarray):
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, bytes):
        yield value.decode("utf-8", "replace")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(key, depth + 1)
            yield from _texts(item, depth + 1)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _texts(getattr(value, field.name, None), depth + 1)
    elif isinstance(value, list | tuple | set | frozenset) or hasattr(value, "__next__"):
        for item in value:
            yield from _texts(item, depth + 1)
    else:
        yield repr(value)


@pytest.mark.parametrize("action", sorted(RIGHTS))
def test_nothing_tells_the_secret(world: World, action: str) -> None:
    for given in _attempts(world, action):
        try:
            method = _method(world.eve, action)
            result = method(**given) if callable(method) else method
            text = " ".join(_texts(result))
        except (FivefoldError, ValueError) as refused:
            text = str(refused)
        assert SECRET not in text.lower(), (action, given, _around(text))


def _around(expected: str) -> str:
    place = expected.lower().index(SECRET)
    return expected[max(0, place - 200) : place + 100]


def test_nothing_that_is_hidden_was_changed_by_any_attempt(world: World, engine: Engine) -> None:
    """Runs after the attempts: rows about the secret are what they were when the library was filled."""
    for document in world.hidden:
        assert world.whole.documents.get(document.id) == document
    assert len(world.whole.coverage.topics("Beta")) == 2
    for each in world.whole.meetings.meetings("Beta"):
        view = world.whole.meetings.view(each.id)
        assert view.present == ("Ann",) and {each.who for each in view.contributions} == {"Ann"}
    assert {each.who for each in world.whole.history.newest()} == {"Ann"}


def test_every_public_method_of_every_service_has_a_row_in_the_rights_table(world: World) -> None:
    found = set()
    for field in fields(Workbench):
        service = getattr(world.whole, field.name)
        if type(service).__module__.startswith("core.") and not inspect.isroutine(service):
            found |= set(_public(field.name, service))
    assert found == set(RIGHTS)


def _public(path: str, service: object) -> Iterator[str]:
    parts = {name for name in dir(service) if not name.startswith("_")}
    for name in sorted(parts):
        action = f"{path}.{name}"
        if action in NESTED:
            yield from _public(action, getattr(service, name))
        elif action not in _PARTS:
            yield action


_PARTS = frozenset(
    {
        *(
            f"answers.{name}"
            for name in ("catalogue", "figures", "now", "pipeline", "processes", "profiles", "terms", "writer")
        ),
        *("active_learning.classifier", "active_learning.corrector"),
        *("audit.record", "people.principal", "people.sign_in", "tokens.verify"),
    }
)
"""What services are made of, and what doors call before they know who comes in: open to nobody."""


def test_what_services_are_made_of_is_open_to_nobody(world: World) -> None:
    for action in _PARTS:
        with pytest.raises(AccessDenied, match="open to nobody"):
            _method(world.eve, action)


def test_counts_are_those_of_a_library_without_the_secret(world: World) -> None:
    eve, hidden = world.eve, {each.id for each in world.hidden}
    seen = eve.documents.list(archived=None)  # attempts have added documents to her own project
    assert {"holiday.md", "alpha overtime.md"} <= {each.name for each in seen}
    assert not hidden & {each.id for each in seen} and {each.project for each in seen} == {None, "Alpha"}
    assert eve.documents.statistics().documents == eve.document_list.page(DocumentQuery()).total == len(seen)
    facets = eve.search.facets(SearchFilters())
    assert set(facets["projects"]) == {"Alpha"} and not facets["tags"]
    assert not hidden & {int(each) for each in facets["documents"]}
    result = eve.search.run(SearchRequest(_QUESTION), remember=False)
    assert result.hits and not hidden & {hit.candidate.passage.document_id for hit in result.hits}
    assert {leg.rows_before for leg in result.legs if not leg.error} == {sum(facets["documents"].values())}


def test_the_database_itself_hides_every_row_of_the_secret(world: World) -> None:
    """The first lock without the second: plain queries without any condition, under Eve's scope."""
    scoped = replace(world.library.database, scope=Scope(EVE.projects, EVE.login))
    for table in METADATA.sorted_tables:
        if table.name in _WHOLE_LIBRARY or "SELECT" not in table.info["rights"]:
            continue
        with scoped.transaction("attacking") as connection:
            rows = connection.execute(text(f"SELECT to_jsonb(t)::text FROM {table.name} AS t")).scalars().all()
        assert not [row for row in rows if SECRET in row.lower()], table.name


_WHOLE_LIBRARY = frozenset({"links", "words", "audit_log", "lesson_versions"})
"""Read only behind a visible row (links), as numbers of words (words), or by an administrator of every project."""


@pytest.mark.parametrize("shared", [True, False])
def test_what_would_be_stored_in_a_hidden_project_is_refused_and_recorded(world: World, shared: bool) -> None:
    request = SearchRequest(_QUESTION, SearchFilters(projects=("Beta",)))
    with pytest.raises(AccessDenied, match="no role in this project"):
        world.eve.saved_searches.save("Turbines", request, "results", shared=shared)  # type: ignore[call-arg]
    newest = world.whole.audit.page(AuditQuery(), 1).entries[0]
    assert (newest.action, newest.outcome) == ("saved_searches.save", AuditOutcome.REFUSED)
