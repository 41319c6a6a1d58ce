"""How near sentences are to a question, by the vectors kept beside them."""

import numpy as np
import pytest

from core.documents import Passage, Span
from core.search.meaning import WITHOUT_AMOUNT, sentence_meanings
from core.vectors import packed

ASKED = np.array([1, 0], dtype=np.float32)


def passage(*told: tuple[str, tuple[float, float]]) -> Passage:
    """Sentences with the vector of each."""
    text, spans = "", []
    for sentence, _ in told:
        spans.append(Span(len(text), len(text) + len(sentence)))
        text += f"{sentence} "
    vectors = np.array([vector for _, vector in told], dtype=np.float32).reshape(-1, 2)
    return Passage(text, 1, 0, len(text), tuple(spans), meanings=packed(vectors).tobytes())


def test_each_sentence_has_its_cosine_and_the_best_one_counts() -> None:
    (found,) = sentence_meanings(
        ASKED, [passage(("Far.", (0, 1)), ("Near.", (3, 4)), ("Against.", (-1, 0)))], amount=False
    )
    assert found is not None
    assert found.cosines == pytest.approx((0, 0.6, 0), abs=0.005)
    assert found.best == max(found.cosines)


def test_where_an_amount_is_asked_for_a_sentence_without_one_counts_less() -> None:
    told = passage(("Deposits are due soon.", (1, 0)), ("Deposits are due in 3 days.", (9, 4)))
    (plain,), (amount,) = (sentence_meanings(ASKED, [told], amount=asked) for asked in (False, True))
    assert plain is not None and amount is not None
    assert plain.best == pytest.approx(1, abs=0.01)
    assert amount.best == pytest.approx(max(WITHOUT_AMOUNT, amount.cosines[1]), abs=0.01)
    assert amount.best == amount.cosines[1]


def test_what_was_not_measured_or_by_another_model_is_unknown() -> None:
    unmeasured = Passage("Text.", 1, 0, 5, (Span(0, 5),))
    other = Passage("Text.", 1, 0, 5, (Span(0, 5),), meanings=b"\1\2\3")
    measured = passage(("Near.", (1, 0)))
    found = sentence_meanings(ASKED, [unmeasured, measured, other], amount=False)
    assert [each is None for each in found] == [True, False, True]
    assert sentence_meanings(ASKED, [unmeasured], amount=True) == [None]
