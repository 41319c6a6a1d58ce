"""Finds the citations of a text: ids in square brackets ("[42.3]", "[42]"), and places ("[handbook.pdf, p.5]")."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.answers.context import sentences_with_marks

__all__ = ["PlaceReference", "SentenceReference", "cited_sentences", "reference_of"]

_BRACKETS = re.compile(r"[ \t]*\[([^\[\]\n]{1,300})\](?!\()")
_IDS = re.compile(r"\s*\d+(?:\.\d+)?(?:\s*,\s*\d+(?:\.\d+)?)*\s*")
_PLACE = re.compile(
    r"(?P<name>.+?)(?:,?\s+(?:p\.|pp\.|page)\s*(?P<page>\d+)(?:\s*[-–]\s*\d+)?"
    r"|,?\s+rows?\s+(?P<first>\d+)(?:\s*[-–]\s*(?P<last>\d+))?)?\s*"
)
_FILE = re.compile(r"(?P<name>.+?\.[A-Za-z][A-Za-z0-9]{1,4})\s*(?:,\s+(?P<heading>.+?)\s*)?")


@dataclass(frozen=True, slots=True)
class SentenceReference:
    """A passage by its id. sentence: 0-based index of one of its sentences; None for the whole passage."""

    passage_id: int
    sentence: int | None = None


@dataclass(frozen=True, slots=True)
class PlaceReference:
    """A document by its name. page: 1-based; rows: first and last; heading: as citations write it. The whole document
    where none of them is given."""

    name: str
    page: int | None = None
    rows: tuple[int, int] | None = None
    heading: str = ""


def cited_sentences(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The sentences of a text without its citations, each with its own, as written.

    >>> list(cited_sentences("Paid weekly [42.3, 43]. Deposits [sic] are due [pub15.pdf, p.5]."))
    [('Paid weekly.', ('42.3', '43')), ('Deposits [sic] are due.', ('pub15.pdf, p.5',))]
    """
    plain, marks, end = "", [], 0
    for match in _BRACKETS.finditer(text):
        names = [name for part in match[1].split(";") for name in _names(part)]
        if not names:
            continue
        plain += text[end : match.start()]
        marks.append((len(plain), names))
        end = match.end()
    yield from sentences_with_marks(plain + text[end:], marks)


def _names(part: str) -> list[str]:
    """The citations between two semicolons; none for words that are no citation."""
    if _IDS.fullmatch(part):
        return [name.strip() for name in part.split(",")]
    match = _PLACE.fullmatch(part)
    is_place = match is not None and (match["page"] or match["first"] or _FILE.fullmatch(part))
    return [" ".join(part.split())] if is_place else []


def reference_of(name: str) -> SentenceReference | PlaceReference:
    """What a citation, as written, refers to.

    >>> reference_of("42.3"), reference_of("a.pdf, p.5")
    (SentenceReference(passage_id=42, sentence=3), PlaceReference(name='a.pdf', page=5, rows=None, heading=''))
    >>> reference_of("leave.md, Who, when, how").heading
    'Who, when, how'
    """
    if _IDS.fullmatch(name):
        passage, _, sentence = name.partition(".")
        return SentenceReference(int(passage), int(sentence) if sentence else None)
    match = _PLACE.fullmatch(name)
    assert match is not None  # every text matches, as all but the name is optional
    headed = _FILE.fullmatch(name)
    if headed and headed["heading"] and not match["page"] and not match["first"]:
        return PlaceReference(headed["name"], heading=headed["heading"])
    rows = (int(match["first"]), int(match["last"] or match["first"])) if match["first"] else None
    return PlaceReference(match["name"].strip(), int(match["page"]) if match["page"] else None, rows)
