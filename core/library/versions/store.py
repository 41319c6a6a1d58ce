"""Version chains of documents, and the port that stores them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from core.domain.documents import Document
from core.domain.errors import BadRequest, Outdated
from core.library.duplicates.minhash import NEAR_DUPLICATE, Minima
from core.ports.catalogue import Catalogue, set_archived
from core.ports.stores import VectorIndex

__all__ = [
    "DuplicatePair",
    "Links",
    "Signature",
    "SignatureStore",
    "VersionChains",
    "VersionDecision",
    "VersionVerdict",
    "check_free",
    "outdated_decision",
]


@dataclass(frozen=True, slots=True, eq=False)
class Signature:
    """The search keys by which similar documents are found. triples: number of word triples in its text, at least 1.

    name_key, title_key: name and title without their version parts; url: where it came from. "" for none.
    """

    document_id: int
    triples: int
    minima: Minima
    name_key: str = ""
    title_key: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class DuplicatePair:
    """Two documents that are near-duplicates, or may be versions of each other. first < second, always.

    same: Jaccard similarity of their word triples; first_retained, second_retained: share of the sentences of each that
    is in the other; all in [0, 1]. suggested: whether one may be a new version of the other.
    """

    first: int
    second: int
    same: float
    first_retained: float
    second_retained: float
    suggested: bool = False

    @property
    def near(self) -> bool:
        """Whether they are near-duplicates."""
        return self.same >= NEAR_DUPLICATE

    def other(self, document_id: int) -> int:
        """The other one of the two."""
        return self.second if document_id == self.first else self.first

    def retained_share(self, document_id: int) -> float:
        """The share of this document's sentences that is in the other."""
        return self.first_retained if document_id == self.first else self.second_retained


class VersionVerdict(StrEnum):
    """An analyst's verdict on two documents; `undone` withdraws the previous one."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True)
class VersionDecision:
    """One entry of the append-only log of versions. older, newer: SHA-256 of two files, so that a rejection also holds
    when a file is deleted and uploaded again.

    number: 1, 2, 3 … per pair of files; a new decision continues the count. older_id, newer_id: the documents at that
    time. links: what an acceptance changed, as (document, `version_of` before, `version_of` after). archived: which of
    the two somebody had archived before it."""

    older: str
    newer: str
    verdict: VersionVerdict
    who: str
    at: datetime
    number: int
    older_id: int
    newer_id: int
    links: tuple[tuple[int, int | None, int | None], ...] = ()
    archived: tuple[int, ...] = ()

    @property
    def about(self) -> tuple[str, str]:
        """The two files, in an order that does not depend on which is newer."""
        return min(self.older, self.newer), max(self.older, self.newer)


class SignatureStore(Protocol):
    """Signatures, pairs and decisions of one tenant. Every method raises StoreFailed when the store does not answer."""

    def keep(self, signatures: Sequence[Signature]) -> None:
        """Store documents' signatures in place of earlier ones, and delete their pairs. Ignores deleted documents."""
        ...

    def candidates(self, signature: Signature, most: int) -> Sequence[Signature]:
        """Other documents that share a bucket, a key or the url with this one; those sharing most first. Of many
        that share the same ones, the newest only."""
        ...

    def pair(self, pairs: Sequence[DuplicatePair]) -> None:
        """Store pairs, each in place of an earlier one; those of documents without a signature are dropped."""
        ...

    def forget(self, document_ids: Sequence[int]) -> None:
        """Delete the signatures and pairs of these documents; decisions stay."""
        ...

    def signed(self) -> Sequence[int]:
        """Ids of the documents that have a signature, ascending."""
        ...

    def pairs_of(self, document_ids: Sequence[int]) -> Sequence[DuplicatePair]:
        """Pairs with any of these documents in which both are living, most similar first."""
        ...

    def near_pairs(self) -> Sequence[DuplicatePair]:
        """All near-duplicate pairs of living documents, by their ids."""
        ...

    def suggested(self, page: int, per_page: int) -> tuple[Sequence[DuplicatePair], int]:
        """One page (from 1) of the open suggestions, latest documents first, and their total number. A suggestion is
        open while both documents live in one project and their latest decision is no rejection.
        """
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
        """Document → the document that replaced it (by `Document.version_of`); the others are absent."""
        ...


def outdated_decision() -> Outdated:
    """Someone has decided on the same two documents."""
    return Outdated("Someone else has decided on these two documents meanwhile.", "Look at them again, then decide.")


Links = tuple[tuple[int, int | None, int | None], ...]
"""What changes: (document, `version_of` before, `version_of` after)."""

_LONGEST = 1000


class VersionChains:
    """Reads and changes the chains of one tenant. Every method raises StoreFailed when a store does not answer."""

    def __init__(self, store: SignatureStore, catalogue: Catalogue, vectors: VectorIndex) -> None:
        self._store, self._catalogue, self._vectors = store, catalogue, vectors

    def chain(self, document_id: int) -> tuple[Document, ...]:
        """The versions of a document, itself among them, oldest first. Raises NotFound."""
        found = [self._catalogue.document(document_id)]
        seen = {document_id}
        while (earlier := found[0].version_of) is not None and earlier not in seen:
            known = self._catalogue.documents_by_id([earlier])
            if earlier not in known:
                break
            found.insert(0, known[earlier])
            seen.add(earlier)
        while (later := self._store.successors([found[-1].id]).get(found[-1].id)) is not None and later not in seen:
            found.append(self._catalogue.document(later))
            seen.add(later)
        return tuple(found)

    def newest(self, document_ids: Sequence[int]) -> Mapping[int, Document]:
        """Replaced document → the newest version of it; the others are absent."""
        at = {each: each for each in document_ids}
        for _ in range(_LONGEST):
            later = self._store.successors(sorted(set(at.values())))
            moved = {each: later[now] for each, now in at.items() if now in later}
            if not moved:
                break
            at |= moved
        replaced = {each: now for each, now in at.items() if now != each}
        known = self._catalogue.documents_by_id(sorted(set(replaced.values())))
        return {each: known[now] for each, now in replaced.items() if now in known}

    def joined(self, older: Document, newer: Document) -> Links:
        """The links that place the older document right before the newer one. Raises BadRequest when their chains
        forbid it.
        """
        before, after = self.chain(older.id), self.chain(newer.id)
        if newer.version_of == older.id:
            return ()
        if {each.id for each in before} & {each.id for each in after}:
            raise BadRequest(
                f"'{older.name}' and '{newer.name}' are versions of one document already.",
                "Undo the versions between them first.",
            )
        if before[-1].id == older.id and after[0].id == newer.id:
            return ((newer.id, newer.version_of, older.id),)
        if len(before) == 1:
            return (older.id, older.version_of, newer.version_of), (newer.id, newer.version_of, older.id)
        if len(after) == 1:
            later = next(each for index, each in enumerate(before) if index and before[index - 1].id == older.id)
            return (newer.id, newer.version_of, older.id), (later.id, older.id, newer.id)
        raise BadRequest(
            f"'{older.name}' and '{newer.name}' both have other versions, which would branch.",
            "Join the newest version of the one with the oldest of the other.",
        )

    def relink(self, links: Links, coming: Collection[int] = ()) -> None:
        """Set `version_of` as the links say. Replaced documents leave the search; those of `coming` that are no longer
        replaced return to it. Idempotent; deleted documents are skipped.

        Raises BadRequest when a document cannot come back, before anything is changed.
        """
        ids = sorted({each for link in links for each in link if each is not None} | set(coming))
        known = self._catalogue.documents_by_id(ids)
        successors = {
            before: after for before, after in self._store.successors(ids).items() if after not in _changed(links)
        }
        replaced = successors.keys() | {after for each, _, after in links if each in known and after is not None}
        for each in set(coming) & known.keys() - replaced:
            check_free(self._catalogue, known[each])
        for each, _, after in links:
            if each in known:
                self._replace(each, after if after in known else None)
        for each in known:
            if each in replaced or each in coming:
                self._archive(each, archived=each in replaced)

    def _replace(self, document_id: int, earlier: int | None) -> None:
        self._catalogue.edit_labels(document_id, lambda now, passages: (replace(now, version_of=earlier), passages))

    def _archive(self, document_id: int, *, archived: bool) -> None:
        if self._catalogue.document(document_id).archived != archived:
            self._vectors.update(self._catalogue.edit_labels(document_id, set_archived(archived)))

    def leave(self, document: Document) -> tuple[int | None, int | None]:
        """Remove a document that is being deleted from its chain: its successor replaces its predecessor; when it was
        the newest, the predecessor becomes current again, unless the same file is in the library again. Returns
        predecessor and successor.
        """
        later = self._store.successors([document.id]).get(document.id)
        earlier = document.version_of
        if later is not None:
            self.relink(((later, document.id, earlier), (document.id, earlier, None)))
        elif earlier is not None:
            links = ((document.id, earlier, None),)
            try:
                self.relink(links, coming=(earlier,))
            except BadRequest:
                self.relink(links)
        return earlier, later

    def rejoin(self, document_id: int, earlier: int | None, later: int | None) -> None:
        """Put a document back between its predecessor and its successor. One that is gone, or belongs to another
        version by now, is left alone."""
        known = self._catalogue.documents_by_id([each for each in (earlier, later) if each is not None])
        links: list[tuple[int, int | None, int | None]] = []
        if earlier is not None and earlier in known and self._store.successors([earlier]).get(earlier) in (None, later):
            links.append((document_id, None, earlier))
        if later is not None and later in known and known[later].version_of in (None, earlier):
            links.append((later, known[later].version_of, document_id))
        if links:
            self.relink(tuple(links))


def _changed(links: Links) -> frozenset[int]:
    return frozenset(each for each, _, _ in links)


def check_free(catalogue: Catalogue, document: Document) -> None:
    """Raises BadRequest where another document of its project has the same bytes: they live once per project."""
    same = catalogue.document_by_hash(document.sha256, document.project)
    if same is not None and same.id != document.id:
        raise BadRequest(
            f"'{document.name}' cannot come back: the same file is in the library again.",
            "Delete one of the two, then try again.",
        )
