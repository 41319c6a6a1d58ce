"""What the tools over citations, coverage, tables, insights and episodes give back, as their output schemas."""

from pydantic import Field

from api.mcp.search_results import CitationResult, Result
from core.answers.cite_check.service import CheckedClaim
from core.coverage.board_view import with_distinct_names
from core.coverage.unread_files import unread_files_data
from core.domain.coverage import Board, Cell
from core.domain.dataset_queries import TableAnswer
from core.insights.store import Episode, EvidenceLink, Insight
from core.table_qa.query_description import format_cell

__all__ = [
    "CiteCheckResult",
    "ClaimResult",
    "CoverageResult",
    "EpisodeResult",
    "EpisodesResult",
    "InsightResult",
    "InsightsResult",
    "TableResult",
]


class ClaimResult(Result):
    """One sentence of the checked text."""

    sentence: str
    state: str = Field(description="supported, partly, not supported, not found or not cited.")
    cited: list[str] = Field(description="The citations of the sentence, as written.")
    not_found: list[str] = Field(description="Those of them that lead to nothing in the library.")
    score: float = Field(description="Share of the sentence's content found in what it cites, 0 to 1.")
    problems: list[str] = Field(description="What the sentence says and its citations do not.")
    decided_by: CitationResult | None = Field(description="The sentence of the library that decides.")

    @classmethod
    def of(cls, claim: CheckedClaim) -> "ClaimResult":
        return cls(
            sentence=claim.sentence,
            state=claim.state,
            cited=list(claim.cited),
            not_found=list(claim.not_found),
            score=round(claim.score, 3),
            problems=list(claim.problems),
            decided_by=CitationResult.of(claim.decided_by) if claim.decided_by else None,
        )


class CiteCheckResult(Result):
    """Which sentences of a text their citations support."""

    sentences: list[ClaimResult]
    counts: dict[str, int] = Field(description="State → number of sentences.")


class CellResult(Result):
    """One topic under one truth."""

    topic: str
    truth: str = Field(description="A truth, or configuration.")
    state: str = Field(description="covered, partial, gap, suspect, waived, not assessed, not needed or error.")
    evidence_score: float
    threshold: float
    reason: str
    risks: list[str]
    evidence: list[CitationResult]
    near_misses: list[CitationResult] = Field(description="The best passages below the threshold.")

    @classmethod
    def of(cls, cell: Cell) -> "CellResult":
        return cls(
            topic=cell.topic,
            truth=cell.kind,
            state=cell.state_in_words,
            evidence_score=round(cell.evidence_score, 4),
            threshold=cell.threshold,
            reason=cell.error or cell.reason,
            risks=[each.words for each in cell.risks],
            evidence=[CitationResult.of(each) for each in cell.evidence],
            near_misses=[CitationResult.of(each) for each in cell.near_misses],
        )


class GapResult(Result):
    """What is missing, and what to obtain."""

    topic: str
    truth: str
    severity: str = Field(description="low, medium or high.")
    recommendation: str
    likely_source: str


class CoverageResult(Result):
    """Topics against the five truths."""

    project: str | None
    run_id: int = Field(description="The stored run; 0 for topics assessed at once.")
    taken_at: str
    coverage: float | None = Field(description="Covered ÷ assessed cells, 0 to 1; null when none was assessed.")
    topics: list[str] = Field(description="Those of one name carry their project: overtime (Acme).")
    counts: dict[str, int] = Field(description="State → number of cells.")
    cells: list[CellResult]
    gaps: list[GapResult]
    unread: list[str] = Field(description="Documents that could not be read in full and may fill a gap.")
    waiting: int = Field(description="Files not read yet when it was assessed, which may fill a gap.")
    not_read: str = Field(description="Both in words: say it beside any gap. Empty when all was read.")

    @classmethod
    def of(cls, board: Board, *, only_gaps: bool) -> "CoverageResult":
        counts: dict[str, int] = {}
        board = with_distinct_names(board)
        for cell in board.cells:
            counts[cell.state_in_words] = counts.get(cell.state_in_words, 0) + 1
        return cls(
            project=board.project,
            run_id=board.run_id,
            taken_at=board.taken_at.isoformat(),
            coverage=board.coverage,
            topics=[topic.name for topic in board.topics],
            counts=counts,
            cells=[CellResult.of(cell) for cell in board.cells if not only_gaps or board.gap_of(cell) is not None],
            gaps=[
                GapResult(
                    topic=gap.topic,
                    truth=gap.kind,
                    severity=gap.severity,
                    recommendation=gap.recommendation,
                    likely_source=gap.source,
                )
                for gap in board.gaps
            ],
            **unread_files_data(board),
        )


class TableResult(Result):
    """An answer counted from tables."""

    question: str
    answered: bool
    headline: str = Field(description="The short answer, e.g. '12 employees'.")
    reading: str = Field(description="How the question was understood.")
    refusal: str = Field(description="Why there is no answer; empty when there is one.")
    columns: list[str]
    rows: list[list[str]] = Field(description="The first rows, cells as text.")
    total_rows: int
    tables: list[str]
    citation: str
    sql: str
    notes: list[str]
    unused_words: list[str] = Field(description="Words of the question that added nothing to its reading.")
    other_readings: list[str]
    milliseconds: float

    @classmethod
    def of(cls, answer: TableAnswer, most_rows: int) -> "TableResult":
        rows = answer.rows
        return cls(
            question=answer.question,
            answered=answer.answered,
            headline=answer.headline,
            reading=answer.reading,
            refusal=answer.refusal,
            columns=list(rows.columns) if rows else [],
            rows=[[format_cell(cell) for cell in row] for row in rows.rows[:most_rows]] if rows else [],
            total_rows=rows.total if rows else 0,
            tables=list(answer.tables),
            citation=answer.citation,
            sql=rows.sql if rows else "",
            notes=list(answer.notes),
            unused_words=list(answer.unused),
            other_readings=[each.reading for each in answer.others],
            milliseconds=round(rows.milliseconds, 2) if rows else 0.0,
        )


class LinkResult(Result):
    """A sentence that an insight or episode rests on."""

    passage_id: int
    document: str
    page: int
    quote: str

    @classmethod
    def of(cls, link: EvidenceLink) -> "LinkResult":
        return cls(passage_id=link.passage_id, document=link.document_name, page=link.page, quote=link.quote)


class InsightResult(Result):
    """An analyst's note on evidence."""

    id: int
    text: str
    question: str = Field(description="The search it was written for; empty for none.")
    sector: str
    tags: list[str]
    project: str | None
    who: str
    at: str
    strength: float = Field(description="What is left after decay, 0 to 1.")
    evidence: list[LinkResult]

    @classmethod
    def of(cls, insight: Insight, strength: float) -> "InsightResult":
        return cls(
            id=insight.id,
            text=insight.text,
            question=insight.question,
            sector=insight.sector,
            tags=list(insight.tags),
            project=insight.project,
            who=insight.who,
            at=insight.at.isoformat(),
            strength=round(strength, 4),
            evidence=[LinkResult.of(each) for each in insight.links],
        )


class InsightsResult(Result):
    """One page of insights, newest first."""

    insights: list[InsightResult]
    total: int
    page: int
    pages: int


class EpisodeResult(Result):
    """A question with its outcome."""

    id: int
    question: str
    reward: float = Field(description="-1 misleading to 1 helpful.")
    reflection: str = Field(description="What the next person asking this should know.")
    sector: str
    tags: list[str]
    project: str | None
    who: str
    at: str
    strength: float
    opened: list[LinkResult]

    @classmethod
    def of(cls, episode: Episode, strength: float) -> "EpisodeResult":
        return cls(
            id=episode.id,
            question=episode.question,
            reward=episode.reward,
            reflection=episode.reflection,
            sector=episode.sector,
            tags=list(episode.tags),
            project=episode.project,
            who=episode.who,
            at=episode.at.isoformat(),
            strength=round(strength, 4),
            opened=[LinkResult.of(each) for each in episode.links],
        )


class EpisodesResult(Result):
    """One page of episodes, newest first."""

    episodes: list[EpisodeResult]
    total: int
    page: int
    pages: int
