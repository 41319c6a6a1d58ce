"""Finds city and county names in a text, with the state or country they belong to (behaviour.md §1).

Rows: core/knowledge/cities.toml. A single name is weak evidence; core.ingestion.classification.jurisdiction decides
whether the city is the author, or whether several cities of one state count together.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from unicodedata import combining, normalize

from core.domain.errors import BadTable
from core.knowledge.jurisdictions import built_in_jurisdictions, codes_of_states
from core.knowledge.loading import check_keys, table

__all__ = ["NamedCity", "cities_called_as_states", "named_cities", "states_listed"]

_SECTIONS = ("cities", "spoken", "counties")
_LONGEST_LEAD = 48  # Characters. Chosen by hand, not fitted.

_CITY_BEFORE = re.compile(
    r"(?i)\b(?:city|town|village|township|municipality|corporation|borough|mayor|university) of\s+$"
)
_CITY_AFTER = re.compile(
    r"(?i)\s+(?:(?:city|town|village|borough) (?:council|commission|hall|attorney|manager|charter|code|schools?)"
    r"|(?:(?:public|unified|independent|community|city|municipal|elementary|metropolitan)\s+)*(?:school district|isd"
    r"|schools|police department|fire department|housing authority|transit authority|library|municipal code"
    r"|code of ordinances))\b"
)
_COUNCIL_AFTER = re.compile(r"(?i)\s+(?:council|commission|hall|attorney|manager|charter|code)\b")
_COUNTY_BEFORE = re.compile(r"(?i)\b(?:county|parish) of\s+$")
_COUNTY_AFTER = re.compile(r"\s+(?:County|COUNTY|Parish|PARISH|Borough|BOROUGH)\b(?!\s+(?i:road|rd|line|club)\b)")
_STREET_AFTER = re.compile(
    r"(?i)\s+(?:street|avenue|road|drive|boulevard|lane|highway|parkway|way|court|square|st|ave|rd|blvd|dr|hwy|ln)\b"
)
_COLUMN_BEFORE = re.compile(
    r"(?i)(?:^|\n|; )(?:[^:;\n]{1,24} )?(?:city|town|municipality|location|office|site|branch|campus|county)"
    r"(?: name)?: $"
)
_COLUMN_AFTER = re.compile(r"(?: County)?(?=;|\n|$)")
_STATE_COLUMN = re.compile(r"(?m)(?:^|; )(?:[^:;\n]{1,24} )?[Ss](?:tate|TATE)(?: [Cc]ode)?: ([A-Z]{2})(?=;|$)")
_CAPITALISED = re.compile(r"\b[A-Z][a-z]+(?: [A-Z][a-z]+)?$")


@dataclass(frozen=True, slots=True)
class NamedCity:
    """A city or county at text[start:end].

    value: its jurisdiction; "" if the name is ambiguous. kind: "spoken" when the city is the author ("City of Austin",
    "Kitsap County"), "listed" in a column of places, else "named".
    """

    value: str
    name: str
    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class _CityRow:
    """What a name can mean: a city of `city`, a county of `county`. wordlike: also a word or a personal name."""

    name: str
    city: str | None = None
    county: str | None = None
    wordlike: bool = False


def named_cities(text: str) -> Sequence[NamedCity]:
    """The cities and counties in a text, in reading order; skips words that only look like one.

    >>> [(city.value, city.kind) for city in named_cities("City of Mobile; offices in Gaithersburg and Lyon, KS")]
    [('state:AL', 'spoken'), ('state:MD', 'named'), ('state:KS', 'named')]
    >>> named_cities("A mobile app for reading on Austin Street in Mobile")
    ()
    """
    found = {city.start: city for city in _known(text)}
    ends = {city.end for city in found.values()}
    for match in _state_after().finditer(text):
        code = match["code"]
        if code in codes_of_states(certain=True) and match.start() not in ends:
            before = _CAPITALISED.search(text, max(0, match.start() - _LONGEST_LEAD), match.start())
            if before and before.start() not in found and before.group() not in _states_by_name():
                city = NamedCity(f"state:{code}", before.group(), before.start(), match.start(), "named")
                found[city.start] = city
    return tuple(found[start] for start in sorted(found))


def cities_called_as_states() -> frozenset[str]:
    """Names of states and countries that are also city names, as written and in capitals. Raises BadTable."""
    return frozenset(form for name in table("cities")["states"] for form in (name, name.upper()))


def states_listed(text: str) -> Mapping[str, Sequence[re.Match[str]]]:
    """State → cells of a state column that hold its code."""
    cells: dict[str, list[re.Match[str]]] = {}
    for match in _STATE_COLUMN.finditer(text):
        if match[1] in codes_of_states():
            cells.setdefault(f"state:{match[1]}", []).append(match)
    return cells


def _known(text: str) -> Iterator[NamedCity]:
    """Whole-word matches of the table's names; of overlapping matches, the longest.

    Before "council", "Denver City" means the city of Denver, not a town named Denver City.
    """
    plain = text.replace("\u2019", "'")
    spans = [(last - length + 1, -(last + 1), known) for last, (length, known) in _automaton().iter(plain)]
    end = 0
    ordered = sorted(spans, key=lambda span: span[:2])
    for number, (start, negative, known) in enumerate(ordered):
        if start < end or not _apart(plain, start, -negative):
            continue
        shorter = number + 1 < len(ordered) and ordered[number + 1][0] == start
        if shorter and known.name.endswith(" City") and _COUNCIL_AFTER.match(plain, -negative):
            continue
        end = -negative
        city = _read(plain, start, end, known)
        if city:
            yield city


def _apart(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (before.isalnum() or before in ("-", ".", "@", "/", "_")) and not (
        after.isalnum() or after in ("-", "@", "_")
    )


def _read(text: str, start: int, end: int, known: _CityRow) -> NamedCity | None:
    """Classifies one match by the words around it; None if it is no place."""
    lead = max(0, start - _LONGEST_LEAD)
    if known.county and (_COUNTY_AFTER.match(text, end) or _COUNTY_BEFORE.search(text, lead, start)):
        return NamedCity(known.county, f"{known.name} County", start, end, "spoken")
    if known.city is None or _STREET_AFTER.match(text, end):
        return None
    state = _state_after().match(text, end)
    value = f"state:{state['code']}" if state and state["code"] else known.city
    if state and state["name"]:
        value = _states_by_name()[state["name"]]
    if value and (_CITY_BEFORE.search(text, lead, start) or _CITY_AFTER.match(text, end)):
        return NamedCity(value, known.name, start, end, "spoken")
    if value and _COLUMN_BEFORE.search(text, lead, start) and _COLUMN_AFTER.match(text, end):
        return NamedCity(value, known.name, start, end, "listed")
    if known.wordlike and not state:
        return None
    return NamedCity(value, known.name, start, end, "named")


@cache
def _states_by_name() -> Mapping[str, str]:
    return {title: value for value, title in built_in_jurisdictions().items() if value.startswith("state:")}


@cache
def _state_after() -> re.Pattern[str]:
    names = "|".join(sorted(_states_by_name(), key=len, reverse=True))
    return re.compile(rf",\s+(?:(?P<code>{'|'.join(sorted(codes_of_states()))})|(?P<name>{names}))\b")


@cache
def _automaton() -> Any:
    """Aho-Corasick automaton over all names, as written and in capitals; yields their length and meaning."""
    import ahocorasick

    automaton = ahocorasick.Automaton()
    for known in _rows().values():
        for form in _forms(known.name):
            automaton.add_word(form, (len(form), known))
    automaton.make_automaton()
    return automaton


def _forms(name: str) -> Iterable[str]:
    """The spelling variants of a name.

    >>> sorted(_forms("St. Paul"))
    ['SAINT PAUL', 'ST PAUL', 'ST. PAUL', 'Saint Paul', 'St Paul', 'St. Paul']
    """
    letters = "".join(char for char in normalize("NFD", name) if not combining(char))
    forms = {name, letters}
    if "St. " in name:
        forms |= {form.replace("St. ", saint) for form in (name, letters) for saint in ("St ", "Saint ")}
    return forms | {form.upper() for form in forms}


@cache
def _rows() -> Mapping[str, _CityRow]:
    """Name → its possible meanings. Raises BadTable."""
    rows = table("cities")
    check_keys("cities", "top level", rows, ("states", "several", *_SECTIONS))
    known = {name: _CityRow(name, city="") for name in rows["several"]}
    for section in _SECTIONS:
        check_keys("cities", section, rows[section], built_in_jurisdictions())
        for value, names in rows[section].items():
            for name in names:
                known[name] = _with(known.get(name), section, value, name)
    return known


def _with(before: _CityRow | None, section: str, value: str, name: str) -> _CityRow:
    """The row with one more meaning; a name is a city of at most one jurisdiction."""
    city, county = (before.city, before.county) if before else (None, None)
    if (county if section == "counties" else city) is not None:
        raise BadTable(f"core/knowledge/cities.toml: [{section}] has '{name}' twice.", "Keep one of them.")
    if section == "counties":
        return _CityRow(name, city, value, before.wordlike if before else False)
    return _CityRow(name, value, county, section == "spoken")
