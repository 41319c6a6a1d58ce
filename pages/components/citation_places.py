"""Where a sentence is in its document: its page, rows or section, or its paragraph where there are no pages."""

import re

from core.domain.documents import Document
from core.domain.errors import NotFound
from core.domain.results import Citation
from pages.components import session

__all__ = ["cited_place", "paragraph_number", "sentence_place"]

_PARAGRAPH_END = re.compile(r"\S[^\S\n]*\n(?:[^\S\n]*\n)+(?=\s*\S)")


def cited_place(citation: Citation) -> str:
    """The place of a citation for people: "page 5", "rows 3–4", "section Breaks"; "" when none is known."""
    if citation.page is not None:
        return f"page {citation.page}"
    if citation.rows is not None:
        first, last = citation.rows
        return f"row {first}" if first == last else f"rows {first}–{last}"
    heading = citation.section.rpartition(" › ")[2].strip()
    return f"section {heading}" if heading else ""


def sentence_place(document: Document | None, page: int, start: int) -> str:
    """The place of a sentence: its page, or its paragraph in a document without pages.

    document: None when it is gone. start: offset in the text of the page."""
    if document is None or document.paged:
        return f"page {page}"
    try:
        text = session.workbench().documents.page(document.id, page).text
    except NotFound:  # it is being read again
        return f"page {page}"
    return f"paragraph {paragraph_number(text, start)}"


def paragraph_number(text: str, start: int) -> int:
    """The number of the paragraph that holds a place in a text, from 1; blank lines part paragraphs.

    >>> paragraph_number("One.\\n\\nTwo.\\n\\n\\nThree.", 6), paragraph_number("One.\\n\\nTwo.\\n\\n\\nThree.", 13)
    (2, 3)
    """
    return 1 + sum(match.end() <= start for match in _PARAGRAPH_END.finditer(text))
