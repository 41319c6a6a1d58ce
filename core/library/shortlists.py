"""Shortlists: named working sets of results, each with its quote, place and question, in an order people choose."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from core.domain.errors import BadRequest, NotFound, Outdated
from core.domain.results import Hit
from core.library.trash import REDACTED
from core.ports.catalogue import Catalogue
from core.search.citations.cite import CitationStyle, written

__all__ = [
    "Shortlist",
    "ShortlistItem",
    "ShortlistService",
    "ShortlistStore",
    "item_of",
    "no_shortlist",
    "outdated_shortlist",
    "shortlist_name_taken",
]


@dataclass(frozen=True, slots=True)
class ShortlistItem:
    """One result as it was when it was ticked, so that it outlives its document.

    place: the citation in full. truth: "" when unknown. note: what people wrote beside it."""

    question: str
    document_id: int
    document_name: str
    passage_id: int
    truth: str
    quote: str
    place: str
    at: datetime
    note: str = ""

    @property
    def key(self) -> tuple[int, str]:
        """What makes two items the same: a sentence of a document, also after the document was read again."""
        return self.document_id, self.quote


@dataclass(frozen=True, slots=True)
class Shortlist:
    """A working set. The name is unique among those in use (case-insensitive). id: 0 until stored. version: for
    optimistic locking. retired: deleted; it can be restored."""

    name: str
    who: str
    at: datetime
    items: tuple[ShortlistItem, ...] = ()
    id: int = 0
    retired: bool = False
    version: int = 1


# Errors that every store raises
def shortlist_name_taken(shortlist: Shortlist) -> BadRequest:
    """A shortlist in use has this name."""
    return BadRequest(f"There is a shortlist '{shortlist.name}' already.", "Choose another name.")


def outdated_shortlist(known: Shortlist) -> Outdated:
    """Someone has changed this shortlist since it was read."""
    done = "deleted" if known.retired else "changed"
    return Outdated(f"'{known.name}' has been {done} by someone else meanwhile.", "Open the shortlist again.")


def no_shortlist(shortlist_id: int) -> NotFound:
    """The shortlist is not stored."""
    return NotFound(f"There is no shortlist {shortlist_id}.", "Choose one of the list.")


class ShortlistStore(Protocol):
    """Stores the shortlists of one tenant. What is stored quotes no document that was deleted for good: REDACTED stands
    in place of the quote. Every method raises StoreFailed when the store does not respond."""

    def shortlists(self) -> Sequence[Shortlist]:
        """All shortlists in use, oldest first."""
        ...

    def shortlist(self, shortlist_id: int) -> Shortlist:
        """One shortlist, retired ones too. Raises NotFound."""
        ...

    def add_shortlist(self, shortlist: Shortlist) -> Shortlist:
        """Store a new shortlist (id 0). Raises BadRequest when the name is taken."""
        ...

    def change_shortlist(self, shortlist: Shortlist) -> Shortlist:
        """Store a changed shortlist with the version it was read with; returns it with its new version. Raises
        Outdated, BadRequest when the name is taken, NotFound."""
        ...


_LONGEST_NAME, _LONGEST_NOTE = 80, 2000  # characters; chosen by hand


class ShortlistService:
    """Keeps shortlists. Every method raises StoreFailed when the store does not answer, and those that change one
    raise NotFound, and Outdated when someone else changed it at the same moment.

    An item is named by itself as it was seen, wherever it is by now: a place may hold another one meanwhile."""

    def __init__(self, store: ShortlistStore, catalogue: Catalogue, now: Callable[[], datetime]) -> None:
        self._store, self._catalogue, self._now = store, catalogue, now

    def all(self) -> Sequence[Shortlist]:
        """All shortlists in use, oldest first."""
        return self._store.shortlists()

    def get(self, shortlist_id: int) -> Shortlist:
        """One shortlist in use. Raises NotFound."""
        found = self._store.shortlist(shortlist_id)
        if found.retired:
            raise no_shortlist(shortlist_id)
        return found

    def create(self, name: str, who: str) -> Shortlist:
        """A new, empty shortlist. Raises BadRequest for a taken or invalid name."""
        return self._store.add_shortlist(Shortlist(_checked_name(name), who.strip(), self._now()))

    def rename(self, shortlist_id: int, name: str) -> Shortlist:
        """Raises BadRequest for a taken or invalid name."""
        return self._store.change_shortlist(replace(self.get(shortlist_id), name=_checked_name(name)))

    def delete(self, shortlist_id: int) -> Shortlist:
        """Delete a shortlist; `restore` undoes it with the returned value."""
        return self._store.change_shortlist(replace(self.get(shortlist_id), retired=True))

    def restore(self, shortlist: Shortlist) -> Shortlist:
        """Restore a deleted shortlist. Raises BadRequest when its name was taken meanwhile."""
        return self._store.change_shortlist(replace(shortlist, retired=False))

    def add(self, shortlist_id: int, item: ShortlistItem) -> Shortlist:
        """Add an item at the end; one that is there already stays as it is."""
        found = self.get(shortlist_id)
        if item.key in {each.key for each in found.items}:
            return found
        return self._with(found, (*found.items, item))

    def remove(self, shortlist_id: int, item: ShortlistItem) -> Shortlist:
        """Remove an item. Raises Outdated when it is no longer there."""
        found = self.get(shortlist_id)
        index = _place_of(item, found)
        return self._with(found, (*found.items[:index], *found.items[index + 1 :]))

    def insert(self, shortlist_id: int, index: int, item: ShortlistItem) -> Shortlist:
        """Put an item back at its place, counted from 0."""
        found = self.get(shortlist_id)
        return self._with(found, (*found.items[:index], item, *found.items[index:]))

    def move(self, shortlist_id: int, item: ShortlistItem, step: int) -> Shortlist:
        """Move an item up (-1) or down (1); at an end it stays. Raises Outdated when it is no longer there."""
        found = self.get(shortlist_id)
        index = _place_of(item, found)
        target = index + step
        rest = [*found.items[:index], *found.items[index + 1 :]]
        if not 0 <= target < len(found.items):
            return found
        return self._with(found, (*rest[:target], found.items[index], *rest[target:]))

    def note(self, shortlist_id: int, item: ShortlistItem, text: str) -> Shortlist:
        """Write a note beside an item. Raises BadRequest when it is too long, and Outdated when the item is no longer
        there or has another note by now."""
        if len(text) > _LONGEST_NOTE:
            raise BadRequest(f"A note has at most {_LONGEST_NOTE:,} characters.", "Shorten it.")
        found = self.get(shortlist_id)
        index = _place_of(item, found)
        if found.items[index].note != item.note:
            raise outdated_shortlist(found)
        noted = replace(item, note=text.strip())
        return self._with(found, (*found.items[:index], noted, *found.items[index + 1 :]))

    def _with(self, shortlist: Shortlist, items: Sequence[ShortlistItem]) -> Shortlist:
        return self._store.change_shortlist(replace(shortlist, items=tuple(items)))

    def changes(self, shortlist: Shortlist) -> Mapping[int, str]:
        """Place of an item → what happened to its document since; places of unchanged items are absent."""
        documents = self._catalogue.documents_by_id([each.document_id for each in shortlist.items])
        passages = self._catalogue.passages([each.passage_id for each in shortlist.items])
        found: dict[int, str] = {}
        for index, item in enumerate(shortlist.items):
            document, passage = documents.get(item.document_id), passages.get(item.passage_id)
            if item.quote == REDACTED:
                found[index] = "The document was deleted for good, and its quote with it."
            elif document is None:
                found[index] = "The document was deleted; quote and place are as they were saved."
            elif passage is None or item.quote not in passage.text:
                found[index] = "The document was processed again; quote and place are as they were saved."
            elif document.archived:
                found[index] = "The document is archived."
        return found


def item_of(hit: Hit, question: str, now: datetime) -> ShortlistItem:
    """A result as an item of a shortlist: its best sentence, or its text where none is cited."""
    passage, best = hit.candidate.passage, next(iter(hit.citations), None)
    return ShortlistItem(
        question=question,
        document_id=passage.document_id,
        document_name=passage.document_name,
        passage_id=passage.id,
        truth=passage.truth.value if passage.truth else "",
        quote=best.quote if best and best.quote in passage.text else passage.text,
        place=written(best, CitationStyle.FULL) if best else passage.document_name,
        at=now,
    )


def _place_of(item: ShortlistItem, shortlist: Shortlist) -> int:
    """Where an item is now, from 0; its note may differ. All else counts, because quotes that are deleted for good are
    alike. Raises Outdated when it is no longer there."""
    for index, each in enumerate(shortlist.items):
        if replace(each, note=item.note) == item:
            return index
    raise outdated_shortlist(shortlist)


def _checked_name(name: str) -> str:
    tidy = " ".join(name.split())
    if not tidy or not tidy.isprintable():
        raise BadRequest("The shortlist has no name.", "Give it one.")
    if len(tidy) > _LONGEST_NAME:
        raise BadRequest(f"The name of a shortlist has at most {_LONGEST_NAME} characters.", "Shorten it.")
    return tidy
