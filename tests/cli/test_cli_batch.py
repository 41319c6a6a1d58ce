"""The batch command: a CSV in, a file with what became of every row out, and an exit code a script can trust."""

import csv
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer
from typer.testing import CliRunner, Result

import bootstrap.workbench
from bootstrap.environment import utc_now
from cli.search import batch
from core.domain.errors import BadRequest, StoreFailed
from core.domain.queries import SearchRequest
from core.domain.results import SearchResult
from core.evaluation.tuning.profile_registry import ProfileRegistry
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from tests.fakes import FakeEvaluationStore
from tests.search.library import NOW, payroll_library

QUESTION = "When are deposits of withheld taxes due?"


class Small:
    """As much of a workbench as the command asks."""

    def __init__(self) -> None:
        self.library, self.broken = payroll_library(), False
        self.evaluation = SimpleNamespace(profiles=ProfileRegistry(FakeEvaluationStore(), now=utc_now))
        self.documents = SimpleNamespace(list=self.library.catalogue.documents)
        self.search = SimpleNamespace(run_many=self.run_many)
        self.vocabulary = SimpleNamespace(terms=lambda: BUILT_IN_TERMS)

    def run_many(self, requests: Sequence[SearchRequest]) -> Sequence[SearchResult]:
        if self.broken:
            raise StoreFailed("The database went away.")
        return self.library.searcher.search_many(requests, NOW)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Small:
    small = Small()
    opened = SimpleNamespace(for_principal=lambda principal: small, close=lambda: None)
    monkeypatch.setattr(bootstrap.workbench, "open_workbench", lambda settings, **_: opened)
    return small


def run(folder: Path, text: str, *words: str, out: str = "out.csv") -> Result:
    (folder / "questions.csv").write_text(text, "utf-8")
    app = typer.Typer()
    app.command()(batch)
    return CliRunner().invoke(app, [str(folder / "questions.csv"), "--out", str(folder / out), *words])


def rows(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((folder / "out.csv").read_text("utf-8-sig").splitlines()))


def test_every_row_of_the_file_is_told(small: Small, tmp_path: Path) -> None:
    profile = run(tmp_path, f"question,documents\n{QUESTION},\nzebra quark,\n{QUESTION},handbook.md\n")
    assert profile.exit_code == 0, profile.output
    assert [row["state"] for row in rows(tmp_path)][:2] == ["answered", "unanswered"]
    assert rows(tmp_path)[0]["found in"] == "pub.pdf" and "document is" in rows(tmp_path)[2]["filters in words"]
    assert "answered" in profile.output


def test_a_filter_of_the_command_holds_for_every_row(small: Small, tmp_path: Path) -> None:
    result = run(
        tmp_path, f"question\n{QUESTION}\n", "--filter", "truth=compliance", "--filter", "exclude_domains=taxes"
    )
    assert result.exit_code == 0
    assert "truth is compliance" in rows(tmp_path)[0]["filters in words"]
    assert rows(tmp_path)[0]["hits regulatory"] == "0"


@pytest.mark.parametrize("wrong", ["truth=gossip", "colour=red", "truths"])
def test_a_filter_that_makes_no_sense_is_told_before_anything_is_asked(
    small: Small, tmp_path: Path, wrong: str
) -> None:
    result = run(tmp_path, f"question\n{QUESTION}\n", "--filter", wrong)
    assert isinstance(result.exception, BadRequest) and not (tmp_path / "out.csv").exists()


def test_a_refused_row_is_named_and_the_exit_code_says_so(small: Small, tmp_path: Path) -> None:
    result = run(tmp_path, f"question,truths\n{QUESTION},gossip\n{QUESTION},\n")
    assert result.exit_code == 1 and "row 2, truths" in result.output
    assert [row["state"] for row in rows(tmp_path)] == ["refused", "answered"]


def test_a_search_that_failed_is_no_silence(small: Small, tmp_path: Path) -> None:
    small.broken = True
    result = run(tmp_path, f"question\n{QUESTION}\n")
    assert result.exit_code == 1 and rows(tmp_path)[0]["state"] == "failed"
    assert "database went away" in rows(tmp_path)[0]["why"]


def test_a_workbook_is_written_by_its_ending(small: Small, tmp_path: Path) -> None:
    assert run(tmp_path, f"question\n{QUESTION}\n", out="out.xlsx").exit_code == 0
    assert (tmp_path / "out.xlsx").read_bytes().startswith(b"PK")
    assert isinstance(run(tmp_path, f"question\n{QUESTION}\n", out="out.doc").exception, BadRequest)
