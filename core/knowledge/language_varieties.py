"""Where the variety of a language is written that a text uses: Swiss German, European Portuguese, Traditional Chinese.

The script tells it for Chinese, the words of language_varieties.toml for languages with a table there.
"""

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache

from core.domain.errors import BadTable
from core.knowledge.gazetteer import language_countries
from core.knowledge.jurisdictions import built_in_jurisdictions
from core.knowledge.loading import table

__all__ = ["countries_of_text"]

_NAME = "language_varieties"
_READ_CHARACTERS = 20_000  # of a text; chosen by hand
_WORDS_OF_SPEAKERS = 3.0  # different words of one variety that count as much as all its speakers; chosen by hand
_WORD = re.compile(r"[^\W\d_]+")
_FIRST_IDEOGRAPH = "\u3400"


def countries_of_text(language: str, text: str) -> Mapping[str, float]:
    """Country → how likely a text in this language is written there, from its speakers and its words; 1 at most in all.

    language: ISO 639-1 code. {} for languages that are nowhere official.

    >>> texts = ("Gemäss Art. 5 ist die Strasse grösser.", "Gemäß Art. 5 ist die Straße größer.")
    >>> [max(shares, key=shares.get) for shares in (countries_of_text("de", text) for text in texts)]
    ['country:CH', 'country:DE']
    >>> max((shares := countries_of_text("zh", "勞動契約應載明工資及工時。")), key=shares.get)
    'country:TW'
    """
    text = text[:_READ_CHARACTERS]
    shares = language_countries(_written(language, text))
    writers = _writers().get(language, {})
    counts = Counter(writers[word] for word in _words(text) if word in writers)
    if not counts:
        return shares
    total = _WORDS_OF_SPEAKERS + counts.total()
    return {
        value: (_WORDS_OF_SPEAKERS * shares.get(value, 0.0) + counts[value]) / total for value in {*shares, *counts}
    }


def _words(text: str) -> set[str]:
    """Its different words in small letters, without those in capitals, which have no "ß"."""
    return {word.lower() for word in set(_WORD.findall(text)) if not word.isupper()}


@cache
def _writers() -> Mapping[str, Mapping[str, str]]:
    """Language → word → country where it is written so. Raises BadTable."""
    found: dict[str, dict[str, str]] = {}
    for language, countries in table(_NAME).items():
        found[language] = {}
        for country, words in countries.items():
            if country not in built_in_jurisdictions():
                raise BadTable(
                    f"core/knowledge/{_NAME}.toml: [{language}] names the unknown '{country}'.", "Correct it."
                )
            for word in words:
                if found[language].setdefault(word, country) != country:
                    raise BadTable(f"core/knowledge/{_NAME}.toml: [{language}] has '{word}' twice.", "Remove one.")
    return found


def _written(language: str, text: str) -> str:
    """CLDR's code of a language as it is written: Traditional Chinese, where more signs are of Big5 alone than of
    GB 2312 alone."""
    if language != "zh":
        return language
    signs = {each for each in text if each >= _FIRST_IDEOGRAPH}
    only = Counter((_encodable(each, "big5"), _encodable(each, "gb2312")) for each in signs)
    return "zh_Hant" if only[True, False] > only[False, True] else language


def _encodable(sign: str, encoding: str) -> bool:
    try:
        sign.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
