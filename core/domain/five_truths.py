"""The five-truths answer: one question answered from each truth, with supporting sentences.

Values only; `core.answers` creates them. They can be read without knowing how the answer was found.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from core.domain.coverage import Conflict, Statement
from core.domain.documents import Truth
from core.domain.results import Citation

__all__ = [
    "AgreementKind",
    "Figure",
    "FiveTruthsAnswer",
    "TruthAgreement",
    "TruthAnswer",
    "TruthState",
]


class TruthState(StrEnum):
    """State of one truth: a failed search is not the same as no answer, and an excluded truth was not searched."""

    ANSWERED = "answered"
    SILENT = "silent"
    FAILED = "failed"
    NOT_ASKED = "not asked"


@dataclass(frozen=True, slots=True)
class Figure:
    """A number computed from a table. words: what it counts ("employees in California"); value: as displayed ("1,204").

    sql: the query; table: the table it read, with `rows` ≥ 0 rows; citation: formatted sources. notes: what limits it,
    as sentences (rows that were not loaded, words of the question that were not used).
    """

    words: str
    value: str
    sql: str
    table: str
    citation: str
    rows: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TruthAnswer:
    """The answer of one truth. citations: best first, at most three. evidence_score: the probability that it answers,
    in [0, 1]; 0 when it is silent.

    silence: why there is no answer, "" when there is one. needed: what to obtain or do for a complete answer; "" when
    it is complete."""

    truth: Truth
    state: TruthState
    citations: tuple[Citation, ...] = ()
    figures: tuple[Figure, ...] = ()
    evidence_score: float = 0.0
    silence: str = ""
    needed: str = ""

    @property
    def state_words(self) -> str:
        """How far it answers: answered, partly, silent, failed or not asked."""
        return "partly" if self.state is TruthState.ANSWERED and self.needed else self.state.value


class AgreementKind(StrEnum):
    """How two sentences agree, the most exact kind first."""

    AMOUNT = "amount"
    DATE = "date"
    OBLIGATION = "obligation"
    WORDING = "wording"


@dataclass(frozen=True, slots=True)
class TruthAgreement:
    """Two sentences of different truths that agree. words: what they agree on, as text; strength in [0, 1]: their share
    of common words."""

    kind: AgreementKind
    first: Statement
    second: Statement
    words: str
    strength: float


@dataclass(frozen=True, slots=True)
class FiveTruthsAnswer:
    """One question answered from five truths. truths: five, in the order of Truth. asked_at: timezone-aware.

    confidence: how complete and undisputed the answer is, in [0, 1], not the probability that it is true;
    confidence_reason explains it. to_raise: what would raise it ("Missing for a complete answer"), required truths
    first, the worst gap foremost. notices: errors and omissions; why a truth failed is its silence."""

    question: str
    asked_at: datetime
    profile: str
    filters_in_words: tuple[str, ...]
    truths: tuple[TruthAnswer, ...]
    agreements: tuple[TruthAgreement, ...]
    conflicts: tuple[Conflict, ...]
    confidence: float
    confidence_reason: str
    to_raise: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    def of(self, truth: Truth) -> TruthAnswer:
        """The answer of one truth."""
        return self.truths[list(Truth).index(truth)]

    @property
    def states(self) -> tuple[tuple[str, str], ...]:
        """(truth, how far it answers) of all five, in their order."""
        return tuple((each.truth.value, each.state_words) for each in self.truths)

    @property
    def answered(self) -> bool:
        """Whether any truth has an answer."""
        return any(each.state is TruthState.ANSWERED for each in self.truths)

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Every figure, in the order of the truths."""
        return tuple(figure for each in self.truths for figure in each.figures)

    def cited(self, truth: Truth) -> tuple[Citation, ...]:
        """Every sentence of a truth that the answer cites: its own first, then those of conflicts; each once."""
        sides = [side for each in self.conflicts for side in (each.first, each.second) if side.truth is truth]
        found: dict[str, Citation] = {}
        for citation in (*self.of(truth).citations, *(side.citation for side in sides)):
            found.setdefault(citation.citation_id, citation)
        return tuple(found.values())
