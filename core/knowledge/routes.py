"""The checked routing table: question categories with their patterns, and signs of trend and relational questions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from core.domain.documents import TableRole, Truth
from core.domain.errors import BadTable
from core.knowledge.loading import check_keys, table

__all__ = ["Category", "Routes", "parse_routes", "routes"]


@dataclass(frozen=True, slots=True)
class Category:
    """One question category. words: matched by stem. phrases: as core.text.word_patterns reads them.

    truths: truth → weight in (0, 1]. roles: roles of reality tables this category means.
    """

    name: str
    truths: Mapping[Truth, float]
    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    roles: Mapping[Truth, TableRole] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Routes:
    """The routing table. The last category is the default, used when no other matches."""

    categories: tuple[Category, ...]
    confidence_base: float
    confidence_step: float
    confidence_most: float
    outside: float
    frames: tuple[str, ...]
    trend_words: tuple[str, ...]
    trend_never: tuple[str, ...]
    relational_phrases: tuple[str, ...]

    @property
    def default(self) -> Category:
        return self.categories[-1]

    def category(self, name: str) -> Category:
        """The category with this name. Raises KeyError if there is none."""
        for category in self.categories:
            if category.name == name:
                return category
        raise KeyError(name)


@cache
def routes() -> Routes:
    """core/knowledge/routes.toml. Raises BadTable naming file and key."""
    return parse_routes(table("routes"))


def parse_routes(raw: Mapping[str, Any]) -> Routes:
    """Parses and checks a routing table. Raises BadTable naming file and key."""
    check_keys("routes", "routes", raw, ("confidence", "soft", "category", "frames", "trend", "relational"))
    categories = tuple(_category(row) for row in raw.get("category", ()))
    if not categories or categories[-1].name != "default":
        raise BadTable("core/knowledge/routes.toml: the last [category] must be 'default'.", "Move it to the end.")
    try:
        confidence = raw["confidence"]
        return Routes(
            categories=categories,
            confidence_base=float(confidence["base"]),
            confidence_step=float(confidence["step"]),
            confidence_most=float(confidence["most"]),
            outside=float(raw["soft"]["outside"]),
            frames=tuple(raw["frames"]["phrases"]),
            trend_words=tuple(raw["trend"]["words"]),
            trend_never=tuple(raw["trend"]["never"]),
            relational_phrases=tuple(raw["relational"]["phrases"]),
        )
    except KeyError as error:
        raise BadTable(f"core/knowledge/routes.toml: the key {error} is missing.", "Add it.") from error


def _category(row: Mapping[str, Any]) -> Category:
    name = str(row.get("name", "?"))
    check_keys("routes", f"category {name}", row, ("name", "truths", "words", "phrases", "roles"))
    truths, roles = row.get("truths", {}), row.get("roles", {})
    check_keys("routes", f"category {name}] truths [", [*truths, *roles], list(Truth))
    check_keys("routes", f"category {name}] roles [", roles.values(), list(TableRole))
    if not truths or not all(0 < weight <= 1 for weight in truths.values()):
        raise BadTable(
            f"core/knowledge/routes.toml: [category {name}] needs truths with weights in (0, 1].", "Correct them."
        )
    return Category(
        name=name,
        truths={Truth(key): float(weight) for key, weight in truths.items()},
        words=tuple(row.get("words", ())),
        phrases=tuple(row.get("phrases", ())),
        roles={Truth(key): TableRole(value) for key, value in roles.items()},
    )
