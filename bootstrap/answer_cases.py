"""Asks the questions of a judged folder with and without the documents that answer them, and searches for topics."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

from core.answers.answer import truth_request
from core.domain.coverage import Topic
from core.domain.documents import Document, Truth
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.domain.results import SearchResult
from core.evaluation.judgments.files import RequirementJudgment, TopicJudgment
from core.evaluation.judgments.folders import JudgedFolder
from core.evaluation.tuning.answerability_fitting import AnswerCase
from core.evaluation.tuning.coverage_fitting import CellCase
from core.evaluation.tuning.truth_fitting import TruthCase
from core.knowledge.answerability import topic_model
from core.knowledge.rerankers import INCLUDED
from core.search.ranking.answerability import (
    AnswerSignals,
    ReadSignals,
    answer_signals,
    lead_over,
    read_signals,
    topic_evidence,
    truth_evidence,
)
from core.workbench import Workbench

__all__ = ["answer_cases", "cell_cases", "requirement_cases", "truth_cases"]

_PATIENCE = 60.0  # seconds for the reranker, which reads everything here
_SHOWN = 5  # first passages, among which an answer counts as found: those of hit@5


def answer_cases(
    workbench: Workbench,
    judged: JudgedFolder,
    documents: Mapping[str, Document],
    on_question: Callable[[int], None] = lambda done: None,
    *,
    read: bool = False,
) -> Iterator[AnswerCase]:
    """Every question, asked with and without the documents that answer it.

    documents: SHA-256 → document of the workbench, which holds the folder. on_question: called with the number done.
    read: with what the included reranker reads; questions of which it cannot read the best passage are left out.
    """
    for done, question in enumerate(judged.questions, start=1):
        answering = tuple(documents[sha].id for sha in question.grades if sha in documents)
        yield from _cases(workbench, judged.name, question.text, question.filters, answering, read=read)
        on_question(done)


def _cases(
    workbench: Workbench, name: str, text: str, filters: SearchFilters, answering: tuple[int, ...], *, read: bool
) -> Iterator[AnswerCase]:
    def searched(filters: SearchFilters) -> tuple[AnswerSignals | ReadSignals | None, SearchResult]:
        request = SearchRequest(text, filters)
        request = replace(request, rerank=INCLUDED, reranker_deadline=_PATIENCE) if read else request
        result = workbench.search.run(request, remember=False)
        return read_signals(result.candidates) if read else answer_signals(result.candidates), result

    signals, result = searched(filters)
    found = any(hit.candidate.passage.document_id in answering for hit in result.hits[:_SHOWN])
    if signals is not None:
        yield AnswerCase(name, signals, bool(answering), found)
    if answering:
        signals, _ = searched(filters.replace(exclude_documents=(*filters.exclude_documents, *answering)))
        if signals is not None:
            yield AnswerCase(name, signals, False, found)


def truth_cases(
    workbench: Workbench,
    judged: JudgedFolder,
    documents: Mapping[str, Document],
    on_question: Callable[[int], None] = lambda done: None,
) -> Iterator[TruthCase]:
    """Each truth asked each question, with and without the documents that answer it; arguments as in `answer_cases`."""
    for done, question in enumerate(judged.questions, start=1):
        answering = tuple(documents[sha].id for sha in question.grades if sha in documents)
        yield from _truths(workbench, judged.name, question.text, answering)
        if answering:
            yield from _truths(workbench, judged.name, question.text, answering, without=True)
        on_question(done)


def _truths(
    workbench: Workbench, name: str, text: str, answering: tuple[int, ...], *, without: bool = False
) -> Iterator[TruthCase]:
    filters = SearchFilters(exclude_documents=answering if without else ())
    results = workbench.search.run_many([truth_request(text, truth, filters, "balanced") for truth in Truth])
    values = [truth_evidence(result.candidates) for result in results]
    for at, (result, value) in enumerate(zip(results, values, strict=True)):
        yield TruthCase(
            name,
            text,
            value or 0.0,
            0.0 if value is None else lead_over(value, (*values[:at], *values[at + 1 :])),
            max((each.signals.similarity for each in result.candidates), default=0.0),
            answers=any(hit.candidate.passage.document_id in answering for hit in result.hits[:_SHOWN]),
            answerable=bool(answering) and not without,
        )


def cell_cases(
    workbench: Workbench,
    name: str,
    topics: Sequence[TopicJudgment],
    on_topic: Callable[[int], None] = lambda done: None,
) -> Iterator[CellCase]:
    """The judged cells of each topic. name: of the collection; on_topic: called with the number done."""
    for done, topic in enumerate(topics, start=1):
        for truth in sorted(topic.covered | topic.missing):
            (weighed,) = workbench.coverage.weighed([Topic(topic.topic)], truth)
            best: dict[bool, float] = {}
            for each in reversed(weighed):  # the strongest of each kind comes last
                best[each.other_language] = topic_evidence(
                    each.score, topic_model(), other_language=each.other_language
                )
            cosine = max((each.meaning for each in weighed), default=0.0)
            yield CellCase(name, best.get(False), best.get(True), cosine, truth in topic.covered)
        on_topic(done)


def requirement_cases(
    workbench: Workbench, name: str, judged: Sequence[RequirementJudgment]
) -> tuple[Sequence[RequirementJudgment], Sequence[CellCase]]:
    """Those of the judged sentences that are found as requirements, and their judged cells. name: of the collection."""
    documents = {document.id: document.sha256 for document in workbench.documents.list()}
    found = {
        (documents[topic.source.document_id], sha256(" ".join(topic.source.quote.split()).encode()).hexdigest()): topic
        for topic in workbench.coverage.found_requirements(None)
        if topic.source is not None
    }
    known = [each for each in judged if (each.document, each.sentence) in found]
    cases: list[CellCase] = []
    for each in known:
        topic = found[each.document, each.sentence]
        about = TopicJudgment(topic.name, each.covered, each.missing)
        cases += cell_cases(workbench, name, [about])
    return known, cases
