"""Subject areas and their keywords, shared by classifier, router, filters and coverage.

Built-in rows: core/knowledge/domains.toml. A workspace adds and changes rows (WorkspaceTerms.domains).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from core.domain.errors import BadTable
from core.domain.vocabulary import DomainWords, findable
from core.knowledge.loading import check_keys, table
from core.knowledge.multi_pattern import PhraseFinder, PhraseHit

__all__ = [
    "GENERAL",
    "DomainTable",
    "built_in_domains",
    "built_in_titles",
    "domain_table",
]

GENERAL = "general"
"""The domain of texts that fit no other; it can be renamed but not switched off."""

_ROW_KEYS = ("title", "keywords")
_CACHED_TABLES = 16  # more than the libraries and drafts one process has open; chosen by hand


@cache
def built_in_domains() -> Mapping[str, tuple[str, ...]]:
    """Built-in domain → keywords, without workspace changes. Raises BadTable."""
    return {name: tuple(row["keywords"]) for name, row in _rows().items()}


@cache
def built_in_titles() -> Mapping[str, str]:
    """Built-in domain → title. Raises BadTable."""
    return {name: str(row.get("title", name)) for name, row in _rows().items()}


@dataclass(frozen=True, slots=True, eq=False)
class DomainTable:
    """The domains of one workspace.

    keywords: of active domains, in table order, the workspace's own before "general". titles: in the same order,
    including inactive domains, because documents may still have them as labels.
    """

    keywords: Mapping[str, tuple[str, ...]]
    titles: Mapping[str, str]
    _text_finder: PhraseFinder
    _name_finder: PhraseFinder

    def title(self, domain: str) -> str:
        """The title shown for a domain, active or not; an unknown domain is returned unchanged."""
        return self.titles.get(domain, domain)

    def hits(self, text: str) -> Mapping[str, tuple[str, ...]]:
        """Domain → its keywords as written in the text, most hits first, ties in table order.

        >>> domain_table(()).hits("401k deductions of the employer")
        {'deductions': ('401k', 'deductions')}
        >>> domain_table(()).hits("Why is X set up this way?")
        {}
        """
        hits: dict[str, list[str]] = {}
        for hit in self.find_keywords(text):
            hits.setdefault(hit.key, []).append(text[hit.start : hit.end])
        order = list(self.keywords)
        return {key: tuple(hits[key]) for key in sorted(hits, key=lambda k: (-len(hits[k]), order.index(k)))}

    def find_keywords(self, text: str) -> Iterator[PhraseHit]:
        """Keyword matches of all domains, in reading order."""
        return self._text_finder.find(text)

    def find_in_name(self, words: str) -> Iterator[PhraseHit]:
        """Like `find_keywords` for the words of a file name, including each domain's `name_words`."""
        return self._name_finder.find(words)


@lru_cache(_CACHED_TABLES)
def domain_table(changes: tuple[DomainWords, ...]) -> DomainTable:
    """The built-in domains with a workspace's changes applied. Raises BadTable."""
    changed = {each.name: each for each in changes}
    own = [name for name in changed if name not in built_in_domains()]
    order = [name for name in built_in_domains() if name != GENERAL] + own + [GENERAL]
    rows = {name: changed.get(name, DomainWords(name)) for name in order}
    keywords = {name: _keywords(row) for name, row in rows.items() if not row.off or name == GENERAL}
    name_keywords = {name: keywords[name] + findable(rows[name].name_words) for name in keywords}
    titles = {name: row.title or built_in_titles().get(name, name) for name, row in rows.items()}
    ignored = {"": tuple(table("domains").get("not", ()))}
    return DomainTable(
        keywords, titles, PhraseFinder({**keywords, **ignored}), PhraseFinder({**name_keywords, **ignored})
    )


def _keywords(row: DomainWords) -> tuple[str, ...]:
    built_in = (word for word in built_in_domains().get(row.name, ()) if word not in row.without)
    return tuple(dict.fromkeys((*built_in, *findable(row.keywords))))


@cache
def _rows() -> Mapping[str, Mapping[str, Any]]:
    rows: dict[str, Mapping[str, Any]] = {}
    for name, row in table("domains").items():
        if name == "not":
            continue
        if not isinstance(row, dict):
            raise BadTable(f"core/knowledge/domains.toml: '{name}' is not a domain table.", f"Write [{name}].")
        check_keys("domains", name, row, _ROW_KEYS)
        if not isinstance(row.get("keywords"), list) or not all(isinstance(word, str) for word in row["keywords"]):
            raise BadTable(
                f"core/knowledge/domains.toml: [{name}] keywords must be a list of words.", "Correct the row."
            )
        rows[name] = row
    return rows
