"""Measures on answers small enough to reckon by hand."""

from math import isnan, log2

import pytest

from core.evaluation.metrics.measures import (
    MEASURES,
    calibration_error,
    calibration_error_by_chance,
    mean,
    normalised,
    ranking_measures,
)


def test_ranking_measures_are_those_of_the_textbook() -> None:
    grades = {"q1": {"a": 3, "b": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    measured = ranking_measures(grades, {"q1": ["x", "a", "b"], "q2": ["x", "y"]}, ("RR@10", "nDCG@10", "R@100"))
    ideal = 3 + 1 / log2(3)
    assert measured["q1"]["RR@10"] == 0.5
    assert measured["q1"]["nDCG@10"] == pytest.approx((3 / log2(3) + 1 / log2(4)) / ideal)
    assert measured["q1"]["R@100"] == 1.0
    assert measured["q2"] == measured["q3"] == {"RR@10": 0.0, "nDCG@10": 0.0, "R@100": 0.0}


def test_a_question_nothing_answers_has_no_ranking_measure() -> None:
    assert ranking_measures({"q1": {}}, {"q1": ["a"]}, ("RR@10",)) == {}


def test_calibration_error_is_the_distance_of_what_was_said_from_what_was_true() -> None:
    assert calibration_error([(0.5, True), (0.5, False)] * 100) == pytest.approx(0.0)
    assert calibration_error([(0.9, False)] * 30) == pytest.approx(0.9)
    assert calibration_error([(0.25, False)] * 30 + [(0.75, True)] * 30) == pytest.approx(0.25)


def test_exact_probabilities_show_an_error_the_greater_the_fewer_outcomes_there_are() -> None:
    said = [0.55, 0.7, 0.85, 0.95]
    few, many = calibration_error_by_chance(said * 50), calibration_error_by_chance(said * 2_000)
    assert few > 3 * many > 0
    assert calibration_error_by_chance([1.0] * 20) == 0.0


def test_nothing_measured_is_not_zero() -> None:
    assert isnan(mean([]))
    assert isnan(calibration_error([]))


@pytest.mark.parametrize("text", ["Don’t  “pay”\n twice", 'don\'t "pay" twice', "DON'T “PAY” TWI\u00adCE"])
def test_texts_are_compared_without_case_quotes_and_line_ends(text: str) -> None:
    assert normalised(text) == 'don\'t "pay" twice'


def test_a_result_named_twice_counts_where_it_stands_first() -> None:
    grades = {"q1": {"a": 1, "b": 1}}
    names = ("nDCG@10", "AP", "RR@10", "P@5")
    once = ranking_measures(grades, {"q1": ["a", "x", "b"]}, names)
    assert ranking_measures(grades, {"q1": ["a", "x", "a", "b", "a"]}, names) == once
    assert ranking_measures(grades, {"q1": ["a", "a", "b", "b"]}, ("nDCG@10",)) == {"q1": {"nDCG@10": 1.0}}


def test_a_grade_below_0_is_not_relevant() -> None:
    assert ranking_measures({"q1": {"a": -1, "b": 2}}, {"q1": ["a", "b"]}, ("RR@10",)) == {"q1": {"RR@10": 0.5}}
    assert ranking_measures({"q1": {"a": -1}}, {"q1": ["a"]}, ("RR@10",)) == {}


def test_every_measure_says_what_it_is_and_rankings_are_measured_by_a_library() -> None:
    assert all(name == measure.name and measure.words for name, measure in MEASURES.items())
    library = [measure.library for measure in MEASURES.values() if measure.library]
    assert set(ranking_measures({"q": {"a": 1}}, {"q": ["a"]}, library)["q"]) == set(library)
    assert [name for name, measure in MEASURES.items() if not measure.higher_is_better] == ["false_refusal"]
