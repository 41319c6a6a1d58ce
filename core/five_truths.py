"""The answer of five: one question, and what each truth says to it, with the sentences that say so.

Values only; `core.answers` makes them. Another program reads a FiveTruthsAnswer without knowing how it was found.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from core.documents import Truth
from core.results import Citation
from core.reviews import Conflict, Statement

__all__ = [
    "Agreement",
    "AgreementKind",
    "Figure",
    "FiveTruthsAnswer",
    "TruthAnswer",
    "TruthState",
]


class TruthState(StrEnum):
    """What became of one truth: a failed search is never silence, and a truth the filters leave out was not asked."""

    ANSWERED = "answered"
    SILENT = "silent"
    FAILED = "failed"
    NOT_ASKED = "not asked"


@dataclass(frozen=True, slots=True)
class Figure:
    """A number counted from a table. words: what it is ("employees in California"); value: as it is shown ("1,204").

    sql: the query that counted it; table: the one it counted in, with `rows` rows ≥ 0 read; citation: where the table
    stands, written out.
    """

    words: str
    value: str
    sql: str
    table: str
    citation: str
    rows: int


@dataclass(frozen=True, slots=True)
class TruthAnswer:
    """What one truth says. citations: best first, at most three. evidence_score: as coverage weighs it, in [0, 1].

    silence: why there is no answer, "" when there is one. needed: what to obtain, or to do, so that this truth answers
    in full; "" when it does.
    """

    truth: Truth
    state: TruthState
    citations: tuple[Citation, ...] = ()
    figures: tuple[Figure, ...] = ()
    evidence_score: float = 0.0
    silence: str = ""
    needed: str = ""


class AgreementKind(StrEnum):
    """What two sentences say alike, the most exact first."""

    AMOUNT = "amount"
    DATE = "date"
    OBLIGATION = "obligation"
    WORDING = "wording"


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two sentences of different truths that say the same. words: what they agree in, for a reader; strength in [0, 1]:
    the share of words they have in common."""

    kind: AgreementKind
    first: Statement
    second: Statement
    words: str
    strength: float


@dataclass(frozen=True, slots=True)
class FiveTruthsAnswer:
    """One question answered five times. truths: five, in the order of Truth. asked_at: timezone-aware.

    confidence: how complete and undisputed the answer is, in [0, 1], not how likely it is true; confidence_reason says
    in words what it comes from. to_raise: what would raise it ("For a complete answer I'd need …"), holes in what the
    question needs first, the worst of them foremost. notices: what went wrong or was left out on the way.
    """

    question: str
    asked_at: datetime
    profile: str
    filters_in_words: tuple[str, ...]
    truths: tuple[TruthAnswer, ...]
    agreements: tuple[Agreement, ...]
    conflicts: tuple[Conflict, ...]
    confidence: float
    confidence_reason: str
    to_raise: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    def of(self, truth: Truth) -> TruthAnswer:
        """What one truth says."""
        return self.truths[list(Truth).index(truth)]

    @property
    def answered(self) -> bool:
        """Whether any truth answers."""
        return any(each.state is TruthState.ANSWERED for each in self.truths)

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Every figure, in the order of the truths."""
        return tuple(figure for each in self.truths for figure in each.figures)

    def cited(self, truth: Truth) -> tuple[Citation, ...]:
        """Every sentence of a truth the answer stands on: its own first, then those of conflicts; each once."""
        sides = [side for each in self.conflicts for side in (each.first, each.second) if side.truth is truth]
        found: dict[str, Citation] = {}
        for citation in (*self.of(truth).citations, *(side.citation for side in sides)):
            found.setdefault(citation.citation_id, citation)
        return tuple(found.values())
