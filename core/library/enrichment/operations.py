"""The enrichment operations, which of their results are current, and statistics over a library."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.domain.documents import Document, DocumentState
from core.library.enrichment.document_reader import DocumentText
from core.library.enrichment.keywords import find_keywords
from core.library.enrichment.metadata import find_citations, find_dates, find_document_type
from core.library.enrichment.questions import find_questions
from core.library.enrichment.summary import find_summary
from core.library.enrichment.values import (
    Operation,
    OperationOutcome,
    Result,
)
from core.ports.stores import Vectors

__all__ = [
    "OPERATIONS",
    "Embed",
    "EnrichmentReport",
    "EnrichmentStatistics",
    "OperationCount",
    "OperationRow",
    "counted",
    "is_current",
]

Embed = Callable[[Sequence[str]], Vectors]


@dataclass(frozen=True, slots=True)
class OperationRow:
    """version: raised when the operation would find something else in the same document; older results are outdated."""

    label: str
    version: int
    run: Callable[[DocumentText, Embed], Result]


OPERATIONS: Mapping[Operation, OperationRow] = {
    Operation.SUMMARY: OperationRow("Summary", 1, lambda reading, embed: find_summary(reading)),
    Operation.KEYWORDS: OperationRow("Keywords", 1, find_keywords),
    Operation.QUESTIONS: OperationRow("Questions it answers", 1, lambda reading, embed: find_questions(reading)),
    Operation.DOCUMENT_TYPE: OperationRow("Type of document", 1, lambda reading, embed: find_document_type(reading)),
    Operation.CITATIONS: OperationRow("Laws and cases cited", 1, lambda reading, embed: find_citations(reading)),
    Operation.DATES: OperationRow("Dates", 1, lambda reading, embed: find_dates(reading)),
}
"""Every operation, in the order of Operation."""


def is_current(outcome: OperationOutcome) -> bool:
    """Whether an outcome is a result of the current version of its operation."""
    return not outcome.failed and outcome.version == OPERATIONS[outcome.operation].version


@dataclass(frozen=True, slots=True)
class EnrichmentReport:
    """The outcome of a batch: documents done of total, what failed, and whether the batch was stopped."""

    done: int
    total: int
    failures: tuple[OperationOutcome, ...] = ()
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class OperationCount:
    """Of the embedded documents: on how many an operation succeeded, failed, is outdated, or has not run."""

    done: int
    failed: int
    outdated: int
    missing: int


@dataclass(frozen=True, slots=True)
class EnrichmentStatistics:
    """total: living documents that have text, or are waiting to be read, or failed to be read. embedded: those with
    passages. enriched: those on which the current version of every operation succeeded; unenriched = total - enriched.
    rate: enriched ÷ total as a percentage, in [0, 100]; 0 without documents. failures: what failed, by document and
    operation.
    """

    total: int
    embedded: int
    enriched: int
    unenriched: int
    rate: float
    operations: Mapping[Operation, OperationCount]
    failures: tuple[OperationOutcome, ...] = ()


def counted(documents: Sequence[Document], outcomes: Sequence[OperationOutcome]) -> EnrichmentStatistics:
    """Statistics of documents and the outcomes of their operations."""
    counted_ones = [each for each in documents if each.passages or each.state is not DocumentState.READY]
    embedded = {each.id for each in counted_ones if each.passages}
    known: dict[Operation, dict[int, OperationOutcome]] = {each: {} for each in Operation}
    for outcome in outcomes:
        if outcome.document_id in embedded:
            known[outcome.operation][outcome.document_id] = outcome
    enriched = sum(all(i in told and is_current(told[i]) for told in known.values()) for i in embedded)
    total = len(counted_ones)
    return EnrichmentStatistics(
        total=total,
        embedded=len(embedded),
        enriched=enriched,
        unenriched=total - enriched,
        rate=100.0 * enriched / total if total else 0.0,
        operations={operation: _count(told, len(embedded)) for operation, told in known.items()},
        failures=tuple(each for told in known.values() for _, each in sorted(told.items()) if each.failed),
    )


def _count(told: Mapping[int, OperationOutcome], embedded: int) -> OperationCount:
    done = sum(is_current(each) for each in told.values())
    failed = sum(each.failed for each in told.values())
    return OperationCount(done, failed, len(told) - done - failed, embedded - len(told))
