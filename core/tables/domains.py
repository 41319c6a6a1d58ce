"""Subject areas and the words that name them, for classifier, router, filters and coverage alike."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from core.errors import BadTable
from core.tables.loading import check_keys, table
from core.tables.phrases import Found, PhraseFinder

__all__ = ["domain_hits", "domain_title", "domains", "keyword_places"]

_ROW_KEYS = ("title", "keywords")


@cache
def domains() -> Mapping[str, tuple[str, ...]]:
    """Domain → its keywords, in table order. Raises BadTable."""
    return {name: tuple(row["keywords"]) for name, row in _rows().items()}


def domain_title(domain: str) -> str:
    """The words a page shows for a domain; an unknown one is shown as it is."""
    return str(_rows().get(domain, {}).get("title", domain))


def domain_hits(text: str) -> Mapping[str, tuple[str, ...]]:
    """Domain → the words of the text that name it, most hits first, ties in table order.

    >>> domain_hits("401k deductions of the employer")
    {'deductions': ('401k', 'deductions')}
    >>> domain_hits("Why is X set up this way?")
    {}
    """
    hits: dict[str, list[str]] = {}
    for found in keyword_places(text):
        hits.setdefault(found.key, []).append(text[found.start : found.end])
    order = list(domains())
    return {key: tuple(hits[key]) for key in sorted(hits, key=lambda k: (-len(hits[k]), order.index(k)))}


def keyword_places(text: str) -> Iterator[Found]:
    """Where the words of each domain stand, in reading order."""
    return _finder().find(text)


@cache
def _finder() -> PhraseFinder:
    return PhraseFinder({**domains(), "": tuple(table("domains").get("not", ()))})


@cache
def _rows() -> Mapping[str, Mapping[str, Any]]:
    rows: dict[str, Mapping[str, Any]] = {}
    for name, row in table("domains").items():
        if name == "not":
            continue
        if not isinstance(row, dict):
            raise BadTable(f"core/tables/domains.toml: '{name}' is not a domain table.", f"Write [{name}].")
        check_keys("domains", name, row, _ROW_KEYS)
        if not isinstance(row.get("keywords"), list) or not all(isinstance(word, str) for word in row["keywords"]):
            raise BadTable(f"core/tables/domains.toml: [{name}] keywords must be a list of words.", "Correct the row.")
        rows[name] = row
    return rows
