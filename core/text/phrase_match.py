"""Exact phrase matching on word boundaries; ignores case and punctuation.

A word is a run of letters and digits; anything between two words is a boundary. Case is ignored through explicit
character classes, so that every store can run the same match in its own regular expression dialect.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

__all__ = ["contains_phrases", "letter_classes", "phrase_words"]

_WORD = re.compile(r"[^\W_]+[+#]*")
_ESCAPED = {"+": "[+]", "#": "[#]"}


def phrase_words(phrase: str) -> tuple[str, ...]:
    """The words of a phrase as written, without the punctuation between them; "C#" and "C++" keep their signs.

    >>> phrase_words("year-end, in C#"), phrase_words("– …")
    (('year', 'end', 'in', 'C#'), ())
    """
    return tuple(_WORD.findall(phrase))


def letter_classes(word: str) -> str:
    """A regular expression for the word in any case: one character class per letter, valid in every regex dialect.

    >>> letter_classes("W2"), letter_classes("ß")
    ('[Ww]2', 'ß')
    """
    return "".join(_letter_class(letter) for letter in word)


@lru_cache(maxsize=4096)
def _letter_class(letter: str) -> str:
    if letter in _ESCAPED:
        return _ESCAPED[letter]
    forms = (letter, letter.upper(), letter.lower(), letter.title(), letter.casefold())
    single = sorted({form for form in forms if len(form) == 1})
    return f"[{''.join(single)}]" if len(single) > 1 else letter


def contains_phrases(text: str, phrases: Sequence[str]) -> bool:
    """Whether the text contains each phrase, as consecutive words. A phrase without words matches every text.

    >>> contains_phrases("Overtime – pay is due.", ["overtime pay"])
    True
    >>> contains_phrases("Overtime payments", ["overtime pay"])
    False
    """
    return all(_pattern(phrase).search(text) for phrase in phrases)


@lru_cache(maxsize=256)
def _pattern(phrase: str) -> re.Pattern[str]:
    body = r"[\W_]+".join(letter_classes(word) for word in phrase_words(phrase))
    return re.compile(rf"(?<![^\W_]){body}(?![^\W_])" if body else "")
