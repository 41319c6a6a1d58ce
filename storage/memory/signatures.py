"""Signatures, pairs that are alike and decisions on versions, in dicts beside a catalogue in memory."""

from collections.abc import Mapping, Sequence
from threading import RLock

from core.documents import Document
from core.library.duplicates import buckets
from core.library.versions_store import Pair, Signature, VersionDecision, VersionVerdict, outdated_decision
from core.ports import Catalogue

__all__ = ["MemorySignatureStore"]


class MemorySignatureStore:
    """core.library.versions_store.SignatureStore; what lives the catalogue knows."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue, self._lock = catalogue, RLock()
        self._signatures: dict[int, Signature] = {}
        self._buckets: dict[int, set[int]] = {}
        self._pairs: dict[tuple[int, int], Pair] = {}
        self._decisions: list[VersionDecision] = []

    def keep(self, signature: Signature) -> None:
        """Keep a signature in place of an earlier one, and forget the document's pairs."""
        with self._lock:
            self.forget([signature.document_id])
            if not self._catalogue.documents_by_id([signature.document_id]):
                return
            self._signatures[signature.document_id] = signature
            for bucket in buckets(signature.minima):
                self._buckets.setdefault(bucket, set()).add(signature.document_id)

    def candidates(self, signature: Signature, most: int) -> Sequence[Signature]:
        """Other documents that share a bucket, a key or the url, those sharing most first."""
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

    def pair(self, pairs: Sequence[Pair]) -> None:
        """Keep pairs, each in place of an earlier one; those of documents without a signature are left out."""
        with self._lock:
            for pair in pairs:
                if {pair.first, pair.second} <= self._signatures.keys():
                    self._pairs[pair.first, pair.second] = pair

    def forget(self, document_ids: Sequence[int]) -> None:
        """Forget signatures, and with them buckets and pairs."""
        gone = set(document_ids)
        with self._lock:
            for each in gone & self._signatures.keys():
                for bucket in buckets(self._signatures.pop(each).minima):
                    self._buckets[bucket].discard(each)
            self._pairs = {key: pair for key, pair in self._pairs.items() if not gone & set(key)}

    def signed(self) -> Sequence[int]:
        """The documents that have a signature, ascending."""
        with self._lock:
            return sorted(self._signatures.keys() & self._catalogue.documents_by_id(list(self._signatures)).keys())

    def pairs_of(self, document_ids: Sequence[int]) -> Sequence[Pair]:
        """Pairs of any of these documents in which both live, the most alike first."""
        wanted = set(document_ids)
        found = [pair for pair, _, _ in self._living() if wanted & {pair.first, pair.second}]
        return sorted(found, key=lambda pair: (-pair.same, pair.first, pair.second))

    def near_pairs(self) -> Sequence[Pair]:
        """All near-duplicates that both live, by their ids."""
        return [pair for pair, _, _ in self._living() if pair.near]

    def suggested(self, page: int, per_page: int) -> tuple[Sequence[Pair], int]:
        """One page of the open suggestions, the latest documents first, and how many there are in all."""
        with self._lock:
            found = [
                pair
                for pair, first, second in self._living()
                if pair.suggested and first.project == second.project and not self._rejected(first, second)
            ]
        found.sort(key=lambda pair: (-pair.second, -pair.same, -pair.first))
        return found[(page - 1) * per_page : page * per_page], len(found)

    def _living(self) -> list[tuple[Pair, Document, Document]]:
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
        """Append a decision. Raises Outdated when its number does not continue the count of its pair."""
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
        """The last decisions, newest first."""
        with self._lock:
            return self._decisions[::-1][:limit]

    def successors(self, document_ids: Sequence[int]) -> Mapping[int, int]:
        """Document → the one that replaced it; of several the latest."""
        wanted = set(document_ids)
        known = sorted(self._catalogue.documents(archived=None), key=lambda document: document.id)
        return {each.version_of: each.id for each in known if each.version_of in wanted and each.version_of is not None}
