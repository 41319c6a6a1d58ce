"""Searching in other processes: Python runs one thread at a time, so one process searches on one core."""

from typing import Protocol

from core.domain.filters import SearchFilters
from core.domain.five_truths import FiveTruthsAnswer
from core.domain.queries import SearchRequest
from core.domain.results import SearchResult

__all__ = ["SearchProcesses"]


class SearchProcesses(Protocol):
    """Processes that search the same library for the same person. Each method returns None when none of them can: then
    the caller searches itself. They raise what a search raises."""

    def search(self, request: SearchRequest) -> SearchResult | None:
        """What `SearchService.run` returns. Not for requests with a reranker."""

    def answer(self, question: str, filters: SearchFilters, profile: str) -> FiveTruthsAnswer | None:
        """What `AnswerService.ask` returns, with this profile."""
