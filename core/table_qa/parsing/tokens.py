"""Tokenises a question about tables: words, numbers, dates, quoted text and operators, each with its position."""

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from core.knowledge.question_lexicon import asking
from core.search.query.asked_dates import AskedDates, dates_in_question, without_other_numbers
from core.text.tokenize import STOP_WORDS, stem

__all__ = [
    "DateSpan",
    "Operator",
    "Token",
    "date_spans",
    "header_unit",
    "header_words",
    "operators",
    "plain_header",
    "plain_words",
    "tokenize_question",
    "value_words",
]

_TOKEN = re.compile(
    r"(?P<quoted>\"[^\"]+\"|“[^”]+”|(?<!\w)'[^']{2,}'(?!\w))"
    r"|(?P<season>\b\d{4}/\d{2}\b(?!/))"
    r"|(?P<number>[$€£]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:\s?(?:k|m|million|thousand)\b)?)(?![\w-])"
    r"|(?P<word>[^\W_]+(?:'[^\W\d_]+)?|[<>]=?|=|%)",
    re.IGNORECASE,
)
_SCALES = {"k": 1_000, "thousand": 1_000, "m": 1_000_000, "million": 1_000_000}
_NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
        " seventeen eighteen nineteen twenty".split()
    )
}
_WORD_BREAK = re.compile(
    r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})|[\W_]+|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])"
)
_PART = re.compile(r"\b\d{4}/\d{2}\b(?!/)|[^\W_]+")
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4}
_SUFFIX = re.compile(r"^([a-z]{3,})(num|name|code|date|amt|pct|qty)$")
_WHOLE_WORDS = frozenset("candidate update mandate validate consolidate surname nickname username filename".split())
_QUARTER = re.compile(
    r"(?i)\b(?:in |during |for |of )?(?:the )?"
    r"(?:q(?P<digit>[1-4])|(?P<word>first|second|third|fourth|last) (?P<what>quarter|half))"
    r"(?: of| in)?,? (?P<year>(?:19|20)\d\d)\b"
)
_MONTHS = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?"
)
_HALF_DATE = re.compile(
    rf"(?i)\b(?P<first>(?:{_MONTHS})\.? \d{{1,2}})(?:st|nd|rd|th)? (?P<to>to|and|through|until|till|-|–) "
    rf"(?P<last>(?:(?:{_MONTHS})\.? )?\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>(?:19|20)\d\d)\b"
)
_DAY_FIRST = re.compile(
    rf"(?i)\b(?:from|between) (?P<one>\d{{1,2}})(?:st|nd|rd|th)? (?P<first>{_MONTHS})(?: (?P<begun>(?:19|20)\d\d))?"
    rf" (?:to|and|until|till) (?P<two>\d{{1,2}})(?:st|nd|rd|th)? (?P<last>{_MONTHS}) (?P<year>(?:19|20)\d\d)\b"
)
_BARE_MONTH = re.compile(rf"(?i)\b(?:{_MONTHS})\.? (?:19|20)\d\d\b")


@dataclass(frozen=True, slots=True)
class Token:
    """One word of a question. word: lower case; start, end: character offsets; number: its value as digits, or "";
    quoted: it was in quotation marks, and `word` is the whole quotation. capitals: it was written in capitals (IT, OR).
    """

    word: str
    stem: str
    start: int
    end: int
    number: str = ""
    quoted: bool = False
    capitals: bool = False

    @property
    def stop_word(self) -> bool:
        """Whether it is a word like "of" or "it", and not written in capitals or quotation marks."""
        return self.word in STOP_WORDS and not self.quoted and not self.capitals


@dataclass(frozen=True, slots=True)
class Operator:
    """Tokens [first, last) are a phrase of an operator in core/knowledge/question_lexicon.toml."""

    name: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class DateSpan:
    """Tokens [first, last) name a period."""

    dates: AskedDates
    first: int
    last: int


def tokenize_question(question: str) -> tuple[Token, ...]:
    """The tokens of a question in order. Hyphens and underscores separate words; "$50k" is 50000.

    >>> [token.word for token in tokenize_question("non-exempt staff, $50k and 'REG 1'")]
    ['non', 'exempt', 'staff', '$50k', 'and', 'reg 1']
    """
    result = []
    for match in _TOKEN.finditer(question.replace("’", "'")):
        text = match.group()
        if match["quoted"]:
            word = text[1:-1].strip().lower()
            result.append(Token(word, word, match.start(), match.end(), quoted=True))
        elif match["number"]:
            result.append(Token(text.lower(), text.lower(), match.start(), match.end(), _digits(text)))
        else:
            word = re.sub(r"'s?$", "", text.lower()) if "n't" not in text.lower() else text.lower()
            word = asking().respelled.get(word, word)
            number = str(_NUMBER_WORDS[word]) if word in _NUMBER_WORDS else ""
            capitals = len(text) > 1 and text.isupper() and not question.isupper()
            result.append(Token(word, stem(word), match.start(), match.end(), number, capitals=capitals))
    return tuple(result)


def _digits(text: str) -> str:
    plain = text.lower().lstrip("$€£").replace(",", "").replace(" ", "")
    for word, times in _SCALES.items():
        if plain.endswith(word) and plain.removesuffix(word)[-1:].isdigit():
            value = float(plain.removesuffix(word)) * times
            return str(int(value)) if value.is_integer() else str(value)
    return plain


def operators(tokens: Sequence[Token]) -> list[Operator]:
    """Every operator phrase among the tokens; the longest first where several begin at one token."""
    table = asking().operators
    longest = max(len(phrase) for phrase in table)
    words = [token.word for token in tokens]
    result = []
    for first in range(len(words)):
        for length in range(min(longest, len(words) - first), 0, -1):
            name = table.get(tuple(words[first : first + length]))
            if name in ("or_more", "or_less") and words[first + length : first + length + 1] == ["than"]:
                continue  # "and more than 4"
            if name is not None and not any(token.quoted for token in tokens[first : first + length]):
                result.append(Operator(name, first, first + length))
    return result


def date_spans(question: str, tokens: Sequence[Token], today: date) -> list[DateSpan]:
    """Every period a question names, and bare years."""
    spans: list[DateSpan] = []
    rest = question = without_other_numbers(question)
    for period, at, end in _date_ranges(question, today):
        inside = [index for index, token in enumerate(tokens) if at <= token.start < end]
        if inside and rest[at:end] == question[at:end] and not re.match(r"/\d", question[end:]):
            rest = rest[:at] + "\0" * (end - at) + rest[end:]
            spans.append(DateSpan(period, inside[0], inside[-1] + 1))
    taken = {index for span in spans for index in range(span.first, span.last)}
    for index, token in enumerate(tokens):
        if index not in taken and re.fullmatch(r"(?:19|20)\d\d", written := question[token.start : token.end]):
            year = int(written)
            dates = AskedDates(date(year, 1, 1), date(year, 12, 31), token.word)
            spans.append(DateSpan(dates, index, index + 1))
    return sorted(spans, key=lambda span: span.first)


def _date_ranges(question: str, today: date) -> Iterator[tuple[AskedDates, int, int]]:
    """Stretches of time with their characters: quarters, days that share a year, what every search reads, months."""
    rest = question
    for match in _QUARTER.finditer(question):
        months = 6 if (match["what"] or "").lower() == "half" else 3
        number = int(match["digit"]) if match["digit"] else _ORDINALS.get(match["word"].lower(), 12 // months)
        final, year = number * months, int(match["year"])
        if final <= 12:
            first_day, last_day = date(year, final - months + 1, 1), date(year, final, monthrange(year, final)[1])
            yield AskedDates(first_day, last_day, match.group()), match.start(), match.end()
            rest = rest[: match.start()] + "\0" * len(match.group()) + rest[match.end() :]
    for match in _HALF_DATE.finditer(rest):
        month = match["first"].split()[0]
        last = match["last"] if " " in match["last"] else f"{month} {match['last']}"
        period = dates_in_question(f"between {match['first']}, {match['year']} and {last}, {match['year']}", today)
        if period is not None:
            before = re.search(r"(?i)\b(?:from|between) $", rest[: match.start()])
            start = before.start() if before else match.start()
            yield AskedDates(period.start, period.end, rest[start : match.end()]), start, match.end()
            rest = rest[:start] + "\0" * (match.end() - start) + rest[match.end() :]
    for match in _DAY_FIRST.finditer(rest):
        begun = match["begun"] or match["year"]
        first, last = f"{match['first']} {match['one']}, {begun}", f"{match['last']} {match['two']}, {match['year']}"
        period = dates_in_question(f"between {first} and {last}", today)
        if period is not None:
            yield AskedDates(period.start, period.end, match.group()), match.start(), match.end()
            rest = rest[: match.start()] + "\0" * len(match.group()) + rest[match.end() :]
    while dates := dates_in_question(rest, today):
        at = rest.find(dates.words)
        yield dates, at, at + len(dates.words)
        rest = rest[:at] + "\0" * len(dates.words) + rest[at + len(dates.words) :]
    for match in _BARE_MONTH.finditer(rest):
        month = dates_in_question(f"in {match.group()}", today)
        if month is not None:
            yield AskedDates(month.start, month.end, match.group()), match.start(), match.end()


@lru_cache(maxsize=4096)
def header_words(header: str) -> tuple[str, ...]:
    """The stems of a header's or table's words.

    >>> header_words("2020 OvertimePay"), header_words("hire_date")
    (('2020', 'overtim', 'pay'), ('hire', 'date'))
    """
    parts = [part.lower() for part in _WORD_BREAK.split(_spelled_out(header)) if part]
    words: list[str] = []
    for part in parts:
        suffix = _SUFFIX.match(part) if part not in _WHOLE_WORDS else None
        words += list(suffix.groups()) if suffix else [part]
    short = asking().abbreviations
    if len(words) > 1 and words[-1] == "min":
        words[-1] = "minutes"  # "Delay (min)", but "Min. salary"
    return tuple(stem(word) for part in words for word in short.get(part, part).split())


@lru_cache(maxsize=4096)
def plain_header(header: str) -> tuple[str, ...]:
    """The words of a header, unstemmed, in lower case.

    >>> plain_header("HourlyRate")
    ('hourly', 'rate')
    """
    return tuple(part.lower() for part in _WORD_BREAK.split(_spelled_out(header)) if part)


def _spelled_out(header: str) -> str:
    """
    >>> _spelled_out("On-time %"), _spelled_out("Permit #")
    ('On-time  percent ', 'Permit  number ')
    """
    return header.replace("%", " percent ").replace("#", " number ") if len(header) > 1 else header


@lru_cache(maxsize=16_384)
def value_words(value: str) -> tuple[str, ...]:
    """The stems of a cell's words, split as in questions.

    >>> value_words("401(k) deferral"), value_words("MED-A")
    (('401', 'k', 'deferr'), ('med', 'a'))
    """
    return tuple(stem(part.lower()) for part in _PART.findall(value))


@lru_cache(maxsize=16_384)
def plain_words(value: str) -> tuple[str, ...]:
    """A cell's words without a plural s: closer to the text than stems, for partial names.

    >>> plain_words("Sales Taxes"), plain_words("Flying Policies")
    (('sale', 'tax'), ('flying', 'policy'))
    """
    return tuple(_singular(part.lower()) for part in _PART.findall(value))


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 4 and word.endswith(("xes", "ches", "shes", "sses", "zes")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


_SPANS = frozenset(("minut", "hour", "day", "week", "month", "year"))
"""Units that a header means only in the plural: "year of study" is no length of time."""


@lru_cache(maxsize=4096)
def header_unit(header: str) -> str:
    """The unit a header names, "" for none.

    >>> header_unit("Wait (min)"), header_unit("Area m2"), header_unit("Year of study")
    ('min', 'm2', '')
    """
    if re.search(r"\w ?/ ?\w", header):
        return ""  # "t/ha" is a ratio
    words = re.findall(r"[a-z]+2?", header.lower())
    known = asking().measures
    units = [word for word in words if word in known and (word.endswith("s") or stem(word) not in _SPANS)]
    return units[-1] if units else ""
