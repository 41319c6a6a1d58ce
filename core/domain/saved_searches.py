"""Saved searches, and which of their results a person has seen."""

from dataclasses import dataclass
from datetime import datetime

from core.domain.documents import Document
from core.domain.errors import BadRequest, NotFound, Outdated
from core.domain.queries import SearchRequest
from core.domain.results import SearchResult

__all__ = ["SavedSearch", "SavedSearchVisit", "VisitedResult", "no_view", "outdated_view", "view_name_taken"]


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """A saved search. The name is unique among the shared searches of its project, and among each owner's own there
    (case-insensitive).

    request: question, filters, profile and chips; its `top_k` is always None. shown: the tab of the results ("results",
    "five" …), as the page names it. owner: "" for a shared one. who: who saved it, "" when unknown. id: 0 until stored.
    version: for optimistic locking. retired: deleted; it can be restored.
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
        """The project, if exactly one is set; None for the whole library or several."""
        return self.request.filters.project

    @property
    def shared(self) -> bool:
        """Whether everybody can see it."""
        return not self.owner


@dataclass(frozen=True, slots=True)
class SavedSearchVisit:
    """How far one person has read a saved search. Units are names as core.evaluation.judgments.units makes them.

    at: when it was last shown. units: all results shown by then. since: end of the previous visit; at the first visit,
    its start. before: the units shown by then."""

    view_id: int
    who: str
    at: datetime
    units: tuple[str, ...]
    since: datetime | None = None
    before: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VisitedResult:
    """A saved search with its current result, and what is new for this person.

    since: end of their previous visit; None: first visit, nothing is new then. new: passage ids among the hits that had
    not been shown. added: documents uploaded since that its filters admit, newest first."""

    view: SavedSearch
    result: SearchResult
    since: datetime | None
    new: frozenset[int] = frozenset()
    added: tuple[Document, ...] = ()


# Errors that every store raises
def view_name_taken(view: SavedSearch) -> BadRequest:
    """A living view of the same project and owner has this name."""
    where = f"the project '{view.project}'" if view.project else "the whole library"
    whose = "a shared view" if view.shared else "a view of yours"
    return BadRequest(f"There is {whose} '{view.name}' of {where} already.", "Choose another name, or rename that one.")


def outdated_view(known: SavedSearch) -> Outdated:
    """Someone has changed this view since it was read."""
    done = "deleted" if known.retired else "changed"
    return Outdated(f"'{known.name}' has been {done} by someone else meanwhile.", "Look at the saved views again.")


def no_view(view_id: int) -> NotFound:
    """The view is not stored, or is somebody else's own."""
    return NotFound(f"Saved view {view_id} is not (or no longer) here.", "Look at the saved views again.")
