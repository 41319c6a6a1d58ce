"""Coverage: a board of topics and truths, a drawer per cell, gaps, and errors that are not gaps."""

import json
import time

from streamlit.testing.v1 import AppTest

from core.errors import StoreFailed
from tests.screens.conftest import Opened, Shelf, words


def _assessed(screen: AppTest) -> AppTest:
    """Run the page until its board stands (in a browser the page does this by itself)."""
    deadline = time.monotonic() + 30
    while any(button.label == "Stop" for button in screen.button):
        assert time.monotonic() < deadline, "the run did not end"
        time.sleep(0.05)
        screen.run()
    return screen


def test_an_empty_library_says_what_to_do(shelf: Shelf, opened: Opened) -> None:
    assert "Nothing to cover yet" in words(opened("coverage.py"))


def test_typed_topics_become_a_board_with_a_share_and_gaps(stocked: Shelf, opened: Opened) -> None:
    screen = opened("coverage.py")
    screen.text_area[0].set_value("Overtime pay\nZebra husbandry").run()
    next(each for each in screen.button if each.label == "Assess").click().run()
    said = words(_assessed(screen))
    assert "% covered" in said or "Nothing could be assessed" in said
    assert "**Zebra husbandry** – Obtain" in said
    assert screen.query_params["topic"] == ["Overtime pay", "Zebra husbandry"]


def test_a_url_opens_a_cell_with_its_threshold_and_exact_search(stocked: Shelf, opened: Opened) -> None:
    screen = _assessed(opened("coverage.py", topic=["Overtime pay"], cell="regulatory:Overtime pay"))
    assert {"Evidence", "Threshold", "Margin"} <= {each.label for each in screen.metric}
    assert "Open in Search" in [each.label for each in screen.page_link]


def test_a_failed_search_is_an_error_and_never_a_gap(stocked: Shelf, opened: Opened, monkeypatch) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise StoreFailed("The database went away.", "Start it again.")

    monkeypatch.setattr(stocked.workbench._searcher, "search", broken)
    monkeypatch.setattr(stocked.workbench._searcher, "search_many", broken, raising=False)
    screen = _assessed(opened("coverage.py", topic=["Overtime pay"], cell="regulatory:Overtime pay"))
    said = words(screen)
    assert "it is not a gap" in said and "Nothing could be assessed" in said
    assert "no gap is known" in said


def test_topics_that_cannot_be_topics_are_told(stocked: Shelf, opened: Opened) -> None:
    screen = opened("coverage.py")
    next(each for each in screen.button if each.label == "Assess").click().run()
    assert screen.warning


def test_the_board_can_be_taken_away_as_json(stocked: Shelf, opened: Opened) -> None:
    screen = _assessed(opened("coverage.py", topic=["Overtime pay"]))
    assert {each.label for each in screen.download_button} >= {"CSV", "JSON"}
    from core.coverage.report import board_data
    from pages.parts import session

    run = session.board_run(("Overtime pay",), None, start=False)
    assert run is not None and run.board is not None
    assert len(json.loads(json.dumps(board_data(run.board)))["cells"]) == 5
