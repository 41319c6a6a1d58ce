"""A team signs in, in real browsers: at a real OpenID Connect provider, and at a proxy."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest

from tests.browser.driving import Window
from tests.running import RunningApp, free_port, running_app, until

pytestmark = pytest.mark.browser

ANN = {"sub": "ann", "email": "ann@example.com", "email_verified": True, "name": "Ann Björk"}
BEN = {"sub": "ben", "email": "ben@example.com", "email_verified": True, "name": "Ben Ode"}
EVE = {"sub": "eve", "email": "ann@example.com", "email_verified": False, "name": "Eve"}


@contextmanager
def provider() -> Iterator[str]:
    """An OpenID Connect provider that knows Ann, Ben and Eve; gives its address."""
    port = free_port()
    claims = [part for each in (ANN, BEN, EVE) for part in ("--user-claims", json.dumps(each))]
    command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port), *claims]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"

    def answers() -> bool:
        try:
            with urlopen(f"{address}/.well-known/openid-configuration", timeout=10) as answer:
                return bool(answer.status == 200)
        except URLError:
            return False

    try:
        until(answers, 60, "an answer of the provider")
        yield address
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture(scope="module")
def team(shared_folder: Path) -> Iterator[RunningApp]:
    """The app, for people who sign in at the provider."""
    with provider() as address:
        port = free_port()
        settings = {
            "FIVEFOLD_SIGN_IN": "oidc",
            "FIVEFOLD_PUBLIC_URL": f"http://127.0.0.1:{port}",
            "FIVEFOLD_OIDC_ISSUER": address,
            "FIVEFOLD_OIDC_CLIENT_ID": "fivefold",
            "FIVEFOLD_OIDC_CLIENT_SECRET": "a secret",
        }
        with running_app(shared_folder, port, **settings) as app:
            yield app


def sign_in(tab: Window, who: Mapping[str, object], path: str = "") -> None:
    """Open a page and sign in when asked."""
    # The provider names a style sheet on the internet, which tests do without.
    tab.context.route("**/*", lambda route: route.continue_() if "127.0.0.1" in route.request.url else route.abort())
    tab.go(path)
    tab.page.get_by_role("button", name="Sign in").click()
    tab.page.get_by_role("button", name=str(who["sub"]), exact=True).click()
    tab.page.wait_for_url(f"{tab.app.url}/**")
    tab.settle()


@pytest.mark.slow
def test_a_team_signs_in_with_openid_connect(team: RunningApp, window: Callable[..., Window]) -> None:
    ann, ben = window(team), window(team)
    ann.go("library")
    assert "Sign in to open this library." in ann.read() and "document" not in ann.read().lower()

    sign_in(ann, ANN, "settings?part=storage")
    assert ann.page.url == f"{team.url}/settings?part=storage"
    assert "Ann Björk" in ann.read()
    assert ann.page.get_by_label("Your name").count() == 0  # it is known

    sign_in(ben, BEN)
    assert "Ask an administrator" in ben.read()
    assert ben.page.get_by_role("link", name="Library").count() == 0

    eve = window(team)
    sign_in(eve, EVE)
    assert "has not verified your e-mail address" in eve.read() and "Ann" not in eve.read()


@pytest.mark.slow
def test_signing_out_ends_every_tab_of_the_browser(team: RunningApp, window: Callable[..., Window]) -> None:
    tab = window(team)
    sign_in(tab, ANN)
    cookies = tab.context.cookies()
    assert all(each["httpOnly"] for each in cookies if each["name"].startswith("_streamlit_user"))
    other = tab.context.new_page()
    other.goto(f"{team.url}/settings")
    other.get_by_text("Default profile").first.wait_for()

    tab.page.locator(".st-key-account button").first.click()
    tab.page.get_by_role("button", name="Sign out").click()
    tab.page.wait_for_url("**/oauth2/end_session**")

    other.get_by_role("radio", name="Storage").or_(other.get_by_role("button", name="Storage")).first.click()
    other.get_by_text("Your session has ended.").wait_for()
    assert other.get_by_text("Default profile").count() == 0

    tab.context.clear_cookies()
    tab.context.add_cookies([each for each in cookies if each["name"].startswith("_")])  # kept by somebody
    tab.go("library")
    assert "Your session has ended." in tab.read()


@pytest.mark.slow
def test_a_proxy_names_the_person_and_nobody_else_can(data_folder: Path, window: Callable[..., Window]) -> None:
    settings = {"FIVEFOLD_SIGN_IN": "proxy", "FORWARDED_ALLOW_IPS": ""}
    ann = {"X-Forwarded-User": "ann", "X-Forwarded-Preferred-Username": "Ann", "X-Forwarded-Email": "ann@example.com"}
    with running_app(data_folder, **settings, FIVEFOLD_PROXY_ADDRESSES="127.0.0.1") as app:
        through_proxy, direct = window(app, headers=ann), window(app)
        through_proxy.go("library")
        assert "Ann" in through_proxy.read() and "Administrator in every project" not in through_proxy.read()
        assert through_proxy.page.locator(".st-key-account").count() == 1
        direct.go("library")
        assert "You are not signed in." in direct.read()
    with running_app(data_folder, **settings, FIVEFOLD_PROXY_ADDRESSES="10.0.0.1") as app:
        for claimed in ({}, {"X-Forwarded-For": "10.0.0.1"}, {"Forwarded": "for=10.0.0.1"}):
            with pytest.raises(HTTPError) as refused:
                urlopen(Request(f"{app.url}/library", headers={**ann, **claimed}), timeout=30)
            assert refused.value.code == 403
            refused.value.close()
