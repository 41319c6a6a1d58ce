"""The language of a text as a label gives it, and languages other than English whose stop words and stems are known."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import lru_cache

from core.domain.documents import Label
from core.knowledge.translations import closest_language
from core.text.tokenize import STOP_WORDS

__all__ = [
    "NATIVE",
    "Language",
    "foreign_stop_words",
    "is_native",
    "is_other_language",
    "language_of",
    "reading_language",
]

NATIVE = "en"
"""The language of the embeddings and of English signals."""
_SURE = 0.9  # Probability. Chosen by hand, not fitted.

_STEMMERS = {
    "da": "danish",
    "de": "german",
    "es": "spanish",
    "fr": "french",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ru": "russian",
    "sv": "swedish",
    "tr": "turkish",
}
"""ISO 639-1 → Snowball's name of a language that bm25s has stop words for."""

_SEAM = re.compile("[-'’]")
_LEAST_STOP_WORDS = 2  # in a question, to tell its language. Chosen by hand, not fitted.


@dataclass(frozen=True, slots=True)
class Language:
    """Keyword rules for a language other than English. stemmed: lower-case word → stem. nouns: capitalises nouns."""

    stop_words: frozenset[str]
    stemmed: Callable[[str], str]
    nouns: bool


@lru_cache(maxsize=256)
def language_of(code: str) -> Language | None:
    """Rules for a non-English language (ISO 639-1) that separates words by spaces; None if unknown.

    >>> german = language_of("de")
    >>> "nicht" in german.stop_words, german.stemmed("regelwerke") == german.stemmed("regelwerk"), language_of("ja")
    (True, True, None)
    """
    if code not in _STEMMERS:
        return None
    import Stemmer
    from bm25s import stopwords

    name = _STEMMERS[code]
    stemmer = Stemmer.Stemmer(name)
    stops = getattr(stopwords, f"STOPWORDS_{name.upper()}")
    return Language(frozenset(stops), lambda word: str(stemmer.stemWord(word)), code == "de")


def foreign_stop_words(question: Collection[str]) -> frozenset[str]:
    """The stop words of the language of a question, given by its lower-case words; none for an English one.

    Its language is the one that knows most of its words, or parts of them, as stop words: at least two, and more than
    English does.

    >>> "el" in foreign_stop_words("qué plazo tiene el contratista para firmar".split())
    True
    >>> "ce" in foreign_stop_words(["est-ce", "qu'un", "outil"])
    True
    >>> foreign_stop_words("what is the per diem for die casting".split()) | foreign_stop_words(["el", "paso"])
    frozenset()
    """
    parts = [part for word in question for part in _SEAM.split(word)]
    known = [language.stop_words for code in _STEMMERS if (language := language_of(code))]
    hits = [sum(part in stops for part in parts) for stops in (STOP_WORDS, *known)]
    most = max(hits)
    return known[hits.index(most) - 1] if most >= _LEAST_STOP_WORDS and most > hits[0] else frozenset()


def is_native(language: Label) -> bool:
    """Whether embeddings and English signals are reliable: False only if the text is clearly in another language."""
    return not is_other_language(language, NATIVE)


def is_other_language(language: Label, code: str) -> bool:
    """Whether a text with this label is clearly in another language than the one with this ISO 639-1 code, of which
    close relatives count as the same. code: "" where the language is not known: then no text is."""
    if not code or language.value is None or language.probability < _SURE:
        return False
    return closest_language(language.value) != closest_language(code)


def reading_language(language: Label) -> str:
    """The language by whose rules a text is read: English where none was found, or where it may well be English.

    >>> reading_language(Label("nl", 0.6, "en", 0.4)), reading_language(Label("hr", 0.4, "sr", 0.3))
    ('en', 'hr')
    """
    may_be_native = language.probability < _SURE and language.runner_up == NATIVE
    return NATIVE if language.value is None or may_be_native else language.value
