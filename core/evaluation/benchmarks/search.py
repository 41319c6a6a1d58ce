"""Measures search on judged questions and on retrieval test collections."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from core.domain.documents import Document
from core.domain.errors import BadRequest
from core.domain.evaluation import NOTHING_ANSWERS, JudgedQuestion, Level, QuestionOutcome, QuestionSet
from core.domain.queries import SearchRequest
from core.domain.results import SearchResult
from core.evaluation.experiments import request_of
from core.evaluation.judgments.files import Collection, QuestionJudgment
from core.evaluation.judgments.service import JudgmentService
from core.evaluation.metrics.grades import measured
from core.evaluation.metrics.measures import auroc, mean, middle, ranking_measures

__all__ = [
    "AnsweredQuestion",
    "SearchReport",
    "check_questions",
    "evaluate_collection",
    "evaluate_search",
    "ids_of",
    "store_questions",
]

_MEASURES = ("hit@5", "answer@5", "mrr@10", "ndcg@10")

Search = Callable[[SearchRequest], SearchResult]

PageText = Callable[[int, int], str]


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """One question's outcome, of the kind its file says. quotes, exact_quotes: citations, and those equal to their
    page's characters. probability: of an answer. refused_without, probability_without: whether it is called unanswered
    once the documents that answer it are left out, and its probability then; None for a question that nothing answers.
    """

    kind: str
    outcome: QuestionOutcome
    quotes: int
    exact_quotes: int
    probability: float | None = None
    refused_without: bool | None = None
    probability_without: float | None = None

    def data(self) -> dict[str, Any]:
        """Plain data for JSON; what does not apply to a question is 0."""
        outcome, values = self.outcome, self.outcome.measures
        return {
            "id": outcome.key,
            "kind": self.kind,
            "question": outcome.question,
            "answerable": outcome.answerable,
            "hits": outcome.hits,
            "hit": values.get("hit@5") == 1,
            "answer": values.get("answer@5") == 1,
            "mrr": values.get("mrr@10", 0.0),
            "ndcg": values.get("ndcg@10", 0.0),
            "milliseconds": outcome.milliseconds,
            "quotes": self.quotes,
            "exact_quotes": self.exact_quotes,
            "first": outcome.first,
            "probability": self.probability,
            "refused_without": self.refused_without,
            "probability_without": self.probability_without,
        }


@dataclass(frozen=True, slots=True)
class SearchReport:
    """Means over the answerable questions; refused_none over those nothing answers. Shares in [0, 1], NaN of nothing.

    false_refusals: share of the answerable questions called unanswered. refused_without: share of them called so when
    the documents that answer them are left out: what is left may answer in part, so it need not reach 1. auroc: how
    well the probability of an answer tells the answerable questions from those, and from the unanswerable ones.
    """

    questions: tuple[AnsweredQuestion, ...]

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
            "auroc": _auroc(chosen),
            "quote_exact": sum(q.exact_quotes for q in chosen) / quotes if quotes else float("nan"),
            "median_ms": middle([q.outcome.milliseconds for q in chosen]),
        }

    def data(self) -> dict[str, Any]:
        """Plain data for JSON: the measures, per kind, and every question's outcome."""
        kinds = dict.fromkeys(q.kind for q in self.questions)
        outcomes = [q.data() for q in self.questions]
        return self.measures() | {"per_kind": {kind: self.measures(kind) for kind in kinds}, "outcomes": outcomes}


def _auroc(questions: Sequence[AnsweredQuestion]) -> float:
    answered = [q.probability for q in questions if q.outcome.answerable and q.probability is not None]
    unanswered = [
        probability
        for q in questions
        for probability in (q.probability_without if q.outcome.answerable else q.probability,)
        if probability is not None
    ]
    return auroc(answered, unanswered)


def _mean(questions: Sequence[AnsweredQuestion], name: str) -> float:
    return mean([q.outcome.measures[name] for q in questions if name in q.outcome.measures])


def check_questions(judged: Sequence[QuestionJudgment]) -> None:
    """Raises BadRequest for a duplicate key, and for an unanswerable question with an answer."""
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


def store_questions(
    judged: Sequence[QuestionJudgment], service: JudgmentService, name: str
) -> tuple[QuestionSet, Sequence[JudgedQuestion]]:
    """A new document-level question set with the questions of a file, in order, as experiments measure them.

    A question without relevant entries is unanswerable, whatever its kind. Raises what `check_questions` raises.
    """
    check_questions(judged)
    questions = service.add_set(name, None, Level.DOCUMENT, "command line")
    stored = [
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
    return questions, service.change_questions(stored)


def evaluate_search(
    judged: Sequence[QuestionJudgment], service: JudgmentService, search: Search, page_text: PageText, *, profile: str
) -> SearchReport:
    """Ask every question with its own filters, as experiments do.

    `page_text(document id, page number)` proves the quotes. Raises what `store_questions` raises.
    """
    questions, stored = store_questions(judged, service, "Judged questions")
    results = {each.id: search(request_of(each, questions, profile)) for each in stored}
    outcomes = measured(stored, results, (), questions.level)
    return SearchReport(
        tuple(
            AnsweredQuestion(
                each.kind,
                outcome,
                *_quotes(found, page_text),
                found.answer_probability,
                None if without is None else not without.answered,
                None if without is None else without.answer_probability,
            )
            for each, outcome in zip(judged, outcomes, strict=True)
            for found in (results[outcome.question_id],)
            for without in (_without_answers(each, found, search),)
        )
    )


def _without_answers(judged: QuestionJudgment, found: SearchResult, search: Search) -> SearchResult | None:
    """The result without the documents that answer the question; None when nothing answers it anyway."""
    if not judged.relevant:
        return None
    answering = {each.sha256 for each in judged.relevant}
    left_out = tuple(id for id, document in found.documents.items() if document.sha256 in answering)
    filters = found.request.filters
    narrowed = filters.replace(exclude_documents=(*filters.exclude_documents, *left_out))
    return search(replace(found.request, filters=narrowed))


def _quotes(result: SearchResult, page_text: PageText) -> tuple[int, int]:
    """Number of citations, and of those that equal their page's characters."""
    citations = [citation for hit in result.hits for citation in hit.citations]
    return len(citations), sum(c.quote == page_text(c.document_id, c.page_number)[c.start : c.end] for c in citations)


_DEPTH = 100  # results asked for: recall@100 needs so many

_LEGS = ("dense", "sparse", "fused")

_COLLECTION_MEASURES = {"nDCG@10": "ndcg@10", "R@100": "recall@100"}


def evaluate_collection(
    collection: Collection,
    ids: Mapping[int, Sequence[str]],
    search: Callable[[SearchRequest], SearchResult],
    *,
    profile: str = "balanced",
) -> dict[str, dict[str, float]]:
    """Leg or profile → {ndcg@10, recall@100}.

    ids: stored document → the collection's ids of it (several where the collection holds the same text twice).

    The legs' own ranks order their lists. The profile's list is its hits, then what it dropped by falling score: a
    ranking measure judges the order, and the threshold only cuts it off.
    """
    rankings: dict[str, dict[str, Sequence[str]]] = {name: {} for name in (*_LEGS, profile)}
    for query, text in collection.queries.items():
        result = search(SearchRequest(text, profile=profile, top_k=_DEPTH))
        for leg in _LEGS:
            rankings[leg][query] = _ids(_leg_order(result, leg), ids)
        rankings[profile][query] = _ids(_profile_order(result), ids)
    return {name: _mean_measures(collection.grades, ranking) for name, ranking in rankings.items()}


def ids_of(texts: Mapping[str, str], documents: Mapping[str, Document]) -> dict[int, list[str]]:
    """Stored document → the collection's ids of its text. documents: SHA-256 of the text's bytes → document."""
    ids: dict[int, list[str]] = {}
    for name, text in texts.items():
        document = documents.get(sha256(text.encode()).hexdigest())
        if document is not None:
            ids.setdefault(document.id, []).append(name)
    return ids


def _mean_measures(grades: Mapping[str, Mapping[str, int]], ranking: Mapping[str, Sequence[str]]) -> dict[str, float]:
    measured = ranking_measures(grades, ranking, tuple(_COLLECTION_MEASURES))
    return {key: mean([values[name] for values in measured.values()]) for name, key in _COLLECTION_MEASURES.items()}


def _leg_order(result: SearchResult, leg: str) -> list[int]:
    placed = [(c.signals.ranks[leg], c.passage.document_id) for c in result.candidates if leg in c.signals.ranks]
    return [document for _, document in sorted(placed)]


def _profile_order(result: SearchResult) -> list[int]:
    scored = [(dropped.score.total, dropped.candidate.passage) for dropped in result.dropped if dropped.score]
    scored.sort(key=lambda pair: (-pair[0], pair[1].id))
    return [hit.candidate.passage.document_id for hit in result.hits] + [passage.document_id for _, passage in scored]


def _ids(documents: Sequence[int], ids: Mapping[int, Sequence[str]]) -> list[str]:
    """The collection's ids, each once, in the order of the documents."""
    return [name for document in dict.fromkeys(documents) for name in ids[document]]
