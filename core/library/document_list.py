"""The list of the library's documents, found by their names and by what they contain."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from core.domain.document_list import ARCHIVED, DocumentPage, DocumentQuery, ListedDocument, NamingPage
from core.domain.documents import Document, Origin, Passage
from core.domain.entities import Entity
from core.domain.filters import SearchFilters
from core.ports.catalogue import Catalogue
from core.ports.stores import EntityGraph, PassageIds, SparseIndex
from core.search.citations.cite import Quotable, QuotableKind, display_quote, quotables, sentence_relevance
from core.text.tokenize import keywords

__all__ = ["DocumentListService"]

_MOST_HITS = 20_000
"""Passages taken of a keyword search, best first. Their ids travel to the database with the query; so many take it a
twentieth of a second, and a list that long is not read to its end."""


class DocumentListService:
    """Lists the documents of one tenant. graph: None where a library has no entities."""

    def __init__(self, catalogue: Catalogue, sparse: SparseIndex, graph: EntityGraph | None) -> None:
        self._catalogue, self._sparse, self._graph = catalogue, sparse, graph

    def page(self, query: DocumentQuery) -> DocumentPage:
        """The documents whose name or title has the words, and those with a passage that has all of them, by stem;
        where there are none, those with a passage that has some. `query.hits` is not read. Raises StoreFailed."""
        terms = keywords(query.words)
        admissible = SearchFilters(archived=query.state == ARCHIVED, origins=(Origin.DOCUMENT,))
        passages = self._catalogue.admissible(admissible) if terms else None
        every = () if passages is None else self._hits(terms, passages, self._sparse.passages_containing(terms))
        found = self._catalogue.list_documents(replace(query, hits=every))
        if passages is not None and not found.total and not every:
            some = self._hits(terms, passages, passages)
            found = replace(self._catalogue.list_documents(replace(query, hits=some)), partly=bool(some))
        return replace(found, entries=self._with_sentences(found.entries, terms))

    def documents(self, query: DocumentQuery) -> Sequence[Document]:
        """All documents of a query, whatever its page."""
        return [each.document for each in self.page(replace(query, limit=None, offset=0)).entries]

    def by_id(self, document_ids: Sequence[int]) -> Sequence[Document]:
        """Documents in the order of these ids; what is not in the library, or a note, is left out."""
        known = self._catalogue.documents_by_id(document_ids)
        return [known[i] for i in document_ids if i in known and known[i].origin is Origin.DOCUMENT]

    def naming(self, entity: Entity, *, limit: int, offset: int = 0) -> NamingPage:
        """The living documents that mention an entity, each with the sentence of its first mention. Raises
        StoreFailed."""
        if self._graph is None:
            return NamingPage((), 0, {})
        found = self._graph.mentions(entity.name, entity.type, limit=limit, offset=offset)
        documents = self._catalogue.documents_by_id([each.document_id for each in found.entries])
        passages = self._catalogue.passages([each.first for each in found.entries])
        entries: list[ListedDocument] = []
        spellings: dict[int, str] = {}
        for each in found.entries:
            if each.document_id not in documents:  # deleted since
                continue
            sentence, spelling = "", ""
            if (passage := passages.get(each.first)) is not None:
                sentence, spelling = _mention(passage, (entity.name, *entity.aliases))
            first = each.first if passage is not None else None
            entries.append(ListedDocument(documents[each.document_id], first, sentence, each.passages))
            spellings |= {each.document_id: spelling} if spelling else {}
        return NamingPage(tuple(entries), found.total, spellings)

    def _hits(self, terms: Sequence[str], admissible: PassageIds, among: PassageIds) -> tuple[tuple[int, float], ...]:
        """(passage id, score), best first."""
        both: PassageIds = np.intersect1d(admissible, among, assume_unique=True)
        return tuple((hit.passage_id, hit.score) for hit in self._sparse.search(terms, both, _MOST_HITS).hits)

    def _with_sentences(self, entries: Sequence[ListedDocument], terms: Sequence[str]) -> tuple[ListedDocument, ...]:
        """The entries with the best sentence of their hits."""
        passages = self._catalogue.passages([each.passage for each in entries if each.passage is not None])
        rarity = self._sparse.rarity(terms) if passages else {}
        sentences = {number: _best_sentence(passage, rarity) for number, passage in passages.items()}
        return tuple(replace(each, sentence=sentences.get(each.passage or 0, "")) for each in entries)


def _best_sentence(passage: Passage, rarity: Mapping[str, float]) -> str:
    """The first of the sentences with the largest share of the words; a heading only where no sentence has as many."""

    def share(part: Quotable) -> tuple[float, bool]:
        return sentence_relevance(part.span.of(passage.text), rarity), part.kind is QuotableKind.SENTENCE

    return display_quote(max(quotables(passage), key=share).span.of(passage.text))


def _mention(passage: Passage, spellings: Sequence[str]) -> tuple[str, str]:
    """The first sentence with one of these spellings, and the spelling; ("", "") where the text writes it otherwise."""
    texts = [part.span.of(passage.text) for part in quotables(passage)]
    for text in texts:
        for spelling in spellings:
            if spelling.casefold() in text.casefold():
                return display_quote(text), spelling
    return "", ""
