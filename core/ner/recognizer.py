"""Runs every name recogniser on a text and keeps the longest of overlapping matches."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from core.domain.entities import Entity, EntityType
from core.ner.capitalised import capitalised_names, known_lexicon
from core.ner.definitions import abbreviations, code_names, defined_terms
from core.ner.legal_citations import cases
from core.ner.lexicon import NameMatch, NameToken, read_words
from core.ner.patterns import numbered_names

__all__ = ["in_cells", "joined_entities", "longest", "names_in"]


_CELLS = (EntityType.MONEY, EntityType.DATE, EntityType.CONCEPT, EntityType.TECHNOLOGY)


def names_in(text: str, words: Sequence[NameToken] | None = None, *, in_table: bool = False) -> tuple[NameMatch, ...]:
    """The entities named in a text, in reading order; none lies inside another.

    words: the text's tokens, if already read. in_table: the text is a table row or summary, so amounts, dates and
    terms are cell values or column headers, not names.

    >>> said = "File Form W-2 with the Social Security Administration (SSA) by January 31. It may help us."
    >>> [found.entity.name for found in names_in(said)]
    ['Form W-2', 'Social Security Administration', 'January 31']
    """
    found = list(_found(text, read_words(text) if words is None else words))
    if in_table:
        found = [each for each in found if not in_cells(each)]
    return longest(found)


def in_cells(named: NameMatch) -> bool:
    """Whether this match, inside a table, is a cell value or column header: an amount, date, term or product."""
    return named.entity.type in _CELLS


def _found(text: str, words: Sequence[NameToken]) -> Iterator[NameMatch]:
    return chain(
        numbered_names(text),
        abbreviations(text, words),
        known_lexicon().find(text, words),
        capitalised_names(text, words),
        defined_terms(text),
        code_names(text),
        cases(text),
    )


def longest(found: Iterable[NameMatch]) -> tuple[NameMatch, ...]:
    """Non-overlapping matches in reading order: the longest wins, then the earliest."""
    chosen: list[NameMatch] = []
    for each in sorted(found, key=lambda named: (named.start - named.end, named.start)):
        if all(each.end <= other.start or other.end <= each.start for other in chosen):
            chosen.append(each)
    return tuple(sorted(chosen, key=lambda named: named.start))


def joined_entities(entities: Iterable[Entity]) -> tuple[Entity, ...]:
    """Each entity once, in order of first mention, with all its aliases merged."""
    joined: dict[str, Entity] = {}
    for entity in entities:
        known = joined.get(entity.name)
        if known is None:
            joined[entity.name] = entity
        elif not set(entity.aliases) <= set(known.aliases):
            joined[entity.name] = Entity(known.name, known.type, tuple(sorted({*known.aliases, *entity.aliases})))
    return tuple(joined.values())
