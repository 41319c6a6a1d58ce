"""Stored enrichment of a document, the manual edits laid over it, and the port that stores both."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol, TypeVar

from core.domain.errors import BadRequest
from core.knowledge.enrichment import document_types
from core.library.enrichment.operations import is_current
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

__all__ = ["Enrichment", "EnrichmentEdits", "EnrichmentStore", "edited"]


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


_LONGEST_KEYWORD, _LONGEST_SUMMARY = 60, 2_000


class EnrichmentEdits:
    """Manual edits. Every method raises NotFound for an unknown document, StoreFailed when a store does not answer."""

    def __init__(
        self, store: EnrichmentStore, enrichment: Callable[[int], Enrichment], now: Callable[[], datetime]
    ) -> None:
        self._store, self._enrichment, self._now = store, enrichment, now

    def set_keywords(self, document_id: int, words: Sequence[str], who: str) -> None:
        """Set the keywords: found ones missing from `words` are removed, new ones added.

        Raises BadRequest for more than ten, and for one that is empty or longer than 60 characters.
        """
        told = list({each.casefold(): each for each in (" ".join(word.split()) for word in words)}.values())
        if len(told) > MOST_KEYWORDS:
            raise BadRequest(f"A document has at most {MOST_KEYWORDS} keywords, not {len(told)}.", "Take some away.")
        wrong = next((each for each in told if not 0 < len(each) <= _LONGEST_KEYWORD), None)
        if wrong is not None:
            raise BadRequest(
                f"'{wrong[:80]}' cannot be a keyword.", f"Write between 1 and {_LONGEST_KEYWORD} characters."
            )
        found = self._enrichment(document_id).found(Operation.KEYWORDS)
        assert isinstance(found, Keywords)
        kept = {each.casefold() for each in told}
        own = {each.casefold() for each in found.words}
        edit = self._edit(document_id, Operation.KEYWORDS, who)
        before = [each for each in edit.removed if each.casefold() not in kept | own]
        self._keep(
            replace(
                edit,
                added=tuple(each for each in told if each.casefold() not in own),
                removed=(*before, *(each for each in found.words if each.casefold() not in kept)),
            )
        )

    def rewrite_summary(self, document_id: int, text: str, who: str) -> None:
        """Replace the summary. Raises BadRequest for an empty text or one longer than 2,000 characters."""
        written = " ".join(text.split())
        if not 0 < len(written) <= _LONGEST_SUMMARY:
            raise BadRequest(
                "A summary needs between 1 and 2,000 characters.", "Write it shorter, or reset it to what was found."
            )
        self._keep(replace(self._edit(document_id, Operation.SUMMARY, who), value=written))

    def set_type(self, document_id: int, value: str, who: str) -> None:
        """Correct the type of a document. Raises BadRequest for an unknown type."""
        if value not in document_types():
            raise BadRequest(f"'{value}' is no type of document.", f"Types are: {', '.join(sorted(document_types()))}.")
        self._keep(replace(self._edit(document_id, Operation.DOCUMENT_TYPE, who), value=value))

    def remove_question(self, document_id: int, question: str, who: str) -> None:
        """Remove a question permanently."""
        edit = self._edit(document_id, Operation.QUESTIONS, who)
        self._keep(replace(edit, removed=tuple(dict.fromkeys((*edit.removed, question)))))

    def reset(self, document_id: int, operation: Operation) -> None:
        """Remove the edits of an operation, so that its own result is shown again."""
        self._store.reset(document_id, operation)

    def _edit(self, document_id: int, operation: Operation, who: str) -> EnrichmentEdit:
        """The edit there is, or a fresh one, in this person's name."""
        known = next(
            (e for e in self._store.edits([document_id]).get(document_id, ()) if e.operation is operation), None
        )
        fresh = known or EnrichmentEdit(document_id, operation, who, self._now())
        return replace(fresh, who=who, at=self._now())

    def _keep(self, edit: EnrichmentEdit) -> None:
        if edit.added or edit.removed or edit.value is not None:
            self._store.save_edit(edit)
        else:
            self._store.reset(edit.document_id, edit.operation)
