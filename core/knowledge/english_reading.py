"""Texts of other languages read as English, word by word, for an embedding model that knows English only.

A text's language is the one whose translations know most of its words, and more than English does; so the language of
a question of a few words is found, too. Words without a translation stay, and so does what stands between words.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice
from unicodedata import normalize

from core.knowledge.languages import NATIVE
from core.knowledge.translations import (
    english_vocabulary,
    english_words,
    known_words,
    phrases_of_language,
    translated_languages,
    words_of_language,
)
from core.text.tokenize import LETTERS, STOP_WORDS, WITHOUT_SPACES, stem

__all__ = ["in_english", "language_in_words", "language_of_question", "words_in_english"]

_SCRIPTS = {
    "ja": re.compile(r"[\u3040-\u30ff]"), "zh": re.compile(r"[\u3400-\u9fff]"), "ko": re.compile(r"[\uac00-\ud7af]"),
    "th": re.compile(r"[\u0e00-\u0e7f]"),
}  # fmt: skip
"""Languages in which spaces do not end every word, by their letters. Japanese is written with those of Chinese, too."""
_AFTER_LATIN = "\u0250"  # the first letter behind the Latin ones that alphabets use
_CLEAR = 0.5  # share of English words from which a text is English. Chosen by hand.
_LEAST = 1 / 4  # share of its words that a language must know. Chosen by hand.
_ENOUGH = 3  # Latin words that tell a language, or two that are most of a text: one may be a name. Chosen by hand.
_READ, _READ_LETTERS = 60, 2_000  # words of a text's beginning that tell its language. Chosen by hand.


def in_english(pieces: Sequence[str]) -> Sequence[str]:
    """A text, cut into pieces, in English where its words have a translation.

    >>> in_english(["Der Vertrag endet am 31. Mai. ", "Die Frist beträgt zwei Wochen."])
    ['the contract end on 31. Mai. ', 'the deadline beträgt two week.']
    >>> in_english(["The contract ends on May 31."])
    ['The contract ends on May 31.']
    """
    language = language_in_words("".join(pieces))
    if not language:
        return pieces
    if language in _SCRIPTS:
        return [WITHOUT_SPACES.sub(lambda run: _read_run(run.group(), language), piece) for piece in pieces]
    if phrases_of_language(language):
        return [_read_phrases(piece, language) for piece in pieces]
    found = list(dict.fromkeys(_plain(word) for piece in pieces for word in LETTERS.findall(piece)))
    english = dict(zip(found, english_words(found, language), strict=True))
    return [LETTERS.sub(lambda word: _replaced(word.group(), english), piece) for piece in pieces]


def _plain(word: str) -> str:
    """Small letters, composed: accents of their own are not in the table."""
    return word.lower() if word.isascii() else normalize("NFC", word.lower())


def _replaced(word: str, english: Mapping[str, str]) -> str:
    """The word in English; as it is where it has no translation, and a single letter, such as those of U.S."""
    plain = _plain(word)
    known = english.get(plain, plain)
    return word if known == plain or (len(word) == 1 and word.isascii()) else known


def words_in_english(words: Sequence[str], language: str) -> Mapping[str, str]:
    """Lower-case word → English word, itself where it has no translation; without words in another script than Latin
    that have none. language: "" for English.

    >>> words_in_english(["договор", "зарплатомер", "scrum"], "ru")
    {'договор': 'contract', 'scrum': 'scrum'}
    """
    return {
        word: english
        for word, english in zip(words, english_words(words, language), strict=True)
        if english[:1] < _AFTER_LATIN
    }


def language_in_words(text: str) -> str:
    """ISO 639-1 code of the language of a text, among those with translations; "" for English and any other.

    >>> [language_in_words(each) for each in ("Urlaub Wartezeit sechs Monate", "per diem", "有給休暇は何日", "W-2")]
    ['de', '', 'ja', '']
    """
    return _language_in(text[:_READ_LETTERS])


def language_of_question(text: str) -> str:
    """ISO 639-1 code of the language of a question or topic; "" where it is not known, as for names and codes.

    >>> [language_of_question(each) for each in ("paid leave", "Urlaub Wartezeit sechs Monate", "Kurzarbeit", "W-2")]
    ['en', 'de', '', '']
    """
    found = _words_read(text[:_READ_LETTERS])
    english = sum(map(_is_english, found))
    return language_in_words(text) or (NATIVE if found and english >= _CLEAR * len(found) else "")


def _words_read(text: str) -> list[str]:
    words = (_plain(word.group()) for word in LETTERS.finditer(text))
    return list(islice((word for word in words if len(word) > 1 or not word.isascii()), _READ))


@lru_cache(maxsize=256)
def _language_in(text: str) -> str:
    found = _words_read(text)
    if not found:
        return ""
    if not text.isascii():
        together = sum(len(run) for word in found for run in WITHOUT_SPACES.findall(word))
        if together * 2 > sum(map(len, found)):
            return _language_of_script(text)
    english = [_is_english(word) for word in found]
    if sum(english) >= _CLEAR * len(found):
        return ""
    known = {each: known_words(found, each) for each in _with_spaces()}
    language = max(known, key=lambda each: sum(known[each]))  # the first of equals
    own = sum(here and not there for here, there in zip(known[language], english, strict=True))
    others = sum(there and not here for here, there in zip(known[language], english, strict=True))
    alone = own == len(found) == 1 and not found[0].isascii() and found[0] in words_of_language(language)
    enough = own >= _ENOUGH or (own == _ENOUGH - 1 and 2 * own > len(found)) or alone or not _is_latin(language)
    return language if enough and own > others and sum(known[language]) >= _LEAST * len(found) else ""


def _language_of_script(text: str) -> str:
    """The language with most letters; a text with Japanese ones is not Chinese."""
    counts = {each: len(letters.findall(text)) for each, letters in _SCRIPTS.items()}
    most = max(counts, key=counts.__getitem__)
    return "" if not counts[most] else "ja" if most == "zh" and counts["ja"] else most


@lru_cache(maxsize=16_384)
def _is_english(word: str) -> bool:
    return word in STOP_WORDS or word in english_vocabulary() or stem(word) in _english_stems()


@cache
def _english_stems() -> frozenset[str]:
    return frozenset(stem(word) for word in english_vocabulary() | STOP_WORDS)


@lru_cache(maxsize=64)
def _is_latin(language: str) -> bool:
    return next(iter(words_of_language(language))) < _AFTER_LATIN


@cache
def _with_spaces() -> Sequence[str]:
    """Those of other scripts first: Croatian is found in Cyrillic letters, too."""
    return sorted((each for each in translated_languages() if each not in _SCRIPTS), key=_is_latin)


def _read_phrases(text: str, language: str) -> str:
    """A text in English, the longest phrases first where a language writes one word as several."""
    words, phrases, known = list(LETTERS.finditer(text)), phrases_of_language(language), words_of_language(language)
    lower = [_plain(word.group()) for word in words]
    alone = english_words(lower, language)
    counts = [*sorted(set(phrases.values()), reverse=True)]
    parts, last, at = list[str](), 0, 0
    while at < len(words):
        after, english = at + 1, words[at].group() if alone[at] == lower[at] else alone[at]
        for end in (at + count for count in counts if at + count <= len(words)):
            if " ".join(lower[at:end]) in phrases:
                after, english = end, known[" ".join(lower[at:end])]
                break
        parts += [text[last : words[at].start()], english]
        last, at = words[after - 1].end(), after
    return "".join([*parts, text[last:]])


def _read_run(run: str, language: str) -> str:
    """A run of letters without spaces, cut from its start into the longest words that have a translation, and what lies
    between them."""
    known, longest = words_of_language(language), _longest_word(language)
    parts, last, at = list[str](), 0, 0
    while at < len(run):
        ends = range(min(at + longest, len(run)), at, -1)
        end = next((end for end in ends if run[at:end] in known), 0)
        if end:
            parts += [run[last:at], known[run[at:end]]]
            last = end
        at = end or at + 1
    return f" {' '.join(filter(None, [*parts, run[last:]]))} "


@lru_cache(maxsize=64)
def _longest_word(language: str) -> int:
    return max(map(len, words_of_language(language)))
