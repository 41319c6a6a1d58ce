"""The feed of a saved search over HTTP: for its reader only, with a token where people sign in."""

from dataclasses import replace

import feedparser
import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from bootstrap.sign_in import SignIn
from core.domain.people import Door, Identity, Principal, Role, local_principal
from core.domain.queries import SearchRequest
from core.library.saved_searches import SavedSearch
from pages.components import sign_in
from pages.frame.feeds import saved_search_feed
from tests.screens.conftest import Stack

NOBODY = local_principal(Door.BROWSER)
QUESTION = "When must overtime be paid at one and one-half times the regular rate?"


@pytest.fixture
def client() -> TestClient:
    """A feed reader on this machine."""
    app = Starlette(routes=[Route("/feeds/saved-search/{number}", saved_search_feed)])
    return TestClient(app, base_url="http://localhost:8501")


@pytest.fixture
def view(stocked: Stack) -> SavedSearch:
    """A shared saved search."""
    return stocked.workbench.saved_searches.save("Overtime", SearchRequest(QUESTION), "results", NOBODY, shared=True)


def with_sign_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let people sign in by OpenID Connect."""
    rules = replace(sign_in.rules(), kind=SignIn.OIDC, public_origin="https://five.example")
    monkeypatch.setattr(sign_in, "rules", lambda: rules)


def token_of(stocked: Stack, person: Principal) -> str:
    return stocked.workbench.tokens.create("feed reader", Role.VIEWER, None, person)[1]


def test_one_person_reads_a_feed_on_this_machine_and_again_only_when_it_changed(
    client: TestClient, view: SavedSearch, stocked: Stack
) -> None:
    first = client.get(f"/feeds/saved-search/{view.id}")
    assert first.status_code == 200 and first.headers["content-type"].startswith("application/atom+xml")
    read = feedparser.parse(first.content)
    assert read.feed.title == "Overtime" and read.entries
    assert read.entries[0].link.startswith("http://localhost:8501/document?id=")
    same = {"If-None-Match": first.headers["etag"]}
    assert client.get(f"/feeds/saved-search/{view.id}", headers=same).status_code == 304
    stocked.add("new.md", "# New\nOvertime must be paid at twice the regular rate on holidays.\n")
    assert client.get(f"/feeds/saved-search/{view.id}", headers=same).status_code == 200


@pytest.mark.parametrize("number", ["0", "999", "abc", "-1", "1.5", "٣", "9" * 30, "1%00"])
def test_a_feed_that_is_not_there_is_not_found(client: TestClient, view: SavedSearch, number: str) -> None:
    assert client.get(f"/feeds/saved-search/{number}").status_code == 404


def test_where_people_sign_in_only_a_token_opens_a_feed(
    client: TestClient, view: SavedSearch, stocked: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = stocked.workbench.people.sign_in(Identity("ann", "Ann"), Door.BROWSER)
    with_sign_in(monkeypatch)
    address, token = f"/feeds/saved-search/{view.id}", token_of(stocked, ann)
    for wrong in ({}, {"token": "ff_wrong"}, {"token": ""}, {"token": f"{token}x"}):
        refused = client.get(address, params=wrong)
        assert refused.status_code == 401 and "Overtime" not in refused.text
    read = feedparser.parse(client.get(address, params={"token": token}).content)
    assert read.entries[0].link.startswith("https://five.example/document?id=")
    assert client.get(address, headers={"Authorization": f"Bearer {token}"}).status_code == 200
    [stored] = stocked.workbench.tokens.tokens(ann)
    stocked.workbench.tokens.revoke(stored.id, ann)
    assert client.get(address, params={"token": token}).status_code == 401


def test_a_feed_of_another_person_s_own_search_is_not_found(
    client: TestClient, stocked: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = stocked.workbench.people
    ann = people.sign_in(Identity("ann", "Ann"), Door.BROWSER)
    people.invite("bo", Role.REVIEWER)
    bo = people.sign_in(Identity("bo", "Bo"), Door.BROWSER)
    own = stocked.workbench.saved_searches.save("Mine", SearchRequest(QUESTION), "results", ann, shared=False)
    with_sign_in(monkeypatch)
    address = f"/feeds/saved-search/{own.id}"
    assert client.get(address, params={"token": token_of(stocked, bo)}).status_code == 404
    assert client.get(address, params={"token": token_of(stocked, ann)}).status_code == 200


def test_a_search_that_can_no_longer_be_run_is_told(client: TestClient, stocked: Stack) -> None:
    request = SearchRequest(QUESTION, profile="gone")
    view = stocked.workbench.saved_searches.save("Old", request, "results", NOBODY, shared=True)
    refused = client.get(f"/feeds/saved-search/{view.id}")
    assert refused.status_code == 400 and "can no longer be asked" in refused.text
