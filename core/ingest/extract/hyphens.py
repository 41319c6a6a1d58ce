"""Words broken at line ends, put together again: once, here, so that what is searched, quoted and stored is one text.

A broken word ends with U+FFFE, as pdfium marks it. The hyphen stays when the document also writes the word with it.
"""

import re
from collections import Counter

from core.ingest.extract.clean import clean
from core.ingest.extract.layout import Line

__all__ = ["mended"]

_BROKEN_IN_CELL = re.compile(r"([^\W\d_]+)\ufffe ([^\W\d_]+)")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def mended(pages: list[list[Line]]) -> list[list[Line]]:
    """Words broken at line ends put together; the second half moves up to the first."""
    known = Counter(word.lower() for page in pages for line in page for word in _WORD.findall(line.text))
    return [_mended_page(page, known) for page in pages]


def _mended_page(lines: list[Line], known: Counter[str]) -> list[Line]:
    whole: list[Line] = []
    for line in lines:
        text = clean(line.text.replace("\ufffe", "\ue0ff")).replace("\ue0ff", "\ufffe")
        if whole and whole[-1].text.endswith("\ufffe") and line.row is None:
            head, _, rest = text.lstrip().partition(" ")
            whole[-1] = whole[-1].with_text(_joined(whole[-1].text[:-1], head, known))
            if not rest.strip():
                continue
            text = rest
        whole.append(line.with_text(text.rstrip()))
    if whole and whole[-1].text.endswith("\ufffe"):
        whole[-1] = whole[-1].with_text(whole[-1].text[:-1] + "-")
    return [line.with_text(_mended_inside(line.text, known)) for line in whole]


def _mended_inside(text: str, known: Counter[str]) -> str:
    """Words broken at the line ends of a cell, and every other hyphen."""
    if "\ufffe" not in text:
        return text
    return _BROKEN_IN_CELL.sub(lambda word: _joined(word[1], word[2], known), text).replace("\ufffe", "-")


def _joined(before: str, after: str, known: Counter[str]) -> str:
    """The two halves of a word, with the hyphen or without, as the rest of the document writes it."""
    left = re.search(r"[^\W\d_]+$", before)
    right = re.match(r"[^\W\d_]+", after)
    if left is None or right is None or right.group()[0].isupper():
        return f"{before}-{after}"
    joined, hyphened = f"{left.group()}{right.group()}".lower(), f"{left.group()}-{right.group()}".lower()
    both_words = known[left.group().lower()] > 1 and known[right.group().lower()] > 1
    keep = known[hyphened] > known[joined] or (not known[joined] and both_words)
    return f"{before}-{after}" if keep else f"{before}{after}"
