"""What one search asks for itself: weights, threshold, half-life, a vector, and how long a reranker may read."""

import json
import threading
from collections.abc import Sequence
from math import inf, nan
from time import monotonic, perf_counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.errors import BadRequest
from core.domain.filters import SearchFilters, check_filters
from core.domain.queries import SearchRequest
from core.domain.results import SearchResult
from core.knowledge.profiles import profiles
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from core.search.exports import export_data, result_markdown, result_text
from core.search.pipeline import SearchPipeline
from core.search.ranking.rerank import DeadlineReranker
from tests.search.library import NOW, Library, WordEmbedder, payroll_library

LIBRARY = payroll_library()
QUESTION = "overtime rate"


def ask(question: str = QUESTION, library: Library = LIBRARY, **options: object) -> SearchResult:
    return library.searcher.search(SearchRequest(question, **options), NOW)  # type: ignore[arg-type]


# Weights, threshold, half-life


def test_weights_of_a_request_replace_those_of_its_profile() -> None:
    result = ask(weights=(("keyword", 0.75), ("similarity", 0.25)))
    assert {f.name: f.weight for f in result.hits[0].score.factors} == {"keyword": 0.75, "similarity": 0.25}
    assert result.profile.multipliers == profiles()["balanced"].multipliers
    assert result.profile.ref == "balanced, changed"
    assert ask().profile == profiles()["balanced"]


def test_a_threshold_of_a_request_hides_what_is_below_it() -> None:
    every = ask()
    limit = (every.hits[0].score.total + every.hits[1].score.total) / 2
    assert [hit.candidate.passage.id for hit in ask(threshold=limit).hits] == [every.hits[0].candidate.passage.id]


def test_a_half_life_of_a_request_sets_how_fast_passages_age() -> None:
    def aged(days: float) -> float:
        result = ask("income taxes", profile="trend", half_life_days=days)
        return next(f.value for f in result.hits[0].score.factors if f.name == "half_life")

    assert aged(45.5) == pytest.approx(0.5, abs=0.01)  # the law is 45.5 days old
    assert aged(455) == pytest.approx(0.5**0.1, abs=0.01)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"weights": (("similarity", 0.5),)}, "weights"),
        ({"weights": (("luck", 1.0),)}, "luck"),
        ({"threshold": 1.5}, "threshold"),
        ({"threshold": nan}, "threshold"),
        ({"half_life_days": 0.0}, "half_life_days"),
        ({"reranker_deadline": 1.0}, "no reranker"),
        ({"reranker_deadline": 0.0, "rerank": "fast"}, "0 seconds"),
        ({"reranker_deadline": inf, "rerank": "fast"}, "inf seconds"),
        ({"query_vector": (1.0, 2.0)}, "2 dimensions, the library's vectors have 512"),
        ({"query_vector": (*[1.0] * 511, nan)}, "not finite"),
        ({"query_vector": (*[1.0] * 511, -inf)}, "not finite"),
        ({"query_vector": (0.0,) * 512}, "only zeros"),
    ],
)
def test_what_cannot_be_is_refused_by_name(query: dict[str, object], message: str) -> None:
    with pytest.raises(BadRequest, match=message):
        ask(**query)


# A given vector


def vector_of(text: str, length: float = 1.0) -> tuple[float, ...]:
    return tuple(map(float, length * WordEmbedder().embed([text])[0].astype(float)))


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(["overtime rate", "vacation days per month", "deposit income taxes"]), st.floats(1e-200, 1e200))
def test_the_questions_own_vector_changes_nothing_whatever_its_length(question: str, length: float) -> None:
    given_vector = ask(question, query_vector=vector_of(question, length))
    plain = ask(question)
    assert [h.candidate.passage.id for h in given_vector.hits] == [h.candidate.passage.id for h in plain.hits]
    assert [h.score.total for h in given_vector.hits] == pytest.approx([h.score.total for h in plain.hits], abs=1e-6)


def test_a_given_vector_replaces_embedding_the_question() -> None:
    library = payroll_library()
    elsewhere = ask(QUESTION, library, query_vector=vector_of("vacation accrues two days month"))
    assert library.embedder.batches == 0
    by_meaning = max(elsewhere.candidates, key=lambda each: each.signals.similarity)
    assert by_meaning.passage.document_name == "handbook.md"
    assert any(term.term == "overtime" for each in elsewhere.candidates for term in each.signals.terms)


def test_of_many_questions_only_those_without_a_vector_are_embedded() -> None:
    library = payroll_library()
    requests = [SearchRequest(QUESTION, query_vector=vector_of("vacation")), SearchRequest(QUESTION)]
    given_result, plain = library.searcher.search_many(requests, NOW)
    assert library.embedder.batches == 1
    assert plain.hits == ask(QUESTION, library).hits
    assert given_result.hits == ask(QUESTION, library, query_vector=vector_of("vacation")).hits


def test_a_missing_document_is_explained_by_the_given_vector() -> None:
    library = payroll_library()
    (far,) = library.add("menu.md", "The cafeteria serves soup.")
    result = ask(QUESTION, library, query_vector=vector_of("cafeteria soup"), filters=SearchFilters(documents=(1,)))
    library.embedder.broken = True
    assert library.searcher.why_not(result, library.catalogue.document(far.document_id)).reasons


# The reranker's deadline


class Counting:
    """A tiny cross-encoder: the logit is the number of letters; it can be held up at its so-and-so-manieth batch."""

    notice = ""

    def __init__(self, held_at: int = -1) -> None:
        self.batches, self._held_at, self.free = 0, held_at, threading.Event()

    def score(self, question: str, texts: Sequence[str]) -> np.ndarray:
        if self.batches == self._held_at:
            assert self.free.wait(60)
        self.batches += 1
        return np.array([len(text) / 100 for text in texts], dtype=np.float32)


def reranking(model: Counting, deadline_ms: int | None = 60_000) -> Library:
    library = payroll_library()
    reader = DeadlineReranker("fast", lambda: model, deadline_ms, monotonic)
    reader.warm()
    library.searcher = SearchPipeline(
        library.catalogue,
        library.vectors,
        library.sparse,
        library.embedder,
        terms=lambda: BUILT_IN_TERMS,
        timer=perf_counter,
        rerankers={"fast": reader},
    )
    return library


def test_what_was_reranked_and_how_long_it_took_is_reported() -> None:
    library = reranking(Counting())
    result = ask(QUESTION, library, rerank="fast")
    assert result.reranked == len(result.candidates) == 6
    assert 0 < result.rerank_ms < result.milliseconds
    assert not result.notices
    plain = ask(QUESTION, library)
    assert (plain.reranked, plain.rerank_ms) == (0, 0.0)
    assert library.searcher.rescore(result, profiles()["authority"], NOW).reranked == 6


def test_a_request_sets_how_long_its_reranker_may_read() -> None:
    model = Counting(held_at=1)
    library = reranking(model)
    result = ask(QUESTION, library, rerank="fast", reranker_deadline=0.2)
    model.free.set()
    assert result.reranked == 2
    assert result.notices == ("2 of 6 were reranked in 200 ms; the others count 0 for it and keep their order.",)
    read = {c.passage.id for c in result.candidates if c.signals.rerank_logit is not None}
    unread = [hit.candidate.passage.id for hit in result.hits if hit.candidate.passage.id not in read]
    before = [hit.candidate.passage.id for hit in ask(QUESTION, library).hits]
    assert unread == [i for i in before if i in unread]
    for hit in result.hits:
        values = {factor.name: factor.value for factor in hit.score.factors}
        assert (values["rerank"] > 0) == (hit.candidate.passage.id in read)


def test_a_longer_deadline_lets_a_hurried_reranker_read_on() -> None:
    assert ask(QUESTION, reranking(Counting(), deadline_ms=0), rerank="fast", reranker_deadline=30.0).reranked == 6


# What is told


def test_a_result_as_data_says_what_was_asked_and_what_held() -> None:
    library = reranking(Counting())
    values = {"rerank": "fast", "reranker_deadline": 30.0, "top_k": 2, "offset": 1, "threshold": 0.01}
    filters = SearchFilters(include_undated=True)
    result = ask('overtime truth:reality since:2024 "regular rate"', library, filters=filters, **values)
    data = json.loads(json.dumps(export_data(result), default=str))
    assert {name: data["request"][name] for name in values} == values
    assert data["request"]["query_vector_dimensions"] is None
    assert data["applied_filters"] == result.filters.data()
    assert data["applied_filters"]["truths"] == ["reality"]
    assert check_filters(data["applied_filters"]) == result.filters
    assert (data["total"], data["more"]) == (result.total, False)
    assert (data["reranked"], data["scoring"]["threshold"]) == (result.reranked, 0.01)
    assert data["rerank_ms"] == round(result.rerank_ms, 2)
    assert data["scoring"]["weights"]["rerank"] == 0.3
    assert ["phrase", "says “regular rate”"] in [
        [each["kind"].split(":")[0], each["value"]] for each in data["route"]["detected"]
    ]


def test_text_and_brief_say_which_page_it_is_and_what_was_reranked() -> None:
    library = reranking(Counting())
    page = ask(QUESTION, library, top_k=1, offset=1, rerank="fast")
    end = result_text(page).splitlines()[-1]
    assert end.startswith(f"Results 2–2 of {page.total} results in ")
    assert f"(balanced, 6 reranked in {page.rerank_ms:.0f} ms)." in end
    assert f"Results 2–2 of {page.total} results, profile balanced, 6 reranked in " in result_markdown(page)
    whole = ask(QUESTION, library)
    assert result_text(whole).splitlines()[-1].startswith(f"{whole.total} results in ")
    beyond = ask(QUESTION, library, offset=99)
    assert result_text(beyond).splitlines()[-1].startswith(f"None of {whole.total} results in ")
