"""The MCP server at /mcp of the running app: the SDK's own client over real HTTP, tokens, and strangers' pages."""

import json
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import httpx
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from starlette.requests import Request

from api.mcp.http import caller
from bootstrap.environment import Settings
from bootstrap.sign_in import SignIn, SignInSettings
from bootstrap.workbench import open_workbench
from core.domain.errors import NotSignedIn
from core.domain.people import Door, Identity, Role, local_principal
from tests.running import RunningApp, in_own_loop, running_app
from tests.workbench import Stores, built

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
ACCEPTS = {"Accept": "application/json, text/event-stream"}
POLICY = "# Overtime policy\nAll overtime must be approved in writing by a manager within 5 days.\n"
SECRET = "# Merger plan\nThe merger with Northwind closes on May 5. Nobody outside the board may know of the merger.\n"


@asynccontextmanager
async def connected(url: str, token: str = "") -> AsyncIterator[Client]:
    """A client of the server, with a token if there is one."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
    ):
        yield client


async def found_by(client: Client, query: str) -> set[str]:
    """The documents of the results of a search."""
    result = await client.call_tool("hybrid_search", {"query": query, "threshold": 0.0})
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return {each["document"] for each in result.structured_content["results"]}


@pytest.fixture(scope="module")
def shared_app(
    tmp_path_factory: pytest.TempPathFactory, models: Path, prepared: Path
) -> "Iterator[tuple[RunningApp, dict[str, str]]]":
    """The app with one document for all and one of a project, and the tokens of two people."""
    folder = tmp_path_factory.mktemp("team") / "data"
    shutil.copytree(models, folder / "models", copy_function=os.link)
    shutil.copytree(prepared, folder / "postgres")
    library = open_workbench(Settings(data_folder=folder, worker=False, administrators="ann@x.org"))
    try:
        whole = library.workbench
        ann = whole.people.sign_in(Identity("ann@x.org", "Ann"), Door.BROWSER)
        whole.people.invite("ben@x.org", Role.VIEWER, "Payroll")
        ben = whole.people.sign_in(Identity("ben@x.org", "Ben"), Door.BROWSER)
        later = datetime.now(UTC) + timedelta(days=1)
        tokens = {
            "ann": whole.tokens.create("tests", Role.ADMINISTRATOR, later, ann)[1],
            "ben": whole.tokens.create("tests", Role.VIEWER, later, ben)[1],
        }
        revoked, secret = whole.tokens.create("old", Role.VIEWER, later, ann)
        whole.tokens.revoke(revoked.id, ann)
        tokens["revoked"] = secret
        for name, text, project in (("policy.md", POLICY, None), ("merger.md", SECRET, "Board")):
            receipt = whole.documents.upload(name, text.encode(), project=project)
            whole.ingestion.ingest(receipt.document_id)
    finally:
        library.close()
    with running_app(folder, FIVEFOLD_ADMINISTRATORS="ann@x.org") as app:
        yield app, tokens


def test_the_one_person_of_this_machine_needs_no_token(shared_app: tuple[RunningApp, dict[str, str]]) -> None:
    app, _ = shared_app

    async def story() -> None:
        async with connected(app.url) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert {"hybrid_search", "answer", "cite_check"} <= names
            assert await found_by(client, "merger with Northwind") >= {"merger.md"}

    in_own_loop(story)


def test_a_token_sees_the_projects_of_its_owner_and_nothing_else(
    shared_app: tuple[RunningApp, dict[str, str]],
) -> None:
    app, tokens = shared_app

    async def story() -> None:
        async with connected(app.url, tokens["ann"]) as client:
            assert "merger.md" in await found_by(client, "merger with Northwind")
            result = await client.call_tool("hybrid_search", {"query": "merger with Northwind"})
            assert result.structured_content is not None
            hidden = next(each for each in result.structured_content["results"] if each["document"] == "merger.md")
        async with connected(app.url, tokens["ben"]) as client:
            assert await found_by(client, "merger with Northwind") <= {"policy.md"}
            for tool, arguments in (
                ("read_passage", {"passage_id": hidden["passage_id"]}),
                ("cite_check", {"text": f"The merger closes on May 5 [{hidden['passage_id']}]."}),
                ("cite_check", {"text": "The merger closes on May 5 [merger.md]."}),
                ("answer", {"question": "When does the merger with Northwind close?"}),
                ("coverage", {"topics": ["merger with Northwind"]}),
            ):
                result = await client.call_tool(tool, arguments)
                answered = json.dumps(result.structured_content) + str(result.content)
                assert "Nobody outside the board" not in answered, tool
                assert "closes on May 5. " not in answered, tool
            for place in (f"documents/{hidden['document_id']}", f"documents/{hidden['document_id']}/pages/1"):
                with pytest.raises(MCPError, match="not in the library"):
                    await client.read_resource(f"fivefold://{place}")

    in_own_loop(story)


def test_many_programs_search_side_by_side(shared_app: tuple[RunningApp, dict[str, str]]) -> None:
    app, tokens = shared_app
    found: list[set[str]] = []

    async def program(token: str) -> None:
        async with connected(app.url, token) as client:
            found.append(await found_by(client, "who approves overtime"))

    async def story() -> None:
        async with anyio.create_task_group() as programs:
            for number in range(12):
                programs.start_soon(program, tokens[("ann", "ben")[number % 2]])

    in_own_loop(story)
    assert len(found) == 12
    assert all("policy.md" in each for each in found)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": "Bearer ff_wrong"}, 401),
        ({"Authorization": "Basic YTpi"}, 401),
        ({"Authorization": "Bearer"}, 401),
        ({"X-Forwarded-For": "203.0.113.9"}, 403),
        ({"Host": "evil.example"}, 400),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}, 403),
        ({"Content-Type": "text/plain"}, 400),
    ],
    ids=lambda value: str(value),
)
def test_strangers_are_refused(
    shared_app: tuple[RunningApp, dict[str, str]], headers: dict[str, str], status: int
) -> None:
    app, _ = shared_app
    sent = {"Content-Type": "application/json", **ACCEPTS, **headers}
    answer = httpx.post(f"{app.url}/mcp", content=json.dumps(HELLO), headers=sent, timeout=60)
    assert answer.status_code == status, answer.text
    assert "serverInfo" not in answer.text


def test_a_revoked_token_is_refused_with_a_hint(shared_app: tuple[RunningApp, dict[str, str]]) -> None:
    app, tokens = shared_app
    headers = {**ACCEPTS, "Authorization": f"Bearer {tokens['revoked']}"}
    answer = httpx.post(f"{app.url}/mcp", json=HELLO, headers=headers, timeout=60)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["hint"] == "Create a new one on Settings."
    assert answer.json()["request_id"] == answer.headers["x-request-id"]


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_other_verbs_are_refused(shared_app: tuple[RunningApp, dict[str, str]], method: str) -> None:
    app, _ = shared_app
    answer = httpx.request(method, f"{app.url}/mcp", timeout=60)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_a_program_that_guesses_tokens_is_told_to_stop(shared_app: tuple[RunningApp, dict[str, str]]) -> None:
    """Last of those that use the app: its guesses count for a minute."""
    app, tokens = shared_app
    with httpx.Client(base_url=app.url, timeout=60) as http:
        statuses = [
            http.post("/mcp", json=HELLO, headers={**ACCEPTS, "Authorization": f"Bearer ff_{number}"}).status_code
            for number in range(30)
        ]
        right = http.post("/mcp", json=HELLO, headers={**ACCEPTS, "Authorization": f"Bearer {tokens['ann']}"})
    assert statuses[0] == 401
    assert statuses[-1] == 429
    assert right.status_code == 200


def request(peer: str, **headers: str) -> Request:
    """A request from an address."""
    raw = [(name.replace("_", "-").lower().encode(), value.encode()) for name, value in headers.items()]
    return Request(
        {"type": "http", "method": "POST", "path": "/mcp", "headers": raw, "client": (peer, 5), "query_string": b""}
    )


def refused(*arguments: Any) -> None:
    with pytest.raises(NotSignedIn, match="token"):
        caller(*arguments)


def test_without_a_token_only_this_machine_is_served_and_only_without_sign_in(embedder: Any, tmp_path: Path) -> None:
    tokens = built(Stores(embedder), tmp_path).tokens
    local = SignInSettings()
    assert caller(request("127.0.0.1"), tokens, local) == local_principal(Door.MCP)
    assert caller(request("::1"), tokens, local) == local_principal(Door.MCP)
    refused(request("203.0.113.9"), tokens, local)
    refused(request("127.0.0.1", x_forwarded_for="203.0.113.9"), tokens, local)
    refused(request("127.0.0.1"), tokens, SignInSettings(kind=SignIn.OIDC))
    refused(request("127.0.0.1", x_forwarded_user="ann"), tokens, SignInSettings(kind=SignIn.PROXY))
    assert caller(request("203.0.113.9"), tokens, SignInSettings(allow_anyone=True)).local
