"""The fitted models of how likely a library and one truth answer, and a truth covers a topic
(core/knowledge/answerability.toml, answerability_read.toml, truth_answers.toml, topic_coverage.toml)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from core.domain.errors import BadTable
from core.knowledge.loading import check_keys, table

__all__ = [
    "AnswerModel",
    "TopicModel",
    "TruthModel",
    "answer_model",
    "parse_answer_model",
    "parse_topic_model",
    "parse_truth_model",
    "read_answer_model",
    "topic_model",
    "truth_model",
]

_SIGNALS = ("best", "lead", "coverage")  # the fields of core.search.ranking.answerability.AnswerSignals
_READ_SIGNALS = (*_SIGNALS, "reading")  # those of ReadSignals


@dataclass(frozen=True, slots=True)
class AnswerModel:
    """A logistic regression. weights: one per signal. threshold: probabilities below it are shown as "probably not
    answered", in [0, 1]."""

    weights: Mapping[str, float]
    intercept: float
    threshold: float


@cache
def answer_model() -> AnswerModel:
    """core/knowledge/answerability.toml. Raises BadTable naming file and key."""
    return parse_answer_model(table("answerability"))


@cache
def read_answer_model() -> AnswerModel:
    """core/knowledge/answerability_read.toml: where the included reranker has read. Raises BadTable naming file and
    key."""
    return parse_answer_model(table("answerability_read"), "answerability_read")


def parse_answer_model(raw: Mapping[str, Any], name: str = "answerability") -> AnswerModel:
    """Parses and checks the table of this name. Raises BadTable naming file and key."""
    signals = _READ_SIGNALS if name == "answerability_read" else _SIGNALS
    check_keys(name, name, raw, ("weights", "intercept", "threshold"))
    weights = raw.get("weights", {})
    check_keys(name, "weights", weights, signals)
    if missing := [signal for signal in signals if signal not in weights]:
        raise BadTable(f"core/knowledge/{name}.toml: [weights] lacks '{missing[0]}'.", "Fit the model again.")
    threshold = float(raw["threshold"])
    if not 0 <= threshold <= 1:
        raise BadTable(f"core/knowledge/{name}.toml: 'threshold' must be in [0, 1].", "Fit the model again.")
    numbers = {signal: float(weights[signal]) for signal in signals}
    return AnswerModel(numbers, float(raw["intercept"]), threshold)


@dataclass(frozen=True, slots=True)
class TruthModel:
    """A logistic regression. evidence: weight of the evidence of a truth's best passage; lead: of how much this exceeds
    the best evidence of the other truths."""

    evidence: float
    lead: float
    intercept: float


@dataclass(frozen=True, slots=True)
class TopicModel:
    """A logistic regression over the evidence of a passage. evidence: its weight; other_language ≥ 0: what is
    added to the evidence of a passage in another language than the topic, which is compared word for word."""

    evidence: float
    other_language: float
    intercept: float


@cache
def truth_model() -> TruthModel:
    """core/knowledge/truth_answers.toml. Raises BadTable naming file and key."""
    return parse_truth_model(table("truth_answers"))


@cache
def topic_model() -> TopicModel:
    """core/knowledge/topic_coverage.toml. Raises BadTable naming file and key."""
    return parse_topic_model(table("topic_coverage"))


def parse_truth_model(raw: Mapping[str, Any]) -> TruthModel:
    """Parses and checks a table. Raises BadTable naming file and key."""
    return TruthModel(*_numbers("truth_answers", raw, ("evidence", "lead", "intercept")))


def parse_topic_model(raw: Mapping[str, Any]) -> TopicModel:
    """Parses and checks a table. Raises BadTable naming file and key."""
    return TopicModel(*_numbers("topic_coverage", raw, ("evidence", "other_language", "intercept")))


def _numbers(name: str, raw: Mapping[str, Any], keys: Sequence[str]) -> list[float]:
    """The values of these keys, which must be all of the table's. Raises BadTable naming file and key."""
    check_keys(name, name, raw, keys)
    if missing := [key for key in keys if key not in raw]:
        raise BadTable(f"core/knowledge/{name}.toml lacks '{missing[0]}'.", "Fit the model again.")
    return [float(raw[key]) for key in keys]
