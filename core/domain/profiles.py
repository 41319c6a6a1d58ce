"""Stored score profiles: versions of a workspace's own, the default, and the former names of score factors."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from core.domain.filters import SearchFilters
from core.domain.queries import ScoreProfile

__all__ = [
    "FACTOR_ALIASES",
    "MERGED_FACTORS",
    "DefaultProfile",
    "ProfileVersion",
    "current_factor_name",
    "current_factor_names",
    "with_current_factor_names",
]

T = TypeVar("T")

FACTOR_ALIASES: Mapping[str, str] = {
    "coverage": "term_coverage",
    "sentence": "best_sentence_similarity",
    "nearness": "synonym_match",
    "in_a_row": "phrase_match",
    "asked_date": "date_match",
}
"""Former name of a score factor → its name now. Profiles, experiments and URLs written before still hold the former."""

MERGED_FACTORS: Mapping[str, str] = {"feedback": "similarity", "relevance_feedback": "similarity"}
"""A factor that was removed → the one that gets its weight. The cosine with a question moved towards its best matches
did not gain on average on collections it was not chosen on; one of four was better with it."""


def current_factor_name(name: str) -> str:
    """The name a factor has now; a name that was never renamed stays.

    >>> current_factor_name("in_a_row"), current_factor_name("phrase_match"), current_factor_name("luck")
    ('phrase_match', 'phrase_match', 'luck')
    """
    return MERGED_FACTORS.get(name) or FACTOR_ALIASES.get(name, name)


def current_factor_names(by_factor: Mapping[str, T]) -> dict[str, T]:
    """Values by factor under the current names, in the same order.

    A removed factor's number is added to that of the factor that replaces it. A renamed one keeps its former name when
    the current one is there too, so that a check reports it as unknown.

    >>> current_factor_names({"feedback": 0.5, "similarity": 0.25}), current_factor_names({"sentence": 1.0})
    ({'similarity': 0.75}, {'best_sentence_similarity': 1.0})
    """
    named: dict[str, T] = {}
    for name, value in by_factor.items():
        current = MERGED_FACTORS.get(name) or current_factor_name(name)
        key = name if name not in MERGED_FACTORS and name != current in by_factor else current
        named[key] = _added(named[key], value) if key in named else value
    return named


def _added(before: Any, value: Any) -> Any:
    """The sum of two numbers, or the one that is no number, so that a check reports it."""
    if not isinstance(before, int | float):
        return before
    return before + value if isinstance(value, int | float) else value


_BY_FACTOR = ("weights", "multipliers", "spread")


def with_current_factor_names(data: Mapping[str, object]) -> dict[str, object]:
    """The JSON object of a stored profile or experiment with the current factor names.

    Renames the keys of `weights`, `multipliers` and `spread` and the entries of `factors`, at any depth.

    >>> with_current_factor_names({"profile": {"weights": {"sentence": 1.0}}, "optimising": {"factors": ["coverage"]}})
    {'profile': {'weights': {'best_sentence_similarity': 1.0}}, 'optimising': {'factors': ['term_coverage']}}
    """
    renamed: dict[str, object] = {}
    for key, value in data.items():
        if key in _BY_FACTOR and isinstance(value, dict):
            renamed[key] = current_factor_names(value)
        elif key == "factors" and isinstance(value, list):
            renamed[key] = list(dict.fromkeys(current_factor_name(name) for name in value))
        else:
            renamed[key] = with_current_factor_names(value) if isinstance(value, dict) else value
    return renamed


@dataclass(frozen=True, slots=True)
class ProfileVersion:
    """One version of a workspace's own profile; versions are only ever added.

    profile: with its name and version (1, 2 …). origin: the profile it was copied from, as "name@version"; "" for none.
    retired: this version deletes the profile: it is no longer offered, but old results can still name it.
    """

    profile: ScoreProfile
    who: str
    at: datetime
    note: str = ""
    origin: str = ""
    retired: bool = False


@dataclass(frozen=True, slots=True)
class DefaultProfile:
    """The default profile of a project (None: of the whole library), and the filters and the reranker a new search
    starts with; the latest entry applies.

    name: always its newest version; "" removes the choice, so that the library's or the built-in default applies.
    filters, reranker: read for the whole library only; reranker "" for none.
    """

    project: str | None
    name: str
    who: str
    at: datetime
    filters: SearchFilters = field(default_factory=SearchFilters)
    reranker: str = ""

    @property
    def is_set(self) -> bool:
        """Whether anything is chosen; a choice that was withdrawn is an entry, too."""
        return bool(self.name or self.reranker) or self.filters != SearchFilters()
