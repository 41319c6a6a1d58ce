"""Loads a document for enrichment: text, sentences, phrases and vectors from the stores."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Document, Passage, TableRole
from core.domain.int8_vectors import unpacked
from core.ingestion.classification.sample import name_words
from core.library.enrichment.values import QuotedSpan
from core.search.citations.cite import QuotableKind, display_quote, quotables

__all__ = ["DocumentText", "Heading", "TextSentence", "is_prose", "reading_of"]

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")

_ENDS = re.compile(r"[.!?。！？][\"'”’)\]*_]*$")

_LEADERS = re.compile(r"\.{4,}|(?:\. ){4,}|…{2,}|_{4,}")

_CODE = re.compile(r"\*\*|\s>\s|[{}<>=;\\|]|\w\(\)|https?://|//|^\s*(?:#include|import|def |var |const )")

_BEGINS = re.compile(r"[\"'“‘(*_\[]*[^\W\d_]")

_LEAST_WORDS, _MOST_LETTERS = 6, 420


@dataclass(frozen=True, slots=True)
class TextSentence:
    """A sentence of the document without a leading list marker.

    said: its quote. shown: as displayed, on one line and without Markdown markup. position: index in
    `DocumentText.sentences`. item: whether it is a list item. vector: its row of `DocumentText.vectors`, -1 for none.
    """

    quote: QuotedSpan
    shown: str
    section: str
    position: int
    item: bool = False
    vector: int = -1


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading, and the index in `DocumentText.sentences` of the sentence that follows it."""

    text: str
    followed_by: int


@dataclass(frozen=True)
class DocumentText:
    """A document as the enrichment operations read it.

    language: ISO 639-1, "" when unknown. truth, media_type: of the document. name_words: its file name as words. body:
    the text, at most 60,000 characters; the first `opening` characters are its opening. setup: whether a table of it is
    a set-up table. sentences: in reading order, without table rows and headings. rows: texts of table rows; columns:
    names of the columns; computed: sentences that describe a table. vectors: float32, shape (n, dim), L2-normalised;
    may be empty. partly: whether passages of a long document were left out, evenly.
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
    sentences: tuple[TextSentence, ...] = ()
    headings: tuple[Heading, ...] = ()
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    computed: tuple[TextSentence, ...] = ()
    vectors: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32), repr=False)
    partly: bool = False

    @property
    def english(self) -> bool:
        """Whether English patterns apply; a text too short for language detection counts as English."""
        return self.language in ("", "en")

    @property
    def is_table(self) -> bool:
        """Whether it is mostly a data table."""
        return bool(self.computed) and len(self.rows) > len(self.sentences)

    @cached_property
    def prose(self) -> tuple[TextSentence, ...]:
        """The whole sentences, each once; a sentence repeated three times in different places is page furniture and
        left out.
        """
        counts: dict[str, int] = {}
        for each in self.sentences:
            key = " ".join(each.shown.casefold().split())
            counts[key] = counts.get(key, 0) + 1
        unique: dict[str, TextSentence] = {}
        for each in self.sentences:
            key = " ".join(each.shown.casefold().split())
            if counts[key] < 3 and key not in unique and is_prose(each.shown):
                unique[key] = each
        return tuple(unique.values())


def is_prose(text: str) -> bool:
    """Whether a text is a complete sentence: no fragment, title, address, table row or line of code.

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


_COMPUTED = "(computed from all its rows)"
"""The end of the heading above the description of a table that core.ingestion.parsers.table_text writes."""

# Bounds on the time one document takes. Chosen by hand, not fitted.
_MOST_PASSAGES = 400

_FROM_THE_OPENING = 100

_LONGEST_TEXT = 60_000

_MARK = re.compile(r"(?:[-*+•●○▪■◦➢]\s+|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)]\s+|#{1,6}\s+|>\s*)+")

_CONTENTS = re.compile(r"(?i)(?:table of )?contents$|inhalt(?:sverzeichnis)?$|index$")

_CELL = re.compile(r"\s*([^:;|\n]{1,60}): ")

_LEADER = re.compile(r"(?m)(?:\.{3,}|(?:\. ){3,}|…)\s*\d+\s*$")


# One pass over the passages: what each part of them is, is decided in one place.
def reading_of(document: Document, passages: Sequence[Passage]) -> DocumentText:
    """The DocumentText of a document. passages: in reading order.

    Of a document of more than 400 passages the first 100 are read and 300 more, evenly spaced; tables of contents are
    left out.
    """
    chosen = _chosen([each for each in passages if not _is_contents(each)])
    sentences: list[TextSentence] = []
    headings: list[Heading] = []
    rows: list[str] = []
    columns: list[str] = []
    computed: list[TextSentence] = []
    vectors: list[NDArray[np.float32]] = []
    for passage, spans in _once(chosen):
        meanings = _meanings(passage)
        for index, start, end, kind in spans:
            text = passage.text[start:end]
            if passage.rows is not None:
                rows.append(text)
                columns += [each for each in _columns(text) if each not in columns]
            elif kind is not QuotableKind.SENTENCE:
                headings.append(Heading(display_quote(text), len(sentences)))
            else:
                known = meanings is not None
                sentence = _sentence(passage, index, start, end, len(sentences), len(vectors) if known else -1)
                if passage.section.endswith(_COMPUTED):
                    computed.append(sentence)
                    continue
                sentences.append(sentence)
                if meanings is not None:
                    vectors.append(meanings[index])
    return DocumentText(
        name=document.name,
        title=document.title,
        language=document.labels.language.value or "",
        truth=document.labels.truth.value,
        media_type=document.media_type,
        name_words=name_words(document.name),
        body="\n".join(each.text for each in chosen)[:_LONGEST_TEXT],
        setup=any(each.table_role is TableRole.SETUP for each in passages),
        sentences=tuple(sentences),
        headings=tuple(headings),
        rows=tuple(rows),
        columns=tuple(columns),
        computed=tuple(computed),
        vectors=np.stack(vectors) if vectors else np.zeros((0, 0), dtype=np.float32),
        partly=len(chosen) < len(passages),
    )


def _chosen(passages: Sequence[Passage]) -> Sequence[Passage]:
    if len(passages) <= _MOST_PASSAGES:
        return passages
    rest, remaining = passages[_FROM_THE_OPENING:], _MOST_PASSAGES - _FROM_THE_OPENING
    return [*passages[:_FROM_THE_OPENING], *(rest[index * len(rest) // remaining] for index in range(remaining))]


def _is_contents(passage: Passage) -> bool:
    lines = max(1, sum(bool(line.strip()) for line in passage.text.split("\n")))
    last = passage.section.rsplit("›", 1)[-1].strip()
    return _CONTENTS.match(last) is not None or len(_LEADER.findall(passage.text)) * 2 > lines


def _once(passages: Sequence[Passage]) -> Iterator[tuple[Passage, list[tuple[int, int, int, QuotableKind]]]]:
    """Each passage with what it says beyond the end of the one before, which it may repeat."""
    seen: set[tuple[int, int]] = set()
    for passage in passages:
        fresh = []
        for part in quotables(passage):
            position = (passage.page, passage.start + part.span.start)
            if position not in seen:
                seen.add(position)
                fresh.append((part.index, part.span.start, part.span.end, part.kind))
        yield passage, fresh


def _columns(row: str) -> list[str]:
    """The column names of a row written as "name: value; name: value"."""
    return [found[1] for found in map(_CELL.match, row.split("; ")) if found]


def _meanings(passage: Passage) -> NDArray[np.float32] | None:
    """The vectors of a passage's sentences, shape (sentences, dim); None when none were measured."""
    count = len(passage.sentences)
    if not passage.meanings or not count or len(passage.meanings) % count:
        return None
    return unpacked(np.frombuffer(passage.meanings, dtype=np.int8).reshape(count, -1))


def _sentence(passage: Passage, index: int, start: int, end: int, position: int, vector: int) -> TextSentence:
    text = passage.text[start:end]
    mark = _MARK.match(text)
    start += mark.end() if mark else 0
    offset = passage.start + start
    quote = QuotedSpan(passage.text[start:end], passage.page, offset, passage.start + end, passage.id, index)
    return TextSentence(quote, display_quote(quote.text), passage.section, position, mark is not None, vector)
