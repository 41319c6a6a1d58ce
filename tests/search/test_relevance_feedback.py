"""The question moves towards its best matches: what is moved, how far, and what it may never do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.documents import Truth
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.domain.results import Candidate
from core.knowledge.factors import factor_table
from core.search.ranking.features import FeedbackMatch, best_matches, feedback_vector
from tests.search.library import NOW, Library, WordEmbedder

shares = st.floats(0, 1)
matches = st.lists(
    st.builds(FeedbackMatch, st.integers(1, 50), shares, shares), unique_by=lambda match: match.passage_id
)


@given(matches, st.randoms())
def test_counts_sum_to_one_and_depend_on_the_matches_only(found: list[FeedbackMatch], rng: object) -> None:
    shuffled = list(found)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    counts = best_matches(found)
    assert best_matches(shuffled) == counts
    assert len(counts) == min(len(found), int(factor_table()["relevance_feedback"]["passages"]))
    assert sum(counts.values()) == pytest.approx(1 if found else 0)
    assert list(counts.values()) == sorted(counts.values(), reverse=True)


def test_the_question_moves_towards_the_matches_and_not_away_from_itself() -> None:
    question, match, other = np.eye(3, dtype=np.float32)
    there = feedback_vector(question, {7: match, 8: other}, {7: 1.0})
    assert there is not None
    assert np.linalg.norm(there) == pytest.approx(1)
    assert there @ match > there @ question > there @ other == 0


def test_without_a_vector_of_a_match_there_is_nowhere_to_move() -> None:
    assert feedback_vector(np.ones(3, dtype=np.float32), {}, {7: 1.0}) is None
    assert feedback_vector(np.ones(3, dtype=np.float32), {7: np.ones(3, dtype=np.float32)}, {}) is None


def garnishment_library() -> Library:
    """Two documents on the same matter: only the first shares words with the question below."""
    library = Library()
    library.add("order.md", "A garnishment order is served on the employer by the court.", truth=Truth.REGULATORY)
    library.add("levy.md", "The employer answers the court about the order within ten days.", truth=Truth.COMPLIANCE)
    library.add("picnic.md", "The picnic has music and a raffle.", truth=Truth.INTENT)
    return library


def ask(library: Library, question: str, **asked: object) -> dict[str, Candidate]:
    """Candidates by document name."""
    result = library.searcher.search(SearchRequest(question, **asked), NOW)
    return {candidate.passage.document_name: candidate for candidate in result.candidates}


def test_what_resembles_the_best_match_gains_and_similarity_stays_the_cosine_with_the_question() -> None:
    library = garnishment_library()
    found = ask(library, "garnishment served")
    question = WordEmbedder().embed(["garnishment served"])[0]
    for candidate in found.values():
        true = float(question @ WordEmbedder().embed([candidate.passage.text])[0])
        assert candidate.signals.similarity == pytest.approx(max(true, 0), abs=1e-6)
    assert found["levy.md"].signals.similarity == pytest.approx(0, abs=1e-6)
    assert (found["levy.md"].signals.relevance_feedback or 0) > (
        found["picnic.md"].signals.relevance_feedback or 0
    ) + 0.1


def test_only_admissible_passages_feed_back() -> None:
    library = garnishment_library()
    filters = SearchFilters(truths=("compliance", "intent"))
    alone = Library()
    for name in ("levy.md", "picnic.md"):
        kept = ask(library, "court")[name].passage
        alone.add(name, kept.text, truth=kept.truth)
    within, without = ask(library, "garnishment served", filters=filters), ask(alone, "garnishment served")
    assert within.keys() == without.keys()
    for name, candidate in within.items():
        assert candidate.signals.relevance_feedback == pytest.approx(without[name].signals.relevance_feedback, abs=1e-6)


def test_without_the_model_feedback_is_neutral_and_says_so() -> None:
    broken = garnishment_library()
    broken.embedder.broken = True
    result = broken.searcher.search(SearchRequest("garnishment served"), NOW)
    factor = next(f for f in result.hits[0].score.factors if f.name == "relevance_feedback")
    assert result.hits[0].candidate.signals.relevance_feedback is None
    assert (factor.value, factor.reason) == (0.5, "neutral: not compared with the best matches")


def test_of_matches_that_mean_the_same_only_the_best_counts() -> None:
    rows = np.array([[1, 0, 0], [1, 0.01, 0], [0, 1, 0]], dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    found = [FeedbackMatch(1, 0.50, 0.5), FeedbackMatch(2, 0.51, 0.5), FeedbackMatch(3, 0.49, 0.5)]
    assert best_matches(found).keys() == {1, 2, 3}
    assert best_matches(found, dict(zip((1, 2, 3), rows, strict=True))).keys() == {2, 3}
