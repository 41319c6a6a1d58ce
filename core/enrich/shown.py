"""All that is drawn from one document, as it is shown: with what analysts changed, and what failed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from core.enrich.edits import edited
from core.enrich.operations import OPERATIONS
from core.enrich.values import (
    RESULTS,
    Citations,
    Dates,
    DocumentType,
    Edit,
    Keywords,
    Operation,
    Outcome,
    Questions,
    Result,
    Summary,
)

__all__ = ["Enrichment", "is_current"]

Kind = TypeVar("Kind", bound=Result)


def is_current(outcome: Outcome) -> bool:
    """Whether an outcome is a result of the operation's version of today."""
    return not outcome.failed and outcome.version == OPERATIONS[outcome.operation].version


@dataclass(frozen=True, slots=True)
class Enrichment:
    """outcomes, edits: by operation; absent where there is none. What was not drawn yet is shown as empty."""

    document_id: int
    outcomes: Mapping[Operation, Outcome] = field(default_factory=dict)
    edits: Mapping[Operation, Edit] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every operation succeeded, in its version of today."""
        return all(each in self.outcomes and is_current(self.outcomes[each]) for each in Operation)

    @property
    def failures(self) -> Sequence[Outcome]:
        """What failed, in the order of Operation."""
        return [self.outcomes[each] for each in Operation if each in self.outcomes and self.outcomes[each].failed]

    @property
    def lacking(self) -> Sequence[Operation]:
        """What is still to be drawn, or drawn again."""
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
        """What the operation found, without what analysts changed; empty where it found nothing or failed."""
        known = self.outcomes.get(operation)
        return known.result if known is not None and known.result is not None else RESULTS[operation]()

    def _shown(self, operation: Operation, kind: type[Kind]) -> Kind:
        shown = edited(self.found(operation), self.edits.get(operation))
        assert isinstance(shown, kind)
        return shown
