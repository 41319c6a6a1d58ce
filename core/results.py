"""What is answered: hits with scores that add up, citations that stand on the page, and what was left out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.documents import Document, Passage, Truth
from core.filters import SearchFilters
from core.queries import Route, ScoreProfile, SearchRequest

__all__ = [
    "Candidate",
    "Citation",
    "DropReason",
    "Dropped",
    "Factor",
    "Hit",
    "LegHit",
    "LegHits",
    "LegReport",
    "Multiplier",
    "NearWord",
    "Score",
    "SearchResult",
    "Signals",
    "Statistics",
    "TermScore",
    "UploadReceipt",
]


@dataclass(frozen=True, slots=True)
class LegHit:
    """One passage found by one leg. `score` is the leg's own (cosine in [-1, 1], or BM25 ≥ 0)."""

    passage_id: int
    score: float


@dataclass(frozen=True, slots=True)
class LegHits:
    """What one leg found, best first, and how it went. rows_before: passages in the library; rows_after: those
    the filters admit."""

    hits: tuple[LegHit, ...]
    rows_before: int
    rows_after: int


@dataclass(frozen=True, slots=True)
class LegReport:
    """One leg's line under the results. `error` is the message when the leg failed; then its hits are missing."""

    leg: str
    found: int
    rows_before: int
    rows_after: int
    milliseconds: float
    error: str = ""


@dataclass(frozen=True, slots=True)
class TermScore:
    """One query term's share of a passage's BM25 score. `term` as asked, `stem` as indexed."""

    term: str
    stem: str
    score: float


@dataclass(frozen=True, slots=True)
class NearWord:
    """A word that means nearly what a word of the question means. `asked` as asked, `word` as the library writes it,
    `stem` as indexed; or another wording of what was asked, out of the thesaurus, which is its own `stem`. cosine: of
    the two words, in [0, 1], None for a wording; closeness: what it counts for, in (0, 1]."""

    asked: str
    word: str
    stem: str
    cosine: float | None
    closeness: float


@dataclass(frozen=True, slots=True)
class Signals:
    """Everything retrieval measured about one candidate; scoring reads this and nothing else.

    similarity: cosine clipped to [0, 1]. bm25 ≥ 0, terms sum to it. fusion: reciprocal-rank score ÷ the best
    possible, in [0, 1]. ranks: leg name → 1-based rank ("dense", "sparse", "fused"); absent = not found there.
    coverage: idf-weighted share of the question's terms the passage holds, in [0, 1]. bm25_most ≥ 0: what BM25 could
    reach at most for this question, the sum of its terms' rarities. feedback: cosine with the question moved towards
    the best matches, clipped to [0, 1]; None when it was not measured. sentences: per sentence of the passage its
    cosine with the question, in [0, 1]; empty when not measured. sentence: of the one nearest to it, in [0, 1].
    answer: how near the nearest sentence that holds the kind of answer asked for comes to `sentence`, in [0, 1], 0 when
    none holds it, None when no kind is asked for; answer_words: what it holds of that kind ("72 hours").
    nearness: share of the question's words, each weighed by its rarity, that the passage holds or nearly holds, in
    [0, 1]; near_words: those it holds in other words. wordings ≥ 0: rarities of the terms it holds only in another
    wording of the thesaurus, each times its closeness. in_a_row: share of the question's pairs of words that stand side
    by side in the passage too, in [0, 1]. shared: in words, which names it shares with the question.
    """

    similarity: float
    bm25: float = 0.0
    bm25_most: float = 0.0
    terms: tuple[TermScore, ...] = ()
    fusion: float = 0.0
    coverage: float = 0.0
    ranks: Mapping[str, int] = field(default_factory=dict)
    feedback: float | None = None
    sentences: tuple[float, ...] = ()
    sentence: float | None = None
    answer: float | None = None
    answer_words: str = ""
    nearness: float | None = None
    near_words: tuple["NearWord", ...] = ()
    wordings: float = 0.0
    in_a_row: float | None = None
    shared: str = ""
    rerank_logit: float | None = None
    uses: int = 0
    distinct_questions: int = 0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A retrieved passage with what was measured about it: all that rescoring needs."""

    passage: Passage
    signals: Signals


@dataclass(frozen=True, slots=True)
class Factor:
    """One part of a score. value in [0, 1]; contribution = weight · value; reason in words."""

    name: str
    value: float
    weight: float
    contribution: float
    reason: str


@dataclass(frozen=True, slots=True)
class Multiplier:
    """A factor applied to the sum. value in [0, 1]."""

    name: str
    value: float
    reason: str


@dataclass(frozen=True, slots=True)
class Score:
    """total = Σ contribution × Π multiplier value; the parts add up to the total within 1e-9."""

    total: float
    factors: tuple[Factor, ...]
    multipliers: tuple[Multiplier, ...] = ()


@dataclass(frozen=True, slots=True)
class Citation:
    """One sentence that says so.

    `quote == page text[start:end]`, always; start and end count characters of the page's extracted text.
    citation_id = "{passage_id}.{sentence_index}" (0-based). `page` is None for files without pages.
    relevance: how well the sentence answers the question, in [0, 1].
    """

    citation_id: str
    passage_id: int
    sentence_index: int
    document_id: int
    document_name: str
    sha256: str
    page: int | None
    page_number: int
    section: str
    start: int
    end: int
    quote: str
    truth: Truth | None
    authority: str | None
    jurisdiction: str | None
    date: datetime | None
    relevance: float
    rows: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One result. rank is 1-based; citations best first; similar: passages collapsed into this one."""

    rank: int
    candidate: Candidate
    score: Score
    citations: tuple[Citation, ...]
    similar: tuple[int, ...] = ()


class DropReason(StrEnum):
    """Why a candidate is not among the hits."""

    FILTERED = "filtered"
    BELOW_FLOOR = "below floor"
    BELOW_THRESHOLD = "below threshold"
    COLLAPSED = "collapsed"
    BEYOND_MAX = "beyond max"
    NO_ANSWER = "does not answer"


@dataclass(frozen=True, slots=True)
class Dropped:
    """A candidate that is not shown, and why, in words and numbers."""

    candidate: Candidate
    reason: DropReason
    detail: str
    score: Score | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answer to one request. Everything the page shows, and everything `rescore` needs.

    answered: whether some hit carries enough evidence to count as an answer; if not, `hits` is empty, the nearest
    misses are in `dropped`, and `silence` says in words why. refusal: why nothing in the library answers, whatever the
    profile; "" when something may. legs: one line each. notices: degraded parts.
    undated_left_out: undated documents a date filter left out. rarity: inverse document frequency of each term
    searched for.
    """

    request: SearchRequest
    route: Route
    profile: ScoreProfile
    filters: SearchFilters
    filters_in_words: tuple[str, ...]
    hits: tuple[Hit, ...]
    dropped: tuple[Dropped, ...]
    candidates: tuple[Candidate, ...]
    documents: Mapping[int, Document]
    legs: tuple[LegReport, ...]
    answered: bool
    refusal: str = ""
    silence: str = ""
    notices: tuple[str, ...] = ()
    undated_left_out: int = 0
    milliseconds: float = 0.0
    rarity: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UploadReceipt:
    """What became of one uploaded file at once: stored and queued, or recognised as already here."""

    document_id: int
    name: str
    sha256: str
    duplicate_of: str = ""


@dataclass(frozen=True, slots=True)
class Statistics:
    """What is in the library. by_truth counts ready documents; None = unknown truth."""

    documents: int
    passages: int
    by_truth: Mapping[Truth | None, int]
    by_state: Mapping[str, int]
    unsure: int
    waiting_jobs: int
