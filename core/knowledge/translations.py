"""Words of many languages as English words, so that what is learned from English documents also counts in others.

translations.tsv has one English word per line and its usual translations per language (ISO 639-1 code in the header),
separated by "/"; "-" where there is none. It was written for this project from the words that most English documents
share, whatever their kind.
"""

import csv
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files

import Stemmer

from core.domain.errors import BadTable

__all__ = ["english_words"]

_FILE = "translations.tsv"
_NONE = "-"
_STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "es": "spanish",
    "et": "estonian", "fi": "finnish", "fr": "french", "hr": "serbian", "hu": "hungarian", "id": "indonesian",
    "it": "italian", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sv": "swedish", "tr": "turkish",
}  # fmt: skip
"""ISO 639-1 → Snowball's name."""
_SAME = {"nb": "no", "nn": "no", "bs": "hr", "sr": "hr", "gl": "pt"}
"""Languages read as a close relative."""
_LETTERS = 6  # by which words are compared where there is no stemmer; chosen by hand


def english_words(words: Sequence[str], language: str) -> Sequence[str]:
    """For each lower-case word its English translation, else itself; words are found by their stems.

    language: ISO 639-1 code of the text; words of English and of languages without translations stay.

    >>> english_words(["verträge", "müssen", "scrum"], "de"), english_words(["contracts"], "en")
    (['contract', 'must', 'scrum'], ['contracts'])
    """
    own = _SAME.get(language, language)
    known = _translations().get(own)
    if known is None:
        return words
    return [known.get(stem, word) for stem, word in zip(_stems(words, own), words, strict=True)]


def _stems(words: Sequence[str], language: str) -> Sequence[str]:
    stemmer = _stemmer(language)
    return [word[:_LETTERS] for word in words] if stemmer is None else stemmer.stemWords(list(words))


@lru_cache(maxsize=64)
def _stemmer(language: str) -> "Stemmer.Stemmer | None":
    return Stemmer.Stemmer(_STEMMERS[language]) if language in _STEMMERS else None


@cache
def _translations() -> Mapping[str, Mapping[str, str]]:
    """Language → its stem → English word; of several English words the first in the file. Raises BadTable."""
    text = files("core.knowledge").joinpath(_FILE).read_text("utf-8")
    header, *rows = csv.reader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    found: dict[str, dict[str, str]] = {language: {} for language in header[1:]}
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise BadTable(f"core/knowledge/{_FILE}, line {number}: {len(row)} columns.", f"Give {len(header)}.")
        for language, cell in zip(header[1:], row[1:], strict=True):
            words = [word for word in cell.split("/") if word != _NONE]
            for stem in _stems(words, language):
                found[language].setdefault(stem, row[0])
    return found
