"""Compares each document that is read with similar ones, stores the pairs, and groups them.

passages → triples, sentences → signature → candidates → exact shares → pairs → groups
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.domain.documents import Document, Origin, Passage
from core.library.duplicates.minhash import Triples, estimate_jaccard, shared_text, triples
from core.library.versions.diff import VersionSentence, retained_share, sentences_of
from core.library.versions.store import DuplicatePair, Signature, SignatureStore
from core.library.versions.suggestions import may_be_versions, signature_of
from core.ports.catalogue import Catalogue

__all__ = ["DuplicateComparer", "DuplicateGroup", "IdGroup", "group_pairs"]


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """Documents connected by near-duplicate pairs, directly or transitively; newest upload first.

    least, most: the lowest and highest Jaccard similarity among its pairs, in [0, 1].
    """

    documents: tuple[Document, ...]
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class IdGroup:
    """A group as document ids, ascending."""

    ids: tuple[int, ...]
    least: float
    most: float

    def with_documents(self, known: Mapping[int, Document]) -> DuplicateGroup:
        """The group with its documents; deleted ones are left out."""
        documents = [known[each] for each in reversed(self.ids) if each in known]
        return DuplicateGroup(tuple(documents), self.least, self.most)


def group_pairs(pairs: Sequence[DuplicatePair]) -> list[IdGroup]:
    """The connected components of the pairs, largest first, then those with the newest documents; independent of the
    order of the pairs.

    >>> near = [DuplicatePair(1, 2, 0.9, 1, 1), DuplicatePair(5, 7, 1.0, 1, 1), DuplicatePair(2, 4, 0.8, 1, 1)]
    >>> [group.ids for group in group_pairs(near)]
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
    found = [IdGroup(tuple(ids), min(shares[at]), max(shares[at])) for at, ids in members.items()]
    return sorted(found, key=lambda group: (-len(group.ids), -group.ids[-1], group.ids))


_MOST_CANDIDATES = 60  # read from the database; chosen by hand, like the next two
_MOST_COMPARED = 12  # candidates whose texts are read and compared: those whose signatures agree most
_READ_AT_ONCE = 1_000  # passages of candidates read with one query, besides those of the first; chosen by hand
_LEAST_ESTIMATE = 0.2  # below it, a candidate is compared only if it has the same name, title or url


@dataclass(frozen=True, slots=True)
class _ComparedText:
    """The text of a document that is compared."""

    sentences: tuple[VersionSentence, ...]
    triples: Triples


@dataclass(frozen=True, slots=True)
class _SignedText:
    """A document that is compared, with its text and signature."""

    document: Document
    text: _ComparedText
    signature: Signature


class DuplicateComparer:
    """Computes and stores signatures and pairs of one tenant's documents. Idempotent."""

    def __init__(self, store: SignatureStore, catalogue: Catalogue) -> None:
        self._store, self._catalogue = store, catalogue

    def compare(self, documents: Sequence[tuple[Document, Sequence[Passage]]]) -> None:
        """Store the signatures of documents with these passages, then their pairs. Raises StoreFailed.

        The signatures are stored first, so of two documents read at the same time at least one finds the other.
        """
        texts = {document.id: (document, _compared_text(passages)) for document, passages in documents}
        compared = [
            _SignedText(document, text, signature_of(document, text.triples))
            for document, text in texts.values()
            if document.origin is Origin.DOCUMENT and len(text.triples)
        ]
        if without := sorted(texts.keys() - {each.document.id for each in compared}):
            self._store.forget(without)
        if not compared:
            return
        self._store.keep([each.signature for each in compared])
        found = {each.document.id: [other.document_id for other in self._best(each.signature)] for each in compared}
        known = self._catalogue.documents_by_id(sorted({other for ids in found.values() for other in ids}))
        pairs: dict[tuple[int, int], DuplicatePair] = {}
        for block in _blocks(list(known.values())):
            read = self._catalogue.passages_of_each([each.id for each in block])
            for other in block:
                beside = _compared_text(read[other.id])
                near = [each for each in compared if other.id in found[each.document.id]]
                made = [_pair(each.document, each.text, other, beside) for each in near]
                pairs |= {(pair.first, pair.second): pair for pair in made if pair is not None}
        self._store.pair(list(pairs.values()))

    def _best(self, signature: Signature) -> Sequence[Signature]:
        """The candidates worth reading, most similar first: similar ones, and any with the same name, title or url."""

        def similarity(other: Signature) -> tuple[float, int]:
            return estimate_jaccard(signature.minima, other.minima), other.document_id

        def same_key(other: Signature) -> bool:
            keys = ("name_key", "title_key", "url")
            return any(getattr(other, key) and getattr(other, key) == getattr(signature, key) for key in keys)

        candidates = self._store.candidates(signature, _MOST_CANDIDATES)
        similar = [each for each in candidates if similarity(each)[0] >= _LEAST_ESTIMATE or same_key(each)]
        return sorted(similar, key=similarity, reverse=True)[:_MOST_COMPARED]


def _blocks(documents: Sequence[Document]) -> Iterator[list[Document]]:
    """The documents in their order, so many together as may be in memory."""
    block: list[Document] = []
    for each in documents:
        if block and sum(other.passages for other in (*block, each)) > _READ_AT_ONCE:
            yield block
            block = []
        block.append(each)
    if block:
        yield block


def _pair(document: Document, text: _ComparedText, other: Document, beside: _ComparedText) -> DuplicatePair | None:
    """The pair of two documents, None when they are neither near-duplicates nor versions."""
    both = sorted(((document, text), (other, beside)), key=lambda each: each[0].id)
    (first, first_text), (second, second_text) = both
    common = shared_text(first_text.triples, second_text.triples)
    retained_shares = (
        retained_share(first_text.sentences, second_text.sentences),
        retained_share(second_text.sentences, first_text.sentences),
    )
    suggested = may_be_versions(first, second, common, max(retained_shares))
    pair = DuplicatePair(first.id, second.id, common.jaccard, *retained_shares, suggested)
    return pair if pair.near or pair.suggested else None


def _compared_text(passages: Sequence[Passage]) -> _ComparedText:
    sentences = sentences_of(passages)
    return _ComparedText(sentences, triples([sentence.text for sentence in sentences]))
