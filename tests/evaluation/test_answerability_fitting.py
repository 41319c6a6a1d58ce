"""The probability of an answer, fitted to some collections and measured on another, over set signals."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from core.domain.errors import BadRequest
from core.evaluation.tuning.answerability_fitting import AnswerCase, LeftOutCollection, fit_answer_model, left_out
from core.search.ranking.answerability import AnswerSignals

LOWEST = AnswerSignals(0.0, 0.0, 0.0)


def cases(collection: str, found: int, lost: int) -> Iterator[AnswerCase]:
    """Questions asked twice: `found` ones whose best passage is gone without the documents, and `lost` ones that find
    the same, near or far, with and without them."""
    for number in range(found):
        level = 0.5 + 0.3 * number / found
        yield AnswerCase(collection, AnswerSignals(level, level / 2, level), True, True)
        yield AnswerCase(collection, AnswerSignals(level - 0.4, level / 4, level - 0.4), False, True)
    for number in range(lost):
        same = AnswerSignals(0.1 + 0.8 * number / lost, 0.1, 0.5)
        yield from (AnswerCase(collection, same, there, False) for there in (True, False))


def measured(*collections: tuple[str, int, int]) -> dict[str, LeftOutCollection]:
    reported = [case for each in collections for case in cases(*each)]
    return {each.collection: each for each in left_out(reported)}


def test_a_collection_that_finds_its_answers_is_told_by_the_others() -> None:
    found = measured(("one", 40, 0), ("other", 40, 0))["other"]
    assert (found.found, found.auroc_judged) == (1.0, 1.0)
    assert found.auroc == found.auroc_found
    assert found.auroc > 0.9


def test_questions_that_find_no_answer_cannot_be_told_and_are_measured_apart() -> None:
    found = measured(("one", 40, 0), ("other", 20, 60))["other"]
    assert found.found == 0.25
    assert found.auroc_judged == pytest.approx(0.625)
    assert found.auroc_found is not None
    assert found.auroc_found > 0.9 > found.auroc


def test_a_collection_that_finds_nothing_is_at_chance() -> None:
    found = measured(("one", 40, 0), ("other", 0, 40))["other"]
    assert found.auroc == pytest.approx(0.5)
    assert (found.auroc_judged, found.auroc_found) == (0.5, None)


def test_at_most_one_answerable_question_in_fifty_is_called_unanswered_where_collections_are_alike() -> None:
    assert all(each.at_threshold.answerable <= 0.02 for each in measured(("one", 90, 10), ("other", 90, 10)).values())


def test_the_threshold_of_a_collection_left_out_is_chosen_on_the_others() -> None:
    low = [replace(case, collection="low", signals=LOWEST) for case in cases("", 0, 20)]
    found = {each.collection: each for each in left_out([*cases("one", 40, 0), *cases("other", 40, 0), *low])}
    assert found["low"].at_threshold.answerable == 1.0
    assert found["one"].at_threshold.answerable <= 0.02


def test_one_collection_is_refused() -> None:
    with pytest.raises(BadRequest, match="One collection"):
        fit_answer_model(list(cases("one", 5, 5)))
