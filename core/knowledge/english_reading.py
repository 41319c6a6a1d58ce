"""Texts of other languages read as English, word by word, for an embedding model that knows English only.

A text's language is the one whose translations know most of its words, and more than English does; so the language of
a question of a few words is found, too. Words without a translation stay, and so does what stands between words.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

from core.knowledge.translations import (
    english_vocabulary,
    english_words,
    translated_languages,
    translations_known,
    words_of_language,
)
from core.text.tokenize import STOP_WORDS, WITHOUT_SPACES, stem

__all__ = ["in_english", "language_in_words", "words_in_english"]

_WORD = re.compile(r"[^\W\d_]+")
_KANA = re.compile(r"[\u3040-\u30ff]")
_CHINESE, _JAPANESE = "zh", "ja"
_AFTER_LATIN = "\u0250"  # the first letter behind the Latin ones that alphabets use
_CLEAR = 0.5  # share of English words from which a text is English. Chosen by hand.
_LEAST = 1 / 4  # share of its words that a language must know. Chosen by hand.
_FEWEST = 2  # words that a language must know: a single word may be of several languages. Chosen by hand.
_READ = 60  # words of a text that tell its language. Chosen by hand.


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
    if language in (_CHINESE, _JAPANESE):
        return [WITHOUT_SPACES.sub(lambda run: _read_run(run.group(), language), piece) for piece in pieces]
    found = list(dict.fromkeys(word.lower() for piece in pieces for word in _WORD.findall(piece)))
    english = dict(zip(found, english_words(found, language), strict=True))
    return [_WORD.sub(lambda word: _replaced(word.group(), english), piece) for piece in pieces]


def _replaced(word: str, english: Mapping[str, str]) -> str:
    """The word in English; as it is where it has no translation."""
    lower = word.lower()
    known = english.get(lower, lower)
    return word if known == lower else known


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


@lru_cache(maxsize=256)
def language_in_words(text: str) -> str:
    """ISO 639-1 code of the language of a text, among those with translations; "" for English and any other.

    >>> [language_in_words(each) for each in ("Urlaub Wartezeit sechs Monate", "per diem", "有給休暇は何日ですか", "W-2")]
    ['de', '', 'ja', '']
    """
    found = [word.lower() for word in _WORD.findall(text)[:_READ]]
    if not found:
        return ""
    if not text.isascii():
        together = sum(len(run) for word in found for run in WITHOUT_SPACES.findall(word))
        if together * 2 > sum(map(len, found)):
            return _language_of_script(text)
    english = sum(_is_english(word) for word in found)
    if english >= _CLEAR * len(found):
        return ""
    known = {each: translations_known(found, each) for each in _with_spaces()}
    language = max(known, key=known.__getitem__)  # the first of equals
    enough = max(_FEWEST, english + 1, _LEAST * len(found))
    return language if known[language] >= enough else ""


def _language_of_script(text: str) -> str:
    if _KANA.search(text):
        return _JAPANESE
    return _CHINESE if re.search(r"[\u3400-\u9fff]", text) else ""


@lru_cache(maxsize=16_384)
def _is_english(word: str) -> bool:
    return word in STOP_WORDS or word in english_vocabulary() or stem(word) in _english_stems()


@cache
def _english_stems() -> frozenset[str]:
    return frozenset(stem(word) for word in english_vocabulary() | STOP_WORDS)


@cache
def _with_spaces() -> Sequence[str]:
    return [each for each in translated_languages() if each not in (_CHINESE, _JAPANESE)]


def _read_run(run: str, language: str) -> str:
    """A run of letters without spaces, cut from its start into the longest words that have a translation."""
    known, longest = words_of_language(language), _longest_word(language)
    parts, at = list[str](), 0
    while at < len(run):
        for end in range(min(at + longest, len(run)), at, -1):
            if (word := run[at:end]) in known:
                parts.append(known[word])
                break
        else:
            end = at + 1
            parts.append(run[at])
        at = end
    return f" {' '.join(parts)} "


@cache
def _longest_word(language: str) -> int:
    return max(map(len, words_of_language(language)))
