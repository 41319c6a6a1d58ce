"""What a text names: every way of finding names together, the longest where several claim the same words."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from core.entities import Entity, EntityType
from core.naming.capitalised import capitalised_names, known_lexicon
from core.naming.cited import cases
from core.naming.defined import abbreviations, code_names, defined_terms
from core.naming.numbered import numbered_names
from core.naming.words import Named, Word, read_words

__all__ = ["in_cells", "joined_entities", "longest", "names_in"]


_CELLS = (EntityType.MONEY, EntityType.DATE, EntityType.CONCEPT, EntityType.TECHNOLOGY)


def names_in(text: str, words: Sequence[Word] | None = None, *, in_table: bool = False) -> tuple[Named, ...]:
    """The entities a text names, in reading order; none lies inside another.

    words: of the text, when they were read before. in_table: a row or summary of a table, whose amounts, days and terms
    are values and heads of columns, not names.

    >>> said = "File Form W-2 with the Social Security Administration (SSA) by January 31. It may help us."
    >>> [found.entity.name for found in names_in(said)]
    ['Form W-2', 'Social Security Administration', 'January 31']
    """
    found = list(_found(text, read_words(text) if words is None else words))
    if in_table:
        found = [each for each in found if not in_cells(each)]
    return longest(found)


def in_cells(named: Named) -> bool:
    """Whether such a name in a table is a cell's value or the head of a column: an amount, a day, a term, a product."""
    return named.entity.type in _CELLS


def _found(text: str, words: Sequence[Word]) -> Iterator[Named]:
    return chain(
        numbered_names(text),
        abbreviations(text, words),
        known_lexicon().find(text, words),
        capitalised_names(text, words),
        defined_terms(text),
        code_names(text),
        cases(text),
    )


def longest(found: Iterable[Named]) -> tuple[Named, ...]:
    """Those that lie in no longer one and overlap none that begins earlier with the same length; in reading order."""
    kept: list[Named] = []
    for each in sorted(found, key=lambda named: (named.start - named.end, named.start)):
        if all(each.end <= other.start or other.end <= each.start for other in kept):
            kept.append(each)
    return tuple(sorted(kept, key=lambda named: named.start))


def joined_entities(entities: Iterable[Entity]) -> tuple[Entity, ...]:
    """Each name once, in the order of first mention, with all aliases it was given."""
    joined: dict[str, Entity] = {}
    for entity in entities:
        known = joined.get(entity.name)
        if known is None:
            joined[entity.name] = entity
        elif not set(entity.aliases) <= set(known.aliases):
            joined[entity.name] = Entity(known.name, known.type, tuple(sorted({*known.aliases, *entity.aliases})))
    return tuple(joined.values())
