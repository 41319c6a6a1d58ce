"""Finds abbreviations, defined terms and code names that a text defines itself."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from core.domain.entities import Entity, EntityType
from core.knowledge.entities import name_words
from core.ner.capitalised import type_of_name, well_known
from core.ner.lexicon import NameMatch, NameToken, gap_joins, name_key, read_words
from core.text.tokenize import STOP_WORDS

__all__ = [
    "ABBREVIATION",
    "SPELLED_OUT",
    "Abbreviation",
    "abbreviations",
    "code_names",
    "concept_name",
    "defined_terms",
    "spelled_out",
]

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

_LONGEST_TERM = 5  # In words. Chosen by hand, not fitted.


def abbreviations(text: str, words: Sequence[NameToken]) -> Iterator[NameMatch]:
    """Abbreviated names where the text defines them, each with its abbreviation as an alias.

    Accepts an abbreviation when its letters are the initials of the preceding words, ignoring small words: a stricter
    form of Schwartz & Hearst, "A simple algorithm for identifying abbreviation definitions" (2003).

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


def _expansion(short: str, text: str, words: Sequence[NameToken], last: int) -> int | None:
    """Index of the first word of the expansion that ends at `last`, or None if the initials do not match."""
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


def _abbreviated(short: str, long: Sequence[str], start: int, end: int) -> NameMatch:
    phrase = " ".join(word.replace("’", "'") for word in long)
    known = well_known(phrase)
    alias = short[:-1] if short.endswith("s") and short[:-1].isupper() and len(short) > 2 else short
    if known is not None:
        return NameMatch(replace(known, aliases=tuple(sorted({*known.aliases, alias}))), start, end)
    kind = type_of_name(long)
    name = concept_name(phrase) if kind is EntityType.CONCEPT else phrase
    return NameMatch(Entity(name, kind, (alias,)), start, end)


def concept_name(phrase: str) -> str:
    """The canonical name of a term: lower case, last word singular.

    >>> concept_name("Qualified  Beneficiaries"), concept_name("401(k) plans")
    ('qualified beneficiary', '401(k) plan')
    """
    words = phrase.casefold().replace("’", "'").split()
    return " ".join(name_key(words)) if words else ""


def defined_terms(text: str) -> Iterator[NameMatch]:
    """Terms that the text defines: quoted, in bold, or as the subject of "… means".

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
                yield NameMatch(entity, match.start("term"), match.start("term") + len(term))


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


def code_names(text: str) -> Iterator[NameMatch]:
    """Identifiers between backquotes, recognised by inner capitals or underscores: `storeAll`, `MAX_SIZE`.

    >>> [found.entity.name for found in code_names("Set `maxRows` to `true`, never `rows`.")]
    ['maxRows']
    """
    for match in _CODE.finditer(text):
        if _HUMPED.search(match["name"]):
            yield NameMatch(Entity(match["name"], EntityType.TECHNOLOGY), match.start("name"), match.end("name"))


_BEFORE = 160  # characters searched for the expansion before an abbreviation; chosen by hand, not fitted

_SHORT = re.compile(r"(?=(?:[^A-Z]*[A-Z]){2})[A-Z][A-Za-z&/]{1,9}")


class Abbreviation:
    """The abbreviations one document defines, with their meanings."""

    def __init__(self, meanings: Mapping[str, str]) -> None:
        self._meanings = meanings
        longest = sorted(meanings, key=lambda short: (-len(short), short))
        self._used = (
            re.compile(rf"(?<![\w&/])(?:{'|'.join(map(re.escape, longest))})(?=s?(?![\w&/]))") if meanings else None
        )

    def of(self, text: str, most: int) -> str:
        """Meanings of the abbreviations in a text that it does not spell out, in text order, at most `most` characters.

        >>> Abbreviation({"PHI": "protected health information"}).of("BA reports loss of PHI.", 220)
        'PHI: protected health information'
        """
        if self._used is None:
            return ""
        listed, folded = "", text.casefold()
        for short in dict.fromkeys(self._used.findall(text)):
            longer = f"{listed}; {short}: {self._meanings[short]}".removeprefix("; ")
            if self._meanings[short].casefold() not in folded and len(longer) <= most:
                listed = longer
        return listed


def spelled_out(texts: Iterable[str]) -> Abbreviation:
    """The abbreviations defined in the texts of one document; the first definition wins.

    >>> spelled_out(["Protected health information (PHI) is kept."]).of("Send no PHI.", 220)
    'PHI: protected health information'
    """
    meanings: dict[str, str] = {}
    for text in texts:
        for pattern, before in ((ABBREVIATION, _BEFORE), (SPELLED_OUT, 0)):
            for match in pattern.finditer(text):
                window = text[max(0, match.start() - before) : match.end()]
                for named in abbreviations(window, read_words(window)):
                    for alias in named.entity.aliases:
                        if _SHORT.fullmatch(alias):
                            meanings.setdefault(alias, named.entity.name)
    return Abbreviation(meanings)
