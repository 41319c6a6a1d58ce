"""Insights and episodes: save, change, delete and list them, with links to their evidence."""
# Longer than 300 lines: insights and episodes go through the same steps: stored, indexed, linked, restored.

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from core.domain.documents import Passage, Sector, Span
from core.domain.errors import BadRequest
from core.domain.results import Citation
from core.insights.indexer import InsightIndexer, clean_text
from core.insights.sectors import SectorClassifier, SectorSuggestion
from core.insights.store import (
    Episode,
    EvidenceLink,
    Insight,
    InsightCounts,
    InsightOrEpisode,
    InsightPage,
    InsightQuery,
    InsightStore,
    M,
)
from core.knowledge.factors import factor_table
from core.ports.catalogue import Catalogue
from core.ports.stores import Embedder, SparseIndex, VectorIndex
from core.search.ranking.factors import retention
from core.search.store import UsageLog

__all__ = ["MOST_LETTERS", "MOST_TAGS", "InsightService", "link_of", "links_to", "where"]


def link_of(citation: Citation) -> EvidenceLink:
    """The link to a cited sentence."""
    return EvidenceLink(
        citation.passage_id,
        citation.document_id,
        citation.document_name,
        citation.page_number,
        citation.start,
        citation.end,
        citation.quote,
    )


def links_to(catalogue: Catalogue, passage_ids: Sequence[int]) -> tuple[EvidenceLink, ...]:
    """Links to the first sentence of each of these passages, in order; deleted passages are skipped."""
    found = catalogue.passages(list(dict.fromkeys(passage_ids)))
    return tuple(_link_to(found[each]) for each in dict.fromkeys(passage_ids) if each in found)


def _link_to(passage: Passage) -> EvidenceLink:
    first = passage.sentences[0] if passage.sentences else Span(0, len(passage.text))
    start, end = passage.start + first.start, passage.start + first.end
    return EvidenceLink(
        passage.id, passage.document_id, passage.document_name, passage.page, start, end, first.of(passage.text)
    )


def where(catalogue: Catalogue, links: Sequence[EvidenceLink]) -> Mapping[EvidenceLink, int]:
    """The current passage of each link; absent when its sentence is no longer in the library.

    A document that was read again has new passages: the one that contains the quote is used, preferably on the same
    page.
    """
    passages = catalogue.passages([link.passage_id for link in links])
    found = {link: link.passage_id for link in links if link.passage_id in passages}
    texts: dict[int, Sequence[Passage]] = {}
    for link in links:
        if link in found:
            continue
        if link.document_id not in texts:
            texts[link.document_id] = catalogue.passages_of(link.document_id)
        holding = [passage for passage in texts[link.document_id] if link.quote in passage.text]
        if holding:
            found[link] = min(holding, key=lambda passage: (passage.page != link.page, passage.position)).id
    return found


# Limits of the form, in characters, tags and items per page. Chosen by hand.
MOST_LETTERS = 20_000

MOST_TAGS = 30

_TAG_LETTERS = 60

_PER_PAGE = 20

_SECONDS_PER_DAY = 86_400

_ALL = InsightQuery()


class InsightService:
    """Stores insights and episodes, and keeps their search index in step.

    A saved one is found by the next search, ranked among the documents; a deleted one is never found. uses: usage log,
    since what was used decays more slowly; None when usage is not tracked. embedded: called with the model of the
    vectors that were stored. Every method raises StoreFailed when a store
    does not answer; methods that index text also raise ModelUnavailable.
    """

    def __init__(
        self,
        *,
        store: InsightStore,
        catalogue: Catalogue,
        vectors: VectorIndex,
        sparse: SparseIndex,
        embedder: Embedder,
        uses: UsageLog | None = None,
        embedded: Callable[[str], None] = lambda model: None,
        now: Callable[[], datetime],
        indexer: InsightIndexer | None = None,
    ) -> None:
        """indexer: of the whole library, where these stores are those of a person: the searchable copy of a note on
        documents of several projects belongs to none of them. None: the stores are those of the whole library."""
        self._store, self._catalogue, self._uses, self._now = store, catalogue, uses, now
        self._indexer = indexer or InsightIndexer(store, catalogue, vectors, sparse, embedder, embedded)
        self._sectors = SectorClassifier(embedder)

    # Keeping

    def suggest_sector(self, text: str) -> SectorSuggestion:
        """Suggest the sector of a text, with the reason."""
        return self._sectors.suggest(clean_text(text))

    def save(
        self,
        text: str,
        *,
        tags: Sequence[str] = (),
        sector: Sector | None = None,
        links: Sequence[EvidenceLink] = (),
        question: str = "",
        project: str | None = None,
        who: str = "",
    ) -> Insight:
        """Save an insight on evidence. sector: None to have it suggested. question: the question asked at the time.

        Raises BadRequest for an empty text or one that is too long.
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
        return self._save(self._validate(note, sector))

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
        """Save the outcome of a question. opened: passage ids, in the order they were opened. reward: in [-1, 1].

        sector: None to have it suggested from the reflection. Raises BadRequest for an empty question and a reward out
        of range.
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
        return self._save(self._validate(lived, sector))

    def _validate(self, item: M, sector: Sector | None) -> M:
        """With its sector: the one chosen, or the one suggested with its reason."""
        if sector is not None:
            return _checked(replace(item, sector=sector, sector_reason=""))
        sound = _checked(item)
        suggested = self._sectors.suggest(_own_words(sound))
        return replace(sound, sector=suggested.sector, sector_reason=suggested.reason)

    def _save(self, item: M) -> M:
        # Embedded before anything is kept: a model that is missing leaves no note behind that nobody finds.
        prepared = self._indexer.prepare(item)
        return self._indexer.synchronize(self._store.add(item), prepared)

    # Changing

    def change(self, item: M) -> M:
        """Save the changes to an insight or episode: text, tags, sector, project, links, reward, reflection.

        Raises Outdated when someone else changed it meanwhile, BadRequest for invalid values, NotFound.
        """
        sound = replace(_checked(item), changed_at=self._now())
        prepared = self._indexer.prepare(sound) if self._indexer.needs_reindex(sound) else None
        return self._indexer.synchronize(self._store.change(sound), prepared)

    def tag(self, item: M, tags: Sequence[str]) -> M:
        """Replace its tags. Raises what `change` raises."""
        return self.change(replace(item, tags=tuple(tags)))

    def delete(self, item: M) -> M:
        """Remove it from every search and list until it is restored; its row stays. Raises Outdated, NotFound."""
        deleted = replace(item, deleted_at=item.deleted_at or self._now())
        return self._indexer.synchronize(self._store.change(deleted))

    def restore(self, item: M) -> M:
        """Bring a deleted one back. Raises Outdated, NotFound."""
        back = replace(item, deleted_at=None)
        prepared = self._indexer.prepare(back)
        return self._indexer.synchronize(self._store.change(back), prepared)

    def documents_moved(self, document_ids: Sequence[int]) -> None:
        """Documents changed their project: what cites them is found where they are. Raises StoreFailed."""
        items: list[InsightOrEpisode] = [
            *self._store.about(Insight, document_ids),
            *self._store.about(Episode, document_ids),
        ]
        for item in items:
            self._indexer.synchronize(item)

    def reindex(self) -> int:
        """Rebuild the index of all insights and episodes, after a model change or the loss of an index; returns their
        number.
        """
        items: list[InsightOrEpisode] = [*self._store.every(Insight), *self._store.every(Episode)]
        return sum(self._indexer.synchronize(item, anew=True).deleted_at is None for item in items)

    # Looking

    def insight(self, insight_id: int) -> Insight:
        """Living or deleted. Raises NotFound."""
        return self._store.find(Insight, insight_id)

    def episode(self, episode_id: int) -> Episode:
        """Living or deleted. Raises NotFound."""
        return self._store.find(Episode, episode_id)

    def insights(self, query: InsightQuery = _ALL, page: int = 1, per_page: int = _PER_PAGE) -> InsightPage[Insight]:
        """Newest first. Raises BadRequest unless page ≥ 1 and 1 ≤ per_page ≤ 100."""
        return self._store.listed(Insight, query, page, per_page)

    def episodes(self, query: InsightQuery = _ALL, page: int = 1, per_page: int = _PER_PAGE) -> InsightPage[Episode]:
        """Newest first. Raises BadRequest unless page ≥ 1 and 1 ≤ per_page ≤ 100."""
        return self._store.listed(Episode, query, page, per_page)

    def counts(self, kind: type[M], query: InsightQuery = _ALL) -> InsightCounts:
        """Counts beside the filters of a list; at first of all that are not deleted."""
        return self._store.counts(kind, query)

    def about(self, document_ids: Sequence[int]) -> Sequence[Insight]:
        """Living insights that link to any of these documents, newest first."""
        return self._store.about(Insight, document_ids)

    def behind(self, document_id: int) -> InsightOrEpisode | None:
        """The insight or episode of a pseudo-document; None for any other document, and for a deleted one."""
        found: InsightOrEpisode | None = self._store.behind(Insight, [document_id]).get(document_id)
        return found or self._store.behind(Episode, [document_id]).get(document_id)

    def where(self, links: Sequence[EvidenceLink]) -> Mapping[EvidenceLink, int]:
        """The current passage of each link; absent when its sentence is no longer in the library."""
        return where(self._catalogue, links)

    def strengths(self, items: Sequence[InsightOrEpisode]) -> Sequence[float]:
        """The current strength of each one after decay, in (0, 1], in order.

        exp(-age / S), S = base · (1 + ln(1 + uses)), age and base in days, base by sector; the ranking factor
        `strength` reads it.
        """
        placed = [item.document_id for item in items if item.document_id]
        used = self._uses.uses(placed) if self._uses is not None and placed else {}
        base, now = factor_table()["strength"].by_value, self._now()
        return [
            retention(
                max((now - item.at).total_seconds() / _SECONDS_PER_DAY, 0.0),
                base[item.sector],
                used[item.document_id].uses if item.document_id in used else 0,
            )
            for item in items
        ]


def _own_words(item: InsightOrEpisode) -> str:
    """What the person wrote: an insight's text, an episode's reflection."""
    if isinstance(item, Insight):
        return item.text
    return item.reflection if isinstance(item, Episode) else item.searchable_text


def _checked(item: M) -> M:
    """The insight or episode, validated and cleaned. Raises BadRequest."""
    sound = replace(
        item, tags=_tags(item.tags), who=clean_text(item.who), project=clean_text(item.project or "") or None
    )
    if isinstance(sound, Insight):
        sound = replace(sound, text=_text(sound.text, "The note"), question=clean_text(sound.question)[:2000])
    elif isinstance(sound, Episode):
        if not -1 <= sound.reward <= 1:
            raise BadRequest(f"The outcome {sound.reward:g} is out of range.", "Give a number from -1 to 1.")
        question, reflection = _text(sound.question, "The question"), clean_text(sound.reflection)
        sound = replace(sound, question=question, reflection=_text(reflection, "The reflection") if reflection else "")
    return sound


def _text(text: str, what: str) -> str:
    clean = clean_text(text)
    if not any(letter.isalnum() for letter in clean):
        raise BadRequest(f"{what} is empty.", "Write at least a word.")
    if len(clean) > MOST_LETTERS:
        raise BadRequest(
            f"{what} is {len(clean):,} characters long.", f"Keep it to {MOST_LETTERS:,}; longer texts are documents."
        )
    return clean


def _tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Tags without blanks around them, each once whatever the capitals. Raises BadRequest."""
    unique: dict[str, str] = {}
    for tag in (" ".join(clean_text(tag).split()) for tag in tags):
        if len(tag) > _TAG_LETTERS:
            raise BadRequest(f"The tag '{tag[:30]}…' is too long.", f"Keep tags to {_TAG_LETTERS} characters.")
        if tag:
            unique.setdefault(tag.casefold(), tag)
    if len(unique) > MOST_TAGS:
        raise BadRequest(f"{len(unique)} tags are too many.", f"Keep to {MOST_TAGS}.")
    return tuple(unique.values())
