"""How likely it is that the library answers a question, and what is missing when it hardly does."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.documents import Origin, Passage, Span, Truth
from core.domain.errors import BadTable
from core.domain.queries import SearchRequest
from core.domain.results import Candidate, NearWord, Signals, TermScore
from core.knowledge.answerability import (
    AnswerModel,
    TruthModel,
    answer_model,
    parse_answer_model,
    parse_truth_model,
    read_answer_model,
)
from core.search.exports import result_text
from core.search.query.names import named_in
from core.search.ranking.answerability import (
    AnswerSignals,
    answer_estimate,
    answer_probability,
    answer_signals,
    answer_threshold,
    evidence,
    lead_over,
    read_signals,
    truth_evidence,
    truth_probability,
    truths_words,
    what_is_missing,
)
from core.search.result_data import result_data
from core.text.tokenize import stem
from tests.search.library import NOW, Library

MODEL = AnswerModel({"best": 6.0, "lead": 4.0, "coverage": 1.0}, -3.0, 0.5)
SHARES = st.floats(0, 1)


def found(number: int, similarity: float = 0.5, coverage: float = 0.8, words: tuple[str, ...] = ()) -> Candidate:
    """A candidate of this evidence with these words of the question."""
    passage = Passage("Text.", 1, 0, 5, (Span(0, 5),), id=number, document_id=number)
    terms = tuple(TermScore(word, stem(word), 1.0) for word in words)
    return Candidate(passage, Signals(similarity, coverage * 10, 10.0, terms, term_coverage=coverage))


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("How do I set up an earning code in Workday payroll?", ("Workday",)),
        ("Jones Act waiver for vessels", ("Jones", "Act")),
        ("2025 Social Security wage base", ("2025", "Social", "Security")),
        ("I'm asking: Does the FSA of TTS run until April 30?", ("FSA", "TTS")),
        ("What time did Müller start on 20 February 2025?", ("Müller", "2025")),
        ("Reasonable accommodation deadline", ()),
    ],
)
def test_what_a_question_names(question: str, names: tuple[str, ...]) -> None:
    assert named_in(question) == names


def test_evidence_is_the_mean_of_meaning_and_words_where_all_is_measured() -> None:
    signals = Signals(0.5, 4.0, 10.0, best_sentence_similarity=0.6, synonym_match=0.7)
    assert evidence(signals) == pytest.approx(0.4 * 0.5 + 0.2 * 0.6 + 0.2 * 0.4 + 0.2 * 0.7)
    assert evidence(Signals(0.5, 4.0, 10.0)) == pytest.approx(0.6 * 0.5 + 0.4 * 0.4)


def test_the_signals_describe_the_best_passage_and_its_lead() -> None:
    candidates = [found(1, 0.9, 0.6), *(found(number, 0.1, 0.0) for number in range(2, 30))]
    best = 0.6 * 0.9 + 0.4 * 0.6
    assert answer_signals(candidates) == pytest.approx(AnswerSignals(best, best - 0.06, 0.6))
    assert answer_signals([]) == AnswerSignals(0.0, 0.0, 0.0)


def test_a_question_asked_before_is_no_evidence() -> None:
    episode = replace(found(1, 0.9), passage=replace(found(1).passage, origin=Origin.EPISODE))
    assert answer_signals([episode, found(2, 0.2, 0.0)]).best == pytest.approx(0.12)


@given(st.builds(AnswerSignals, SHARES, SHARES, SHARES), SHARES)
def test_more_evidence_never_makes_an_answer_less_likely(signals: AnswerSignals, more: float) -> None:
    probability = answer_probability(signals, MODEL)
    assert 0 < probability < 1
    assert answer_probability(signals._replace(best=signals.best + more), MODEL) >= probability


def test_the_fitted_model_rewards_evidence() -> None:
    model = answer_model()
    clear, vague = AnswerSignals(0.9, 0.6, 1.0), AnswerSignals(0.1, 0.05, 0.0)
    assert answer_probability(clear, model) > 0.9 > model.threshold > answer_probability(vague, model)


def test_what_the_included_reranker_read_counts_where_it_could_read_the_best_passage() -> None:
    def read(logit: float | None) -> Candidate:
        own = found(1, 0.6, 0.5)
        return replace(own, signals=replace(own.signals, rerank_logit=logit))

    unread = found(2, 0.3, 0.2)
    lesser = replace(unread, signals=replace(unread.signals, rerank_logit=4.0))
    assert read_signals([read(0.0), unread]) == (*answer_signals([read(0.0), unread]), 0.5)
    assert read_signals([found(1), unread]) is None
    assert read_signals([read(None), lesser]) is None, "only a lesser passage was read"
    sure, unsure = (answer_estimate([read(logit), unread], "included") for logit in (4.0, -4.0))
    assert sure > unsure
    without = answer_estimate([found(1, 0.6, 0.5), unread], "included")
    assert without == answer_estimate([read(4.0), unread], "fast") == answer_estimate([read(4.0), unread], "")
    first = [read(4.0), unread]
    assert [answer_threshold(first, name) for name in ("included", "fast", "")] == [
        read_answer_model().threshold,
        answer_model().threshold,
        answer_model().threshold,
    ]
    assert answer_threshold([read(None), lesser], "included") == answer_model().threshold


@pytest.mark.parametrize(
    ("changed", "problem"),
    [({"weights": {"best": 1.0}}, "lacks 'lead'"), ({"threshold": 2.0}, "in \\[0, 1\\]"), ({"luck": 1}, "luck")],
)
def test_a_damaged_model_names_its_fault(changed: dict[str, object], problem: str) -> None:
    raw = {"weights": MODEL.weights, "intercept": -3.0, "threshold": 0.5}
    with pytest.raises(BadTable, match=problem):
        parse_answer_model(raw | changed)


def test_what_is_missing_are_the_rarest_words_that_no_near_passage_holds() -> None:
    rarity = {"quorum": 5.0, "raft": 3.0, "members": 1.0}
    assert what_is_missing([found(1, words=("members",))], rarity, "") == (
        "None of the nearest passages contains “quorum” or “raft”."
    )
    assert what_is_missing([], rarity, "") == "No passage shares a word or a meaning with the question."


def test_a_word_that_was_found_only_as_a_near_word_is_named_as_such() -> None:
    near = found(1, words=("members",))
    assembly = NearWord("quorum", "assembly", "assembl", 0.6, 0.6)
    near = replace(near, signals=replace(near.signals, near_words=(assembly,)))
    rarity = {"quorum": 5.0, "raft": 3.0, "members": 1.0}
    assert what_is_missing([near], rarity, "") == (
        "None of the nearest passages contains “raft”. They contain only related words for “quorum” (“assembly”)."
    )
    far = replace(near, signals=replace(near.signals, near_words=(replace(assembly, closeness=0.3),)))
    assert what_is_missing([far], rarity, "") == "None of the nearest passages contains “quorum” or “raft”."


def test_all_truths_silent_are_told_with_the_probability_however_high_it_is() -> None:
    library = Library()
    result = replace(library.searcher.search(SearchRequest("quorum"), NOW), answered=True, answer_probability=0.51)
    assert truths_words(result) == ""
    silent = replace(result, truths=tuple((truth.value, "silent") for truth in Truth))
    assert truths_words(silent) == "All five truths are silent (p = 0.51 that the library answers this)."
    assert result_data(silent)["truths_in_words"] in result_text(silent)
    mixed = replace(result, truths=(("regulatory", "answered"), ("intent", "partly"), ("reality", "silent")))
    assert truths_words(mixed) == "Answered: regulatory. Partly: intent. Silent: reality."
    assert result_data(mixed)["truths"] == dict(mixed.truths)


def test_what_is_missing_may_be_the_kind_of_answer() -> None:
    silent = found(1, words=("match",))
    silent = replace(silent, signals=replace(silent.signals, answer=0.0))
    reported = replace(silent, signals=replace(silent.signals, answer=0.9, answer_words="5%"))
    rarity = {"match": 3.0}
    assert what_is_missing([silent], rarity, "percentage") == "None of the nearest passages gives a percentage."
    assert "close to all of it" in what_is_missing([reported], rarity, "percentage")


def test_results_are_listed_although_none_probably_answers() -> None:
    library = Library()
    library.add("picnic.md", "The picnic has music and a raffle.")
    result = library.searcher.search(SearchRequest("raffle licence of the gambling commission"), NOW)
    assert [hit.candidate.passage.document_name for hit in result.hits] == ["picnic.md"]
    assert not result.answered
    assert result.answer_probability is not None and result.answer_probability < answer_model().threshold
    assert "“licence”" in result.silence and "“raffle”" not in result.silence


def test_when_a_leg_failed_the_probability_is_unknown_and_nothing_is_called_unanswered() -> None:
    library = Library()
    library.add("picnic.md", "The picnic has music and a raffle.")
    library.embedder.broken = True
    result = library.searcher.search(SearchRequest("raffle licence"), NOW)
    assert result.answer_probability is None
    assert result.answered and result.hits and not result.silence


def test_one_truth_answers_as_likely_as_its_best_passage_says() -> None:
    model = TruthModel(10.0, 5.0, -4.0)
    assert truth_evidence([]) is None
    assert truth_evidence([found(1, 0.4, 0.4)]) == pytest.approx(0.4)
    assert truth_probability(0.4, 0.0, model) == pytest.approx(0.5)
    assert truth_probability(0.4, 0.1, model) > 0.6, "and the truth that says most leads"
    assert truth_evidence([found(1, 0.1, 0.1), found(2, 0.9, 0.0)]) == pytest.approx(0.54), "other words may say it"
    episode = replace(found(1, 0.9), passage=replace(found(1).passage, origin=Origin.EPISODE))
    assert truth_evidence([episode]) is None


def test_words_of_another_language_count_by_what_they_mean() -> None:
    plain = Signals(0.4, 1.0, 10.0, synonym_match=0.6)
    other = replace(plain, other_language=True)
    assert plain.keyword_share == pytest.approx(0.1) and other.keyword_share == pytest.approx(0.6)
    assert evidence(other) - evidence(plain) == pytest.approx(0.2 * 0.5)
    named = Signals(0.4, 9.0, 10.0, synonym_match=0.6, other_language=True)
    assert named.keyword_share == pytest.approx(0.9), "names and numbers are the same in every language"
    assert Signals(0.4, other_language=True).keyword_share == 0.0


def test_only_the_truth_that_says_most_leads() -> None:
    assert lead_over(0.5, [0.3, None, 0.4]) == pytest.approx(0.1)
    assert lead_over(0.4, [0.5]) == 0.0
    assert lead_over(0.4, []) == lead_over(0.4, [None]) == lead_over(0.4, [0.05]) == pytest.approx(0.1)


def test_a_model_of_truths_that_lacks_a_number_is_refused() -> None:
    with pytest.raises(BadTable, match="intercept"):
        parse_truth_model({"evidence": 10.0, "lead": 1.0})
