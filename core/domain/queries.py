"""Search requests: the question with its filters, its route, and the score profile."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.domain.documents import Truth
from core.domain.filters import SearchFilters

__all__ = ["LEG_LABELS", "Chip", "LegWeights", "Route", "ScoreProfile", "SearchRequest"]


LEG_LABELS: Mapping[str, str] = {"dense": "by meaning", "sparse": "by keyword", "graph": "by entity"}
"""Leg → what people read; files and JSON keep the leg's own name."""


@dataclass(frozen=True, slots=True)
class LegWeights:
    """Weights of the legs in fusion; they need not sum to 1."""

    dense: float = 0.65
    sparse: float = 0.20
    graph: float = 0.15


@dataclass(frozen=True, slots=True)
class ScoreProfile:
    """A named way of scoring: a row of core/knowledge/profiles.toml or of a workspace.

    weights: factor name → weight ≥ 0, summing to 1. multipliers: factor name → strength in (0, 1]; the sum is
    multiplied by 1 - strength · (1 - value). threshold: totals below it are dropped, in [0, 1]. floor: least similarity
    that counts as evidence, in [0, 1]. fusion_k: k of reciprocal rank fusion, ≥ 1; legs, relational_legs: weights of
    the legs in fusion. half_life_days: for every document, above 0; None: by source type, as in factors.toml.
    routing_outside: weight of a truth outside the route, in [0, 1]. covered, partial: least evidence score of a covered
    or partly covered cell of the coverage board. None: as in routes.toml and gaps.toml. version: 0 for a built-in
    profile, and for a trial. embedder: the embedding model in use when it was saved; "": the one that comes with the
    installation."""

    name: str
    weights: Mapping[str, float]
    multipliers: Mapping[str, float] = field(default_factory=dict)
    threshold: float = 0.5
    floor: float = 0.25
    max_results: int = 10
    half_life_days: float | None = None
    fusion_k: int = 60
    legs: LegWeights = LegWeights()
    relational_legs: LegWeights = LegWeights(0.4, 0.2, 0.4)
    routing_outside: float | None = None
    covered: float | None = None
    partial: float | None = None
    version: int = 0
    embedder: str = ""

    @property
    def ref(self) -> str:
        """The reference stored with results and runs: "name@version", or the bare name of a built-in profile."""
        return f"{self.name}@{self.version}" if self.version else self.name


@dataclass(frozen=True, slots=True)
class Chip:
    """Something detected in the question, shown and removable. `kind`: the property it filters or prefers (category,
    domain, jurisdiction, date, trend, relational); `words`: the text of the question it comes from."""

    kind: str
    value: str
    words: str


@dataclass(frozen=True, slots=True)
class Route:
    """The analysis of a question. `truths`: truth → weight in (0, 1]; the others weigh 0.3 (soft routing).

    confidence: in [0.5, 0.95]. keywords: query terms without stop words, lower case, unstemmed, in order. answer_kind:
    the kind of answer asked for, a name of core/knowledge/answer_kinds.toml, "" for any. entities: canonical names
    found in the question."""

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
    answer_kind: str = ""
    entities: tuple[str, ...] = ()
    chips: tuple[Chip, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One search request.

    profile: a name, "name@version" for one version of it, or "": the default of its project. weights (factor, weight),
    threshold, half_life_days: instead of the profile's, for this search; () and None: as the profile says.
    removed_chips: `Chip.kind`s the user has removed. only_routed: leave out truths outside the route. top_k: at most
    this many hits (None: the profile's max_results). offset: results passed over before the first hit, ≥ 0.
    query_vector: searched with instead of the question's own vector; of the library's dimensions, any length; () for
    none. rerank: name of the reranker for the best candidates; "" for none. reranker_deadline: seconds it may read,
    above 0; None: its own."""

    question: str
    filters: SearchFilters = SearchFilters()
    profile: str = ""
    top_k: int | None = None
    only_routed: bool = False
    removed_chips: tuple[str, ...] = ()
    rerank: str = ""
    offset: int = 0
    weights: tuple[tuple[str, float], ...] = ()
    threshold: float | None = None
    half_life_days: float | None = None
    query_vector: tuple[float, ...] = ()
    reranker_deadline: float | None = None
