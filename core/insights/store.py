"""The port of the store of insights and episodes, and the errors every store raises."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from core.domain.errors import BadRequest, NotFound, Outdated
from core.domain.insights import InsightCounts, InsightOrEpisode, InsightPage, InsightQuery, M

__all__ = ["MOST_PER_PAGE", "InsightStore", "check_paging", "no_memory", "outdated_memory"]

MOST_PER_PAGE = 100
"""Items per page, at most. Chosen by hand."""


class InsightStore(Protocol):
    """Insights and episodes of one tenant. Rows are never removed: a deleted one keeps its row.

    `kind` is Insight or Episode. Every method raises StoreFailed when the store does not answer.
    """

    def add(self, memory: M) -> M:
        """Store a new one (id 0); returns it with id and version 1."""
        ...

    def change(self, memory: M) -> M:
        """Store a changed one; returns it with its new version. Does not change `document_id`.

        Raises Outdated when someone else changed it meanwhile, NotFound.
        """
        ...

    def place(self, memory: InsightOrEpisode, document_id: int) -> None:
        """Store the id of its pseudo-document; its version stays. Raises NotFound."""
        ...

    def find(self, kind: type[M], memory_id: int) -> M:
        """Living or deleted. Raises NotFound."""
        ...

    def listed(self, kind: type[M], query: InsightQuery, page: int, per_page: int) -> InsightPage[M]:
        """One page, newest first; empty beyond the last page. Raises BadRequest for an invalid page or page size."""
        ...

    def counts(self, kind: type[M], project: str | None) -> InsightCounts:
        """Counts of the living ones of a project and of the whole library; None: of all projects."""
        ...

    def about(self, kind: type[M], document_ids: Sequence[int]) -> Sequence[M]:
        """The living ones that link to any of these documents, newest first."""
        ...

    def behind(self, kind: type[M], document_ids: Sequence[int]) -> Mapping[int, M]:
        """Pseudo-document id → its living insight or episode; other documents are absent."""
        ...

    def every(self, kind: type[M]) -> Sequence[M]:
        """All of them, deleted ones too, oldest first."""
        ...


# What every store says when it refuses
def check_paging(page: int, per_page: int) -> None:
    """Raises BadRequest unless page ≥ 1 and 1 ≤ per_page ≤ 100.

    >>> check_paging(1, 0)
    Traceback (most recent call last):
        ...
    core.domain.errors.BadRequest: A page holds 1 to 100 items, not 0. Ask for 1 to 100 items per page.
    """
    if not 1 <= per_page <= MOST_PER_PAGE:
        raise BadRequest(
            f"A page holds 1 to {MOST_PER_PAGE} items, not {per_page}.",
            f"Ask for 1 to {MOST_PER_PAGE} items per page.",
        )
    if page < 1:
        raise BadRequest(f"Pages are counted from 1; there is no page {page}.", "Ask for page 1 or a later one.")


def no_memory(kind: type[InsightOrEpisode], memory_id: int) -> NotFound:
    """The error for an unknown insight or episode."""
    return NotFound(f"There is no {kind.origin.value} {memory_id}.", "Look at the list again.")


def outdated_memory(memory: InsightOrEpisode) -> Outdated:
    """The error when someone has changed it since it was read."""
    said = f"This {memory.origin.value} has been changed by someone else meanwhile; yours was not stored."
    return Outdated(said, "Look at it as it is now, then change it again.")
