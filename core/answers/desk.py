"""Where an answer of five is asked: whose documents and tables, what is remembered of it, and who writes it out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from core.answers.answering import answer_of_five
from core.answers.synthesis import Synthesis, Synthesiser, synthesised
from core.filters import SearchFilters
from core.five_truths import Figure, FiveTruthsAnswer, TruthState
from core.ports import Catalogue
from core.search.pipeline import Searcher

__all__ = ["AnswerDesk"]

_WHOLE_TABLES = "Figures are counted over whole tables: of the filters, only truth and a single project narrow them."


@dataclass(frozen=True, slots=True)
class AnswerDesk:
    """One desk serves one tenant. figures: what the tables of a project (None: of all) say to a question; writer: the
    language model that may tell an answer in running text, None when there is none."""

    searcher: Searcher
    catalogue: Catalogue
    figures: Callable[[str, str | None], Sequence[Figure]]
    writer: Synthesiser | None
    now: Callable[[], datetime]

    @property
    def writer_name(self) -> str:
        """The language model that may write, "" when there is none."""
        return "" if self.writer is None else self.writer.name

    def ask(self, question: str, filters: SearchFilters, profile: str) -> FiveTruthsAnswer:
        """Ask all five truths; a question whose every truth could be searched is remembered.

        Raises BadRequest for an empty question or an unknown profile.
        """
        project, now = filters.projects[0] if len(filters.projects) == 1 else None, self.now()
        answer = answer_of_five(
            question,
            search=lambda requests: self.searcher.search_many(requests, now),
            figures=lambda asked: self.figures(asked, project),
            profile=profile,
            filters=filters,
            now=now,
        )
        if not any(each.state is TruthState.FAILED for each in answer.truths):
            cited = {citation.passage_id for each in answer.truths for citation in each.citations}
            self.catalogue.save_searched(answer.question, len(cited), now)
        narrowing = SearchFilters(truths=filters.truths, exclude_truths=filters.exclude_truths)
        if answer.figures and filters.replace(projects=filters.projects[1:]) != narrowing:
            return replace(answer, notices=(*answer.notices, _WHOLE_TABLES))
        return answer

    def written(self, answer: FiveTruthsAnswer) -> Synthesis:
        """The answer in running text, every sentence checked; extractive without a writer, or when it fails."""
        return synthesised(answer, self.writer)
