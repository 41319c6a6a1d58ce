"""The meeting pack: what stands in each of its forms, and that nothing hostile in it runs or breaks it."""

import io
import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import openpyxl
import pypdfium2
import pytest

from core.coverage.board_view import board_csv, board_text, needs_in_words, share_in_words
from core.coverage.gaps import not_needed
from core.coverage.meeting_pack.pack import STATE_LOOKS, MeetingPack, pack_data, pack_html
from core.coverage.meeting_pack.pdf import pack_pdf
from core.coverage.meeting_pack.xlsx import pack_xlsx
from core.coverage.meetings.meeting import (
    AgendaItem,
    Attendee,
    Contribution,
    ContributionKind,
    Meeting,
    Minutes,
    MinutesDecision,
)
from core.coverage.meetings.minutes import make_minutes
from core.coverage.traceability import trace
from core.domain.coverage import (
    BoardChanges,
    CellChange,
    CellState,
    CoverageRun,
    Decision,
    Gap,
    GapKind,
    ReviewVerdict,
    Risk,
    RiskKind,
    RunState,
    Topic,
)
from core.domain.documents import Truth
from pages.components.styles import CELLS
from tests.coverage.boards import NOW, board_of, citation

SCHEMA = Path(__file__).parents[2] / "docs" / "meeting-pack.schema.json"
FORMULA, SCRIPT = "=1+1", "<script>alert(1)</script>"
STRANGE = "🎉 給与 الأجور\n" + "x" * 300


def pack_of(name: str = "overtime", topics: int = 1, document: str = "policy.pdf") -> MeetingPack:
    """A pack with a decision and changes, in which every text is `name`."""
    rows = {Topic(name if n == 1 else f"{name} {n}", id=n, owner=name): "cpgsn" for n in range(1, topics + 1)}
    board = board_of(rows)
    proof = (citation(name, document_name=document),)
    board = replace(board, cells=tuple(replace(cell, evidence=proof) for cell in board.cells))
    run = CoverageRun(1, None, RunState.DONE, board.topics, 5, NOW, NOW, name=name)
    decision = Decision(1, "intent", None, ReviewVerdict.CONFIRMED, name, NOW, 1, topic=name, comment=name, owner=name)
    cells = (CellChange(name, GapKind.INTENT, None, CellState.GAP, 0.0, 0.1, name),)
    changes = BoardChanges(run, run, None, 0.5, cells, (name,), ())
    return MeetingPack(board, run, (decision,), (), (), trace(board), changes, NOW, name, minutes=(minutes_of(name),))


def minutes_of(name: str) -> Minutes:
    """Minutes in which every text is `name`."""
    item = AgendaItem(1, "intent", name)
    meeting = Meeting(
        None, name, name, NOW, (item, AgendaItem(1, "reality", name)), name, item.key, (name + "?",), (name,)
    )
    decision = Decision(
        1, "intent", None, ReviewVerdict.CONFIRMED, name, NOW, 1, topic=name, comment=name, owner=name, present=(name,),
        pinned=(citation(name),),
    )  # fmt: skip
    about = (0, ContributionKind.PROPOSAL, 1, "intent", name, name, NOW, name)
    remarks = [Contribution(*about, ReviewVerdict.CONFIRMED), Contribution(*about)]
    point = replace(remarks[1], kind=ContributionKind.OPEN_POINT, owner=name, due=NOW.date())
    return make_minutes(meeting, [Attendee(0, name, NOW, NOW)], [*remarks, point], [decision], None, {}, NOW)


def pdf_pages(pack: MeetingPack) -> list[str]:
    """The text of each page."""
    with pypdfium2.PdfDocument(pack_pdf(pack)) as pdf:
        return [page.get_textpage().get_text_bounded() for page in pdf]


def test_states_look_on_paper_as_on_the_page() -> None:
    for state, look in CELLS.items():
        assert (f"#{STATE_LOOKS[state].fill}", STATE_LOOKS[state].symbol) == (look.light, look.symbol)


def test_the_workbook_has_every_sheet() -> None:
    book = openpyxl.load_workbook(io.BytesIO(pack_xlsx(pack_of())))
    assert book.sheetnames == [
        *("Summary", "Matrix", "To obtain", "Decisions", "Evidence", "Conflicts", "Changes", "Minutes", "Log")
    ]
    assert book["Matrix"]["A2"].value == "overtime"
    assert book["Matrix"]["D2"].value == "✓ covered 0.90"
    assert book["Decisions"].max_row == 6
    assert book["Log"]["E2"].value == "gap confirmed"
    assert book["Changes"]["D2"].value == "gap"


def pack_with_set_up() -> MeetingPack:
    """A pack of one topic with a gap, a partial cell and a missing set-up row."""
    topic = Topic("overtime", id=1, domain="time")
    board = board_of({topic: "cpgcc"})
    lacking = replace(board.cells[2], truth=Truth.REALITY, configuration=True, near_misses=(citation("code OT"),))
    gap = Gap("overtime", Truth.REALITY, "medium", "Obtain a row.", configuration=True)
    board = replace(board, cells=(*board.cells, lacking), gaps=(*board.gaps, gap), unread=("scan.pdf",))
    decision = Decision(1, "configuration", None, ReviewVerdict.NEEDS_WORK, "Ann", NOW, 1, topic="overtime")
    run = CoverageRun(1, None, RunState.DONE, board.topics, 6, NOW, NOW)
    titles = {"time": "Time and attendance"}
    return MeetingPack(board, run, (decision,), (), (), trace(board), None, NOW, domain_titles=titles)


def test_the_pack_has_the_counts_and_the_words_of_the_page_and_no_codes() -> None:
    pack = pack_with_set_up()
    facts = dict(pack.facts)
    assert facts["To obtain"] == needs_in_words(pack.board) == "3 cells need evidence (2 gaps, 1 partial)"
    assert facts["Not read"] == "1 document could not be read in full and may fill a gap: scan.pdf."
    book = openpyxl.load_workbook(io.BytesIO(pack_xlsx(pack)))
    sheets = [str(tile.value) for sheet in book for row in sheet.iter_rows() for tile in row if tile.value is not None]
    for text in (pack_html(pack), "".join(pdf_pages(pack)), " ".join(sheets)):
        assert "3 cells need evidence" in text and "set-up" in text and "configuration" not in text.lower()
    assert "Time and attendance" in sheets and "time" not in sheets


def test_a_long_fact_is_printed_to_its_end() -> None:
    pack = pack_with_set_up()
    names = tuple(f"Scanned minutes of the works council, {month} 2025.pdf" for month in ("May", "June", "July"))
    cover = pdf_pages(replace(pack, board=replace(pack.board, unread=names, waiting=12)))[0]
    assert "As of now, 12 files are not read yet and may fill a gap." in " ".join(cover.split())


@pytest.mark.parametrize("topics", range(1, 15))
def test_no_heading_is_left_alone_at_the_end_of_a_page(topics: int) -> None:
    name = "Every employer must keep records of the hours worked each day and each week by every employee (Payroll)"
    rows = {Topic(f"{name} {n}", id=n, owner="Ann"): "gcccc" for n in range(topics)}
    pack = pack_with_set_up()
    for page in pdf_pages(replace(pack, board=board_of(rows))):
        assert ("What to obtain" in page) <= ("Severity" in page), page


def test_no_text_of_the_workbook_is_a_formula() -> None:
    book = openpyxl.load_workbook(io.BytesIO(pack_xlsx(pack_of(FORMULA, document="=2+2.pdf"))))
    values = [tile for sheet in book for row in sheet.iter_rows() for tile in row if tile.value is not None]
    assert not [tile for tile in values if tile.data_type == "f" or str(tile.value).startswith("=")]
    assert "'=1+1" in [tile.value for tile in values]


@pytest.mark.parametrize("text", ["a\x00b\x0bc", "word " * 20_000, STRANGE])
def test_the_workbook_holds_any_text(text: str) -> None:
    assert openpyxl.load_workbook(io.BytesIO(pack_xlsx(pack_of(text))))["Matrix"].max_row > 1


def test_the_html_loads_nothing_and_runs_nothing() -> None:
    source = pack_html(pack_of(SCRIPT, document=SCRIPT))
    tags: list[str] = []
    reader = HTMLParser()
    reader.handle_starttag = lambda tag, attrs: tags.append(tag)  # type: ignore[method-assign]
    reader.feed(source)
    assert "&lt;script&gt;alert(1)" in source
    assert "table" in tags
    assert not {"script", "link", "img", "iframe"} & set(tags)
    assert "http:" not in source and "https:" not in source and "url(" not in source


def test_the_pdf_says_what_stands_on_the_board() -> None:
    pages = pdf_pages(pack_of())
    text = "".join(pages)
    assert f"1 of {len(pages)}" in pages[0]
    for words in ("overtime", "covered", "Obtain a rule.", "gap confirmed"):
        assert words in text


@pytest.mark.parametrize("text", [STRANGE, FORMULA, SCRIPT, "a\x00b"])
def test_the_pdf_prints_any_text(text: str) -> None:
    assert "Coverage review" in pdf_pages(pack_of(text))[0]


def test_the_pdf_prints_a_text_longer_than_a_page_to_its_end() -> None:
    pack = pack_of()
    comment = " ".join(f"word{number}" for number in range(1500))
    pack = replace(pack, decisions=(replace(pack.decisions[0], comment=comment),))
    text = " ".join(" ".join(pdf_pages(pack)).split())
    assert text.count("word0 ") == text.count("word1499") == 1
    assert all(f"word{number}" in text for number in range(1500))


def test_a_long_topic_stands_whole_on_the_map_of_the_pdf() -> None:
    name = " ".join(f"requirement{number}" for number in range(20))
    pack = pack_of()
    long = replace(pack.board.topics[0], name=name)
    board = replace(pack.board, topics=(long,), cells=tuple(replace(cell, topic=name) for cell in pack.board.cells))
    text = " ".join(" ".join(pdf_pages(replace(pack, board=board))).split())
    assert name in text[: text.index("What to obtain")]


def test_a_waiver_has_no_score_because_it_is_decided_not_found() -> None:
    pack = pack_of()
    cells = (replace(pack.board.cells[0], state=CellState.WAIVED, evidence_score=0.0), *pack.board.cells[1:])
    changed = CellChange("overtime", GapKind.INTENT, CellState.NOT_ASSESSED, CellState.GAP, 0.0, 0.1, "")
    assert pack.changes is not None
    pack = replace(pack, board=replace(pack.board, cells=cells), changes=replace(pack.changes, cells=(changed,)))
    book = openpyxl.load_workbook(io.BytesIO(pack_xlsx(pack)))
    sheets = " ".join(str(cell.value) for sheet in book for row in sheet.iter_rows() for cell in row)
    for text in (" ".join(pdf_pages(pack)), pack_html(pack), sheets, board_text(pack.board)):
        assert "waived" in text and "waived 0.0" not in text and "not assessed 0.0" not in text


def test_every_form_says_why_a_cell_is_doubted() -> None:
    pack = pack_of()
    risk = Risk(RiskKind.NOT_IN_FORCE, "Its evidence, law.pdf, takes effect on 2027-01-01.")
    pack = replace(pack, board=replace(pack.board, cells=tuple(replace(c, risks=(risk,)) for c in pack.board.cells)))
    evidence = openpyxl.load_workbook(io.BytesIO(pack_xlsx(pack)))["Evidence"]
    assert evidence["I1"].value == "doubts" and risk.words in evidence["I2"].value
    assert risk.words in pack_html(pack)
    assert risk.words in " ".join(" ".join(pdf_pages(pack)).split())
    assert pack_data(pack)["board"]["cells"][0]["risks"] == [{"kind": "not yet in force", "words": risk.words}]
    assert risk.words in board_csv(pack.board) and risk.words in board_text(pack.board)


def test_the_minutes_say_on_paper_who_owns_it_until_when_and_how_long_a_waiver_holds() -> None:
    pack = pack_of()
    day = NOW.date()
    owned = replace(pack.decisions[0], owner="Bob", due=day)
    waived = replace(pack.decisions[0], verdict=ReviewVerdict.WAIVED, owner="", expires=day)
    taken = tuple(MinutesDecision(each, ()) for each in (owned, waived))
    pack = replace(pack, decisions=(waived,), minutes=(replace(pack.minutes[0], decisions=taken, points=()),))
    for text in (" ".join(pdf_pages(pack)), pack_html(pack)):
        words = " ".join(text.split())
        assert f"owner Bob · due {day}" in words and f"until {day}" in words
    minutes = openpyxl.load_workbook(io.BytesIO(pack_xlsx(pack)))["Minutes"]
    rows = [[tile.value for tile in row] for row in minutes.iter_rows()]
    until = next(row for row in rows if row[2] == "decision" and "waived" in row[5])
    assert f"until {day}" in until[5] and until[8] is None


def test_the_head_of_a_long_map_is_on_every_page() -> None:
    pages = pdf_pages(pack_of(topics=100))
    middle = [page for page in pages if "overtime 50" in page]
    assert "regulatory" in middle[0] and "% covered" in middle[0]


@pytest.mark.parametrize("changed", [True, False])
def test_the_data_is_as_its_schema_says(changed: bool) -> None:
    pack = pack_of() if changed else replace(pack_of(), changes=None)
    data = json.loads(json.dumps(pack_data(pack)))
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text("utf-8"))).validate(data)


def test_truths_a_topic_does_not_need_are_called_so_in_map_and_legend() -> None:
    plain = pack_of()
    quiet = not_needed(plain.board.cells[0])
    pack = replace(plain, board=replace(plain.board, cells=(quiet, *plain.board.cells[1:])))
    assert share_in_words(pack.board, GapKind.REGULATORY) == "not needed"
    for text in (pdf_pages(pack)[0], pack_html(pack).partition("<h2>What to obtain")[0]):
        assert text.count("not needed") == 3, "head of the column, tile, legend"
        assert text.count("not assessed") == 3, "head of the column, tile, legend"
    book = openpyxl.load_workbook(io.BytesIO(pack_xlsx(pack)))
    shown = [str(cell.value) for row in book["Matrix"] for cell in row if cell.value]
    assert sum("not needed" in each for each in shown) == sum("not assessed" in each for each in shown) == 2


def test_the_minutes_are_in_every_form_of_the_pack() -> None:
    pack = pack_of()
    (minutes,) = pack.minutes
    assert (len(minutes.decisions), len(minutes.points), len(minutes.remarks)) == (1, 2, 2)
    for text in (pack_html(pack), "".join(pdf_pages(pack))):
        for words in ("Minutes: overtime", "Absent", "overtime?", "2026-01-15", "No decision was taken.", "proposes"):
            assert words in text
    book = openpyxl.load_workbook(io.BytesIO(pack_xlsx(pack)))
    kinds = [row[2].value for row in book["Minutes"].iter_rows(min_row=2)]
    assert kinds == ["present", "absent", "decision", "open point", "open point", "proposal", "proposal"]
    (meeting,) = pack_data(pack)["meetings"]
    assert meeting["decisions"][0]["quotes"][0]["quote"] == "overtime"
    assert [each["due"] for each in meeting["open_points"]] == ["2026-01-15", None]


def test_without_meetings_the_workbook_has_no_sheet_for_them() -> None:
    pack = replace(pack_of(), minutes=())
    assert "Minutes" not in openpyxl.load_workbook(io.BytesIO(pack_xlsx(pack))).sheetnames
    assert "Minutes" not in pack_html(pack) and pack_data(pack)["meetings"] == []
