"""Compares every document that is read with those it may resemble, and keeps what it finds.

passages → triples, sentences → signature → candidates → exact shares → pairs
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.documents import Document, Origin, Passage
from core.library.duplicates import Triples, estimated, shared, triples
from core.library.versions_store import Pair, Signature, SignatureStore
from core.library.versions_suggest import may_be_versions, signature_of
from core.library.versions_text import Sentence, kept_share, sentences_of
from core.ports import Catalogue

__all__ = ["Comparer"]

_MOST_CANDIDATES = 60
_MOST_COMPARED = 12
"""Of how many candidates, those whose signatures agree most, the texts are read and compared."""
_LEAST_ESTIMATE = 0.2


@dataclass(frozen=True, slots=True)
class _Text:
    """What a document is compared by."""

    sentences: tuple[Sentence, ...]
    triples: Triples


class Comparer:
    """Keeps signatures and pairs of one tenant's documents. Comparing again changes nothing."""

    def __init__(self, store: SignatureStore, catalogue: Catalogue) -> None:
        self._store, self._catalogue = store, catalogue

    def compare(self, document: Document, passages: Sequence[Passage]) -> None:
        """Keep a document's signature, then its pairs. The signature is there before candidates are looked for, so of
        two documents read at the same time at least one sees the other. Raises StoreFailed."""
        text = _text(passages)
        if document.origin is not Origin.DOCUMENT or not len(text.triples):
            self._store.forget([document.id])
            return
        signature = signature_of(document, text.triples)
        self._store.keep(signature)
        best = self._best(signature)
        known = self._catalogue.documents_by_id([each.document_id for each in best])
        found = [
            pair
            for each in best
            if each.document_id in known and (pair := self._paired(document, text, known[each.document_id])) is not None
        ]
        self._store.pair(found)

    def _best(self, signature: Signature) -> Sequence[Signature]:
        """The candidates worth reading: those alike, and those a key or the url speaks for, the most alike first."""

        def worth(other: Signature) -> tuple[float, int]:
            return estimated(signature.minima, other.minima), other.document_id

        def tied(other: Signature) -> bool:
            keys = ("name_key", "title_key", "url")
            return any(getattr(other, key) and getattr(other, key) == getattr(signature, key) for key in keys)

        candidates = self._store.candidates(signature, _MOST_CANDIDATES)
        kept = [each for each in candidates if worth(each)[0] >= _LEAST_ESTIMATE or tied(each)]
        return sorted(kept, key=worth, reverse=True)[:_MOST_COMPARED]

    def _paired(self, document: Document, text: _Text, other: Document) -> Pair | None:
        """The pair of two documents, None when they are neither near-duplicates nor versions."""
        beside = _text(self._catalogue.passages_of(other.id))
        both = sorted(((document, text), (other, beside)), key=lambda each: each[0].id)
        (first, first_text), (second, second_text) = both
        common = shared(first_text.triples, second_text.triples)
        kept = (
            kept_share(first_text.sentences, second_text.sentences),
            kept_share(second_text.sentences, first_text.sentences),
        )
        suggested = may_be_versions(first, second, common, max(kept))
        pair = Pair(first.id, second.id, common.jaccard, *kept, suggested)
        return pair if pair.near or pair.suggested else None


def _text(passages: Sequence[Passage]) -> _Text:
    sentences = sentences_of(passages)
    return _Text(sentences, triples([sentence.text for sentence in sentences]))
