"""Exact phrase matching on word boundaries; ignores case and punctuation.

A word is a run of letters and digits; anything between two words is a boundary. Where a script has no spaces, a phrase
may begin and end inside a run. Case is ignored through explicit character classes, so that every store can run the same
match in its own regular expression dialect.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from core.text.tokenize import MARKS, WITHOUT_SPACES

__all__ = ["contains_phrases", "ends_at_border", "letter_classes", "phrase_words"]

_WORD = re.compile(rf"[^\W_]+(?:[{MARKS}]+[^\W_]*)*[+#]*")
_GAP = rf"(?:(?![{MARKS}])[\W_])+"
_INSIDE = rf"(?!{WITHOUT_SPACES.pattern})(?:[^\W_]|[{MARKS}])"
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
    >>> contains_phrases("Overtime payments", ["overtime pay"]), contains_phrases("员工年假为PDF文件", ["年假", "pdf"])
    (False, True)
    """
    return all(_pattern(phrase).search(text) for phrase in phrases)


@lru_cache(maxsize=256)
def _pattern(phrase: str) -> re.Pattern[str]:
    found = phrase_words(phrase)
    if not found:
        return re.compile("")
    body = _GAP.join(letter_classes(word) for word in found)
    before = rf"(?<!{_INSIDE})" if ends_at_border(found[0][0]) else ""
    after = rf"(?!{_INSIDE})" if ends_at_border(found[-1][-1]) else ""
    return re.compile(before + body + after)


def ends_at_border(letter: str) -> bool:
    """Whether a phrase that begins or ends with this letter does so at the border of a word."""
    return not WITHOUT_SPACES.match(letter)
