"""The desk of a library's memory: insights and episodes are kept here, and searchable from then on. One tenant."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from core.documents import Sector
from core.errors import BadRequest
from core.memories import Episode, Insight, Link, M, Memory, MemoryCounts, MemoryPage, MemoryQuery, MemoryStore
from core.moments import right_now
from core.notes.links import links_to, where
from core.notes.sectors import SectorReader, SectorSuggestion
from core.notes.shelf import NoteShelf
from core.notes.side import cleaned
from core.ports import Catalogue, Embedder, SparseIndex, VectorIndex
from core.search.fading import kept_share
from core.tables.factors import factor_table
from core.uses import UseLog

__all__ = ["MOST_LETTERS", "MOST_TAGS", "MemoryDesk"]

MOST_LETTERS = 20_000
MOST_TAGS = 30
_TAG_LETTERS = 60
_PER_PAGE = 20
_SECONDS_PER_DAY = 86_400
_ALL = MemoryQuery()


class MemoryDesk:
    """Keeps what analysts noted, and its searchable side in step with it.

    Whatever is kept is found by the next search, ranked among the documents; what is deleted is found by none. uses:
    what was used fades more slowly; None when nobody counts. Every method raises StoreFailed when a store does not
    answer, and what makes a text searchable also ModelUnavailable.
    """

    def __init__(
        self,
        *,
        store: MemoryStore,
        catalogue: Catalogue,
        vectors: VectorIndex,
        sparse: SparseIndex,
        embedder: Embedder,
        uses: UseLog | None = None,
        now: Callable[[], datetime] = right_now,
    ) -> None:
        self._store, self._catalogue, self._uses, self._now = store, catalogue, uses, now
        self._shelf = NoteShelf(store, catalogue, vectors, sparse, embedder)
        self._sectors = SectorReader(embedder)

    # Keeping

    def suggest_sector(self, text: str) -> SectorSuggestion:
        """Which kind of memory a text is, and why."""
        return self._sectors.suggest(cleaned(text))

    def save(
        self,
        text: str,
        *,
        tags: Sequence[str] = (),
        sector: Sector | None = None,
        links: Sequence[Link] = (),
        question: str = "",
        project: str | None = None,
        who: str = "",
    ) -> Insight:
        """Keep a note on evidence. sector: None to have it suggested. question: what was asked when it was noted.

        Raises BadRequest for a text that says nothing or is too long.
        """
        note = Insight(
            text=text,
            question=question,
            at=self._now(),
            who=who,
            project=project,
            tags=tuple(tags),
            links=tuple(dict.fromkeys(links)),
        )
        return self._kept(self._told(note, sector))

    def finish_episode(
        self,
        question: str,
        *,
        opened: Sequence[int] = (),
        reward: float = 0.0,
        reflection: str = "",
        tags: Sequence[str] = (),
        sector: Sector | None = Sector.EPISODIC,
        project: str | None = None,
        who: str = "",
    ) -> Episode:
        """Keep what came of a question. opened: passage ids, in the order they were opened. reward: in [-1, 1].

        sector: None to have it suggested from the reflection. Raises BadRequest for a question that says nothing and a
        reward out of its range.
        """
        lived = Episode(
            question=question,
            reward=reward,
            reflection=reflection,
            at=self._now(),
            who=who,
            project=project,
            tags=tuple(tags),
            links=links_to(self._catalogue, opened),
        )
        return self._kept(self._told(lived, sector))

    def _told(self, memory: M, sector: Sector | None) -> M:
        """With its sector: the one chosen, or the one suggested with its reason."""
        if sector is not None:
            return _checked(replace(memory, sector=sector, sector_reason=""))
        sound = _checked(memory)
        suggested = self._sectors.suggest(_own_words(sound))
        return replace(sound, sector=suggested.sector, sector_reason=suggested.reason)

    def _kept(self, memory: M) -> M:
        # Embedded before anything is kept: a model that is missing leaves no note behind that nobody finds.
        readied = self._shelf.readied(memory)
        return self._shelf.settled(self._store.add(memory), readied)

    # Changing

    def change(self, memory: M) -> M:
        """Keep what was changed of a memory that was read: text, tags, sector, project, links, reward, reflection.

        Raises Outdated when someone else changed it meanwhile, BadRequest for what cannot be kept, NotFound.
        """
        sound = replace(_checked(memory), changed_at=self._now())
        readied = self._shelf.readied(sound) if self._shelf.reads_anew(sound) else None
        return self._shelf.settled(self._store.change(sound), readied)

    def tag(self, memory: M, tags: Sequence[str]) -> M:
        """Give it these tags instead of its own. Raises what `change` raises."""
        return self.change(replace(memory, tags=tuple(tags)))

    def delete(self, memory: M) -> M:
        """Take it out of every search and list, until it is restored; its row stays. Raises Outdated, NotFound."""
        gone = replace(memory, deleted_at=memory.deleted_at or self._now())
        return self._shelf.settled(self._store.change(gone))

    def restore(self, memory: M) -> M:
        """Bring a deleted one back. Raises Outdated, NotFound."""
        back = replace(memory, deleted_at=None)
        readied = self._shelf.readied(back)
        return self._shelf.settled(self._store.change(back), readied)

    def reindex(self) -> int:
        """Make every searchable side anew, after another model or a lost index; how many there are."""
        memories: list[Memory] = [*self._store.every(Insight), *self._store.every(Episode)]
        return sum(self._shelf.settled(memory, anew=True).deleted_at is None for memory in memories)

    # Looking

    def insight(self, insight_id: int) -> Insight:
        """Living or deleted. Raises NotFound."""
        return self._store.find(Insight, insight_id)

    def episode(self, episode_id: int) -> Episode:
        """Living or deleted. Raises NotFound."""
        return self._store.find(Episode, episode_id)

    def insights(self, query: MemoryQuery = _ALL, page: int = 1, per_page: int = _PER_PAGE) -> MemoryPage[Insight]:
        """Newest first. Raises BadRequest unless page ≥ 1 and 1 ≤ per_page ≤ 100."""
        return self._store.listed(Insight, query, page, per_page)

    def episodes(self, query: MemoryQuery = _ALL, page: int = 1, per_page: int = _PER_PAGE) -> MemoryPage[Episode]:
        """Newest first. Raises BadRequest unless page ≥ 1 and 1 ≤ per_page ≤ 100."""
        return self._store.listed(Episode, query, page, per_page)

    def counts(self, kind: type[M], project: str | None = None) -> MemoryCounts:
        """Sectors and tags of the living ones, for the filters of a list."""
        return self._store.counts(kind, project)

    def about(self, document_ids: Sequence[int]) -> Sequence[Insight]:
        """Living insights that rest on any of these documents, newest first."""
        return self._store.about(Insight, document_ids)

    def behind(self, document_id: int) -> Memory | None:
        """The memory a search found under this document; None for a document proper, and for a deleted one."""
        found: Memory | None = self._store.behind(Insight, [document_id]).get(document_id)
        return found or self._store.behind(Episode, [document_id]).get(document_id)

    def where(self, links: Sequence[Link]) -> Mapping[Link, int]:
        """The passage each link leads to today; absent when its sentence is no longer in the library."""
        return where(self._catalogue, links)

    def strengths(self, memories: Sequence[Memory]) -> Sequence[float]:
        """How much of each one's strength has not faded by now, in (0, 1], in their order.

        exp(-age / S), S = base · (1 + ln(1 + uses)), the base in days by its sector: what the factor `strength` reads.
        """
        placed = [memory.document_id for memory in memories if memory.document_id]
        used = self._uses.uses(placed) if self._uses is not None and placed else {}
        base, now = factor_table()["strength"].by_value, self._now()
        return [
            kept_share(
                max((now - memory.at).total_seconds() / _SECONDS_PER_DAY, 0.0),
                base[memory.sector],
                used[memory.document_id].uses if memory.document_id in used else 0,
            )
            for memory in memories
        ]


def _own_words(memory: Memory) -> str:
    """What the person wrote: an insight's text, an episode's reflection."""
    if isinstance(memory, Insight):
        return memory.text
    return memory.reflection if isinstance(memory, Episode) else memory.told


def _checked(memory: M) -> M:
    """The memory as it can be kept. Raises BadRequest."""
    sound = replace(
        memory, tags=_tags(memory.tags), who=cleaned(memory.who), project=cleaned(memory.project or "") or None
    )
    if isinstance(sound, Insight):
        sound = replace(sound, text=_text(sound.text, "The note"), question=cleaned(sound.question)[:2000])
    elif isinstance(sound, Episode):
        if not -1 <= sound.reward <= 1:
            raise BadRequest(f"The outcome {sound.reward:g} is out of range.", "Give a number from -1 to 1.")
        question, reflection = _text(sound.question, "The question"), cleaned(sound.reflection)
        sound = replace(sound, question=question, reflection=_text(reflection, "The reflection") if reflection else "")
    return sound


def _text(text: str, what: str) -> str:
    clean = cleaned(text)
    if not any(letter.isalnum() for letter in clean):
        raise BadRequest(f"{what} is empty.", "Write at least a word.")
    if len(clean) > MOST_LETTERS:
        raise BadRequest(
            f"{what} is {len(clean):,} characters long.", f"Keep it to {MOST_LETTERS:,}; longer texts are documents."
        )
    return clean


def _tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Tags without blanks around them, each once whatever the capitals. Raises BadRequest."""
    kept: dict[str, str] = {}
    for tag in (" ".join(cleaned(tag).split()) for tag in tags):
        if len(tag) > _TAG_LETTERS:
            raise BadRequest(f"The tag '{tag[:30]}…' is too long.", f"Keep tags to {_TAG_LETTERS} characters.")
        if tag:
            kept.setdefault(tag.casefold(), tag)
    if len(kept) > MOST_TAGS:
        raise BadRequest(f"{len(kept)} tags are too many.", f"Keep to {MOST_TAGS}.")
    return tuple(kept.values())
