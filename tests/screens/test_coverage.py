"""Coverage: topics become a board, a board is reviewed, and what was found or decided is told as it is."""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from io import BytesIO
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.coverage.board_view import VisibleBoard, needs_in_words
from core.coverage.meeting_pack.pack import MeetingPack, pack_data
from core.coverage.meeting_pack.pdf import pack_pdf
from core.coverage.meeting_pack.xlsx import pack_xlsx
from core.coverage.topics import as_before, with_needs
from core.domain.coverage import CellState, ReviewerOpinion, ReviewVerdict, RunState, Topic
from core.domain.documents import Truth
from core.domain.errors import StoreFailed
from pages.components import background
from pages.components.coverage import state
from pages.components.coverage.board import table_data
from pages.components.coverage.review import queue_rows
from tests.screens.conftest import Opened, Stack, words

HOSTILE = "=1+1 :red[x] <b>$5</b>"


def assessed(library: Stack, *names: str, project: str | None = None) -> None:
    """Keep topics and judge them."""
    desk = library.workbench.coverage
    desk.add_topics([Topic(name) for name in names])
    desk.runs.carry_out(desk.runs.start(project).id)


def pressed(screen: AppTest, label: str) -> AppTest:
    """Press the button of that label."""
    next(each for each in screen.button if each.label == label).click()
    return screen.run()


def ended(screen: AppTest) -> AppTest:
    """Run the page until the run under way has ended (in a browser the page does this by itself)."""
    deadline = time.monotonic() + 30
    while any(button.label == "Stop" for button in screen.button):
        assert time.monotonic() < deadline, "the run did not end"
        time.sleep(0.05)
        screen.run()
    return screen


def cell_key(library: Stack, topic: str, truth: Truth) -> str:
    number = next(each.id for each in library.workbench.coverage.topics(None) if each.name == topic)
    return f"{truth.value}:{number}"


def test_an_empty_library_says_what_to_do(library: Stack, opened: Opened) -> None:
    screen = opened("coverage.py")
    assert "Nothing to cover yet" in words(screen)
    assert {"Load the sample library", "Upload your own files"} <= {each.label for each in screen.page_link}


def test_a_library_that_is_still_read_is_not_told_to_be_filled(library: Stack, opened: Opened) -> None:
    library.jobs.run = lambda document_id: None
    library.add("later.md", "# Later\nThis one waits for its turn.")
    screen = opened("coverage.py")
    assert "Reading: 0 of 1 document done" in screen.get("progress")[0].text
    assert "Load the sample library" not in [each.label for each in screen.page_link]


def test_what_is_to_be_obtained_is_counted_in_cells_because_partial_ones_are_no_gaps(
    stocked: Stack, opened: Opened
) -> None:
    assessed(stocked, "Overtime pay", "Zebra husbandry")
    board = stocked.workbench.coverage.board(None)
    assert board is not None
    assert needs_in_words(board) in words(opened("coverage.py", view="Board"))
    assert f"**{len(board.gaps)} cells need evidence**" in words(opened("coverage.py", view="To obtain"))


def test_what_to_obtain_is_grouped_by_whom_to_ask_and_can_be_sent(stocked: Stack, opened: Opened) -> None:
    stocked.workbench.coverage.add_topics([Topic("Lion taming", owner="Zoe")])
    assessed(stocked, HOSTILE)
    screen = opened("coverage.py", view="To obtain")
    shown_text = words(screen)
    assert shown_text.index("Zoe") < shown_text.index("The owner of the policy handbook")
    assert ":red[x]" not in shown_text
    text = screen.get("code")[0].value
    assert text.startswith("The whole library: needed from Zoe") and "Lion taming (regulatory, high severity)" in text
    alone = words(opened("coverage.py", view="To obtain", find="lion"))
    assert "Zoe" in alone and "policy handbook" not in alone
    assert "policy handbook" not in words(pressed(opened("coverage.py", view="Board", find="lion"), "What to obtain"))


def test_the_board_as_a_table_says_every_state_in_words(stocked: Stack, opened: Opened) -> None:
    desk = stocked.workbench.coverage
    desk.add_topics([Topic("Zebra husbandry", needs=(Truth.INTENT,))])
    assessed(stocked, "Overtime pay")
    board = desk.board(None)
    assert board is not None
    data = table_data(board, VisibleBoard(board.topics, frozenset({(1, "intent")})))
    assert data["columns"][:2] == ["Topic", "regulatory"] and data["label"].startswith("2 topics by truth")
    zebra = data["rows"][0]
    assert zebra["topic"] == "Zebra husbandry"
    values = {cell["kind"]: cell["spoken"] for cell in zebra["cells"]}
    assert values["intent"].startswith("gap 0") and values["regulatory"] == "not needed"
    assert [cell["kind"] for cell in zebra["cells"] if cell["lit"]] == ["intent"]
    assert not opened("coverage.py", view="Board", **{"as": "Table"}).get("plotly_chart")
    assert opened("coverage.py", view="Board").get("plotly_chart")


def test_the_state_filter_says_not_needed_where_a_topic_does_not_need_a_truth(stocked: Stack, opened: Opened) -> None:
    stocked.workbench.coverage.add_topics([Topic("Zebra husbandry", needs=(Truth.INTENT,))])
    assessed(stocked, "Overtime pay")
    screen = opened("coverage.py", view="Board")
    states = next(each for each in screen.multiselect if each.label == "State")
    assert "not needed" in states.options
    states.set_value(["not needed"]).run()
    names = next(each for each in screen.selectbox if each.label == "Open a cell").options
    assert names and all(name.startswith("Zebra husbandry") for name in names)


def test_shares_are_named_as_the_board_names_them(stocked: Stack, opened: Opened) -> None:
    stocked.workbench.coverage.add_topics([Topic("Overtime pay", domain="time")])
    assessed(stocked, "Zebra husbandry")
    statements = [each.text for each in opened("coverage.py", view="Snapshots").get("progress")]
    assert any(each.startswith("Time and attendance · ") for each in statements) and "No domain · " in " ".join(
        statements
    )
    assert all("cells covered" in each or "cell covered" in each or "not assessed" in each for each in statements)


def test_typed_topics_become_a_board_with_a_share_and_gaps(stocked: Stack, opened: Opened) -> None:
    screen = opened("coverage.py")
    screen.text_area(key="topics.typed").set_value("Overtime pay\nZebra husbandry").run()
    pressed(screen, "Add topics")
    assert "**2 topics**" in words(screen)
    assert "% covered" in words(ended(pressed(screen, "Assess")))
    assert "**Zebra husbandry** – a law" in words(opened("coverage.py", view="To obtain"))


def test_topics_ask_for_the_truths_they_need_and_are_set_with_one_click(stocked: Stack, opened: Opened) -> None:
    desk = stocked.workbench.coverage
    desk.add_topics([Topic("Expense policy"), Topic("Zebra husbandry"), Topic("Approval", needs=(Truth.INTENT,))])
    screen = opened("coverage.py", view="Topics")
    assert "1 topic needs all five truths, though fewer are proposed" in words(screen)
    screen.button(key="topics.ask.do").click().run()
    needs = {each.name: each.needs for each in desk.topics(None)}
    assert needs == {
        "Expense policy": (Truth.COMPLIANCE,),
        "Zebra husbandry": tuple(Truth),
        "Approval": (Truth.INTENT,),
    }
    assert "topics.ask.do" not in {each.key for each in screen.button}


def test_lines_that_are_no_topics_are_told(stocked: Stack, opened: Opened) -> None:
    screen = pressed(opened("coverage.py"), "Add topics")
    assert "There is no topic" in screen.warning[0].value


def test_a_url_opens_a_cell_with_its_threshold_exact_search_and_past(stocked: Stack, opened: Opened) -> None:
    assessed(stocked, "Overtime pay")
    screen = opened("coverage.py", cell=cell_key(stocked, "Overtime pay", Truth.REGULATORY))
    assert "Evidence 0" in words(screen) and "threshold 0.50 · margin" in words(screen)
    assert "Open in Search" in [each.label for each in screen.page_link]
    assert "found **" in words(screen)


def test_a_failed_search_is_an_error_and_never_a_gap(
    stocked: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise StoreFailed("The database went away.", "Start it again.")

    monkeypatch.setattr(stocked.stores.catalogue, "admissible", broken)
    assessed(stocked, "Overtime pay")
    text = words(opened("coverage.py", cell=cell_key(stocked, "Overtime pay", Truth.REGULATORY)))
    assert "it is not a gap" in text and "nothing could be assessed" in text
    assert "5 cells could not be assessed; they are not gaps" in text and "5 cells could not be assessed]" in text
    assert "have no evidence to compare" in words(opened("coverage.py", view="Conflicts"))
    assert "no gap is known" in words(opened("coverage.py", view="To obtain"))


def test_topics_changed_since_the_snapshot_are_told(stocked: Stack, opened: Opened) -> None:
    assessed(stocked, "Overtime pay")
    assert "removed since" not in words(opened("coverage.py"))
    desk = stocked.workbench.coverage
    (topic,) = desk.topics(None)
    desk.change_topics([replace(topic, name="Zebra husbandry")])
    desk.add_topics([Topic("Vacation")])
    screen = opened("coverage.py", view="Board", cell=f"regulatory:{topic.id}")
    assert "2 topics added, changed or removed since" in words(screen)
    assert "Assessed as “Overtime pay”" in words(screen).replace("\\", "")


def test_documents_changed_since_the_snapshot_are_told_until_it_is_assessed_again(
    stocked: Stack, opened: Opened
) -> None:
    assessed(stocked, "Overtime pay")
    stocked.add("later.md", "# Later\nOvertime must be paid within a week.")
    screen = opened("coverage.py", view="Board")
    assert "1 document added, changed or removed since" in words(screen)
    pressed(screen, "Assess again")
    assert "removed since" not in words(ended(screen))


def test_filters_narrow_the_board_and_say_when_nothing_is_left(stocked: Stack, opened: Opened) -> None:
    assessed(stocked, "Overtime pay", "Zebra husbandry")
    screen = opened("coverage.py", view="Board", find="zebra")
    names = next(each for each in screen.selectbox if each.label == "Open a cell").options
    assert names and all(name.startswith("Zebra husbandry") for name in names)
    assert "No topic matches these filters" in words(opened("coverage.py", view="Board", find="quagga"))


def field(screen: AppTest, kind: str, name: str) -> Any:
    """The field of the decision form whose key ends like this."""
    return next(each for each in screen.get(kind) if str(each.key).endswith(f".{name}"))


def test_a_whole_decision_is_taken_logged_and_undone(stocked: Stack, opened: Opened) -> None:
    stocked.workbench.coverage.add_topics([Topic("Zebra husbandry", owner="Zoe")])
    assessed(stocked)
    screen = opened("coverage.py", view="Review")
    assert "0 of 5 cells decided" in screen.get("progress")[0].proto.text
    pressed(screen, "Confirm gap `g`")
    assert "needs the name" in screen.warning[0].value
    screen.text_input(key="person").set_value("Ann").run()
    pressed(screen, "Waive `w`")
    assert "A waiver needs a reason" in screen.warning[0].value
    field(screen, "selectbox", "owner").set_value("Zoe").run()
    pressed(screen, "Next week")
    pressed(screen, "Confirm gap `g`")
    desk = stocked.workbench.coverage
    (decision,) = desk.log(None)
    assert (decision.who, decision.verdict, decision.owner) == ("Ann", ReviewVerdict.CONFIRMED, "Zoe")
    assert decision.due == decision.at.date() + timedelta(weeks=1)
    assert "1 of 5 cells decided" in screen.get("progress")[0].proto.text
    assert "Decided: **gap confirmed** – Zebra husbandry" in words(screen)
    assert field(screen, "selectbox", "owner").options == ["Zoe", "Ann"]
    pressed(screen, "Undo `u`")
    assert "0 of 5 cells decided" in screen.get("progress")[0].proto.text
    assert "Decided:" not in words(screen)
    assert [each.verdict for each in desk.log(None)] == [ReviewVerdict.CONFIRMED, ReviewVerdict.UNDONE]
    assert desk.current_decisions(None) == {}


def test_a_decision_in_force_is_shown_and_undone_where_it_was_taken(stocked: Stack, opened: Opened) -> None:
    assessed(stocked, "Zebra husbandry")
    desk = stocked.workbench.coverage
    board = desk.board(None)
    assert board is not None
    cell = desk.queue(board)[0].cell
    desk.decide(board, cell, ReviewerOpinion(ReviewVerdict.CONFIRMED, "Bob", comment="Ask Cid"))
    screen = opened("coverage.py", view="Review", decided="true", at=f"{cell.kind.value}:{cell.topic_id}")
    assert "**gap confirmed** by Bob" in words(screen) and "Ask Cid" in words(screen)
    pressed(screen, "Undo the decision")
    assert "needs a name" in screen.warning[0].value
    screen.text_input(key="person").set_value("Ann").run()
    pressed(screen, "Undo the decision")
    assert [(each.who, each.verdict) for each in desk.log(None)][1:] == [("Ann", ReviewVerdict.UNDONE)]


def test_several_cells_are_decided_together_and_each_is_recorded(stocked: Stack, opened: Opened) -> None:
    assessed(stocked, "Zebra husbandry")
    desk = stocked.workbench.coverage
    board = desk.board(None)
    assert board is not None
    chosen = [state.cell_key(item.cell) for item in desk.queue(board)[:3]]
    screen = opened("coverage.py", view="Review")
    screen.text_input(key="person").set_value("Ann").run()
    screen.session_state["review.ticked"] = tuple(chosen)
    screen.run()
    assert "3 cells selected" in words(screen)
    field(screen, "text_input", "words").set_value("Out of scope").run()
    pressed(screen, "1 year")
    pressed(screen, "Waive `w`")
    log = desk.log(None)
    assert [f"{each.kind}:{each.topic_id}" for each in log] == chosen
    assert {(each.verdict, each.reason, each.number) for each in log} == {(ReviewVerdict.WAIVED, "Out of scope", 1)}
    assert "Decided: **waived** – 3 cells" in words(screen) and "selected" not in words(screen)
    pressed(screen, "Undo `u`")
    assert [each.verdict for each in desk.log(None)[3:]] == [ReviewVerdict.UNDONE] * 3
    assert desk.current_decisions(None) == {}


def test_the_queue_is_narrowed_to_one_column_and_lists_what_a_person_needs(stocked: Stack, opened: Opened) -> None:
    assessed(stocked, "Zebra husbandry")
    desk = stocked.workbench.coverage
    board = desk.board(None)
    assert board is not None
    rows = queue_rows(desk.queue(board), {})
    assert {row["kind"] for row in rows} == {"regulatory", "compliance", "intent", "reference", "reality"}
    assert all(row["topic"] == "Zebra husbandry" and row["state"] == "✕ gap" and row["severity"] for row in rows)
    assert ":violet-badge[" not in words(opened("coverage.py", view="Review", only="intent"))


def test_a_reviewer_who_was_slower_is_told_and_overwrites_nothing(stocked: Stack, opened: Opened) -> None:
    assessed(stocked, "Zebra husbandry")
    screen = opened("coverage.py", view="Review")
    screen.text_input(key="person").set_value("Ann").run()
    desk = stocked.workbench.coverage
    board = desk.board(None)
    assert board is not None
    first = desk.queue(board)[0].cell
    desk.decide(board, first, ReviewerOpinion(ReviewVerdict.CONFIRMED, "Bob"))
    pressed(screen, "Needs work `f`")
    assert "Bob has decided" in screen.warning[0].value
    assert [each.who for each in desk.log(None)] == ["Bob"]


def test_topics_are_retired_and_hostile_names_are_only_text(stocked: Stack, opened: Opened) -> None:
    assessed(stocked, HOSTILE, "Overtime pay")
    screen = opened("coverage.py", view="Board")
    assert ":red[x]" not in words(screen)
    assert "**2 topics**" in words(opened("coverage.py", view="Topics"))


def test_requirements_are_found_and_traced(stocked: Stack, opened: Opened) -> None:
    stocked.add("sow.md", "# Statement of work\nThe vendor shall configure overtime pay for all plants.\n")
    sow = stocked.workbench.documents.list()[0]
    stocked.workbench.documents.correct(sow.id, "truth", "intent")
    screen = opened("coverage.py", view="Topics")
    pressed(screen, "Find requirements")
    pressed(screen, "Add all 1")
    (topic,) = stocked.workbench.coverage.topics(None)
    assert topic.source is not None and topic.source.quote.startswith("The vendor shall")
    desk = stocked.workbench.coverage
    desk.runs.carry_out(desk.runs.start(None).id)
    text = words(opened("coverage.py", view="Requirements"))
    assert "1 requirement shown" in text


def test_rooms_without_anything_say_what_to_do(stocked: Stack, opened: Opened) -> None:
    assert "No topics yet" in words(opened("coverage.py", view="Board"))
    assert "There is no snapshot yet" in words(opened("coverage.py", view="Snapshots"))
    assessed(stocked, "Overtime pay")
    assert "No requirements yet" in words(opened("coverage.py", view="Requirements"))
    assert "No sentences of different truths disagree" in words(opened("coverage.py", view="Conflicts"))


def test_snapshots_are_compared_named_opened_and_deleted(stocked: Stack, opened: Opened) -> None:
    assessed(stocked, "Zebra husbandry")
    stocked.add("zebras.md", "# Zebra husbandry policy\nZebra husbandry must be approved by the keeper.\n")
    desk = stocked.workbench.coverage
    desk.runs.carry_out(desk.runs.start(None).id)
    newest, oldest = desk.snapshots(None)
    screen = opened("coverage.py", view="Snapshots")
    assert "changed" in words(screen) and "zebras" in words(screen)
    screen.text_input(key=f"snapshot.name.{oldest.id}").set_value("March").run()
    assert desk.snapshots(None)[1].name == "March"
    older = opened("coverage.py", view="Board", snapshot=str(oldest.id))
    assert "older snapshot" in words(older)
    screen.button(key=f"snapshot.delete.{newest.id}").click().run()
    assert [run.id for run in desk.snapshots(None)] == [oldest.id]


def test_the_pdf_is_made_in_the_background(stocked: Stack, opened: Opened) -> None:
    assessed(stocked, "Zebra husbandry")
    screen = ended(pressed(opened("coverage.py", view="Meeting pack"), "PDF :gray[to print]"))
    assert screen.download_button(key="pack.pdf").label == "Download PDF"
    assert "2 pages, made just now" in words(screen)
    assert not any(button.key == "pack.pdf.make" for button in screen.button)


def test_a_pdf_that_cannot_be_made_says_so_and_is_made_at_the_next_try(
    stocked: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(pack: object, on_page: object) -> bytes:
        raise ZeroDivisionError("secret detail")

    assessed(stocked, "Zebra husbandry")
    with monkeypatch.context() as broken_library:
        broken_library.setattr(background, "pack_pdf", broken)
        screen = ended(pressed(opened("coverage.py", view="Meeting pack"), "PDF :gray[to print]"))
    assert "This could not be finished" in words(screen)
    assert "secret detail" not in words(screen) and "secret detail" in caplog.text
    screen = ended(pressed(screen, "PDF :gray[to print]"))
    assert screen.download_button(key="pack.pdf")


def test_a_stopped_pdf_leaves_no_file(stocked: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(pack: MeetingPack, on_page: Callable[[int], object]) -> bytes:
        on_page(1)
        begun.set()
        assert go_on.wait(30)
        return pack_pdf(pack, on_page)

    assessed(stocked, "Zebra husbandry")
    monkeypatch.setattr(background, "pack_pdf", slow)
    screen = pressed(opened("coverage.py", view="Meeting pack"), "PDF :gray[to print]")
    assert begun.wait(30)
    screen = pressed(screen.run(), "Stop")
    assert "1 page written" in words(screen)
    go_on.set()
    screen = ended(screen)
    assert not any(each.key == "pack.pdf" for each in screen.download_button)
    assert screen.button(key="pack.pdf.make")


def test_the_pack_goes_out_and_decisions_come_back(stocked: Stack, opened: Opened) -> None:
    import openpyxl

    assessed(stocked, "Zebra husbandry")
    desk = stocked.workbench.coverage
    board = desk.board(None)
    assert board is not None
    pack = desk.pack(board, who="Ann")
    assert len(json.loads(json.dumps(pack_data(pack)))["board"]["cells"]) == 6
    book = openpyxl.load_workbook(BytesIO(pack_xlsx(pack)))
    sheet = book["Decisions"]
    heads = [tile.value for tile in sheet[1]]
    sheet.cell(2, heads.index("verdict") + 1, ReviewVerdict.CONFIRMED.value)
    sheet.cell(2, heads.index("who") + 1, "Ann")
    out = BytesIO()
    book.save(out)
    screen = opened("coverage.py", view="Meeting pack")
    assert {"pack.xlsx", "pack.html", "pack.json"} <= {each.key for each in screen.download_button}
    screen.file_uploader[0].set_value(("pack.xlsx", out.getvalue(), "application/octet-stream")).run()
    assert "**1 decision** to import" in words(screen)
    pressed(screen, "Import 1 decision")
    assert [each.who for each in desk.log(None)] == ["Ann"]
    refreshed = desk.board(None)
    assert refreshed is not None and refreshed.cell("Zebra husbandry", Truth.REGULATORY).state is CellState.GAP
    broken = opened("coverage.py", view="Meeting pack")
    broken.file_uploader[0].set_value(("x.xlsx", b"nothing", "application/octet-stream")).run()
    assert "is not a workbook" in broken.warning[0].value


def test_a_run_under_way_elsewhere_can_be_stopped(stocked: Stack, opened: Opened) -> None:
    desk = stocked.workbench.coverage
    desk.add_topics([Topic("Overtime pay")])
    run = desk.runs.start(None)
    screen = opened("coverage.py")
    assert "assessed elsewhere" in screen.get("progress")[0].text
    pressed(screen, "Stop")
    assert desk.runs.progress(run.id).state is RunState.STOPPED
    assert "Go on" in [each.label for each in screen.run().button]


def test_an_interrupted_run_can_go_on(stocked: Stack, opened: Opened) -> None:
    desk = stocked.workbench.coverage
    desk.add_topics([Topic("Overtime pay")])
    desk.runs.carry_out(desk.runs.start(None).id, stop=lambda: True)
    screen = opened("coverage.py")
    assert "The last run was stopped" in words(screen)
    text = words(ended(pressed(screen, "Go on")))
    assert "% covered" in text


def test_a_conflict_is_settled_undone_and_undone_again(stocked: Stack, opened: Opened) -> None:
    for name, truth, hours in (("act.md", "regulatory", 72), ("rules.md", "compliance", 96)):
        stocked.add(name, f"# {name}\n\nEmployees must report a data breach within {hours} hours of finding it.\n")
        stocked.workbench.documents.correct(stocked.workbench.documents.list()[0].id, "truth", truth)
    assessed(stocked, "report a data breach")
    screen = opened("coverage.py", view="Conflicts")
    assert "within 72 hours" in words(screen) and "within 96 hours" in words(screen)
    screen.text_input(key="person").set_value("Ann").run()
    log = stocked.workbench.coverage.log
    for number, label in enumerate(("Conflict", "Undo", "No conflict", "Undo"), start=1):
        screen.segmented_control(key="conflicts").set_value("all").run()
        pressed(screen, label)
        assert len(log(None)) == number, words(screen)
    assert [each.verdict for each in log(None)][::2] == [ReviewVerdict.CONFLICT, ReviewVerdict.NO_CONFLICT]


def test_a_change_of_topics_is_undone_with_one_click(stocked: Stack, opened: Opened) -> None:
    desk = stocked.workbench.coverage
    before = desk.add_topics([Topic("Overtime approval")])
    stored = desk.change_topics(with_needs(before, [Truth.INTENT]))
    screen = opened("coverage.py", view="Topics")
    assert "Undo" not in [button.label for button in screen.button]
    screen.session_state["topics.undo"] = ("1 topic changed.", as_before(before, stored))
    assert "1 topic changed" in words(screen.run())
    pressed(screen, "Undo")
    assert [topic.needs for topic in desk.topics(None)] == [tuple(Truth)]
    assert "Undo" not in [button.label for button in screen.button]
