"""Digests and webhook events: little e-mail, nothing twice, and nothing to people who may no longer see it."""

from datetime import timedelta

import pytest

from core.collaboration.notifications import Notification, NotificationKind
from core.collaboration.team import Teammate
from core.domain.errors import FetchFailed
from core.ports.job_queue import FailedWork, JobKind
from tests.collaboration.room import Room, person

ANN, BO, CY = person("ann"), person("bo"), person("cy")


def deliver(room: Room) -> None:
    """What the worker does every minute."""
    room.jobs.work = lambda kind, number: {
        JobKind.MAIL: room.delivery.mail,
        JobKind.WEBHOOK: room.delivery.post,
    }[kind](number)
    room.delivery.queue_due()


def test_everything_new_is_one_e_mail() -> None:
    room = Room()
    room.comments.write(room.cell, "Is § 4 enough, @bo?\nI doubt it.", ANN)
    room.assignments.assign(room.cell, "Ask legal", "bo", ANN)
    deliver(room)
    [mail] = room.mailer.sent
    assert (mail.to, mail.subject) == ("bo@example.org", "Fivefold – 2 things for you")
    assert "Mentions" in mail.text and "Assignments" in mail.text and "Is § 4 enough, @bo? I doubt it." in mail.text
    assert "https://five.example/coverage?view=Review&at=intent%3A4&decided=true&project=north" in mail.text


def test_one_thing_is_named_in_the_subject() -> None:
    room = Room()
    room.comments.write(room.cell, "@bo?", ANN)
    deliver(room)
    assert room.mailer.sent[0].subject == "Fivefold – Ann mentioned you: Overtime"


def test_a_person_gets_one_e_mail_in_a_quarter_of_an_hour_and_then_the_rest_together() -> None:
    room = Room()
    room.comments.write(room.cell, "@bo 1", ANN)
    deliver(room)
    room.comments.write(room.cell, "@bo 2", ANN)
    room.comments.write(room.cell, "@bo 3 @cy", ANN)
    room.later(minutes=14)
    deliver(room)
    assert [mail.to for mail in room.mailer.sent] == ["bo@example.org", "cy@example.org"]
    room.later(minutes=1)
    deliver(room)
    deliver(room)
    assert len(room.mailer.sent) == 3 and room.mailer.sent[2].subject == "Fivefold – 2 things for you"


def test_what_was_read_on_home_is_not_mailed() -> None:
    room = Room()
    room.comments.write(room.cell, "@bo", ANN)
    room.notifications.mark_all_read(BO)
    deliver(room)
    assert room.mailer.sent == []


def test_nobody_is_mailed_what_they_do_not_want_and_it_is_not_kept_for_later() -> None:
    room = Room()
    room.notifications.choose(frozenset({NotificationKind.ASSIGNMENT}), BO)
    room.comments.write(room.cell, "@bo", ANN)
    deliver(room)
    room.notifications.choose(frozenset(NotificationKind), BO)
    room.later(hours=1)
    deliver(room)
    assert room.mailer.sent == []


def test_who_may_no_longer_see_it_is_not_told_by_mail_or_webhook() -> None:
    room = Room()
    room.comments.write(room.cell, "Secret, @cy", ANN)
    room.team.people = [Teammate("cy", "Cy", ("south",), "cy@example.org")]
    deliver(room)
    assert room.mailer.sent == [] and room.webhook.posted == []


def test_a_document_that_moved_away_is_not_told_either() -> None:
    room = Room()
    on = room.on_document("north")
    room.comments.write(on, "Secret, @cy", ANN)
    room.move(on, "south")
    deliver(room)
    assert room.mailer.sent == [] and room.webhook.posted == []


def test_a_result_of_a_followed_search_that_moved_away_is_not_told_either() -> None:
    room = Room()
    stays, moves = room.on_document("north"), room.on_document("north")
    documents = tuple(each.document_id or 0 for each in (stays, moves))
    room.store.save_notification(
        Notification(
            "cy", NotificationKind.SAVED_SEARCH, "saved search:1", "New", "", room.now, search_id=1, documents=documents
        )
    )
    room.move(moves, "south")
    deliver(room)
    assert stays.name in room.mailer.sent[0].text and moves.name not in room.mailer.sent[0].text
    assert [each["text"] for each in room.webhook.posted] == [f"In {stays.name}"]


def test_who_has_left_or_has_no_address_is_not_mailed() -> None:
    room = Room()
    room.comments.write(room.cell, "@bo @cy", ANN)
    room.team.people = [Teammate("cy", "Cy")]
    deliver(room)
    assert room.mailer.sent == [] and room.store.unmailed(room.now - timedelta(days=1)) == []


def test_a_mail_that_was_not_taken_is_sent_again() -> None:
    room = Room()
    room.comments.write(room.cell, "@bo", ANN)
    room.mailer.problem = FetchFailed("The mail server does not answer.")
    [waiting] = room.store.unmailed(room.now - timedelta(days=1))
    with pytest.raises(FetchFailed):
        room.delivery.mail(waiting.id)
    room.mailer.problem = None
    deliver(room)
    assert len(room.mailer.sent) == 1


def test_a_failed_delivery_is_tried_again_ten_minutes_later() -> None:
    room = Room(webhook=None)
    room.comments.write(room.cell, "@bo", ANN)
    [waiting] = room.store.unmailed(room.now)
    room.jobs.give_up(FailedWork(JobKind.MAIL, waiting.id, room.now, "The mail server does not answer.", ""))
    room.later(minutes=9)
    deliver(room)
    assert room.mailer.sent == []
    room.later(minutes=1)
    deliver(room)
    assert len(room.mailer.sent) == 1


def test_what_is_older_than_two_days_is_not_sent() -> None:
    room = Room()
    room.comments.write(room.cell, "@bo", ANN)
    room.later(days=2, seconds=1)
    deliver(room)
    assert room.mailer.sent == [] and room.webhook.posted == []


def test_each_event_is_posted_once() -> None:
    room = Room()
    room.comments.write(room.cell, "Look, @bo", ANN)
    deliver(room)
    deliver(room)
    [event] = room.webhook.posted
    assert event["event"] == "mention" and event["to"] == {"login": "bo", "name": "Bo"}
    assert event["about"] == {"kind": "cell", "name": "Overtime", "project": "north"}
    assert event["text"] == "Look, @bo" and event["url"].startswith("https://five.example/coverage?")


def test_without_settings_nothing_is_queued() -> None:
    room = Room(mailer=None, webhook=None)
    room.comments.write(room.cell, "@bo", ANN)
    queued: list[int] = []
    room.jobs.work = lambda kind, number: queued.append(number)
    room.delivery.queue_due()
    assert queued == [] and not room.delivery.mails


def test_a_long_list_is_cut_and_a_long_text_too() -> None:
    room = Room(pace=timedelta(0), site="")
    for _ in range(60):
        room.comments.write(room.cell, f"@bo {'word ' * 200}", ANN)
    deliver(room)
    [mail] = room.mailer.sent
    assert "… and 10 more on Home." in mail.text and "https://" not in mail.text
    assert all(len(line) < 310 for line in mail.text.splitlines())
