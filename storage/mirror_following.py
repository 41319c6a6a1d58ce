"""Bringing what is held up to what the database has now."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from core.ports import Vectors
from storage.database import Database
from storage.mirror_changes import Changes, changes_since, passages_in, read_passages
from storage.mirror_columns import Columns, Words, merged
from storage.mirror_held import Held, Part, in_memory
from storage.mirror_keeping import even

__all__ = ["Library"]

_ATTEMPTS = 10  # documents that change while they are read are read again


@dataclass(frozen=True, slots=True)
class Library:
    """What is followed: a tenant's passages, with the vectors of one model. going_on: called between blocks, it raises
    what is to end the reading."""

    database: Database
    model: Callable[[], str]
    going_on: Callable[[], None]

    def differing(self, held: Held) -> tuple[Changes, list[int]]:
        """What changed, and the documents whose passages are not held as they are now. Raises StoreFailed.

        A server that was started again may have been restored from a backup: then all that it has is compared.
        """
        changes = changes_since(self.database, held.next)
        vanished: list[int] = []
        if changes.started != held.started:
            changes = changes_since(self.database, 0)
            vanished = [document for document in held.versions if document not in changes.noted]
        differing = [document for document, version in changes.noted.items() if held.versions.get(document) != version]
        return changes, differing + vanished

    def caught_up(self, held: Held, at_most: int | None = None) -> Held | None:
        """With what changed; None when more passages changed than `at_most`. Raises StoreFailed."""
        for _ in range(_ATTEMPTS):
            changes, documents = self.differing(held)
            if not documents:
                return replace(held, next=changes.next, started=changes.started)
            if at_most is not None and passages_in(self.database, documents) > at_most:
                return None
            # Noted before they are read: what changes in between is noted under another version, and read again.
            versions = dict(held.versions)
            for document in documents:
                versions.pop(document, None)
            versions |= {document: changes.noted[document] for document in documents if document in changes.noted}
            held = replace(self._with(held, documents), versions=versions, next=changes.next, started=changes.started)
        return held

    def read(self, words: Words, documents: list[int] | None) -> Iterator[tuple[Columns, Vectors]]:
        """These documents' passages, or all, block by block. Raises StoreFailed."""
        for block in read_passages(self.database, self.model(), words, documents):
            self.going_on()
            yield block

    def _with(self, held: Held, documents: list[int]) -> Held:
        base, fresh = held.parts
        gone = np.array(documents, dtype=np.int64)
        columns, vectors = [fresh.columns], [fresh.coded.vectors]
        for block, rows in self.read(held.words, documents):
            columns.append(block)
            vectors.append(rows)
        kept = [~np.isin(fresh.columns.documents, gone), *(np.ones(len(each), dtype=np.bool_) for each in columns[1:])]
        together, places = merged(columns, kept)
        changed = in_memory(together, np.concatenate(list(even(vectors)))[places], base.coded.mean)
        live = base.live & ~np.isin(base.columns.documents, gone)
        return replace(held, parts=(Part(base.columns, base.coded, live), changed))
