"""Two people talk about a document: a mention and a task reach the other's Home, mailbox and webhook."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from aiosmtpd.controller import Controller

from tests.browser.driving import Window
from tests.collaboration.test_mail import Inbox
from tests.collaboration.test_webhook import Receiver
from tests.running import RunningApp, free_port, running_app, until

pytestmark = pytest.mark.browser

TEXT = "# Hangar safety\n\nA leaking helium bottle is carried out of the hangar within five minutes.\n"


def person(login: str) -> dict[str, str]:
    """What the proxy says of a person."""
    name = login.capitalize()
    return {
        "X-Forwarded-User": login,
        "X-Forwarded-Preferred-Username": name,
        "X-Forwarded-Email": f"{login}@example.com",
    }


@pytest.fixture
def inbox() -> Iterator[tuple[Inbox, int]]:
    """A mail server on this machine, and its port."""
    inbox, port = Inbox(), free_port()
    controller = Controller(inbox, hostname="127.0.0.1", port=port)
    controller.start()
    yield inbox, port
    controller.stop()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A webhook on this machine."""
    with Receiver.started() as receiver:
        yield receiver


@pytest.fixture
def team(data_folder: Path, inbox: tuple[Inbox, int], receiver: Receiver) -> Iterator[RunningApp]:
    """The app for people whom a proxy signs in; Ann is its administrator."""
    port = free_port()
    settings = {
        "FIVEFOLD_SIGN_IN": "proxy",
        "FIVEFOLD_PROXY_ADDRESSES": "127.0.0.1",
        "FORWARDED_ALLOW_IPS": "",
        "FIVEFOLD_FIRST_ROLE": "analyst",
        "FIVEFOLD_PUBLIC_URL": f"http://127.0.0.1:{port}",
        "FIVEFOLD_SMTP_URL": f"smtp://127.0.0.1:{inbox[1]}?tls=none",
        "FIVEFOLD_MAIL_FROM": "fivefold@example.com",
        "FIVEFOLD_WEBHOOK_URL": receiver.url,
        "FIVEFOLD_WEBHOOK_SECRET": "a secret",
        "FIVEFOLD_WEB_PRIVATE": "true",
    }
    with running_app(data_folder, port, **settings) as app:
        yield app


@pytest.mark.slow
def test_a_mention_and_a_task_reach_a_colleague(
    team: RunningApp, window: Callable[..., Window], inbox: tuple[Inbox, int], receiver: Receiver, tmp_path: Path
) -> None:
    ann, bo = window(team, headers=person("ann")), window(team, headers=person("bo"))
    bo.go()  # whoever has signed in once can be mentioned
    file = tmp_path / "Hangar_Safety.md"
    file.write_text(TEXT, "utf-8")
    ann.upload(file)
    team.read_by_now(1)

    ann.go("document", id="1")
    ann.page.get_by_role("button", name="Comments").click()
    ann.page.get_by_placeholder("Write a comment").fill("Is this the current rule?")
    ann.page.get_by_label("Mention").click()
    ann.page.get_by_role("option", name="Bo").click()
    ann.page.keyboard.press("Escape")
    ann.page.get_by_role("button", name="Comment", exact=True).click()
    ann.wait_for("Is this the current rule?", "just now")
    ann.page.get_by_text("Task", exact=True).click()
    ann.page.get_by_placeholder("What has to be done").fill("Ask the airfield")
    ann.page.get_by_label("Who").click()
    ann.page.get_by_role("option", name="Bo").click()
    ann.page.get_by_role("button", name="Assign", exact=True).click()
    ann.wait_for("Ask the airfield")
    assert not ann.barriers()

    bo.go()
    assert "Home · 2" in bo.wait_for("For you", "Ask the airfield", "Ann mentioned you")
    assert not bo.barriers()

    until(lambda: inbox[0].messages(), 180, "an e-mail")
    [mail] = inbox[0].messages()
    assert mail["To"] == "bo@example.com" and mail["Subject"] == "Fivefold – 2 things for you"
    address = next(line.strip() for line in mail.get_content().splitlines() if "/document?" in line)
    until(lambda: len(receiver.posted) == 2, 60, "two events at the webhook")
    assert all("webhook-signature" in headers for headers, _ in receiver.posted)

    bo.page.goto(address)
    bo.settle()
    bo.wait_for("Is this the current rule?", "Ask the airfield")
    bo.page.locator("[class*=st-key-icon-comments-document-1-done] button").first.click()
    bo.settle()
    bo.go()
    assert "For you" not in bo.read() and "Home ·" not in bo.read()
    ann.go()
    ann.wait_for("Home · 1", "Bo has done what you assigned")
