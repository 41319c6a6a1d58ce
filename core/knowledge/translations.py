"""Words of many languages as English words, so that what is learned from English documents also counts in others.

translations.tsv has one English word per line and its usual translations per language (ISO 639-1 code in the header),
separated by "/"; "-" where there is none. It was written for this project from the words that most English documents
share, whatever their kind. translations_more.tsv has rarer words, words of the fields that Fivefold is for, and more
forms of the most frequent ones; the classifier was fitted without it.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from importlib.resources import files

import Stemmer

from core.domain.errors import BadTable

__all__ = [
    "closest_language",
    "english_vocabulary",
    "english_words",
    "known_words",
    "phrases_of_language",
    "tables_digest",
    "translated_languages",
    "words_of_language",
]

_LEARNED, _MORE = "translations.tsv", "translations_more.tsv"
_NONE = "-"
_STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "es": "spanish",
    "et": "estonian", "fi": "finnish", "fr": "french", "hi": "hindi", "hr": "serbian", "hu": "hungarian",
    "id": "indonesian", "it": "italian", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sv": "swedish", "tr": "turkish",
}  # fmt: skip
"""ISO 639-1 → Snowball's name."""
_SAME = {"nb": "no", "nn": "no", "bs": "hr", "sr": "hr", "gl": "pt"}
"""Languages read as a close relative."""
_LETTERS = 6  # by which words are compared where there is no stemmer; chosen by hand


@dataclass(frozen=True, slots=True)
class _Translations:
    """Word of one language → English word, by the word itself and by its stem."""

    exact: Mapping[str, str]
    by_stem: Mapping[str, str]


def english_words(words: Sequence[str], language: str, *, learned: bool = False) -> Sequence[str]:
    """For each lower-case word its English translation, else itself; other forms are found by their stems.

    language: ISO 639-1 code of the text; words of English and of languages without translations stay. learned: only by
    the translations that the classifier was fitted with.

    >>> english_words(["verträge", "müssen", "scrum"], "de"), english_words(["contracts"], "en")
    (['contract', 'must', 'scrum'], ['contracts'])
    """
    own = closest_language(language)
    known = _translations(own, learned=learned) if own in _languages() else None
    if known is None:
        return words
    stems = _stems(words, own)
    return [known.exact.get(word) or known.by_stem.get(stem, word) for word, stem in zip(words, stems, strict=True)]


def closest_language(language: str) -> str:
    """The language as which this one is read: a close relative that has translations, or itself.

    >>> closest_language("nn"), closest_language("sr"), closest_language("he")
    ('no', 'hr', 'he')
    """
    return _SAME.get(language, language)


@cache
def tables_digest() -> str:
    """Hex digest of all translations: what was compared by others may be compared otherwise now."""
    return sha256(repr([_rows(name) for name in (_LEARNED, _MORE)]).encode()).hexdigest()


def translated_languages() -> Sequence[str]:
    """ISO 639-1 codes of the languages that have translations."""
    return _languages()


def english_vocabulary() -> frozenset[str]:
    """The English words that have translations."""
    return _english()


def words_of_language(language: str) -> Mapping[str, str]:
    """Word → English word, for the words of a language as the file has them."""
    return _translations(language).exact


@lru_cache(maxsize=64)
def phrases_of_language(language: str) -> Mapping[str, int]:
    """What a language writes in several words, which are one English word → how many words; the longest last."""
    found = {each: each.count(" ") + 1 for each in _translations(language).exact if " " in each}
    return dict(sorted(found.items(), key=lambda item: item[1]))


def known_words(words: Sequence[str], language: str) -> Sequence[bool]:
    """Which of these lower-case words have a translation, inflected forms included, alone or in a phrase."""
    known, phrases = _translations(language), phrases_of_language(language)
    found = [
        word in known.exact or (stem != word and stem in known.by_stem)
        for word, stem in zip(words, _stems(words, language), strict=True)
    ]
    for count in dict.fromkeys(phrases.values()):
        for at in range(len(words) - count + 1):
            if " ".join(words[at : at + count]) in phrases:
                found[at : at + count] = [True] * count
    return found


def _stems(words: Sequence[str], language: str) -> Sequence[str]:
    stemmer = _stemmer(language)
    return [word[:_LETTERS] for word in words] if stemmer is None else stemmer.stemWords(list(words))


@lru_cache(maxsize=64)
def _stemmer(language: str) -> "Stemmer.Stemmer | None":
    """Threads share it: stemWords holds the interpreter's lock until it is done."""
    return Stemmer.Stemmer(_STEMMERS[language]) if language in _STEMMERS else None


@lru_cache(maxsize=128)
def _translations(language: str, *, learned: bool = False) -> _Translations:
    """Of several English words the first in the files counts, and in each a first translation before a second one."""
    at = _languages().index(language) + 1
    ordered = list[tuple[str, str]]()
    for name in (_LEARNED,) if learned else (_LEARNED, _MORE):
        cells = [(row[0], [word for word in row[at].split("/") if word != _NONE]) for row in _rows(name)[1:]]
        for part in (slice(1), slice(1, None)):
            ordered += [(english, word) for english, found in cells for word in found[part]]
    exact: dict[str, str] = {}
    by_stem: dict[str, str] = {}
    for (english, word), stem in zip(ordered, _stems([word for _, word in ordered], language), strict=True):
        exact.setdefault(word, english)
        by_stem.setdefault(stem, english)
    return _Translations(exact, by_stem)


@cache
def _english() -> frozenset[str]:
    return frozenset(row[0] for name in (_LEARNED, _MORE) for row in _rows(name)[1:])


def _languages() -> Sequence[str]:
    return _rows(_LEARNED)[0][1:]


@lru_cache(maxsize=2)
def _rows(name: str) -> Sequence[Sequence[str]]:
    """The lines of a file, the header first. Raises BadTable."""
    text = files("core.knowledge").joinpath(name).read_text("utf-8")
    rows = list(csv.reader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise BadTable(f"core/knowledge/{name}, line {number}: {len(row)} columns.", f"Give {len(rows[0])}.")
    return rows
