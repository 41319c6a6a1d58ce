"""What a list tells of documents in a word: their type and their keywords."""

from collections.abc import Mapping, Sequence

from core.documents import Document
from core.enrich.values import Operation
from core.tables.document_types import document_type_title
from pages.parts import session

__all__ = ["drawn_words"]

_TOLD = (Operation.DOCUMENT_TYPE, Operation.KEYWORDS)


def drawn_words(documents: Sequence[Document]) -> Mapping[int, tuple[str, str]]:
    """Document → its type and its keywords, "" where none was drawn."""
    known = session.workbench().enrichment.of_many([each.id for each in documents], _TOLD)
    return {
        i: (document_type_title(each.document_type.value), ", ".join(each.keywords.words)) for i, each in known.items()
    }
