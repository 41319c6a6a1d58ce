"""The operations there are: what each is called, which version it has, and what carries it out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.enrich.citations import find_citations
from core.enrich.dates import find_dates
from core.enrich.document_type import find_document_type
from core.enrich.keywords import find_keywords
from core.enrich.questions import find_questions
from core.enrich.reading import Reading
from core.enrich.summary import find_summary
from core.enrich.values import Operation, Result
from core.ports import Vectors

__all__ = ["OPERATIONS", "Embed", "OperationRow"]

Embed = Callable[[Sequence[str]], Vectors]


@dataclass(frozen=True, slots=True)
class OperationRow:
    """version: raised when it would find something else in the same document; what an older one found is outdated."""

    label: str
    version: int
    run: Callable[[Reading, Embed], Result]


OPERATIONS: Mapping[Operation, OperationRow] = {
    Operation.SUMMARY: OperationRow("Summary", 1, lambda reading, embed: find_summary(reading)),
    Operation.KEYWORDS: OperationRow("Keywords", 1, find_keywords),
    Operation.QUESTIONS: OperationRow("Questions it answers", 1, lambda reading, embed: find_questions(reading)),
    Operation.DOCUMENT_TYPE: OperationRow("Type of document", 1, lambda reading, embed: find_document_type(reading)),
    Operation.CITATIONS: OperationRow("Laws and cases cited", 1, lambda reading, embed: find_citations(reading)),
    Operation.DATES: OperationRow("Dates", 1, lambda reading, embed: find_dates(reading)),
}
"""Every operation, in the order of Operation."""
