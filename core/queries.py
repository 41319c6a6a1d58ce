"""What is asked: a question with its filters, the route read from it, the profile that scores it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.documents import Truth
from core.filters import SearchFilters

__all__ = ["Chip", "LegWeights", "Route", "ScoreProfile", "SearchRequest"]


@dataclass(frozen=True, slots=True)
class LegWeights:
    """Weights of the legs in fusion; they need not sum to 1."""

    dense: float = 0.65
    sparse: float = 0.20
    graph: float = 0.15


@dataclass(frozen=True, slots=True)
class ScoreProfile:
    """A named way of scoring: a row of core/tables/profiles.toml or of a workspace.

    weights: factor name → weight ≥ 0, summing to 1. multipliers: names of factors multiplied after the sum.
    threshold: totals below it are dropped, in [0, 1]. floor: least similarity that counts as evidence, in [0, 1].
    """

    name: str
    weights: Mapping[str, float]
    multipliers: tuple[str, ...] = ()
    threshold: float = 0.5
    floor: float = 0.25
    max_results: int = 10
    half_life_days: float = 14.0
    version: int = 1


@dataclass(frozen=True, slots=True)
class Chip:
    """Something detected in the question, shown and removable. `kind` names what it narrows or prefers
    (category, domain, jurisdiction, date, trend, relational); `words` is what the question says."""

    kind: str
    value: str
    words: str


@dataclass(frozen=True, slots=True)
class Route:
    """What a question is about. `truths`: truth → weight in (0, 1]; the others weigh 0.3 (soft routing).

    confidence: in [0.5, 0.95]. keywords: query terms without stop words, lower case, unstemmed, in order.
    """

    category: str = "default"
    confidence: float = 0.5
    truths: Mapping[Truth, float] = field(default_factory=dict)
    domain: str | None = None
    jurisdiction: str | None = None
    date_from: str | None = None
    date_to: str | None = None
    trend: bool = False
    relational: bool = False
    keywords: tuple[str, ...] = ()
    chips: tuple[Chip, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One question as asked.

    removed_chips: `Chip.kind`s the user has removed. only_routed: leave out truths outside the route.
    top_k: at most this many hits (None: the profile's max_results).
    """

    question: str
    filters: SearchFilters = SearchFilters()
    profile: str = "balanced"
    top_k: int | None = None
    only_routed: bool = False
    removed_chips: tuple[str, ...] = ()
