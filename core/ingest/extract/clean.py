"""Characters a store or a reader would choke on, and text that is no language."""

import re
import unicodedata
from collections import Counter

__all__ = ["clean", "garbled", "mojibake"]

_LINE_ENDS = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_REFUSED = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufeff\ufffe\uffff\u200b\u2060\xad]"
)
_GARBLED_SHARE = 0.2
_GARBLED_LEAST = 40
_LETTERS_LEAST = 200
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")
_VOWELS = re.compile(r"[aeiouyAEIOUYÀ-ÆÈ-ÏÒ-ÖØ-Üà-æè-ïò-öø-ü]")
_MOST_VOWELS, _FEW_VOWELS, _HARDLY_VOWELS = 0.62, 0.27, 0.2
"""Of the Latin letters: 0.36 to 0.49 on pages of English, 0.35 to 0.48 in other languages; 0.13 to 0.2 where a font's
map is off by as much as glyph numbers usually are."""
_WORDLESS = 0.12
"""Of the words of four letters and more, those without a vowel: at most 0.03 on pages of English."""
_WORDS_LEAST = 25
_SUSPECT = re.compile(r"[ÂÃâÐÑÎÏÅÄåæèéãä][^\x00-\x7f]")
"""What the bytes of UTF-8 look like in another encoding; worth a closer look, which ftfy takes."""
_MOJIBAKE_LEAST = 3
_MOJIBAKE_SHARE = 1 / 1000


def clean(text: str) -> str:
    """Text as PostgreSQL and a reader accept it: one kind of line end, no control characters, no lone surrogates.

    Soft hyphens and zero-width spaces go, no-break spaces become spaces; nothing else changes.

    >>> clean("a\\x00b\\r\\nc\\ud800\\u00a0d\\u00ade")
    'ab\\nc de'
    """
    text = _LINE_ENDS.sub("\n", text)
    return _REFUSED.sub("", text).replace("\u00a0", " ").replace("\u202f", " ").replace("\u2007", " ")


def garbled(text: str) -> bool:
    """Whether a page's text is not what is printed: characters no language writes (a font without a character map), or
    letters that make no words (a font whose map is wrong, each letter another one).

    >>> garbled("\\ue001\\ue002\\ufffd" * 30), garbled("Überstunden – 加班 – сверхурочные " * 3)
    (True, False)
    >>> garbled("(PSOR\\\\HHV DFFUXH OHDYH HYHU\\\\ PRQWK LQ WKH PRQWK\\n" * 12)
    True
    """
    visible = Counter(text)
    total = sum(count for character, count in visible.items() if not character.isspace())
    if total < _GARBLED_LEAST:
        return False
    odd = sum(count for character, count in visible.items() if _is_odd(character))
    return odd / total > _GARBLED_SHARE or _is_shifted(text, visible)


def _is_odd(character: str) -> bool:
    return not character.isspace() and (character == "\ufffd" or unicodedata.category(character) in {"Co", "Cn", "Cc"})


def _is_shifted(text: str, visible: Counter[str]) -> bool:
    """Whether Latin letters have vowels as no language has, in text long enough to say."""
    letters = sum(count for character, count in visible.items() if _LATIN.match(character))
    vowels = sum(count for character, count in visible.items() if _VOWELS.match(character))
    if letters < _LETTERS_LEAST or _FEW_VOWELS * letters <= vowels <= _MOST_VOWELS * letters:
        return False
    words = re.findall(r"[^\W\d_]{4,}", text)
    if len(words) < _WORDS_LEAST:
        return False
    wordless = sum(not _VOWELS.search(word) for word in words) / len(words)
    return wordless > _WORDLESS or not _HARDLY_VOWELS * letters <= vowels <= _MOST_VOWELS * letters


def mojibake(text: str) -> bool:
    """Whether text was decoded in the wrong encoding, so that "ü" stands as "Ã¼".

    >>> mojibake("Ãœberstunden mÃ¼ssen bezahlt werden, sagt das MÃ¤rchen."), mojibake("Überstunden müssen, fair.")
    (True, False)
    """
    from ftfy.badness import badness

    if text.isascii() or len(_SUSPECT.findall(text)) < _MOJIBAKE_LEAST:
        return False
    found = badness(text)
    return found >= _MOJIBAKE_LEAST and found / len(text) >= _MOJIBAKE_SHARE
