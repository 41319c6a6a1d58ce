"""The probability that one truth covers a topic, fitted to one collection and measured on another."""

import tomllib
from collections.abc import Iterator
from dataclasses import replace

import pytest

from core.domain.errors import BadRequest, BadTable
from core.evaluation.tuning.coverage_fitting import (
    CellCase,
    CellShares,
    fit_topic_model,
    left_out_cells,
    topic_model_toml,
)
from core.knowledge.answerability import TopicModel, parse_topic_model
from core.search.ranking.answerability import topic_evidence, topic_probability


def cases(collection: str, cells: int, *, apart: float) -> Iterator[CellCase]:
    """As many covered cells as missing ones. apart: by how much their evidence exceeds that of the missing ones."""
    for number in range(cells):
        level = 0.3 + 0.2 * number / cells
        yield CellCase(collection, level + apart, None, 0.5, True)
        yield CellCase(collection, level, None, 0.5, False)


def test_covered_cells_are_told_by_the_other_collection() -> None:
    (found, other) = left_out_cells([*cases("one", 40, apart=0.3), *cases("other", 30, apart=0.3)], 0.3, 0.5)
    assert (found.collection, other.collection) == ("one", "other")
    assert found.auroc == 1.0 and found.auroc_cosine == 0.5
    assert found.gap.covered == 0 and found.full == CellShares(40, 40)
    assert found.gap.cells + found.partial.cells == 40
    assert found.brier < 0.1


def test_where_evidence_is_the_same_nothing_is_told() -> None:
    (found, _) = left_out_cells([*cases("one", 40, apart=0.0), *cases("other", 40, apart=0.0)], 0.3, 0.6)
    assert found.auroc == pytest.approx(0.5) and found.brier == pytest.approx(0.25, abs=0.01)
    assert found.partial == CellShares(80, 40)


def test_every_collection_weighs_the_same() -> None:
    """Thirty times as many cells of one collection do not move the bound between the two by more than its own would."""
    low = [CellCase("low", value, None, 0.0, value >= 0.3) for value in (0.1, 0.2, 0.4, 0.5)]
    high = [CellCase("high", value, None, 0.0, value >= 0.6) for value in (0.4, 0.5, 0.7, 0.8)]
    once, often = fit_topic_model([*low, *high]), fit_topic_model([*low * 30, *high])
    assert topic_evidence(0.5, once) == pytest.approx(topic_evidence(0.5, often), abs=0.01)


def test_one_collection_cannot_be_judged_by_others() -> None:
    with pytest.raises(BadRequest):
        left_out_cells(list(cases("one", 4, apart=0.3)), 0.3, 0.5)


@pytest.mark.parametrize("other_language", [False, True])
def test_the_evidence_of_a_probability_has_that_probability(*, other_language: bool) -> None:
    model = TopicModel(12.0, 0.1, -7.0)
    value = topic_evidence(0.2, model, other_language=other_language)
    assert topic_probability(value, model, other_language=other_language) == pytest.approx(0.2)


def test_what_passages_in_other_languages_lack_is_learned() -> None:
    """Of the covered cells half are covered in another language, whose evidence is lower by 0.15."""
    levels = [0.3 + 0.01 * step for step in range(20)]
    english = [CellCase("one", level + 0.25, 0.2, 0.5, True) for level in levels]
    other = [CellCase("one", 0.2, level + 0.25 - 0.15, 0.5, True) for level in levels]
    missing = [CellCase("one", level, level - 0.15, 0.5, False) for level in levels]
    learned = [*english, *other, *missing]
    model = fit_topic_model(learned)
    assert model.other_language == pytest.approx(0.15, abs=0.03)
    assert fit_topic_model([replace(case, other_language=None) for case in (*english, *missing)]).other_language == 0.0


def test_a_model_reads_as_it_was_written() -> None:
    model = fit_topic_model(list(cases("one", 40, apart=0.3)))
    assert parse_topic_model(tomllib.loads(topic_model_toml(model, "words"))) == model
    with pytest.raises(BadTable, match="other_language"):
        parse_topic_model({"evidence": 10.0, "intercept": -5.0})
