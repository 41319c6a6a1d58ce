"""The fitted models of how likely a library and one truth answer, and a truth covers a topic
(core/knowledge/answerability.toml, truth_answers.toml, topic_coverage.toml)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from core.domain.errors import BadTable
from core.knowledge.loading import check_keys, table

__all__ = [
    "AnswerModel",
    "TruthModel",
    "answer_model",
    "parse_answer_model",
    "parse_truth_model",
    "topic_model",
    "truth_model",
]

_SIGNALS = ("best", "lead", "coverage")  # the fields of core.search.ranking.answerability.AnswerSignals


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


def parse_answer_model(raw: Mapping[str, Any]) -> AnswerModel:
    """Parses and checks the table. Raises BadTable naming file and key."""
    check_keys("answerability", "answerability", raw, ("weights", "intercept", "threshold"))
    weights = raw.get("weights", {})
    check_keys("answerability", "weights", weights, _SIGNALS)
    if missing := [name for name in _SIGNALS if name not in weights]:
        raise BadTable(f"core/knowledge/answerability.toml: [weights] lacks '{missing[0]}'.", "Fit the model again.")
    threshold = float(raw["threshold"])
    if not 0 <= threshold <= 1:
        raise BadTable("core/knowledge/answerability.toml: 'threshold' must be in [0, 1].", "Fit the model again.")
    numbers = {name: float(weights[name]) for name in _SIGNALS}
    return AnswerModel(numbers, float(raw["intercept"]), threshold)


@dataclass(frozen=True, slots=True)
class TruthModel:
    """A logistic regression over one signal. evidence: its weight."""

    evidence: float
    intercept: float


@cache
def truth_model() -> TruthModel:
    """core/knowledge/truth_answers.toml. Raises BadTable naming file and key."""
    return parse_truth_model("truth_answers", table("truth_answers"))


@cache
def topic_model() -> TruthModel:
    """core/knowledge/topic_coverage.toml. Raises BadTable naming file and key."""
    return parse_truth_model("topic_coverage", table("topic_coverage"))


def parse_truth_model(name: str, raw: Mapping[str, Any]) -> TruthModel:
    """Parses and checks a table of this name. Raises BadTable naming file and key."""
    keys = ("evidence", "intercept")
    check_keys(name, name, raw, keys)
    if missing := [key for key in keys if key not in raw]:
        raise BadTable(f"core/knowledge/{name}.toml lacks '{missing[0]}'.", "Fit the model again.")
    return TruthModel(float(raw["evidence"]), float(raw["intercept"]))
