"""Text for pages: document text escaped for markdown, query words marked; dates, sizes and counts in words."""

import re
import unicodedata
from collections.abc import Collection, Sequence
from datetime import datetime
from html import escape

from core.domain.documents import Span
from core.text.tokenize import stem, word_spans, words

__all__ = [
    "ago",
    "around",
    "bytes_in_words",
    "certainty_words",
    "chart_text",
    "count",
    "day",
    "from_words_asked_for",
    "highlight",
    "highlight_part",
    "highlight_spans",
    "parts_asked_for",
    "plain",
    "plain_with_edges",
    "shorten",
    "shorten_middle",
    "shorten_start",
    "two_lines",
]

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_SPACE = re.compile(r"\s+")
# Streamlit turns these into icons, emoji, arrows and links even when escaped; an invisible joiner keeps them letters.
_SHORTCODE = re.compile(
    r":(?=[\w+/-]+:)|(?<=[-<])(?=[->])|(?<=-)(?=-)|(?<=[<>])(?==)|(?<==)(?=>)"
    r"|(?<=http:)(?=//)|(?<=https:)(?=//)|(?<=www)(?=\.)",
    re.IGNORECASE,
)
_JOINER = "\u2060"


def plain(text: str) -> str:
    """Any text as markdown that shows exactly its characters (runs of space as one).

    >>> plain("a *b* [c](d) $5 :red[x]")
    'a \\\\*b\\\\* \\\\[c\\\\]\\\\(d\\\\) \\\\$5 \\\\:red\\\\[x\\\\]'
    """
    one_line = _SPACE.sub(" ", text).strip()
    joined = _SHORTCODE.sub(lambda match: match.group() + _JOINER, one_line)
    return _PUNCTUATION.sub(r"\\\1", joined)


def chart_text(text: str) -> str:
    """Any text as plotly shows it: it reads markup, but not the entities of quotation marks.

    >>> chart_text('"<b>" & co')
    '"&lt;b&gt;" &amp; co'
    """
    return escape(text, quote=False)


def highlight(text: str, stems: Collection[str], phrases: Sequence[str] = ()) -> str:
    """Safe markdown of a text in which every word whose stem was asked for stands out, and every phrase as a whole:
    its words in a row, whatever the capitals and whatever blanks and punctuation stand between them.

    >>> highlight("Taxes are due.", {stem("tax")})
    ':primary-background[**Taxes**] are due\\\\.'
    >>> highlight("Wage, and tax statement", (), ["wage and tax"])
    ':primary-background[**Wage\\\\, and tax**] statement'
    """
    return "".join(
        f":primary-background[**{plain(part)}**]" if is_match else plain_with_edges(part)
        for part, is_match in parts_asked_for(text, stems, phrases)
    ).strip()


def parts_asked_for(text: str, stems: Collection[str], phrases: Sequence[str] = ()) -> list[tuple[str, bool]]:
    """A text cut into parts, each with whether it is a word or phrase that was asked for; joined, they are the text.

    >>> parts_asked_for("Taxes are due.", {stem("tax")})
    [('Taxes', True), (' are due.', False)]
    """
    found = word_spans(text)
    alone = [(start, end) for start, end, word in found if stem(word) in stems]
    parts, last = [], 0
    for start, end in sorted([*_phrase_spans(found, phrases), *alone], key=lambda span: (span[0], -span[1])):
        if start >= last:
            parts += [(text[last:start], False), (text[start:end], True)]
            last = end
    return [(part, is_match) for part, is_match in [*parts, (text[last:], False)] if part]


def _phrase_spans(found: Sequence[tuple[int, int, str]], phrases: Sequence[str]) -> list[tuple[int, int]]:
    """The spans where the words of a phrase follow each other."""
    text_words = [word for _, _, word in found]
    return [
        (found[start][0], found[start + len(phrase_words) - 1][1])
        for phrase_words in filter(None, map(words, phrases))
        for start in range(len(text_words) - len(phrase_words) + 1)
        if text_words[start : start + len(phrase_words)] == phrase_words
    ]


_LEAD = 24  # characters kept before the first word asked for, so that it is read in its context. Chosen by hand.


def from_words_asked_for(text: str, stems: Collection[str], in_sight: int) -> str:
    """A text from where its next `in_sight` characters hold the most different words asked for; its whole text where
    its beginning holds as many.

    >>> from_words_asked_for("Any such employee who has accrued 240 hours shall be paid overtime.", {"overtim"}, 40)
    '… 240 hours shall be paid overtime.'
    """
    starts = [(start, end, stem(word)) for start, end, word in word_spans(text)]
    matches = [each for each in starts if each[2] in stems]

    def matched(begin: int) -> int:
        return len({root for start, end, root in matches if begin <= start and end <= begin + in_sight})

    begins = [0, *(min(start for start, _, _ in starts if start >= first - _LEAD) for first, _, _ in matches)]
    best = max(begins, key=matched)  # the first of several
    return text if best == 0 else f"… {text[best:]}"


def plain_with_edges(text: str) -> str:
    """`plain`, with the spaces at its ends that separate it from a marked word."""
    inner = plain(text)
    lead = " " if text[:1].isspace() else ""
    return lead + inner + (" " if inner and text[-1:].isspace() else "") if inner else lead


def highlight_part(text: str, part: str) -> str:
    """Safe markdown of a text in which the first occurrence of a part stands out; "" stands out nowhere.

    >>> highlight_part("Due in May.", "May")
    'Due in :primary-background[**May**]\\\\.'
    """
    before, found, after = text.partition(part) if part else (text, "", "")
    mark = f":primary-background[**{plain(found)}**]" if found else ""
    return f"{plain_with_edges(before)}{mark}{plain_with_edges(after)}"


def highlight_spans(text: str, spans: Sequence[Span], colour: str) -> str:
    """Safe markdown of a page's text, paragraph by paragraph, with these spans of it marked in a colour."""
    pieces, last = [], 0
    for span in sorted(spans, key=lambda s: s.start):
        if span.start < last:
            continue
        pieces += [_paragraphs(text[last : span.start]), f":{colour}-background[{plain(span.of(text))}]"]
        last = span.end
    return "".join([*pieces, _paragraphs(text[last:])])


def _paragraphs(text: str) -> str:
    return "\n\n".join(plain_with_edges(part) for part in re.split(r"\n\s*\n", text))


def shorten(text: str, length: int) -> str:
    """At most `length` characters, cut between words; a character of double width counts as two.

    >>> shorten("one two three", 9), shorten("残業手当の規程", 8)
    ('one two …', '残業手 …')
    """
    if _prefix(text, length) == text:
        return text
    cut = _prefix(text, length - 1)
    return f"{cut.rsplit(' ', 1)[0] if ' ' in cut else cut} …"


def around(text: str, part: str, length: int) -> str:
    """At most some `length` characters of a text, cut between words around a part of it.

    >>> around("Whoever works beyond 40 hours in a week is paid for it.", "40 hours", 26)
    '… beyond 40 hours in a …'
    >>> around("Due in May.", "May", 26)
    'Due in May.'
    """
    if len(text) <= length:
        return text
    begin = max(0, text.find(part) - (length - len(part)) // 2)
    begin = text.find(" ", begin, text.find(part)) + 1 if begin else 0
    return f"… {shorten(text[begin:], length)}" if begin else shorten(text, length)


def shorten_start(path: str, length: int) -> str:
    """The end of a path of headings, as much of it as fits into `length` characters: there the places of one document
    differ.

    >>> shorten_start("Title 29 › Chapter 8 › § 207 › (e) Regular rate", 32)
    '… › § 207 › (e) Regular rate'
    >>> shorten_start("Maximum hours of work in a week", 20), shorten_start("Pay › Leave", 20)
    ('Maximum hours of …', 'Pay › Leave')
    """
    if len(path) <= length:
        return path
    *above, end = path.split(" › ")
    while above and len(f"… › {above[-1]} › {end}") <= length:
        end = f"{above.pop()} › {end}"
    return shorten(f"… › {end}" if above else end, length)


def shorten_middle(name: str, length: int) -> str:
    """At most `length` characters, cut in the middle: names of documents differ at their ends. A character of double
    width counts as two.

    >>> shorten_middle("Payroll_Configuration_Guide_v1.pdf, page 2", 24), shorten_middle("残業手当の規程.pdf", 11)
    ('Payroll_Con…pdf, page 2', '残業….pdf')
    """
    if _prefix(name, length) == name:
        return name
    half = (length - 1) // 2
    return f"{_prefix(name, half)}…{_prefix(name[::-1], half)[::-1]}"


def two_lines(text: str, length: int) -> tuple[str, ...]:
    """A text in one line of at most so many characters, or in two, the second cut where two do not hold it.

    >>> two_lines("overtime pay", 28), two_lines("final paycheck when an employee is dismissed", 28)
    (('overtime pay',), ('final paycheck when an', 'employee is dismissed'))
    """
    first = _prefix(text, length)
    if first == text:
        return (text,)
    if " " in first and text[len(first)] != " ":
        first = first.rsplit(" ", 1)[0]
    return first, shorten(text[len(first) :].strip(), length)


def _prefix(text: str, width: int) -> str:
    """The longest beginning of a text that fits."""
    if text.isascii():
        return text[:width]
    for at, character in enumerate(text):
        width -= 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if width < 0:
            return text[:at]
    return text


def day(moment: datetime | None) -> str:
    """ISO day, or "undated"."""
    return f"{moment:%Y-%m-%d}" if moment is not None else "undated"


def ago(moment: datetime, now: datetime) -> str:
    """How long ago, in the largest fitting unit.

    >>> from datetime import UTC, timedelta
    >>> now = datetime(2024, 3, 1, tzinfo=UTC)
    >>> ago(now - timedelta(minutes=3), now), ago(now - timedelta(days=2), now), ago(now, now)
    ('3 min ago', '2 days ago', 'just now')
    """
    seconds = max(0.0, (now - moment).total_seconds())
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "min")):
        if seconds >= size:
            number = int(seconds // size)
            return f"{number} {unit if unit == 'min' or number == 1 else unit + 's'} ago"
    return "just now"


def count(number: int, noun: str, plural: str = "") -> str:
    """
    >>> count(1, "passage"), count(1200, "passage"), count(2, "query", "queries")
    ('1 passage', '1,200 passages', '2 queries')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def certainty_words(probability: float, *, confirmed: bool = False) -> str:
    """The probability of a label in whole per cent; 99% at most unless a person confirmed it.

    >>> certainty_words(0.123), certainty_words(1.0), certainty_words(1.0, confirmed=True)
    ('12%', '99%', '100%')
    """
    return f"{probability if confirmed else min(probability, 0.99):.0%}"


def bytes_in_words(size: int) -> str:
    """
    >>> bytes_in_words(900), bytes_in_words(1_500_000)
    ('900 B', '1.5 MB')
    """
    amount = float(size)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    raise AssertionError("unreachable")
