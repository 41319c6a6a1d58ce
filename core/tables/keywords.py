"""Words that tell a keyword from the words around it, and the stop words of other languages."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache

from core.errors import BadTable
from core.matching import STOP_WORDS, stem
from core.tables.loading import check_keys, table

__all__ = ["KeywordWords", "Language", "keyword_words", "language_of"]


@dataclass(frozen=True, slots=True)
class KeywordWords:
    """outside: no keyword begins or ends with these. endings: nor is one a single word that ends so; of several words
    the last ends with none of the first two. furniture: stems of words about documents. inside: small words that may
    stand within. before_names, before_verbs: what tells that a name, or a verb, follows."""

    outside: frozenset[str]
    endings: tuple[str, ...]
    furniture: frozenset[str]
    inside: frozenset[str]
    before_names: frozenset[str]
    before_verbs: frozenset[str]


@cache
def keyword_words() -> KeywordWords:
    """The table. Raises BadTable naming a key that is unknown or empty."""
    rows = table("keywords")
    names = [each.name for each in fields(KeywordWords)]
    check_keys("keywords", "top level", rows, names)
    for name in names:
        if not rows.get(name):
            raise BadTable(f"core/tables/keywords.toml: '{name}' is missing.", "Add the list.")
    return KeywordWords(
        outside=frozenset(rows["outside"]) | STOP_WORDS,
        endings=tuple(rows["endings"]),
        furniture=frozenset(stem(word) for row in rows["furniture"] for word in row.split()),
        inside=frozenset(rows["inside"]),
        before_names=frozenset(rows["before_names"]),
        before_verbs=frozenset(rows["before_verbs"]),
    )


@dataclass(frozen=True, slots=True)
class Language:
    """How keywords of another language than English are told. stemmed: a word in small letters → its stem. nouns: names
    of things are written with a capital."""

    stop_words: frozenset[str]
    stemmed: Callable[[str], str]
    nouns: bool


@cache
def language_of(code: str) -> Language | None:
    """A language (ISO 639-1) other than English that writes its words apart; None for one that is not known.

    >>> german = language_of("de")
    >>> "nicht" in german.stop_words, german.stemmed("regelwerke") == german.stemmed("regelwerk"), language_of("ja")
    (True, True, None)
    """
    from bm25s import stopwords

    known: Mapping[str, tuple[str, Iterable[str]]] = {
        "da": ("danish", stopwords.STOPWORDS_DANISH),
        "de": ("german", stopwords.STOPWORDS_GERMAN),
        "es": ("spanish", stopwords.STOPWORDS_SPANISH),
        "fr": ("french", stopwords.STOPWORDS_FRENCH),
        "it": ("italian", stopwords.STOPWORDS_ITALIAN),
        "nl": ("dutch", stopwords.STOPWORDS_DUTCH),
        "no": ("norwegian", stopwords.STOPWORDS_NORWEGIAN),
        "pt": ("portuguese", stopwords.STOPWORDS_PORTUGUESE),
        "ru": ("russian", stopwords.STOPWORDS_RUSSIAN),
        "sv": ("swedish", stopwords.STOPWORDS_SWEDISH),
        "tr": ("turkish", stopwords.STOPWORDS_TURKISH),
    }
    if code not in known:
        return None
    import Stemmer

    name, stops = known[code]
    stemmer = Stemmer.Stemmer(name)
    return Language(frozenset(stops), lambda word: str(stemmer.stemWord(word)), code == "de")
