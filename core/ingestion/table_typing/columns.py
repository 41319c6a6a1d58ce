"""Infers the type of a text column, and converts its cells to PostgreSQL input."""

# Over 300 lines: type inference tries the cell readers defined above it.

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime, time

from core.domain.datasets import ColumnType
from core.text.lists import listed

__all__ = [
    "CENTURY_TURN",
    "DATE_ORDERS",
    "EMPTY_WORDS",
    "ColumnReading",
    "Reader",
    "as_boolean",
    "as_integer",
    "as_number",
    "currencies_in",
    "date_reader",
    "has_ambiguous_separators",
    "has_short_year",
    "is_currency",
    "is_number",
    "personal_data",
    "reading_of",
]

Reader = Callable[[str], str | None]

EMPTY_WORDS = frozenset(
    ("", "n/a", "na", "#n/a", "null", "none", "nil", "nan", "-", "--", "—", "–", "?", "tbd", "unknown")
)
"""Cells that mean "no value" in number, date and boolean columns."""

# ASCII: PostgreSQL accepts no other digits.
_INTEGER = re.compile(r"[+-]?(?:\d{1,18}|\d{1,3}(?:,\d{3}){1,5})", re.ASCII)

_NUMBER = re.compile(
    r"[+-]?(?:(?:\d+|\d{1,3}(?:,\d{3})+|\d{1,3}(?: \d{3})+)(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,2})?", re.ASCII
)

_COMMA_NUMBER = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+|\d{1,3}(?: \d{3})+)(?:,\d+)?", re.ASCII)

_NO_DIGIT = re.compile(r"[^\d.,]")

_GROUPED = re.compile(r"[1-9]\d{0,2}([.,])\d{3}", re.ASCII)

_CURRENCY = re.compile(r"[$€£¥]|\b(?:USD|EUR|GBP|CHF|CAD)\b")

_CODES = {"€": "EUR", "£": "GBP"}
_DOLLARS = frozenset(("USD", "CAD"))
"""Codes of the dollars that "$" may stand for."""

_TRUE = frozenset(("y", "yes", "true", "t"))

_FALSE = frozenset(("n", "no", "false", "f"))

_MONTHS = tuple("january february march april may june july august september october november december".split())

_NAMED = re.compile(
    r"(?:(?P<d1>\d{1,2})(?:st|nd|rd|th)?[ .-]+)?(?P<month>[A-Za-z]{3,9})\.?[ ,-]*"
    r"(?:(?P<d2>\d{1,2})(?:st|nd|rd|th)?,?[ -]+)?(?P<year>\d{4}|\d{2})"
)

_PARTS = re.compile(r"(\d{1,4})([-/.])(\d{1,2})\2(\d{4}|\d{1,2})")

_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)? ?([AaPp][Mm])?(?:Z|[+-]00:?00)?")

CENTURY_TURN = 69
"""The first two-digit year of the 1900s: 69–99 are 1969–1999 and 00–68 are 2000–2068, as POSIX strptime reads %y."""

DATE_ORDERS = ("ymd", "mdy", "dmy")
"""Orders of day, month and year, the more likely first if a column is ambiguous."""


def as_integer(text: str) -> str | None:
    """An integer, or None.

    >>> as_integer("1,234"), as_integer("12.5"), as_integer("(7)")
    ('1234', None, '-7')
    """
    plain = _unsigned(text)
    return plain.replace(",", "") if _INTEGER.fullmatch(plain) else None


def as_number(text: str, *, comma: bool = False) -> str | None:
    """A number without currency, percent and thousands signs, or None; comma: "1.234,50" style.

    >>> as_number("$1,234.50"), as_number("12 %"), as_number("1.234,5", comma=True), as_number("W-2")
    ('1234.50', '12', '1234.5', None)
    """
    plain = _unsigned(_CURRENCY.sub("", text)).rstrip("%").rstrip()
    if comma:
        fits = _COMMA_NUMBER.fullmatch(plain)
        return plain.replace(" ", "").replace(".", "").replace(",", ".") if fits else None
    return plain.replace(" ", "").replace(",", "") if _NUMBER.fullmatch(plain) else None


def is_number(cell: str) -> bool:
    """Whether a cell is a number with decimal points or decimal commas.

    >>> is_number("$1,234.50"), is_number("1.234.567,00"), is_number("2025-02-20"), is_number("")
    (True, True, False, False)
    """
    return as_number(cell) is not None or as_number(cell, comma=True) is not None


def is_currency(text: str) -> bool:
    """Whether a text is a currency sign or code that numbers may have.

    >>> is_currency("€"), is_currency("EUR"), is_currency("€/h"), is_currency("kg")
    (True, True, False, False)
    """
    return _CURRENCY.fullmatch(text) is not None


def currencies_in(cells: Iterable[str]) -> set[str]:
    """The currencies that cells name: codes, or "$" where no code says which dollar.

    >>> sorted(currencies_in(["$5", "US$ 7", "9 CAD"])), sorted(currencies_in(["€ 5", "5 EUR"]))
    (['CAD'], ['EUR'])
    """
    found: set[str] = set()
    for cell in cells:
        named = {_CODES.get(each, each) for each in _CURRENCY.findall(cell)}
        found |= named - {"$"} or named
    return found - {"$"} if found & _DOLLARS else found


def has_ambiguous_separators(cells: Iterable[str], *, commas: bool) -> bool:
    """Whether the numbers of a column may have thousands or three decimals: "1.500". Four digits without a separator,
    or another number of decimals, decide. Where no column has decimal commas, a comma separates thousands.

    >>> has_ambiguous_separators(["1.500"], commas=False), has_ambiguous_separators(["1.500", "2000"], commas=False)
    (True, False)
    >>> has_ambiguous_separators(["1,500"], commas=False), has_ambiguous_separators(["1,500"], commas=True)
    (False, True)
    """
    separators = set()
    for digits in filter(None, (_NO_DIGIT.sub("", cell) for cell in cells)):
        if grouped := _GROUPED.fullmatch(digits):
            separators.add(grouped[1])
        elif not digits.isdigit() or len(digits) > 3:
            return False
    return "." in separators or (commas and "," in separators)


def _unsigned(text: str) -> str:
    """Moves the minus of accounting "(7)" and payroll "7-" to the front."""
    plain = text.strip().replace("−", "-")
    if plain.startswith("(") and plain.endswith(")"):
        return f"-{plain[1:-1].strip()}"
    if plain.endswith("-") and plain[:1].isdigit():
        return f"-{plain[:-1].strip()}"
    return f"{plain[0]}{plain[1:].strip()}" if plain[:1] in ("+", "-") and plain[1:] else plain


def as_boolean(text: str) -> str | None:
    """A boolean, or None.

    >>> as_boolean("Y"), as_boolean("no"), as_boolean("maybe")
    ('true', 'false', None)
    """
    word = text.strip().lower()
    return "true" if word in _TRUE else "false" if word in _FALSE else None


def date_reader(order: str, *, timed: bool = False) -> Reader:
    """A reader of dates in one order of day, month and year ("mdy"), followed by a time if `timed`.

    >>> date_reader("mdy")("2/20/2025"), date_reader("dmy")("20.02.25"), date_reader("ymd")("3 March 2024")
    ('2025-02-20', '2025-02-20', '2024-03-03')
    >>> date_reader("ymd", timed=True)("2025-02-20 10:05 pm")
    '2025-02-20 22:05:00'
    """

    def read(text: str) -> str | None:
        words = text.strip()
        day_words, clock_words = _split_clock(words)
        day = _day(day_words, order)
        clock = _clock(clock_words) if clock_words else time()
        if day is None or clock is None or (clock != time() and not timed):
            return None
        return datetime.combine(day, clock).isoformat(" ") if timed else day.isoformat()

    return read


def has_short_year(text: str) -> bool:
    """Whether a date has a two-digit year.

    >>> has_short_year("2/20/25"), has_short_year("2025-02-20"), has_short_year("5-Mar-24 10:05")
    (True, False, True)
    """
    words = _split_clock(text.strip())[0]
    if match := _PARTS.fullmatch(words):
        return len(match[1]) < 4 and len(match[4]) == 2
    named = _NAMED.fullmatch(words)
    return named is not None and len(named["year"]) == 2


def _split_clock(words: str) -> tuple[str, str]:
    at = words.find(":")
    if at < 0:
        return words, ""
    start = max(words.rfind(" ", 0, at), words.rfind("T", 0, at))
    return (words[:start].strip(" ,"), words[start + 1 :].strip()) if start > 0 else (words, "")


def _clock(words: str) -> time | None:
    match = _CLOCK.fullmatch(words)
    if match is None:
        return None
    hour, minute, second = int(match[1]), int(match[2]), int(match[3] or 0)
    if match[4]:
        hour = hour % 12 + 12 * (match[4].lower() == "pm")
    return time(hour, minute, second) if hour < 24 and minute < 60 and second < 60 else None


def _day(words: str, order: str) -> date | None:
    if match := _PARTS.fullmatch(words):
        first, _, second, third = match.groups()
        if len(first) == 4:
            return _date(first, second, third) if len(third) < 4 else None
        if order == "ymd" or len(third) == 1:
            return None  # 6.4.1 is a version or section number
        return _date(third, first, second) if order == "mdy" else _date(third, second, first)
    match = _NAMED.fullmatch(words)
    if match is None or bool(match["d1"]) == bool(match["d2"]):
        return None
    month_name = match["month"].lower()
    month = next((number for number, name in enumerate(_MONTHS, 1) if name.startswith(month_name)), None)
    return _date(match["year"], str(month), match["d1"] or match["d2"]) if month else None


def _date(year: str, month: str, day: str) -> date | None:
    number = int(year)
    if len(year) <= 2:
        number += 2000 if number < CENTURY_TURN else 1900
    try:
        return date(number, int(month), int(day))
    except ValueError:
        return None


_LEAST_SHARE = 0.95  # Share of cells a type must fit. Chosen by hand, not fitted.

_LEAST_SHARE_BY_NAME = 0.8  # The same if the header also suggests the type. Chosen by hand, not fitted.

_ZERO_LED = re.compile(r"0\d+")

_COMMA_LAST = re.compile(r",\d+\D*$")

_IDENTIFIER = re.compile(
    r"(?i)(?:^|[\W_])(?:zip(?:[\W_]*code)?|postal|post[\W_]*code|(?:tele|cell)?phone|fax|mobile|ssn|ein|fein|tin|iban|account"
    r"|routing)(?:$|[\W_])"
)

_AMOUNT_OF = re.compile(
    r"(?i)(?:^|[\W_])(?:balance|amount|amt|cost|costs|fee|fees|allowance|stipend|reimbursement|deduction)(?:$|[\W_])"
)
"""Headers of amounts, even with an identifier word beside: an account balance, a phone allowance."""

_MONEY = re.compile(
    r"(?i)(?:^|[\W_])(?:pay|salary|wages?|amount|amt|cost|price|compensation|bonus|premium|total|balance|gross|net|budget"
    r"|earnings|revenue|fee|fees|deduction|tax|taxes)(?:$|[\W_])"
)

_COUNTED = re.compile(r"(?i)(?:^|[\W_])(?:hours?|hrs|days?|weeks?|months?|percent|pct|count|units|fte)(?:$|[\W_])")
"""Headers of counts, not money: a balance of hours."""

_DATED = re.compile(
    r"(?i)(?:^|[\W_])(?:date|dt|day|dob|hired|birth|start|end|effective|expir\w*|since|until)(?:$|[\W_])"
)

_FLAG = re.compile(r"(?i)^(?:is|has|can|was)[\W_]|(?:^|[\W_])(?:flag|yn|active|enabled|eligible|exempt)\W*$")

_PERSONAL_HEADERS = (
    (
        "a name",
        re.compile(
            r"(?i)(?:^|[\W_])(?:(?:first|last|middle|given|family|full|maiden|employee|person)[\W_]*name|surname)"
        ),
    ),
    (
        "an identity number",
        re.compile(r"(?i)(?:^|[\W_])(?:ssn|social[\W_]*security|sin|nino|passport|tax[\W_]*id|national[\W_]*id)"),
    ),
    ("a date of birth", re.compile(r"(?i)(?:^|[\W_])(?:dob|birth\w*|date[\W_]*of[\W_]*birth|age)(?:$|[\W_])")),
    ("contact data", re.compile(r"(?i)(?:^|[\W_])(?:e-?mail|phone|mobile|street|address)(?:$|[\W_])")),
    ("a bank account", re.compile(r"(?i)(?:^|[\W_])(?:iban|account|routing)(?:$|[\W_])")),
    (
        "a protected trait",
        re.compile(
            r"(?i)(?:^|[\W_])(?:gender|sex|race|ethnic\w*|religion|disab\w*|marital|veteran|nationality)(?:$|[\W_])"
        ),
    ),
)

_PERSONAL_VALUES = (
    ("contact data", re.compile(r"[^@\s]+@[^@\s]+\.\w+")),
    ("an identity number", re.compile(r"\d{3}-\d{2}-\d{4}")),
)


@dataclass(frozen=True, slots=True)
class ColumnReading:
    """How a column is read. read: cell → PostgreSQL input, or None if it does not fit the type. note: for the user, or
    "". Empty cells, and words for "no value" in typed columns, become NULL before `read` is called."""

    type: ColumnType
    read: Reader
    note: str = ""
    decimal_commas: bool = False

    @property
    def expected(self) -> str:
        """The type name for messages about rejected cells."""
        words = {
            "integer": "a whole number",
            "money": "an amount",
            "boolean": "yes or no",
            "timestamp": "a date and time",
        }
        return words.get(self.type.value, f"a {self.type.value}")

    def empty(self, cell: str) -> bool:
        """Whether a cell has no value."""
        return not cell if self.type is ColumnType.TEXT else cell.lower() in EMPTY_WORDS


_TEXT = ColumnReading(ColumnType.TEXT, lambda cell: cell)


def reading_of(header: str, counts: Counter[str]) -> ColumnReading:
    """The narrowest type that fits nearly all filled cells; else text. counts: every distinct cell, stripped.

    >>> reading_of("hired", Counter(["2/20/2025", "12/31/2024"])).type, reading_of("code", Counter(["007", "12"])).type
    (<ColumnType.DATE: 'date'>, <ColumnType.TEXT: 'text'>)
    """
    filled = Counter({cell: times for cell, times in counts.items() if cell.lower() not in EMPTY_WORDS})
    words = _spaced(header)
    if not filled or (_IDENTIFIER.search(words) and not _AMOUNT_OF.search(words)):
        return _TEXT
    return _boolean(filled) or _numeric(words, filled) or _dated(words, filled) or _TEXT


def _spaced(header: str) -> str:
    """
    >>> _spaced("ZipCode"), _spaced("EmployeeSSN")
    ('Zip_Code', 'Employee_SSN')
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", header)


def _share(filled: Counter[str], read: Reader, least: float = _LEAST_SHARE) -> float:
    """The share of cells that fit; 0 as soon as it must be below `least`."""
    total, missed = filled.total(), 0
    most_missed = (1 - least) * total + 1e-6
    for cell, times in filled.items():
        if read(cell) is None and (missed := missed + times) > most_missed:
            return 0.0
    return (total - missed) / total


def _boolean(filled: Counter[str]) -> ColumnReading | None:
    if _share(filled, as_boolean, 1) < 1:
        return None
    distinct = {cell.lower() for cell in filled}
    # A column of F alone, or of F and N, is more likely a gender than "false".
    mixed = ("t" not in distinct and "f" in distinct) or bool(
        distinct & {"t", "f"} and distinct & {"y", "n", "yes", "no"}
    )
    return None if mixed or distinct == {"t"} else ColumnReading(ColumnType.BOOLEAN, as_boolean)


def _numeric(header: str, filled: Counter[str]) -> ColumnReading | None:
    if any(_ZERO_LED.fullmatch(cell) for cell in filled):
        return None  # a code: its leading zeros matter
    if _FLAG.search(header) and set(filled) <= {"0", "1"}:
        return ColumnReading(ColumnType.BOOLEAN, {"1": "true", "0": "false"}.get, "1 read as yes, 0 as no")
    integer_share, plain = _share(filled, as_integer), _share(filled, as_number)
    comma = _share(filled, _comma_number) if any(_COMMA_LAST.search(cell) for cell in filled) else 0.0
    if max(plain, comma) < _LEAST_SHARE:
        return None
    currencies = currencies_in(filled)
    if len(currencies) > 1:
        return replace(_TEXT, note=f"read as text: amounts in {listed(sorted(currencies))} cannot be added up")
    if integer_share == plain >= comma and not currencies:
        return ColumnReading(ColumnType.INTEGER, as_integer)
    named = _MONEY.search(header) and not _COUNTED.search(header)
    kind = ColumnType.MONEY if currencies or named else ColumnType.NUMBER
    if comma > plain:
        return ColumnReading(kind, _comma_number, "commas read as decimal points", decimal_commas=True)
    return ColumnReading(kind, as_number, _percent_note(filled))


def _percent_note(filled: Counter[str]) -> str:
    signed = sum(cell.endswith("%") for cell in filled)
    some = "" if signed == len(filled) else " (not all cells have one)"
    return f"percent signs left out{some}" if signed else ""


def _comma_number(cell: str) -> str | None:
    return as_number(cell, comma=True)


def _dated(header: str, filled: Counter[str]) -> ColumnReading | None:
    """Dates, with a time if any cell has one. If day and month are ambiguous, takes the order that fits most cells,
    month first if both fit all; the note says so."""
    least = _LEAST_SHARE_BY_NAME if _DATED.search(header) else _LEAST_SHARE
    shares: dict[str, float] = {}
    for date_order in DATE_ORDERS:
        shares[date_order] = _share(filled, date_reader(date_order, timed=True), least)
        if shares["ymd"] == 1:
            break
    order = max(shares, key=lambda each: shares[each])
    if shares[order] < least:
        return None
    tied = [other for other, share in shares.items() if share == shares[order] and other != "ymd"]
    note = {"mdy": "month read before day", "dmy": "day read before month"}.get(order, "")
    note += " (either way would fit)" if note and len(tied) > 1 else ""
    if any(has_short_year(cell) for cell in filled):
        note += f"{'; ' if note else ''}years of two digits read as 1969 to 2068"
    timed = any(date_reader(order)(cell) is None and date_reader(order, timed=True)(cell) for cell in filled)
    kind = ColumnType.TIMESTAMP if timed else ColumnType.DATE
    return ColumnReading(kind, date_reader(order, timed=timed), note)


def personal_data(header: str, counts: Counter[str]) -> str:
    """The kind of personal data in a column ("a name", "contact data"), or "".

    >>> personal_data("first_name", Counter()), personal_data("note", Counter(["ann@firm.com"]))
    ('a name', 'contact data')
    """
    spaced = _spaced(header)
    for words, pattern in _PERSONAL_HEADERS:
        if pattern.search(spaced):
            return words
    filled = [cell for cell in counts if cell][:500]
    for words, pattern in _PERSONAL_VALUES:
        if filled and sum(pattern.fullmatch(cell) is not None for cell in filled) > len(filled) / 2:
            return words
    return ""
