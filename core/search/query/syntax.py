"""Search box syntax: "phrases", -words and field:terms, each a condition and a chip; everything else is plain words.

    "overtime pay" -draft truth:intent -type:email before:2024

Invalid syntax stays part of the question unchanged: an unknown field or value, an unclosed quote, a lone dash, a
negative number. So parsing never fails; `misread` reports a known field with an invalid value.
"""
# Over 300 lines: one table of terms drives parsing, messages and filtering.

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any

from core.domain.documents import Authority, Origin, Sector, SourceType, Truth
from core.domain.filters import SearchFilters, parse_bound
from core.domain.queries import Chip
from core.domain.sanitize import storable_text
from core.knowledge.workspace_terms import WorkspaceTerms
from core.search.query.asked_dates import AskedDates, dates_in_question
from core.text.phrase_match import phrase_words

__all__ = ["ParsedQuery", "misread", "narrowed", "quoted_phrases", "read_query"]

_QUOTES = '"“”„'
_TERM = re.compile(
    rf"(?:(?<!\S)|(?<=(?<!\S)\()(?=[{_QUOTES}]))(?P<minus>-)?(?:(?P<name>[A-Za-z]+):)?"
    rf"(?:[{_QUOTES}](?P<quoted>[^{_QUOTES}]*)[{_QUOTES}](?![^\W_])|(?P<bare>[^\s{_QUOTES}]+))"
)
_TRAILING = ".,;:!?"
_DATES = ("before", "after", "since", "until")
_TYPED_DATES = ("2024", "2024-03", "2024-03-15")
_MOST_TEXTS = 20  # phrases and excluded words per question; further ones are plain words. Chosen by hand.
_MOST_NOTICES = 3  # about misread terms, per question. Chosen by hand.
_NOWHERE = 0  # the id of no document
_ANY_DAY = date(2000, 1, 1)  # terms name their days themselves


@dataclass(frozen=True, slots=True)
class _Field:
    """A field a question may name: the filter it narrows, how a typed value is translated (None: invalid), its label.
    values: the valid values of closed fields. All in the terms of a workspace."""

    filter: str
    meaning: Callable[[str, WorkspaceTerms], str | None]
    words: str
    title: Callable[[str, WorkspaceTerms], str] = lambda value, terms: value
    values: Callable[[WorkspaceTerms], Collection[str]] = lambda terms: ()


def _one_of(filters: str, words: str, values: Collection[str]) -> _Field:
    known = {str(value).lower(): str(value) for value in values}
    return _Field(filters, lambda typed, terms: known.get(typed.lower()), words, values=lambda terms: known.values())


def _any_value(filters: str, words: str) -> _Field:
    return _Field(filters, lambda typed, terms: typed, words)


def _domain(typed: str, terms: WorkspaceTerms) -> str | None:
    names = {terms.domains.title(name).lower(): name for name in terms.domains.keywords}
    names |= {name.lower(): name for name in terms.domains.keywords}
    return names.get(typed.lower())


_FIELDS: Mapping[str, _Field] = {
    "truth": _one_of("truths", "truth", tuple(Truth)),
    "domain": _Field(
        "domains",
        _domain,
        "domain",
        lambda value, terms: terms.domains.title(value),
        lambda terms: terms.domains.keywords,
    ),
    "authority": _one_of("authorities", "authority", tuple(Authority)),
    "jurisdiction": _Field(
        "jurisdictions",
        lambda typed, terms: terms.jurisdictions.parse(typed),
        "jurisdiction",
        lambda value, terms: terms.jurisdictions.title(value),
        lambda terms: ("federal", "California", "DE", "…"),
    ),
    "project": _any_value("projects", "project"),
    "tag": _any_value("tags", "tag"),
    "entity": _any_value("entities", "entity"),
    "type": _one_of("source_types", "source type", tuple(SourceType)),
    "document": _any_value("documents", "document"),
    "origin": _one_of("origins", "origin", tuple(Origin)),
    "sector": _one_of("sectors", "sector", tuple(Sector)),
}


@dataclass(frozen=True, slots=True)
class _Term:
    """One syntax term of the question. key: part of the chip's kind. field: a field name, with "-" when excluded, or
    "phrase" or "without". description: its meaning as text. words: as typed. plain_part: the part that stays in the
    plain question."""

    key: str
    field: str
    value: str
    description: str
    words: str
    plain_part: str = ""


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A parsed question. plain: what is embedded and searched for, phrases without quotes, excluded words removed;
    empty only for an empty question. phrases: exact phrases every passage must contain; without: words none may
    contain. fields: name → values as filters spell them, "-name" for excluded ones; dates as typed. chips: one per
    term, each of its own kind ("phrase:overtime pay", "without:draft", "field:truth:intent"), with its meaning in words
    as value."""

    plain: str
    phrases: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    chips: tuple[Chip, ...] = ()

    @property
    def in_words(self) -> tuple[str, ...]:
        """The phrase and exclusion conditions as text; fields are described by the filters."""
        return tuple(chip.value for chip in self.chips if not chip.kind.startswith("field:"))

    def without_chips(self, removed: Collection[str]) -> "ParsedQuery":
        """The question without the conditions of the removed chips (by kind). Words of a removed phrase stay."""
        kinds = {chip.kind for chip in self.chips} & set(removed)
        if not kinds:
            return self
        left = {
            name: tuple(value for value in values if f"field:{name}:{value}" not in kinds)
            for name, values in self.fields.items()
        }
        return replace(
            self,
            phrases=tuple(phrase for phrase in self.phrases if f"phrase:{phrase}" not in kinds),
            without=tuple(phrase for phrase in self.without if f"without:{phrase}" not in kinds),
            fields={name: values for name, values in left.items() if values},
            chips=tuple(chip for chip in self.chips if chip.kind not in kinds),
        )


def read_query(text: str, terms: WorkspaceTerms) -> ParsedQuery:
    """Parse a question. Text without syntax comes back unchanged as `plain`; characters that stores refuse are
    replaced.

    >>> from core.knowledge.workspace_terms import BUILT_IN_TERMS
    >>> query = read_query('"overtime pay" in Texas -draft truth:intent re: W-2 truth:banana', BUILT_IN_TERMS)
    >>> query.plain, query.phrases, query.without
    ('overtime pay in Texas re: W-2 truth:banana', ('overtime pay',), ('draft',))
    >>> dict(query.fields), [chip.kind for chip in query.chips]
    ({'truth': ('intent',)}, ['phrase:overtime pay', 'without:draft', 'field:truth:intent'])
    """
    text, signs = storable_text(text), dict[str, _Term]()
    pieces, at, texts = [], 0, 0
    for match in _TERM.finditer(text):
        term = _term(match, terms)
        if term is None or (term.field in ("phrase", "without") and texts >= _MOST_TEXTS):
            continue
        signs.setdefault(term.key, term)
        texts = sum(each.field in ("phrase", "without") for each in signs.values())
        pieces += [text[at : match.start()], term.plain_part]
        at = match.end()
    if not signs:
        return ParsedQuery(text)
    plain = " ".join("".join([*pieces, text[at:]]).split())
    plain = plain or " ".join(term.value for term in signs.values() if not term.field.startswith(("-", "without")))
    return _query(plain, tuple(signs.values())) if plain else ParsedQuery(text)


def quoted_phrases(text: str) -> tuple[str, ...]:
    """The phrases of `read_query` alone, which do not depend on the workspace.

    >>> quoted_phrases('"overtime pay" in Texas -"paid leave" domain:"taxes"')
    ('overtime pay',)
    """
    signs: dict[str, _Term] = {}
    for match in _TERM.finditer(storable_text(text)):
        term = None if match["name"] else _text_term(match)
        if term is not None and len(signs) < _MOST_TEXTS:
            signs.setdefault(term.key, term)
    return tuple(term.value for term in signs.values() if term.field == "phrase")


def misread(text: str, terms: WorkspaceTerms) -> tuple[str, ...]:
    """Messages about syntax that is read as plain words, one sentence each: a field with an invalid value, a minus
    before a number, and a question that only excludes.

    >>> from core.knowledge.workspace_terms import BUILT_IN_TERMS
    >>> misread("overtime truth:banana", BUILT_IN_TERMS)
    ('“truth:banana” is read as words; truth: takes regulatory, compliance, intent, reference, reality.',)
    >>> [misread(text, BUILT_IN_TERMS) for text in ("-draft", "overtime -draft truth:intent re: this")]
    [('“-draft” is read as words: nothing is said to look for.',), ()]
    """
    text = storable_text(text)
    notices = []
    for match in _TERM.finditer(text):
        name = (match["name"] or "").lower()
        values = _TYPED_DATES if name in _DATES else tuple(_FIELDS[name].values(terms)) if name in _FIELDS else ()
        if values and _term(match, terms) is None:
            notices.append(f"“{match.group()}” is read as words; {name}: takes {', '.join(map(str, values))}.")
        elif match["minus"] and not name and _value(match)[:1].isdigit() and _term(match, terms) is None:
            number = match.group().rstrip(_TRAILING)
            notices.append(f'“{number}” is read as a number; -"{number[1:]}" excludes it.')
    left = _TERM.sub(lambda match: "" if match["minus"] and _term(match, terms) else match.group(), text)
    if text.strip() and not left.strip():
        notices.append(f"“{text.strip()}” is read as words: nothing is said to look for.")
    return tuple(notices[:_MOST_NOTICES])


def _query(plain: str, terms: Sequence[_Term]) -> ParsedQuery:
    fields: dict[str, tuple[str, ...]] = {}
    for term in terms:
        if term.field not in ("phrase", "without"):
            fields[term.field] = (*fields.get(term.field, ()), term.value)
    return ParsedQuery(
        plain,
        tuple(term.value for term in terms if term.field == "phrase"),
        tuple(term.value for term in terms if term.field == "without"),
        fields,
        tuple(Chip(term.key, term.description, term.words) for term in terms),
    )


def _term(match: re.Match[str], terms: WorkspaceTerms) -> _Term | None:
    """Parse one term of the question; None for plain words."""
    if not match["name"]:
        return _text_term(match)
    value = _value(match)
    sound = value if match["quoted"] is not None or value[:1].isalnum() else ""
    words = match.group().rstrip(_TRAILING)
    return _field_term(match["name"].lower(), sound, bool(match["minus"]), words, terms) if sound else None


def _value(match: re.Match[str]) -> str:
    return " ".join(match["quoted"].split()) if match["quoted"] is not None else match["bare"].rstrip(_TRAILING)


def _text_term(match: re.Match[str]) -> _Term | None:
    """A phrase or an excluded word, or None for words."""
    value, minus, words = _value(match), bool(match["minus"]), match.group().rstrip(_TRAILING)
    if not phrase_words(value):
        return None
    if minus and (match["quoted"] is not None or value[0].isalpha()):
        return _Term(f"without:{value}", "without", value, f"does not say “{value}”", words)
    if match["quoted"] is not None:
        return _Term(f"phrase:{value}", "phrase", value, f"says “{value}”", words, plain_part=value)
    return None


def _field_term(name: str, typed: str, minus: bool, words: str, terms: WorkspaceTerms) -> _Term | None:
    if name in _DATES and not minus:
        if _dates(name, typed) is None:
            return None
        return _Term(f"field:{name}:{typed}", name, typed, f"dated {name} {typed}", words)
    known = _FIELDS.get(name)
    value = known.meaning(typed, terms) if known else None
    if known is None or value is None:
        return None
    key = f"-{name}" if minus else name
    description = f"{known.words} {'is not' if minus else 'is'} {known.title(value, terms)}"
    return _Term(f"field:{key}:{value}", key, value, description, words)


def _dates(name: str, typed: str) -> AskedDates | None:
    """The dates a date term admits, None for an invalid date ("2024", "2024-03", "2024-03-15", "March 2024" are
    valid)."""
    dates = dates_in_question(f"{name} {typed}", _ANY_DAY)
    return dates if dates is not None and dates.words == f"{name} {typed}" else None


def narrowed(filters: SearchFilters, query: ParsedQuery, documents: Mapping[int, str]) -> SearchFilters:
    """The page's filters narrowed by the fields of the question. documents: names by id, needed when the question names
    one.

    A field of the question narrows the page's choice further; where both have nothing in common, nothing is admitted.
    Exclusions are added, and date ranges are intersected. Typed tags and entities replace the page's: any of these
    *and* any of those is no single filter. A document is matched by its full name, or by a part of it when none has
    that name; a name without a match admits nothing.

    >>> page = SearchFilters(truths=("intent", "regulatory"), domains=("taxes",))
    >>> from core.knowledge.workspace_terms import BUILT_IN_TERMS
    >>> narrowed(page, read_query("what is due truth:regulatory", BUILT_IN_TERMS), {}).in_words()
    ('truth is regulatory', 'domain is taxes')
    >>> narrowed(page, read_query("what is due truth:reality", BUILT_IN_TERMS), {}).documents
    (0,)
    """
    changes: dict[str, Any] = {}
    nowhere = False
    for key, values in query.fields.items():
        name = key.removeprefix("-")
        if name in _DATES:
            continue
        target = _FIELDS[name].filter
        resolved: tuple[Any, ...] = _documents(values, documents) if name == "document" else values
        if key != name:
            target = f"exclude_{target}"
            resolved = tuple(dict.fromkeys((*getattr(filters, target), *resolved)))
        elif target in ("tags", "entities"):
            changes[f"{target}_mode"] = "any"
        else:
            chosen = getattr(filters, target) or resolved
            both = tuple(value for value in resolved if value in chosen)
            nowhere, resolved = nowhere or not both, both or resolved
        changes[target] = resolved
    if nowhere:
        changes["documents"] = (_NOWHERE,)
    return filters.replace(**changes, **_bounds(filters, query))


def _documents(names: Sequence[str], documents: Mapping[int, str]) -> tuple[int, ...]:
    found: list[int] = []
    for name in names:
        part = name.lower()
        exact = [
            i for i, known in documents.items() if known.lower() in (part, f"{part}.{known.lower().rpartition('.')[2]}")
        ]
        found += exact or [i for i, known in documents.items() if part in known.lower()]
    return tuple(dict.fromkeys(found))


def _bounds(filters: SearchFilters, query: ParsedQuery) -> dict[str, datetime | None]:
    """The latest start and the earliest end of all date conditions."""
    dates = [found for name in _DATES for typed in query.fields.get(name, ()) if (found := _dates(name, typed))]
    starts = [filters.date_from, *(parse_bound(each.start, upper=False) for each in dates if each.start)]
    ends = [filters.date_to, *(parse_bound(each.end, upper=True) for each in dates if each.end)]
    return {
        "date_from": max((start for start in starts if start), default=None),
        "date_to": min((end for end in ends if end), default=None),
    }
