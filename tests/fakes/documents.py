"""Enrichments, signatures and versions of documents in memory."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from threading import RLock

from core.domain.documents import Document
from core.library.duplicates.minhash import buckets
from core.library.enrichment.values import EnrichmentEdit, Operation, OperationOutcome
from core.library.versions.store import DuplicatePair, Signature, VersionDecision, VersionVerdict, outdated_decision
from core.ports.catalogue import Catalogue

__all__ = ["FakeEnrichmentStore", "FakeSignatureStore"]


class FakeEnrichmentStore:
    """Implements core.library.enrichment.store.EnrichmentStore; every method is atomic across threads."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._lock, self._catalogue = RLock(), catalogue
        self._outcomes: dict[tuple[int, Operation], OperationOutcome] = {}
        self._edits: dict[tuple[int, Operation], EnrichmentEdit] = {}

    def save(self, outcomes: Sequence[OperationOutcome]) -> None:
        """Store outcomes of documents that still exist."""
        living = self._catalogue.documents_by_id([each.document_id for each in outcomes])
        with self._lock:
            self._outcomes |= {(e.document_id, e.operation): e for e in outcomes if e.document_id in living}

    def outcomes(
        self, document_ids: Sequence[int], operations: Collection[Operation] = tuple(Operation)
    ) -> Mapping[int, Sequence[OperationOutcome]]:
        """Document → its outcomes of these operations, in the order of Operation."""
        wanted = [each for each in Operation if each in operations]
        with self._lock:
            found = {i: [self._outcomes.get((i, operation)) for operation in wanted] for i in document_ids}
        kept = {i: [each for each in told if each is not None] for i, told in found.items()}
        return {i: told for i, told in kept.items() if told}

    def all_outcomes(self) -> Sequence[OperationOutcome]:
        """The outcome of every operation on every document, without results."""
        with self._lock:
            documents = sorted({document_id for document_id, _ in self._outcomes})
        found = self.outcomes(documents)
        return [replace(each, result=None) for i in documents for each in found.get(i, ())]

    def forget(self, document_ids: Sequence[int]) -> None:
        """Delete the outcomes of documents; edits stay."""
        with self._lock:
            self._outcomes = {key: each for key, each in self._outcomes.items() if key[0] not in document_ids}

    def delete(self, document_ids: Sequence[int]) -> None:
        """Delete the outcomes and edits of documents."""
        with self._lock:
            self.forget(document_ids)
            self._edits = {key: each for key, each in self._edits.items() if key[0] not in document_ids}

    def save_edit(self, edit: EnrichmentEdit) -> None:
        """Keep an edit in place of the one before. Raises NotFound."""
        self._catalogue.document(edit.document_id)
        with self._lock:
            self._edits[edit.document_id, edit.operation] = edit

    def reset(self, document_id: int, operation: Operation) -> None:
        """Delete an edit."""
        with self._lock:
            self._edits.pop((document_id, operation), None)

    def edits(self, document_ids: Sequence[int]) -> Mapping[int, Sequence[EnrichmentEdit]]:
        """Document → its edits, in the order of Operation."""
        with self._lock:
            found = {i: [self._edits.get((i, operation)) for operation in Operation] for i in document_ids}
        kept = {i: [each for each in told if each is not None] for i, told in found.items()}
        return {i: told for i, told in kept.items() if told}


class FakeSignatureStore:
    """Implements core.library.versions.store.SignatureStore; the catalogue tells which documents are archived."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue, self._lock = catalogue, RLock()
        self._signatures: dict[int, Signature] = {}
        self._buckets: dict[int, set[int]] = {}
        self._pairs: dict[tuple[int, int], DuplicatePair] = {}
        self._decisions: list[VersionDecision] = []

    def keep(self, signature: Signature) -> None:
        """Store a signature, replacing an earlier one, and delete the document's pairs."""
        with self._lock:
            self.forget([signature.document_id])
            if not self._catalogue.documents_by_id([signature.document_id]):
                return
            self._signatures[signature.document_id] = signature
            for bucket in buckets(signature.minima):
                self._buckets.setdefault(bucket, set()).add(signature.document_id)

    def candidates(self, signature: Signature, most: int) -> Sequence[Signature]:
        """Other documents that share a bucket, a key or the URL, by number of shared ones."""
        with self._lock:
            shared: dict[int, int] = {}
            for bucket in buckets(signature.minima):
                for each in self._buckets.get(bucket, ()):
                    shared[each] = shared.get(each, 0) + 1
            for each, known in self._signatures.items():
                for name in ("name_key", "title_key", "url"):
                    if getattr(signature, name) and getattr(signature, name) == getattr(known, name):
                        shared[each] = shared.get(each, 0) + 1
            shared.pop(signature.document_id, None)
            best = sorted(shared, key=lambda each: (-shared[each], -each))
            return [self._signatures[each] for each in best[:most]]

    def pair(self, pairs: Sequence[DuplicatePair]) -> None:
        """Store pairs, replacing earlier ones; those of documents without a signature are left out."""
        with self._lock:
            for pair in pairs:
                if {pair.first, pair.second} <= self._signatures.keys():
                    self._pairs[pair.first, pair.second] = pair

    def forget(self, document_ids: Sequence[int]) -> None:
        """Delete signatures with their buckets and pairs."""
        gone = set(document_ids)
        with self._lock:
            for each in gone & self._signatures.keys():
                for bucket in buckets(self._signatures.pop(each).minima):
                    self._buckets[bucket].discard(each)
            self._pairs = {key: pair for key, pair in self._pairs.items() if not gone & set(key)}

    def signed(self) -> Sequence[int]:
        """Ids, ascending, of documents that have a signature."""
        with self._lock:
            return sorted(self._signatures.keys() & self._catalogue.documents_by_id(list(self._signatures)).keys())

    def pairs_of(self, document_ids: Sequence[int]) -> Sequence[DuplicatePair]:
        """Pairs of any of these documents in which neither is archived, the most similar first."""
        wanted = set(document_ids)
        found = [pair for pair, _, _ in self._living() if wanted & {pair.first, pair.second}]
        return sorted(found, key=lambda pair: (-pair.same, pair.first, pair.second))

    def near_pairs(self) -> Sequence[DuplicatePair]:
        """All near-duplicate pairs in which neither is archived, ordered by ids."""
        return [pair for pair, _, _ in self._living() if pair.near]

    def suggested(self, page: int, per_page: int) -> tuple[Sequence[DuplicatePair], int]:
        """One page of open suggestions, the latest documents first, and their total number."""
        with self._lock:
            found = [
                pair
                for pair, first, second in self._living()
                if pair.suggested and first.project == second.project and not self._rejected(first, second)
            ]
        found.sort(key=lambda pair: (-pair.second, -pair.same, -pair.first))
        return found[(page - 1) * per_page : page * per_page], len(found)

    def _living(self) -> list[tuple[DuplicatePair, Document, Document]]:
        """Pairs of documents that both live, by their ids."""
        with self._lock:
            pairs = [self._pairs[key] for key in sorted(self._pairs)]
            known = self._catalogue.documents_by_id(sorted({each for p in pairs for each in (p.first, p.second)}))
            living = {each for each, document in known.items() if not document.archived}
            return [(p, known[p.first], known[p.second]) for p in pairs if {p.first, p.second} <= living]

    def _rejected(self, first: Document, second: Document) -> bool:
        latest = self.decision(first.sha256, second.sha256)
        return latest is not None and latest.verdict is VersionVerdict.REJECTED

    def decide(self, decision: VersionDecision) -> None:
        """Append a decision. Raises Outdated when its number is not the next one of its pair."""
        with self._lock:
            if sum(each.about == decision.about for each in self._decisions) != decision.number - 1:
                raise outdated_decision()
            self._decisions.append(decision)

    def decision(self, one: str, other: str) -> VersionDecision | None:
        """The latest decision on two files, in any order."""
        about = (min(one, other), max(one, other))
        with self._lock:
            return next((each for each in reversed(self._decisions) if each.about == about), None)

    def decisions(self, limit: int) -> Sequence[VersionDecision]:
        """The latest decisions, newest first."""
        with self._lock:
            return self._decisions[::-1][:limit]

    def successors(self, document_ids: Sequence[int]) -> Mapping[int, int]:
        """Document → the one that replaced it; if several did, the latest."""
        wanted = set(document_ids)
        known = sorted(self._catalogue.documents(archived=None), key=lambda document: document.id)
        return {each.version_of: each.id for each in known if each.version_of in wanted and each.version_of is not None}
