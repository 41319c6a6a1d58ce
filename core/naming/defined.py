"""Entities a text defines itself: abbreviations beside what they stand for, terms it gives a meaning, names in code."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from core.entities import Entity, EntityType
from core.matching import STOP_WORDS
from core.naming.capitalised import type_of_name, well_known
from core.naming.words import Named, Word, gap_joins, name_key, read_words
from core.tables.entities import name_words

__all__ = ["ABBREVIATION", "SPELLED_OUT", "abbreviations", "code_names", "concept_name", "defined_terms"]

ABBREVIATION = re.compile(r"\((?:the\s+)?[\"“'‘]?(?P<short>[A-Z][A-Za-z&/.]{1,9})[\"”'’]?\)")
SPELLED_OUT = re.compile(r"(?<![\w(])(?P<short>[A-Z]{2,8}) \((?P<long>[A-Z][A-Za-z’'&, -]{5,80})\)")
_QUOTED_TERM = re.compile(
    r"[“\"](?P<term>[A-Za-z][\w’' ()/-]{1,60})[”\"](?:\s*\([^)]{1,12}\))?,?\s+"
    r"(?:means?|has\s+the\s+meaning|is\s+defined|includes)\b"
)
_MARKED_TERM = re.compile(r"(?:\*\*|__)(?P<term>[A-Za-z][\w’' ()/-]{1,60}?)[.:]?(?:\*\*|__):?\s+means\b")
_PLAIN_TERM = re.compile(
    r"(?:^|\n|[.;:]\s+)[ \t]*(?:[-*•]\s+|\(?[\da-zA-Z]{1,3}[.)]\s+)*(?P<term>[A-Z][\w’'-]*(?: [\w’'-]+){0,3}) means"
    r" (?:the|an?|any|all|each|every|that|those|to|time|money|work|information|compensation|payments?|one|not|only)\b"
)
_CODE = re.compile(r"`(?P<name>[A-Za-z_][\w.]{3,59})(?:\(\))?`")
_HUMPED = re.compile(r"[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z]")
_SMALL = frozenset("of the and for in on to a an as by with or de &".split())
_LONGEST_TERM = 5


def abbreviations(text: str, words: Sequence[Word]) -> Iterator[Named]:
    """Abbreviated names where they are defined, each with its abbreviation as an alias.

    An abbreviation is believed when its letters are the first letters of the words before it, small words left out: a
    stricter form of Schwartz & Hearst, "A simple algorithm for identifying abbreviation definitions" (2003).

    >>> said = "The Bureau of Land Management (BLM) keeps a lease log (LL) and a list (see below)."
    >>> [(found.entity.name, found.entity.aliases) for found in abbreviations(said, read_words(said))]
    [('Bureau of Land Management', ('BLM',)), ('lease log', ('LL',))]
    """
    for match in ABBREVIATION.finditer(text):
        short = match["short"]
        last = next((at for at in range(len(words) - 1, -1, -1) if words[at].end <= match.start()), -1)
        first = _expansion(short, text, words, last) if last >= 0 and _capitals(short) >= 2 else None
        if first is not None and gap_joins(text[words[last].end : match.start()]):
            yield _abbreviated(short, [word.plain for word in words[first : last + 1]], words[first].start, match.end())
    for match in SPELLED_OUT.finditer(text):
        inner = [word for word in words if match.start("long") <= word.start and word.end <= match.end("long")]
        if inner and _expansion(match["short"], text, inner, len(inner) - 1) == 0:
            yield _abbreviated(match["short"], [word.plain for word in inner], match.start(), match.end())


def _capitals(short: str) -> int:
    return sum(letter.isupper() for letter in short)


def _expansion(short: str, text: str, words: Sequence[Word], last: int) -> int | None:
    """Where the words begin whose first letters are the abbreviation; they end at `last`. None: they are not."""
    letters = [letter.casefold() for letter in short if letter.isalnum()]
    if len(letters) > 2 and short.endswith("s") and short[:-1].isupper():
        letters.pop()
    at = last
    while letters and at >= 0:
        if at < last and not _same_phrase(text[words[at].end : words[at + 1].start]):
            return None
        initials = [part[0].casefold() for part in re.split(r"[-/&]", words[at].plain) if part]
        if letters[-len(initials) :] == initials:
            del letters[-len(initials) :]
        elif initials[0] == letters[-1]:
            letters.pop()
        elif words[at].key not in _SMALL:
            return None
        if letters:
            at -= 1
    return at if not letters and at >= 0 and words[at].key not in _SMALL else None


def _same_phrase(gap: str) -> bool:
    return gap_joins(gap) or gap in (", ", " & ")


def _abbreviated(short: str, long: Sequence[str], start: int, end: int) -> Named:
    said = " ".join(word.replace("’", "'") for word in long)
    known = well_known(said)
    alias = short[:-1] if short.endswith("s") and short[:-1].isupper() and len(short) > 2 else short
    if known is not None:
        return Named(replace(known, aliases=tuple(sorted({*known.aliases, alias}))), start, end)
    kind = type_of_name(long)
    name = concept_name(said) if kind is EntityType.CONCEPT else said
    return Named(Entity(name, kind, (alias,)), start, end)


def concept_name(said: str) -> str:
    """The canonical name of a term: small letters, its last word one of its kind.

    >>> concept_name("Qualified  Beneficiaries"), concept_name("401(k) plans")
    ('qualified beneficiary', '401(k) plan')
    """
    words = said.casefold().replace("’", "'").split()
    return " ".join(name_key(words)) if words else ""


def defined_terms(text: str) -> Iterator[Named]:
    """Terms where the text gives them a meaning: quoted, in bold, or as the subject of a sentence.

    >>> said = "The term “covered employees” means staff.  Overtime means the hours beyond forty. This means a lot."
    >>> [found.entity.name for found in defined_terms(said)]
    ['covered employee', 'overtime']
    """
    for pattern in (_QUOTED_TERM, _MARKED_TERM, _PLAIN_TERM):
        for match in pattern.finditer(text):
            term = match["term"].strip()
            if _is_term(term, marked=pattern is not _PLAIN_TERM):
                known = well_known(term)
                entity = known or Entity(concept_name(term), EntityType.CONCEPT)
                yield Named(entity, match.start("term"), match.start("term") + len(term))


def _is_term(term: str, *, marked: bool) -> bool:
    words = read_words(term)
    if not 1 <= len(words) <= _LONGEST_TERM or len(term) < 3:
        return False
    barred = name_words().not_terms
    if words[0].key in barred or words[0].key in STOP_WORDS or words[-1].key in STOP_WORDS:
        return False
    if marked:
        return True
    return not words[0].key.endswith("ing") and not any(
        word.key in STOP_WORDS for word in words if word.key not in _SMALL
    )


def code_names(text: str) -> Iterator[Named]:
    """Names of a program that stand between backquotes and are told by their humps: `storeAll`, `MAX_SIZE`.

    >>> [found.entity.name for found in code_names("Set `maxRows` to `true`, never `rows`.")]
    ['maxRows']
    """
    for match in _CODE.finditer(text):
        if _HUMPED.search(match["name"]):
            yield Named(Entity(match["name"], EntityType.TECHNOLOGY), match.start("name"), match.end("name"))
