"""How well questions are answered: found, quoted, or rightly left unanswered."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.queries import SearchRequest
from core.results import Hit, SearchResult
from core.tuning.judgments import QuestionJudgment
from core.tuning.metrics import mean, middle, normalised, ranking_measures

__all__ = ["AnswerReport", "Answered", "evaluate_search"]

_SHOWN = 5
_ASKED = 50
"""Hits asked for, so that ten documents can be ranked although several hits come from one."""

Search = Callable[[SearchRequest], SearchResult]
PageText = Callable[[int, int], str]


@dataclass(frozen=True, slots=True)
class Answered:
    """One question's outcome. quotes, exact_quotes: citations, and those equal to their page's characters."""

    id: str
    kind: str
    question: str
    answerable: bool
    hits: int
    hit: bool
    answer: bool
    mrr: float
    ndcg: float
    milliseconds: float
    quotes: int
    exact_quotes: int
    first: str


@dataclass(frozen=True, slots=True)
class AnswerReport:
    """Means over the answerable questions; refused_none over those nothing answers. Shares in [0, 1], NaN of nothing.

    false_refusals: share of the answerable questions left without a hit.
    """

    questions: tuple[Answered, ...]

    def measures(self, kind: str | None = None) -> dict[str, float]:
        """The measures of one kind of question, or of all."""
        chosen = [q for q in self.questions if kind in (None, q.kind)]
        real = [q for q in chosen if q.answerable]
        quotes = sum(q.quotes for q in chosen)
        return {
            "questions": len(chosen),
            "hit@5": mean([q.hit for q in real]),
            "answer@5": mean([q.answer for q in real]),
            "mrr@10": mean([q.mrr for q in real]),
            "ndcg@10": mean([q.ndcg for q in real]),
            "refused_none": mean([q.hits == 0 for q in chosen if not q.answerable]),
            "false_refusals": mean([q.hits == 0 for q in real]),
            "quote_exact": sum(q.exact_quotes for q in chosen) / quotes if quotes else float("nan"),
            "median_ms": middle([q.milliseconds for q in chosen]),
        }

    def data(self) -> dict[str, Any]:
        """Plain data for JSON: the measures, per kind, and every question's outcome."""
        kinds = dict.fromkeys(q.kind for q in self.questions)
        outcomes = [{name: getattr(q, name) for name in q.__dataclass_fields__} for q in self.questions]
        return self.measures() | {"per_kind": {kind: self.measures(kind) for kind in kinds}, "outcomes": outcomes}


def evaluate_search(
    questions: Sequence[QuestionJudgment], search: Search, page_text: PageText, *, profile: str = "balanced"
) -> AnswerReport:
    """Ask every question with its own filters. `page_text(document id, page number)` proves the quotes."""
    results = {
        judged.id: search(SearchRequest(judged.question, judged.filters, profile, top_k=_ASKED)) for judged in questions
    }
    grades = {judged.id: _grades(judged) for judged in questions}
    rankings = {question: _documents(result) for question, result in results.items()}
    measured = ranking_measures(grades, rankings, ("RR@10", "nDCG@10"))
    return AnswerReport(
        tuple(_outcome(judged, results[judged.id], measured.get(judged.id, {}), page_text) for judged in questions)
    )


def _grades(judged: QuestionJudgment) -> dict[str, int]:
    grades: dict[str, int] = {}
    for entry in judged.relevant:
        grades[entry.sha256] = max(entry.grade, grades.get(entry.sha256, 0))
    return grades


def _documents(result: SearchResult) -> list[str]:
    """SHA-256 of the documents, in the order of their best hit."""
    return list(dict.fromkeys(_sha256(result, hit) for hit in result.hits))


def _sha256(result: SearchResult, hit: Hit) -> str:
    return result.documents[hit.candidate.passage.document_id].sha256


def _outcome(
    judged: QuestionJudgment, result: SearchResult, measured: Mapping[str, float], page_text: PageText
) -> Answered:
    shown = result.hits[:_SHOWN]
    relevant = {entry.sha256 for entry in judged.relevant}
    citations = [citation for hit in result.hits for citation in hit.citations]
    exact = sum(c.quote == page_text(c.document_id, c.page_number)[c.start : c.end] for c in citations)
    return Answered(
        id=judged.id,
        kind=judged.kind,
        question=judged.question,
        answerable=bool(judged.relevant),
        hits=len(result.hits),
        hit=any(_sha256(result, hit) in relevant for hit in shown),
        answer=any(_holds_answer(judged, _sha256(result, hit), hit.candidate.passage.text) for hit in shown),
        mrr=measured.get("RR@10", 0.0),
        ndcg=measured.get("nDCG@10", 0.0),
        milliseconds=result.milliseconds,
        quotes=len(citations),
        exact_quotes=exact,
        first=result.documents[shown[0].candidate.passage.document_id].name if shown else "",
    )


def _holds_answer(judged: QuestionJudgment, sha256: str, text: str) -> bool:
    """Whether a passage of a relevant document holds all tokens that stand together in its answer."""
    tidy = normalised(text)
    return any(
        entry.sha256 == sha256 and all(normalised(token) in tidy for token in entry.must_contain)
        for entry in judged.relevant
    )
