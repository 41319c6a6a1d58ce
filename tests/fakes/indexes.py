"""The search indexes in memory: vectors, keywords, entities and word vectors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock, RLock

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import DocumentState, Passage
from core.domain.entities import Entity, EntityMentions, EntityPage, EntityType, KnownEntity, MentionPage
from core.domain.filters import SearchFilters
from core.domain.results import LegHit, LegHits, TermScores
from core.ports.catalogue import Catalogue
from core.ports.stores import PassageIds, Vectors
from core.search.query.expansion import WordVectors
from storage.keywords.scoring import Bm25Scorer
from storage.keywords.segments import build_segment, compact, delete_rows, has_stem

__all__ = ["FakeEntityGraph", "FakeSparseIndex", "FakeVectorIndex", "FakeWordVectorStore"]


@dataclass(frozen=True, slots=True)
class _VectorRow:
    passage: Passage
    vector: NDArray[np.float64]


class FakeVectorIndex:
    """Implements core.ports.stores.VectorIndex, exact: the measure the other indexes are tested against."""

    def __init__(self) -> None:
        self._rows: dict[int, _VectorRow] = {}

    def add(self, passages: Sequence[Passage], vectors: Vectors, *, embedded_by: str = "") -> None:
        """Store or replace; vectors: float32, shape (len(passages), dim)."""
        rows = {p.id: _VectorRow(p, _unit(v)) for p, v in zip(passages, vectors, strict=True)}
        self._rows = {**self._rows, **rows}

    def update(self, passages: Sequence[Passage]) -> None:
        """New labels for passages that have a vector; others are ignored."""
        rows = {p.id: _VectorRow(p, self._rows[p.id].vector) for p in passages if p.id in self._rows}
        self._rows = {**self._rows, **rows}

    def delete(self, document_ids: Sequence[int], *, but: Sequence[Passage] = ()) -> None:
        """Delete every passage of these documents. but: those that stay."""
        removed, retained = set(document_ids), {each.id for each in but}
        self._rows = {
            i: row for i, row in self._rows.items() if row.passage.document_id not in removed or i in retained
        }

    def ping(self) -> None:
        """It always answers."""

    def search(
        self, vector: NDArray[np.float32], filters: SearchFilters, top_k: int, among: PassageIds | None = None
    ) -> LegHits:
        """The top_k admissible passages by cosine, best first; ties by passage id."""
        rows = self._rows
        chosen = rows if among is None else set(among.tolist()) & set(rows)
        admitted = [i for i in sorted(chosen) if filters.admits(rows[i].passage)]
        scores = self.similarities(vector, admitted)
        best = sorted(admitted, key=lambda i: (-scores[i], i))[: max(top_k, 0)]
        return LegHits(tuple(LegHit(i, scores[i]) for i in best), len(rows), len(admitted))

    def blocks(self, filters: SearchFilters) -> Iterator[tuple[PassageIds, Vectors]]:
        """Every admissible passage's id and vector in one block; none without such passages."""
        rows = self._rows
        ids = [i for i in sorted(rows) if filters.admits(rows[i].passage)]
        if ids:
            yield np.array(ids, dtype=np.int64), np.stack([rows[i].vector for i in ids]).astype(np.float32)

    def similarities(self, vector: NDArray[np.float32], passage_ids: Sequence[int]) -> Mapping[int, float]:
        """Cosine in [-1, 1] per passage; ids without a vector are absent."""
        rows, known = self._rows, [i for i in passage_ids if i in self._rows]
        if not known:
            return {}
        cosines = np.stack([rows[i].vector for i in known]) @ _unit(vector)
        return dict(zip(known, np.clip(cosines, -1, 1).tolist(), strict=True))

    def vectors(self, passage_ids: Sequence[int]) -> Mapping[int, NDArray[np.float32]]:
        """The vectors, of length 1; ids without one are absent."""
        rows = self._rows
        return {i: rows[i].vector.astype(np.float32) for i in passage_ids if i in rows}

    def count(self) -> int:
        """Passages with a vector."""
        return len(self._rows)

    def passage_ids(self) -> PassageIds:
        """Every passage with a vector, ascending."""
        return np.array(sorted(self._rows), dtype=np.int64)

    def discard(self, passage_ids: PassageIds) -> None:
        """Delete the vectors of these passages."""
        removed = set(passage_ids.tolist())
        self._rows = {i: row for i, row in self._rows.items() if i not in removed}

    def vacuum(self) -> None:
        """Nothing is in files."""


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float64]:
    wide = np.asarray(vector, dtype=np.float64).ravel()
    length = float(np.linalg.norm(wide))
    return wide / length if length > 0 else wide


class FakeSparseIndex:
    """Implements core.ports.stores.SparseIndex whose segments live in memory only. catalogue: what it is compared
    with; None agrees always."""

    def __init__(self, catalogue: Catalogue | None = None) -> None:
        self._catalogue = catalogue
        self._writing = Lock()
        self._bm25 = Bm25Scorer()

    def add(self, passages: Sequence[Passage]) -> None:
        """Store or replace."""
        if not passages:
            return
        fresh = build_segment(passages)
        with self._writing:
            older = [delete_rows(s, np.isin(s.ids, fresh.ids, assume_unique=True)) for s in self._bm25.segments]
            self._bm25 = Bm25Scorer(compact([*older, fresh]))

    def delete(self, document_ids: Sequence[int]) -> None:
        """Delete every passage of these documents."""
        with self._writing:
            removed = np.asarray(document_ids, dtype=np.int64)
            self._bm25 = Bm25Scorer([delete_rows(s, np.isin(s.documents, removed)) for s in self._bm25.segments])

    def search(self, terms: Sequence[str], admissible: PassageIds | None, top_k: int) -> LegHits:
        """Admissible passages with a score above 0, best first; ties by passage id."""
        return self._bm25.search(terms, admissible, top_k)

    def search_many(
        self, questions: Sequence[Sequence[str]], admissible: PassageIds | None, top_k: int
    ) -> Sequence[LegHits]:
        """What `search` gives for the terms of each question."""
        return [self.search(terms, admissible, top_k) for terms in questions]

    def explain(self, terms: Sequence[str], passage_ids: Sequence[int]) -> TermScores:
        """Per passage, the share of each term it holds."""
        return self._bm25.explain(terms, passage_ids)

    def contained_stems(self, stems: Sequence[str], passage_ids: Sequence[int]) -> NDArray[np.bool_]:
        """Which of these stems each indexed passage holds."""
        return self._bm25.contained_stems(stems, passage_ids)

    def passages_containing(self, terms: Sequence[str]) -> PassageIds:
        """The passages that hold every word of the terms, by stem."""
        return self._bm25.passages_containing(terms)

    def rarity(self, terms: Sequence[str]) -> Mapping[str, float]:
        """Inverse document frequency of each term, ≥ 0."""
        return self._bm25.rarity(terms)

    def count(self) -> int:
        """Passages indexed."""
        return self._bm25.count()

    def unused(self, stems: Sequence[str]) -> Sequence[str]:
        """Those of the stems that no passage contains."""
        return [each for each in stems if not any(has_stem(segment, each) for segment in self._bm25.segments)]

    def vacuum(self) -> None:
        """Nothing is in files."""

    def differences(self) -> tuple[int, int]:
        """How many passages are missing and how many left over."""
        missing, extra = self._compare()
        return len(missing), len(extra)

    def reconcile(self) -> tuple[int, int]:
        """Index what is missing, remove what is left over."""
        missing, extra = self._compare()
        if self._catalogue is not None:
            self.add(list(self._catalogue.passages(missing.tolist()).values()))
        with self._writing:
            self._bm25 = Bm25Scorer([delete_rows(s, np.isin(s.ids, extra)) for s in self._bm25.segments])
        return len(missing), len(extra)

    def _compare(self) -> tuple[PassageIds, PassageIds]:
        indexed = self.passages_containing([])
        filters = indexed if self._catalogue is None else self._catalogue.admissible(SearchFilters(archived=None))
        return np.setdiff1d(filters, indexed), np.setdiff1d(indexed, filters)


class FakeEntityGraph:
    """Implements core.ports.stores.EntityGraph by looking at every passage; what may be found the catalogue
    knows."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue, self._lock = catalogue, RLock()
        self._stored: dict[int, dict[str, tuple[Entity, frozenset[int]]]] = {}

    def add(self, passages: Sequence[Passage], entities: Sequence[Entity]) -> None:
        """Store the entities of these documents' passages, replacing earlier ones."""
        values = {entity.name: entity for entity in entities}
        holders: dict[int, dict[str, set[int]]] = {passage.document_id: {} for passage in passages}
        for passage in passages:
            for name in passage.entities:
                if name in values:
                    holders[passage.document_id].setdefault(name, set()).add(passage.id)
        with self._lock:
            for document_id, stored in holders.items():
                self._stored[document_id] = {name: (values[name], frozenset(ids)) for name, ids in stored.items()}

    def add_each(self, contents: Sequence[tuple[Sequence[Passage], Sequence[Entity]]]) -> None:
        """The same for several documents."""
        for passages, entities in contents:
            self.add(passages, entities)

    def delete(self, document_ids: Sequence[int]) -> None:
        """Delete the entities of these documents."""
        with self._lock:
            for document_id in document_ids:
                self._stored.pop(document_id, None)

    def known(self, names: Sequence[str]) -> Mapping[str, KnownEntity]:
        """Spelling asked for → its entity."""
        there = sorted(self._joined(), key=lambda each: (-each.passages, each.entity.name, each.entity.type))
        by_name: dict[str, KnownEntity] = {}
        by_alias: dict[str, KnownEntity] = {}
        for each in there:
            by_name.setdefault(each.entity.name.casefold(), each)
            for alias in each.entity.aliases:
                by_alias.setdefault(alias, each)
        found = {name: by_name.get(name.casefold()) or by_alias.get(name) for name in names}
        return {name: _bare(each) for name, each in found.items() if each is not None}

    def passages_naming(
        self, weights: Mapping[str, float], filters: SearchFilters, among: PassageIds | None, most: int
    ) -> Sequence[tuple[int, tuple[str, ...]]]:
        """Admissible passages that name any of these entities, by sum of weights, then by id."""
        found: list[tuple[float, int, tuple[str, ...]]] = []
        for passage in self._admissible(filters, among):
            stored = sum(weight for name, weight in weights.items() if name in passage.entities)
            if stored > 0:
                found.append((-stored, passage.id, passage.entities))
        return [(passage_id, names) for _, passage_id, names in sorted(found)[: max(most, 0)]]

    def rows(self, filters: SearchFilters, among: PassageIds | None) -> tuple[int, int]:
        """(passages in the library, passages that can be found)."""
        everything = len(self._catalogue.admissible(SearchFilters(archived=None)))
        return everything, sum(1 for _ in self._admissible(filters, among))

    def search(self, part: str, kind: EntityType | None, *, limit: int, offset: int = 0) -> EntityPage:
        """Entities whose name or alias contains `part`, by number of passages, then by name."""
        folded = part.strip().casefold()
        found = [
            each
            for each in self._joined()
            if kind in (None, each.entity.type)
            and any(folded in spelling.casefold() for spelling in (each.entity.name, *each.entity.aliases))
        ]
        found.sort(key=lambda each: (-each.passages, each.entity.name, each.entity.type))
        return EntityPage(tuple(found[offset : offset + limit]), len(found))

    def mentions(self, name: str, kind: EntityType, *, limit: int, offset: int = 0) -> MentionPage:
        """The living documents that mention an entity, most passages first, then the newest."""
        with self._lock:
            values = {
                i: fields[name][1]
                for i, fields in self._stored.items()
                if name in fields and fields[name][0].type == kind
            }
        living = {
            i: values[i]
            for i, document in self._catalogue.documents_by_id(sorted(values)).items()
            if values[i] and not document.archived and document.state is not DocumentState.FAILED
        }
        found = sorted(living, key=lambda i: (-len(living[i]), -i))
        entries = [EntityMentions(i, len(living[i]), min(living[i])) for i in found[offset : offset + limit]]
        return MentionPage(tuple(entries), len(living))

    def _admissible(self, filters: SearchFilters, among: PassageIds | None) -> Iterator[Passage]:
        ids = self._catalogue.admissible(filters).tolist()
        chosen = set(ids) if among is None else set(ids) & set(among.tolist())
        yield from self._catalogue.passages(sorted(chosen)).values()

    def _joined(self) -> list[KnownEntity]:
        """Every entity of living documents, with what all of them tell of it."""
        with self._lock:
            values = dict(self._stored)
        counts: dict[tuple[str, EntityType], int] = {}
        aliases: dict[tuple[str, EntityType], set[str]] = {}
        for document_id, document in self._catalogue.documents_by_id(sorted(values)).items():
            if document.archived or document.state is DocumentState.FAILED:
                continue
            for entity, ids in values[document_id].values():
                key = (entity.name, entity.type)
                counts[key] = counts.get(key, 0) + len(ids)
                aliases.setdefault(key, set()).update(entity.aliases)
        return [KnownEntity(Entity(*key, tuple(sorted(aliases[key]))), number) for key, number in counts.items()]


def _bare(known: KnownEntity) -> KnownEntity:
    return replace(known, entity=replace(known.entity, aliases=()))


class FakeWordVectorStore:
    """Implements core.search.query.expansion.WordVectorStore."""

    def __init__(self) -> None:
        self._words = WordVectors((), (), np.zeros((0, 0), dtype=np.int8))

    def missing(self, stems: Sequence[str]) -> Sequence[str]:
        """Those of the stems that are not stored yet."""
        known = set(self._words.stems)
        return [stem for stem in stems if stem not in known]

    def add(self, words: Mapping[str, str], codes: NDArray[np.int8]) -> None:
        """Store stem → word, with one row of codes each; existing words stay unchanged."""
        own = self._words
        values = {stem: (word, row) for stem, word, row in zip(own.stems, own.words, own.codes, strict=True)}
        fresh = {stem: (word, row) for (stem, word), row in zip(words.items(), codes, strict=True)}
        values = dict(sorted((fresh | values).items()))
        if len(values) > len(own.stems):
            rows = np.stack([row for _, row in values.values()])
            self._words = WordVectors(tuple(values), tuple(word for word, _ in values.values()), rows)

    def discard(self, stems: Sequence[str]) -> None:
        """Delete the words with these stems."""
        own, removed = self._words, set(stems)
        remaining = [row for row, stem in enumerate(own.stems) if stem not in removed]
        if len(remaining) < len(own.stems):
            named = (tuple(each[row] for row in remaining) for each in (own.stems, own.words))
            self._words = WordVectors(*named, own.codes[remaining])

    def all(self) -> WordVectors:
        """All words known, by stem."""
        return self._words
