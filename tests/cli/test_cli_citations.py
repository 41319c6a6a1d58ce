"""Citations measured by command, and results written to files by command."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

import bootstrap.workbench
from cli.evaluate import citations
from cli.search import SearchFormat, output_result
from core.domain.errors import BadRequest
from core.domain.queries import SearchRequest
from core.domain.results import SearchResult
from core.workbench import Workbench
from tests.search.library import WordEmbedder, payroll_library
from tests.workbench import OpenedWorkbench, Stores, built

LINES = (
    "Employers must deposit withheld income taxes every month, and a deposit that is late is charged with a",
    "penalty of ten percent.",
    "A wage and tax statement must be furnished by January 31.",
)


def printed() -> bytes:
    from fpdf import FPDF

    paper = FPDF()
    paper.add_page()
    paper.set_font("Helvetica", size=11)
    for line in LINES:
        paper.cell(text=line, new_x="LMARGIN", new_y="NEXT")
    return bytes(paper.output())


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbench]:
    """A library of one PDF, opened by the command instead of a database."""
    workbench = built(Stores(WordEmbedder()), tmp_path)
    workbench.documents.upload("rules.pdf", printed())
    monkeypatch.setattr(bootstrap.workbench, "open_workbench", lambda settings, **_: OpenedWorkbench(workbench))
    yield workbench


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    file = tmp_path / "questions.jsonl"
    values = {"id": "q1", "question": "When must employers deposit withheld income taxes?", "kind": "fact"}
    file.write_text(json.dumps(values | {"filters": {}, "relevant": []}), "utf-8")
    return file


def run(*words: object) -> Result:
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(citations)
    return CliRunner().invoke(app, [str(word) for word in words])


def test_citations_are_measured_per_kind_of_document(library: Workbench, questions: Path, tmp_path: Path) -> None:
    out = tmp_path / "measures.json"
    result = run(questions, "--json", out)
    assert result.exit_code == 0, result.output
    data = json.loads(out.read_text("utf-8"))
    assert data["citations"] == data["per_kind"]["pdf"]["drawn"] > 0
    assert (data["quotes_exact"], data["marked"], data["covered"]) == (1.0, 1.0, 1.0)
    assert "ms_per_page" in result.output and "wrong" not in result.output


@pytest.fixture(scope="module")
def result() -> SearchResult:
    request = SearchRequest("When must employers deposit withheld income taxes?")
    return payroll_library().searcher.search(request, datetime(2026, 1, 15, tzinfo=UTC))


@pytest.mark.parametrize("form", [form for form in SearchFormat if form is not SearchFormat.XLSX])
def test_a_result_is_printed_as_it_would_be_written(
    result: SearchResult, form: SearchFormat, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output_result(result, form, None)
    printed_words = capsys.readouterr().out
    output_result(result, form, tmp_path / "told")
    assert (tmp_path / "told").read_bytes().decode("utf-8-sig") == printed_words
    assert "pub.pdf" in printed_words


def test_a_workbook_needs_a_file_and_a_folder_that_is_there(result: SearchResult, tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="cannot be printed"):
        output_result(result, SearchFormat.XLSX, None)
    with pytest.raises(BadRequest, match="cannot be written"):
        output_result(result, SearchFormat.XLSX, tmp_path / "nowhere" / "told.xlsx")
    output_result(result, SearchFormat.XLSX, tmp_path / "told.xlsx")
    assert (tmp_path / "told.xlsx").read_bytes().startswith(b"PK")
