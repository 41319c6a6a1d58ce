"""Two topics of one name, and files that were not read, as the Coverage page shows them."""

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.coverage.board_view import BoardView, apply_view, distinct_names, with_distinct_names
from core.domain.coverage import Board, Topic, TopicOrigin
from pages.components.coverage.board import table_data
from pages.components.coverage.review import queue_rows
from tests.screens.conftest import Opened, Stack, words
from tests.screens.test_coverage import assessed, pressed

ZEBRA = "Zebra husbandry"


@pytest.fixture
def board(stocked: Stack) -> Board:
    """The board of the whole library; the topic of all projects is worked on by Zoe."""
    stocked.workbench.coverage.add_topics([Topic(ZEBRA, project="Tallgrass"), Topic(ZEBRA, owner="Zoe")])
    assessed(stocked)
    found = stocked.workbench.coverage.board(None)
    assert found is not None
    return found


def drawn_map(screen: AppTest) -> list[Any]:
    """The columns of the map."""
    (chart,) = screen.get("plotly_chart")
    columns: list[Any] = json.loads(chart.proto.spec)["data"]
    return columns


def test_each_tile_of_the_map_opens_the_cell_of_its_own_row(board: Board, opened: Opened) -> None:
    screen = opened("coverage.py", view="Board")
    ids = [topic.id for topic in board.topics]
    assert len(set(ids)) == 2
    for column in drawn_map(screen):
        assert [topic_id for topic_id, _ in column["customdata"]] == ids
    assert "Zebra husbandry (Tallgrass)" in drawn_map(screen)[0]["hovertext"][0]


def test_the_table_gives_each_row_its_own_cells(board: Board) -> None:
    named = with_distinct_names(board)
    for shown in (named, board):
        rows = table_data(shown, apply_view(shown, BoardView(), {}))["rows"]
        assert [row["cells"][0]["id"] for row in rows] == [f"regulatory:{topic.id}" for topic in board.topics]


def test_a_cell_is_chosen_by_name_and_project(board: Board, opened: Opened) -> None:
    screen = opened("coverage.py", view="Board")
    chosen = next(each for each in screen.selectbox if each.label == "Open a cell")
    assert f"{ZEBRA} (all projects) · regulatory" in chosen.options
    for number, project in enumerate(("Tallgrass", "all projects")):
        chosen.set_value(f"regulatory:{board.topics[number].id}").run()
        assert screen.query_params["cell"] == f"regulatory:{board.topics[number].id}", project
        assert words(screen).count(f"# {ZEBRA}") == 1


def test_every_cell_can_be_chosen_for_the_agenda_of_a_meeting(board: Board, opened: Opened) -> None:
    screen = opened("coverage.py", view="Review")
    screen.session_state["meeting.how"] = "Cells I choose"
    pressed(screen, "Start a meeting")
    options = screen.multiselect(key="meeting.cells").options
    assert len(options) == len(set(options)) == len(board.cells)
    assert f"{ZEBRA} (Tallgrass) · intent" in options


def test_files_not_read_yet_are_counted_on_the_board_and_under_what_to_obtain(stocked: Stack, opened: Opened) -> None:
    stocked.jobs.run = lambda document_id: None
    stocked.add("zoo.md", "# Zoo\nZebra husbandry follows the keeper's plan.")
    assessed(stocked, ZEBRA)
    for view in ("Board", "To obtain"):
        screen = opened("coverage.py", view=view)
        assert "1 file was not read yet when this was assessed" in words(screen)
        assert "Open Upload" in [each.label for each in screen.page_link]


def test_the_review_tells_topics_of_one_name_apart(board: Board, stocked: Stack, opened: Opened) -> None:
    rows = queue_rows(stocked.workbench.coverage.queue(board), distinct_names(board))
    assert {row["topic"] for row in rows} == {"Zebra husbandry (Tallgrass)", "Zebra husbandry (all projects)"}
    screen = opened("coverage.py", view="Review", at=f"regulatory:{board.topics[0].id}")
    (first,) = [name for topic, name in distinct_names(board).items() if topic == board.topics[0].id]
    assert f"### {first}" in words(screen).replace("\\", "")


def test_what_to_obtain_names_the_project_of_such_topics(board: Board, opened: Opened) -> None:
    text = words(opened("coverage.py", view="To obtain")).replace("\\", "")
    assert "Zebra husbandry (Tallgrass)" in text and "Zebra husbandry (all projects)" in text


def test_traceability_tells_requirements_of_one_name_apart(stocked: Stack, opened: Opened) -> None:
    twins = [Topic(ZEBRA, project=each, origin=TopicOrigin.REQUIREMENT) for each in ("Tallgrass", None)]
    stocked.workbench.coverage.add_topics(twins)
    assessed(stocked)
    listed = opened("coverage.py", view="Requirements").dataframe[0].value["requirement"]
    assert sorted(listed) == ["Zebra husbandry (Tallgrass)", "Zebra husbandry (all projects)"]


def test_a_conflict_names_the_project_of_its_topic(stocked: Stack, opened: Opened) -> None:
    for name, truth, hours in (("act.md", "regulatory", 72), ("rules.md", "compliance", 96)):
        stocked.add(name, f"# {name}\n\nEmployees must report a data breach within {hours} hours of finding it.\n")
        stocked.workbench.documents.correct(stocked.workbench.documents.list()[0].id, "truth", truth)
    breach = "report a data breach"
    stocked.workbench.coverage.add_topics([Topic(breach, project="Tallgrass"), Topic(breach)])
    assessed(stocked)
    text = words(opened("coverage.py", view="Conflicts")).replace("\\", "")
    assert f"**{breach} (Tallgrass)**" in text or f"**{breach} (all projects)**" in text
