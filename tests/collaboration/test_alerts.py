"""Saved searches that notify: told once of what is new, never of what is known, seen or not theirs to see."""

from xml.etree import ElementTree

import feedparser
import pytest

from core.collaboration.notifications import NotificationService, Notifier
from core.domain.errors import AccessDenied, NotFound
from core.domain.people import Door, local_principal
from core.library.saved_search_alerts import AlertFollower, SavedSearchAlertService
from core.library.saved_searches import SavedSearchService
from core.ports.catalogue import DocumentContent
from core.ports.job_queue import JobKind
from tests.collaboration.room import person
from tests.fakes import FakeNotificationStore, FakeSavedSearchAlertStore, InlineJobs
from tests.search.test_saved_searches import Desk

ANN, BO = person("ann"), person("bo")
LAW = "Overtime rate: the overtime rate is one and one-half times the regular rate."


class AlertDesk(Desk):
    """A desk of saved searches that tells people. barred: logins of those who may no longer sign in."""

    def __init__(self) -> None:
        super().__init__()
        self.store, self.jobs, self.barred = FakeSavedSearchAlertStore(), InlineJobs(), set[str]()
        notifications = FakeNotificationStore()
        self.notifications = NotificationService(notifications, self.library.catalogue, self.clock)
        self.alerts = SavedSearchAlertService(
            self.store, self.views, self.seen_by, Notifier(notifications), self.jobs, self.clock
        )
        self.jobs.work = lambda kind, number: {JobKind.ALERT: self.alerts.check}[kind](number)

    def seen_by(self, login: str, name: str) -> SavedSearchService:
        """The saved searches as a person sees them."""
        if login in self.barred:
            raise AccessDenied("Blocked.")
        return self.views

    def messages(self) -> list[tuple[str, str]]:
        """What Ann has not read: titles and texts."""
        return [(each.title, each.text) for each in self.notifications.listed(ANN, unread=True)]


@pytest.fixture
def desk() -> AlertDesk:
    return AlertDesk()


def test_only_what_came_after_one_began_to_follow_is_told_and_only_once(desk: AlertDesk) -> None:
    view = desk.saved()
    desk.alerts.follow(view.id, ANN)
    desk.alerts.queue_all()
    assert desk.messages() == [] and desk.alerts.followed(ANN) == {view.id} and not desk.alerts.followed(BO)
    desk.add("new law.pdf", LAW)
    desk.alerts.queue_all()
    desk.alerts.queue_all()
    assert desk.messages() == [("“Overtime”: 1 new result", "In new law.pdf")]


def test_what_is_still_unseen_is_told_together_with_what_is_new(desk: AlertDesk) -> None:
    view = desk.saved()
    desk.alerts.follow(view.id, ANN)
    night = "The overtime rate doubles at night and on public holidays, by agreement of the works council."
    for name, text in (("first.pdf", LAW), ("second.pdf", night)):
        desk.add(name, text)
        desk.alerts.queue_all()
    [(title, text)] = desk.messages()
    assert title == "“Overtime”: 2 new results" and "first.pdf" in text and "second.pdf" in text
    desk.look(view, ANN)
    desk.add("third.pdf", "Drivers are paid no overtime rate; their hours are averaged over four weeks.")
    desk.alerts.queue_all()
    assert desk.messages() == [("“Overtime”: 1 new result", "In third.pdf")]


def test_a_result_that_moves_up_from_the_next_page_is_not_new(desk: AlertDesk) -> None:
    for number in range(12):
        desk.add(
            f"site {number}.pdf", f"The overtime rate of the site {chr(65 + number) * 7} is agreed by its council."
        )
    view = desk.saved()
    desk.alerts.follow(view.id, ANN)
    best = desk.views.run(view).hits[0].candidate.passage
    desk.library.catalogue.delete(best.document_id)
    desk.alerts.queue_all()
    assert desk.messages() == []


def test_what_a_person_has_seen_is_not_told(desk: AlertDesk) -> None:
    view = desk.saved()
    desk.alerts.follow(view.id, ANN)
    desk.add("new law.pdf", LAW)
    desk.look(view, ANN)
    desk.alerts.queue_all()
    assert desk.messages() == []


def test_who_unfollows_is_not_told_and_what_was_told_goes(desk: AlertDesk) -> None:
    view = desk.saved()
    desk.alerts.follow(view.id, ANN)
    desk.add("new law.pdf", LAW)
    desk.alerts.queue_all()
    desk.alerts.unfollow(view.id, ANN)
    assert desk.messages() == [] and not desk.alerts.followed(ANN)
    desk.add("newer law.pdf", LAW + " Again.")
    desk.alerts.queue_all()
    assert desk.messages() == []


def test_who_may_no_longer_sign_in_or_see_it_is_not_told_and_not_asked_again(desk: AlertDesk) -> None:
    own = desk.views.save("Mine", desk.saved().request, "results", ANN, shared=False)
    desk.alerts.follow(own.id, ANN)
    with pytest.raises(NotFound):
        desk.alerts.follow(own.id, BO)
    desk.barred.add("ann")
    desk.add("new law.pdf", LAW)
    desk.alerts.queue_all()
    assert desk.messages() == [] and desk.store.alerts() == []


def test_whoever_works_under_a_typed_name_is_told_of_a_search_of_their_own(desk: AlertDesk) -> None:
    here = local_principal(Door.BROWSER, "Ann")
    own = desk.views.save("Mine", desk.saved().request, "results", here, shared=False)
    desk.alerts.follow(own.id, here)
    desk.add("new law.pdf", LAW)
    desk.alerts.queue_all()
    assert [each.title for each in desk.notifications.listed(here, unread=True)] == ["“Mine”: 1 new result"]


def test_a_deleted_search_tells_nothing_until_it_is_restored(desk: AlertDesk) -> None:
    view = desk.saved()
    desk.alerts.follow(view.id, ANN)
    deleted = desk.views.delete(view, ANN)
    desk.add("new law.pdf", LAW)
    desk.alerts.queue_all()
    assert desk.messages() == []
    desk.views.restore(deleted, ANN)
    desk.alerts.queue_all()
    assert len(desk.messages()) == 1


def test_every_hour_each_is_checked_and_after_every_document(desk: AlertDesk) -> None:
    view = desk.saved()
    desk.alerts.follow(view.id, ANN)
    requested = desk.searches
    desk.alerts.queue_due()
    assert desk.searches == requested
    desk.later(hours=1)
    desk.alerts.queue_due()
    assert desk.searches == requested + 1
    document = desk.library.catalogue.documents()[0]
    AlertFollower(desk.alerts).follow([DocumentContent(document, (), (), desk.library.embedder.embed([]))])
    assert desk.searches == requested + 2


def test_a_notification_is_read_once_its_search_is_opened(desk: AlertDesk) -> None:
    view = desk.saved()
    desk.alerts.follow(view.id, ANN)
    desk.add("new law.pdf", LAW)
    desk.alerts.queue_all()
    desk.notifications.read_about(view.id + 1, ANN)
    assert desk.notifications.unread(ANN) == 1
    desk.notifications.read_about(view.id, ANN)
    assert desk.notifications.unread(ANN) == 0


# Feeds


def test_a_feed_reader_reads_the_results_newest_document_first(desk: AlertDesk) -> None:
    view = desk.saved("Overtime <& more>")
    desk.later(days=1)
    desk.add("new & <law>.pdf", LAW)
    read = feedparser.parse(desk.alerts.feed(view.id, ANN, "https://five.example/"))
    assert not read.bozo and read.feed.title == "Overtime <& more>" and read.feed.subtitle == view.request.question
    assert "new & <law>.pdf" in read.entries[0].title and "one and one-half" in read.entries[0].content[0].value
    assert read.entries[0].link.startswith("https://five.example/document?id=")
    assert len({entry.id for entry in read.entries}) == len(read.entries) > 1
    assert read.entries[0].updated_parsed > read.entries[-1].updated_parsed


def test_letters_that_xml_forbids_do_not_break_a_feed(desk: AlertDesk) -> None:
    view = desk.saved()
    desk.add("bad.pdf", f"{LAW} \x0b\x00\ufffe End.")
    ElementTree.fromstring(desk.alerts.feed(view.id, ANN, "https://five.example/"))


def test_nobody_reads_the_feed_of_another_person_s_search(desk: AlertDesk) -> None:
    own = desk.views.save("Mine", desk.saved().request, "results", ANN, shared=False)
    with pytest.raises(NotFound):
        desk.alerts.feed(own.id, BO, "https://five.example/")
    deleted = desk.views.delete(own, ANN)
    with pytest.raises(NotFound):
        desk.alerts.feed(deleted.id, ANN, "https://five.example/")
