"""Named searches that are looked at again, and what a person has seen of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from core.documents import Document
from core.errors import BadRequest, NotFound, Outdated
from core.queries import SearchRequest
from core.results import SearchResult

__all__ = [
    "Looked",
    "SavedView",
    "ViewLook",
    "ViewStore",
    "no_view",
    "outdated_view",
    "view_name_taken",
]


@dataclass(frozen=True, slots=True)
class SavedView:
    """A search under a name. The name is unique among the shared views of its project, and among each owner's own
    there (case-insensitive).

    request: question, filters, profile and chips; its `top_k` is None, for how far one has looked is no part of it.
    shown: the side of the answer that is looked at ("results", "five" …), as the page names it. owner: whose it is, ""
    when it is shared. who: who saved it, "" when not said. id: 0 until stored. version: counts changes, so that nobody
    overwrites another's. retired: deleted; it can be brought back.
    """

    name: str
    request: SearchRequest
    shown: str
    owner: str
    who: str
    at: datetime
    id: int = 0
    retired: bool = False
    version: int = 1

    @property
    def project(self) -> str | None:
        """The one project it is narrowed to; None: the whole library, or several."""
        return self.request.filters.project

    @property
    def shared(self) -> bool:
        """Whether everybody sees it."""
        return not self.owner


@dataclass(frozen=True, slots=True)
class ViewLook:
    """How far one person has looked at one view. Units are names as core.tuning.units makes them.

    at: when something of it was last shown. units: every result there was up to then. since: when the look before this
    one ended; at the first look, when it began. before: the units there were by then.
    """

    view_id: int
    who: str
    at: datetime
    units: tuple[str, ...]
    since: datetime | None = None
    before: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Looked:
    """A view with its answer of now, and what is new in it to the person who looks.

    since: when that person had last looked; None: never, and then nothing is called new. new: ids of passages among
    the hits that had not been shown. added: documents uploaded since that its filters admit, newest first.
    """

    view: SavedView
    result: SearchResult
    since: datetime | None
    new: frozenset[int] = frozenset()
    added: tuple[Document, ...] = ()


class ViewStore(Protocol):
    """Keeps the views of one tenant. Every method raises StoreFailed when the store does not answer."""

    def views(self, *, retired: bool = False) -> Sequence[SavedView]:
        """Every living (or retired) view, whosever it is, in order of age."""
        ...

    def view(self, view_id: int) -> SavedView:
        """Retired ones too. Raises NotFound."""
        ...

    def add_view(self, view: SavedView) -> SavedView:
        """Store a new view (id 0). Raises BadRequest when the name is taken."""
        ...

    def change_view(self, view: SavedView) -> SavedView:
        """Store a changed view with the version it was read with; gives it with its new one.

        Raises Outdated when someone else changed it, BadRequest when the name is taken, NotFound.
        """
        ...

    def look(self, view_id: int, who: str) -> ViewLook | None:
        """How far this person has looked at a view; None: not at all."""
        ...

    def last_looks(self, who: str) -> Mapping[int, datetime]:
        """View id → when this person last looked at it; views never looked at are absent."""
        ...

    def save_look(self, look: ViewLook) -> None:
        """Store how far a person has looked, in place of what was known. Raises NotFound for an unknown view."""
        ...


# What every store says when it refuses


def view_name_taken(view: SavedView) -> BadRequest:
    """A living view of the same project and owner has this name."""
    where = f"the project '{view.project}'" if view.project else "the whole library"
    whose = "a shared view" if view.shared else "a view of yours"
    return BadRequest(f"There is {whose} '{view.name}' of {where} already.", "Choose another name, or rename that one.")


def outdated_view(known: SavedView) -> Outdated:
    """Someone has changed this view since it was read."""
    done = "deleted" if known.retired else "changed"
    return Outdated(f"'{known.name}' has been {done} by someone else meanwhile.", "Look at the saved views again.")


def no_view(view_id: int) -> NotFound:
    """The view is not stored, or is somebody else's own."""
    return NotFound(f"Saved view {view_id} is not (or no longer) here.", "Look at the saved views again.")
