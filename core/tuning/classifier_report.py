"""How far the classifier can be trusted: what it says of documents beside what people confirmed, and the shares."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan, sqrt
from pathlib import PurePath
from statistics import NormalDist

from core.documents import SourceType

__all__ = [
    "ABSTAINED",
    "BINDING_SURE",
    "Abstention",
    "Bin",
    "ClassifierReport",
    "Confusion",
    "Opinion",
    "Rate",
    "Share",
]

ABSTAINED = "abstained"
"""The column of a confusion matrix for documents the classifier gave no truth."""
BINDING_SURE = 0.8
"""A wrong law or policy at this probability or more costs most: it must not happen."""

_Z = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, slots=True)
class Opinion:
    """What the classifier says by itself of one document, beside the truth a person confirmed.

    given: its truth, None when it abstained; probability: of `given`, 0 when it abstained. runner_up: the next likely
    truth, or the likeliest when it abstained. project: None = shared by all. fields: of domain, authority and
    jurisdiction those a person confirmed, and whether it says the same.
    """

    document_id: int
    name: str
    confirmed: str
    given: str | None
    probability: float
    runner_up: str | None = None
    runner_up_probability: float = 0.0
    source_type: SourceType = SourceType.UPLOAD
    project: str | None = None
    fields: Mapping[str, bool] = field(default_factory=dict)

    @property
    def right(self) -> bool:
        """Whether it says what the person said; an abstention is not right."""
        return self.given == self.confirmed

    @property
    def likeliest(self) -> tuple[str | None, float]:
        """The truth it holds most likely, given or not, with its probability; (None, 0.0) when nothing speaks."""
        if self.given is None:
            return self.runner_up, self.runner_up_probability
        return self.given, self.probability

    @property
    def format(self) -> str:
        """The ending of the file name in lower case, "" without one.

        >>> Opinion(1, "Handbook.v2.PDF", "compliance", None, 0.0).format
        'pdf'
        """
        return PurePath(self.name).suffix.lower().lstrip(".")


@dataclass(frozen=True, slots=True)
class Rate:
    """`right` of `n`, as a share with its 95 % interval by Wilson's score method (Wilson 1927), all in [0, 1].

    Without anything judged the share is NaN and the interval the whole range.

    >>> rate = Rate(8, 10)
    >>> rate.share, round(rate.low, 3), round(rate.high, 3)
    (0.8, 0.49, 0.943)
    """

    right: int
    n: int

    @property
    def share(self) -> float:
        """right ÷ n."""
        return self.right / self.n if self.n else nan

    @property
    def low(self) -> float:
        """Least share that is still plausible."""
        return min(self.share, max(0.0, self._middle - self._half)) if self.n else 0.0

    @property
    def high(self) -> float:
        """Greatest share that is still plausible."""
        return max(self.share, min(1.0, self._middle + self._half)) if self.n else 1.0

    @property
    def _middle(self) -> float:
        return (self.right + _Z**2 / 2) / (self.n + _Z**2)

    @property
    def _half(self) -> float:
        return _Z / (self.n + _Z**2) * sqrt(self.right * (self.n - self.right) / self.n + _Z**2 / 4)


@dataclass(frozen=True, slots=True)
class Confusion:
    """counts[i][j]: documents confirmed as rows[i] and given columns[j]; the last column is ABSTAINED."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    def found(self, truth: str) -> Rate:
        """Of the documents of a truth, those that were given it (recall)."""
        row = self.counts[self.rows.index(truth)]
        return Rate(row[self.columns.index(truth)], sum(row))

    def borne_out(self, truth: str) -> Rate:
        """Of the documents given a truth, those that are of it (precision)."""
        column = self.columns.index(truth)
        return Rate(self.counts[self.rows.index(truth)][column], sum(row[column] for row in self.counts))


@dataclass(frozen=True, slots=True)
class Bin:
    """Documents the classifier was about equally sure of. said: mean probability; low, high: the least and the most."""

    said: float
    low: float
    high: float
    right: Rate


@dataclass(frozen=True, slots=True)
class Abstention:
    """What abstaining below a probability would leave: `decided` of all documents, and `right` of the decided."""

    threshold: float
    decided: Rate
    right: Rate


@dataclass(frozen=True, slots=True)
class Share:
    """The documents of one source type, project or format. value: "" for none. right: an abstention is not."""

    by: str
    value: str
    right: Rate
    abstained: int


@dataclass(frozen=True, slots=True)
class ClassifierReport:
    """Documents with a confirmed truth, and what the classifier says of them when it is told nothing.

    library: ready documents, confirmed or not. accuracy: an abstention is wrong; decided: of those given a truth.
    ece: calibration error of the decided, NaN without any. threshold: below it the product abstains. bins: of the
    decided, by rising probability; none below five. curve: by rising threshold; below `threshold` the likeliest truth.
    fields: domain, authority, jurisdiction where confirmed. wrong: the most confident first, abstentions last.
    binding_wrong: regulatory or compliance at 0.8 or more, and wrong. warnings: why not to trust the numbers, in words.
    """

    library: int
    accuracy: Rate
    decided: Rate
    ece: float
    threshold: float
    confusion: Confusion
    bins: tuple[Bin, ...]
    curve: tuple[Abstention, ...]
    shares: tuple[Share, ...]
    fields: Mapping[str, Rate]
    wrong: tuple[Opinion, ...]
    binding_wrong: int
    warnings: tuple[str, ...]

    @property
    def documents(self) -> int:
        """Documents judged."""
        return self.accuracy.n

    @property
    def abstained(self) -> int:
        """Documents it gave no truth."""
        return self.accuracy.n - self.decided.n

    @property
    def agreed(self) -> int:
        """Documents whose truth was confirmed as the classifier has it; the others were corrected.

        What was shown to the person who confirmed is not kept. The classifier always says the same of the same text,
        so this is what it says now: a release that changed it since may have turned some around.
        """
        return self.accuracy.right
