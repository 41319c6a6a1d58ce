"""How well the questions of a judged file are answered: found, quoted, or rightly left unanswered."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.errors import BadRequest
from core.experiments import Outcome
from core.judged import NOTHING_ANSWERS, JudgedQuestion, Level, QuestionSet
from core.queries import SearchRequest
from core.results import SearchResult
from core.tuning.judging import JudgingDesk
from core.tuning.judgments import QuestionJudgment
from core.tuning.lab import request_of
from core.tuning.metrics import mean, middle
from core.tuning.outcomes import measured

__all__ = ["AnswerReport", "Answered", "check_questions", "evaluate_search", "kept_questions"]

_MEASURES = ("hit@5", "answer@5", "mrr@10", "ndcg@10")

Search = Callable[[SearchRequest], SearchResult]
PageText = Callable[[int, int], str]


@dataclass(frozen=True, slots=True)
class Answered:
    """One question's outcome, of the kind its file says. quotes, exact_quotes: citations, and those equal to their
    page's characters. refused_without: whether it gets no result once the documents that answer it are left out; None
    for a question that nothing answers."""

    kind: str
    outcome: Outcome
    quotes: int
    exact_quotes: int
    refused_without: bool | None = None

    def data(self) -> dict[str, Any]:
        """Plain data for JSON; what does not apply to a question is 0."""
        told, values = self.outcome, self.outcome.measures
        return {
            "id": told.key,
            "kind": self.kind,
            "question": told.question,
            "answerable": told.answerable,
            "hits": told.hits,
            "hit": values.get("hit@5") == 1,
            "answer": values.get("answer@5") == 1,
            "mrr": values.get("mrr@10", 0.0),
            "ndcg": values.get("ndcg@10", 0.0),
            "milliseconds": told.milliseconds,
            "quotes": self.quotes,
            "exact_quotes": self.exact_quotes,
            "first": told.first,
            "refused_without": self.refused_without,
        }


@dataclass(frozen=True, slots=True)
class AnswerReport:
    """Means over the answerable questions; refused_none over those nothing answers. Shares in [0, 1], NaN of nothing.

    false_refusals: share of the answerable questions left without a hit. refused_without: share of them left without
    one when the documents that answer them are left out: what is left may answer in part, so it need not reach 1.
    """

    questions: tuple[Answered, ...]

    def measures(self, kind: str | None = None) -> dict[str, float]:
        """The measures of one kind of question, or of all."""
        chosen = [q for q in self.questions if kind in (None, q.kind)]
        quotes = sum(q.quotes for q in chosen)
        return {
            "questions": len(chosen),
            **{name: _mean(chosen, name) for name in _MEASURES},
            "refused_none": _mean(chosen, "refused"),
            "refused_without": mean([float(q.refused_without) for q in chosen if q.refused_without is not None]),
            "false_refusals": _mean(chosen, "false_refusal"),
            "quote_exact": sum(q.exact_quotes for q in chosen) / quotes if quotes else float("nan"),
            "median_ms": middle([q.outcome.milliseconds for q in chosen]),
        }

    def data(self) -> dict[str, Any]:
        """Plain data for JSON: the measures, per kind, and every question's outcome."""
        kinds = dict.fromkeys(q.kind for q in self.questions)
        outcomes = [q.data() for q in self.questions]
        return self.measures() | {"per_kind": {kind: self.measures(kind) for kind in kinds}, "outcomes": outcomes}


def _mean(questions: Sequence[Answered], name: str) -> float:
    return mean([q.outcome.measures[name] for q in questions if name in q.outcome.measures])


def check_questions(judged: Sequence[QuestionJudgment]) -> None:
    """Raises BadRequest for a key that is there twice, and for a question nothing answers that has an answer."""
    seen: set[str] = set()
    for each in judged:
        if each.id in seen:
            raise BadRequest(f"The question '{each.id}' is there twice.", "Give every question an id of its own.")
        if each.relevant and each.kind == NOTHING_ANSWERS:
            raise BadRequest(
                f"The question '{each.id}' has an answer, so its kind is not '{NOTHING_ANSWERS}'.",
                "Choose another kind.",
            )
        seen.add(each.id)


def kept_questions(
    judged: Sequence[QuestionJudgment], desk: JudgingDesk, name: str
) -> tuple[QuestionSet, Sequence[JudgedQuestion]]:
    """A new set of graded documents that holds the questions of a file, in their order, as the lab measures them.

    A question without anything relevant is one that nothing answers, whatever its kind. Raises what `check_questions`
    raises.
    """
    check_questions(judged)
    questions = desk.add_set(name, None, Level.DOCUMENT, "command line")
    kept = [
        JudgedQuestion(
            questions.id,
            each.id,
            each.question,
            each.kind if each.relevant else NOTHING_ANSWERS,
            each.filters,
            each.relevant,
        )
        for each in judged
    ]
    return questions, desk.change_questions(kept)


def evaluate_search(
    judged: Sequence[QuestionJudgment], desk: JudgingDesk, search: Search, page_text: PageText, *, profile: str
) -> AnswerReport:
    """Ask every question with its own filters, as the lab does.

    `page_text(document id, page number)` proves the quotes. Raises what `kept_questions` raises.
    """
    questions, kept = kept_questions(judged, desk, "Judged questions")
    results = {each.id: search(request_of(each, questions, profile)) for each in kept}
    outcomes = measured(kept, results, (), questions.level)
    return AnswerReport(
        tuple(
            Answered(each.kind, outcome, *_quotes(found, page_text), _refused_without(each, found, search))
            for each, outcome in zip(judged, outcomes, strict=True)
            for found in (results[outcome.question_id],)
        )
    )


def _refused_without(judged: QuestionJudgment, found: SearchResult, search: Search) -> bool | None:
    """Whether the question gets no result without the documents that answer it."""
    if not judged.relevant:
        return None
    answering = {each.sha256 for each in judged.relevant}
    left_out = tuple(id for id, document in found.documents.items() if document.sha256 in answering)
    filters = found.request.filters
    narrowed = filters.replace(exclude_documents=(*filters.exclude_documents, *left_out))
    return not search(replace(found.request, filters=narrowed)).hits


def _quotes(result: SearchResult, page_text: PageText) -> tuple[int, int]:
    """How many citations there are, and how many stand on their page letter by letter."""
    told = [citation for hit in result.hits for citation in hit.citations]
    return len(told), sum(c.quote == page_text(c.document_id, c.page_number)[c.start : c.end] for c in told)
