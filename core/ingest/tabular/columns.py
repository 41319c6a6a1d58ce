"""What a column of text cells holds: its type, and how its cells are read."""

import re
from collections import Counter
from dataclasses import dataclass

from core.ingest.tabular.cells import (
    DATE_ORDERS,
    EMPTY_WORDS,
    Reader,
    as_boolean,
    as_integer,
    as_number,
    date_reader,
    has_currency,
    has_short_year,
)
from core.tabular import ColumnType

__all__ = ["Reading", "personal_data", "reading_of"]

_LEAST_SHARE = 0.95
_LEAST_SHARE_BY_NAME = 0.8
_ZERO_LED = re.compile(r"0\d+")
_COMMA_LAST = re.compile(r",\d+\D*$")
_IDENTIFIER = re.compile(
    r"(?i)(?:^|[\W_])(?:zip(?:[\W_]*code)?|postal|post[\W_]*code|(?:tele|cell)?phone|fax|mobile|ssn|ein|fein|tin|iban|account"
    r"|routing)(?:$|[\W_])"
)
_AMOUNT_OF = re.compile(
    r"(?i)(?:^|[\W_])(?:balance|amount|amt|cost|costs|fee|fees|allowance|stipend|reimbursement|deduction)(?:$|[\W_])"
)
"""An account balance or a phone allowance is an amount, whatever stands beside it."""
_MONEY = re.compile(
    r"(?i)(?:^|[\W_])(?:pay|salary|wages?|amount|amt|cost|price|compensation|bonus|premium|total|balance|gross|net|budget"
    r"|earnings|revenue|fee|fees|deduction|tax|taxes)(?:$|[\W_])"
)
_COUNTED = re.compile(r"(?i)(?:^|[\W_])(?:hours?|hrs|days?|weeks?|months?|percent|pct|count|units|fte)(?:$|[\W_])")
"""A balance of hours is no money."""
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
class Reading:
    """How a column is read. read: cell → the text PostgreSQL takes, None when the cell means something else. note: for
    the reader, or "". Empty cells, and words for "no value" in typed columns, are NULL before `read` is asked."""

    type: ColumnType
    read: Reader
    note: str = ""

    @property
    def expected(self) -> str:
        """What a rejected cell is not."""
        words = {
            "integer": "a whole number",
            "money": "an amount",
            "boolean": "yes or no",
            "timestamp": "a date and time",
        }
        return words.get(self.type.value, f"a {self.type.value}")

    def empty(self, cell: str) -> bool:
        """Whether a cell says nothing."""
        return not cell if self.type is ColumnType.TEXT else cell.lower() in EMPTY_WORDS


_TEXT = Reading(ColumnType.TEXT, lambda cell: cell)


def reading_of(header: str, counts: Counter[str]) -> Reading:
    """The narrowest type that nearly all filled cells fit; else text. counts: every distinct cell, stripped.

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
    """The share of the cells that fit; 0 as soon as it is certain to be below `least`."""
    total, missed = filled.total(), 0
    most_missed = (1 - least) * total + 1e-6
    for cell, times in filled.items():
        if read(cell) is None and (missed := missed + times) > most_missed:
            return 0.0
    return (total - missed) / total


def _boolean(filled: Counter[str]) -> Reading | None:
    if _share(filled, as_boolean, 1) < 1:
        return None
    said = {cell.lower() for cell in filled}
    # A column of F alone, or of F and N, is more likely a gender than "false".
    mixed = ("t" not in said and "f" in said) or bool(said & {"t", "f"} and said & {"y", "n", "yes", "no"})
    return None if mixed or said == {"t"} else Reading(ColumnType.BOOLEAN, as_boolean)


def _numeric(header: str, filled: Counter[str]) -> Reading | None:
    if any(_ZERO_LED.fullmatch(cell) for cell in filled):
        return None  # a code: its zeros mean something
    if _FLAG.search(header) and set(filled) <= {"0", "1"}:
        return Reading(ColumnType.BOOLEAN, {"1": "true", "0": "false"}.get, "1 read as yes, 0 as no")
    whole, plain = _share(filled, as_integer), _share(filled, as_number)
    comma = _share(filled, _comma_number) if any(_COMMA_LAST.search(cell) for cell in filled) else 0.0
    if max(plain, comma) < _LEAST_SHARE:
        return None
    currency = any(has_currency(cell) for cell in filled)
    if whole == plain >= comma and not currency:
        return Reading(ColumnType.INTEGER, as_integer)
    named = _MONEY.search(header) and not _COUNTED.search(header)
    kind = ColumnType.MONEY if currency or named else ColumnType.NUMBER
    if comma > plain:
        return Reading(kind, _comma_number, "commas read as decimal points")
    return Reading(kind, as_number, _percent_note(filled))


def _percent_note(filled: Counter[str]) -> str:
    signed = sum(cell.endswith("%") for cell in filled)
    some = "" if signed == len(filled) else " (not all cells have one)"
    return f"percent signs left out{some}" if signed else ""


def _comma_number(cell: str) -> str | None:
    return as_number(cell, comma=True)


def _dated(header: str, filled: Counter[str]) -> Reading | None:
    """Dates, with a time of day when any cell has one. Where day and month could be either way, the order that fits
    most cells is taken, month first when both fit all: the note says so."""
    least = _LEAST_SHARE_BY_NAME if _DATED.search(header) else _LEAST_SHARE
    shares: dict[str, float] = {}
    for tried in DATE_ORDERS:
        shares[tried] = _share(filled, date_reader(tried, timed=True), least)
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
    return Reading(kind, date_reader(order, timed=timed), note)


def personal_data(header: str, counts: Counter[str]) -> str:
    """Why a column holds personal data ("a name", "contact data"), or "".

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
