"""How far a library is enriched, and how a batch went."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.documents import Document, DocumentState
from core.enrich.shown import is_current
from core.enrich.values import Operation, Outcome

__all__ = ["EnrichmentReport", "EnrichmentStatistics", "OperationCount", "counted"]


@dataclass(frozen=True, slots=True)
class EnrichmentReport:
    """How a batch went: documents done of total, what failed in them, and whether it was stopped."""

    done: int
    total: int
    failures: tuple[Outcome, ...] = ()
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class OperationCount:
    """Of the embedded documents: on how many an operation succeeded, failed, is outdated, or was not carried out."""

    done: int
    failed: int
    outdated: int
    missing: int


@dataclass(frozen=True, slots=True)
class EnrichmentStatistics:
    """total: living documents that hold text, or are still to be read or failed to be. embedded: those with passages.
    enriched: those on which every operation succeeded in its version of today; unenriched = total - enriched.
    rate: enriched of total, in [0, 100]; 0 for none. failures: what failed, by document and operation."""

    total: int
    embedded: int
    enriched: int
    unenriched: int
    rate: float
    operations: Mapping[Operation, OperationCount]
    failures: tuple[Outcome, ...] = ()


def counted(documents: Sequence[Document], outcomes: Sequence[Outcome]) -> EnrichmentStatistics:
    """The statistics of documents, by how their operations ended."""
    counted_ones = [each for each in documents if each.passages or each.state is not DocumentState.READY]
    embedded = {each.id for each in counted_ones if each.passages}
    known: dict[Operation, dict[int, Outcome]] = {each: {} for each in Operation}
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


def _count(told: Mapping[int, Outcome], embedded: int) -> OperationCount:
    done = sum(is_current(each) for each in told.values())
    failed = sum(each.failed for each in told.values())
    return OperationCount(done, failed, len(told) - done - failed, embedded - len(told))
