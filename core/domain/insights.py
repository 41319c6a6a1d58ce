"""Insights (analysts' notes on evidence) and episodes (questions with their outcome). Each has a searchable copy, a
pseudo-document of the same catalogue, so search treats it like any document."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Generic, TypeVar

from core.domain.documents import Origin, Sector

__all__ = [
    "Episode",
    "EvidenceLink",
    "Insight",
    "InsightCounts",
    "InsightOrEpisode",
    "InsightPage",
    "InsightQuery",
    "M",
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
    def told(self) -> str:
        """All its text, for filtering lists."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight(InsightOrEpisode):
    """An analyst's note on evidence. question: the search it was written for, "" for none."""

    text: str
    question: str = ""

    origin: ClassVar[Origin] = Origin.INSIGHT

    @property
    def told(self) -> str:
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
    def told(self) -> str:
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
    """Number of insights or episodes that are not deleted, in total and per sector and tag."""

    total: int = 0
    sectors: Mapping[Sector, int] = field(default_factory=dict)
    tags: Mapping[str, int] = field(default_factory=dict)
