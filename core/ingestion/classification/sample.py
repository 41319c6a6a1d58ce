"""Samples a document for the classifier: name, opening, a spread of its text, and some sentences."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.domain.documents import Document, Page
from core.ports.stores import Vectors

__all__ = [
    "DocumentSample",
    "StoredReading",
    "name_words",
    "quote_around",
    "read_for_classifying",
    "sentence_starts",
]

_OPENING_CHARACTERS = 1_500  # This and the sizes below were chosen by hand, not fitted.
_SAMPLE_CHARACTERS = 60_000
_HEAD_CHARACTERS = 20_000
_WINDOWS = 10
_SEGMENTS_FROM_OPENING, _SEGMENTS = 8, 24
_SEGMENT_CHARACTERS = (30, 320)
_QUOTE_CHARACTERS = 200
_SENTENCE_MARKS = ("\n", ". ", "; ", "? ", "! ")

_SENTENCE_END = re.compile(r"(?<=[.!?:;])\s+|\n\s*\n")
_BREAK = re.compile(r"[.!?;。！？；]\s+|\n+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])")
_NOT_NAME = re.compile(r"[_\-+()\[\]~]+|(?<=\D)\.|\.(?=\D)")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class DocumentSample:
    """name_words: the file name split into words. opening: the first characters of text. body: a sample of the text,
    at most 60,000 characters: the beginning and evenly spread windows. segments: sentences of the body.
    """

    name: str
    name_words: str
    title: str
    opening: str
    body: str
    words: int
    segments: tuple[str, ...]
    metadata: Mapping[str, str]


StoredReading = Callable[[Document], tuple[DocumentSample, Vectors] | None]
"""What was read of a stored document, with the vectors of its segments; None when its pages are gone."""


def read_for_classifying(name: str, title: str, pages: Sequence[Page], metadata: Mapping[str, str]) -> DocumentSample:
    """Samples extracted pages; apart from joining the pages, cost does not grow with the document."""
    text = "\n\n".join(page.text for page in pages if page.text.strip())
    body = _sample(text)
    return DocumentSample(
        name=name,
        name_words=name_words(name),
        title=title,
        opening=body[:_OPENING_CHARACTERS],
        body=body,
        words=len(_WORD.findall(body)),
        segments=_segments(body),
        metadata=metadata,
    )


def name_words(name: str) -> str:
    """A file name or path split into words.

    >>> name_words("hr/StatementOfWork_v1.2-final.docx")
    'hr Statement Of Work v1.2 final docx'
    """
    return " ".join(_CAMEL.sub(" ", _NOT_NAME.sub(" ", name.replace("/", " ").replace("\\", " "))).split())


@lru_cache(1)  # of one document, for every head
def sentence_starts(text: str) -> Sequence[int]:
    """Where the sentences and lines of a text begin, ascending; the first is 0.

    >>> sentence_starts("One. Two\\nThree")
    [0, 5, 9]
    """
    return [0, *(match.end() for match in _BREAK.finditer(text))]


def quote_around(text: str, start: int, end: int) -> str:
    """The sentence or line around text[start:end], verbatim, up to 100 characters on each side."""
    lefts = [at + len(mark) for mark in _SENTENCE_MARKS if (at := text.rfind(mark, 0, start)) >= 0]
    left = max([*lefts, 0, start - _QUOTE_CHARACTERS // 2])
    rights = [at for mark in _SENTENCE_MARKS if (at := text.find(mark, end)) >= 0]
    right = min([*rights, len(text), end + _QUOTE_CHARACTERS // 2])
    while left < start and left > 0 and text[left - 1].isalnum() and text[left].isalnum():
        left += 1
    while right > end and right < len(text) and text[right - 1].isalnum() and text[right].isalnum():
        right -= 1
    return text[min(left, start) : right].strip()


def _sample(text: str) -> str:
    if len(text) <= _SAMPLE_CHARACTERS:
        return text
    length = (_SAMPLE_CHARACTERS - _HEAD_CHARACTERS) // _WINDOWS
    step = (len(text) - _HEAD_CHARACTERS - length) // (_WINDOWS - 1)
    starts = [_HEAD_CHARACTERS + i * step for i in range(_WINDOWS)]
    return "\n\n".join([text[:_HEAD_CHARACTERS], *(text[start : start + length] for start in starts)])


def _segments(body: str) -> tuple[str, ...]:
    least, most = _SEGMENT_CHARACTERS
    found: list[str] = []
    at = 0
    for match in _SENTENCE_END.finditer(body):
        found.append(body[at : match.start()].strip()[:most])
        at = match.end()
    found.append(body[at:].strip()[:most])
    found = list(dict.fromkeys(segment for segment in found if len(segment) >= least and _WORD.search(segment)))
    rest = found[_SEGMENTS_FROM_OPENING:]
    remaining = _SEGMENTS - _SEGMENTS_FROM_OPENING
    spread = rest if len(rest) <= remaining else [rest[i * len(rest) // remaining] for i in range(remaining)]
    return tuple(found[:_SEGMENTS_FROM_OPENING] + spread)
