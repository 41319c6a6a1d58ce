"""Labels that tell passages of one document apart: place, section, and the words a passage opens with."""

from core.domain.documents import Document, Passage
from core.search.citations.cite import display_quote
from pages.components import cards
from pages.components.wording import shorten, shorten_middle

__all__ = ["opening_words", "passage_title", "place_and_section", "section_end"]

_NAME, _SECTION, _OPENING = 44, 40, 64
"""Characters of each part of a title: together about two lines of half a page. Chosen by hand."""


def section_end(passage: Passage) -> str:
    """The last heading above a passage, "" for none.

    >>> section_end(Passage("", 1, 0, 0, (), section="1. Wages › 1.2 Overtime"))
    '1.2 Overtime'
    """
    return passage.section.rpartition(" › ")[2]


def opening_words(passage: Passage) -> str:
    """How a passage begins, after the headings that its section names already.

    >>> opening_words(Passage("Pay\\n\\n1.2 Extra\\n\\nAn employer pays.", 1, 0, 0, (), section="Pay › 1.2 Extra"))
    'An employer pays.'
    >>> opening_words(Passage("Overtime", 1, 0, 0, (), section="Overtime"))
    'Overtime'
    """
    headings = set(passage.section.split(" › "))
    lines = [line for line in passage.text.split("\n") if line.strip()]
    while len(lines) > 1 and display_quote(lines[0]) in headings:
        lines = lines[1:]
    return display_quote("\n".join(lines))


def place_and_section(passage: Passage, document: Document | None) -> str:
    """The place of a passage, and its section where the place is a page."""
    location, section = cards.location(passage, document), shorten(section_end(passage), _SECTION)
    return (
        " · ".join(dict.fromkeys(part for part in (location, section) if part and not location.endswith(section)))
        or location
    )


def passage_title(passage: Passage, document: Document | None) -> str:
    """Document, place, section and opening words in one line: "Policy.pdf, page 1 · 3. Overtime: “Our workweek …”"."""
    where = place_and_section(passage, document)
    name = shorten_middle(document.name if document else passage.document_name, _NAME)
    return f"{name}{', ' if where else ''}{where}: “{shorten(opening_words(passage), _OPENING)}”"
