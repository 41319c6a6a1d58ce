"""A library in which the truths agree, disagree and are silent, and how to ask it."""

from collections.abc import Callable, Sequence
from functools import cache

from core.answers.answer import answer_of_five
from core.domain.documents import Authority, Truth
from core.domain.filters import SearchFilters
from core.domain.five_truths import Figure, FiveTruthsAnswer
from core.domain.queries import SearchRequest
from core.domain.results import SearchResult
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from tests.search.library import NOW, Library, WordEmbedder

QUESTION = "Within how many days must employees submit expense reports?"
COUNTED = Figure(
    "expense reports submitted late",
    "37",
    "SELECT count(*) FROM expenses WHERE late",
    "expenses",
    "[expenses.csv, rows 1–412]",
    412,
)


def expense_library(embedder: WordEmbedder | None = None) -> Library:
    """Law and vendor agree on 30 days, policy says 60, the customer speaks of something else, reality is empty."""
    library = Library(embedder)
    library.add(
        "law.pdf",
        "Employees must submit expense reports within 30 days.",
        "A wage and tax statement must be furnished by January 31.",
        truth=Truth.REGULATORY,
        authority=Authority.GOVERNMENT,
    )
    library.add(
        "policy.md",
        "Employees must submit expense reports within 60 days. Receipts of expense reports are kept by employees.",
        truth=Truth.COMPLIANCE,
        authority=Authority.INTERNAL,
    )
    library.add("sow.docx", "The customer wants overtime configured for three locations.", truth=Truth.INTENT)
    library.add("guide.html", "Employees submit expense reports within 30 days.", truth=Truth.REFERENCE)
    return library


def searching(library: Library) -> Callable[[Sequence[SearchRequest]], Sequence[SearchResult]]:
    """The library's search, as an answer asks it."""
    return lambda requests: library.searcher.search_many(requests, NOW)


def no_figures(question: str) -> tuple[Figure, ...]:
    """A library without tables."""
    return ()


def answer_for(
    question: str = QUESTION,
    library: Library | None = None,
    *,
    figures: Callable[[str], Sequence[Figure]] = no_figures,
    filters: SearchFilters | None = None,
    search: Callable[[Sequence[SearchRequest]], Sequence[SearchResult]] | None = None,
) -> FiveTruthsAnswer:
    """One question to a library in memory. search: asked instead of the library."""
    return answer_of_five(
        question,
        search=search or searching(library or expense_library()),
        figures=figures,
        profile="balanced",
        filters=filters or SearchFilters(),
        now=NOW,
        terms=BUILT_IN_TERMS,
    )


@cache
def expense_answer() -> FiveTruthsAnswer:
    """The answer to `QUESTION`, with a number from a table; not made before a test asks for it."""
    return answer_for(figures=lambda question: (COUNTED,))
