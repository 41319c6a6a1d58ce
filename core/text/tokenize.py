"""Tokenization and stemming: one definition of a word and of its stem for the whole product (behaviour.md §2).

A stem depends on the word's script, not on the language of the text, so that questions and passages agree.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from unicodedata import category

import Stemmer

__all__ = [
    "MARKS",
    "STOP_WORDS",
    "WITHOUT_SPACES",
    "bare_words",
    "index_stems",
    "keywords",
    "phrase_pattern",
    "stem",
    "word_spans",
    "words",
]

MARKS = "".join(chr(code) for code in range(0x10000) if category(chr(code)).startswith("M"))
"""Vowel signs and accents of their own, in the middle of Hindi or Thai words: no letters to regular expressions."""
LETTERS = re.compile(rf"[^\W\d_]+(?:[{MARKS}]+[^\W\d_]*)*")
"""A run of letters, without digits."""
WITHOUT_SPACES = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
"""Letters of Thai, Lao, Burmese, Khmer, Chinese, Japanese and Korean, where spaces do not end every word."""
_PART = rf"[^\W_]+(?:[{MARKS}]+[^\W_]*)*"
_BARE = re.compile(_PART)
_WORD = re.compile(rf"{_PART}(?:[-'’.&]{_PART})*[+#]*")
_SCRIPTS = re.compile(
    "(?P<russian>[\u0400-\u052f])|(?P<arabic>[\u0620-\u06ff])|(?P<greek>[\u0370-\u03ff\u1f00-\u1fff])"
    "|(?P<hindi>[\u0900-\u097f])|(?P<armenian>[\u0530-\u058f])|(?P<tamil>[\u0b80-\u0bff])"
)
"""Snowball's stemmer of the script of a word's first letter; English where there is none."""
# Where a compound word is split: W|2, node|js, store|Empty|Results, HTTP|Server, d'|Andorra – but not PDFs or we'll.
_SEAM = re.compile(
    r"[-.&]|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})|(?:(?<=\b\w)|(?<=\b\w\w))['’](?=[^\W\d_]{3})"
)
STOP_WORDS = frozenset(
    "a about above after again all also am an and any are as at be because been before being below between both"
    " but by can cannot could did do does doing down during each few for from further had has have having he her"
    " here hers him his how i if in into is it its itself just may me might more most must my no nor not of off on"
    " once only or other our out over own same shall she should so some such than that the their them then there"
    " these they this those through to too under until up upon us vs versus very was we were what when where which"
    " while who whom why will with would you your".split()
)


@lru_cache(maxsize=16)
def _stemmer(language: str) -> "Stemmer.Stemmer":
    return Stemmer.Stemmer(language)


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """The stem of one lower-case word, by the rules of the language that most often uses its script.

    >>> stem("taxes") == stem("tax"), stem("renewal") == stem("new")
    (True, False)
    >>> stem("договоры") == stem("договора"), stem("συμβάσεις") == stem("σύμβαση")
    (True, True)
    """
    script = None if word.isascii() else _SCRIPTS.match(word)
    return str(_stemmer(script.lastgroup if script and script.lastgroup else "english").stemWord(word))


def words(text: str) -> list[str]:
    """Lower-case words in order; W-2, 401k, C# and U.S.C stay whole.

    >>> words("What's C#, a W-2 or 401k?")
    ["what's", 'c#', 'a', 'w-2', 'or', '401k']
    >>> words("员工年假 2024年")
    ['员工', '工年', '年假', '2024', '年']
    """
    if not text.isascii() and WITHOUT_SPACES.search(text):
        return [word for _, _, word in word_spans(text)]
    lower = text.lower()
    if len(lower) == len(text) and "Σ" not in text:
        return _WORD.findall(lower)
    # A letter becomes two, or its small form depends on the end of its word.
    return [match.group().lower() for match in _WORD.finditer(text)]


def word_spans(text: str) -> list[tuple[int, int, str]]:
    """The words of `words(text)` with their positions: start, end, lower-case word.

    Where spaces do not end words, every two neighbouring letters count as one: these words overlap.

    >>> word_spans("Form W-2"), word_spans("年假表")
    ([(0, 4, 'form'), (5, 8, 'w-2')], [(0, 2, '年假'), (1, 3, '假表')])
    """
    return [span for match in _WORD.finditer(text) for span in _spans_in(match.group(), match.start())]


def _spans_in(word: str, at: int) -> Iterator[tuple[int, int, str]]:
    """The word at this position; its pairs of letters where spaces do not end words, and what stands before, between
    and behind them."""
    last = 0
    for run in () if word.isascii() else WITHOUT_SPACES.finditer(word):
        yield from _rest(word, last, run.start(), at)
        for start in range(run.start(), max(run.end() - 1, run.start() + 1)):
            end = min(start + 2, run.end())
            yield at + start, at + end, word[start:end]
        last = run.end()
    yield from _rest(word, last, len(word), at)


def _rest(word: str, start: int, end: int, at: int) -> Iterator[tuple[int, int, str]]:
    """Part of a word without the punctuation at its ends, if letters or digits are left."""
    part = word[start:end]
    if start == 0 and end == len(word):
        yield at, at + end, part.lower()
    elif (bare := _WORD.search(part)) is not None:
        yield at + start + bare.start(), at + start + bare.end(), bare.group().lower()


def bare_words(text: str) -> list[str]:
    """Lower-case words in order, compounds in all their parts.

    >>> bare_words("The W-2's"), bare_words("年假表 वेतन")
    (['the', 'w', '2', 's'], ['年假', '假表', 'वेतन'])
    """
    return [word for match in _BARE.finditer(text) for _, _, word in _spans_in(match.group(), 0)]


def index_stems(text: str) -> list[str]:
    """Index terms of keyword search: the stems of all words except stop words, and of the parts of compound words.

    Both the whole word and its parts are indexed, so that "empty results" matches storeEmptyResults, and "year end"
    year-end. Parts of one character are left out. Pass the text in its original case: capitals mark compound parts.

    >>> index_stems("The year-end storeEmptyResults of the W-2")
    ['year-end', 'year', 'end', 'storeemptyresult', 'store', 'empti', 'result', 'w-2']
    >>> index_stems("d'Andorra, qu’elles, we'll, the employee's")
    ["d'andorra", 'andorra', "qu'ell", 'qu', 'ell', "we'll", 'employe']
    >>> index_stems("劳动合同 2024年 W-2表格")
    ['劳动', '动合', '合同', '2024', '年', 'w-2', '表格']
    """
    return [found for match in _WORD.finditer(text) for found in _stems_in(match.group())]


def _stems_in(word: str) -> tuple[str, ...]:
    if word.isascii() or not WITHOUT_SPACES.search(word):
        return _stems_with_parts(word)
    return tuple(each for start, end, _ in _spans_in(word, 0) for each in _stems_with_parts(word[start:end]))


@lru_cache(maxsize=16_384)
def _stems_with_parts(word: str) -> tuple[str, ...]:
    lowered = word.lower().replace("’", "'")
    parts = [part.lower() for part in _SEAM.split(word) if len(part) > 1 and len(part) < len(word)]
    return tuple(stem(part) for part in (lowered, *parts) if part not in STOP_WORDS)


def keywords(text: str) -> tuple[str, ...]:
    """Query terms: lower case, without stop words or repeats, in order; short terms (hr, ai, c#) are included.

    >>> keywords("How does Raft consensus work?"), keywords("C# vs Go"), keywords("the and of")
    (('raft', 'consensus', 'work'), ('c#', 'go'), ())
    """
    return tuple(dict.fromkeys(word for word in words(text) if word not in STOP_WORDS))


@lru_cache(maxsize=64)
def phrase_pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    """One case-insensitive pattern that matches any of the phrases on word boundaries ('_' counts as a boundary).

    >>> bool(phrase_pattern(("irs",)).search("first_draft.pdf")), bool(phrase_pattern(("irs",)).search("IRS_Pub.pdf"))
    (False, True)
    """
    body = "|".join(re.escape(p).replace(r"\ ", r"[\s_-]+") for p in sorted(phrases, key=len, reverse=True))
    return re.compile(rf"(?<![^\W_])(?:{body})(?![^\W_])", re.IGNORECASE)
