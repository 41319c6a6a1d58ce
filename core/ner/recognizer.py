"""Named entities of a text and of a document's passages, by patterns and tables; deterministic, without a model.

Every recogniser reads the text, and the longest of overlapping matches is kept.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from core.domain.documents import Passage
from core.domain.entities import Entity, EntityType
from core.knowledge.entities import name_words
from core.ner.capitalised import capitalised_names, known_lexicon, well_known
from core.ner.definitions import abbreviations, code_names, defined_terms
from core.ner.legal_citations import case_names
from core.ner.lexicon import NameLexicon, NameMatch, NameToken, read_words
from core.ner.patterns import numbered_names
from core.ner.repeated_terms import repeated_terms

__all__ = ["entities_of", "in_cells", "joined_entities", "longest", "names_in", "tag_entities"]

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
        case_names(text),
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


_MOST_AMOUNTS = 8
"""A passage with more distinct amounts and dates is a table of numbers: both are ignored. Chosen by hand."""

_TITLE = re.compile(r"\bTitle\s+(\d{1,2})\b")
_SECTION = re.compile(r"§\s*(\d+[A-Za-z]{0,3})\b")
_OF_THIS_TITLE = re.compile(
    r"\b[Ss]ections?\s+(\d+[A-Za-z]{0,3})(?:\s*\([^)\s]{1,5}\))*(?:\s+(?:and|or)\s+(\d+[A-Za-z]{0,3})(?:\s*\([^)\s]{1,5}\))*)?"
    r"\s+of\s+this\s+title\b"
)
_NUMBERS = (EntityType.MONEY, EntityType.DATE)


def entities_of(
    passages: Sequence[Passage], on_passage: Callable[[int], None] = lambda done: None
) -> Sequence[Sequence[Entity]]:
    """The entities of each passage of one document, in order of first mention, each once.

    Takes the whole document: a name that one passage defines ("… Act (XYZ)", "“covered employee” means …") is
    recognised in all the others, and so is a term that the document keeps using as a name.

    >>> def passage(text): return Passage(text, 1, 0, len(text), ())
    >>> told = entities_of([passage("The Bureau of Land Management (BLM) decides."), passage("Ask BLM.")])
    >>> [[entity.name for entity in entities] for entities in told]
    [['Bureau of Land Management'], ['Bureau of Land Management']]
    """
    words = [read_words(passage.text) for passage in passages]
    found: list[list[NameMatch]] = []
    for passage, read in zip(passages, words, strict=True):
        found.append(list(_passage_matches(passage, read)))
        on_passage(len(found))
    joined = joined_entities(named.entity for each in found for named in each)
    named_ones = {spelling for entity in joined for spelling in (entity.name, *entity.aliases)}
    running = [(passage.text, read) for passage, read in zip(passages, words, strict=True) if passage.rows is None]
    terms = [
        (entity, [spelling])
        for entity, spelling in repeated_terms(running, (passage.section for passage in passages))
        if spelling not in named_ones and entity.name not in named_ones
    ]
    joined = joined_entities((*joined, *(entity for entity, _ in terms)))
    spelled = [(entity, spellings) for entity in joined if (spellings := _spellings(entity))]
    lexicon = NameLexicon([*terms, *spelled], name_words().wordlike)
    if lexicon:
        for passage, read, each in zip(passages, words, found, strict=True):
            named = lexicon.find(passage.text, read)
            each += (one for one in named if passage.rows is None or not in_cells(one))
    by_name = {entity.name: entity for entity in joined}
    return [_distinct_entities(each, by_name) for each in found]


def tag_entities(
    passages: Sequence[Passage], on_passage: Callable[[int], None] = lambda done: None
) -> tuple[tuple[Passage, ...], tuple[Entity, ...]]:
    """The passages with the names of their entities, and all entities of the document, each once.

    on_passage: called with the number done, after each; it may raise to end the work."""
    found = entities_of(passages, on_passage)
    named = tuple(
        replace(passage, entities=tuple(entity.name for entity in entities))
        for passage, entities in zip(passages, found, strict=True)
    )
    return named, joined_entities(entity for entities in found for entity in entities)


def _passage_matches(passage: Passage, words: Sequence[NameToken]) -> Iterator[NameMatch]:
    """Entities found in one passage alone, and the code section that it is in or refers to."""
    found = names_in(passage.text, words, in_table=passage.rows is not None)
    numbers = {named.entity.name for named in found if named.entity.type in _NUMBERS}
    crowded = len(numbers) > _MOST_AMOUNTS
    yield from (named for named in found if not crowded or named.entity.type not in _NUMBERS)
    yield from _code_sections(passage)


def _code_sections(passage: Passage) -> Iterator[NameMatch]:
    """Under a heading "Title 29", "§ 207" in headings and "section 206 of this title" refer to 29 U.S.C."""
    title = _TITLE.search(passage.section)
    if title is None:
        return
    section = _SECTION.search(passage.section, title.end())
    if section is not None:
        yield NameMatch(Entity(f"{title[1]} U.S.C. § {section[1]}", EntityType.LAW), 0, 0)
    for match in _OF_THIS_TITLE.finditer(passage.text):
        for group in (1, 2):
            if match[group]:
                name = f"{title[1]} U.S.C. § {match[group]}"
                yield NameMatch(Entity(name, EntityType.LAW), match.start(group), match.end(group))


def _spellings(entity: Entity) -> Sequence[str]:
    """Spellings that identify an entity in other passages: abbreviations, and terms of several words."""
    several = (entity.name,) if entity.type is EntityType.CONCEPT and " " in entity.name else ()
    return [spelling for spelling in (*entity.aliases, *several) if well_known(spelling) is None]


def _distinct_entities(found: Sequence[NameMatch], by_name: dict[str, Entity]) -> Sequence[Entity]:
    headed = [named.entity.name for named in found if named.start == named.end]
    names = [named.entity.name for named in longest(named for named in found if named.start < named.end)]
    return tuple(by_name[name] for name in dict.fromkeys((*headed, *names)))
