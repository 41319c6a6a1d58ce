"""The probability that one truth answers, fitted to some collections and measured on another, over set evidence."""

import tomllib
from collections.abc import Iterator
from dataclasses import replace

import pytest

from core.domain.errors import BadRequest
from core.evaluation.tuning.truth_fitting import TruthCase, fit_truth_model, left_out_truths, truth_model_toml
from core.knowledge.answerability import parse_truth_model


def cases(collection: str, questions: int, *, apart: float) -> Iterator[TruthCase]:
    """Questions that the first of three truths answers. apart: by how much its evidence exceeds that of the others."""
    for number in range(questions):
        level = 0.3 + 0.2 * number / questions
        for answerable in (True, False):
            for truth in range(3):
                answers = answerable and truth == 0
                evidence, lead = (level + apart, apart) if answers else (level, 0.0)
                yield TruthCase(collection, f"{number}", evidence, lead, 0.5, answers, answerable)


def test_truths_that_answer_are_told_by_the_other_collection() -> None:
    (_, found) = left_out_truths([*cases("one", 40, apart=0.3), *cases("other", 40, apart=0.3)], 0.3, 0.5)
    assert found.auroc == 1.0 and found.auroc_cosine == 0.5
    assert found.answering.truths == found.answering.answered == 40
    assert found.other.truths == 80 and found.other.answered == 0
    assert found.without.truths == 120 and found.without.answered == 0
    assert (found.all_silent, found.answerable) == (0, 40)


def test_where_evidence_is_the_same_truths_are_silent() -> None:
    """Of five cases one answers, all alike: a fifth is below the least probability of an answer."""
    (found, _) = left_out_truths([*cases("one", 40, apart=0.0), *cases("other", 40, apart=0.0)], 0.4, 0.5)
    assert found.auroc == pytest.approx(0.5)
    assert found.answering.silent == found.answering.truths == found.all_silent == 40


def test_one_collection_cannot_be_judged_by_others() -> None:
    with pytest.raises(BadRequest):
        left_out_truths(list(cases("one", 4, apart=0.3)), 0.3, 0.5)


def test_a_model_reads_as_it_was_written() -> None:
    model = fit_truth_model(list(cases("one", 40, apart=0.3)))
    assert model.evidence > 0 > model.intercept and model.lead > 0
    assert parse_truth_model(tomllib.loads(truth_model_toml(model, "words"))) == model


def test_the_lead_tells_where_evidence_does_not() -> None:
    """Every question is worded so far from its answer that the best evidence of one is another's worst."""
    led = [
        TruthCase(name, f"{number}", 0.3 + 0.05 * number + own, own, 0.5, own > 0, answerable=True)
        for name in ("one", "other")
        for number in range(8)
        for own in (0.0, 0.06)
    ]
    (_, found) = left_out_truths(led, 0.3, 0.5)
    (_, blind) = left_out_truths([replace(case, lead=0.0) for case in led], 0.3, 0.5)
    assert found.auroc == 1.0 > 0.7 > blind.auroc
