"""Fitted classifier weights: what each clue adds to each truth, and how each label's evidence is weighed."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from core.domain.documents import Truth
from core.domain.errors import BadTable
from core.knowledge.label_signals import register_features
from core.knowledge.loading import check_keys, table
from core.knowledge.truths import truths

__all__ = [
    "DateWeights",
    "PlaceWeights",
    "SubjectWeights",
    "TruthWeights",
    "clue_weights",
    "date_weights",
    "decision_weights",
    "given_weights",
    "place_weights",
    "subject_weights",
    "truth_intercepts",
]


@dataclass(frozen=True, slots=True)
class TruthWeights:
    """opening_share: extra weight of a signal in the opening, as a share of its weight.
    words_per_sign: one occurrence of a signal is expected per this many words.
    meaning: log-odds when every sampled sentence is nearest to one value.
    foreign_meaning: factor on `meaning` for languages the embedding model was not trained on.
    temperature: of the softmax; above 1 gives lower probabilities. threshold: minimum probability for a label.
    doubt_cap: maximum probability of a law or policy label that rests on one kind of evidence.
    """

    opening_share: float
    words_per_sign: float
    meaning: float
    foreign_meaning: float
    temperature: float
    threshold: float
    doubt_cap: float

    def meaning_of(self, native: bool) -> float:
        """The weight of meaning for a text. native: in a language the embedding model was trained on."""
        return self.meaning if native else self.meaning * self.foreign_meaning


@dataclass(frozen=True, slots=True)
class SubjectWeights:
    """general_lead: prior log-odds of "general". name, keyword: log-odds per domain word in name and text.
    least_prior: lower bound on an authority's prior, for truths it never issues.
    signs_elsewhere: factor on authority signals outside recommendations.
    """

    general_lead: float
    name: float
    keyword: float
    least_prior: float
    signs_elsewhere: float


@dataclass(frozen=True, slots=True)
class PlaceWeights:
    """Weight per kind of mention (core.knowledge.jurisdictions.Place.kind); state and opening multiply it.

    everywhere_per_1000_words: weight density from which worldwide literature is placed in the place it names.
    passing_per_1000_words: density a private document needs if its opening names no place.
    passing_mentions: fewer mentions of laws and agencies, or of cities as authors after the opening, do not place a
    private document.
    least_cities, least_listed: how many different cities of one place identify it, in a text and in a column of places.
    most_cities: minimum share of that place in all cities named, in [0, 1].
    """

    speaks: float
    name: float
    agency: float
    law: float
    citation: float
    code: float
    site: float
    mail: float
    money: float
    city: float
    cities: float
    state: float
    opening: float
    everywhere_per_1000_words: float
    passing_per_1000_words: float
    passing_mentions: float
    least_cities: float
    least_listed: float
    most_cities: float

    def of(self, kind: str, value: str) -> float:
        """The weight of one mention of jurisdiction `value`."""
        weight: float = getattr(self, "speaks" if kind == "self" else kind)
        return weight * (self.state if value.startswith("state:") else 1.0)


@dataclass(frozen=True, slots=True)
class DateWeights:
    """Probability in (0, 1), per kind of place where a date is found, that it is the document's own date."""

    heading: float
    lone_line: float
    title: float
    metadata: float
    name: float
    copyright: float
    first_lines: float


@cache
def decision_weights() -> Mapping[str, TruthWeights]:
    """Label field → its weights. Raises BadTable."""
    return {field: TruthWeights(**_numbers(field, TruthWeights)) for field in ("truth", "authority", "domain")}


@cache
def subject_weights() -> SubjectWeights:
    """Weights for domain and authority. Raises BadTable."""
    return SubjectWeights(**_numbers("subject", SubjectWeights))


@cache
def place_weights() -> PlaceWeights:
    """Weights for mentions of places. Raises BadTable."""
    return PlaceWeights(**_numbers("place", PlaceWeights))


@cache
def date_weights() -> DateWeights:
    """Weights for dates. Raises BadTable."""
    return DateWeights(**_numbers("date", DateWeights))


def _numbers(section: str, kind: type[Any]) -> dict[str, float]:
    """The numbers of one section; its keys must be exactly the fields of `kind`."""
    rows = table("truth_weights")
    check_keys("truth_weights", "top level", rows, ("truth", "authority", "domain", "subject", "place", "date"))
    row = rows.get(section, {})
    names = [field.name for field in fields(kind)]
    check_keys("truth_weights", section, row, names)
    missing = [name for name in names if name not in row]
    if missing:
        raise BadTable(f"core/knowledge/truth_weights.toml: [{section}] lacks '{missing[0]}'.", "Add it.")
    return {name: float(row[name]) for name in names}


_SECTIONS = ("intercepts", "weights")


@cache
def given_weights() -> Mapping[str, Mapping[str, float]]:
    """Unfitted weights, clue key → truth → log-odds: a signal counts for its own truth, a register feature for none."""
    weighing = decision_weights()["truth"]
    given: dict[str, dict[str, float]] = {}
    for truth, row in truths().items():
        for kind, signs in (("name", row.names), ("sign", row.signs)):
            given |= {f"{kind} {truth}: {sign.rule}": {truth.value: sign.weight} for sign in signs}
        given[f"meaning: {truth}"] = {truth.value: weighing.meaning}
        given[f"foreign meaning: {truth}"] = {truth.value: weighing.meaning_of(native=False)}
    return given | {f"manner: {manner.rule}": {} for manner in register_features()}


@cache
def clue_weights() -> Mapping[str, Mapping[str, float]]:
    """Clue key → truth → log-odds ≥ 0, the smallest 0: fitted values, else those of the tables. Raises BadTable."""
    rows = _table().get("weights", {})
    check_keys("classifier_weights", "weights", rows, given_weights())
    return {key: _row(key, rows.get(key, given)) for key, given in given_weights().items()}


@cache
def truth_intercepts() -> Mapping[str, float]:
    """Truth → prior log-odds ≥ 0. Raises BadTable."""
    return _row("intercepts", _table().get("intercepts", {}))


def _row(key: str, row: Mapping[str, float]) -> Mapping[str, float]:
    check_keys("classifier_weights", key, row, list(Truth))
    if min(row.values(), default=0) < 0:
        raise BadTable(
            f"core/knowledge/classifier_weights.toml: '{key}' must hold numbers of 0 or more.",
            "Fit the classifier again.",
        )
    return {truth: float(weight) for truth, weight in row.items()}


def _table() -> Mapping[str, Mapping]:  # type: ignore[type-arg]
    rows = table("classifier_weights")
    check_keys("classifier_weights", "top level", rows, _SECTIONS)
    return rows
