"""What requests hold: texts, filters, and a search with all its options."""

import re
from dataclasses import fields
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Path
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, create_model

from core.domain.filters import FIELDS, SearchFilters, check_filters
from core.domain.queries import SearchRequest
from core.domain.sanitize import storable_text
from core.ports.stores import Profiles

__all__ = [
    "CHOICE",
    "Body",
    "Day",
    "DocumentId",
    "FilterBody",
    "Id",
    "LongText",
    "Project",
    "Question",
    "SearchBody",
    "Shape",
    "ShortText",
    "filters_of",
    "with_example",
]

_LAST_ID = 2**63 - 1  # the largest PostgreSQL bigint
_MOST_VALUES = 200  # of one filter. Chosen by hand: a person chooses a few, a program perhaps a list.
_MOST_DIMENSIONS = 4096  # of a query vector; the largest embedding models have so many

Id = Annotated[int, Field(ge=1, le=_LAST_ID)]
DocumentId = Annotated[int, Path(ge=1, le=_LAST_ID, description="The document's number.")]
ShortText = Annotated[str, Field(max_length=200), AfterValidator(storable_text)]
LongText = Annotated[str, Field(max_length=20_000), AfterValidator(storable_text)]
Question = Annotated[str, Field(min_length=1, max_length=2_000), AfterValidator(storable_text)]
CHOICE = Field(strict=False)
"""For a closed set of values, which JSON writes as text."""


def _iso_day(value: object) -> object:
    """Only "2027-06-30": pydantic would also take seconds and times."""
    if value is not None and not (isinstance(value, str) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value)):
        raise ValueError("must be a day such as 2027-06-30")
    return value


Day = Annotated[date, BeforeValidator(_iso_day), CHOICE]
Project = Annotated[
    ShortText | None, Field(description="A project: its documents and those shared by all; null: the whole library.")
]


def with_example(example: dict[str, Any]) -> ConfigDict:
    """The configuration of a body with an example for OpenAPI."""
    return ConfigDict(extra="forbid", strict=True, json_schema_extra={"example": example})


class Body(BaseModel):
    """A request's body: an unknown field is an error, and so is a text or a truth value where a number belongs."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Shape(BaseModel):
    """Part of an answer, read from a value of the product."""

    model_config = ConfigDict(from_attributes=True)


def _filter_field(name: str) -> tuple[Any, Any]:
    """Type and default of one filter, as requests give it; `check_filters` checks the values."""
    field = next((each for each in FIELDS if name in (each.name, f"exclude_{each.name}")), None)
    if field is not None:
        one: Any = Id if field.name == "documents" else ShortText
        of = f" One of: {', '.join(field.values)}." if field.values else ""
        without = "Not with any of these values." if name != field.name else f"Any of these values.{of}"
        return list[one], Field(default=[], max_length=_MOST_VALUES, description=without)
    if name in ("date_from", "date_to"):
        return Annotated[str | None, Field(max_length=40)], Field(default=None, description="ISO date, inclusive.")
    if name == "recency_months":
        months = Annotated[int, Field(ge=1, le=12_000)]
        return months | None, Field(default=None, description="At most so many months of 30 days old.")
    if name.endswith("_mode"):
        return Annotated[str, Field(pattern="^(any|all)$")], Field(default="any", description="any or all of them.")
    return bool, Field(default=False, description=_FLAGS.get(name, ""))


_FLAGS = {
    "include_undated": "Let undated documents through a date filter.",
    "archived": "Only archived documents, instead of the others.",
    "strict_labels": "Leave out passages with uncertain labels.",
}

_FILTERS: dict[str, Any] = {field.name: _filter_field(field.name) for field in fields(SearchFilters)}
"""One field per field of SearchFilters, so that the API knows every filter."""

if TYPE_CHECKING:

    class FilterBody(Body):
        """Filters of a search."""

else:
    FilterBody = create_model(
        "Filters",
        __base__=Body,
        __doc__="Filters of a search: any of the values inside a field, all fields together.",
        **_FILTERS,
    )


def filters_of(body: BaseModel | None) -> SearchFilters:
    """The filters of a request. Raises BadFilters naming every problem."""
    if body is None:
        return SearchFilters()
    given = body.model_dump(include=set(SearchFilters.__dataclass_fields__), exclude_defaults=True)
    return check_filters(given)


class SearchBody(Body):
    """A search with all its options."""

    model_config = with_example(
        {
            "question": "When must overtime be paid?",
            "filters": {"truths": ["regulatory", "compliance"], "date_from": "2023-01-01"},
            "top_k": 5,
        }
    )

    question: Question = Field(description='The question, in plain words; "quoted" words must occur as they are.')
    filters: FilterBody = Field(default_factory=FilterBody)
    profile: ShortText = Field(default="", description="A score profile, or name@version; empty: the default.")
    top_k: int | None = Field(default=None, ge=1, le=100, description="At most so many results.")
    offset: int = Field(default=0, ge=0, le=10_000, description="Results to skip.")
    only_routed: bool = Field(default=False, description="Only the truths this question is about.")
    removed_chips: list[ShortText] = Field(default=[], max_length=20, description="Detected properties to ignore.")
    weights: dict[ShortText, Annotated[float, Field(ge=0, le=1)]] = Field(
        default={}, description="Factor → weight, instead of the profile's; together 1."
    )
    threshold: float | None = Field(default=None, ge=0, le=1, description="Minimum score, instead of the profile's.")
    half_life_days: float | None = Field(default=None, gt=0, le=1e6)
    query_vector: list[Annotated[float, Field(ge=-1e6, le=1e6)]] = Field(
        default=[], max_length=_MOST_DIMENSIONS, description="Search with this vector instead of the question's own."
    )
    rerank: ShortText = Field(default="", description="A reranker: included, fast, balanced or accurate; empty: none.")
    reranker_deadline: float | None = Field(default=None, gt=0, le=60, description="Seconds the reranker may read.")

    def request(self, profiles: Profiles) -> SearchRequest:
        """The search request, with the default profile of its one project if none is named.

        Raises BadFilters, BadRequest for an unknown profile.
        """
        filters = filters_of(self.filters)
        scored = profiles.find(self.profile) if self.profile else profiles.default(filters.project)
        return SearchRequest(
            self.question,
            filters,
            scored.ref,
            top_k=self.top_k,
            only_routed=self.only_routed,
            removed_chips=tuple(self.removed_chips),
            rerank=self.rerank,
            offset=self.offset,
            weights=tuple(self.weights.items()),
            threshold=self.threshold,
            half_life_days=self.half_life_days,
            query_vector=tuple(self.query_vector),
            reranker_deadline=self.reranker_deadline,
        )
