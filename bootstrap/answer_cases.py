"""Asks questions with and without the documents that answer them: those of a judged folder, and those that enrichment
draws from its documents. Both teach the probability of an answer; only the judged ones measure it."""

from collections.abc import Callable, Iterator, Mapping

from core.domain.documents import Document, DocumentState
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.evaluation.judgments.folders import JudgedFolder
from core.evaluation.tuning.answerability_fitting import AnswerCase
from core.library.enrichment.values import Operation
from core.search.ranking.answerability import answer_signals
from core.workbench import Workbench

__all__ = ["MOST_DRAWN", "answer_cases"]

MOST_DRAWN = 200
"""Drawn questions per folder: enough for three weights, and each costs two searches. Chosen by hand."""

_SHOWN = 5  # first passages, among which an answer counts as found: those of hit@5


def answer_cases(
    workbench: Workbench,
    judged: JudgedFolder,
    documents: Mapping[str, Document],
    on_question: Callable[[int], None] = lambda done: None,
) -> Iterator[AnswerCase]:
    """Every judged and every drawn question, asked with and without the documents that answer it.

    documents: SHA-256 → document of the workbench, which holds the folder. on_question: called with the number done.
    """
    done = 0
    for question in judged.questions:
        answering = tuple(documents[sha].id for sha in question.grades if sha in documents)
        yield from _cases(workbench, judged.name, question.text, question.filters, answering, drawn=False)
        done += 1
        on_question(done)
    for text, document_id in _drawn_questions(workbench, documents):
        yield from _cases(workbench, judged.name, text, SearchFilters(), (document_id,), drawn=True)
        done += 1
        on_question(done)


def _cases(
    workbench: Workbench, name: str, text: str, filters: SearchFilters, answering: tuple[int, ...], *, drawn: bool
) -> Iterator[AnswerCase]:
    asked = workbench.search.run(SearchRequest(text, filters), remember=False)
    found = any(hit.candidate.passage.document_id in answering for hit in asked.hits[:_SHOWN])
    yield AnswerCase(name, answer_signals(asked.candidates), bool(answering), found, drawn)
    if answering:
        without = filters.replace(exclude_documents=(*filters.exclude_documents, *answering))
        asked = workbench.search.run(SearchRequest(text, without), remember=False)
        yield AnswerCase(name, answer_signals(asked.candidates), False, found, drawn)


def _drawn_questions(workbench: Workbench, documents: Mapping[str, Document]) -> Iterator[tuple[str, int]]:
    """(question, document), from documents in the order of their SHA-256, which is as good as any."""
    left = MOST_DRAWN
    for _, document in sorted(documents.items()):
        if left <= 0:
            return
        if document.state is not DocumentState.READY:
            continue
        workbench.enrichment.enrich(document.id, operations=[Operation.QUESTIONS])
        questions = workbench.enrichment.of(document.id).questions.questions[:left]
        left -= len(questions)
        yield from ((each.question, document.id) for each in questions)
