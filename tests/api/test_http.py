"""The API of the running app, by real HTTP clients on loopback: what the docs show, many searchers, and a restart."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

import sample
from tests.running import RunningApp, until

DOCS = Path(__file__).resolve().parents[2] / "docs"
SEARCHERS = 50
QUESTIONS = ("When must overtime be paid?", "Who approves overtime?", "sick leave", "minimum wage", "deductions")


@pytest.mark.slow
def test_programs_use_the_running_app(start: Callable[[], RunningApp]) -> None:
    """One story, because a start takes a quarter of a minute."""
    app = start()
    with httpx.Client(base_url=f"{app.url}/api", headers={"X-Requested-With": "tests"}, timeout=120) as api:
        the_example_of_the_docs_runs(app)
        documents = uploaded(api)
        many_search_at_the_same_time(api, app)
        pages_and_api_are_kept_apart(app)
        curl_reads_what_pages_would(app)
        first = api.post("/documents", files=FILE, headers=KEY)
        assert first.status_code == 201
        app.read_by_now(documents + 1)
    app.stop()
    again = start()
    with httpx.Client(base_url=f"{again.url}/api", headers={"X-Requested-With": "tests"}, timeout=120) as api:
        repeated = api.post("/documents", files=FILE, headers=KEY)
        assert (repeated.status_code, repeated.json()) == (201, first.json()), "a key outlives a restart"
        assert repeated.headers["idempotency-replayed"] == "true"
        assert api.get("/statistics").json()["documents"] == documents + 1


FILE = {"file": ("late.md", b"# Leave\nEmployees must get sick leave after ninety days.")}
KEY = {"Idempotency-Key": "restart-1"}


def the_example_of_the_docs_runs(app: RunningApp) -> None:
    """The Python of docs/api.md, as it stands there."""
    code = re.search(r"```python\n(.+?)```", (DOCS / "api.md").read_text("utf-8"), re.DOTALL)
    assert code
    run = subprocess.run(
        [sys.executable, "-c", code.group(1)],
        env={**os.environ, "FIVEFOLD_URL": app.url, "FIVEFOLD_TOKEN": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    assert "policy.md: All overtime must be approved in writing by a manager" in run.stdout
    assert "compliance" in run.stdout.splitlines()[-1]


def uploaded(api: httpx.Client) -> int:
    """Uploads some of the sample; how many documents there are then."""
    paths = sorted(sample.files())[:6]
    for path in paths:
        assert api.post("/documents", files={"file": (path.name, path.read_bytes())}).status_code == 201
    expected = len(paths) + 1
    until(lambda: api.get("/statistics").json()["by_state"].get("ready") == expected, 300, "the reading of the uploads")
    return expected


def many_search_at_the_same_time(api: httpx.Client, app: RunningApp) -> None:
    """Each searcher is a client of its own, and all are answered."""
    expected = {question: hits(api, question) for question in QUESTIONS}

    def searched(number: int) -> tuple[str, list[int]]:
        question = QUESTIONS[number % len(QUESTIONS)]
        with httpx.Client(base_url=f"{app.url}/api", timeout=120) as client:
            return question, hits(client, question)

    with ThreadPoolExecutor(SEARCHERS) as pool:
        found = list(pool.map(searched, range(SEARCHERS)))
    assert len(found) == SEARCHERS
    assert all(passages == expected[question] for question, passages in found)


def hits(client: httpx.Client, question: str) -> list[int]:
    """The passages found, best first."""
    answer = client.get(
        "/search",
        params={"q": question, "limit": 5, "profile": "relevance", "date_to": "2030-01-01", "include_undated": True},
    )
    assert answer.status_code == 200, answer.text
    assert not [leg["error"] for leg in answer.json()["legs"] if leg["error"]]
    return [hit["passage_id"] for hit in answer.json()["hits"]]


def pages_and_api_are_kept_apart(app: RunningApp) -> None:
    """Unknown paths of the API are its own; the pages are where they were."""
    for path in ("/api/nonsense", "/api/documents/1/nonsense", "/api/x%0Ay"):
        answer = httpx.get(app.url + path)
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json"), path
    assert httpx.post(f"{app.url}/api/documents/1").status_code == 405
    assert httpx.get(f"{app.url}/api/search").status_code == 400
    for path in ("/", "/search", "/coverage"):
        assert httpx.get(app.url + path).headers["content-type"].startswith("text/html"), path


def curl_reads_what_pages_would(app: RunningApp) -> None:
    """The second command of the docs; machines without curl have the other clients."""
    curl = shutil.which("curl")
    if curl is None:
        return
    command = [curl, "-s", "-G", f"{app.url}/api/search", "--data-urlencode", "q=overtime", "-d", "limit=1"]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert '"schema":"fivefold.search/1"' in run.stdout
