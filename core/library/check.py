"""Compares the stores of a library with its catalogue, and repairs what can be repaired.

The catalogue is authoritative. Keywords are indexed again from it. A passage without a vector needs its document read
again; a vector without a passage is deleted. A missing original can only be uploaded again. What no document uses any
more, an original or the rows of a table, is deleted.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from core.domain.documents import Document
from core.domain.errors import FivefoldError
from core.domain.filters import SearchFilters
from core.library.trash import TrashStore
from core.ports.catalogue import Catalogue
from core.ports.stores import BlobStore, PassageIds, SparseIndex, VectorIndex

__all__ = ["CheckReport", "CheckedStore", "Difference", "LibraryCheck"]

_log = logging.getLogger(__name__)

_BATCH = 2000
"""Passages read from the catalogue at a time: a few megabytes of text."""

_NAMED = 5
"""Documents that a message names: they fit into a line of a terminal; the others are counted."""


class CheckedStore(StrEnum):
    """A store that is compared with the catalogue."""

    KEYWORDS = "keywords"
    VECTORS = "vectors"
    ORIGINALS = "originals"
    TRASH = "trash"


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between a store and the catalogue.

    message: what is missing or left over. remedy: what a repair does or did, or what to do by hand. repairable: whether
    a repair fixes it. repaired: whether one has.
    """

    store: CheckedStore
    message: str
    remedy: str
    repairable: bool = True
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class CheckReport:
    """documents, passages: totals of the catalogue. differences: empty when all stores agree."""

    documents: int
    passages: int
    differences: tuple[Difference, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing is left to do."""
        return all(each.repaired for each in self.differences)


class LibraryCheck:
    """Checks one tenant's library. read_again: queues a document to be read again. purge: deletes documents of the
    trash for good."""

    def __init__(
        self,
        *,
        catalogue: Catalogue,
        keywords: SparseIndex,
        vectors: VectorIndex,
        originals: BlobStore,
        trash: TrashStore,
        purge: Callable[[Sequence[int]], object],
        read_again: Callable[[int], object],
    ) -> None:
        self._catalogue, self._keywords, self._vectors = catalogue, keywords, vectors
        self._originals, self._read_again = originals, read_again
        self._trash, self._purge = trash, purge
        self._notice = ""

    @property
    def notice(self) -> str:
        """What the check at the start found and could not repair; "" when all is well."""
        return self._notice

    def run(self, *, repair: bool = False) -> CheckReport:
        """Compare every store with the catalogue. A document that is being read meanwhile may differ for a moment.

        repair: mend what can be mended. Raises StoreFailed, and ModelUnavailable where the name of the embedding model
        is needed.
        """
        documents = self._catalogue.documents(archived=None)
        passages = self._catalogue.admissible(SearchFilters(archived=None))
        without_original = [each for each in documents if not self._originals.exists(each.readable or each.sha256)]
        differences = [
            *self._check_keywords(repair),
            *self._check_vectors(passages, {each.id for each in without_original}, repair),
        ]
        if without_original:
            differences.append(
                Difference(
                    CheckedStore.ORIGINALS,
                    f"{_count(len(without_original), 'document')} without the original: {_names(without_original)}.",
                    "Upload these files again, or restore the folder 'originals' from a backup.",
                    repairable=False,
                )
            )
        differences += [*self._check_interrupted(repair), *self._check_tables(repair), *self._check_unused(repair)]
        return CheckReport(len(documents), len(passages), tuple(differences))

    def refresh(self) -> None:
        """Repair the keyword index, and count the vectors: quick when everything agrees, so it runs at the start and
        every hour. Other differences become the notice; a store that does not answer is logged, as whoever needs it
        will say so."""
        try:
            added, removed = self._keywords.reconcile()
            if added or removed:
                _log.warning("The keyword index was repaired: %d passages added, %d removed.", added, removed)
            document_ids = self._catalogue.admissible(SearchFilters(archived=None))
            if self._vectors.count() == len(document_ids):
                self._notice = ""
                return
            found = self._check_vectors(document_ids, set(), repair=False)
        except FivefoldError as error:
            _log.warning("The library could not be checked: %s", error)
            return
        for each in found:
            _log.warning("%s", each.message)
        messages = [each.message for each in found]
        self._notice = " ".join((*messages, "Run 'python -m cli check --repair'.")) if messages else ""

    def _check_keywords(self, repair: bool) -> list[Difference]:
        missing, extra = self._keywords.reconcile() if repair else self._keywords.differences()
        if not missing and not extra:
            return []
        message = f"The keyword index lacks {_count(missing, 'passage')} and has {extra} too many."
        if repair:
            return [Difference(CheckedStore.KEYWORDS, message, "Repaired from the catalogue.", repaired=True)]
        return [Difference(CheckedStore.KEYWORDS, message, "A repair indexes them again from the catalogue.")]

    def _check_interrupted(self, repair: bool) -> list[Difference]:
        """Documents whose deletion for good was interrupted."""
        begun = [each.document_id for each in self._trash.listed() if each.purging]
        if not begun:
            return []
        message = f"{_count(len(begun), 'document')} only partly deleted for good."
        if not repair:
            return [Difference(CheckedStore.TRASH, message, "A worker goes on with it, and so does a repair.")]
        self._purge(begun)
        return [Difference(CheckedStore.TRASH, message, "Deleted.", repaired=True)]

    def _check_tables(self, repair: bool) -> list[Difference]:
        """Rows of uploaded tables that belong to no document."""
        left = self._trash.leftover_tables()
        if not left:
            return []
        message = f"{_count(len(left), 'stored table')} of documents that are gone."
        if not repair:
            return [Difference(CheckedStore.TRASH, message, "A repair deletes them.")]
        self._trash.drop_leftover_tables()
        return [Difference(CheckedStore.TRASH, message, "Deleted.", repaired=True)]

    def _check_unused(self, repair: bool) -> list[Difference]:
        """Originals that no document of any tenant refers to. Where none at all is referred to, the folder rather
        belongs to another database."""
        names = list(self._originals.names())
        left = self._trash.unused_originals(names)
        if not left:
            return []
        message = f"{_count(len(left), 'original')} of no document, in the library or in the trash."
        if len(left) == len(names):
            remedy = "Nothing here uses this folder 'originals': check that it belongs to this database."
            return [Difference(CheckedStore.ORIGINALS, message, remedy, repairable=False)]
        if not repair:
            return [Difference(CheckedStore.ORIGINALS, message, "A repair deletes them.")]
        for each in left:
            with self._trash.unreferenced(each) as unused:
                if unused:
                    self._originals.delete(each)
        return [Difference(CheckedStore.ORIGINALS, message, "Deleted.", repaired=True)]

    def _check_vectors(self, passages: PassageIds, unreadable: set[int], repair: bool) -> list[Difference]:
        """unreadable: documents without an original, which cannot be read again."""
        stored = self._vectors.passage_ids()
        differences = []
        missing, extra = np.setdiff1d(passages, stored), np.setdiff1d(stored, passages)
        if len(missing):
            differences += self._check_missing_vectors(missing, unreadable, repair)
        if len(extra):
            message = f"{_count(len(extra), 'vector')} without a passage in the catalogue."
            found = Difference(CheckedStore.VECTORS, message, "A repair deletes them.")
            if repair:
                self._vectors.discard(extra)
                found = replace(found, remedy="Deleted.", repaired=True)
            differences.append(found)
        return differences

    def _check_missing_vectors(self, missing: PassageIds, unreadable: set[int], repair: bool) -> list[Difference]:
        counts = self._passages_by_document(missing)
        differences = []
        for readable in (True, False):
            ids = [each for each in counts if (each not in unreadable) is readable]
            if not ids:
                continue
            documents = list(self._catalogue.documents_by_id(ids).values())
            found = Difference(
                CheckedStore.VECTORS,
                f"{_count(sum(counts[each] for each in ids), 'passage')} of {_count(len(ids), 'document')} without a"
                f" vector, not found by meaning: {_names(documents)}.",
                "A repair queues the documents to be read again." if readable else "Upload the files again.",
                repairable=readable,
            )
            if repair and readable:
                for each in ids:
                    self._read_again(each)
                found = replace(found, remedy="Queued to be read again; a worker does it.", repaired=True)
            differences.append(found)
        return differences

    def _passages_by_document(self, passage_ids: PassageIds) -> dict[int, int]:
        """Document id → how many of the passages are its, ids ascending."""
        counts: dict[int, int] = {}
        for start in range(0, len(passage_ids), _BATCH):
            for passage in self._catalogue.passages(passage_ids[start : start + _BATCH].tolist()).values():
                counts[passage.document_id] = counts.get(passage.document_id, 0) + 1
        return dict(sorted(counts.items()))


def _count(number: int, noun: str) -> str:
    """
    >>> _count(1, "passage"), _count(12_000, "passage")
    ('1 passage', '12,000 passages')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _names(documents: Sequence[Document]) -> str:
    """The first documents' names, and how many more there are."""
    names = ", ".join(each.name for each in documents[:_NAMED])
    return names if len(documents) <= _NAMED else f"{names} and {len(documents) - _NAMED:,} more"
