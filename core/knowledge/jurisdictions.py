"""Jurisdictions: finds names, agencies, postal codes, citations and indirect clues that place a text.

Built-in rows: core/knowledge/jurisdictions.toml. A workspace adds names and places (WorkspaceTerms.jurisdictions).
See behaviour.md §1.
"""
# One module, because names, citations and implied places of one table are matched together.

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any

from core.domain.errors import BadTable
from core.domain.vocabulary import JurisdictionNames, findable
from core.knowledge.loading import check_keys, table
from core.knowledge.multi_pattern import PatternFinder

__all__ = [
    "JurisdictionTable",
    "Place",
    "built_in_jurisdictions",
    "codes_of_states",
    "federation_of",
    "federations",
    "implied_place_finder",
    "implied_places",
    "jurisdiction_table",
]

_WORDLIKE = frozenset({"IN", "OR", "ME", "OK", "HI", "OH", "MA", "PA", "LA", "AL", "ID", "DE", "CO", "AS", "MS", "MO"})
"""Codes that are also words or abbreviations: a place only with a ZIP code or the word "state"."""

_TOP_KEYS = (
    "global_names",
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
"""Words around "federal" that mean all levels of government."""

_STREET_AFTER = re.compile(r"(?i)\s+(?:street|avenue|road|boulevard|st\.|ave|blvd)(?![^\W_])")


@dataclass(frozen=True, slots=True)
class Place:
    """A jurisdiction at text[start:end]. kind: "self" ("State of Ohio"), "name", "agency", "law", "citation" or "code";
    from `implied_places`: "mail", "site" or "money". generic: whether the words fit every federation, as "Federal
    Government" does; see `federation_of`."""

    value: str
    start: int
    end: int
    kind: str
    generic: bool = False


_CACHED_TABLES = 16  # more than the libraries and drafts one process has open; chosen by hand


@dataclass(frozen=True)
class JurisdictionTable:
    """The jurisdictions of one workspace: built-in ones plus `own`. Pattern and titles are built at first use."""

    own: tuple[JurisdictionNames, ...] = ()

    @cached_property
    def titles(self) -> Mapping[str, str]:
        """Jurisdiction → title shown to users: "federal", states, countries, the workspace's own, "global".

        Raises BadTable.
        """
        titles = dict(built_in_jurisdictions())
        world = titles.pop("global")
        titles |= {
            each.value: each.title or titles.get(each.value, each.value) for each in self.own if each.value != "global"
        }
        own_world = next((each.title for each in self.own if each.value == "global" and each.title), world)
        return titles | {"global": own_world}

    def title(self, value: str) -> str:
        """The title shown for a jurisdiction; an unknown one is returned unchanged."""
        return self.titles.get(value, value)

    def hits(self, text: str) -> Mapping[str, tuple[str, ...]]:
        """Jurisdiction → the words of the text that name it, most hits first, then in reading order.

        >>> jurisdiction_table(()).hits("How many active employees in Texas?")
        {'state:TX': ('Texas',)}
        >>> [jurisdiction_table(()).hits(text) for text in ("Write to me in or out of office, ok?", "Troy, MI 48083")]
        [{}, {'state:MI': ('MI 48083',)}]
        """
        hits: dict[str, list[str]] = {}
        for place in self.places(text):
            hits.setdefault(place.value, []).append(text[place.start : place.end])
        return {value: tuple(hits[value]) for value in sorted(hits, key=lambda v: -len(hits[v]))}

    def parse(self, words: str) -> str | None:
        """The jurisdiction a name stands for, or None: "California", "Cal.", "state:CA", "CA state", "IRS", "global".

        >>> [jurisdiction_table(()).parse(w) for w in ("california", "Cal.", "country:de", "IRS", "in")]
        ['state:CA', 'state:CA', 'country:DE', 'federal', None]
        """
        cleaned = words.strip()
        kind, _, code = cleaned.partition(":")
        value = f"{kind.lower()}:{code.strip().upper()}" if code else cleaned.lower()
        if value in self.titles:
            return value
        if value == "country:US":
            return value
        if cleaned.lower() in _rows()["global_names"]:
            return "global"
        known = _rows()["aliases"].get(cleaned) or self._lower_names.get(cleaned.lower())
        if known is not None:
            return str(known)
        if cleaned in _rows()["states"] and cleaned not in _WORDLIKE:
            return f"state:{cleaned}"
        return next(iter(self.hits(cleaned)), None)

    def places(self, text: str) -> Iterator[Place]:
        """All places named in a text, in reading order."""
        names, finder = self._forms
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
                generic = kind == "generic"
                speaks = (generic or kind == "name") and bool(
                    _SPEAKS_AS.search(text, before, match.start()) or _SPEAKS_IN.match(text, match.end())
                )
                kind = "self" if speaks else "name" if generic else kind
                yield Place(value, match.start(), match.end(), kind, generic)
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

    @property
    def finder(self) -> PatternFinder:
        """Finds all candidate place names with one pattern."""
        return self._forms[1]

    @cached_property
    def _forms(self) -> tuple[Mapping[str, tuple[str, str]], PatternFinder]:
        return _written_forms(self.own)

    @cached_property
    def _lower_names(self) -> Mapping[str, str]:
        """Lower-case name → jurisdiction, for names longer than two letters."""
        forms, _ = self._forms
        return {name.lower(): value for name, (value, _) in forms.items() if value and len(name) > 2 and name[0] != "§"}


@lru_cache(_CACHED_TABLES)
def jurisdiction_table(own: tuple[JurisdictionNames, ...]) -> JurisdictionTable:
    """The built-in jurisdictions plus a workspace's own."""
    return JurisdictionTable(own)


@cache
def built_in_jurisdictions() -> Mapping[str, str]:
    """Built-in jurisdiction → title. Raises BadTable."""
    rows = _rows()
    titles = {"federal": "US federal"}
    titles |= {f"state:{code}": row["names"][0] for code, row in rows["states"].items()}
    titles |= {f"country:{code}": names[0] for code, names in rows["countries"].items()}
    return titles | {"global": "Global"}


@cache
def federations() -> frozenset[str]:
    """The federations other than the United States. Raises BadTable."""
    return frozenset(f"country:{code}" for code in _rows()["federal"]["federations"])


def federation_of(named: Iterable[str], leading: Iterable[str]) -> str:
    """The jurisdiction that "federal" stands for: the other federation that is named most, if the text opens with its
    name and names it more often than the United States and their states. named: every jurisdiction that a text names or
    hints at, as often as it does, without generic words; leading: those that its title or opening names.

    >>> [federation_of([other], [other]) for other in ("country:CH", "country:FR")]
    ['country:CH', 'federal']
    >>> federation_of(["country:CH"], []), federation_of(["country:CH", "state:OH"], ["country:CH"])
    ('federal', 'federal')
    """
    counts = Counter(named)
    own = sum(count for value, count in counts.items() if value == "federal" or value.startswith("state:"))
    others = [value for value in federations().intersection(leading) if counts[value] > own]
    return max(sorted(others), key=lambda value: counts[value], default="federal")


def codes_of_states(certain: bool = False) -> frozenset[str]:
    """State postal codes. certain: only those that are not words or common abbreviations. Raises BadTable."""
    return frozenset(_rows()["states"]) - (_WORDLIKE if certain else frozenset())


def _of_all_levels(text: str, before: int, match: re.Match[str]) -> bool:
    """Whether "federal" is joined with "state": "state and federal law", "federal or state agencies"."""
    behind, ahead = _BESIDE_STATES
    return bool(behind.search(text, before, match.start()) or ahead.match(text, match.end()))


def _written_forms(own: tuple[JurisdictionNames, ...]) -> tuple[Mapping[str, tuple[str, str]], PatternFinder]:
    """Written form → (jurisdiction, kind), and a finder with one pattern for all forms."""
    rows = _rows()
    forms: dict[str, tuple[str, str]] = {}
    prefixes: dict[str, tuple[str, str]] = {}
    forms |= dict.fromkeys((form for name in rows["misleading"] for form in (name, name.lower())), ("", ""))
    for key, kind in (("laws", "law"), ("agencies", "agency"), ("names", "name"), ("generic", "generic")):
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
    """The title of a workspace's jurisdiction as a name; none for "global", whose title can be any word."""
    return (own.title,) if own.title and own.value != "global" else ()


def _with_small_letters(names: Sequence[str], found: tuple[str, str]) -> dict[str, tuple[str, str]]:
    """The names as written; multi-word names also in lower case. A lower-case single word may be an ordinary word."""
    known = findable(names)
    return dict.fromkeys(known, found) | {name.lower(): found for name in known if " " in name}


@cache
def _citations() -> Mapping[str, re.Pattern[str]]:
    """Citation prefix → pattern, which requires an adjacent number ("AS 36.30", "7 AAC 145", "820 ILCS 105")."""
    shapes: dict[str, re.Pattern[str]] = {}
    for row in _rows()["states"].values():
        for prefix in row["citations"]:
            body = re.escape(prefix.rstrip("#§. ")) if "#" in prefix else re.escape(prefix)
            after = r"\s+\d+[A-Z]?[.:-]\d+" if "#" in prefix else r"\s*(?:§+\s*)?\d+"
            before = "" if "#" in prefix else rf"|\d+\s+{body}\s*\d+"
            start = body.removesuffix(r"\.#") if "#" in prefix else body
            shapes[prefix] = re.compile(rf"{start}{after}{before}")
    return shapes


def _any(names: Iterator[str] | Mapping[str, object]) -> str:
    """A pattern matching any name, longest first; grouped by first letter for speed."""
    letters: dict[str, list[str]] = {}
    for name in sorted(names, key=lambda name: (-len(name), name)):
        letters.setdefault(name[0], []).append(re.escape(name[1:]).replace(r"\ ", r"\s+"))
    return "|".join(f"{re.escape(letter)}(?:{'|'.join(rests)})" for letter, rests in letters.items())


@cache
def _rows() -> Mapping[str, Mapping]:  # type: ignore[type-arg]
    rows = table("jurisdictions")
    check_keys("jurisdictions", "top level", rows, _TOP_KEYS)
    check_keys("jurisdictions", "federal", rows["federal"], ("names", "generic", "federations", "agencies", "laws"))
    for code, row in rows["states"].items():
        check_keys("jurisdictions", f"states.{code}", row, ("names", "code_prefix", "citations"))
    return rows


_ADDRESS = re.compile(r"(?P<lead>@|www\.|https?://(?:www\.)?)(?P<host>[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)")

_AS_COUNTRY = {"UK": "GB"}


def implied_places(text: str) -> Iterator[Place]:
    """Places implied by addresses ("mail", "site"), then by currencies ("money").

    >>> [(place.value, place.kind) for place in implied_places("Ask hr@example.org.uk or www.dir.ca.gov about £20.")]
    [('country:GB', 'mail'), ('state:CA', 'site'), ('country:GB', 'money')]
    """
    addresses, sums = implied_place_finder().find(text)
    for match in addresses:
        value = _jurisdiction_of(match["host"].lower())
        if value:
            yield Place(value, match.start(), match.end(), "mail" if match["lead"] == "@" else "site")
    for match in sums:
        yield Place(_signal_rows()["money"][match["sign"]], match.start(), match.end(), "money")


def _jurisdiction_of(host: str) -> str | None:
    """The place implied by a host name, or None.

    >>> hosts = ("hr.example.ie", "co.kitsap.wa.us", "texas.gov", "example.com", "www.va.gov")
    >>> [_jurisdiction_of(host) for host in hosts]
    ['country:IE', 'state:WA', 'state:TX', None, None]
    """
    *_, below, last = host.split(".")
    net = _signal_rows()["net"]
    if last in ("gov", "us"):
        return None if f"{below}.{last}" in net["elsewhere"] else _states_by_host_name().get(below)
    code = _AS_COUNTRY.get(last.upper(), last.upper())
    value = f"country:{code}"
    return value if value in built_in_jurisdictions() and (last in net["alone"] or below in net["below"]) else None


@cache
def _states_by_host_name() -> Mapping[str, str]:
    """Postal code and lower-case joined name → state."""
    codes = {code.lower(): f"state:{code}" for code in codes_of_states()}
    return codes | {built_in_jurisdictions()[value].lower().replace(" ", ""): value for value in codes.values()}


@cache
def implied_place_finder() -> PatternFinder:
    """Finds addresses with its first pattern, sums of money with its second. Raises BadTable."""
    signs = "|".join(re.escape(sign) for sign in sorted(_signal_rows()["money"], key=len, reverse=True))
    return PatternFinder([_ADDRESS, re.compile(rf"(?<![^\W_])(?P<sign>{signs})[\s\u00a0]?\d")])


@cache
def _signal_rows() -> Mapping[str, Any]:
    """[net] and [money]. Raises BadTable."""
    rows = table("jurisdictions")
    check_keys("jurisdictions", "net", rows["net"], ("alone", "below", "elsewhere"))
    for sign, value in rows["money"].items():
        if value not in built_in_jurisdictions():
            raise BadTable(
                f"core/knowledge/jurisdictions.toml: [money] {sign} says the unknown '{value}'.", "Correct it."
            )
    return {"net": rows["net"], "money": rows["money"]}
