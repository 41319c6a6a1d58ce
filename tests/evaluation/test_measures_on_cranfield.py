"""The measures against the same ones written out from their definitions, question by question."""

from collections.abc import Mapping, Sequence
from math import log2
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evaluation.judgments.files import read_collection
from core.evaluation.metrics.measures import MEASURES, ranking_measures

Grades = Mapping[str, int]

RECALL_100 = "R@100"
NAMES = {name: MEASURES[name].library for name in ("ndcg@10", "map", "mrr@10", "p@5", "recall@20")}
LIBRARY = (*NAMES.values(), RECALL_100)
EXACTLY = 1e-6


def dcg(gains: Sequence[int]) -> float:
    """Järvelin & Kekäläinen 2002 as trec_eval has it: the grade itself, discounted by log2(rank + 1)."""
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))


def written_out(grades: Grades, ranked: Sequence[str]) -> dict[str, float]:
    """trec_eval's conventions: grade 1 or more is relevant, what is not graded is not, P@5 divides by 5 always."""
    gains = [max(grades.get(item, 0), 0) for item in ranked]
    ideal = sorted((max(grade, 0) for grade in grades.values()), reverse=True)
    relevant = sum(gain > 0 for gain in ideal)
    ranks = [rank for rank, gain in enumerate(gains, 1) if gain]
    return {
        "nDCG@10": dcg(gains[:10]) / dcg(ideal[:10]),
        "AP": sum(place / rank for place, rank in enumerate(ranks, 1)) / relevant,
        "RR@10": 1 / ranks[0] if ranks and ranks[0] <= 10 else 0.0,
        "P@5": sum(rank <= 5 for rank in ranks) / 5,
        "R@20": sum(rank <= 20 for rank in ranks) / relevant,
        "R@100": sum(rank <= 100 for rank in ranks) / relevant,
    }


def assert_agree(grades: Mapping[str, Grades], rankings: Mapping[str, Sequence[str]]) -> None:
    measured = ranking_measures(grades, rankings, LIBRARY)
    assert set(measured) == {query for query, text in grades.items() if any(grade > 0 for grade in text.values())}
    for query, values in measured.items():
        expected = written_out(grades[query], list(dict.fromkeys(rankings.get(query, ()))))
        assert values == pytest.approx(expected, abs=EXACTLY), query


def by_shared_words(query: str, texts: Mapping[str, frozenset[str]]) -> list[str]:
    """Documents by how many words they share with the question, shorter ones first, then by id."""
    words = frozenset(query.lower().split())
    return sorted(texts, key=lambda name: (-len(words & texts[name]), len(texts[name]), name))


@pytest.fixture(scope="module")
def cranfield(shared: Path) -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    """Grades and rankings of all 225 questions over all 1,400 documents."""
    collection = read_collection(shared / "ir" / "cranfield")
    texts = {name: frozenset(text.lower().split()) for name, text in collection.texts().items()}
    grades = {query: dict(values) for query, values in collection.grades.items()}
    return grades, {name: by_shared_words(query, texts) for name, query in collection.queries.items()}


def test_every_question_of_cranfield_is_measured_as_written_out(
    cranfield: tuple[dict[str, dict[str, int]], dict[str, list[str]]],
) -> None:
    grades, rankings = cranfield
    assert len(grades) == 225
    assert_agree(grades, rankings)
    assert_agree(grades, {query: ranked[:7] for query, ranked in rankings.items()})


def test_ndcg_on_cranfield_is_that_of_scikit_learn_too(
    cranfield: tuple[dict[str, dict[str, int]], dict[str, list[str]]],
) -> None:
    from sklearn.metrics import ndcg_score

    grades, rankings = cranfield
    measured = ranking_measures(grades, rankings, ("nDCG@10",))
    for query, values in measured.items():
        gains = [grades[query].get(name, 0) for name in rankings[query]]
        expected = ndcg_score([gains], [range(len(gains), 0, -1)], k=10)
        assert values["nDCG@10"] == pytest.approx(expected, abs=EXACTLY), query


def test_the_ranking_by_shared_words_is_neither_empty_nor_perfect(
    cranfield: tuple[dict[str, dict[str, int]], dict[str, list[str]]],
) -> None:
    """Otherwise the agreement above would say little."""
    grades, rankings = cranfield
    measured = ranking_measures(grades, rankings, ("nDCG@10", "R@100"))
    values = [measures["nDCG@10"] for measures in measured.values()]
    assert 0.05 < sum(values) / len(values) < 0.5
    assert len(set(values)) > 50


ITEMS = [f"d{number}" for number in range(30)]
QRELS = st.dictionaries(
    st.sampled_from(["q1", "q2", "q10", "q 3"]),
    st.dictionaries(st.sampled_from(ITEMS), st.integers(-1, 3), max_size=30),
    max_size=4,
)
RUNS = st.dictionaries(
    st.sampled_from(["q1", "q2", "q10", "q 3", "unknown"]),
    st.lists(st.sampled_from([*ITEMS, "x", "y"]), max_size=40),
    max_size=5,
)


@given(QRELS, RUNS)
def test_generated_questions_are_measured_as_written_out(
    grades: dict[str, dict[str, int]], rankings: dict[str, list[str]]
) -> None:
    """Grades of -1 to 3, rankings with repetitions, unknown items, or none at all."""
    assert_agree(grades, rankings)


@given(QRELS, RUNS)
def test_no_measure_is_ever_below_0_or_above_1(
    grades: dict[str, dict[str, int]], rankings: dict[str, list[str]]
) -> None:
    for values in ranking_measures(grades, rankings, LIBRARY).values():
        assert all(0.0 <= value <= 1.0 for value in values.values())


@given(st.lists(st.integers(0, 3), min_size=2, max_size=25).filter(any))
def test_ndcg_of_generated_rankings_is_that_of_scikit_learn_too(gains: list[int]) -> None:
    from sklearn.metrics import ndcg_score

    ranked = [f"d{place}" for place in range(len(gains))]
    grades = dict(zip(ranked, gains, strict=True))
    measured = ranking_measures({"q": grades}, {"q": ranked}, ("nDCG@10",))["q"]["nDCG@10"]
    expected = ndcg_score([gains], [range(len(gains), 0, -1)], k=10)
    assert measured == pytest.approx(expected, abs=EXACTLY)


def test_of_nothing_nothing_is_measured() -> None:
    assert ranking_measures({}, {}, LIBRARY) == ranking_measures({}, {"q": ["a"]}, LIBRARY) == {}
