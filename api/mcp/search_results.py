"""What the tools that find, answer and read give back. Each model is a tool's output schema, with its descriptions."""
# Longer than 300 lines: the fields of results, passages and answers, and how they are filled, are one schema.

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from core.domain.documents import Document, Passage
from core.domain.five_truths import FiveTruthsAnswer, TruthAnswer
from core.domain.results import Citation, Hit, SearchResult
from core.search.citations.cite import CitationStyle, written
from core.search.result_data import next_offset

__all__ = ["AnswerResult", "CitationResult", "PassageResult", "Result", "SearchAnswer"]


class Result(BaseModel):
    """Frozen, so that no tool changes an answer after it is made."""

    model_config = ConfigDict(frozen=True)


class CitationResult(Result):
    """A quoted sentence and where it stands."""

    citation_id: str = Field(description="Names the sentence, e.g. 42.3. Cite it as [42.3] in a text for cite_check.")
    quote: str = Field(description="The sentence, letter for letter as the page has it.")
    written: str = Field(description="The citation for a reader, e.g. [handbook.pdf, p.5].")
    document_id: int
    document: str = Field(description="File name.")
    page: int | None = Field(description="Page number; null for files without pages.")
    relevance: float = Field(description="How well the sentence answers the question, 0 to 1.")

    @classmethod
    def of(cls, citation: Citation) -> "CitationResult":
        return cls(
            citation_id=citation.citation_id,
            quote=citation.quote,
            written=written(citation, CitationStyle.BRIEF),
            document_id=citation.document_id,
            document=citation.document_name,
            page=citation.page,
            relevance=citation.relevance,
        )


class LegResult(Result):
    """What one way of searching found, and how long it took."""

    leg: str = Field(description="dense (by meaning), sparse (by keyword) or graph (by entity).")
    found: int = Field(description="Passages this leg found.")
    rows_before: int = Field(description="Passages of the library.")
    rows_after: int = Field(description="Passages that the filters admit.")
    milliseconds: float
    error: str = Field(description="Why the leg failed; empty when it did not.")


class FactorResult(Result):
    """One factor of a score."""

    name: str
    value: float = Field(description="0 to 1.")
    weight: float
    contribution: float = Field(description="weight × value; the contributions add up to the score before multipliers.")
    reason: str


class HitResult(Result):
    """One result of a search."""

    rank: int
    score: float = Field(description="0 to 1.")
    passage_id: int = Field(description="Read it with its surroundings with read_passage.")
    document_id: int
    document: str
    page: int | None
    section: str
    truth: str | None
    domain: str | None
    authority: str | None
    jurisdiction: str | None
    date: str | None
    source_type: str
    tags: list[str]
    project: str | None
    text: str
    citations: list[CitationResult] = Field(description="The sentences of the passage that answer best.")
    factors: list[FactorResult]
    multipliers: dict[str, float] = Field(description="Name → value, 0 to 1, by which the sum of the factors is cut.")
    similar: list[int] = Field(description="Ids of near-duplicate passages that this result stands for.")

    @classmethod
    def of(cls, hit: Hit, document: Document) -> "HitResult":
        passage = hit.candidate.passage
        return cls(
            rank=hit.rank,
            score=hit.score.total,
            factors=[
                FactorResult(
                    name=each.name,
                    value=each.value,
                    weight=each.weight,
                    contribution=each.contribution,
                    reason=each.reason,
                )
                for each in hit.score.factors
            ],
            citations=[CitationResult.of(each) for each in hit.citations],
            multipliers={each.name: each.value for each in hit.score.multipliers},
            similar=list(hit.similar),
            **_location(passage, document),
        )


def _location(passage: Passage, document: Document) -> dict[str, Any]:
    """The fields of a passage that several answers have."""
    return {
        "passage_id": passage.id,
        "document_id": document.id,
        "document": document.name,
        "page": passage.page if document.paged else None,
        "section": passage.section,
        "truth": passage.truth,
        "domain": passage.domain,
        "authority": passage.authority,
        "jurisdiction": passage.jurisdiction,
        "date": passage.date.date().isoformat() if passage.date else None,
        "source_type": passage.source_type,
        "tags": list(passage.tags),
        "project": passage.project,
        "text": passage.text,
    }


class SearchAnswer(Result):
    """The answer of hybrid_search."""

    query: str
    answered: bool = Field(description="Whether the passages found are strong enough to count as an answer.")
    answer_probability: float | None = Field(description="How likely some passage answers, 0 to 1; null when unknown.")
    silence: str = Field(description="Why nothing answers; empty when something does.")
    applied_filters: dict[str, Any] = Field(description="The filters that were applied, by name; empty: none.")
    filters_in_words: list[str]
    profile: str = Field(description="The score profile, 'name@version'.")
    weights: dict[str, float] = Field(description="Factor → weight that counted; they add up to 1.")
    threshold: float = Field(description="Results with a lower score are left out.")
    legs: list[LegResult]
    total: int = Field(description="Distinct results on all pages.")
    more: bool = Field(description="Whether deeper searching may bring others.")
    next_offset: int | None = Field(description="The offset of the next page; null on the last one.")
    reranked: int = Field(description="Passages the reranker read.")
    rerank_milliseconds: float
    milliseconds: float
    undated_left_out: int = Field(description="Undated documents that only the date filter leaves out.")
    notices: list[str] = Field(description="What was degraded, for the user.")
    results: list[HitResult]

    @classmethod
    def of(cls, result: SearchResult) -> "SearchAnswer":
        return cls(
            query=result.request.question,
            answered=result.answered,
            answer_probability=result.answer_probability,
            silence=result.silence,
            applied_filters=result.filters.data(),
            filters_in_words=list(result.filters_in_words),
            profile=result.profile.ref,
            weights=dict(result.profile.weights),
            threshold=result.profile.threshold,
            legs=[
                LegResult(
                    leg=leg.leg,
                    found=leg.found,
                    rows_before=leg.rows_before,
                    rows_after=leg.rows_after,
                    milliseconds=round(leg.milliseconds, 2),
                    error=leg.error,
                )
                for leg in result.legs
            ],
            total=result.total,
            more=result.more,
            next_offset=next_offset(result),
            reranked=result.reranked,
            rerank_milliseconds=round(result.rerank_ms, 2),
            milliseconds=round(result.milliseconds, 2),
            undated_left_out=result.undated_left_out,
            notices=list(result.notices),
            results=[HitResult.of(hit, result.documents[hit.candidate.passage.document_id]) for hit in result.hits],
        )


class FigureResult(Result):
    """A number counted from a table."""

    words: str = Field(description="What it counts.")
    value: str
    table: str
    citation: str
    sql: str
    notes: list[str] = Field(description="What limits it: rows that were not loaded, words that were not used.")


class TruthResult(Result):
    """What one truth answers."""

    truth: str = Field(description="regulatory, compliance, intent, reference or reality.")
    state: str = Field(description="answered, silent, failed or not asked.")
    evidence_score: float = Field(description="Probability that this truth answers, 0 to 1; 0 when it is silent.")
    citations: list[CitationResult]
    figures: list[FigureResult]
    silence: str = Field(description="Why it does not answer; empty when it does.")
    needed: str = Field(description="What is missing for a complete answer; empty when it is complete.")

    @classmethod
    def of(cls, answer: TruthAnswer) -> "TruthResult":
        return cls(
            truth=answer.truth,
            state=answer.state,
            evidence_score=answer.evidence_score,
            citations=[CitationResult.of(each) for each in answer.citations],
            figures=[
                FigureResult(
                    words=f.words, value=f.value, table=f.table, citation=f.citation, sql=f.sql, notes=list(f.notes)
                )
                for f in answer.figures
            ],
            silence=answer.silence,
            needed=answer.needed,
        )


class PairResult(Result):
    """Two sentences of different truths that agree or contradict each other."""

    kind: str
    words: str
    first: CitationResult
    second: CitationResult


class AnswerResult(Result):
    """The answer of all five truths."""

    question: str
    confidence: float = Field(description="How complete and undisputed the answer is, 0 to 1; no probability of truth.")
    confidence_reason: str
    truths: list[TruthResult]
    agreements: list[PairResult]
    conflicts: list[PairResult]
    to_raise: list[str] = Field(description="What would raise the confidence, the worst gap first.")
    filters: list[str]
    profile: str
    notices: list[str]
    text: str = Field(description="The answer as running text with citation ids; empty unless asked for.")
    written_by: str = Field(description="The language model that wrote the text; empty for quoted sentences.")

    @classmethod
    def of(cls, answer: FiveTruthsAnswer, text: str = "", written_by: str = "", *notices: str) -> "AnswerResult":
        def pairs(found: Sequence[Any]) -> list[PairResult]:
            return [
                PairResult(
                    kind=each.kind,
                    words=each.words,
                    first=CitationResult.of(each.first.citation),
                    second=CitationResult.of(each.second.citation),
                )
                for each in found
            ]

        return cls(
            question=answer.question,
            confidence=round(answer.confidence, 4),
            confidence_reason=answer.confidence_reason,
            truths=[TruthResult.of(each) for each in answer.truths],
            agreements=pairs(answer.agreements),
            conflicts=pairs(answer.conflicts),
            to_raise=list(answer.to_raise),
            filters=list(answer.filters_in_words),
            profile=answer.profile,
            notices=[*answer.notices, *notices],
            text=text,
            written_by=written_by,
        )


class SentenceResult(Result):
    """One sentence of a passage."""

    citation_id: str
    text: str


class PassageResult(Result):
    """A passage with its place, its sentences and its surroundings."""

    passage_id: int
    document_id: int
    document: str
    title: str
    page: int | None
    section: str
    rows: Annotated[list[int] | None, Field(description="First and last table row; null for text.")]
    truth: str | None
    domain: str | None
    authority: str | None
    jurisdiction: str | None
    date: str | None
    source_type: str
    tags: list[str]
    project: str | None
    text: str
    sentences: list[SentenceResult] = Field(description="Each sentence with the id that cites it.")
    before: str = Field(description="The text of the passages before it, as many as asked for.")
    after: str = Field(description="The text of the passages after it, as many as asked for.")
    previous_passage_id: int | None
    next_passage_id: int | None
    document_resource: str = Field(description="The document as a resource of this server.")

    @classmethod
    def of(cls, passage: Passage, document: Document, around: Sequence[Passage], count: int) -> "PassageResult":
        at = next(index for index, each in enumerate(around) if each.id == passage.id)
        return cls(
            title=document.title or document.name,
            rows=list(passage.rows) if passage.rows else None,
            sentences=[
                SentenceResult(citation_id=f"{passage.id}.{number}", text=span.of(passage.text))
                for number, span in enumerate(passage.sentences)
            ],
            before="\n\n".join(each.text for each in around[max(0, at - count) : at]),
            after="\n\n".join(each.text for each in around[at + 1 : at + 1 + count]),
            previous_passage_id=around[at - 1].id if at > 0 else None,
            next_passage_id=around[at + 1].id if at + 1 < len(around) else None,
            document_resource=f"fivefold://documents/{document.id}",
            **_location(passage, document),
        )
