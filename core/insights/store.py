"""Insights (analysts' notes on evidence) and episodes (questions with their outcome). Each has a searchable copy, a
pseudo-document of the same catalogue, so search treats it like any document.

Also the port of their store, and the errors every store raises.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Generic, Protocol, TypeVar

from core.domain.documents import Origin, Sector
from core.domain.errors import BadRequest, NotFound, Outdated

__all__ = [
    "MOST_PER_PAGE",
    "Episode",
    "EvidenceLink",
    "Insight",
    "InsightCounts",
    "InsightOrEpisode",
    "InsightPage",
    "InsightQuery",
    "InsightStore",
    "M",
    "check_paging",
    "insight_not_found",
    "outdated_insight",
]


@dataclass(frozen=True, slots=True)
class EvidenceLink:
    """A sentence or passage that an insight or episode is based on.

    `quote == page text[start:end]` at the time of linking. Re-ingesting a document creates new passages, and deleting
    it removes them; the quote stays."""

    passage_id: int
    document_id: int
    document_name: str
    page: int
    start: int
    end: int
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InsightOrEpisode:
    """Common fields of insights and episodes. The sector decides how fast the score decays (core.knowledge.factors).

    at: when it was written; decay starts there. sector_reason: why the sector was suggested, "" when a person chose it.
    document_id: its searchable copy, 0 without one. deleted_at: None unless deleted. version: counts changes, 0 until
    stored.
    """

    at: datetime
    who: str = ""
    project: str | None = None
    tags: tuple[str, ...] = ()
    sector: Sector = Sector.SEMANTIC
    sector_reason: str = ""
    links: tuple[EvidenceLink, ...] = ()
    id: int = 0
    document_id: int = 0
    changed_at: datetime | None = None
    deleted_at: datetime | None = None
    version: int = 0

    origin: ClassVar[Origin]

    @property
    def searchable_text(self) -> str:
        """All its text, for filtering lists."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight(InsightOrEpisode):
    """An analyst's note on evidence. question: the search it was written for, "" for none."""

    text: str
    question: str = ""

    origin: ClassVar[Origin] = Origin.INSIGHT

    @property
    def searchable_text(self) -> str:
        """Its text, its question and its evidence."""
        return "\n".join((self.text, self.question, *(link.quote for link in self.links)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode(InsightOrEpisode):
    """A question, what was opened (`links`), and the outcome.

    reward: in [-1, 1]; 1 helpful, -1 misleading, 0 neither. reflection: the lesson learned, "" for none.
    """

    question: str
    reward: float = 0.0
    reflection: str = ""

    origin: ClassVar[Origin] = Origin.EPISODE

    @property
    def searchable_text(self) -> str:
        """Its question, its reflection and what was opened."""
        return "\n".join((self.question, self.reflection, *(link.document_name for link in self.links)))


M = TypeVar("M", bound=InsightOrEpisode)


@dataclass(frozen=True, slots=True)
class InsightQuery:
    """Filters of a list of insights or episodes; empty fields restrict nothing.

    words: substring of the text, ignoring case; "%" is literal. sectors, tags: any of them. project: includes those of
    the whole library. deleted: only deleted ones."""

    words: str = ""
    sectors: tuple[Sector, ...] = ()
    tags: tuple[str, ...] = ()
    project: str | None = None
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class InsightPage(Generic[M]):
    """One page of a list. total: over all pages; page: 1-based; pages: how many there are, at least 1."""

    items: tuple[M, ...]
    total: int
    page: int
    pages: int


@dataclass(frozen=True, slots=True)
class InsightCounts:
    """How many insights or episodes a list has, for its filters. total: without any filter; sectors, tags: with each of
    them beside the other filters. Those that are not deleted, or only the deleted ones."""

    total: int = 0
    sectors: Mapping[Sector, int] = field(default_factory=dict)
    tags: Mapping[str, int] = field(default_factory=dict)


MOST_PER_PAGE = 100
"""Items per page, at most. Chosen by hand."""


class InsightStore(Protocol):
    """Insights and episodes of one tenant. Rows are never removed: a deleted one keeps its row. What is stored quotes
    no document that was deleted for good; core.library.trash.REDACTED stands in place of the quote.

    `kind` is Insight or Episode. Every method raises StoreFailed when the store does not answer.
    """

    def add(self, item: M) -> M:
        """Store a new one (id 0); returns it with id and version 1."""
        ...

    def change(self, item: M) -> M:
        """Store a changed one; returns it with its new version. Does not change `document_id`.

        Raises Outdated when someone else changed it meanwhile, NotFound.
        """
        ...

    def assign_document(self, item: InsightOrEpisode, document_id: int) -> None:
        """Store the id of its pseudo-document; its version stays. Raises NotFound."""
        ...

    def find(self, kind: type[M], memory_id: int) -> M:
        """Living or deleted. Raises NotFound."""
        ...

    def listed(self, kind: type[M], query: InsightQuery, page: int, per_page: int) -> InsightPage[M]:
        """One page, newest first; empty beyond the last page. Raises BadRequest for an invalid page or page size."""
        ...

    def counts(self, kind: type[M], query: InsightQuery) -> InsightCounts:
        """Counts beside the filters of a list."""
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

    def projects_of(self, document_ids: Sequence[int]) -> Mapping[int, str | None]:
        """Document → its project, or the last one of a deleted document; those that never were are absent."""
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


def insight_not_found(kind: type[InsightOrEpisode], memory_id: int) -> NotFound:
    """The error for an unknown insight or episode."""
    return NotFound(f"There is no {kind.origin.value} {memory_id}.", "Look at the list again.")


def outdated_insight(item: InsightOrEpisode) -> Outdated:
    """The error when someone has changed it since it was read."""
    message = f"This {item.origin.value} has been changed by someone else meanwhile; yours was not stored."
    return Outdated(message, "Look at it as it is now, then change it again.")
