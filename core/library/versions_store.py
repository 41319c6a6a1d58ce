"""What is kept of likenesses and versions, and the seam to their store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from core.errors import Outdated
from core.library.duplicates import NEAR_DUPLICATE, Minima

__all__ = ["Pair", "Signature", "SignatureStore", "VersionDecision", "VersionVerdict", "outdated_decision"]


@dataclass(frozen=True, slots=True, eq=False)
class Signature:
    """What a document is found by when others are compared with it. triples: how many its text has, at least 1.

    name_key, title_key: what is left of name and title without their version; url: where it came from. "" for none.
    """

    document_id: int
    triples: int
    minima: Minima
    name_key: str = ""
    title_key: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two documents that are near-duplicates, or may be versions of one another. first < second, always.

    same: Jaccard share of their triples of words; first_kept, second_kept: which share of the sentences of each stands
    in the other; all in [0, 1]. suggested: whether one may be a new version of the other.
    """

    first: int
    second: int
    same: float
    first_kept: float
    second_kept: float
    suggested: bool = False

    @property
    def near(self) -> bool:
        """Whether they are near-duplicates."""
        return self.same >= NEAR_DUPLICATE

    def other(self, document_id: int) -> int:
        """The other one of the two."""
        return self.second if document_id == self.first else self.first

    def kept(self, document_id: int) -> float:
        """Which share of this document's sentences stands in the other."""
        return self.first_kept if document_id == self.first else self.second_kept


class VersionVerdict(StrEnum):
    """What an analyst said of two documents; `undone` takes back the verdict before it."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True)
class VersionDecision:
    """One line of the log of versions, never changed. older, newer: SHA-256 of two files, so that a rejection holds for
    ever, also when a file is deleted and uploaded again.

    number: 1, 2, 3 … per pair of files; a new decision continues the count. older_id, newer_id: the documents then.
    links: what an acceptance changed, as (document, `version_of` before, `version_of` after).
    """

    older: str
    newer: str
    verdict: VersionVerdict
    who: str
    at: datetime
    number: int
    older_id: int
    newer_id: int
    links: tuple[tuple[int, int | None, int | None], ...] = ()

    @property
    def about(self) -> tuple[str, str]:
        """The two files, in an order that does not depend on which is newer."""
        return min(self.older, self.newer), max(self.older, self.newer)


class SignatureStore(Protocol):
    """Signatures, pairs and decisions of one tenant. Every method raises StoreFailed when the store does not answer."""

    def keep(self, signature: Signature) -> None:
        """Keep a document's signature in place of an earlier one, and forget its pairs. A document that is gone by now
        is left out."""
        ...

    def candidates(self, signature: Signature, most: int) -> Sequence[Signature]:
        """Other documents that share a bucket, a key or the url with this one, those sharing most first."""
        ...

    def pair(self, pairs: Sequence[Pair]) -> None:
        """Keep pairs, each in place of an earlier one; those of documents without a signature are left out."""
        ...

    def forget(self, document_ids: Sequence[int]) -> None:
        """Forget what is kept of these documents; decisions stay."""
        ...

    def signed(self) -> Sequence[int]:
        """The documents that have a signature, ascending."""
        ...

    def pairs_of(self, document_ids: Sequence[int]) -> Sequence[Pair]:
        """Pairs of any of these documents in which both live, the most alike first."""
        ...

    def near_pairs(self) -> Sequence[Pair]:
        """All near-duplicates that both live, by their ids."""
        ...

    def suggested(self, page: int, per_page: int) -> tuple[Sequence[Pair], int]:
        """One page (from 1) of the open suggestions, the latest documents first, and how many there are in all. Open
        are those whose documents live, in one project, and whose latest decision is no rejection."""
        ...

    def decide(self, decision: VersionDecision) -> None:
        """Append a decision. Raises Outdated when its number does not continue the count of its pair."""
        ...

    def decision(self, one: str, other: str) -> VersionDecision | None:
        """The latest decision on two files by their SHA-256, in any order; None when nobody has decided."""
        ...

    def decisions(self, limit: int) -> Sequence[VersionDecision]:
        """The last decisions, newest first."""
        ...

    def successors(self, document_ids: Sequence[int]) -> Mapping[int, int]:
        """Document → the one that says it replaced it (`Document.version_of`); the others are absent."""
        ...


def outdated_decision() -> Outdated:
    """Someone has decided on the same two documents."""
    return Outdated("Someone else has decided on these two documents meanwhile.", "Look at them again, then decide.")
