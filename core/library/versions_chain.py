"""Chains of versions: which document replaced which, and how a chain is lengthened and taken apart again.

`Document.version_of` is the whole of it: a chain is what its links give, oldest first.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from core.documents import Document
from core.errors import BadRequest
from core.library.versions_store import SignatureStore
from core.ports import Catalogue, VectorIndex

__all__ = ["Links", "VersionChains"]

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
        """What makes the older one stand right before the newer one. Raises BadRequest when their chains forbid it."""
        before, after = self.chain(older.id), self.chain(newer.id)
        if newer.version_of == older.id:
            return ()
        if {each.id for each in before} & {each.id for each in after}:
            raise BadRequest(
                f"'{older.name}' and '{newer.name}' are versions of one document already.",
                "Undo what stands between them first.",
            )
        if before[-1].id == older.id and after[0].id == newer.id:
            return ((newer.id, newer.version_of, older.id),)
        if len(before) == 1:
            return (older.id, older.version_of, newer.version_of), (newer.id, newer.version_of, older.id)
        if len(after) == 1:
            later = next(each for place, each in enumerate(before) if place and before[place - 1].id == older.id)
            return (newer.id, newer.version_of, older.id), (later.id, older.id, newer.id)
        raise BadRequest(
            f"'{older.name}' and '{newer.name}' both have other versions, which would branch.",
            "Join the newest version of the one with the oldest of the other.",
        )

    def relink(self, links: Links, coming: Collection[int] = ()) -> None:
        """Set `version_of` as the links say. What is replaced leaves the search; of `coming` what is replaced no longer
        is found again. Doing it again changes nothing; a document that is gone is left out. Raises BadRequest when a
        document cannot come back, before anything is changed."""
        ids = sorted({each for link in links for each in link if each is not None} | set(coming))
        known = self._catalogue.documents_by_id(ids)
        held = {before: after for before, after in self._store.successors(ids).items() if after not in _changed(links)}
        replaced = held.keys() | {after for each, _, after in links if each in known and after is not None}
        for each in set(coming) & known.keys() - replaced:
            self._check_free(known[each])
        for each, _, after in links:
            if each in known:
                self._catalogue.save_labels(replace(known[each], version_of=after if after in known else None), ())
        for each in known:
            if each in replaced or each in coming:
                self._archive(each, archived=each in replaced)

    def _check_free(self, document: Document) -> None:
        """The same bytes live once per project."""
        same = self._catalogue.document_by_hash(document.sha256, document.project)
        if same is not None and same.id != document.id:
            raise BadRequest(
                f"'{document.name}' cannot come back: the same file is in the library again.",
                "Delete one of the two, then undo.",
            )

    def _archive(self, document_id: int, *, archived: bool) -> None:
        document = self._catalogue.document(document_id)
        if document.archived == archived:
            return
        passages = [replace(each, archived=archived) for each in self._catalogue.passages_of(document_id)]
        self._catalogue.save_labels(replace(document, archived=archived), passages)
        self._vectors.update(passages)

    def leave(self, document: Document) -> None:
        """Take a document that is being deleted out of its chain: what replaced it replaces what it had replaced; when
        it was the newest, the version before it is current again."""
        later = self._store.successors([document.id]).get(document.id)
        earlier = document.version_of
        if later is not None:
            self.relink(((later, document.id, earlier), (document.id, earlier, None)))
        elif earlier is not None:
            self.relink(((document.id, earlier, None),), coming=(earlier,))


def _changed(links: Links) -> frozenset[int]:
    return frozenset(each for each, _, _ in links)
