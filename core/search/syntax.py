"""What a question says in signs: "phrases", -words and field:terms, each a condition and a chip; all else is words.

    "overtime pay" -draft truth:intent -type:email before:2024

What is no sign stays a word of the question, letter by letter: an unknown field or value, a quote that is not closed, a
lone dash, a negative number. So nothing here ever fails; of a field with a value it does not have it is said.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any

from core.documents import Authority, Origin, Sector, SourceType, Truth
from core.filters import SearchFilters, parse_bound
from core.queries import Chip
from core.said import said_words
from core.search.dates import AskedDates, asked_dates
from core.storable import storable_text
from core.tables.domains import domain_title, domains
from core.tables.jurisdictions import jurisdiction_title, parse_jurisdiction

__all__ = ["Query", "misread", "narrowed", "read_query"]

_QUOTES = '"“”„'
_TERM = re.compile(
    rf"(?<!\S)(?P<minus>-)?(?:(?P<name>[A-Za-z]+):)?"
    rf"(?:[{_QUOTES}](?P<quoted>[^{_QUOTES}]*)[{_QUOTES}](?![^\W_])|(?P<bare>[^\s{_QUOTES}]+))"
)
_TRAILING = ".,;:!?"
_DATES = ("before", "after", "since", "until")
_TYPED_DATES = ("2024", "2024-03", "2024-03-15")
_MOST_TEXTS = 20  # phrases and excluded words of one question; more of them are plain words
_MOST_TOLD = 3
_NOWHERE = 0  # the id of no document
_ANY_DAY = date(2000, 1, 1)  # terms name their days themselves


@dataclass(frozen=True, slots=True)
class _Field:
    """A field one may name: the filter it narrows, what a typed value means there (None: nothing), how it is told.
    values: what to type, for those that take not everything."""

    filter: str
    meaning: Callable[[str], str | None]
    words: str
    title: Callable[[str], str] = str
    values: Callable[[], Collection[str]] = tuple


def _one_of(filters: str, words: str, values: Collection[str]) -> _Field:
    known = {str(value).lower(): str(value) for value in values}
    return _Field(filters, lambda typed: known.get(typed.lower()), words, values=known.values)


def _domain(typed: str) -> str | None:
    names = {domain_title(name).lower(): name for name in domains()} | {name.lower(): name for name in domains()}
    return names.get(typed.lower())


_FIELDS: Mapping[str, _Field] = {
    "truth": _one_of("truths", "truth", tuple(Truth)),
    "domain": _Field("domains", _domain, "domain", domain_title, domains),
    "authority": _one_of("authorities", "authority", tuple(Authority)),
    "jurisdiction": _Field(
        "jurisdictions",
        parse_jurisdiction,
        "jurisdiction",
        jurisdiction_title,
        lambda: ("federal", "California", "DE", "…"),
    ),
    "project": _Field("projects", str, "project"),
    "tag": _Field("tags", str, "tag"),
    "entity": _Field("entities", str, "entity"),
    "type": _one_of("source_types", "source type", tuple(SourceType)),
    "document": _Field("documents", str, "document"),
    "origin": _one_of("origins", "origin", tuple(Origin)),
    "sector": _one_of("sectors", "sector", tuple(Sector)),
}


@dataclass(frozen=True, slots=True)
class _Term:
    """One sign of the question. key: as a chip's kind names it. field: the name of a field, "-" before it when it
    excludes, "phrase" or "without". told: what it means, in words. words: as typed. kept: what of it stays a word."""

    key: str
    field: str
    value: str
    told: str
    words: str
    kept: str = ""


@dataclass(frozen=True, slots=True)
class Query:
    """A question read. plain: what is embedded and searched for, phrases without their quotes and excluded words left
    out; empty only when nothing was asked. phrases: held by every passage, word for word; without: by none. fields:
    name → values, as filters spell them, "-name" for excluded ones; dates as typed. chips: one per sign, of a kind of
    its own ("phrase:overtime pay", "without:draft", "field:truth:intent"), with its meaning in words as value."""

    plain: str
    phrases: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    chips: tuple[Chip, ...] = ()

    @property
    def in_words(self) -> tuple[str, ...]:
        """What the text of every passage must say or not say; filters tell the fields themselves."""
        return tuple(chip.value for chip in self.chips if not chip.kind.startswith("field:"))

    def without_chips(self, removed: Collection[str]) -> "Query":
        """The question without the conditions whose chips (by kind) were removed. A phrase leaves its words behind."""
        gone = {chip.kind for chip in self.chips} & set(removed)
        if not gone:
            return self
        left = {
            name: tuple(value for value in values if f"field:{name}:{value}" not in gone)
            for name, values in self.fields.items()
        }
        return replace(
            self,
            phrases=tuple(phrase for phrase in self.phrases if f"phrase:{phrase}" not in gone),
            without=tuple(phrase for phrase in self.without if f"without:{phrase}" not in gone),
            fields={name: values for name, values in left.items() if values},
            chips=tuple(chip for chip in self.chips if chip.kind not in gone),
        )


def read_query(text: str) -> Query:
    """A question as typed, read. Text without signs comes back unchanged as `plain`; characters no store can keep are
    replaced.

    >>> query = read_query('"overtime pay" in Texas -draft truth:intent re: W-2 truth:banana')
    >>> query.plain, query.phrases, query.without
    ('overtime pay in Texas re: W-2 truth:banana', ('overtime pay',), ('draft',))
    >>> dict(query.fields), [chip.kind for chip in query.chips]
    ({'truth': ('intent',)}, ['phrase:overtime pay', 'without:draft', 'field:truth:intent'])
    """
    text, terms = storable_text(text), dict[str, _Term]()
    pieces, at, texts = [], 0, 0
    for match in _TERM.finditer(text):
        term = _term(match)
        if term is None or (term.field in ("phrase", "without") and texts >= _MOST_TEXTS):
            continue
        terms.setdefault(term.key, term)
        texts = sum(each.field in ("phrase", "without") for each in terms.values())
        pieces += [text[at : match.start()], term.kept]
        at = match.end()
    if not terms:
        return Query(text)
    plain = " ".join("".join([*pieces, text[at:]]).split())
    plain = plain or " ".join(term.value for term in terms.values() if not term.field.startswith(("-", "without")))
    return _query(plain, tuple(terms.values())) if plain else Query(text)


def misread(text: str) -> tuple[str, ...]:
    """What looks like a sign and is read as words, one sentence each: a field with a value it does not have, and a
    question that only says what to leave out.

    >>> misread("overtime truth:banana")
    ('“truth:banana” is read as words; truth: takes regulatory, compliance, intent, reference, reality.',)
    >>> misread("-draft"), misread("overtime -draft truth:intent re: this")
    (('“-draft” is read as words: nothing is said to look for.',), ())
    """
    text = storable_text(text)
    said = []
    for match in _TERM.finditer(text):
        name = (match["name"] or "").lower()
        values = _TYPED_DATES if name in _DATES else tuple(_FIELDS[name].values()) if name in _FIELDS else ()
        if values and _term(match) is None:
            said.append(f"“{match.group()}” is read as words; {name}: takes {', '.join(map(str, values))}.")
    left = _TERM.sub(lambda match: "" if match["minus"] and _term(match) else match.group(), text)
    if text.strip() and not left.strip():
        said.append(f"“{text.strip()}” is read as words: nothing is said to look for.")
    return tuple(said[:_MOST_TOLD])


def _query(plain: str, terms: Sequence[_Term]) -> Query:
    fields: dict[str, tuple[str, ...]] = {}
    for term in terms:
        if term.field not in ("phrase", "without"):
            fields[term.field] = (*fields.get(term.field, ()), term.value)
    return Query(
        plain,
        tuple(term.value for term in terms if term.field == "phrase"),
        tuple(term.value for term in terms if term.field == "without"),
        fields,
        tuple(Chip(term.key, term.told, term.words) for term in terms),
    )


def _term(match: re.Match[str]) -> _Term | None:
    """The sign a piece of the question is, or None for words."""
    minus, name, words = bool(match["minus"]), match["name"], match.group().rstrip(_TRAILING)
    value = " ".join(match["quoted"].split()) if match["quoted"] is not None else match["bare"].rstrip(_TRAILING)
    if name:
        sound = value if match["quoted"] is not None or value[:1].isalnum() else ""
        return _field_term(name.lower(), sound, minus, words) if sound else None
    if not said_words(value):
        return None
    if minus and (match["quoted"] is not None or value[0].isalpha()):
        return _Term(f"without:{value}", "without", value, f"does not say “{value}”", words)
    if match["quoted"] is not None:
        return _Term(f"phrase:{value}", "phrase", value, f"says “{value}”", words, kept=value)
    return None


def _field_term(name: str, typed: str, minus: bool, words: str) -> _Term | None:
    if name in _DATES and not minus:
        if _dates(name, typed) is None:
            return None
        return _Term(f"field:{name}:{typed}", name, typed, f"dated {name} {typed}", words)
    known = _FIELDS.get(name)
    value = known.meaning(typed) if known else None
    if known is None or value is None:
        return None
    key = f"-{name}" if minus else name
    told = f"{known.words} {'is not' if minus else 'is'} {known.title(value)}"
    return _Term(f"field:{key}:{value}", key, value, told, words)


def _dates(name: str, typed: str) -> AskedDates | None:
    """The days a date term admits, None for what is no date ("2024", "2024-03", "2024-03-15", "March 2024")."""
    asked = asked_dates(f"{name} {typed}", _ANY_DAY)
    return asked if asked is not None and asked.words == f"{name} {typed}" else None


def narrowed(filters: SearchFilters, query: Query, documents: Mapping[int, str]) -> SearchFilters:
    """The page's filters with what the question names. documents: names by id, needed when the question names one.

    A field the question names narrows the page's choice of that field further; where both have nothing in common,
    nothing is admitted. What the question excludes is excluded besides, and dates narrow one another. Typed tags and
    entities replace the page's: any of these *and* any of those is no single filter. A document is named by its name,
    or by a part of it when none has just that name; a name that no document has admits nothing.

    >>> page = SearchFilters(truths=("intent", "regulatory"), domains=("taxes",))
    >>> narrowed(page, read_query("what is due truth:regulatory"), {}).in_words()
    ('truth is regulatory', 'domain is taxes')
    >>> narrowed(page, read_query("what is due truth:reality"), {}).documents
    (0,)
    """
    changes: dict[str, Any] = {}
    nowhere = False
    for key, values in query.fields.items():
        name = key.removeprefix("-")
        if name in _DATES:
            continue
        target = _FIELDS[name].filter
        meant: tuple[Any, ...] = _documents(values, documents) if name == "document" else values
        if key != name:
            target = f"exclude_{target}"
            meant = tuple(dict.fromkeys((*getattr(filters, target), *meant)))
        elif target in ("tags", "entities"):
            changes[f"{target}_mode"] = "any"
        else:
            chosen = getattr(filters, target) or meant
            both = tuple(value for value in meant if value in chosen)
            nowhere, meant = nowhere or not both, both or meant
        changes[target] = meant
    if nowhere:
        changes["documents"] = (_NOWHERE,)
    return filters.replace(**changes, **_bounds(filters, query))


def _documents(names: Sequence[str], documents: Mapping[int, str]) -> tuple[int, ...]:
    found: list[int] = []
    for name in names:
        wanted = name.lower()
        exact = [
            i
            for i, known in documents.items()
            if known.lower() in (wanted, f"{wanted}.{known.lower().rpartition('.')[2]}")
        ]
        found += exact or [i for i, known in documents.items() if wanted in known.lower()]
    return tuple(dict.fromkeys(found))


def _bounds(filters: SearchFilters, query: Query) -> dict[str, datetime | None]:
    """The later start and the earlier end of all that is said about dates."""
    asked = [found for name in _DATES for typed in query.fields.get(name, ()) if (found := _dates(name, typed))]
    starts = [filters.date_from, *(parse_bound(each.start, upper=False) for each in asked if each.start)]
    ends = [filters.date_to, *(parse_bound(each.end, upper=True) for each in asked if each.end)]
    return {
        "date_from": max((start for start in starts if start), default=None),
        "date_to": min((end for end in ends if end), default=None),
    }
