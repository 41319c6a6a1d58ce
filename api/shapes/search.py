"""Search results, as `core.search.exports.export_data` writes them, and what is said about them."""

from datetime import datetime
from typing import Any

from pydantic import ConfigDict, Field

from api.inputs import Shape
from api.shapes.documents import DocumentShape, PassageShape

__all__ = ["MissingShape", "RecentSearch", "SearchShape", "SimilarShape"]


class CitationShape(Shape):
    """A cited sentence: start and end count characters of the page's text."""

    citation_id: str = Field(description="{passage id}.{sentence, counted from 0}")
    document: str
    title: str
    url: str
    source_type: str | None
    date: str | None
    sha256: str
    page: int | None
    start: int
    end: int
    quote: str
    relevance: float


class FactorShape(Shape):
    """One part of a score. contribution = weight · value."""

    name: str
    value: float
    weight: float
    contribution: float
    reason: str


class MultiplierShape(Shape):
    """A factor applied to the sum of the parts."""

    name: str
    value: float
    reason: str


class HitShape(Shape):
    """One result. score = Σ contributions × Π multipliers."""

    rank: int
    score: float
    factors: list[FactorShape]
    multipliers: list[MultiplierShape]
    passage_id: int
    document: str
    sha256: str
    page: int | None
    section: str
    truth: str | None
    domain: str | None
    authority: str | None
    jurisdiction: str | None
    date: str | None
    keywords: list[str]
    text: str
    citations: list[CitationShape]
    similar: list[int] = Field(description="Passages that say nearly the same, collapsed into this one.")


class LegShape(Shape):
    """What one leg of the search found."""

    leg: str = Field(description="dense, sparse, graph …")
    found: int
    rows_before: int
    rows_after: int = Field(description="Passages the filters admit.")
    milliseconds: float
    error: str


class SearchShape(Shape):
    """A search result: the same data as the JSON download of the page Search (schema fivefold.search/1)."""

    model_config = ConfigDict(extra="allow")

    schema_: str = Field(alias="schema")
    question: str
    request: dict[str, Any]
    profile: str
    answered: bool = Field(description="Whether the library probably answers the question.")
    answer_probability: float | None
    silence: str = Field(description="What is missing, when it probably does not answer.")
    filters: list[str] = Field(description="The filters in words.")
    applied_filters: dict[str, Any]
    total: int
    more: bool
    hits: list[HitShape]
    legs: list[LegShape]
    notices: list[str]
    milliseconds: float
    left_out: list[dict[str, Any]] = Field(description="Passages that were found and not shown, each with its reason.")
    bibliography: list[dict[str, Any]]
    next_cursor: str | None = Field(default=None, description="For the next page of GET /search.")


class MissingShape(Shape):
    """Why a document is not among the results."""

    document: DocumentShape
    reasons: list[str] = Field(description="One sentence per reason.")
    passages: int
    admitted: int = Field(description="Its passages that the filters admit.")
    found: int
    best: PassageShape | None = Field(description="Its admitted passage nearest to the question.")


class SimilarShape(Shape):
    """A passage similar to another."""

    passage: PassageShape
    nearness: float = Field(description="In [0, 1].")
    cosine: float | None
    shared: list[str] = Field(description="Rare words that both contain.")


class RecentSearch(Shape):
    """A question asked before."""

    question: str
    results: int
    at: datetime
