"""What the operations read of a document: its sentences with where they stand and what they mean, and its headings."""

import re
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from core.enrich.values import Said

__all__ = ["Heading", "Reading", "Sentence", "is_prose"]

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_ENDS = re.compile(r"[.!?。！？][\"'”’)\]*_]*$")
_LEADERS = re.compile(r"\.{4,}|(?:\. ){4,}|…{2,}|_{4,}")
_CODE = re.compile(r"\*\*|\s>\s|[{}<>=;\\|]|\w\(\)|https?://|//|^\s*(?:#include|import|def |var |const )")
_BEGINS = re.compile(r"[\"'“‘(*_\[]*[^\W\d_]")
_LEAST_WORDS, _MOST_LETTERS = 6, 420


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the document without the mark of a list before it. shown: as one reads it, in one line and without
    Markdown's marks. position: in the reading, from 0. item: it stands in a list. vector: its row of Reading.vectors,
    -1 for none."""

    said: Said
    shown: str
    section: str
    position: int
    item: bool = False
    vector: int = -1


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading, and the place in `Reading.sentences` of what follows it."""

    text: str
    followed_by: int


@dataclass(frozen=True)
class Reading:
    """A document as the operations read it.

    language: ISO 639-1, "" when unknown; truth, media_type: as the document has them; name_words: its file name as
    words; body: the text of what is read, at most 60,000 characters, whose first `opening` are its opening; setup: a
    table of it says what is configured. sentences: in reading order, table rows and headings left out. rows: texts of
    table rows; columns: the names of the columns; computed: sentences that tell a table in words. vectors: float32,
    shape (n, dim), L2-normalised; may be empty. partly: a long document of which passages were left out, evenly.
    """

    name: str
    title: str
    language: str = ""
    truth: str | None = None
    media_type: str = ""
    name_words: str = ""
    body: str = ""
    opening: int = 1_500
    setup: bool = False
    sentences: tuple[Sentence, ...] = ()
    headings: tuple[Heading, ...] = ()
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    computed: tuple[Sentence, ...] = ()
    vectors: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32), repr=False)
    partly: bool = False

    @property
    def english(self) -> bool:
        """Whether English patterns may be trusted; a text too short to tell its language is taken for English."""
        return self.language in ("", "en")

    @property
    def is_table(self) -> bool:
        """Whether it is a table that can be counted, and mostly that."""
        return bool(self.computed) and len(self.rows) > len(self.sentences)

    @cached_property
    def prose(self) -> tuple[Sentence, ...]:
        """The whole sentences, each once: one that is said three times in other places is furniture."""
        counts: dict[str, int] = {}
        for each in self.sentences:
            key = " ".join(each.shown.casefold().split())
            counts[key] = counts.get(key, 0) + 1
        kept: dict[str, Sentence] = {}
        for each in self.sentences:
            key = " ".join(each.shown.casefold().split())
            if counts[key] < 3 and key not in kept and is_prose(each.shown):
                kept[key] = each
        return tuple(kept.values())


def is_prose(text: str) -> bool:
    """Whether a text is a whole written sentence: no fragment, title, address, row of a table or line of code.

    >>> is_prose("Employers must keep these records for at least three years.")
    True
    >>> [is_prose(each) for each in ("Table of contents", "Part II ....... 7", "and then filed.", "if (a) { b = 1; }")]
    [False, False, False, False]
    """
    text = text.strip()
    if len(text) > _MOST_LETTERS or not _ENDS.search(text) or not _BEGINS.match(text) or _LEADERS.search(text):
        return False
    words = _WORD.findall(text)
    if len(words) < _LEAST_WORDS or _CODE.search(text):
        return False
    first = next(char for char in text if char.isalpha())
    capitals = sum(word[0].isupper() for word in words)
    letters = sum(char.isalpha() or char.isspace() for char in text)
    return not first.islower() and capitals <= 0.6 * len(words) and letters >= 0.75 * len(text)
