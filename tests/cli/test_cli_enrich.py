"""Enrichment by command: of what lacks it, of all, of one; and how far the library is."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bootstrap.environment import Settings
from bootstrap.workbench import open_workbench
from cli.main import app
from core.domain.documents import DocumentState
from core.workbench import Workbench
from tests.enrich.reading import POLICY


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def counts() -> dict:
    return json.loads(run("enrichment", "statistics", "--json").stdout)


@pytest.fixture(scope="module")
def library(command_folder: Path) -> Iterator[Workbench]:
    """Two documents, read but not enriched, in a library that is open while commands use it."""
    with open_workbench(Settings(command_folder, worker=False)) as opened:
        for number in (1, 2):
            document_id = opened.documents.upload(
                f"leave{number}.md", f"{POLICY}\nNumber {number}.\n".encode()
            ).document_id
            assert opened.ingestion.ingest(document_id).state is DocumentState.READY
        yield opened


def test_a_library_is_enriched_counted_and_enriched_again(library: Workbench) -> None:
    assert (counts()["total"], counts()["enriched"], counts()["rate"]) == (2, 0, 0.0)
    one = run("enrich", "leave1.md")
    assert one.exit_code == 0 and "1 documents, 0 with failures." in one.stdout
    assert counts()["enriched"] == 1
    rest = run("enrich")
    assert rest.exit_code == 0 and "1 documents" in rest.stdout
    assert counts()["rate"] == 100.0 and counts()["operations"][0]["done"] == 2
    assert "0 documents" in run("enrich").stdout and "0 documents" in run("enrich", "--failed").stdout
    assert "2 documents" in run("enrich", "--all").stdout
    assert "2 of 2 documents enriched (100%)" in run("enrichment", "statistics").stdout
    assert library.enrichment.of(library.documents.list()[0].id).document_type.value == "policy"


def test_what_cannot_be_meant_is_told(library: Workbench) -> None:
    for wrong in (("enrich", "nowhere.md"), ("enrich", "leave1.md", "--all"), ("enrich", "--all", "--failed")):
        result = run(*wrong)
        assert result.exit_code == 2 and "Error: " in result.stderr
