"""The summary of the benchmarks: what counts of each, beside the peer and beside an earlier run."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bench.__main__ import compared, main
from bench.measured import Headline
from bench.same_results import differences, plain_data, searched
from core.domain.queries import SearchRequest
from tests.search.library import WordEmbedder
from tests.workbench import Stores, built

LAW = "The minimum rate is 15 dollars per hour for each employee. A notice takes 30 days before the end of a contract."


@pytest.mark.parametrize(("more", "advantage"), [(False, 2.0), (True, 0.5)])
def test_an_advantage_above_one_is_better(more: bool, advantage: float) -> None:
    assert Headline("what", "unit", 10.0, "stock", 20.0, more).advantage(20.0) == advantage
    assert Headline("what", "unit", 10.0, more=more).advantage(None) is None


def test_only_the_same_measure_of_an_earlier_run_is_beside_it() -> None:
    earlier = {
        "machine": "2026-01-01: another machine",
        "results": [
            {"what": "search", "unit": "ms", "peer": "stock", "ours": 40.0},
            {"what": "search", "unit": "s", "peer": "stock", "ours": 7.0},
        ],
    }
    lines = compared([Headline("search", "ms", 20.0, "stock", 10.0), Headline("new", "ms", 1.0)], earlier).splitlines()
    assert lines[1].split() == ["search", "ms", "20.000", "stock", "10.000", "0.500", "40.000", "2.000"]
    assert lines[2].split() == ["new", "ms", "1.000", "–", "–", "–", "–"]
    assert lines[3] == "before: 2026-01-01: another machine"


def test_a_run_is_saved_and_shown_beside_the_next(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "law.md").write_text(LAW)
    saved = tmp_path / "run.json"
    main([str(tmp_path), "--only", "conflicts", "--save", str(saved)])
    results = json.loads(saved.read_text("utf-8"))["results"]
    assert [each["what"] for each in results] == ["planted conflicts found", "unchanged copies reported"]
    assert results[0]["ours"] == 1.0 and results[1]["ours"] == 0.0
    capsys.readouterr()
    main([str(tmp_path), "--only", "conflicts", "--against", str(saved)])
    assert "× before" in capsys.readouterr().out


def test_two_runs_of_the_same_searches_are_equal_and_a_changed_weight_is_named(tmp_path: Path) -> None:
    workbench = built(Stores(WordEmbedder()), tmp_path, lambda: datetime(2026, 1, 1, tzinfo=UTC))
    workbench.documents.upload("law.md", LAW.encode())
    first = dict(searched(workbench, ["What is the minimum rate?"]))
    assert list(differences(first, dict(searched(workbench, ["What is the minimum rate?"])))) == []
    (hit,) = first["What is the minimum rate? []"]["hits"]
    assert hit["citations"][0]["quote"].startswith("The minimum rate is 15 dollars")
    assert first["What is the minimum rate? [five truths]"]["truths"][0]["truth"] == "regulatory"

    changed = SearchRequest("What is the minimum rate?", weights=(("keyword", 1.0),))
    other = plain_data(workbench.search.run(changed, remember=False))
    found = list(differences(first["What is the minimum rate? []"], other))
    assert any(each.startswith(".hits[0].score.total: ") for each in found)
    assert not any("milliseconds" in each for each in found)
