"""What analysts change of what was drawn from a document. Their changes survive every later run, until reset."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from core.enrich.keywords import MOST_KEYWORDS
from core.enrich.shown import Enrichment
from core.enrich.values import Edit, Keywords, Operation
from core.errors import BadRequest
from core.library.enrichment_store import EnrichmentStore
from core.tables.document_types import document_types

__all__ = ["EnrichmentEdits"]

_LONGEST_KEYWORD, _LONGEST_SUMMARY = 60, 2_000


class EnrichmentEdits:
    """Every method raises NotFound for a document that is not there, StoreFailed when the store does not answer."""

    def __init__(
        self, store: EnrichmentStore, enrichment: Callable[[int], Enrichment], now: Callable[[], datetime]
    ) -> None:
        self._store, self._enrichment, self._now = store, enrichment, now

    def set_keywords(self, document_id: int, words: Sequence[str], who: str) -> None:
        """Make these the keywords: those that were found and are not among them are removed, the others added.

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
        """Put a text in place of the summary. Raises BadRequest for one that is empty or beyond 2,000 characters."""
        written = " ".join(text.split())
        if not 0 < len(written) <= _LONGEST_SUMMARY:
            raise BadRequest(
                "A summary needs between 1 and 2,000 characters.", "Write it shorter, or reset it to what was found."
            )
        self._keep(replace(self._edit(document_id, Operation.SUMMARY, who), value=written))

    def set_type(self, document_id: int, value: str, who: str) -> None:
        """Correct the type of a document. Raises BadRequest for one that there is not."""
        if value not in document_types():
            raise BadRequest(f"'{value}' is no type of document.", f"Types are: {', '.join(sorted(document_types()))}.")
        self._keep(replace(self._edit(document_id, Operation.DOCUMENT_TYPE, who), value=value))

    def remove_question(self, document_id: int, question: str, who: str) -> None:
        """Take out a question, for good."""
        edit = self._edit(document_id, Operation.QUESTIONS, who)
        self._keep(replace(edit, removed=tuple(dict.fromkeys((*edit.removed, question)))))

    def reset(self, document_id: int, operation: Operation) -> None:
        """Show again what was found."""
        self._store.reset(document_id, operation)

    def _edit(self, document_id: int, operation: Operation, who: str) -> Edit:
        """The edit there is, or a fresh one, in this person's name."""
        known = next(
            (e for e in self._store.edits([document_id]).get(document_id, ()) if e.operation is operation), None
        )
        fresh = known or Edit(document_id, operation, who, self._now())
        return replace(fresh, who=who, at=self._now())

    def _keep(self, edit: Edit) -> None:
        if edit.added or edit.removed or edit.value is not None:
            self._store.save_edit(edit)
        else:
            self._store.reset(edit.document_id, edit.operation)
