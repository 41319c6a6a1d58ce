"""Where a rule applies: names, agencies, codes and citations of places (behaviour.md §1).

The rows are those of core/tables/jurisdictions.toml with the names and places the workspace adds (core.speaking).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from core.speaking import spoken
from core.tables.loading import check_keys, table
from core.tables.starts import PatternFinder
from core.vocabulary import JurisdictionNames, findable

__all__ = [
    "Place",
    "built_in_jurisdictions",
    "codes_of_states",
    "jurisdiction_hits",
    "jurisdiction_title",
    "jurisdictions",
    "parse_jurisdiction",
    "place_finder",
    "place_hits",
    "unstated_government_jurisdiction",
]

_WORDLIKE = frozenset({"IN", "OR", "ME", "OK", "HI", "OH", "MA", "PA", "LA", "AL", "ID", "DE", "CO", "AS", "MS", "MO"})
"""Codes that are words or common abbreviations: only a ZIP code or the word "state" makes them a place."""

_TOP_KEYS = (
    "global_names",
    "unstated_government",
    "unstated_by_language",
    "capital_only",
    "aliases",
    "misleading",
    "net",
    "money",
    "federal",
    "states",
    "countries",
)

_CODE_WORDS = (
    r"(?:Lab|Gov|Gen|Rev|Stat|Admin|Code|Comp|Ins|Tax|Bus|Civ|Pen|Rules?|Regs?|Const|Ann|Health|Educ|Fam|Veh|Elec"
    r"|Unemp|Prof|Welf)\b"
)

_SPEAKS_AS = re.compile(
    r"(?i)\b(?:state|commonwealth|legislature|governor"
    r"|(?:administrative|revised|general) (?:rules|code|laws|statutes)) of\s+$"
)
_SPEAKS_IN = re.compile(
    r"(?i)\s+(?:(?:revised|compiled|general|annotated) (?:statutes|laws|code)|administrative (?:code|rules)"
    r"|general assembly|legislature|codified ordinances|code of ordinances)\b"
)
_BESIDE_STATES = (
    re.compile(r"(?i)\bstate(?:s|,)?\s+(?:and|or|and/or)\s+$|\bstate,\s+$"),
    re.compile(r"(?i)\s*(?:,|and|or|and/or)\s+(?:the\s+)?states?\b"),
)
"""Words around "federal" that speak of every level at once."""
_STREET_AFTER = re.compile(r"(?i)\s+(?:street|avenue|road|boulevard|st\.|ave|blvd)(?![^\W_])")


@dataclass(frozen=True, slots=True)
class Place:
    """A jurisdiction named at text[start:end]; `kind` is "self" ("State of Ohio"), "name", "agency", "law",
    "citation" or "code", of core.tables.marks "mail", "site" or "money"."""

    value: str
    start: int
    end: int
    kind: str


_KEPT_VOCABULARIES = 16


def jurisdictions() -> Mapping[str, str]:
    """Jurisdiction → the name a page shows: "federal", the states, the countries, the workspace's own, "global".

    Raises BadTable, StoreFailed.
    """
    return _titles(spoken().jurisdictions)


@lru_cache(_KEPT_VOCABULARIES)
def _titles(own: tuple[JurisdictionNames, ...]) -> Mapping[str, str]:
    titles = dict(built_in_jurisdictions())
    world = titles.pop("global")
    titles |= {each.value: each.title or titles.get(each.value, each.value) for each in own if each.value != "global"}
    return titles | {"global": next((each.title for each in own if each.value == "global" and each.title), world)}


@cache
def built_in_jurisdictions() -> Mapping[str, str]:
    """The product's own, whatever the workspace says. Raises BadTable."""
    rows = _rows()
    titles = {"federal": "US federal"}
    titles |= {f"state:{code}": row["names"][0] for code, row in rows["states"].items()}
    titles |= {f"country:{code}": names[0] for code, names in rows["countries"].items()}
    return titles | {"global": "Global"}


def codes_of_states(certain: bool = False) -> frozenset[str]:
    """The postal codes; certain: those that are no word or common abbreviation. Raises BadTable."""
    return frozenset(_rows()["states"]) - (_WORDLIKE if certain else frozenset())


def jurisdiction_title(value: str) -> str:
    """The name a page shows for a jurisdiction; an unknown one as it is."""
    return jurisdictions().get(value, value)


def jurisdiction_hits(text: str) -> Mapping[str, tuple[str, ...]]:
    """Jurisdiction → the words of the text that name it, most hits first, then in reading order.

    >>> jurisdiction_hits("How many active employees in Texas?")
    {'state:TX': ('Texas',)}
    >>> jurisdiction_hits("Write to me in or out of office, ok?"), jurisdiction_hits("Sacramento, CA 95814")
    ({}, {'state:CA': ('CA 95814',)})
    """
    hits: dict[str, list[str]] = {}
    for place in place_hits(text):
        hits.setdefault(place.value, []).append(text[place.start : place.end])
    return {value: tuple(hits[value]) for value in sorted(hits, key=lambda v: -len(hits[v]))}


def unstated_government_jurisdiction(language: str | None = "en") -> str | None:
    """Where a law applies that names no place: in English the workspace's own country, else by its language, or None.

    >>> [unstated_government_jurisdiction(language) for language in ("en", "de", "es")]
    ['federal', 'country:DE', None]
    """
    rows = _rows()
    if language in (None, "en"):
        return str(rows["unstated_government"])
    return rows["unstated_by_language"].get(language)


def _of_all_levels(text: str, before: int, match: re.Match[str]) -> bool:
    """Whether "federal" stands with "state": "state and federal law", "federal or state agencies"."""
    behind, ahead = _BESIDE_STATES
    return bool(behind.search(text, before, match.start()) or ahead.match(text, match.end()))


def parse_jurisdiction(words: str) -> str | None:
    """The jurisdiction some words name, or None: "California", "Cal.", "state:CA", "CA state", "IRS", "global".

    >>> [parse_jurisdiction(w) for w in ("california", "Cal.", "country:de", "IRS", "in")]
    ['state:CA', 'state:CA', 'country:DE', 'federal', None]
    """
    cleaned = words.strip()
    kind, _, code = cleaned.partition(":")
    value = f"{kind.lower()}:{code.strip().upper()}" if code else cleaned.lower()
    if value in jurisdictions():
        return value
    if value == "country:US":
        return value
    if cleaned.lower() in _rows()["global_names"]:
        return "global"
    known = _rows()["aliases"].get(cleaned) or _by_lower_name().get(cleaned.lower())
    if known is not None:
        return str(known)
    if cleaned in _rows()["states"] and cleaned not in _WORDLIKE:
        return f"state:{cleaned}"
    hits = jurisdiction_hits(cleaned)
    return next(iter(hits), None)


def place_hits(text: str) -> Iterator[Place]:
    """Every place named, in reading order."""
    names, finder = _names()
    for match in next(finder.find(text)):
        group = match.lastgroup
        words = match.group()
        if group == "named":
            value, kind = names[re.sub(r"\s+", " ", words)]
            if not value or (kind == "name" and _STREET_AFTER.match(text, match.end())):
                continue
            before = max(0, match.start() - 28)
            if value == "federal" and words[:1] in "fF" and _of_all_levels(text, before, match):
                continue
            speaks = kind == "name" and bool(
                _SPEAKS_AS.search(text, before, match.start()) or _SPEAKS_IN.match(text, match.end())
            )
            yield Place(value, match.start(), match.end(), "self" if speaks else kind)
        elif group == "codes":
            value, kind = names[re.sub(r"\s+", " ", match.group("codes"))]
            yield Place(value, match.start(), match.end(), "citation")
        elif group == "cited":
            prefix = next(p for p, shape in _citations().items() if shape.match(words))
            yield Place(names["§" + prefix][0], match.start(), match.end(), "citation")
        else:
            code = match.group("zip") or match.group("state") or match.group("after") or match.group("of")
            start = match.start(group) if group else match.start()
            yield Place(f"state:{code}", start, match.end(), "code")


def place_finder() -> PatternFinder:
    """Finds everything that may name a place, by one pattern."""
    return _names()[1]


def _names() -> tuple[Mapping[str, tuple[str, str]], PatternFinder]:
    """Every written form → (jurisdiction, kind), and a finder of one pattern that finds them all."""
    return _forms(spoken().jurisdictions)


@lru_cache(_KEPT_VOCABULARIES)
def _forms(own: tuple[JurisdictionNames, ...]) -> tuple[Mapping[str, tuple[str, str]], PatternFinder]:
    rows = _rows()
    forms: dict[str, tuple[str, str]] = {}
    prefixes: dict[str, tuple[str, str]] = {}
    forms |= dict.fromkeys((form for name in rows["misleading"] for form in (name, name.lower())), ("", ""))
    for key, kind in (("laws", "law"), ("agencies", "agency"), ("names", "name")):
        forms |= dict.fromkeys(rows["federal"][key], ("federal", kind))
    for code, names in rows["countries"].items():
        forms |= dict.fromkeys(names, (f"country:{code}", "name"))
        if names[0] not in rows["capital_only"]:
            forms[names[0].lower()] = (f"country:{code}", "name")
    for code, row in rows["states"].items():
        forms |= dict.fromkeys(row["names"], (f"state:{code}", "name"))
        forms[row["names"][0].lower()] = (f"state:{code}", "name")
        prefixes[row["code_prefix"]] = (f"state:{code}", "citation")
        forms |= {"§" + prefix: (f"state:{code}", "citation") for prefix in row["citations"]}
    for each in own:
        forms |= _with_small_letters((*_name_of(each), *each.names), (each.value, "name"))
        forms |= _with_small_letters(each.agencies, (each.value, "agency"))
    forms |= {name.upper(): found for name, found in forms.items() if len(name) > 3 and not name.startswith("§")}
    codes = "|".join(rows["states"])
    safe = "|".join(code for code in rows["states"] if code not in _WORDLIKE)
    pattern = re.compile(
        rf"(?<![\w.])(?:(?P<codes>{_any(prefixes)})(?=\s(?:\w+\.?\s(?:&\s\w+\.?\s)?)?{_CODE_WORDS})"
        rf"|(?P<named>{_any(name for name in forms if not name.startswith('§'))})(?![^\W_])"
        rf"|(?P<cited>{'|'.join(shape.pattern for shape in _citations().values())})"
        rf"|(?<=,\s)(?P<zip>{codes})\s+\d{{5}}\b|(?P<state>{codes})(?=\sstate\b)"
        rf"|(?:[Ss]tate of\s+)(?P<of>{codes})\b|(?:(?:in|for|from|within)\s+)(?P<after>{safe})\b)"
    )
    return forms | prefixes | {n: forms[n] for n in prefixes if n in forms}, PatternFinder([pattern])


def _name_of(own: JurisdictionNames) -> tuple[str, ...]:
    """The title names the place too; that of "global" may be any word, and names none."""
    return (own.title,) if own.title and own.value != "global" else ()


def _with_small_letters(names: Sequence[str], found: tuple[str, str]) -> dict[str, tuple[str, str]]:
    """The names as written; those of several words in small letters too, which a single one may be by chance."""
    known = findable(names)
    return dict.fromkeys(known, found) | {name.lower(): found for name in known if " " in name}


@cache
def _citations() -> Mapping[str, re.Pattern[str]]:
    """Citation prefix → its pattern: a number must stand beside it ("AS 36.30", "7 AAC 145", "820 ILCS 105")."""
    shapes: dict[str, re.Pattern[str]] = {}
    for row in _rows()["states"].values():
        for prefix in row["citations"]:
            body = re.escape(prefix.rstrip("#§. ")) if "#" in prefix else re.escape(prefix)
            after = r"\s+\d+[A-Z]?[.:-]\d+" if "#" in prefix else r"\s*(?:§+\s*)?\d+"
            before = "" if "#" in prefix else rf"|\d+\s+{body}\s*\d+"
            start = body.removesuffix(r"\.#") if "#" in prefix else body
            shapes[prefix] = re.compile(rf"{start}{after}{before}")
    return shapes


def _by_lower_name() -> Mapping[str, str]:
    return _lower_names(spoken().jurisdictions)


@lru_cache(_KEPT_VOCABULARIES)
def _lower_names(own: tuple[JurisdictionNames, ...]) -> Mapping[str, str]:
    forms, _ = _forms(own)
    return {name.lower(): value for name, (value, _) in forms.items() if value and len(name) > 2 and name[0] != "§"}


def _any(names: Iterator[str] | Mapping[str, object]) -> str:
    """A pattern of any of the names, the longest first; those of one first letter together: less to try."""
    letters: dict[str, list[str]] = {}
    for name in sorted(names, key=lambda name: (-len(name), name)):
        letters.setdefault(name[0], []).append(re.escape(name[1:]).replace(r"\ ", r"\s+"))
    return "|".join(f"{re.escape(letter)}(?:{'|'.join(rests)})" for letter, rests in letters.items())


@cache
def _rows() -> Mapping[str, Mapping]:  # type: ignore[type-arg]
    rows = table("jurisdictions")
    check_keys("jurisdictions", "top level", rows, _TOP_KEYS)
    check_keys("jurisdictions", "federal", rows["federal"], ("names", "agencies", "laws"))
    for code, row in rows["states"].items():
        check_keys("jurisdictions", f"states.{code}", row, ("names", "code_prefix", "citations"))
    return rows
