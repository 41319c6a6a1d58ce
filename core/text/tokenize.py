"""Tokenization and stemming: one stemmer and one definition of a word for the whole product (behaviour.md §2)."""

import re
from functools import cache, lru_cache

import Stemmer

__all__ = ["STOP_WORDS", "index_stems", "keywords", "phrase_pattern", "stem", "word_spans", "words"]

_WORD = re.compile(r"[^\W_]+(?:[-'’.&][^\W_]+)*[+#]*", re.UNICODE)
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


@cache
def _stemmer() -> "Stemmer.Stemmer":
    return Stemmer.Stemmer("english")


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """The stem of one lower-case word.

    >>> stem("taxes") == stem("tax"), stem("renewal") == stem("new")
    (True, False)
    """
    return str(_stemmer().stemWord(word))


def words(text: str) -> list[str]:
    """Lower-case words in order; W-2, 401k, C# and U.S.C stay whole.

    >>> words("What's C#, a W-2 or 401k?")
    ["what's", 'c#', 'a', 'w-2', 'or', '401k']
    """
    lower = text.lower()
    if len(lower) == len(text) and "Σ" not in text:
        return _WORD.findall(lower)
    # A letter becomes two, or its small form depends on the end of its word.
    return [match.group().lower() for match in _WORD.finditer(text)]


def word_spans(text: str) -> list[tuple[int, int, str]]:
    """The words of `words(text)` with their positions: start, end, lower-case word.

    >>> word_spans("Form W-2")
    [(0, 4, 'form'), (5, 8, 'w-2')]
    """
    return [(match.start(), match.end(), match.group().lower()) for match in _WORD.finditer(text)]


def index_stems(text: str) -> list[str]:
    """Index terms of keyword search: the stems of all words except stop words, and of the parts of compound words.

    Both the whole word and its parts are indexed, so that "empty results" matches storeEmptyResults, and "year end"
    year-end. Parts of one character are left out. Pass the text in its original case: capitals mark compound parts.

    >>> index_stems("The year-end storeEmptyResults of the W-2")
    ['year-end', 'year', 'end', 'storeemptyresult', 'store', 'empti', 'result', 'w-2']
    >>> index_stems("d'Andorra, qu’elles, we'll, the employee's")
    ["d'andorra", 'andorra', "qu'ell", 'qu', 'ell', "we'll", 'employe']
    """
    return [found for match in _WORD.finditer(text) for found in _stems_with_parts(match.group())]


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
