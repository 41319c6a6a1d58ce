"""How signs, names and meaning are weighed into one decision per label field."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from core.errors import BadTable
from core.tables.loading import check_keys, table

__all__ = [
    "DateWeights",
    "PlaceWeights",
    "SubjectWeights",
    "Weighing",
    "date_weights",
    "place_weights",
    "subject_weights",
    "weighings",
]


@dataclass(frozen=True, slots=True)
class Weighing:
    """opening_share: what a sign in the opening adds, as a share of its weight.
    words_per_sign: one sign is expected in so many words.
    meaning: log-odds when every sampled sentence is nearest to one value.
    foreign_meaning: the share of it that counts in a language the embedding was not trained for.
    temperature: above 1 is humbler. threshold: least probability for a label.
    doubt_cap: the most a law or policy label may claim on one kind of evidence.
    """

    opening_share: float
    words_per_sign: float
    meaning: float
    foreign_meaning: float
    temperature: float
    threshold: float
    doubt_cap: float

    def meaning_of(self, native: bool) -> float:
        """What meaning counts in a text; `native`: in a language the embedding knows."""
        return self.meaning if native else self.meaning * self.foreign_meaning


@dataclass(frozen=True, slots=True)
class SubjectWeights:
    """general_lead: what "general" has before any word is read. name, keyword: log-odds of one word of a domain.
    least_prior: what an authority keeps that never speaks a truth.
    signs_elsewhere: the share of the authority signs that counts outside recommendations.
    """

    general_lead: float
    name: float
    keyword: float
    least_prior: float
    signs_elsewhere: float


@dataclass(frozen=True, slots=True)
class PlaceWeights:
    """Weight per kind of mention (core.tables.jurisdictions.Place.kind); state and opening multiply it.

    everywhere_per_1000_words: what one place needs before literature for everywhere is said to be about it.
    passing_per_1000_words: what a private document needs that names no place in its opening.
    passing_mentions: laws and agencies named fewer times than this do not place a private document, nor cities
    somebody speaks as after its opening.
    least_cities, least_listed: so many different cities of one place name it, in a text and in a column of places.
    most_cities: the least share of theirs in all cities named, in [0, 1].
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
        """The weight of one mention of `value`."""
        weight: float = getattr(self, "speaks" if kind == "self" else kind)
        return weight * (self.state if value.startswith("state:") else 1.0)


@dataclass(frozen=True, slots=True)
class DateWeights:
    """Probability in (0, 1) that a date found so is the document's own."""

    heading: float
    lone_line: float
    title: float
    metadata: float
    name: float
    copyright: float
    first_lines: float


@cache
def weighings() -> Mapping[str, Weighing]:
    """Label field → its weighing. Raises BadTable."""
    return {field: Weighing(**_numbers(field, Weighing)) for field in ("truth", "authority", "domain")}


@cache
def subject_weights() -> SubjectWeights:
    """How domain and authority are weighed. Raises BadTable."""
    return SubjectWeights(**_numbers("subject", SubjectWeights))


@cache
def place_weights() -> PlaceWeights:
    """How mentions of places are weighed. Raises BadTable."""
    return PlaceWeights(**_numbers("place", PlaceWeights))


@cache
def date_weights() -> DateWeights:
    """How dates are weighed. Raises BadTable."""
    return DateWeights(**_numbers("date", DateWeights))


def _numbers(section: str, kind: type[Any]) -> dict[str, float]:
    """The numbers of one section, all of them and no others."""
    rows = table("decisions")
    check_keys("decisions", "top level", rows, ("truth", "authority", "domain", "subject", "place", "date"))
    row = rows.get(section, {})
    names = [field.name for field in fields(kind)]
    check_keys("decisions", section, row, names)
    missing = [name for name in names if name not in row]
    if missing:
        raise BadTable(f"core/tables/decisions.toml: [{section}] lacks '{missing[0]}'.", "Add it.")
    return {name: float(row[name]) for name in names}
