"""Find in document: every place of some words, ignoring case and line breaks."""

import re

from core.domain.documents import Span

__all__ = ["find_words"]


def find_words(text: str, words: str) -> list[Span]:
    """Every place of the words in a text, in order, none overlapping; any run of blanks stands for any other.

    >>> text = "Overtime  pay. No overtime\\npay."
    >>> [span.of(text) for span in find_words(text, "overtime pay")]
    ['Overtime  pay', 'overtime\\npay']
    """
    parts = words.replace("\0", " ").split()
    if not parts:
        return []
    pattern = re.compile(r"\s+".join(re.escape(part) for part in parts), re.IGNORECASE)
    return [Span(*match.span()) for match in pattern.finditer(text)]
