"""Errors that nobody foresaw: a friendly notice with a reference number, and the details in the log only."""

import logging
import re

import pytest
from streamlit.testing.v1 import AppTest


def _page() -> None:
    import app

    app.on_script_error(IndexError("list index out of range in /secret/path.py"))


def _known() -> None:
    import app
    from core.domain.errors import NotFound

    app.on_script_error(NotFound("Document 7 is gone.", "Open the library."))


def _notices() -> None:
    from pages.components.notices import degraded, degraded_everywhere

    degraded_everywhere(["The model is another one."])
    degraded(["The model is another one.", "One leg failed."])


def test_an_unforeseen_error_is_a_notice_with_a_reference_and_its_details_are_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):
        screen = AppTest.from_function(_page).run()
    (notice,) = screen.error
    assert "secret" not in notice.value and "IndexError" not in notice.value
    found = re.search(r"reference number \*\*([0-9A-F]{8})\*\*", notice.value)
    assert found is not None and found.group(1) in caplog.text and "/secret/path.py" in caplog.text


def test_an_error_with_a_hint_keeps_its_words() -> None:
    screen = AppTest.from_function(_known).run()
    assert "Open the library" in screen.warning[0].value and not screen.error


def test_a_notice_at_the_top_of_the_page_is_not_repeated_with_its_results() -> None:
    screen = AppTest.from_function(_notices).run()
    for _ in range(2):  # also when the page is drawn again
        assert [each.value.replace("\\", "") for each in screen.warning] == [
            "The model is another one.",
            "One leg failed.",
        ]
        screen.run()


def test_the_app_hands_its_errors_to_this_notice() -> None:
    import app

    assert app.app._on_script_error is app.on_script_error  # the only trace of it outside a running server
