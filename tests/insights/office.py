"""A desk of memories over a real library in memory, with a clock one can turn."""

from datetime import datetime, timedelta

from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.domain.results import Hit, SearchResult
from core.insights.service import InsightService, link_of
from core.insights.store import EvidenceLink
from tests.fakes import FakeInsightStore
from tests.search.library import NOW, Library, payroll_library

__all__ = ["Office"]


class Office:
    """A desk, the library beside it and the time."""

    def __init__(self, library: Library | None = None) -> None:
        self.library, self.now = library or payroll_library(), NOW
        self.store = FakeInsightStore(self.library.catalogue)
        self.desk = InsightService(
            store=self.store,
            catalogue=self.library.catalogue,
            vectors=self.library.vectors,
            sparse=self.library.sparse,
            embedder=self.library.embedder,
            now=self.tick,
        )

    def tick(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    def ask(self, question: str, profile: str = "trend", **filters: object) -> SearchResult:
        """One search, under a profile whose threshold keeps nothing back."""
        request = SearchRequest(question, SearchFilters(**filters), profile)  # type: ignore[arg-type]
        return self.library.searcher.search(request, self.now)

    def found(self, question: str, **filters: object) -> set[int]:
        """The documents that any leg found."""
        return {each.passage.document_id for each in self.ask(question, **filters).candidates}

    def cited(self, question: str) -> tuple[Hit, EvidenceLink]:
        """The first hit and its best sentence, linked."""
        hit = self.ask(question).hits[0]
        return hit, link_of(hit.citations[0])
