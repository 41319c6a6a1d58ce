"""What is told of an experiment: measures with intervals, what has changed since another, weights before and after."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.domain.coverage import RunState
from core.domain.evaluation import (
    Experiment,
    ExperimentKind,
    Interval,
    MetricChange,
    OptimiserResult,
    OptimiserSettings,
    QuestionOutcome,
)
from core.domain.queries import ScoreProfile
from core.evaluation.experiment_report import experiment_data, experiment_text, optimised_data, optimised_text
from core.evaluation.metrics.grades import summary
from core.formats.terminal import json_text

NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)
PLAIN = ScoreProfile("plain", {"similarity": 0.75, "authority": 0.25})


def experiment(*values: Mapping[str, float], number: int = 7, **fields: object) -> Experiment:
    """A finished measurement; values: the measures of questions q0, q1 …"""
    outcomes = tuple(
        QuestionOutcome(place, f"q{place}", f"What holds\nfor {place}?", "natural", True, 3, each, 0.5)
        for place, each in enumerate(values)
    )
    plain = Experiment(
        set_id=1,
        set_name="Payroll",
        project=None,
        kind=ExperimentKind.MEASURED,
        profile=PLAIN,
        who="Ada",
        started_at=NOON,
        beat_at=NOON,
        state=RunState.DONE,
        id=number,
        total=len(outcomes),
        measures=summary(outcomes),
        unjudged=0.5 if outcomes else None,
        outcomes=outcomes,
    )
    return replace(plain, **fields)  # type: ignore[arg-type]


def cells(text: str, first: str) -> list[str]:
    """The other cells of the table row that begins with a word."""
    return next(line.split()[1:] for line in text.splitlines() if line.startswith(first))


def test_measures_are_told_with_mean_interval_and_number_of_questions() -> None:
    text = experiment_text(experiment({"ndcg@10": 0.5, "false_refusal": 0.0}, {"ndcg@10": 0.5}))
    assert text.startswith("Payroll: 2 questions with plain, kept as experiment 7.")
    assert cells(text, "ndcg@10") == ["0.500", "0.500", "0.500", "2"]
    assert cells(text, "false_refusal") == ["0.000", "0.000", "0.000", "1"]
    assert "50% of the first ten results are not judged." in text
    assert "Compared with" not in text
    assert "– of the first ten results are not judged." in experiment_text(experiment())


def test_what_has_changed_is_told_over_the_questions_both_have() -> None:
    before = experiment({"ndcg@10": 0.9, "map": 1.0}, {"ndcg@10": 0.2}, {"ndcg@10": 0.4}, number=6)
    now = experiment({"ndcg@10": 0.5}, {"ndcg@10": 0.4})
    text = experiment_text(now, before)
    assert cells(text, "ndcg@10")[-2:] == ["-0.100", "1.000"]
    assert "Compared with experiment 6 of 2026-01-15 12:00: 1 questions are worse, 1 better." in text
    assert text.endswith("worse: q0: ndcg@10 0.900 → 0.500: What holds for 0?")
    other = replace(before, profile=replace(PLAIN, version=2, floor=0.1), corpus_hash="x", judgments_version=3)
    assert (
        "(the profile was plain@2, the library has changed since, the judgments have changed since)"
    ) in experiment_text(now, other)


def test_less_of_a_false_refusal_is_better() -> None:
    before, now = experiment({"false_refusal": 0.0}, number=6), experiment({"false_refusal": 1.0})
    assert "worse: q0: false_refusal 0.000 → 1.000" in experiment_text(now, before)
    assert "worse: " not in experiment_text(before, now)


def test_the_worst_questions_come_first_and_not_more_than_can_be_read() -> None:
    before = experiment(*({"ndcg@10": 1.0, "map": 1.0} for _ in range(30)), number=6)
    now = experiment(*({"ndcg@10": 1 - place / 30, "map": 1.0} for place in range(30)))
    lines = experiment_text(now, before).splitlines()
    assert next(line for line in lines if line.startswith("worse: ")).startswith("worse: q29: ndcg@10 1.000 → 0.033")
    assert lines[-1] == "… and 9 more."
    assert cells("\n".join(lines), "ndcg@10")[-2:] == ["<", "0.001"]
    assert len(experiment_data(now, before)["before"]["worse"]) == 29


def test_the_data_holds_everything_as_json_can() -> None:
    before = experiment({"ndcg@10": 0.9}, {"ndcg@10": 0.1}, number=6)
    data = experiment_data(experiment({"ndcg@10": 0.5}, {"ndcg@10": 0.3}), before)
    assert json_text(data)
    assert (data["experiment"], data["profile"], data["before"]["experiment"]) == (7, "plain", 6)
    assert data["measures"]["ndcg@10"]["n"] == 2
    assert data["before"]["worse"] == [
        {"key": "q0", "question": "What holds\nfor 0?", "kind": "natural", "measures": {"ndcg@10": [0.9, 0.5]}}
    ]
    assert data["before"]["changes"]["ndcg@10"]["mean"] == pytest.approx(-0.1)
    assert experiment_data(before)["before"] is None


def found(*worse: MetricChange) -> OptimiserResult:
    return OptimiserResult(
        training=Interval(0.9, 0.8, 1.0, 12),
        held_out=Interval(0.7, 0.6, 0.8, 12),
        baseline=Interval(0.6, 0.5, 0.7, 12),
        gain=Interval(0.1, -0.1, 0.2, 12),
        p_value=0.2,
        recommended=False,
        verdict="Not recommended: why.",
        profile=replace(PLAIN, weights={"similarity": 0.4, "keyword": 0.6}),
        worse=worse,
        spread={"similarity": (0.3, 0.5), "keyword": (0.1, 0.7)},
    )


def test_a_search_for_weights_is_told_with_its_verdict_its_grounds_and_the_weights() -> None:
    searched = experiment(optimising=OptimiserSettings(("similarity", "keyword"), "map"))
    text = optimised_text(searched, found(MetricChange("q1", "Why?", "natural", 0.75, 0.25)))
    assert text.startswith("Not recommended: why.\n\nmap ")
    grounds = [line.split()[-4:] for line in text.splitlines() if line.endswith(" 12")]
    assert [each[0] for each in grounds] == ["0.600", "0.900", "0.700", "0.100"]
    assert cells(text, "similarity") == ["0.750", "0.400", "0.300", "0.500"]
    assert cells(text, "keyword") == ["0.000", "0.600", "0.100", "0.700"]
    assert cells(text, "authority") == ["0.250", "0.000", "0.000", "0.000"]
    assert "Of questions it had not seen 1 are worse, 0 better." in text
    assert text.endswith("worse: q1 (natural): 0.750 → 0.250: Why?")


def test_the_data_of_a_search_for_weights_holds_both_mixes() -> None:
    data = optimised_data(experiment(optimising=OptimiserSettings(("similarity", "keyword"))), found())
    assert json_text(data)
    assert data["before"] == dict(PLAIN.weights)
    assert data["after"] == {"similarity": 0.4, "keyword": 0.6}
    assert (data["optimising"]["measure"], data["p_value"]) == ("ndcg@10", 0.2)
