"""Which passages name what, in dicts beside a catalogue in memory."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from threading import RLock

from core.documents import DocumentState, Passage
from core.entities import Entity, EntityPage, EntityType, KnownEntity
from core.filters import SearchFilters
from core.ports import Catalogue, PassageIds

__all__ = ["MemoryEntityGraph"]


class MemoryEntityGraph:
    """core.entities.EntityGraph by looking at every passage; what may be found the catalogue knows."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue, self._lock = catalogue, RLock()
        self._kept: dict[int, dict[str, tuple[Entity, frozenset[int]]]] = {}

    def add(self, passages: Sequence[Passage], entities: Sequence[Entity]) -> None:
        """Keep what these documents' passages name, in place of what was kept of them."""
        told = {entity.name: entity for entity in entities}
        holders: dict[int, dict[str, set[int]]] = {passage.document_id: {} for passage in passages}
        for passage in passages:
            for name in passage.entities:
                if name in told:
                    holders[passage.document_id].setdefault(name, set()).add(passage.id)
        with self._lock:
            for document_id, held in holders.items():
                self._kept[document_id] = {name: (told[name], frozenset(ids)) for name, ids in held.items()}

    def delete(self, document_ids: Sequence[int]) -> None:
        """Forget what these documents name."""
        with self._lock:
            for document_id in document_ids:
                self._kept.pop(document_id, None)

    def known(self, names: Sequence[str]) -> Mapping[str, KnownEntity]:
        """Asked spelling → the entity it names."""
        there = sorted(self._joined(), key=lambda each: (-each.passages, each.entity.name, each.entity.type))
        by_name: dict[str, KnownEntity] = {}
        by_alias: dict[str, KnownEntity] = {}
        for each in there:
            by_name.setdefault(each.entity.name.casefold(), each)
            for alias in each.entity.aliases:
                by_alias.setdefault(alias, each)
        found = {name: by_name.get(name.casefold()) or by_alias.get(name) for name in names}
        return {name: _bare(each) for name, each in found.items() if each is not None}

    def holding(
        self, weights: Mapping[str, float], filters: SearchFilters, among: PassageIds | None, most: int
    ) -> Sequence[tuple[int, tuple[str, ...]]]:
        """Admissible passages that name any of these, by the sum of the weights they hold, then by id."""
        found: list[tuple[float, int, tuple[str, ...]]] = []
        for passage in self._admissible(filters, among):
            held = sum(weight for name, weight in weights.items() if name in passage.entities)
            if held > 0:
                found.append((-held, passage.id, passage.entities))
        return [(passage_id, names) for _, passage_id, names in sorted(found)[: max(most, 0)]]

    def rows(self, filters: SearchFilters, among: PassageIds | None) -> tuple[int, int]:
        """(passages in the library, those that may be found)."""
        everything = len(self._catalogue.admissible(SearchFilters(archived=None)))
        return everything, sum(1 for _ in self._admissible(filters, among))

    def search(self, part: str, kind: EntityType | None, *, limit: int, offset: int = 0) -> EntityPage:
        """Entities whose name or alias holds `part`, those in most passages first, then by name."""
        folded = part.strip().casefold()
        found = [
            each
            for each in self._joined()
            if kind in (None, each.entity.type)
            and any(folded in spelling.casefold() for spelling in (each.entity.name, *each.entity.aliases))
        ]
        found.sort(key=lambda each: (-each.passages, each.entity.name, each.entity.type))
        return EntityPage(tuple(found[offset : offset + limit]), len(found))

    def _admissible(self, filters: SearchFilters, among: PassageIds | None) -> Iterator[Passage]:
        ids = self._catalogue.admissible(filters).tolist()
        chosen = set(ids) if among is None else set(ids) & set(among.tolist())
        yield from self._catalogue.passages(sorted(chosen)).values()

    def _joined(self) -> list[KnownEntity]:
        """Every entity of living documents, with what all of them tell of it."""
        with self._lock:
            kept = dict(self._kept)
        counts: dict[tuple[str, EntityType], int] = {}
        aliases: dict[tuple[str, EntityType], set[str]] = {}
        for document_id, document in self._catalogue.documents_by_id(sorted(kept)).items():
            if document.archived or document.state is DocumentState.FAILED:
                continue
            for entity, ids in kept[document_id].values():
                key = (entity.name, entity.type)
                counts[key] = counts.get(key, 0) + len(ids)
                aliases.setdefault(key, set()).update(entity.aliases)
        return [KnownEntity(Entity(*key, tuple(sorted(aliases[key]))), number) for key, number in counts.items()]


def _bare(known: KnownEntity) -> KnownEntity:
    return replace(known, entity=replace(known.entity, aliases=()))
