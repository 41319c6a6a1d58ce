"""Saved searches: named requests that are run again and show what is new since a person's last look."""

# Over 300 lines: the values, the port of the store and the service of one small feature.

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from typing import Any, Protocol

from core.domain.documents import Document, Passage
from core.domain.errors import BadRequest, NotFound, Outdated
from core.domain.filters import SearchFilters
from core.domain.people import Principal
from core.domain.queries import SearchRequest
from core.domain.results import DropReason, SearchResult
from core.evaluation.judgments.units import passage_unit
from core.ports.catalogue import Catalogue
from core.ports.stores import Profiles

__all__ = [
    "MOST_ADDED",
    "NewResults",
    "SavedSearch",
    "SavedSearchService",
    "SavedSearchStore",
    "SavedSearchVisit",
    "VisitedResult",
    "no_view",
    "outdated_view",
    "owner_of",
    "result_units",
    "same_search",
    "view_name_taken",
]


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """A saved search. The name is unique among the shared searches of its project, and among each owner's own there
    (case-insensitive).

    request: question, filters, profile and chips; its `top_k` is always None. shown: the tab of the results ("results",
    "five" …), as the page names it. owner: "" for a shared one, else with login as `owner_of` says; without a login it
    was saved by one of several people with this name, and nobody sees it. who: the name of who saved it, "" when
    unknown. id: 0 until stored. version: for optimistic locking. retired: deleted; it can be restored.
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
    login: str = ""

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

    login, who: as `owner_of` says. at: when it was last shown. units: all results shown by then. since: end of the
    previous visit; at the first visit, its start. before: the units shown by then."""

    view_id: int
    who: str
    at: datetime
    units: tuple[str, ...]
    since: datetime | None = None
    before: tuple[str, ...] = ()
    login: str = ""


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


class SavedSearchStore(Protocol):
    """Stores the saved searches of one tenant. Every method raises StoreFailed when the store does not respond."""

    def views(self, *, retired: bool = False) -> Sequence[SavedSearch]:
        """All active (or retired) saved searches of every owner, oldest first."""
        ...

    def view(self, view_id: int) -> SavedSearch:
        """One saved search, retired ones too. Raises NotFound."""
        ...

    def add_view(self, view: SavedSearch) -> SavedSearch:
        """Store a new saved search (id 0). Raises BadRequest when the name is taken."""
        ...

    def change_view(self, view: SavedSearch) -> SavedSearch:
        """Store a changed saved search with the version it was read with; returns it with its new version.

        Raises Outdated when someone else changed it, BadRequest when the name is taken, NotFound.
        """
        ...

    def visit(self, view_id: int, login: str, who: str) -> SavedSearchVisit | None:
        """How far this person has read a saved search; None: they never opened it."""
        ...

    def last_visits(self, login: str, who: str) -> Mapping[int, datetime]:
        """Saved search id → when this person last opened it; those never opened are absent."""
        ...

    def save_visit(self, visit: SavedSearchVisit) -> None:
        """Store how far a person has read, replacing the previous state. Raises NotFound for an unknown saved
        search."""
        ...


MOST_ADDED = 200
"""Documents uploaded since a look that are listed at most, newest first."""
_LONGEST_NAME = 80  # characters; chosen by hand
_ONE_LOOK = timedelta(minutes=30)
"""A return within this time continues the same look: new results stay new when the page is loaded again, and results
that arrive during a first look are new too. Chosen by hand, not fitted."""
_NOTED_AGAIN = timedelta(minutes=5)
_MOST_UNITS = 1000  # seen passages remembered per person and search; chosen by hand


@dataclass(frozen=True, slots=True)
class NewResults:
    """How many results of a saved search a person has not seen.

    found: results; new: those never shown to that person; since: that person's last visit; None: never, and then
    nothing counts as new. problem: why the search cannot be run, "" when it can.
    """

    view_id: int
    at: datetime
    found: int = 0
    new: int = 0
    since: datetime | None = None
    problem: str = ""


class SavedSearchService:
    """Stores saved searches, and which results each person has seen.

    search: runs a request without logging it. Where nobody signs in, people who have not given their name share one
    history, and what they save is shared. Every method raises StoreFailed when the store does not answer, and NotFound
    for a saved search that is not there or is another person's own.
    """

    def __init__(
        self,
        store: SavedSearchStore,
        search: Callable[[SearchRequest], SearchResult],
        catalogue: Catalogue,
        profiles: Profiles,
        now: Callable[[], datetime],
    ) -> None:
        self._store, self._search, self._catalogue = store, search, catalogue
        self._profiles, self._now = profiles, now

    # Views

    def views(self, project: str | None, by: Principal) -> Sequence[SavedSearch]:
        """The shared searches and a person's own, of a project and of the whole library (None: of all projects), by
        name.
        """
        found = [view for view in self._store.views() if _sees(by, view)]
        found = [view for view in found if project is None or view.project in (None, project)]
        return sorted(found, key=lambda view: (view.name.casefold(), view.id))

    def view(self, view_id: int, by: Principal) -> SavedSearch:
        """The current state of one saved search."""
        found = self._store.view(view_id)
        if not _sees(by, found):
            raise no_view(view_id)
        return found

    def save(self, name: str, request: SearchRequest, shown: str, by: Principal, *, shared: bool) -> SavedSearch:
        """Save a search under a name. shown: the tab of the result, as the page names it.

        Raises BadRequest for a taken or invalid name, for an empty question, and for a private search without a user
        name.
        """
        if not request.question.strip():
            raise BadRequest("There is no question to save.", "Ask one first.")
        login, owner = ("", "") if shared else owner_of(by)
        if not shared and not owner:
            raise BadRequest("A view of your own needs your name.", "Enter your name, or save it for everybody.")
        stripped = replace(request, question=request.question.strip(), top_k=None)
        now, who = self._now(), by.name.strip()
        return self._store.add_view(SavedSearch(_checked_name(name), stripped, shown, owner, who, now, login=login))

    def rename(self, view: SavedSearch, name: str, by: Principal) -> SavedSearch:
        """Rename a saved search. Raises BadRequest for a taken or invalid name, Outdated when someone else changed it
        since it was read.
        """
        return self._store.change_view(replace(self._allowed(view, by), name=_checked_name(name)))

    def delete(self, view: SavedSearch, by: Principal) -> SavedSearch:
        """Delete a saved search; `restore` undoes it with the returned value. Raises Outdated."""
        return self._store.change_view(replace(self._allowed(view, by), retired=True))

    def restore(self, view: SavedSearch, by: Principal) -> SavedSearch:
        """Restore a deleted saved search. Raises Outdated, and BadRequest when its name was taken meanwhile."""
        return self._store.change_view(replace(self._allowed(view, by), retired=False))

    def _allowed(self, view: SavedSearch, by: Principal) -> SavedSearch:
        self.view(view.id, by)
        return view

    def problems(self, views: Sequence[SavedSearch]) -> Mapping[int, str]:
        """View id → why it can no longer be run, for those whose profile was deleted."""
        missing: dict[str, str] = {}
        for ref in {view.request.profile for view in views if view.request.profile}:
            try:
                self._profiles.find(ref)
            except BadRequest as problem:
                missing[ref] = problem.message
        return {view.id: missing[view.request.profile] for view in views if view.request.profile in missing}

    def matching(self, request: SearchRequest, by: Principal) -> Sequence[SavedSearch]:
        """The saved searches, shared or a person's own, with this same request, own ones first."""
        found = [view for view in self.views(None, by) if same_search(view.request, request)]
        return sorted(found, key=lambda view: view.shared)

    # What is new

    def open(self, view: SavedSearch, by: Principal, result: SearchResult | None = None) -> VisitedResult:
        """The current result of a saved search, and what is new in it since this person's last look. `seen` records
        that it was shown.

        result: the result, when it is already known. Raises BadRequest when the search can no longer be run, as when
        its profile was deleted.
        """
        answer = self._answer(view) if result is None else result
        last = self._last(view.id, by)
        since, known = (None, ()) if last is None else (last.at, last.units)
        if last is not None and self._continues(last):
            since, known = last.since, last.before
        if since is None:
            return VisitedResult(view, answer, None)
        return VisitedResult(view, answer, since, _unknown(answer, known), self._added(answer.filters, since))

    def seen(self, looked: VisitedResult, by: Principal) -> None:
        """Record that the results were shown to this person: at the next look they are not new."""
        last, now, shown = self._last(looked.view.id, by), self._now(), result_units(looked.result)
        if last is None:
            units = shown[:_MOST_UNITS]
            login, who = owner_of(by)
            first = SavedSearchVisit(looked.view.id, who, now, units, since=now, before=units, login=login)
            self._store.save_visit(first)
            return
        fresh = set(shown) - set(last.units)
        if self._continues(last) and not fresh and now - last.at < _NOTED_AGAIN:
            return
        units = tuple(dict.fromkeys((*shown, *last.units)))[:_MOST_UNITS]
        if self._continues(last):
            self._store.save_visit(replace(last, at=now, units=units))
        else:
            self._store.save_visit(replace(last, at=now, units=units, since=last.at, before=last.units))

    def check(self, view: SavedSearch, by: Principal) -> NewResults:
        """How many results were never shown to this person; does not count as a look."""
        now = self._now()
        try:
            answer = self._answer(view)
        except BadRequest as problem:
            return NewResults(view.id, now, problem=problem.message)
        last = self._last(view.id, by)
        if last is None:
            return NewResults(view.id, now, len(answer.hits))
        return NewResults(view.id, now, len(answer.hits), len(_unknown(answer, last.units)), last.at)

    def run(self, view: SavedSearch) -> SearchResult:
        """The current result; does not count as a look. Raises BadRequest when the search can no longer be run."""
        return self._answer(view)

    def unseen(self, view: SavedSearch, by: Principal) -> Mapping[str, Passage]:
        """Unit → passage of all results that were never shown to this person, best first; does not count as a
        look. Raises BadRequest when the search can no longer be run."""
        answer, last = self._answer(view), self._last(view.id, by)
        shown = set(last.units) if last is not None else set()
        passages = [hit.candidate.passage for hit in answer.hits]
        return {unit: each for each in passages if (unit := _unit(answer, each)) not in shown}

    def last_visits(self, by: Principal) -> Mapping[int, datetime]:
        """View id → when this person last looked at it; views never looked at are absent."""
        return self._store.last_visits(*owner_of(by))

    # Inside

    def _answer(self, view: SavedSearch) -> SearchResult:
        try:
            return self._search(view.request)
        except BadRequest as problem:
            message = f"The saved view '{view.name}' can no longer be asked. {problem.message}"
            raise BadRequest(
                message, "Ask its question with another profile, then save that in its place."
            ) from problem

    def _last(self, view_id: int, by: Principal) -> SavedSearchVisit | None:
        return self._store.visit(view_id, *owner_of(by))

    def _continues(self, last: SavedSearchVisit) -> bool:
        return self._now() - last.at < _ONE_LOOK

    def _added(self, filters: SearchFilters, since: datetime) -> tuple[Document, ...]:
        """The documents uploaded since that resolved filters admit, newest first, at most MOST_ADDED."""
        late = self._catalogue.added_documents(
            since, archived=filters.archived, among=filters.documents, limit=MOST_ADDED
        )
        if not late:
            return ()
        admitted = self._catalogue.fingerprints(filters.replace(documents=tuple(each.id for each in late)))
        return tuple(each for each in late if each.id in admitted)


def owner_of(by: Principal) -> tuple[str, str]:
    """The login and the name under which a person's own searches and visits are stored: a name may be another person's,
    and may change. Only where nobody signs in, names are all there is to tell people apart.

    >>> from core.domain.people import Door, local_principal
    >>> owner_of(Principal("ann@x.org", "Ann", (), Door.BROWSER)), owner_of(local_principal(Door.BROWSER, "Ann"))
    (('ann@x.org', 'ann@x.org'), ('local', 'Ann'))
    """
    return by.login, by.name.strip() if by.local else by.login


def _sees(by: Principal, view: SavedSearch) -> bool:
    return view.shared or (view.login, view.owner) == owner_of(by)


def same_search(one: SearchRequest, other: SearchRequest) -> bool:
    """Whether two requests are the same search, whatever their top_k and the order of filter values.

    >>> both = SearchFilters(truths=("intent", "reality")), SearchFilters(truths=("reality", "intent"))
    >>> same_search(SearchRequest("Due?", both[0], top_k=20), SearchRequest("Due? ", both[1]))
    True
    """
    return _essence(one) == _essence(other)


def _essence(request: SearchRequest) -> tuple[Any, ...]:
    filters = [getattr(request.filters, each.name) for each in fields(SearchFilters)]
    sorted_ = [sorted(value) if isinstance(value, tuple) else value for value in filters]
    question = " ".join(request.question.split())
    return question, sorted_, request.profile, request.only_routed, sorted(request.removed_chips), request.rerank


def result_units(result: SearchResult) -> tuple[str, ...]:
    """The names of all passages that are results, on whatever page, and of those collapsed into a shown one."""
    known = {each.passage.id: each.passage for each in result.candidates}
    shown = {i: None for hit in result.hits for i in (hit.candidate.passage.id, *hit.similar)}
    shown |= {each.candidate.passage.id: None for each in result.dropped if each.reason is DropReason.BEYOND_MAX}
    return tuple(_unit(result, known[i]) for i in shown if i in known)


def _unit(result: SearchResult, passage: Passage) -> str:
    document = result.documents.get(passage.document_id)
    return passage_unit(document.sha256 if document is not None else f"document {passage.document_id}", passage)


def _unknown(result: SearchResult, known: Sequence[str]) -> frozenset[int]:
    """Ids of the passages among the hits whose names are not known."""
    shown_units = set(known)
    passages = [hit.candidate.passage for hit in result.hits]
    return frozenset(passage.id for passage in passages if _unit(result, passage) not in shown_units)


def _checked_name(name: str) -> str:
    tidy = " ".join(unicodedata.normalize("NFC", name).split())
    if not tidy:
        raise BadRequest("The view has no name.", "Give it one.")
    if len(tidy) > _LONGEST_NAME:
        problem = f"The name of a view has at most {_LONGEST_NAME} characters, this one has {len(tidy)}."
        raise BadRequest(problem, "Shorten it.")
    if not tidy.isprintable():
        raise BadRequest("The name of a view cannot hold control characters.", "Type it again.")
    return tidy
