"""The probability that a library answers a question, from measured signals only, never from the profile.

A logistic regression over a few signals of the candidates. `evaluate fit-answerability` fits it to questions asked with
and without the documents that answer them, and chooses the threshold; core/knowledge/answerability.toml holds both.
No single word decides, and no result is hidden: the page says how likely an answer is, and lists what is nearest.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import exp, log
from typing import NamedTuple

from core.domain.documents import Origin
from core.domain.results import Candidate, NearWord, SearchResult, Signals
from core.knowledge.answer_kinds import answer_kinds
from core.knowledge.answerability import AnswerModel, TopicModel, TruthModel, answer_model, read_answer_model
from core.knowledge.rerankers import INCLUDED
from core.search.ranking.features import contained_terms
from core.text.lists import listed

__all__ = [
    "AnswerSignals",
    "ReadSignals",
    "all_silent_words",
    "answer_estimate",
    "answer_probability",
    "answer_signals",
    "answer_threshold",
    "evidence",
    "filters_match_nothing",
    "lead_over",
    "most_evidence",
    "read_signals",
    "topic_evidence",
    "topic_probability",
    "truth_evidence",
    "truth_probability",
    "truths_words",
    "unanswered_words",
    "what_is_missing",
]

_SIMILARITY, _SENTENCE, _KEYWORD, _SYNONYM = 0.4, 0.2, 0.2, 0.2
"""Weights of evidence, which are those of the four text factors of profile `balanced`, but belong to no profile."""
_NEAREST = 5  # best candidates whose words count as found
_BACKGROUND = 20  # rank of the candidate that stands for what any question finds
_ANY = 0.3  # evidence that any question finds in a truth with many passages. Chosen by hand.
_NAMED = 4  # missing words that are named. Chosen by hand.


class AnswerSignals(NamedTuple):
    """Signals of the candidates of one question, each in [0, 1].

    best: highest evidence of a passage. lead: by how much it exceeds that of the 20th. coverage: share of the
    question's words, by rarity, in the best passage."""

    best: float
    lead: float
    coverage: float


class ReadSignals(NamedTuple):
    """The same where a reranker has read, each in [0, 1]. reading: sigmoid of its highest logit."""

    best: float
    lead: float
    coverage: float
    reading: float


def evidence(signals: Signals) -> float:
    """How much a passage says of what is asked, in [0, 1]: likeness in meaning of the passage and of its best sentence,
    and the question's words in it, as they are and as synonyms. An unmeasured sentence similarity counts as the
    passage's own, an unmeasured synonym match as the keyword share."""
    sentence = signals.similarity if signals.best_sentence_similarity is None else signals.best_sentence_similarity
    synonym = signals.keyword_share if signals.synonym_match is None else signals.synonym_match
    keyword = _KEYWORD * signals.keyword_share
    return _SIMILARITY * signals.similarity + _SENTENCE * sentence + keyword + _SYNONYM * synonym


def answer_signals(candidates: Sequence[Candidate]) -> AnswerSignals:
    """The signals of these candidates; all 0 without any. An episode is a question asked before, and no evidence."""
    ranked = _by_evidence(candidates)
    if not ranked:
        return AnswerSignals(0.0, 0.0, 0.0)
    values = [evidence(each.signals) for each in ranked]
    return AnswerSignals(
        values[0],
        values[0] - values[min(_BACKGROUND, len(values)) - 1],
        _coverage(ranked[0].signals),
    )


def _coverage(signals: Signals) -> float:
    """The share of the question's words in a passage; in another language, of what they mean."""
    return max(signals.term_coverage, signals.synonym_match or 0.0) if signals.other_language else signals.term_coverage


def read_signals(candidates: Sequence[Candidate]) -> ReadSignals | None:
    """The signals of these candidates where a reranker has read the passage with the highest evidence, else None."""
    logits = [logit for each in candidates if (logit := each.signals.rerank_logit) is not None]
    best = most_evidence(candidates)
    if best is None or best.signals.rerank_logit is None:
        return None
    return ReadSignals(*answer_signals(candidates), _logistic(max(logits)))


def answer_estimate(candidates: Sequence[Candidate], reranker: str) -> float:
    """How likely an answer is, in (0, 1).

    candidates: of the first band. reranker: that has read them, "" for none; what the included one has read counts."""
    read = read_signals(candidates) if reranker == INCLUDED else None
    if read is not None:
        return answer_probability(read, read_answer_model())
    return answer_probability(answer_signals(candidates), answer_model())


def answer_threshold(candidates: Sequence[Candidate], reranker: str) -> float:
    """The probability below which a question is called unanswered; arguments as in `answer_estimate`."""
    read = reranker == INCLUDED and read_signals(candidates) is not None
    return (read_answer_model() if read else answer_model()).threshold


def answer_probability(signals: AnswerSignals | ReadSignals, model: AnswerModel) -> float:
    """The probability of an answer, in (0, 1): 1 / (1 + exp(-(intercept + Σ weight · signal)))."""
    margin = model.intercept + sum(model.weights[name] * value for name, value in signals._asdict().items())
    return _logistic(margin)


def most_evidence(candidates: Sequence[Candidate]) -> Candidate | None:
    """The candidate that says most of what is asked; None without any."""
    return next(iter(_by_evidence(candidates)), None)


def truth_evidence(candidates: Sequence[Candidate]) -> float | None:
    """The evidence of the candidate that says most of what is asked, in [0, 1]; None without any."""
    best = most_evidence(candidates)
    return None if best is None else evidence(best.signals)


def lead_over(value: float, others: Iterable[float | None]) -> float:
    """By how much the evidence of one truth exceeds the best of the others, in [0, 1]; 0 where another has more, so
    that a second truth that answers is not doubted because a first one does. Others count as what any question finds
    at least: truths with few passages or none say nothing about the lead."""
    return max(0.0, value - max([_ANY, *(each for each in others if each is not None)]))


def truth_probability(value: float, lead: float, model: TruthModel) -> float:
    """The probability that one truth answers a question, in (0, 1): 1 / (1 + exp(-(intercept + Σ weight · signal))).

    value: its evidence, from `truth_evidence`; lead: from `lead_over`."""
    return _logistic(model.intercept + model.evidence * value + model.lead * lead)


def topic_probability(value: float, model: TopicModel, *, other_language: bool = False) -> float:
    """The probability that a passage with this evidence covers a topic, in (0, 1). other_language: whether the passage
    is in another language than the topic."""
    return _logistic(model.intercept + model.evidence * (value + other_language * model.other_language))


def topic_evidence(probability: float, model: TopicModel, *, other_language: bool = False) -> float:
    """The evidence that has this probability of covering a topic."""
    value = (log(probability / (1 - probability)) - model.intercept) / model.evidence
    return value - other_language * model.other_language


def _logistic(margin: float) -> float:
    return 1 / (1 + exp(-margin))


_RELATED = 0.5
"""Least closeness of a word that is named as related to one of the question; ranking counts farther ones too, but to a
reader they are other words. Chosen by hand, not fitted."""


def what_is_missing(candidates: Sequence[Candidate], rarity: Mapping[str, float], answer_kind: str) -> str:
    """One sentence on what the nearest passages lack: the rarest words of the question, or the kind of answer.

    rarity: question term → inverse document frequency. answer_kind: as in `Route`.
    """
    nearest = _by_evidence(candidates)[:_NEAREST]
    if not nearest:
        return "No passage shares a word or a meaning with the question."
    found = {term for each in nearest for term in contained_terms(each.signals.terms, rarity)}
    near: dict[str, NearWord] = {}
    for word in (word for each in nearest for word in each.signals.near_words if word.query_word not in found):
        if word.closeness >= max(_RELATED, near[word.query_word].closeness if word.query_word in near else 0.0):
            near[word.query_word] = word
    rarest = sorted((term for term in rarity if term not in found), key=lambda term: -rarity[term])
    missing = [f"“{term}”" for term in rarest if term not in near][:_NAMED]
    related = [f"“{term}” (“{near[term].word}”)" for term in rarest if term in near][:_NAMED]
    found_as = f" They contain only related words for {listed(related)}." if related else ""
    if missing:
        return f"None of the nearest passages contains {listed(missing, 'or')}.{found_as}"
    kind = answer_kinds().get(answer_kind)
    if kind is not None and not any(each.signals.answer for each in nearest):
        return f"None of the nearest passages gives {kind.label}.{found_as}"
    return f"The nearest passages share words with the question, but none is close to all of it.{found_as}"


def filters_match_nothing(result: SearchResult) -> bool:
    """Whether the library has passages, but the filters admit none of them."""
    return any(leg.rows_before for leg in result.legs) and not any(leg.rows_after for leg in result.legs)


def unanswered_words(result: SearchResult) -> str:
    """The heading of a result without a likely answer; p is the probability that none answers."""
    if not result.hits:
        return f"No results after the first {result.total:,}." if result.total else "Nothing found."
    if result.answer_probability is None:
        return "Whether this is answered is unknown."
    return f"Probably not answered in this library (p = {1 - result.answer_probability:.2f})."


def truths_words(result: SearchResult) -> str:
    """Which truths answer, partly answer and are silent, in one line; "" while they were not asked.

    When all are silent, the line gives the probability that the library answers all the same."""
    states = dict(result.truths)
    if silent := all_silent_words(result):
        return silent
    groups = {state: [truth for truth, each in result.truths if each == state] for state in states.values()}
    return " ".join(f"{state.capitalize()}: {', '.join(of)}." for state, of in sorted(groups.items()))


def all_silent_words(result: SearchResult) -> str:
    """That all five truths are silent, with the probability of an answer; "" when one is not, or none was asked."""
    if not result.truths or any(state != "silent" for _, state in result.truths):
        return ""
    if result.answer_probability is None:
        return "All five truths are silent."
    return f"All five truths are silent (p = {result.answer_probability:.2f} that the library answers this)."


def _by_evidence(candidates: Sequence[Candidate]) -> list[Candidate]:
    proper = [each for each in candidates if each.passage.origin is not Origin.EPISODE]
    return sorted(proper, key=lambda each: (-evidence(each.signals), each.passage.id))
