"""What somebody asks for in the address counts, and an echo of what the page wrote there before does not."""

from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from pages.components import urls

A, B, C = ({"q": [word]} for word in ("oil", "gas", "water"))


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A session of its own."""
    monkeypatch.setattr("streamlit.session_state", {})
    yield


def going_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(urls, "get_script_run_ctx", lambda: SimpleNamespace(is_history_navigation=True))


def test_a_part_that_said_nothing_yet_is_asked_by_any_address() -> None:
    assert urls.is_new_request("search", A) and urls.last_recorded("search", C) is C


def test_what_it_said_itself_asks_for_nothing_new() -> None:
    urls.record("search", A)
    urls.record("search", B)
    assert not urls.is_new_request("search", B) and urls.last_recorded("search") == B


def test_a_click_made_before_the_browser_heard_does_not_bring_back_the_old_address() -> None:
    for params in (A, B, C):
        urls.record("search", params)
    assert not urls.is_new_request("search", A) and not urls.is_new_request("search", B)
    assert urls.is_new_request("library", A)


def test_a_new_address_is_heard_and_so_is_going_back(monkeypatch: pytest.MonkeyPatch) -> None:
    urls.record("search", A)
    urls.record("search", B)
    assert urls.is_new_request("search", C)
    going_back(monkeypatch)
    assert urls.is_new_request("search", A) and not urls.is_new_request("search", B)


def test_an_old_address_is_no_echo_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(urls, "monotonic", lambda: now[0])
    urls.record("search", A)
    now[0] += 60
    urls.record("search", B)
    now[0] += 1.9
    assert not urls.is_new_request("search", A)
    now[0] += 0.2
    assert urls.is_new_request("search", A)
    urls.record("search", C)
    assert len(st_state("search")) == 2


def st_state(part: str) -> list[object]:
    import streamlit as st

    found: list[object] = st.session_state[f"address.{part}"]
    return found
