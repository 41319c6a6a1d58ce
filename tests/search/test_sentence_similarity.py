"""How near sentences are to a question, by the vectors kept beside them."""

import numpy as np
import pytest

from core.domain.documents import Passage, Span
from core.domain.int8_vectors import packed
from core.domain.results import FoundPassage
from core.search.ranking.features import sentence_similarities

ASKED = np.array([1, 0], dtype=np.float32)


def passage(*passages: tuple[str, tuple[float, float]]) -> FoundPassage:
    """Sentences with the vector of each."""
    text, spans = "", []
    for sentence, _ in passages:
        spans.append(Span(len(text), len(text) + len(sentence)))
        text += f"{sentence} "
    vectors = np.array([vector for _, vector in passages], dtype=np.float32).reshape(-1, 2)
    return FoundPassage(Passage(text, 1, 0, len(text), tuple(spans)), packed(vectors).tobytes())


def test_each_sentence_has_its_cosine_and_the_best_one_counts() -> None:
    (found,) = sentence_similarities(ASKED, [passage(("Far.", (0, 1)), ("Near.", (3, 4)), ("Against.", (-1, 0)))])
    assert found is not None
    assert found.cosines == pytest.approx((0, 0.6, 0), abs=0.005)
    assert found.best == max(found.cosines)


def answer(kind: str, *arguments: tuple[str, tuple[float, float]]) -> tuple[float | None, str]:
    (found,) = sentence_similarities(ASKED, [passage(*arguments)], kind)
    assert found is not None
    return found.answer, found.answer_words


def test_the_nearest_sentence_that_holds_the_kind_asked_for_counts_by_how_near_it_comes_to_the_best() -> None:
    soon, days = ("Deposits are due soon.", (4, 3)), ("Deposits are due within 3 days.", (3, 4))
    value, words = answer("duration", soon, days)
    assert value == pytest.approx(0.6 / 0.8, abs=0.02) and words == "3 days"
    assert answer("duration", days) == (1.0, "3 days")
    assert answer("percentage", soon, days) == (0.0, "")


def test_a_sentence_about_something_else_is_no_answer_whatever_it_holds() -> None:
    assert answer("money", ("Fees are waived.", (1, 0)), ("The building cost $5,000.", (1, 3))) == (0.0, "")


def test_without_a_kind_nothing_is_looked_for() -> None:
    (found,) = sentence_similarities(ASKED, [passage(("Due within 3 days.", (1, 0)))])
    assert found is not None and found.answer is None and found.answer_words == ""


def test_what_was_not_measured_or_by_another_model_is_unknown() -> None:
    unmeasured = FoundPassage(Passage("Text.", 1, 0, 5, (Span(0, 5),)), b"")
    other = FoundPassage.of(Passage("Text.", 1, 0, 5, (Span(0, 5),), meanings=b"\1\2\3"))
    measured = passage(("Near.", (1, 0)))
    found = sentence_similarities(ASKED, [unmeasured, measured, other])
    assert [each is None for each in found] == [True, False, True]
    assert sentence_similarities(ASKED, [unmeasured], "number") == [None]
