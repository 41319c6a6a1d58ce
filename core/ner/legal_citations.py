"""Extracts legal citations with eyecite: court decisions, the Federal Register, session laws, statutes and codes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from core.domain.entities import Entity, EntityType
from core.ner.lexicon import NameMatch

__all__ = ["CitationKind", "LegalCitationMatch", "case_names", "cited"]

_CASE = re.compile(
    r"\b\d{1,4}\s+(?:U\.\s?S\.\s+\d|S\.\s?Ct\.|L\.\s?Ed\.|F\.\s?(?:2d|3d|4th|Supp)|F\.\s?Appx|B\.R\.|Fed\.\s?Cl\."
    r"|A\.\s?[23]d|P\.\s?[23]d|N\.E\.|N\.W\.|S\.E\.|S\.W\.|So\.\s?[23]d|Cal\.|N\.Y\.|Ill\.|Ohio)"
)
_LAW = re.compile(r"§|\bC\.?\s?F\.?\s?R|U\.\s?S|Pub\. L|\bStat\.|Fed\. Reg|\d FR \d")
_AROUND = 240  # Characters given to eyecite on each side of a candidate. Chosen by hand, not fitted.
_PARTY = re.compile(r"^[A-Z0-9][\w.,&’' -]{1,60}$")


class CitationKind(StrEnum):
    """What is cited: an act or code, a regulation, a court decision, or a Federal Register notice."""

    STATUTE = "statute"
    REGULATION = "regulation"
    CASE = "case"
    REGISTER = "register"


@dataclass(frozen=True, slots=True)
class LegalCitationMatch:
    """A citation at text[start:end]. name: normalised citation. case: parties of a court decision, "" if unknown."""

    name: str
    kind: CitationKind
    start: int
    end: int
    case: str = ""


def cited(text: str) -> tuple[LegalCitationMatch, ...]:
    """All full citations in a text; ignores short forms ("Id.", "supra").

    >>> said = "See Smith v. Jones, 45 F.3d 67 (9th Cir. 1999); 84 Fed. Reg. 51,230 and 29 C.F.R. § 778.113(a)."
    >>> [(found.name, str(found.kind), found.case) for found in cited(said)]
    [('45 F.3d 67', 'case', 'Smith v. Jones'), ('84 FR 51230', 'register', ''), ('29 CFR 778.113', 'regulation', '')]
    """
    if not (_LAW.search(text) or _CASE.search(text)):
        return ()
    return tuple(_found(text, 0))


def case_names(text: str) -> Iterator[NameMatch]:
    """Court decisions in a text, as entities. Runs eyecite only around likely reporter citations, to save time.

    >>> [found.entity.name for found in case_names("As in Smith v. Jones, 45 F.3d 67 (9th Cir. 1999), it is due.")]
    ['45 F.3d 67']
    """
    end = 0
    for match in _CASE.finditer(text):
        if match.start() < end:
            continue
        start, end = max(end, match.start() - _AROUND), match.end() + _AROUND
        for found in _found(text[start:end], start):
            if found.kind is CitationKind.CASE:
                aliases = (found.case,) if found.case else ()
                yield NameMatch(Entity(found.name, EntityType.LAW, aliases), found.start, found.end)


@cache
def _eyecite() -> Any:
    import logging

    import eyecite

    logging.getLogger("eyecite").setLevel(
        logging.ERROR
    )  # eyecite warns about overlapping citations, which are harmless here
    return eyecite


def _found(text: str, offset: int) -> Iterator[LegalCitationMatch]:
    from eyecite.models import FullCaseCitation, FullLawCitation

    for each in _eyecite().get_citations(text):
        is_case = isinstance(each, FullCaseCitation)
        if is_case or isinstance(each, FullLawCitation):
            yield from _cited(each, text, offset, is_case=is_case)


def _cited(citation: Any, text: str, offset: int, *, is_case: bool) -> Iterator[LegalCitationMatch]:
    start, end = citation.span()
    citation_text = text[start:end].rstrip(" .,;")
    if not citation_text:
        return
    kind = CitationKind.CASE if is_case else _kind(str(citation.groups.get("reporter", "")))
    name = citation.corrected_citation() if is_case else _law_name(citation_text, kind)
    parties = _parties(citation) if is_case else ""
    yield LegalCitationMatch(name, kind, offset + start, offset + start + len(citation_text), parties)


def _kind(reporter: str) -> CitationKind:
    plain = reporter.replace(" ", "").replace(".", "").upper()
    if plain in ("FR", "FEDREG"):
        return CitationKind.REGISTER
    return CitationKind.REGULATION if "CFR" in plain or plain.endswith("REGS") else CitationKind.STATUTE


def _law_name(citation_text: str, kind: CitationKind) -> str:
    """The citation as written, with Federal Register and CFR citations normalised."""
    plain = " ".join(citation_text.split())
    if kind is CitationKind.REGISTER:
        return re.sub(r"(\d+)\s+(?:Fed\.\s?Reg\.|F\.?R\.?)\s*", r"\1 FR ", plain).replace(",", "")
    if kind is CitationKind.REGULATION:
        plain = re.sub(r"\(\w+\).*$", "", plain)
        return re.sub(r"\s*C\.?\s?F\.?\s?R\.?\s*(?:§+\s*)?", " CFR ", plain)
    return plain


def _parties(citation: Any) -> str:
    """The parties as "Smith v. Jones", or "" unless both names are plain."""
    first, second = (str(getattr(citation.metadata, side) or "").strip() for side in ("plaintiff", "defendant"))
    return f"{first} v. {second}" if _PARTY.match(first) and _PARTY.match(second) else ""
