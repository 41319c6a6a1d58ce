"""Subject areas and the words that name them, for classifier, router, filters and coverage alike.

The rows are those of core/tables/domains.toml with what the workspace adds and changes (core.speaking).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from core.errors import BadTable
from core.speaking import spoken
from core.tables.loading import check_keys, table
from core.tables.phrases import Found, PhraseFinder
from core.vocabulary import DomainWords, findable

__all__ = [
    "GENERAL",
    "built_in_domains",
    "built_in_titles",
    "domain_hits",
    "domain_title",
    "domain_titles",
    "domains",
    "keyword_places",
    "name_places",
]

GENERAL = "general"
"""The domain of what is about none of them; it can be renamed, never switched off."""

_ROW_KEYS = ("title", "keywords")
_KEPT_VOCABULARIES = 16


def domains() -> Mapping[str, tuple[str, ...]]:
    """Domain → its keywords, in table order, the workspace's own before "general". Raises BadTable, StoreFailed."""
    return _table().keywords


def domain_title(domain: str) -> str:
    """The words a page shows for a domain, also for one that is switched off; an unknown one is shown as it is."""
    return _table().titles.get(domain, domain)


def domain_titles() -> Mapping[str, str]:
    """Domain → title, in table order, those that are switched off among them: documents may still carry them."""
    return _table().titles


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
    return _table().finder.find(text)


def name_places(words: str) -> Iterator[Found]:
    """Where they stand in the words of a file name, for which some words count that count nowhere else."""
    return _table().name_finder.find(words)


@cache
def built_in_domains() -> Mapping[str, tuple[str, ...]]:
    """The product's own domains, whatever the workspace says. Raises BadTable."""
    return {name: tuple(row["keywords"]) for name, row in _rows().items()}


@cache
def built_in_titles() -> Mapping[str, str]:
    """Domain → title, of the product's own. Raises BadTable."""
    return {name: str(row.get("title", name)) for name, row in _rows().items()}


@dataclass(frozen=True, slots=True)
class _Table:
    """titles: those of domains that are switched off too."""

    keywords: Mapping[str, tuple[str, ...]]
    titles: Mapping[str, str]
    finder: PhraseFinder
    name_finder: PhraseFinder


def _table() -> _Table:
    return _told(spoken().domains)


@lru_cache(_KEPT_VOCABULARIES)
def _told(changes: tuple[DomainWords, ...]) -> _Table:
    changed = {each.name: each for each in changes}
    own = [name for name in changed if name not in built_in_domains()]
    order = [name for name in built_in_domains() if name != GENERAL] + own + [GENERAL]
    rows = {name: changed.get(name, DomainWords(name)) for name in order}
    keywords = {name: _keywords(row) for name, row in rows.items() if not row.off or name == GENERAL}
    named = {name: keywords[name] + findable(rows[name].name_words) for name in keywords}
    titles = {name: row.title or built_in_titles().get(name, name) for name, row in rows.items()}
    swallowed = {"": tuple(table("domains").get("not", ()))}
    return _Table(keywords, titles, PhraseFinder({**keywords, **swallowed}), PhraseFinder({**named, **swallowed}))


def _keywords(row: DomainWords) -> tuple[str, ...]:
    kept = (word for word in built_in_domains().get(row.name, ()) if word not in row.without)
    return tuple(dict.fromkeys((*kept, *findable(row.keywords))))


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
