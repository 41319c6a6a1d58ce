"""Recognises entities by pattern: citations of laws, forms, publications, standards, amounts of money and dates."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from core.domain.entities import Entity, EntityType
from core.knowledge.loading import table
from core.knowledge.temporal import month_names
from core.ner.lexicon import NameMatch

__all__ = ["numbered_names", "written_amount"]

_SECTION = r"\d+[A-Za-z]{0,4}(?:(?<=[a-z])-\d+[a-z]?)?(?![\w.])|\d+[A-Za-z]{0,4}(?:(?<=[a-z])-\d+[a-z]?)?(?=\.?\W|$)"
_MARK = r"(?:§{1,2}\s*|[Ss]ec(?:tion|\.)s?\s*)?"
_FORM = r"[A-Z]{0,3}-?\d{1,5}[A-Z]{0,4}(?:-[A-Z]{1,5}){0,2}"
_NEXT_FORM = r"(?:[A-Z]{1,3}-\d{1,4}[A-Z]{0,4}|(?!(?:19|20)\d\d\b)\d{3,5}[A-Z]?)(?:-[A-Z]{1,5}){0,2}"
_MILLIONS = {"thousand": 3, "k": 3, "million": 6, "m": 6, "billion": 9, "b": 9, "trillion": 12}
_MONTHS = "january february march april may june july august september october november december".split()

_DASHED_TITLES = ("26", "41", "48")
"""CFR titles whose section numbers contain dashes."""

Written = Callable[[re.Match[str]], Iterator[tuple[str, int, int]]]


@dataclass(frozen=True, slots=True)
class _EntityPattern:
    """`written` yields (canonical name, start, end) for a match. hint: lower-case strings; a text without any of them
    cannot match, so the pattern is skipped."""

    kind: EntityType
    pattern: re.Pattern[str]
    written: Written
    hints: tuple[str, ...]


def numbered_names(text: str) -> Iterator[NameMatch]:
    """All entities recognised by pattern; some may lie inside others.

    >>> said = "See 26 USC 3402(f), 29 C.F.R. § 778.113, Forms 940 and 941, Pub. 15-A, $1.5 million and May 1, 2024"
    >>> [found.entity.name for found in numbered_names(said)]
    ['26 U.S.C. § 3402', '29 CFR 778.113', 'Form 940', 'Form 941', 'Publication 15-A', '$1,500,000', '2024-05-01']
    """
    folded = text.lower()
    for shape in _shapes():
        if any(hint in folded for hint in shape.hints):
            for match in shape.pattern.finditer(text):
                for name, start, end in shape.written(match):
                    yield NameMatch(Entity(name, shape.kind), start, end)


def _template(form: str) -> Written:
    """Builds a canonical name from a match's groups and collapses blanks."""

    def written(match: re.Match[str]) -> Iterator[tuple[str, int, int]]:
        groups = {key: re.sub(r"\s+", "", value or "") for key, value in match.groupdict().items()}
        yield form.format(**groups), match.start(), match.end()

    return written


def _forms(match: re.Match[str]) -> Iterator[tuple[str, int, int]]:
    """Each form in a list such as "Forms W-2, W-3 and 941"."""
    yield f"Form {_code(match['code'])}", match.start(), match.end("code")
    for other in re.finditer(_NEXT_FORM, match["others"] or ""):
        start = match.start("others") + other.start()
        yield f"Form {_code(other.group())}", start, start + len(other.group())


def _code(written: str) -> str:
    return re.sub(r"\s+", "", written).upper().rstrip("-")


def _regulation(match: re.Match[str]) -> Iterator[tuple[str, int, int]]:
    section = match["section"]
    if match["title"] not in _DASHED_TITLES and "-" in section:
        section = section[: section.index("-")]  # "42 CFR 435.917-918" is a range
    yield f"{match['title']} CFR {'' if '.' in section else 'part '}{section}", match.start(), match.end()


def _amount(match: re.Match[str]) -> Iterator[tuple[str, int, int]]:
    name = written_amount(match["sign"], match["number"], match["unit"] or "")
    if name:
        yield name, match.start(), match.end()


def written_amount(sign: str, number: str, unit: str = "") -> str:
    """The canonical form of an amount; "" for zero or an invalid amount.

    >>> written_amount("$", "20,000,000.00"), written_amount("US$", "1.5", "million"), written_amount("$", "0")
    ('$20,000,000', '$1,500,000', '')
    """
    digits = number.replace(",", "")
    integer, _, fraction = digits.partition(".")
    power = _MILLIONS.get(unit.lower(), 0)
    if power:
        integer, fraction = integer + fraction[:power].ljust(power, "0"), fraction[power:]
    amount = int(integer or "0")
    fraction = fraction.rstrip("0").ljust(2, "0") if fraction.rstrip("0") else ""
    formatted = f"{amount:,}" + (f".{fraction}" if fraction else "")
    return f"{sign.removeprefix('US')}{formatted}" if amount or fraction else ""


def _day(match: re.Match[str]) -> Iterator[tuple[str, int, int]]:
    """A date in ISO format, or "January 31" without a year; skips days above 31."""
    parts = match.groupdict()
    year = parts.get("year") or parts.get("year2") or parts.get("year3")
    month = month_names().get((parts.get("month") or parts.get("month2") or "").lower().rstrip("."), 0)
    number = int(parts.get("day") or parts.get("day2") or 0)
    if not 1 <= month <= 12 or number > 31:
        return
    if year:
        yield f"{year}-{month:02}" + (f"-{number:02}" if number else ""), match.start(), match.end()
    elif number:
        yield f"{_MONTHS[month - 1].capitalize()} {number}", match.start(), match.end()


def _digits(match: re.Match[str]) -> Iterator[tuple[str, int, int]]:
    """Numeric dates: 06/27/2019 and 27/06/2019 are the same day; 03/04/2019 is ambiguous and skipped."""
    first, second = int(match["first"]), int(match["second"])
    month, day = (first, second) if first <= 12 else (second, first)
    if 1 <= month <= 12 and 1 <= day <= 31 and (day > 12 or day == month):
        yield f"{match['year']}-{month:02}-{day:02}", match.start(), match.end()


@cache
def _shapes() -> tuple[_EntityPattern, ...]:
    return (*_law_shapes(), *_paper_shapes(), *_amount_and_day_shapes())


def _law_shapes() -> Iterator[_EntityPattern]:
    def law(pattern: str, written: Written, *hints: str) -> _EntityPattern:
        return _EntityPattern(EntityType.LAW, re.compile(pattern), written, hints)

    title = r"(?<![\w.])(?P<title>\d{1,2})\s*"
    code = _template("{title} U.S.C. § {section}")
    tax = _template("26 U.S.C. § {section}")
    yield law(
        rf"{title}U\.?\s?S\.?\s?C(?:\.A\.|\.|ode\b|A\b|\b)\s*{_MARK}(?P<section>{_SECTION})", code, "usc", "u.s", "u. s"
    )
    yield law(rf"{title}U\.S\. Code\s*{_MARK}(?P<section>{_SECTION})", code, "u.s. code")
    regulation = r"(?P<section>\d+\.\d+[A-Z]?(?:\([a-z]\)(?=-\d))?(?:-\d+[A-Z]?)?|\d+(?![\w.]*\d))"
    yield law(
        rf"{title}C\.?\s?F\.?\s?R\.?\s*{_MARK}(?:(?P<part>[Pp]arts?)\s*)?{regulation}",
        _regulation,
        "cfr",
        "c.f",
        "c. f",
    )
    treasury = r"\bTreas(?:\.|ury) Reg(?:\.|ulations?)\s*§?\s*(?P<section>\d+\.\d+[A-Z]?(?:\([a-z]\)(?=-\d))?(?:-\d+)?)"
    yield law(treasury, _template("26 CFR {section}"), "treas")
    yield law(
        r"\bPub(?:\.|lic)\s*L(?:\.|aw)\s*(?:No\.?\s*)?(?P<congress>\d{2,3})\s*[-–—]\s*0*(?P<number>\d{1,4})",
        _template("Pub. L. {congress}-{number}"),
        "pub",
    )
    order = r"\b(?:Executive Order|E\.O\.|EO)\s*(?:No\.?\s*)?(?P<number>1\d{4})\b"
    yield law(order, _template("Executive Order {number}"), "executive order", "e.o.", "eo")
    clause = r"\b(?P<book>FAR|DFARS|GSAR)\s*(?:[Cc]lause\s*|[Pp]art\s*|[Ss]ubpart\s*|§\s*)?"
    clause += r"(?P<number>\d{1,4}\.\d{1,4}(?:-\d+)?)"
    yield law(clause, _template("{book} {number}"), "far", "gsar")
    yield law(r"\bIRC\s*(?:§+|[Ss]ec(?:tion|\.))\s*(?P<section>\d+[A-Z]?)\b", tax, "irc")
    of_code = r"\b[Ss]ection\s+(?P<section>\d+[A-Z]?)(?:\([^)\s]{1,4}\))*\s+of\s+the\s+Internal\s+Revenue\s+Code"
    yield law(of_code, tax, "internal")
    yield law(
        rf"(?<![\w.])(?P<title>\d{{1,3}}\s+)?(?P<prefix>{_state_prefixes()})\s*(?:§+\s*)?(?P<number>\d[\w.:-]*)(?<=\w)",
        _state_code,
        *_state_hints(),
    )


def _state_prefixes() -> str:
    """A pattern of the statute prefixes that identify a state by themselves."""
    rows = table("jurisdictions")["states"].values()
    prefixes = {citation.strip() for row in rows for citation in row["citations"] if "#" not in citation}
    return "|".join(re.escape(prefix.rstrip("§ ")) for prefix in sorted(prefixes, key=len, reverse=True))


def _state_hints() -> tuple[str, ...]:
    rows = table("jurisdictions")["states"].values()
    return tuple(
        {citation.strip().rstrip("§ ").lower() for row in rows for citation in row["citations"] if "#" not in citation}
    )


def _state_code(match: re.Match[str]) -> Iterator[tuple[str, int, int]]:
    title = f"{match['title'].strip()} " if match["title"] else ""
    yield f"{title}{match['prefix']} {match['number']}", match.start(), match.end()


def _paper_shapes() -> Iterator[_EntityPattern]:
    def shape(kind: EntityType, pattern: str, written: Written, *hints: str) -> _EntityPattern:
        return _EntityPattern(kind, re.compile(pattern), written, hints)

    form = EntityType.FORM
    others = rf"(?P<others>(?:\s*(?:,\s*(?:and|or)|,|and|or|/)\s*{_NEXT_FORM}\b)*)"
    yield shape(form, rf"\b(?<!DD )(?<!Standard )(?<!Optional )Forms?\s+(?P<code>{_FORM})\b{others}", _forms, "form")
    small = r"\bform\s+(?P<code>(?:[A-Za-z]{1,3}-\d{1,4}[A-Za-z]{0,4}|\d{3,5})(?:-[A-Za-z]{1,4})?)\b(?P<others>)"
    yield shape(form, small, _forms, "form")
    bare = (
        r"(?<![\w-])(?P<code>W-[2-9](?:[A-Z]{1,3})?|I-9|1099-[A-Z]{1,5}|1095-[ABC]|SS-[48])(?=s?(?![\w-]))(?P<others>)"
    )
    yield shape(form, bare, _forms, "w-", "i-9", "109", "ss-")
    yield shape(form, r"\bDD(?:\s*Form)?[\s-]*(?P<number>\d{3,4})\b", _template("DD Form {number}"), "dd")
    yield shape(
        form, r"\b(?:SF|Standard Form)[\s-]*(?P<number>\d{1,4})\b", _template("SF {number}"), "sf", "standard form"
    )
    yield shape(
        form,
        r"\b(?:OF|Optional Form)[\s-](?P<number>\d{2,4})\b",
        _template("OF {number}"),
        "of-",
        "optional form",
        "of 1",
        "of 2",
        "of 3",
    )
    schedule = r"\bSchedule\s+(?P<letter>[A-Z0-9]{1,3}(?:-EZ)?)\s*\(Form\s+(?P<code>[\w-]+)\)"
    yield shape(form, schedule, _template("Schedule {letter} (Form {code})"), "schedule")
    paper = r"\b(?:Pub\.|Publications?|Pubs\.)\s+(?P<number>\d{1,4}(?:-[A-Z])?)\b(?!\s*[-–]\s*\d)"
    yield shape(form, paper, _template("Publication {number}"), "pub")
    standard = EntityType.TECHNOLOGY
    yield shape(standard, r"\b(?:NIST\s+)?SP\s*(?P<number>800-\d{1,3}[A-Z]?)\b", _template("NIST SP {number}"), "800-")
    yield shape(standard, r"\bFIPS(?:\s+PUB)?[\s-]*(?P<number>\d{2,3}(?:-\d)?)\b", _template("FIPS {number}"), "fips")
    yield shape(standard, r"\bISO(?:/IEC)?[\s-]*(?P<number>\d{4,5}(?:-\d+)?)\b", _template("ISO {number}"), "iso")
    yield shape(standard, r"\bWCAG\s*(?P<number>\d\.\d)\b", _template("WCAG {number}"), "wcag")
    yield shape(standard, r"\bRFC\s*(?P<number>\d{3,5})\b", _template("RFC {number}"), "rfc")


def _amount_and_day_shapes() -> Iterator[_EntityPattern]:
    number = r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?![\d,]*\d)"
    unit = r"(?:\s*(?P<unit>thousand|million|billion|trillion|[MBK])\b)?"
    amount = rf"(?<![\w$])(?P<sign>(?:US)?\$|€|£)\s?{number}{unit}"
    yield _EntityPattern(EntityType.MONEY, re.compile(amount), _amount, ("$", "€", "£"))
    year, day, ordinal = r"(?:19|20)\d{2}", r"(?:0?[1-9]|[12]\d|3[01])", r"(?:st|nd|rd|th)?"
    names = [name for name in month_names() if name == "sept" or any(month.startswith(name) for month in _MONTHS)]
    month = "|".join(name.capitalize() for name in sorted(names, key=len, reverse=True))
    named = (
        rf"\b(?P<month>{month})\b\.?\s+(?:(?P<day>{day}){ordinal}\b(?:,?\s+(?P<year>{year})\b)?|(?P<year2>{year})\b)"
        rf"|\b(?P<day2>{day}){ordinal}\s+(?:of\s+)?(?P<month2>{month})\b(?:\.?,?\s+(?P<year3>{year})\b)?"
    )
    hints = tuple(dict.fromkeys(name[:3] for name in names))
    yield _EntityPattern(EntityType.DATE, re.compile(named), _day, hints)
    written = rf"(?<![\w-])(?P<year>{year})-(?P<month>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12]\d|3[01])(?![\w-])"

    def iso(match: re.Match[str]) -> Iterator[tuple[str, int, int]]:
        yield match.group(), match.start(), match.end()

    yield _EntityPattern(EntityType.DATE, re.compile(written), iso, ("-0", "-1"))
    digits = rf"(?<![\d/])(?P<first>\d{{1,2}})/(?P<second>\d{{1,2}})/(?P<year>{year})(?![\d/])"
    yield _EntityPattern(EntityType.DATE, re.compile(digits), _digits, ("/",))
