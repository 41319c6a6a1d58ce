"""Hashes of words, by which a sentence is found again in its document, where its text may not be kept."""

import re
from collections.abc import Sequence
from hashlib import sha256

__all__ = ["is_word_hash", "word_hash", "word_hashes_in"]

_WORD = re.compile(r"\w+")
_HASH = re.compile(r"[0-9a-f]{12}:[1-8]")
_WORDS = 8  # at most: they tell a sentence from the others of its document


def word_hash(text: str) -> str:
    """What finds a text again: a hash of its first eight words, and their number.

    >>> word_hash("Keep records for three years."), word_hash("keep  records for THREE years")
    ('16a00fca1cd5:5', '16a00fca1cd5:5')
    """
    return _hash(_WORD.findall(text.lower())[:_WORDS])


def is_word_hash(text: str) -> bool:
    """Whether a text is such a hash.

    >>> is_word_hash(word_hash("Keep records")), is_word_hash("Keep records")
    (True, False)
    """
    return _HASH.fullmatch(text) is not None


def word_hashes_in(text: str, hashes: Sequence[str]) -> set[str]:
    """Which of these hashes stand for words that follow one another in a text.

    >>> kept = word_hash("records for three")
    >>> word_hashes_in("Keep records for three years.", [kept, word_hash("four years")]) == {kept}
    True
    """
    words = _WORD.findall(text.lower())
    lengths = {int(each.rpartition(":")[2]) for each in hashes}
    runs = (words[at : at + length] for length in lengths for at in range(len(words) - length + 1))
    return set(hashes).intersection(map(_hash, runs))


def _hash(words: Sequence[str]) -> str:
    return f"{sha256(' '.join(words).encode()).hexdigest()[:12]}:{len(words)}"
