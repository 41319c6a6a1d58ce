"""What analysts remember: insights (notes on evidence) and episodes (what came of a question), and the seam to their
store. Their searchable side is a pseudo-document of the same catalogue, so search knows no difference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Generic, Protocol, TypeVar

from core.documents import Origin, Sector
from core.errors import BadRequest, NotFound, Outdated

__all__ = [
    "MOST_PER_PAGE",
    "Episode",
    "Insight",
    "Link",
    "M",
    "Memory",
    "MemoryCounts",
    "MemoryPage",
    "MemoryQuery",
    "MemoryStore",
    "check_paging",
    "no_memory",
    "outdated_memory",
]

MOST_PER_PAGE = 100


@dataclass(frozen=True, slots=True)
class Link:
    """A sentence or passage a memory rests on.

    `quote == page text[start:end]` when it was linked. A document that is read again gets new passages, and one that is
    deleted has none: the quote stays, and tells where to look.
    """

    passage_id: int
    document_id: int
    document_name: str
    page: int
    start: int
    end: int
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What insights and episodes have in common. The sector decides how slowly it fades (core.tables.factors).

    at: when it was written; its strength fades from then. sector_reason: why the sector was suggested, "" when a person
    chose it. document_id: its searchable side, 0 while there is none. deleted_at: None while it lives. version: counts
    its changes, 0 until stored.
    """

    at: datetime
    who: str = ""
    project: str | None = None
    tags: tuple[str, ...] = ()
    sector: Sector = Sector.SEMANTIC
    sector_reason: str = ""
    links: tuple[Link, ...] = ()
    id: int = 0
    document_id: int = 0
    changed_at: datetime | None = None
    deleted_at: datetime | None = None
    version: int = 0

    origin: ClassVar[Origin]

    @property
    def told(self) -> str:
        """All its words, for the search in lists."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight(Memory):
    """An analyst's note on evidence. question: what was asked when it was noted, "" when nothing was."""

    text: str
    question: str = ""

    origin: ClassVar[Origin] = Origin.INSIGHT

    @property
    def told(self) -> str:
        """Its text, its question and what it rests on."""
        return "\n".join((self.text, self.question, *(link.quote for link in self.links)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode(Memory):
    """A question that was asked, what was opened (`links`), and what came of it.

    reward: in [-1, 1]; 1 helped, -1 misled, 0 neither. reflection: what to remember of it, "" for nothing.
    """

    question: str
    reward: float = 0.0
    reflection: str = ""

    origin: ClassVar[Origin] = Origin.EPISODE

    @property
    def told(self) -> str:
        """Its question, its reflection and what was opened."""
        return "\n".join((self.question, self.reflection, *(link.document_name for link in self.links)))


M = TypeVar("M", bound=Memory)


@dataclass(frozen=True, slots=True)
class MemoryQuery:
    """Which memories a list shows; empty fields restrict nothing.

    words: stand in what they tell, whatever the capitals, letter for letter ("%" is a percent sign). sectors, tags: any
    of them. project: its own and those of the whole library. deleted: the deleted ones instead of the living.
    """

    words: str = ""
    sectors: tuple[Sector, ...] = ()
    tags: tuple[str, ...] = ()
    project: str | None = None
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class MemoryPage(Generic[M]):
    """One page of a list. total: over all pages; page: 1-based; pages: how many there are, at least 1."""

    items: tuple[M, ...]
    total: int
    page: int
    pages: int


@dataclass(frozen=True, slots=True)
class MemoryCounts:
    """How many living memories there are, and under which sectors and tags."""

    total: int = 0
    sectors: Mapping[Sector, int] = field(default_factory=dict)
    tags: Mapping[str, int] = field(default_factory=dict)


class MemoryStore(Protocol):
    """Insights and episodes of one tenant. Nothing is ever removed: a deleted one keeps its row.

    `kind` is Insight or Episode. Every method raises StoreFailed when the store does not answer.
    """

    def add(self, memory: M) -> M:
        """Store a new one (id 0); gives it with id and version 1."""
        ...

    def change(self, memory: M) -> M:
        """Store it as changed since it was read; gives it with its new version. `document_id` is not changed by it.

        Raises Outdated when someone else changed it meanwhile, NotFound.
        """
        ...

    def place(self, memory: Memory, document_id: int) -> None:
        """Keep which document is its searchable side; this is no change, and its version stays. Raises NotFound."""
        ...

    def find(self, kind: type[M], memory_id: int) -> M:
        """Living or deleted. Raises NotFound."""
        ...

    def listed(self, kind: type[M], query: MemoryQuery, page: int, per_page: int) -> MemoryPage[M]:
        """Newest first. Beyond the last page there are no items. Raises BadRequest for limits no list has."""
        ...

    def counts(self, kind: type[M], project: str | None) -> MemoryCounts:
        """Of the living ones of a project and of the whole library; None: of all."""
        ...

    def about(self, kind: type[M], document_ids: Sequence[int]) -> Sequence[M]:
        """The living ones that link to any of these documents, newest first."""
        ...

    def behind(self, kind: type[M], document_ids: Sequence[int]) -> Mapping[int, M]:
        """Searchable document → the living memory it belongs to; other documents are absent."""
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
    core.errors.BadRequest: A page holds 1 to 100 items, not 0. Ask for 1 to 100 items per page.
    """
    if not 1 <= per_page <= MOST_PER_PAGE:
        raise BadRequest(
            f"A page holds 1 to {MOST_PER_PAGE} items, not {per_page}.",
            f"Ask for 1 to {MOST_PER_PAGE} items per page.",
        )
    if page < 1:
        raise BadRequest(f"Pages are counted from 1; there is no page {page}.", "Ask for page 1 or a later one.")


def no_memory(kind: type[Memory], memory_id: int) -> NotFound:
    """It was never stored here."""
    return NotFound(f"There is no {kind.origin.value} {memory_id}.", "Look at the list again.")


def outdated_memory(memory: Memory) -> Outdated:
    """Someone has changed it since it was read."""
    said = f"This {memory.origin.value} has been changed by someone else meanwhile; yours was not stored."
    return Outdated(said, "Look at it as it is now, then change it again.")
