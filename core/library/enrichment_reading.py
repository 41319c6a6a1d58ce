"""A document as the operations of core.enrich read it."""

import re
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from core.documents import Document, Passage, TableRole
from core.enrich.reading import Heading, Reading, Sentence
from core.enrich.values import Said
from core.ingest.classify_reading import name_words
from core.search.quotable import QuotableKind, quotables, shown_quote
from core.vectors import unpacked

__all__ = ["reading_of"]

_COMPUTED = "(computed from all its rows)"
"""So ends the heading over what core.ingest.extract.tables tells of a table in words."""

_MOST_PASSAGES = 400
_FROM_THE_OPENING = 100
_MOST_LETTERS = 60_000
_MARK = re.compile(r"(?:[-*+•●○▪■◦➢]\s+|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)]\s+|#{1,6}\s+|>\s*)+")
_CONTENTS = re.compile(r"(?i)(?:table of )?contents$|inhalt(?:sverzeichnis)?$|index$")
_CELL = re.compile(r"\s*([^:;|\n]{1,60}): ")
_LEADER = re.compile(r"(?m)(?:\.{3,}|(?:\. ){3,}|…)\s*\d+\s*$")


# One pass over the passages: what each part of them is, is decided in one place.
def reading_of(document: Document, passages: Sequence[Passage]) -> Reading:
    """What is read of a document's passages, which are given in reading order.

    Of a document of more than 400 passages the first 100 are read and 300 more, evenly spread; tables of contents are
    left out.
    """
    chosen = _chosen([each for each in passages if not _is_contents(each)])
    sentences: list[Sentence] = []
    headings: list[Heading] = []
    rows: list[str] = []
    columns: list[str] = []
    computed: list[Sentence] = []
    vectors: list[NDArray[np.float32]] = []
    for passage, spans in _once(chosen):
        meanings = _meanings(passage)
        for index, start, end, kind in spans:
            text = passage.text[start:end]
            if passage.rows is not None:
                rows.append(text)
                columns += [each for each in _columns(text) if each not in columns]
            elif kind is not QuotableKind.SENTENCE:
                headings.append(Heading(shown_quote(text), len(sentences)))
            else:
                known = meanings is not None
                sentence = _sentence(passage, index, start, end, len(sentences), len(vectors) if known else -1)
                if passage.section.endswith(_COMPUTED):
                    computed.append(sentence)
                    continue
                sentences.append(sentence)
                if meanings is not None:
                    vectors.append(meanings[index])
    return Reading(
        name=document.name,
        title=document.title,
        language=document.labels.language.value or "",
        truth=document.labels.truth.value,
        media_type=document.media_type,
        name_words=name_words(document.name),
        body="\n".join(each.text for each in chosen)[:_MOST_LETTERS],
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
    rest, wanted = passages[_FROM_THE_OPENING:], _MOST_PASSAGES - _FROM_THE_OPENING
    return [*passages[:_FROM_THE_OPENING], *(rest[place * len(rest) // wanted] for place in range(wanted))]


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
            place = (passage.page, passage.start + part.span.start)
            if place not in seen:
                seen.add(place)
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


def _sentence(passage: Passage, index: int, start: int, end: int, position: int, vector: int) -> Sentence:
    text = passage.text[start:end]
    mark = _MARK.match(text)
    start += mark.end() if mark else 0
    place = passage.start + start
    said = Said(passage.text[start:end], passage.page, place, passage.start + end, passage.id, index)
    return Sentence(said, shown_quote(said.text), passage.section, position, mark is not None, vector)
