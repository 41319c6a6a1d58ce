"""A whole review meeting: topics from the contract, a board, decisions, the pack, a new version, what it changes."""

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import openpyxl
import pypdfium2
import pytest

from core.domain.coverage import CellState, ReviewVerdict
from tests.browser.driving import Window
from tests.running import RunningApp

pytestmark = pytest.mark.browser

CONTRACT = """# Statement of work

The vendor shall store helium bottles in the north meadow. The vendor must train every pilot before the first flight.
"""
POLICY = """# Hangar policy

Helium bottles must be stored upright in the north meadow. This policy is reviewed every year by internal audit.
"""
_TICK_MOVE_TICK = """async () => {
    const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", { key }));
    const hosts = () => [...document.querySelectorAll("*")].filter((each) => each.shadowRoot);
    press("x");
    press("n");
    for (let i = 0; i < 1000 && !hosts().some((each) => each.shadowRoot.querySelector(".row.ticked")); i++) {
        press("n");
        press("p");
        await new Promise((done) => setTimeout(done, 20));
    }
    press("x");
}"""
"""Select a cell and the next. The list is drawn again while the move waits for further keys, which n and p are."""
CHANGED = POLICY.replace("upright in the north meadow", "lying down in the south shed")


def test_a_review_from_the_contract_to_the_pack_and_back(
    start: Callable[[], RunningApp], window: Callable[[RunningApp], Window], tmp_path: Path
) -> None:
    app = start()
    tab = window(app)
    for name, text in (("sow.md", CONTRACT), ("hangar_policy.md", POLICY)):
        (tmp_path / name).write_text(text, "utf-8")
    app.add(tmp_path / "sow.md", tmp_path / "hangar_policy.md")

    tab.go("coverage")
    tab.page.get_by_role("tab", name="Requirements").click()
    tab.page.get_by_role("button", name="Find requirements").first.click()
    tab.wait_for("2 proposals")
    tab.page.get_by_role("button", name="Add all 2").click()
    tab.wait_for("2 topics")
    tab.page.get_by_role("button", name="Assess").click()
    tab.wait_for("% covered", "What to obtain")

    tab.go("coverage", view="Review")
    tab.wait_for("0 of")
    name = tab.page.get_by_label("Your name")
    name.fill("Ann")
    name.press("g")  # typed, as every key in a field
    tab.wait_for("0 of")
    name.fill("Ann")
    name.press("Enter")
    tab.settle()
    tab.page.keyboard.press("n")
    tab.page.keyboard.press("g")  # at once: the second cell is meant, though the first is still drawn
    tab.wait_for("1 of", "Decided: gap confirmed")
    tab.page.keyboard.press("u")
    tab.wait_for("0 of 7 cells decided", "2 of 7 cells Select all")  # back at the cell that was undone
    tab.page.keyboard.press("g")
    tab.wait_for("1 of", "Decided: gap confirmed")
    tab.page.keyboard.press("w")
    tab.wait_for("A waiver needs a reason")
    tab.page.evaluate(_TICK_MOVE_TICK)
    tab.wait_for("2 cells selected")
    tab.page.keyboard.press("f")
    tab.wait_for("3 of 7 cells decided", "Decided: needs work – 2 cells")
    tab.page.keyboard.press("u")
    tab.wait_for("1 of 7 cells decided")

    tab.go("coverage", view="Requirements")
    tab.wait_for("2 requirements shown")

    files = {kind: packed(tab, words, tmp_path) for kind, words in PACKS.items()}
    pages = pypdfium2.PdfDocument(files["pdf"])
    text = "\n".join(page.get_textpage().get_text_bounded() for page in pages)
    assert "Coverage review" in text and "gap confirmed" in text and "Ann" in text
    assert "gap confirmed" in files["html"].decode()
    data = json.loads(files["json"])
    verdicts = [each["verdict"] for each in data["decisions"]]
    assert (verdicts.count(ReviewVerdict.CONFIRMED.value), verdicts.count(ReviewVerdict.UNDONE.value)) == (2, 3)
    assert {cell["state"] for cell in data["board"]["cells"]} >= {CellState.GAP.value, CellState.COVERED.value}

    (tmp_path / "edited.xlsx").write_bytes(edited(files["xlsx"]))
    tab.page.locator("[data-testid=stFileUploaderDropzoneInput]").first.set_input_files(tmp_path / "edited.xlsx")
    tab.wait_for("1 decision to import")
    tab.page.get_by_role("button", name="Import 1 decision").click()
    tab.wait_for("1 decision imported")
    assert not tab.complains()


def test_evidence_that_changed_makes_an_accepted_cell_suspect_and_names_the_sentence(
    start: Callable[[], RunningApp], window: Callable[[RunningApp], Window], tmp_path: Path
) -> None:
    app = start()
    tab = window(app)
    (tmp_path / "hangar_policy.md").write_text(POLICY, "utf-8")
    app.add(tmp_path / "hangar_policy.md")
    tab.go("coverage")
    tab.page.get_by_label("Topics, one per line").fill("helium bottles stored upright")
    tab.page.get_by_role("button", name="Add topics").click()
    tab.wait_for("1 topic")
    tab.page.get_by_role("button", name="Assess").click()
    tab.wait_for("% covered", "What to obtain")
    tab.page.get_by_role("combobox", name="Open a cell").click()
    tab.page.get_by_role("option", name="helium bottles stored upright · compliance").click()
    drawer = tab.page.get_by_role("dialog")
    drawer.get_by_label("Your name").fill("Ann")
    drawer.get_by_label("Your name").press("Enter")
    tab.settle()
    drawer.get_by_role("button", name="Accept as covered").click()
    drawer.wait_for(state="detached")

    tab.go("library", document="1")
    tab.page.get_by_role("button", name="Delete").click()
    tab.page.get_by_role("dialog").get_by_role("button", name="Move to the trash").click()
    tab.wait_for("The library is empty")
    (tmp_path / "hangar_policy.md").write_text(CHANGED, "utf-8")
    app.add(tmp_path / "hangar_policy.md")
    tab.go("coverage", view="Review")
    text = tab.wait_for("Accepted by Ann")
    assert "Helium bottles must be stored upright in the north meadow." in text
    assert "lying down in the south shed" in text


PACKS = {"pdf": "PDF", "xlsx": "Excel", "html": "HTML", "json": "JSON"}


def packed(tab: Window, words: str, folder: Path) -> bytes:
    """The meeting pack in one format, as a person downloads it."""
    tab.go("coverage", view="Meeting pack")
    if words == "PDF":
        tab.page.get_by_role("button", name="PDF to print").click()
        words = "Download PDF"
    with tab.page.expect_download() as waiting:
        tab.page.get_by_role("button", name=words).click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path.read_bytes()


def edited(workbook: bytes) -> bytes:
    """The workbook with one more decision in it."""
    book = openpyxl.load_workbook(BytesIO(workbook))
    sheet = book["Decisions"]
    heads = [tile.value for tile in sheet[1]]
    row = next(
        number
        for number in range(2, sheet.max_row + 1)
        if "gap" in sheet.cell(number, heads.index("state") + 1).value
        and not sheet.cell(number, heads.index("verdict") + 1).value
    )
    for column, value in (("verdict", ReviewVerdict.NEEDS_WORK.value), ("who", "Bob"), ("owner", "Cid")):
        sheet.cell(row, heads.index(column) + 1, value)
    out = BytesIO()
    book.save(out)
    return out.getvalue()
