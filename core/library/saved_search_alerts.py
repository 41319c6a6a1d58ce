"""Saved searches that notify whoever follows one of new results, on the pages and as an Atom feed."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol
from urllib.parse import urlencode
from xml.etree import ElementTree

from core.collaboration.notifications import Notification, NotificationKind, Notifier, results_in_words
from core.domain.documents import Origin, Passage
from core.domain.errors import AccessDenied, BadRequest, NotFound
from core.domain.people import Door, Principal
from core.domain.results import Hit, SearchResult
from core.domain.sanitize import storable_text
from core.evaluation.judgments.units import passage_unit
from core.library.saved_searches import SavedSearch, SavedSearchService, no_view, result_units
from core.ports.catalogue import DocumentContent
from core.ports.job_queue import JobKind, JobQueue
from core.search.citations.cite import CitationStyle, display_quote, written

__all__ = ["AlertFollower", "SavedSearchAlert", "SavedSearchAlertService", "SavedSearchAlertStore", "no_alert"]

_CHECK_AGAIN = timedelta(hours=1)
"""A search is checked so often even when no document was read: labels change, and documents are shared. Chosen by
hand."""
_MOST_TOLD = 5_000  # units remembered per alert: more than a search shows in years. Chosen by hand.


@dataclass(frozen=True, slots=True)
class SavedSearchAlert:
    """One person follows one saved search. login, who: of that person. known: the units of the results that were there
    when they began, on whatever page; told: of those they were told of since. id: 0 until stored."""

    view_id: int
    login: str
    who: str
    at: datetime
    checked_at: datetime
    known: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    id: int = 0


def no_alert(alert_id: int) -> NotFound:
    """Nobody follows this (any more)."""
    return NotFound(f"Alert {alert_id} is not (or no longer) here.", "Look at the saved searches again.")


class SavedSearchAlertStore(Protocol):
    """Stores who follows which saved search. Every method raises StoreFailed when the store does not respond."""

    def alerts(self, login: str | None = None) -> Sequence[SavedSearchAlert]:
        """All alerts, or those of one person, oldest first."""
        ...

    def alert(self, alert_id: int) -> SavedSearchAlert:
        """One alert. Raises NotFound."""
        ...

    def save_alert(self, alert: SavedSearchAlert) -> SavedSearchAlert:
        """Store a new alert (id 0), or a changed one; a person has one for a saved search at most. Raises NotFound for
        an unknown saved search."""
        ...

    def delete_alert(self, view_id: int, login: str) -> None:
        """Delete a person's alert, if there is one."""
        ...


class SavedSearchAlertService:
    """Tells people what is new in the saved searches they follow.

    searches: the saved searches as a library shows them. searches_of: the same as one person sees them, by login and
    name, so that nobody is told of what they may not see; raises AccessDenied for one who may no longer sign in. Every
    method raises StoreFailed when the store does not answer.
    """

    def __init__(
        self,
        store: SavedSearchAlertStore,
        searches: SavedSearchService,
        searches_of: Callable[[str, str], SavedSearchService],
        notifier: Notifier,
        jobs: JobQueue,
        now: Callable[[], datetime],
    ) -> None:
        self._store, self._searches, self._searches_of = store, searches, searches_of
        self._notifier, self._jobs, self._now = notifier, jobs, now

    def followed(self, by: Principal) -> Collection[int]:
        """Ids of the saved searches a person follows."""
        return frozenset(each.view_id for each in self._store.alerts(by.login))

    def follow(self, view_id: int, by: Principal) -> None:
        """Tell this person of new results from now on. Raises NotFound, and BadRequest when the search can no longer
        be run."""
        view = self._searches.view(view_id, by)
        now = self._now()
        known = result_units(self._searches.run(view))
        self._store.save_alert(SavedSearchAlert(view.id, by.login, by.name, now, now, known))

    def unfollow(self, view_id: int, by: Principal) -> None:
        """Stop telling this person."""
        self._store.delete_alert(view_id, by.login)
        self._notifier.withdraw(by.login, _key(view_id))

    def feed(self, view_id: int, by: Principal, site: str) -> bytes:
        """The results of a saved search as an Atom feed. site: the address people open, ending with "/". Raises
        NotFound, and BadRequest when the search can no longer be run."""
        view = self._searches.view(view_id, by)
        if view.retired:
            raise no_view(view_id)
        return atom_feed(view, self._searches.run(view), site)

    def queue_all(self) -> None:
        """Queue a check of every followed search: the library has changed."""
        self._jobs.defer(JobKind.ALERT, [each.id for each in self._store.alerts()])

    def queue_due(self) -> None:
        """Queue a check of those that were not checked for an hour."""
        latest = self._now() - _CHECK_AGAIN
        self._jobs.defer(JobKind.ALERT, [each.id for each in self._store.alerts() if each.checked_at <= latest])

    def check(self, alert_id: int) -> None:
        """Run a search as the person who follows it, and tell them what is new. Raises NotFound."""
        alert, now = self._store.alert(alert_id), self._now()
        by = Principal(alert.login, alert.who, (), Door.COMMAND)
        try:
            searches = self._searches_of(alert.login, alert.who)
            view = searches.view(alert.view_id, by)
        except (AccessDenied, NotFound):  # they may no longer see it, or it belongs to nobody any more
            self._store.delete_alert(alert.view_id, alert.login)
            return
        try:
            unseen = {} if view.retired else searches.unseen(view, by)
        except BadRequest:  # its profile was deleted; the list of saved searches says so
            unseen = {}
        fresh = [unit for unit in unseen if unit not in alert.known and unit not in alert.told]
        if fresh:
            notified = {*alert.told, *fresh}
            self._notifier.tell(
                [_notification(view, alert, [unseen[unit] for unit in unseen if unit in notified], now)]
            )
        self._store.save_alert(replace(alert, checked_at=now, told=(*alert.told, *fresh)[-_MOST_TOLD:]))


def _notification(
    view: SavedSearch, alert: SavedSearchAlert, passages: Sequence[Passage], now: datetime
) -> Notification:
    names = {each.document_id: each.document_name for each in passages}
    found = "1 new result" if len(passages) == 1 else f"{len(passages)} new results"
    return Notification(
        to=alert.login,
        kind=NotificationKind.SAVED_SEARCH,
        key=_key(view.id),
        title=f"“{view.name}”: {found}",
        text=results_in_words(list(names.values())),
        at=now,
        search_id=view.id,
        documents=tuple(names),
    )


def _key(view_id: int) -> str:
    return f"saved search:{view_id}"


class AlertFollower:
    """Checks followed searches when a document was read. Implements core.library.documents.Follower."""

    def __init__(self, alerts: SavedSearchAlertService) -> None:
        self._alerts = alerts

    def follow(self, read: Sequence[DocumentContent]) -> None:
        """Documents are searchable now."""
        self._alerts.queue_all()

    def forget(self, document_ids: Sequence[int]) -> None:
        """Nothing to tell: results that are gone are not new."""


_ATOM = "http://www.w3.org/2005/Atom"
_MOST_ENTRIES = 100  # chosen by hand


def atom_feed(view: SavedSearch, result: SearchResult, site: str) -> bytes:
    """The results of a saved search as XML in UTF-8. site: the address people open, ending with "/"."""
    feed = ElementTree.Element("feed", {"xmlns": _ATOM})
    entries = [
        _entry(hit, result, site) for hit in result.hits if hit.candidate.passage.document_id in result.documents
    ]
    entries.sort(key=lambda each: each[0], reverse=True)
    updated = entries[0][0] if entries else view.at
    _text(feed, "id", f"urn:fivefold:saved-search:{view.id}")
    _text(feed, "title", view.name)
    _text(feed, "subtitle", view.request.question)
    _text(feed, "updated", updated.isoformat())
    ElementTree.SubElement(ElementTree.SubElement(feed, "author"), "name").text = "Fivefold"
    ElementTree.SubElement(feed, "link", {"rel": "alternate", "href": f"{site}search?{urlencode({'saved': view.id})}"})
    feed.extend(entry for _, entry in entries[:_MOST_ENTRIES])
    written_out: bytes = ElementTree.tostring(feed, encoding="utf-8", xml_declaration=True)
    return written_out


def _entry(hit: Hit, result: SearchResult, site: str) -> tuple[datetime, ElementTree.Element]:
    """When its document was uploaded, and the entry of one result."""
    passage = hit.candidate.passage
    document = result.documents[passage.document_id]
    best = next(iter(hit.citations), None)
    entry = ElementTree.Element("entry")
    _text(entry, "id", f"urn:fivefold:passage:{passage_unit(document.sha256, passage)}")
    _text(entry, "title", written(best, CitationStyle.BRIEF) if best else document.name)
    _text(entry, "updated", document.uploaded_at.isoformat())
    _text(entry, "content", display_quote(best.quote if best else passage.text))
    if document.origin is Origin.DOCUMENT:
        mark = best.citation_id if best else str(passage.id)
        address = f"{site}document?{urlencode({'id': document.id, 'mark': mark})}"
        ElementTree.SubElement(entry, "link", {"rel": "alternate", "href": address})
    if passage.truth is not None:
        ElementTree.SubElement(entry, "category", {"term": passage.truth.value})
    return document.uploaded_at, entry


def _text(parent: ElementTree.Element, name: str, text: str) -> None:
    ElementTree.SubElement(parent, name).text = "".join(letter for letter in storable_text(text) if _in_xml(letter))


def _in_xml(letter: str) -> bool:
    """Whether XML 1.0 allows a character.

    >>> [_in_xml(letter) for letter in "a\\n\\x08"]
    [True, True, False]
    """
    return letter in "\t\n\r" or " " <= letter <= "\ud7ff" or "\ue000" <= letter <= "\ufffd" or letter > "\uffff"
