"""The enrichment operations, the stored enrichment of a document with the manual edits laid over it, and the port that
stores both.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from core.domain.documents import Document, DocumentState
from core.library.enrichment.document_reader import DocumentText
from core.library.enrichment.keywords import find_keywords
from core.library.enrichment.metadata import find_citations, find_dates, find_document_type, find_summary
from core.library.enrichment.questions import find_questions
from core.library.enrichment.values import (
    MOST_KEYWORDS,
    RESULTS,
    Citations,
    Dates,
    DocumentType,
    EnrichmentEdit,
    Keywords,
    Operation,
    OperationOutcome,
    Questions,
    Result,
    Summary,
)
from core.ports.stores import Vectors

__all__ = [
    "OPERATIONS",
    "Embed",
    "Enrichment",
    "EnrichmentReport",
    "EnrichmentStatistics",
    "EnrichmentStore",
    "OperationCount",
    "OperationRow",
    "counted",
    "edited",
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
    enriched = sum(all(i in outcomes and is_current(outcomes[i]) for outcomes in known.values()) for i in embedded)
    total = len(counted_ones)
    return EnrichmentStatistics(
        total=total,
        embedded=len(embedded),
        enriched=enriched,
        unenriched=total - enriched,
        rate=100.0 * enriched / total if total else 0.0,
        operations={operation: _count(outcomes, len(embedded)) for operation, outcomes in known.items()},
        failures=tuple(each for outcomes in known.values() for _, each in sorted(outcomes.items()) if each.failed),
    )


def _count(outcomes: Mapping[int, OperationOutcome], embedded: int) -> OperationCount:
    done = sum(is_current(each) for each in outcomes.values())
    failed = sum(each.failed for each in outcomes.values())
    return OperationCount(done, failed, len(outcomes) - done - failed, embedded - len(outcomes))


def edited(result: Result, edit: EnrichmentEdit | None) -> Result:
    """A result as it is shown: with keywords added and removed, the summary rewritten, the type corrected, questions
    taken out. Citations and dates cannot be edited.

    >>> from datetime import UTC, datetime
    >>> from core.library.enrichment.values import Operation
    >>> now = datetime(2026, 1, 1, tzinfo=UTC)
    >>> edit = EnrichmentEdit(1, Operation.KEYWORDS, "Ann", now, added=("leave",), removed=("Pay",))
    >>> edited(Keywords(("pay", "overtime")), edit)
    Keywords(words=('overtime', 'leave'))
    """
    if edit is None:
        return result
    match result:
        case Keywords(words=words):
            removed = {each.casefold() for each in edit.removed}
            added = {each.casefold() for each in edit.added}
            found = [each for each in words if each.casefold() not in removed | added]
            return Keywords((*found[: max(0, MOST_KEYWORDS - len(edit.added))], *edit.added))
        case Summary() if edit.value is not None:
            return Summary(result.sentences, edit.value)
        case DocumentType() if edit.value is not None:
            return DocumentType(edit.value, (), result.value, by_hand=True)
        case Questions(questions=questions):
            return Questions(tuple(each for each in questions if each.question not in edit.removed))
    return result


Kind = TypeVar("Kind", bound=Result)


@dataclass(frozen=True, slots=True)
class Enrichment:
    """outcomes, edits: by operation; an operation without one is absent. What has not been extracted yet is shown as
    empty.
    """

    document_id: int
    outcomes: Mapping[Operation, OperationOutcome] = field(default_factory=dict)
    edits: Mapping[Operation, EnrichmentEdit] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether the current version of every operation succeeded."""
        return all(each in self.outcomes and is_current(self.outcomes[each]) for each in Operation)

    @property
    def failures(self) -> Sequence[OperationOutcome]:
        """What failed, in the order of Operation."""
        return [self.outcomes[each] for each in Operation if each in self.outcomes and self.outcomes[each].failed]

    @property
    def lacking(self) -> Sequence[Operation]:
        """The operations still to run, or to run again."""
        return [each for each in Operation if each not in self.outcomes or not is_current(self.outcomes[each])]

    @property
    def keywords(self) -> Keywords:
        return self._shown(Operation.KEYWORDS, Keywords)

    @property
    def summary(self) -> Summary:
        return self._shown(Operation.SUMMARY, Summary)

    @property
    def questions(self) -> Questions:
        return self._shown(Operation.QUESTIONS, Questions)

    @property
    def document_type(self) -> DocumentType:
        return self._shown(Operation.DOCUMENT_TYPE, DocumentType)

    @property
    def citations(self) -> Citations:
        return self._shown(Operation.CITATIONS, Citations)

    @property
    def dates(self) -> Dates:
        return self._shown(Operation.DATES, Dates)

    def found(self, operation: Operation) -> Result:
        """The operation's result, without manual edits; empty where it found nothing or failed."""
        known = self.outcomes.get(operation)
        return known.result if known is not None and known.result is not None else RESULTS[operation]()

    def _shown(self, operation: Operation, kind: type[Kind]) -> Kind:
        shown = edited(self.found(operation), self.edits.get(operation))
        assert isinstance(shown, kind)
        return shown


class EnrichmentStore(Protocol):
    """Outcomes and edits of one tenant, at most one of each per document and operation."""

    def save(self, outcomes: Sequence[OperationOutcome]) -> None:
        """Store outcomes, each replacing that of its document and operation; those of deleted documents are dropped."""
        ...

    def outcomes(
        self, document_ids: Sequence[int], operations: Collection[Operation] = tuple(Operation)
    ) -> Mapping[int, Sequence[OperationOutcome]]:
        """Document → its outcomes of these operations, in the order of Operation; documents without any are absent."""
        ...

    def all_outcomes(self) -> Sequence[OperationOutcome]:
        """How every operation on every document ended, by document and Operation; without their results."""
        ...

    def forget(self, document_ids: Sequence[int]) -> None:
        """Drop the outcomes of documents; edits stay."""
        ...

    def delete(self, document_ids: Sequence[int]) -> None:
        """Drop the outcomes and edits of documents."""
        ...

    def save_edit(self, edit: EnrichmentEdit) -> None:
        """Store an edit, replacing the one of its document and operation. Raises NotFound for a deleted document."""
        ...

    def reset(self, document_id: int, operation: Operation) -> None:
        """Drop an edit; harmless when there is none."""
        ...

    def edits(self, document_ids: Sequence[int]) -> Mapping[int, Sequence[EnrichmentEdit]]:
        """Document → its edits, in the order of Operation; documents without any are absent."""
        ...
