"""A searcher that reads every question in its workspace's words, whichever thread asks."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from core.queries import SearchRequest
from core.results import SearchResult
from core.search.pipeline import Searcher
from core.speaking import Words, in_its_words

__all__ = ["SpeakingSearcher"]


class SpeakingSearcher(Searcher):
    """core.search.pipeline.Searcher; what it finds depends on its words through the route and `field:` terms only."""

    def __init__(self, *stores: Any, words: Words, **parts: Any) -> None:
        super().__init__(*stores, **parts)
        self.words = words

    @in_its_words
    def search(self, request: SearchRequest, now: datetime) -> SearchResult:
        """Answer one question. Raises what Searcher.search raises."""
        return super().search(request, now)

    @in_its_words
    def search_many(
        self, requests: Sequence[SearchRequest], now: datetime, *, cited: bool = True
    ) -> Sequence[SearchResult]:
        """Answer many questions, in their order. Raises what Searcher.search_many raises."""
        return super().search_many(requests, now, cited=cited)
