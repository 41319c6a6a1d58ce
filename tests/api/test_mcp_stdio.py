"""The MCP server as a client starts it: `python -m cli mcp`, its own process, over standard input and output."""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, closing
from math import prod
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client, MCPError, StdioServerParameters
from typer.testing import CliRunner

from bootstrap.environment import Settings
from bootstrap.workbench import open_workbench
from cli.main import app
from core.domain.people import Door, Identity, Role
from storage.embedded_postgres.server import start_embedded
from tests.running import in_own_loop

ROOT = Path(__file__).resolve().parents[2]
POLICY = """# Vacation policy

It is our policy that every employee requests vacation in writing. Managers must approve vacation within 5 working days.
Employees who violate this policy are subject to disciplinary action. Human Resources reviews this policy each year.
"""
LAW = """# Sec. 12. Minimum wage

(a) Every employer shall pay to each of his employees a minimum wage of not less than $7.25 an hour.
(b) Any employer who violates the provisions of this section shall be liable under section 216 of this title.
The Secretary of Labor shall by regulation define the terms of this section. 29 U.S.C. 206(a).
"""


@pytest.fixture(scope="module")
def library(command_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data folder with two documents and a table."""
    files = tmp_path_factory.mktemp("files")
    (files / "vacation-policy.md").write_text(POLICY)
    (files / "wages.md").write_text(LAW)
    (files / "staff.csv").write_text("name,state\nAda,CA\nBen,NY\nCleo,CA\n")
    with closing(start_embedded(command_folder)):
        CliRunner().invoke(app, ["ingest", str(files)])
        yield command_folder


@asynccontextmanager
async def connected(folder: Path, token: str = "") -> AsyncIterator[Client]:
    """A client of a server process on this data folder, which speaks for a token if there is one."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "cli", "mcp"],
        cwd=ROOT,
        env={"FIVEFOLD_DATA_FOLDER": str(folder), "HF_HUB_OFFLINE": "1", "FIVEFOLD_MCP_TOKEN": token},
    )
    async with Client(server) as client:
        yield client


Story = Callable[[Client], Awaitable[None]]


@pytest.fixture(scope="module")
def tell(library: Path) -> Iterator[Callable[[Story], None]]:
    """Runs a story with the client of one server process, which all stories without a token share: starting one takes
    seconds of a core."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(connected(library)) as client:
        yield lambda story: portal.call(story, client)


async def called(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured answer of a tool that must succeed."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """The message of a tool that must refuse."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(result.content[0].text)  # type: ignore[union-attr]


def test_a_program_searches_reads_and_checks_its_citations(tell: Callable[[Story], None]) -> None:
    async def story(client: Client) -> None:
        found = await called(client, "hybrid_search", query="How fast must a manager approve vacation?", top_k=3)
        first = found["results"][0]
        assert first["document"] == "vacation-policy.md"
        assert {leg["leg"] for leg in found["legs"]} >= {"dense", "sparse"}
        assert all(leg["milliseconds"] >= 0 and not leg["error"] for leg in found["legs"])
        total = sum(each["contribution"] for each in first["factors"]) * prod(first["multipliers"].values())
        assert total == pytest.approx(first["score"], abs=1e-6)
        cited = next(each for each in first["citations"] if "5 working days" in each["quote"])

        passage = await called(client, "read_passage", citation_id=cited["citation_id"])
        assert cited["quote"] in passage["text"]
        assert cited["citation_id"] in {each["citation_id"] for each in passage["sentences"]}

        name = cited["citation_id"]
        text = (
            f"Managers have to approve vacation within 5 working days [{name}]. "
            f"Managers must approve vacation within 9 working days [{name}]. "
            "Vacation is approved by the manager [999999.0]. The rest is guessed."
        )
        checked = await called(client, "cite_check", text=text)
        assert [each["state"] for each in checked["sentences"]] == [
            "supported",
            "not supported",
            "not found",
            "not cited",
        ]
        assert checked["sentences"][1]["decided_by"]["quote"] == cited["quote"]
        assert checked["counts"] == {"supported": 1, "not supported": 1, "not found": 1, "not cited": 1}

    tell(story)


def test_filters_are_applied_and_named_in_the_answer(tell: Callable[[Story], None]) -> None:
    async def story(client: Client) -> None:
        found = await called(
            client,
            "hybrid_search",
            query="vacation approval",
            truth_filter=["regulatory"],
            source_type_filter=["upload"],
            date_to="2030-01-01",
            include_undated=True,
            exclude={"tags": ["draft"]},
            weights={"similarity": 1.0},
            threshold=0.0,
        )
        assert found["applied_filters"]["truths"] == ["regulatory"]
        assert found["applied_filters"]["exclude_tags"] == ["draft"]
        assert "truth is regulatory" in found["filters_in_words"]
        assert {each["truth"] for each in found["results"]} <= {"regulatory"}
        assert found["weights"] == {"similarity": 1.0}
        none = await called(client, "hybrid_search", query="vacation", tags_filter=["nothing has this tag"])
        assert none["results"] == []
        assert all(leg["rows_after"] == 0 for leg in none["legs"])

    tell(story)


def test_truths_tables_topics_insights_and_episodes_are_asked(tell: Callable[[Story], None]) -> None:
    async def story(client: Client) -> None:
        answer = await called(client, "answer", question="What is the minimum wage?", write=True)
        assert [each["truth"] for each in answer["truths"]] == [
            "regulatory",
            "compliance",
            "intent",
            "reference",
            "reality",
        ]
        assert "7.25" in answer["text"]
        counted = await called(client, "ask_table", question="How many staff are in CA?")
        assert counted["answered"], counted["refusal"]
        assert counted["rows"] == [["2"]]
        assert "COUNT" in counted["sql"]
        board = await called(client, "coverage", topics=["minimum wage", "vacation"])
        assert board["topics"] == ["minimum wage", "vacation"]
        assert sum(board["counts"].values()) == len(board["cells"])
        only_gaps = await called(client, "coverage", topics=["minimum wage"], only_gaps=True)
        assert len(only_gaps["cells"]) == len(only_gaps["gaps"]) > 0
        assert (await called(client, "list_insights"))["total"] == 0
        assert (await called(client, "list_episodes"))["total"] == 0

    tell(story)


def test_a_refusal_says_what_happened_and_what_to_do(tell: Callable[[Story], None]) -> None:
    async def story(client: Client) -> None:
        assert "sum to 0.3" in await refused(client, "hybrid_search", query="pay", weights={"similarity": 0.3})
        assert "has 2 dimensions" in await refused(client, "hybrid_search", query="pay", query_embedding=[0.1, 0.2])
        assert "cannot be excluded" in await refused(client, "hybrid_search", query="pay", exclude={"colour": ["red"]})
        assert "date_from is not a date" in await refused(client, "hybrid_search", query="pay", date_from="soon")
        assert "search again" in await refused(client, "read_passage", passage_id=999_999)
        assert "Give either" in await refused(client, "read_passage")
        assert "No board" in await refused(client, "coverage", project="no such project")
        assert "top_k" in await refused(client, "hybrid_search", query="pay", top_k=0)

    tell(story)


def test_documents_and_pages_are_resources(tell: Callable[[Story], None]) -> None:
    async def story(client: Client) -> None:
        templates = (await client.list_resource_templates()).resource_templates
        assert [each.uri_template for each in templates] == [
            "fivefold://documents/{document_id}",
            "fivefold://documents/{document_id}/pages/{number}",
        ]
        found = await called(client, "hybrid_search", query="vacation")
        passage = await called(client, "read_passage", passage_id=found["results"][0]["passage_id"])
        [document] = (await client.read_resource(passage["document_resource"])).contents
        assert '"vacation-policy.md"' in document.text  # type: ignore[union-attr]
        [page] = (await client.read_resource(f"{passage['document_resource']}/pages/1")).contents
        assert passage["text"] in page.text  # type: ignore[union-attr]
        with pytest.raises(MCPError, match="not in the library"):
            await client.read_resource("fivefold://documents/999999")

    tell(story)


def test_a_token_in_the_environment_decides_what_is_seen(library: Path) -> None:
    opened = open_workbench(Settings(data_folder=library, worker=False))
    with closing(opened):
        whole = opened.workbench
        whole.people.invite("ann@x.org", Role.ADMINISTRATOR)
        whole.people.invite("ben@x.org", Role.VIEWER, "Payroll")
        ben = whole.people.sign_in(Identity("ben@x.org", "Ben"), Door.BROWSER)
        _, secret = whole.tokens.create("tests", Role.VIEWER, None, ben)
        hidden = whole.documents.upload(
            "merger.md", b"# Merger\n\nThe merger with Northwind closes in May.", project="Board"
        )
        whole.ingestion.ingest(hidden.document_id)

    async def searched(given: str) -> str:
        async with connected(library, given) as client:
            result = await client.call_tool("hybrid_search", {"query": "merger with Northwind", "threshold": 0.0})
            return str(result.content)

    assert "merger.md" in in_own_loop(searched, "")
    assert "merger.md" not in in_own_loop(searched, secret)


def test_a_revoked_token_ends_at_the_next_call(library: Path) -> None:
    with closing(open_workbench(Settings(data_folder=library, worker=False))) as opened:
        whole = opened.workbench
        whole.people.invite("cleo@x.org", Role.VIEWER)
        cleo = whole.people.sign_in(Identity("cleo@x.org", "Cleo"), Door.BROWSER)
        token, secret = whole.tokens.create("tests", Role.VIEWER, None, cleo)

        async def asked_twice() -> list[str]:
            answers = []
            async with connected(library, secret) as client:
                for _ in range(2):
                    answers.append(str(await client.call_tool("list_insights", {})))
                    whole.tokens.revoke(token.id, cleo)
            return answers

        first, second = in_own_loop(asked_twice)
    assert "unknown, expired or revoked" not in first
    assert "unknown, expired or revoked" in second
