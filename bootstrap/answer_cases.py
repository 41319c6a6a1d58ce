"""Asks the questions of a judged folder with and without the documents that answer them."""

from collections.abc import Callable, Iterator, Mapping

from core.domain.documents import Document
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.evaluation.judgments.folders import JudgedFolder
from core.evaluation.tuning.answerability_fitting import AnswerCase
from core.search.ranking.answerability import answer_signals
from core.workbench import Workbench

__all__ = ["answer_cases"]

_SHOWN = 5  # first passages, among which an answer counts as found: those of hit@5


def answer_cases(
    workbench: Workbench,
    judged: JudgedFolder,
    documents: Mapping[str, Document],
    on_question: Callable[[int], None] = lambda done: None,
) -> Iterator[AnswerCase]:
    """Every question, asked with and without the documents that answer it.

    documents: SHA-256 → document of the workbench, which holds the folder. on_question: called with the number done.
    """
    for done, question in enumerate(judged.questions, start=1):
        answering = tuple(documents[sha].id for sha in question.grades if sha in documents)
        yield from _cases(workbench, judged.name, question.text, question.filters, answering)
        on_question(done)


def _cases(
    workbench: Workbench, name: str, text: str, filters: SearchFilters, answering: tuple[int, ...]
) -> Iterator[AnswerCase]:
    result = workbench.search.run(SearchRequest(text, filters), remember=False)
    found = any(hit.candidate.passage.document_id in answering for hit in result.hits[:_SHOWN])
    yield AnswerCase(name, answer_signals(result.candidates), bool(answering), found)
    if answering:
        without = filters.replace(exclude_documents=(*filters.exclude_documents, *answering))
        result = workbench.search.run(SearchRequest(text, without), remember=False)
        yield AnswerCase(name, answer_signals(result.candidates), False, found)
