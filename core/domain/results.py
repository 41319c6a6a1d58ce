"""Search results: hits with score breakdown, citations, and dropped candidates."""
# Over 300 lines: a result, its hits and their citations are one value, read and copied together.

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Document, Passage, SourceType, Truth
from core.domain.filters import SearchFilters
from core.domain.frozen import LazyTuple, fast_replace
from core.domain.queries import Route, ScoreProfile, SearchRequest

__all__ = [
    "Candidate",
    "Citation",
    "DropReason",
    "Dropped",
    "Factor",
    "FoundPassage",
    "Hit",
    "LegHit",
    "LegHits",
    "LegReport",
    "Multiplier",
    "NearWord",
    "Score",
    "ScoreParts",
    "SearchResult",
    "Signals",
    "Statistics",
    "TermScore",
    "TermScores",
    "UploadReceipt",
    "web_address",
]


@dataclass(frozen=True, slots=True)
class LegHit:
    """One passage found by one leg. `score` is the leg's own (cosine in [-1, 1], or BM25 ≥ 0)."""

    passage_id: int
    score: float


@dataclass(frozen=True, slots=True)
class LegHits:
    """The hits of one leg, best first. rows_before: passages in the library; rows_after: those the filters admit."""

    hits: tuple[LegHit, ...]
    rows_before: int
    rows_after: int


@dataclass(frozen=True, slots=True)
class LegReport:
    """The report of one leg. `error` is the message when the leg failed; its hits are missing then."""

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


@dataclass(frozen=True, slots=True, eq=False)
class TermScores(Mapping[int, Sequence[TermScore]]):
    """The share of each of a question's stems in the BM25 of passages, by passage id. stems: (term, stem) in the order
    of the terms. rows: passage id → row of an indexed passage. shares: float64 ≥ 0, contained: bool, both of shape
    (rows, stems)."""

    stems: tuple[tuple[str, str], ...]
    rows: Mapping[int, int]
    shares: NDArray[np.float64]
    contained: NDArray[np.bool_]

    def __getitem__(self, passage_id: int) -> Sequence[TermScore]:
        return LazyTuple(self._terms, self.rows[passage_id])

    def _terms(self, row: int) -> tuple[TermScore, ...]:
        parts = zip(self.stems, self.shares[row].tolist(), self.contained[row].tolist(), strict=True)
        return tuple(TermScore(term, stem, share) for (term, stem), share, contained in parts if contained)

    def __iter__(self) -> Iterator[int]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class NearWord:
    """A near word of a question term, or a thesaurus synonym of it. `asked`: as in the question, `word`: as in the
    library, `stem`: as indexed (for a synonym, the synonym itself). cosine: of the two words, in [0, 1], None for a
    synonym; closeness: its weight, in (0, 1]."""

    query_word: str
    word: str
    stem: str
    cosine: float | None
    closeness: float


@dataclass(frozen=True, slots=True)
class Signals:
    """All measurements of one candidate; scoring reads this and nothing else.

    similarity: cosine clipped to [0, 1]. bm25 ≥ 0, terms sum to it. fusion: reciprocal-rank score ÷ the best
    possible, in [0, 1]. ranks: leg name → 1-based rank ("dense", "sparse", "fused"); absent = not found there.
    term_coverage: idf-weighted share of the question's terms in the passage, in [0, 1]. bm25_most ≥ 0: the highest
    possible BM25 for this question, the sum of its terms' idf, a repeated term counted each time. sentences: per
    sentence its cosine with the question, in [0, 1]; empty when not measured. best_sentence_similarity: the highest
    of these. answer: cosine of the nearest sentence that contains the kind of answer asked for, divided by
    `best_sentence_similarity`, in [0, 1]; 0 when none contains it, None when no kind is asked for. answer_words: the
    answer of that kind ("72 hours"). synonym_match: idf-weighted share of the question's words that the passage
    contains directly or as a near word, in [0, 1]; near_words: those near words. wordings ≥ 0: idf of the terms it
    contains only as a thesaurus synonym, each times its closeness. phrase_match: share of the question's word pairs
    that are adjacent in the passage too, in [0, 1]. shared: as text, entities in common with the question. band: how
    often the legs were deepened until it was found, 0 for the first depth; a lower band ranks first. other_language:
    whether its document is in another language than the question, so that it need not hold the question's words.
    unreadable: whether a reranker would have read it, but does not know its language.
    """

    similarity: float
    bm25: float = 0.0
    bm25_most: float = 0.0
    terms: Sequence[TermScore] = ()
    fusion: float = 0.0
    term_coverage: float = 0.0
    ranks: Mapping[str, int] = field(default_factory=dict)
    sentences: tuple[float, ...] = ()
    best_sentence_similarity: float | None = None
    answer: float | None = None
    answer_words: str = ""
    synonym_match: float | None = None
    near_words: Sequence[NearWord] = ()
    wordings: float = 0.0
    phrase_match: float | None = None
    shared: str = ""
    rerank_logit: float | None = None
    uses: int = 0
    distinct_questions: int = 0
    band: int = 0
    other_language: bool = False
    unreadable: bool = False

    @property
    def keyword_share(self) -> float:
        """BM25 as a share of the highest possible, in [0, 1]. For a passage in another language it is at least the
        synonym match, because only names and numbers are written alike."""
        share = min(self.bm25 / self.bm25_most, 1.0) if self.bm25_most > 0 else 0.0
        return max(share, self.synonym_match or 0.0) if self.other_language else share


class FoundPassage(NamedTuple):
    """A passage as scoring reads it. passage: without `meanings`, which results need no more and which are large.
    again: whether an earlier search found it too."""

    passage: Passage
    meanings: bytes
    again: bool = False

    @classmethod
    def of(cls, passage: Passage) -> "FoundPassage":
        """A stored passage in its two parts."""
        return cls(fast_replace(passage, meanings=b""), passage.meanings)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A retrieved passage with its measurements: everything rescoring needs."""

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


ScoreParts = tuple[tuple[Factor, ...], tuple[Multiplier, ...]]


class Score:
    """total = Σ contribution × Π multiplier value; the parts add up to the total within 1e-9. A value: it is never
    changed, and equal to one with the same total and parts.

    parts: makes the parts when somebody first looks at them, because a search scores a hundred passages and shows ten.
    """

    __slots__ = ("_make", "_parts", "total")

    def __init__(
        self,
        total: float,
        factors: tuple[Factor, ...] = (),
        multipliers: tuple[Multiplier, ...] = (),
        *,
        parts: Callable[[], ScoreParts] | None = None,
    ) -> None:
        self.total, self._make = total, parts
        self._parts: ScoreParts | None = (factors, multipliers) if parts is None else None

    @property
    def factors(self) -> tuple[Factor, ...]:
        """What adds to the total, in the order of the profile."""
        return self._both()[0]

    @property
    def multipliers(self) -> tuple[Multiplier, ...]:
        """What the sum is multiplied with."""
        return self._both()[1]

    def _both(self) -> ScoreParts:
        parts = self._parts
        if parts is None:
            assert self._make is not None
            self._parts = parts = self._make()
        return parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Score) and (self.total, self._both()) == (other.total, other._both())

    def __hash__(self) -> int:
        return hash(self.total)

    def __repr__(self) -> str:
        return f"Score(total={self.total!r}, factors={self.factors!r}, multipliers={self.multipliers!r})"


@dataclass(frozen=True, slots=True)
class Citation:
    """One cited sentence, or the lead-in of a list with the items that answer.

    `quote == page text[start:end]`, always; start and end count characters of the page's extracted text. citation_id =
    "{passage_id}.{sentence_index}" (0-based, of the first sentence). `page` is None for files without pages. relevance:
    how well the sentence answers the question, in [0, 1]. title: the document's, else its file name. url: where the
    document comes from, or ""."""

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
    title: str = ""
    url: str = ""
    source_type: SourceType | None = None

    @property
    def address(self) -> str:
        """Where a reader opens the document: its source, else the cited sentence in the library's own reader."""
        in_library = f"/document?id={self.document_id}&mark={self.citation_id}" if self.document_id > 0 else ""
        return web_address(self.url) or in_library


def web_address(url: str) -> str:
    """A web address or path as a link can hold it, percent-encoded where a character would end the link; "" for any
    other scheme.

    >>> web_address("https://x.gov/a (1)"), web_address("javascript:alert(1)")
    ('https://x.gov/a%20%281%29', '')
    """
    if re.match(r"(?i)\s*(?!https?:)[a-z][a-z0-9+.-]*:", url):
        return ""
    return re.sub(r"[\s()<>\\]", lambda match: f"%{ord(match.group()):02X}", url.strip())


@dataclass(frozen=True, slots=True)
class Hit:
    """One result. rank: 1-based, over all pages. citations: best first. similar: near duplicates of its own band
    collapsed into this one."""

    rank: int
    candidate: Candidate
    score: Score
    citations: tuple[Citation, ...]
    similar: tuple[int, ...] = ()


class DropReason(StrEnum):
    """Why a candidate was dropped."""

    FILTERED = "filtered"
    BELOW_FLOOR = "below floor"
    BELOW_THRESHOLD = "below threshold"
    COLLAPSED = "collapsed"
    EARLIER_PAGE = "earlier page"
    BEYOND_MAX = "beyond max"


@dataclass(frozen=True, slots=True)
class Dropped:
    """A dropped candidate, with the reason and its numbers as text."""

    candidate: Candidate
    reason: DropReason
    detail: str
    score: Score | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of one request: everything the page shows, and everything `rescore` needs.

    answer_probability: how likely some passage answers the question, in (0, 1); None when a leg failed, which leaves
    it unknown. answered: whether there are hits and the probability, if known, reaches the threshold of
    core/knowledge/answerability.toml; `silence` is otherwise what is missing. Hits are listed either way: those from
    `request.offset` on. total: distinct results in order, of all pages as far as the legs were searched; more: whether
    deeper legs may bring others after them. legs: one report each. notices: degraded parts. undated_left_out: undated
    documents a date filter left out. rarity: inverse document frequency of each search term. reranked: passages the
    reranker read; rerank_ms: how long that took, loading and waiting included; 0 without one. truths: (truth, how far
    it answers: answered, partly, silent …), as `FiveTruthsAnswer.states`; () while the truths were not asked.
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
    answer_probability: float | None = None
    silence: str = ""
    notices: tuple[str, ...] = ()
    undated_left_out: int = 0
    milliseconds: float = 0.0
    rarity: Mapping[str, float] = field(default_factory=dict)
    total: int = 0
    more: bool = False
    reranked: int = 0
    rerank_ms: float = 0.0
    truths: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class UploadReceipt:
    """The immediate result of one upload: stored and queued, or already in the library."""

    document_id: int
    name: str
    sha256: str
    duplicate_of: str = ""


@dataclass(frozen=True, slots=True)
class Statistics:
    """Contents of the library. by_truth counts ready documents; None = unknown truth."""

    documents: int
    passages: int
    by_truth: Mapping[Truth | None, int]
    by_state: Mapping[str, int]
    unsure: int
    waiting_jobs: int
