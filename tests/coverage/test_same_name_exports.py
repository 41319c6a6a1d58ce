"""Topics of one name, in two projects, are told apart in all that leaves the product."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import openpyxl
import pypdfium2
import pytest

from api.mcp.library_results import CoverageResult
from core.coverage.board_view import with_distinct_names
from core.coverage.meeting_pack.pack import MeetingPack, pack_data, pack_html
from core.coverage.meeting_pack.pdf import pack_pdf
from core.coverage.meeting_pack.xlsx import pack_xlsx
from core.coverage.meetings.meeting import Minutes
from core.coverage.meetings.service import MeetingService
from core.coverage.to_obtain import group_text, to_obtain, to_obtain_csv
from core.domain.coverage import CoverageRun, ReviewerOpinion, ReviewVerdict, RunState, Topic
from tests.coverage.boards import NOW, board_of
from tests.coverage.test_service import COMPLIANCE, ZEBRA, Office
from tests.fakes import FakeMeetingStore

SCHEMA = Path(__file__).parents[2] / "docs" / "meeting-pack.schema.json"
NORTH, SHARED = f"{ZEBRA} (north)", f"{ZEBRA} (all projects)"


@pytest.fixture
def office() -> Office:
    """Two topics of one name, assessed; the one of the project is new since the first snapshot and is decided on."""
    office = Office()
    office.assess()
    [north] = office.desk.add_topics([Topic(ZEBRA, project="north")])
    board = office.assess()
    opinion = ReviewerOpinion(ReviewVerdict.NEEDS_WORK, "Ada")
    office.desk.decide(board, board.cell(north, COMPLIANCE), opinion)
    return office


def minutes_of(office: Office) -> Minutes:
    """The minutes of a meeting about both topics, in which Ada decides on the shared one."""
    board = office.board()
    meetings = MeetingService(store=FakeMeetingStore(), coverage=office.desk, now=office.tick)
    agenda = [cell for cell in board.cells if cell.topic == ZEBRA and cell.kind is COMPLIANCE]
    meeting = meetings.start(board, "Friday", agenda, (), "Ada")
    shared = next(cell for cell in agenda if cell.topic_id == office.topics[1].id)
    meetings.comment(meeting.id, f"compliance:{shared.topic_id}", "Ask the zoo.", "Ada")
    opinion = ReviewerOpinion(ReviewVerdict.CONFIRMED, "Ada")
    meetings.decide(meeting.id, board, [(shared, opinion)], "Ada")
    minutes = meetings.end(meeting.id, "Ada").minutes
    assert minutes is not None
    return minutes


@pytest.fixture
def pack(office: Office) -> MeetingPack:
    minutes = minutes_of(office)
    first = office.desk.snapshots(None)[-1].id
    return office.desk.pack(office.board(), since=first, minutes=(minutes,))


def test_the_pack_as_data_names_the_project(pack: MeetingPack) -> None:
    data = json.loads(json.dumps(pack_data(pack)))
    jsonschema.validate(data, json.loads(SCHEMA.read_text("utf-8")))
    names = {each["id"]: each["name"] for each in data["topics"]}
    assert {each["name"]: each["project"] for each in data["topics"]}[NORTH] == "north"
    assert {each["topic"] for each in data["board"]["cells"]} == set(data["board"]["topics"]) == set(names.values())
    assert {NORTH, SHARED} <= {each["topic"] for each in data["board"]["gaps"]}
    assert [each["topic"] for each in data["decisions"]] == [NORTH, SHARED]
    assert all(each["topic"] == names[each["topic_id"]] for each in data["decisions"])
    assert data["changes"]["topics_added"] == [NORTH]
    (meeting,) = data["meetings"]
    assert {each["topic"] for each in meeting["agenda"]} == {NORTH, SHARED}
    assert [each["topic"] for part in ("decisions", "remarks") for each in meeting[part]] == [SHARED, SHARED]
    assert [each["topic"] for each in meeting["open_points"]] == []


def test_the_pack_on_paper_never_prints_such_a_name_alone(pack: MeetingPack) -> None:
    book = openpyxl.load_workbook(io.BytesIO(pack_xlsx(pack)))
    tiles = [tile.value for sheet in book for row in sheet.iter_rows() for tile in row]
    assert ZEBRA not in tiles
    for sheet in ("Matrix", "To obtain", "Decisions", "Log", "Minutes"):
        assert SHARED in {tile.value for row in book[sheet].iter_rows() for tile in row}, sheet
    with pypdfium2.PdfDocument(pack_pdf(pack)) as pdf:
        printed = " ".join(" ".join(page.get_textpage().get_text_bounded() for page in pdf).split())
    for text in (pack_html(pack), printed):
        assert f"New topics: {NORTH}" in text and text.count(SHARED) > 5
    assert f">{ZEBRA}<" not in pack_html(pack)


def test_long_names_differ_on_the_printed_map_too() -> None:
    topic = Topic(f"{'every keeper must feed the zebras ' * 4}daily", id=1, project="north")
    board = with_distinct_names(board_of({topic: "ggggg", replace(topic, id=2, project="south"): "ccccc"}))
    run = CoverageRun(1, None, RunState.DONE, board.topics, 10, NOW, NOW)
    with pypdfium2.PdfDocument(pack_pdf(MeetingPack(board, run, (), (), (), (), None, NOW))) as pdf:
        cover = " ".join(pdf[0].get_textpage().get_text_bounded().partition("What to obtain")[0].split())
    assert "daily (north)" in cover and "daily (south)" in cover


def test_decisions_written_into_the_workbook_reach_the_topic_of_their_row(office: Office) -> None:
    book = openpyxl.load_workbook(io.BytesIO(pack_xlsx(office.desk.pack(office.board()))))
    sheet = book["Decisions"]
    row = next(row for row in sheet.iter_rows() if (row[1].value, row[2].value) == (SHARED, "compliance"))
    row[6].value, row[12].value = "needs work", "Grace"
    changed = io.BytesIO()
    book.save(changed)
    (decision,) = office.desk.preview(office.board(), changed.getvalue(), "pack.xlsx").decisions
    assert (decision.topic_id, decision.topic) == (office.topics[1].id, ZEBRA)


def test_what_to_obtain_names_the_project_in_text_and_table(office: Office) -> None:
    groups = to_obtain(office.board(), office.desk.current_decisions(None))
    text = "".join(group_text(group, "Zoo") for group in groups)
    for name in (NORTH, SHARED):
        assert f"internal policy, procedure or audit control on {name} (compliance" in text
    rows = list(csv.DictReader(io.StringIO(to_obtain_csv(groups))))
    assert {row["topic"] for row in rows if ZEBRA in row["topic"]} == {NORTH, SHARED}
    assert all(row["what"].endswith(row["topic"]) for row in rows)


def test_a_requirement_keeps_the_quotes_around_its_sentence(office: Office) -> None:
    board = office.board()
    quoted = replace(board, gaps=tuple(replace(gap, to_obtain=f"a policy on “{gap.topic}”") for gap in board.gaps))
    asked = {each.gap.to_obtain for group in to_obtain(quoted, {}) for each in group.items}
    assert {f"a policy on “{NORTH}”", f"a policy on “{SHARED}”"} <= asked


def test_an_assistant_reads_the_project(office: Office) -> None:
    found = CoverageResult.of(office.board(), only_gaps=True)
    assert {NORTH, SHARED} <= {*found.topics} & {each.topic for each in found.cells} & {
        each.topic for each in found.gaps
    }


def test_changes_call_topics_as_the_board_of_their_snapshot_does(office: Office) -> None:
    [north] = [each for each in office.desk.topics(None) if each.project == "north"]
    before = office.desk.snapshots(None)[0].id
    office.desk.change_topics([replace(north, retired=True)])
    office.assess()
    assert office.desk.changes(None, before).topics_gone == (NORTH,)
