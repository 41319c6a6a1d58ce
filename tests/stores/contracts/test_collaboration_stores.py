"""What every store of comments, assignments, notifications and alerts does."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta

import pytest
from sqlalchemy import Engine

from core.collaboration.assignments import Assignment, AssignmentStore
from core.collaboration.comments import Comment, CommentStore
from core.collaboration.notifications import (
    Notification,
    NotificationKind,
    NotificationPreferences,
    NotificationStore,
)
from core.collaboration.target import Target, TargetKind, on_cell, on_document
from core.domain.coverage import GapKind
from core.domain.errors import AccessDenied, NotFound, Outdated
from core.domain.queries import SearchRequest
from core.library.saved_search_alerts import SavedSearchAlert, SavedSearchAlertStore
from core.library.saved_searches import SavedSearch
from storage.postgres.catalogue import SqlCatalogue
from storage.postgres.comments import SqlAssignmentStore, SqlCommentStore
from storage.postgres.database import Scope
from storage.postgres.notifications import SqlNotificationStore
from storage.postgres.saved_searches import SqlSavedSearchAlertStore, SqlSavedSearchStore
from tests.database import new_tenant
from tests.fakes import (
    FakeAssignmentStore,
    FakeCommentStore,
    FakeNotificationStore,
    FakeSavedSearchAlertStore,
    FakeSavedSearchStore,
)
from tests.stores.contracts.usage import AT
from tests.stores.libraries import document as new_document

CELL = on_cell("Überstunden", 4, GapKind.INTENT, "north")


@dataclass(frozen=True, slots=True)
class Stores:
    """The stores of one tenant. document: a target that is stored. forget: deletes that document."""

    comments: CommentStore
    assignments: AssignmentStore
    notifications: NotificationStore
    alerts: SavedSearchAlertStore
    view_id: int
    document: Target
    forget: Callable[[], None] | None = None


@pytest.fixture(params=["memory", "postgres"])
def stores(request: pytest.FixtureRequest) -> Stores:
    """Empty stores of each kind, with one document and one saved search."""
    view = SavedSearch("Overtime", SearchRequest("overtime?"), "results", "", "Ann", AT)
    if request.param == "memory":
        return Stores(
            FakeCommentStore(),
            FakeAssignmentStore(),
            FakeNotificationStore(),
            FakeSavedSearchAlertStore(),
            FakeSavedSearchStore().add_view(view).id,
            on_document(replace(new_document(), id=1)),
        )
    database = new_tenant(request.getfixturevalue("engine"))
    catalogue = SqlCatalogue(database)
    stored = catalogue.add_document(new_document())
    return Stores(
        SqlCommentStore(database),
        SqlAssignmentStore(database),
        SqlNotificationStore(database),
        SqlSavedSearchAlertStore(database),
        SqlSavedSearchStore(database).add_view(view).id,
        on_document(stored),
        lambda: catalogue.delete(stored.id),
    )


def comment(on: Target, text: str = "It's “due”; --") -> Comment:
    """A comment of Ann's."""
    return Comment(on, text, "ann@example.org", "Ann", AT, ("bo",))


def assignment(on: Target, to: str = "bo", due: date | None = None) -> Assignment:
    """A task of Ann's."""
    return Assignment(on, "Ask Größe 残業", to, "Bo", "ann", "Ann", AT, due)


def notification(on: Target | None, to: str = "bo", key: str = "comment:1") -> Notification:
    """Something Bo should know."""
    return Notification(to, NotificationKind.MENTION, key, "Ann mentioned you", "Größe", AT, on)


# Comments


def test_comments_are_read_back_exactly_in_the_order_they_were_written(stores: Stores) -> None:
    passage = replace(stores.document, kind=TargetKind.PASSAGE, passage_id=7, page=2, quote="Größe – 残業")
    first, second = stores.comments.add_comment(comment(stores.document)), stores.comments.add_comment(comment(passage))
    cell = stores.comments.add_comment(comment(CELL))
    assert list(stores.comments.comments(stores.document.key)) == [first, second]
    assert list(stores.comments.comments(CELL.key)) == [cell]
    assert stores.comments.comment(second.id) == second and second.on == passage
    assert stores.comments.comments("document:999999") == []


def test_a_deleted_comment_is_not_listed_and_can_be_restored(stores: Stores) -> None:
    stored = stores.comments.add_comment(comment(CELL))
    deleted = stores.comments.change_comment(replace(stored, deleted_at=AT))
    assert stores.comments.comments(CELL.key) == [] and stores.comments.comment(stored.id) == deleted
    back = stores.comments.change_comment(replace(deleted, deleted_at=None))
    assert list(stores.comments.comments(CELL.key)) == [back]


def test_a_change_of_an_older_comment_is_refused(stores: Stores) -> None:
    stored = stores.comments.add_comment(comment(CELL))
    changed = stores.comments.change_comment(replace(stored, text="better"))
    with pytest.raises(Outdated):
        stores.comments.change_comment(replace(stored, text="worse"))
    assert stores.comments.comment(stored.id) == changed
    with pytest.raises(NotFound):
        stores.comments.change_comment(replace(stored, id=10**9))
    with pytest.raises(NotFound):
        stores.comments.comment(10**9)


def test_what_is_said_about_a_document_goes_with_it(stores: Stores) -> None:
    if stores.forget is None:
        pytest.skip("the fakes hold no documents")
    stored_comment = stores.comments.add_comment(comment(stores.document))
    given = stores.assignments.add_assignment(assignment(stores.document))
    stores.notifications.save_notification(notification(stores.document))
    stores.forget()
    with pytest.raises(NotFound):
        stores.comments.comment(stored_comment.id)
    with pytest.raises(NotFound):
        stores.assignments.assignment(given.id)
    assert stores.notifications.unread_count("bo") == 0
    with pytest.raises(NotFound, match="no longer"):
        stores.comments.add_comment(comment(stores.document))


# Assignments


def test_assignments_come_by_due_date_and_those_without_one_last(stores: Stores) -> None:
    later = stores.assignments.add_assignment(assignment(CELL, due=date(2026, 12, 24)))
    undated = stores.assignments.add_assignment(assignment(CELL))
    sooner = stores.assignments.add_assignment(assignment(stores.document, due=date(2026, 12, 1)))
    other = stores.assignments.add_assignment(assignment(CELL, "cy"))
    assert list(stores.assignments.assignments(to="bo")) == [sooner, later, undated]
    assert list(stores.assignments.assignments(key=CELL.key)) == [later, undated, other]
    assert list(stores.assignments.assignments(due_by=date(2026, 12, 1))) == [sooner]
    done = stores.assignments.change_assignment(replace(sooner, done_at=AT, done_by="Bo"))
    assert list(stores.assignments.assignments(done=True)) == [done]
    assert sooner.id not in {each.id for each in stores.assignments.assignments(done=False)}


def test_a_change_of_an_older_assignment_is_refused(stores: Stores) -> None:
    stored = stores.assignments.add_assignment(assignment(CELL))
    changed = stores.assignments.change_assignment(replace(stored, reminded=True))
    with pytest.raises(Outdated):
        stores.assignments.change_assignment(replace(stored, done_at=AT))
    assert stores.assignments.assignment(stored.id) == changed
    with pytest.raises(NotFound):
        stores.assignments.change_assignment(replace(stored, id=10**9))


# Notifications


def test_a_person_s_notifications_come_newest_first(stores: Stores) -> None:
    store = stores.notifications
    old = store.save_notification(notification(CELL))
    new = store.save_notification(replace(notification(stores.document, key="comment:2"), at=AT + timedelta(days=1)))
    store.save_notification(notification(CELL, to="cy"))
    assert list(store.notifications_of("bo")) == [new, old] and list(store.notifications_of("bo", limit=1)) == [new]
    assert store.unread_count("bo") == 2 and store.notification(old.id) == old
    with pytest.raises(NotFound):
        store.notification(10**9)


def test_a_later_notification_replaces_the_earlier_one_with_its_key_and_is_unread_again(stores: Stores) -> None:
    store = stores.notifications
    first = store.save_notification(notification(CELL))
    store.mark_read("bo", AT)
    store.mark_mailed([first.id], AT)
    store.mark_posted([first.id], AT)
    second = store.save_notification(replace(notification(CELL), title="Ann mentioned you again"))
    assert list(store.notifications_of("bo")) == [second] and second.read_at is None
    assert list(store.unmailed(AT)) == [second] and list(store.unposted(AT)) == [second]


def test_only_one_s_own_notifications_are_marked_as_read(stores: Stores) -> None:
    store = stores.notifications
    own, other = store.save_notification(notification(CELL)), store.save_notification(notification(CELL, to="cy"))
    second = store.save_notification(notification(CELL, key="comment:2"))
    store.mark_read("bo", AT, [own.id, other.id])
    assert list(store.notifications_of("bo", unread=True)) == [second]
    assert store.unread_count("cy") == 1 and store.notification(own.id).read_at == AT
    store.mark_read("bo", AT)
    assert store.unread_count("bo") == 0


def test_what_was_read_is_not_mailed(stores: Stores) -> None:
    store = stores.notifications
    read, unread = store.save_notification(notification(CELL)), store.save_notification(notification(CELL, to="cy"))
    store.mark_read("bo", AT)
    assert list(store.unmailed(AT)) == [unread]
    assert {each.id for each in store.unposted(AT)} == {read.id, unread.id}


def test_what_happened_long_ago_is_not_sent(stores: Stores) -> None:
    stores.notifications.save_notification(notification(CELL))
    later = AT + timedelta(microseconds=1)
    assert list(stores.notifications.unmailed(later)) == list(stores.notifications.unposted(later)) == []


def test_a_notification_that_says_something_else_stays_read_and_sent(stores: Stores) -> None:
    store = stores.notifications
    read, unread = store.save_notification(notification(CELL)), store.save_notification(notification(CELL, to="cy"))
    other = store.save_notification(notification(CELL, key="comment:2"))
    store.mark_read("bo", AT, [read.id])
    store.mark_mailed([unread.id], AT)
    store.reword_notifications(read.key, "Not “this”.")
    assert store.notification(read.id) == replace(read, text="Not “this”.", read_at=AT)
    assert store.notification(unread.id) == replace(unread, text="Not “this”.", mailed_at=AT)
    assert store.notification(other.id) == other


def test_a_notification_that_is_no_longer_so_is_deleted(stores: Stores) -> None:
    store = stores.notifications
    store.save_notification(notification(CELL))
    store.delete_notifications("cy", "comment:1")
    assert store.unread_count("bo") == 1
    store.delete_notifications("bo", "comment:1")
    assert store.unread_count("bo") == 0


def test_preferences_and_the_time_of_the_last_mail_do_not_overwrite_each_other(stores: Stores) -> None:
    store = stores.notifications
    assert store.preferences("bo") == NotificationPreferences("bo") and store.last_mailed("bo") is None
    store.record_mail("bo", AT)
    expected = NotificationPreferences("bo", frozenset({NotificationKind.MENTION}))
    store.save_preferences(expected)
    assert store.preferences("bo") == expected and store.last_mailed("bo") == AT
    store.record_mail("bo", AT + timedelta(hours=1))
    assert store.preferences("bo") == expected and store.last_mailed("bo") == AT + timedelta(hours=1)


# Alerts


def test_a_person_follows_a_saved_search_once(stores: Stores) -> None:
    alert = SavedSearchAlert(stores.view_id, "bo", "Bo", AT, AT, ("00ff:1:2",))
    first = stores.alerts.save_alert(alert)
    again = stores.alerts.save_alert(replace(alert, told=("00ff:1:3",)))
    assert again.id == first.id > 0 and list(stores.alerts.alerts()) == [again]
    other = stores.alerts.save_alert(replace(alert, login="cy"))
    assert list(stores.alerts.alerts("cy")) == [other] and stores.alerts.alert(first.id) == again


def test_an_alert_that_was_deleted_meanwhile_does_not_come_back(stores: Stores) -> None:
    stored = stores.alerts.save_alert(SavedSearchAlert(stores.view_id, "bo", "Bo", AT, AT))
    stores.alerts.delete_alert(stores.view_id, "bo")
    with pytest.raises(NotFound):
        stores.alerts.save_alert(stored)
    with pytest.raises(NotFound):
        stores.alerts.alert(stored.id)
    assert stores.alerts.alerts() == []


# What a person with some projects may see


def test_row_level_security_hides_what_is_said_about_what_a_person_may_not_see(engine: Engine) -> None:
    """Only documents and boards of their projects, and documents of all; whatever the code asks for."""
    whole = new_tenant(engine)
    catalogue, comments, notifications = SqlCatalogue(whole), SqlCommentStore(whole), SqlNotificationStore(whole)
    places = (None, "north", "south")
    documents = [on_document(catalogue.add_document(new_document(f"{place}.pdf", project=place))) for place in places]
    cells = [on_cell("Überstunden", 4, GapKind.INTENT, place) for place in places]
    stored_comment = [comments.add_comment(comment(on)) for on in (*documents, *cells)]
    tasks = [SqlAssignmentStore(whole).add_assignment(assignment(on)) for on in (*documents, *cells)]
    for number, on in enumerate((*documents, *cells, None)):
        notifications.save_notification(notification(on, key=f"key {number}"))
        notifications.save_notification(notification(on, "cy", key=f"key {number}"))
    north = replace(whole, scope=Scope(("north",), "bo"))
    visible = [0, 1, 4]
    for number, (each, task) in enumerate(zip(stored_comment, tasks, strict=True)):
        if number in visible:
            assert SqlCommentStore(north).comment(each.id) == each
            assert SqlAssignmentStore(north).assignment(task.id) == task
        else:
            with pytest.raises(NotFound):
                SqlCommentStore(north).comment(each.id)
            with pytest.raises(NotFound):
                SqlAssignmentStore(north).assignment(task.id)
    keys = {each.key for each in SqlNotificationStore(north).notifications_of("bo")}
    assert keys == {"key 0", "key 1", "key 4", "key 6"}
    with pytest.raises(AccessDenied):
        SqlCommentStore(north).add_comment(comment(documents[2]))
