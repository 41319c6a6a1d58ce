"""Near-duplicates in groups: what is joined by pairs belongs together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.documents import Document
from core.library.versions_store import Pair

__all__ = ["DuplicateGroup", "LooseGroup", "grouped"]


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """Documents that are near-duplicates of one another, or of one between them; the newest upload first.

    least, most: the lowest and highest Jaccard share among its pairs, in [0, 1].
    """

    documents: tuple[Document, ...]
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class LooseGroup:
    """A group by its documents' ids, ascending."""

    ids: tuple[int, ...]
    least: float
    most: float

    def told(self, known: Mapping[int, Document]) -> DuplicateGroup:
        """With its documents; those that are gone by now are left out."""
        documents = [known[each] for each in reversed(self.ids) if each in known]
        return DuplicateGroup(tuple(documents), self.least, self.most)


def grouped(pairs: Sequence[Pair]) -> list[LooseGroup]:
    """The groups that pairs make, the largest first, then those of the newest documents; their order does not depend
    on that of the pairs.

    >>> [group.ids for group in grouped([Pair(1, 2, 0.9, 1, 1), Pair(5, 7, 1.0, 1, 1), Pair(2, 4, 0.8, 1, 1)])]
    [(1, 2, 4), (5, 7)]
    """
    parents: dict[int, int] = {}

    def root(each: int) -> int:
        while (parent := parents.setdefault(each, each)) != each:
            parents[each] = parents[parent]
            each = parent
        return each

    for pair in pairs:
        low, high = sorted((root(pair.first), root(pair.second)))
        parents[high] = low
    members: dict[int, list[int]] = {}
    for each in sorted(parents):
        members.setdefault(root(each), []).append(each)
    shares: dict[int, list[float]] = {}
    for pair in pairs:
        shares.setdefault(root(pair.first), []).append(pair.same)
    found = [LooseGroup(tuple(ids), min(shares[at]), max(shares[at])) for at, ids in members.items()]
    return sorted(found, key=lambda group: (-len(group.ids), -group.ids[-1], group.ids))
