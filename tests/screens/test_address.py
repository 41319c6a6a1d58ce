"""The address that counts: what a page wrote, what the browser goes back to, and never an echo."""

from types import SimpleNamespace

import pytest

from pages.parts.address import Written


def run(query: str, *, back: bool = False) -> SimpleNamespace:
    """A run of a page, begun by a click, or by going back in the history."""
    return SimpleNamespace(query_string=query, is_history_navigation=back)


def page_that_wrote(*queries: str) -> Written:
    """A page whose runs wrote one address after the other, each heard by the browser."""
    written, before = Written("search", {}), ""
    for query in queries:
        going_on = run(before)
        assert written.begin(going_on) is None
        going_on.query_string = before = query
        written.end(going_on)
    return written


def test_a_click_made_before_the_browser_heard_does_not_bring_back_the_old_address() -> None:
    written = page_that_wrote("q=oil", "q=oil&documents=1", "q=oil&tags=a")
    assert written.begin(run("q=oil&documents=1")) == {"q": ["oil"], "tags": ["a"]}


def test_what_was_heard_in_time_counts() -> None:
    written = page_that_wrote("q=oil", "q=gas")
    assert written.begin(run("q=gas")) is None


def test_what_a_run_wrote_counts_though_it_has_not_yet_ended() -> None:
    written = page_that_wrote("q=oil&documents=1")
    slow = run("q=oil&documents=1")
    assert written.begin(slow) is None
    slow.query_string = "q=oil"
    fast = run("q=oil&documents=1")
    assert written.begin(fast) == {"q": ["oil"]}
    fast.query_string = "q=oil&tags=a"
    written.end(slow)
    written.end(fast)
    assert written.begin(run("q=oil")) == {"q": ["oil"], "tags": ["a"]}


def test_going_back_goes_back() -> None:
    written = page_that_wrote("q=oil", "q=gas")
    assert written.begin(run("q=oil", back=True)) is None


def test_a_new_address_is_heard_and_an_old_one_is_no_echo_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    written = page_that_wrote("q=oil", "q=gas")
    assert written.begin(run("q=water")) is None
    monkeypatch.setattr("pages.parts.address._ECHO_SECONDS", 0.0)
    assert written.begin(run("q=oil")) is None


def test_what_widgets_hold_is_the_browsers_and_no_echo() -> None:
    written = page_that_wrote("view=SQL&project=A", "view=SQL&project=B")
    assert written.begin(run("view=SQL&project=A"), ["project"]) is None
    written = page_that_wrote("view=Ask&project=A", "view=SQL&project=B")
    assert written.begin(run("view=Ask&project=C"), ["project"]) == {"view": ["SQL"]}
