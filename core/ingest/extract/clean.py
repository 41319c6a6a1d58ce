"""Characters a store or a reader would choke on, and text that is no language."""

import re
import unicodedata

__all__ = ["clean", "garbled"]

_LINE_ENDS = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_REFUSED = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufeff\ufffe\uffff\u200b\u2060\xad]"
)
_GARBLED_SHARE = 0.2
_GARBLED_LEAST = 40


def clean(text: str) -> str:
    """Text as PostgreSQL and a reader accept it: one kind of line end, no control characters, no lone surrogates.

    Soft hyphens and zero-width spaces go, no-break spaces become spaces; nothing else changes.

    >>> clean("a\\x00b\\r\\nc\\ud800\\u00a0d\\u00ade")
    'ab\\nc de'
    """
    text = _LINE_ENDS.sub("\n", text)
    return _REFUSED.sub("", text).replace("\u00a0", " ").replace("\u202f", " ").replace("\u2007", " ")


def garbled(text: str) -> bool:
    """Whether a page's text is mostly characters no language writes (a font without a character map).

    >>> garbled("\\ue001\\ue002\\ufffd" * 30), garbled("Überstunden – 加班 – сверхурочные " * 3)
    (True, False)
    """
    visible = [character for character in text if not character.isspace()]
    if len(visible) < _GARBLED_LEAST:
        return False
    odd = sum(character == "\ufffd" or unicodedata.category(character) in {"Co", "Cn", "Cc"} for character in visible)
    return odd / len(visible) > _GARBLED_SHARE
