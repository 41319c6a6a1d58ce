"""The answer service: asks the five truths over one tenant's documents and tables, and logs what was asked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from core.answers.answer import answer_of_five
from core.answers.synthesis import Synthesis, synthesised
from core.domain.filters import SearchFilters
from core.domain.five_truths import Figure, FiveTruthsAnswer, TruthState
from core.knowledge.workspace_terms import WorkspaceTerms
from core.ports.catalogue import Catalogue
from core.ports.models import LanguageModel
from core.ports.stores import Profiles
from core.search.pipeline import SearchPipeline

__all__ = ["AnswerService"]

_WHOLE_TABLES = "Figures are counted over whole tables: of the filters, only truth and a single project narrow them."


@dataclass(slots=True)
class AnswerService:
    """Answers questions for one tenant. profiles: the ranking profiles of the searches behind an answer. figures:
    returns the figures that a project's tables (None: all tables) give for a question. writer: the language model that
    may write the answer as running text, None when there is none.
    """

    pipeline: SearchPipeline
    catalogue: Catalogue
    profiles: Profiles
    figures: Callable[[str, str | None], Sequence[Figure]]
    writer: LanguageModel | None
    terms: Callable[[], WorkspaceTerms]
    now: Callable[[], datetime]

    @property
    def writer_name(self) -> str:
        """The language model that may write, "" when there is none."""
        return "" if self.writer is None else self.writer.name

    def ask(
        self, question: str, *, filters: SearchFilters, profile: str, project: str | None = None
    ) -> FiveTruthsAnswer:
        """Ask all five truths; the question is logged when every truth could be searched. A failing table store becomes
        a notice.

        project: narrows documents and tables; None: as the filters say. profile: "" for the default. Raises BadRequest
        for an empty question or an unknown profile.
        """
        filters = filters if project is None else filters.replace(projects=(project,))
        scored = self.profiles.find(profile) if profile else self.profiles.default(filters.project)
        return self._answer(question, filters, scored.ref)

    def _answer(self, question: str, filters: SearchFilters, profile: str) -> FiveTruthsAnswer:
        project, now = filters.projects[0] if len(filters.projects) == 1 else None, self.now()
        answer = answer_of_five(
            question,
            search=lambda requests: self.pipeline.search_many(requests, now),
            figures=lambda asked: self.figures(asked, project),
            profile=profile,
            filters=filters,
            now=now,
            terms=self.terms(),
        )
        if not any(each.state is TruthState.FAILED for each in answer.truths):
            cited = {citation.passage_id for each in answer.truths for citation in each.citations}
            self.catalogue.save_searched(answer.question, len(cited), now)
        narrowing = SearchFilters(truths=filters.truths, exclude_truths=filters.exclude_truths)
        if answer.figures and filters.replace(projects=filters.projects[1:]) != narrowing:
            return replace(answer, notices=(*answer.notices, _WHOLE_TABLES))
        return answer

    def write(self, answer: FiveTruthsAnswer) -> Synthesis:
        """The answer as running text, every sentence checked; extractive without a writer, or when it fails."""
        return synthesised(answer, self.writer)
