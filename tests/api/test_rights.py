"""Eve has a token for project Alpha: every route, found by reflection, is tried on what project Beta hides from her."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Event
from typing import Any, cast

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from api.app import create_app
from core.domain.documents import LABEL_FIELDS
from core.domain.people import Role
from tests.access.world import EVE, SECRET, World, opened_world
from tests.api.described import APP
from tests.database import shared_engine
from tests.running import until

OPERATIONS = [(method.upper(), path) for path, methods in APP.openapi()["paths"].items() for method in methods]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, models: Path) -> Iterator[World]:
    """The library with its secret."""
    url = shared_engine().url.set(drivername="postgresql").render_as_string(hide_password=False)
    with opened_world(tmp_path_factory.mktemp("world"), models, url) as opened:
        yield opened


@pytest.fixture(scope="module")
def eve(world: World) -> TestClient:
    """A client with Eve's token, from another machine."""
    world.whole.people.invite(EVE.login, Role.ADMINISTRATOR, "Alpha")
    _, secret = world.whole.tokens.create("attack", Role.ADMINISTRATOR, None, EVE)
    return TestClient(
        create_app(lambda: world.library, rate=lambda: "1000000/minute"),
        base_url="http://fivefold.example",
        client=("192.0.2.7", 50000),
        headers={"Authorization": f"Bearer {secret}"},
        raise_server_exceptions=False,
    )


def values_of(world: World, name: str) -> tuple[Any, ...]:
    """What a parameter of a path may be given by somebody who guesses numbers and names."""
    by_name = {
        "number": (1,),
        "field": LABEL_FIELDS[:1],
        "name": (world.candidates["name"][0], SECRET, "balanced"),
    }
    return by_name.get(name) or world.candidates[name]


def bodies_of(world: World, path: str) -> list[dict[str, Any]]:
    """Bodies that ask for the hidden project and its objects."""
    plan, topic = world.hidden[0].id, world.candidates["topic_id"][-1]
    question = {"question": "Who inspects the turbine each year?"}
    beta = {"filters": {"projects": ["Beta"]}}
    by_path: dict[str, list[dict[str, Any]]] = {
        "/search": [question, question | beta, question | {"filters": {"documents": [plan]}}],
        "/search/rescore": [{"search": question | beta, "scoring": {"profile": "relevance", "threshold": 0.0}}],
        "/search/why-not": [{"search": question, "document_id": plan}],
        "/search/facets": [{}, {"projects": ["Beta"]}],
        "/answers": [question | {"write": True}, question | {"project": "Beta"}],
        "/tables/ask": [{"question": "How many hours are there by site?", "project": "Beta"}],
        "/coverage/topics": [{"project": "Beta", "topics": [{"name": "turbine"}]}],
        "/coverage/topics/{topic_id}": [{"version": 1, "project": "Beta", "owner": "Eve"}],
        "/coverage/runs": [{"project": "Beta"}, {"resume": world.candidates["run_id"][-1]}],
        "/coverage/decisions": [{"project": "Beta", "topic_id": topic, "kind": "intent", "verdict": "needs work"}],
        "/trash/restore": [{"documents": [plan]}, {"documents": [2**63]}],
        "/documents/{document_id}": [{"archived": True}],
        "/documents/{document_id}/labels": [{"truth": "regulatory"}],
        "/profiles/default": [{"project": "Beta", "name": "relevance"}],
        "/profiles/{name}": [{"weights": {"similarity": 1.0}}],
        "/evaluation/sets": [{"name": "Eve's", "project": "Beta"}],
        "/evaluation/sets/{set_id}/questions": [{"question": "turbine?"}],
        "/evaluation/sets/{set_id}/judgments": [
            {"question_id": each, "units": ["x"], "grade": 3} for each in world.candidates["question_id"]
        ],
        "/evaluation/experiments": [{"set_id": each} for each in world.candidates["set_id"]],
        "/insights": [{"text": "Eve was here.", "passages": [world.candidates["passage_id"][0]]}],
        "/insights/{insight_id}": [{"version": 1, "text": "Eve was here."}],
        "/episodes": [
            {"question": "turbine?", "opened": [world.candidates["passage_id"][0]]},
            {"question": "turbine?", "project": "Beta"},
        ],
        "/episodes/{episode_id}": [{"version": 1, "reflection": "Eve was here."}],
        "/usage": [{"kind": "helpful", "passage_id": world.candidates["passage_id"][0]}],
        "/knowledge/enrich/batch": [{"batchSize": 5}],
    }
    return by_path.get(path, [{}])


QUERIES: Mapping[str, tuple[dict[str, Any], ...]] = {
    "/documents": ({}, {"words": "turbine"}, {"project": "Beta"}, {"tag": SECRET}, {"state": "archived"}),
    "/search": ({"q": "turbine inspected"}, {"q": "turbine inspected", "projects": "Beta"}),
    "/knowledge/search": ({"q": "turbine"}, {"q": "turbine", "hybrid": "false"}, {"q": "turbine", "tags": SECRET}),
    "/entities": ({}, {"part": SECRET[:5]}),
    "/profiles/{name}": ({"after": 0},),
}
PROJECT_TOO = ({}, {"project": "Beta"}, {"project": "Beta", "format": "html"}, {"project": "Beta", "deleted": True})


def attempts(world: World, method: str, path: str) -> Iterator[tuple[str, dict[str, Any], dict[str, Any] | None]]:
    """Addresses with queries and bodies."""
    names = [part[1:-1] for part in path.split("/") if part.startswith("{")]
    rounds = max([1, *(len(values_of(world, name)) for name in names)])
    for turn in range(rounds):
        address = path
        for name in names:
            values = values_of(world, name)
            address = address.replace(f"{{{name}}}", str(values[turn % len(values)]))
        queries = QUERIES.get(path, PROJECT_TOO) if method == "GET" else QUERIES.get(path, ({},))[:1]
        bodies = [None] if method in ("GET", "DELETE") else bodies_of(world, path)
        yield from ((address, query, body) for query in queries for body in bodies)


def state(world: World) -> str:
    """What others made in project Beta; Eve's own traces in no project do not count."""
    whole = world.whole
    return repr(
        (
            [whole.documents.get(each.id) for each in world.hidden],
            whole.coverage.topics("Beta"),
            whole.coverage.log("Beta"),
            [each.id for each in whole.coverage.snapshots("Beta")],
            [whole.insights.insight(each) for each in world.candidates["insight_id"]],
            [whole.insights.episode(each) for each in world.candidates["episode_id"]],
            whole.evaluation.profiles.chosen("Beta"),
            [whole.evaluation.judging.judgments(each) for each in world.candidates["set_id"][:-1]],
        )
    )


@pytest.mark.parametrize(("method", "path"), OPERATIONS, ids=lambda each: each)
def test_no_route_shows_or_changes_what_eve_may_not_see(world: World, eve: TestClient, method: str, path: str) -> None:
    before = state(world)
    for address, query, body in attempts(world, method, path):
        files = {"file": ("eve.md", b"# Eve")} if (method, path) == ("POST", "/documents") else None
        sent = {"data": {"project": "Beta"}, "files": files} if files else {"json": body} if body is not None else {}
        answer = eve.request(method, address, params=query, **sent)  # type: ignore[arg-type]
        reported = f"{method} {address} {query} {json.dumps(body)}: {answer.status_code} {answer.text[:600]}"
        assert answer.status_code < 500, reported
        echoed = answer.text.casefold().replace(address.casefold(), "").replace(f"'{SECRET}'", "")
        assert SECRET not in echoed, reported
    assert state(world) == before, f"{method} {path} changed what is hidden"


def test_hidden_documents_are_not_counted(world: World, eve: TestClient) -> None:
    counted = eve.get("/statistics").json()
    assert counted["documents"] == len(world.eve.documents.list()) < len(world.whole.documents.list())
    assert eve.get("/documents").json()["total"] == counted["documents"]
    for each in world.hidden:
        hidden, unknown = eve.get(f"/documents/{each.id}"), eve.get("/documents/999999")
        assert hidden.status_code == unknown.status_code == 404
        assert hidden.json()["detail"].replace(str(each.id), "") == unknown.json()["detail"].replace("999999", "")


def test_nobody_stops_a_hidden_run_that_this_program_carries_out(world: World, eve: TestClient) -> None:
    run = next(each for each in world.candidates["run_id"] if eve.get(f"/coverage/runs/{each}").status_code == 404)
    work, stopped = cast(FastAPI, eve.app).state.gate.work, Event()

    def carried_out(stop: Callable[[], bool]) -> None:
        while not stopped.is_set():
            stopped.wait(0.01)
            seen.append(stop())

    seen: list[bool] = []
    work.start(f"coverage run {run}", carried_out)
    try:
        assert eve.post(f"/coverage/runs/{run}/stop").status_code == 404
        asked = len(seen)
        until(lambda: len(seen) > asked + 1, 10, "the next look whether to stop")
    finally:
        stopped.set()
    assert not any(seen)
