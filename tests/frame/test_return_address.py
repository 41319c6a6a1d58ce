"""People come back to the page they asked for, and to no other host."""

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from pages.frame.return_address import ReturnAddress


async def to_provider(_request: Request) -> Response:
    """Streamlit's way out."""
    return RedirectResponse("https://login.example.com/authorize", 302)


async def back(_request: Request) -> Response:
    """Streamlit's way back."""
    return RedirectResponse("/", 302)


def client() -> TestClient:
    """A browser whose cookies are kept."""
    app = Starlette(routes=[Route("/auth/login", to_provider), Route("/oauth2callback", back)])
    return TestClient(ReturnAddress(app), base_url="http://localhost:8501", follow_redirects=False)


@pytest.mark.parametrize("page", ["/", "/library", "/document?id=3&passage=12", "/search?q=%C3%BCber+%26+%2F%2F"])
def test_the_page_that_asked_for_sign_in_is_opened_after_it(page: str) -> None:
    browser = client()
    browser.get("/auth/login", headers={"referer": f"http://localhost:8501{page}"})
    assert browser.get("/oauth2callback").headers["location"] == page
    assert browser.get("/oauth2callback").headers["location"] == "/"  # once


@pytest.mark.parametrize(
    "referer",
    ["", "https://evil.example/library", "http://localhost:9999/library", "http://localhost:8501//evil.example"],
)
def test_a_page_of_another_host_is_not_kept(referer: str) -> None:
    browser = client()
    assert "set-cookie" not in browser.get("/auth/login", headers={"referer": referer}).headers


@pytest.mark.parametrize(
    "planted", ["//evil.example", "/%5Cevil.example", "https%3A%2F%2Fevil.example", "/a%0d%0aSet-Cookie: x", "evil"]
)
def test_a_planted_cookie_leads_to_no_other_host(planted: str) -> None:
    found = client().get("/oauth2callback", headers={"cookie": f"fivefold_return={planted}"})
    assert found.headers["location"] == "/"
