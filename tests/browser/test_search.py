"""An analyst and a colleague search: asked, narrowed, explained, compared, noted, saved, taken along, and refused."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

from core.search.batch.questions import BatchState
from tests.browser.driving import Window
from tests.browser.paper import make_pdf
from tests.browser.test_first_day import sums
from tests.running import RunningApp, running_app

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser

POLICY = {
    "Handling of helium": """
        It is the policy of the yard that every helium bottle is stored upright behind the yellow gate. A leaking helium
        bottle must be carried to the north meadow within nine minutes. Violations of this policy are a matter for
        discipline, and internal audit reviews it every year.
    """,
}
PARADE = "The helium bottle of the summer parade is tied to the float."
GUIDE = f"""# Racks

We recommend a steel rack. To set up the rack, bolt it to the wall, then store each helium bottle in a ring of its own.

# Festivals

{PARADE}
"""
NIGHTS = (
    "The gauge of the bow cell fell after midnight, because frost had cracked its seal.",
    "Two apprentices oiled the gauge above the ballast tank and found a spider in it.",
    "A gauge was missing from the port engine; the mechanic had lent it to the museum.",
    "Lightning struck the mast, yet every gauge kept its reading until dawn.",
    "The new gauge arrived in a crate of oranges and smelled of them for a week.",
    "Captain Ysolde wants a second gauge on the bridge, larger than the clock.",
    "Nobody could read the gauge in the fog, so the cook held a lantern to it.",
    "The gauge of the kitchen boiler was painted over by mistake with green varnish.",
    "An inspector from the insurer photographed each gauge and asked for its papers.",
    "Rainwater dripped on the gauge of the winch until the roof was mended on Sunday.",
    "The tall gauge at the gate jammed when a goose landed on it.",
    "We sold the broken gauge to a collector for nine crowns and bought rope.",
    "During the eclipse the sun gauge showed nothing, as the almanac had foretold.",
)
"""What stands in the log, a section each: more than one page of results, no two of them alike."""
LOG = "\n\n".join(f"# Night {number}\n\n{night}" for number, night in enumerate(NIGHTS, start=1))
NOTE = "Miriam Okafor keeps the key of the bottle cabinet."
NEWS = "# Inspection\n\nThe inspector found every helium bottle stored lying down in the south shed.\n"
QUESTION = '"helium bottle" stored -parade'
NOTHING = "zebra xylophone quark"


@pytest.fixture(scope="module")
def app(shared_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """An app that has read a policy, a vendor's guide and a log, and has no reranker."""
    folder = tmp_path_factory.mktemp("files")
    policy = make_pdf(folder / "Helium_Policy.pdf", "Helium Policy", POLICY)
    (folder / "Rack_Guide.md").write_text(GUIDE, "utf-8")
    (folder / "Watch_Log.md").write_text(LOG, "utf-8")
    with running_app(shared_folder, FIVEFOLD_RERANKER_FAST=str(folder / "no reranker")) as app:
        app.add(policy, folder / "Rack_Guide.md", folder / "Watch_Log.md")
        yield app


@pytest.mark.slow
def test_questions_are_asked_together_taken_along_shared_and_refused(
    app: RunningApp, window: Callable[[RunningApp], Window], tmp_path: Path
) -> None:
    tab = window(app)
    answers_a_file_of_questions(tab, tmp_path)
    is_shared_by_its_address(tab, window(app))
    is_taken_along(tab, tmp_path)
    refuses_what_nothing_answers(tab)
    assert not tab.complains()


@pytest.mark.slow
def test_a_question_is_narrowed_explained_noted_and_saved(
    app: RunningApp, window: Callable[[RunningApp], Window], tmp_path: Path
) -> None:
    tab = window(app)
    says_what_was_read_from_the_question(tab)
    is_narrowed_in_the_sidebar(tab)
    is_read_with_the_keyboard(tab)
    is_shortlisted(tab)
    is_explained_on_inspect(tab)
    is_likened_and_compared(tab)
    is_noted_and_found_again(tab)
    is_marked_as_helpful_for_good(tab)
    tells_what_is_new_in_a_saved_view(tab, tmp_path)
    assert not tab.complains()


def says_what_was_read_from_the_question(tab: Window) -> None:
    """A phrase and an excluded word become chips, the phrase is marked as one, and a chip that is taken away is not
    minded any more."""
    tab.go("search")
    ask(tab, QUESTION)
    tab.wait_for("says “helium bottle”", "does not say “parade”", "Helium_Policy.pdf, page 1")
    sentences = tab.page.locator("[role=option] .sentence")
    assert PARADE not in sentences.all_inner_texts()
    assert "helium bottle" in marked(tab)
    tab.page.get_by_role("button", name="does not say “parade”").click()
    sentences.filter(has_text=PARADE).wait_for()
    tab.page.wait_for_url(lambda url: "without" in parse_qs(urlsplit(url).query))


def is_narrowed_in_the_sidebar(tab: Window) -> None:
    """What is wanted and what is left out, each with counts that follow the other."""
    tab.go("search", q=QUESTION)
    passages = offered(tab, "Document")
    assert passages.keys() == {"Helium_Policy.pdf", "Rack_Guide.md", "Watch_Log.md"}
    value(tab, "Document", "Helium_Policy.pdf").check()
    tab.wait_for("Document: Helium_Policy.pdf")
    assert sum(offered(tab, "Truth").values()) == passages["Helium_Policy.pdf"]
    clear = tab.page.get_by_role("button", name="Clear all", exact=True)
    at_once(tab, clear, tab.page.get_by_role("button", name="Exclude Watch_Log.md"))
    assert "Document: Helium_Policy.pdf" not in tab.wait_for("Document: not Watch_Log.md", "Rack_Guide.md")
    counts, left = offered(tab, "Truth").values(), sum(passages.values()) - passages["Watch_Log.md"]
    assert max(counts) <= left <= sum(counts)  # a passage whose label is uncertain counts under each likely value
    tab.page.get_by_role("button", name="Document: not Watch_Log.md").click()
    tab.page.wait_for_url(lambda url: "exclude_documents" not in parse_qs(urlsplit(url).query))


def is_read_with_the_keyboard(tab: Window) -> None:
    """j chooses the next result, a cell of the strip the best sentence of its truth, and Enter opens it in full."""
    tab.go("search", q=QUESTION)
    rows = tab.page.locator("[role=option]")
    rows.nth(1).wait_for()
    tab.page.locator(".cell").nth(4).wait_for()
    tab.page.keyboard.press("j")
    tab.page.locator("[role=option][aria-selected=true] .rank").filter(has_text="2").wait_for()
    tab.wait_for("rank 2")
    tab.page.wait_for_url(lambda url: "passage" in parse_qs(urlsplit(url).query))
    tab.page.keyboard.press("c")
    box(tab).get_by_text("Sentence id").wait_for()
    tab.page.keyboard.press("Escape")
    box(tab).wait_for(state="detached")
    tab.page.keyboard.press("x")
    tab.page.locator("[role=option][aria-selected=true].ticked").wait_for()
    rows.nth(0).locator(".tick").click()
    rows.nth(0).locator(".tick", has_text="☑").wait_for()
    tab.page.locator(".cell:enabled").first.click()
    tab.settle()
    tab.page.keyboard.press("Enter")
    tab.wait_for("Rank at each stage")


def is_shortlisted(tab: Window) -> None:
    """The ticked results stand in the shortlist, which its address opens."""
    tab.go("search", shortlist="1")
    tab.wait_for("2 items", QUESTION)


def is_explained_on_inspect(tab: Window) -> None:
    """The parts of a score add up to it, and the sentence is marked where it stands."""
    tab.go("search", q=QUESTION)
    tab.wait_for("Helium_Policy.pdf, page 1")
    chosen(tab, "Helium_Policy.pdf, page 1")
    tab.page.get_by_role("link", name="Open in full").click()
    (parts, total), *_ = sums(tab.wait_for("Rank at each stage"))
    assert len(parts) > 2 and sum(parts) == total
    look_at(tab, "Page")
    tab.wait_for("Picture of the page")
    tab.page.get_by_alt_text("Page 1 of Helium_Policy.pdf").wait_for()
    assert "every helium bottle is stored upright behind the yellow gate" in marked(tab)


def is_likened_and_compared(tab: Window) -> None:
    """What else is like a result; and two results side by side, with the difference of their scores."""
    tab.go("search", q=QUESTION)
    tab.page.get_by_role("button", name="More like this").first.click()
    box(tab).get_by_text(re.compile(r"^nearness \d")).first.wait_for()
    box(tab).get_by_role("link").nth(1).wait_for()
    tab.page.keyboard.press("Escape")
    tab.page.keyboard.press("j")
    tab.wait_for("rank 2")
    tab.page.get_by_role("link", name="Compare", exact=True).click()
    text = tab.wait_for("is ahead by", "The differences add up")
    ahead = Decimal(re.findall(r"is ahead by (\d\.\d{3})", text)[0])
    scores = sorted(Decimal(each) for each in re.findall(r"score (\d\.\d{3}) · rank", text))
    assert len(scores) == 2 and abs(scores[1] - scores[0] - ahead) <= Decimal("0.001")


def is_noted_and_found_again(tab: Window) -> None:
    """A note on a result is found beside the documents by the next search, and opens on Insights."""
    tab.go("search", q=QUESTION)
    chosen(tab, "Helium_Policy.pdf, page 1")
    tab.page.get_by_role("button", name="Note", exact=False).first.click()
    text = box(tab).get_by_label("Note", exact=True)
    text.fill(NOTE)
    text.press("Tab")
    tab.settle()
    box(tab).get_by_role("button", name="Save").click()
    tab.page.get_by_test_id("stToast").get_by_text("Saved as insight").wait_for()
    tab.go("search", q="Who keeps the key for each helium bottle?")
    tab.wait_for("Insight", NOTE, "Helium_Policy.pdf, page 1")
    chosen(tab, "Insight")
    tab.page.get_by_role("link", name="Open this insight").first.click()
    tab.wait_for("Freshness 100%", NOTE, "Helium_Policy.pdf")


def is_marked_as_helpful_for_good(tab: Window) -> None:
    """Thumbs up is still up when the page is loaded again."""
    tab.go("search", q=QUESTION)
    thumbs = tab.page.get_by_role("radio", name="Thumbs up")
    thumbs.first.click()
    tab.settle()
    tab.page.reload()
    tab.settle()
    tab.page.locator("[role=radio][aria-label='Thumbs up'][aria-checked=true]").first.wait_for()


def tells_what_is_new_in_a_saved_view(tab: Window, folder: Path) -> None:
    """A search kept under a name marks what came since it was last looked at."""
    tab.page.get_by_role("button", name="Save this search").click()
    box(tab).get_by_label("Name").fill("Bottles")
    box(tab).get_by_label("Name").press("Tab")
    tab.settle()
    box(tab).get_by_role("button", name="Save").click()
    tab.wait_for("Bottles · first visit")
    (folder / "Inspection.md").write_text(NEWS, "utf-8")
    tab.app.add(folder / "Inspection.md")
    tab.go("search")
    tab.page.get_by_role("button", name="Saved views").click()
    box(tab).get_by_role("link", name="Bottles").click()
    text = tab.wait_for("Bottles ·", "Inspection.md")
    assert "1 new result since" in text and "1 document uploaded since" in text
    assert tab.page.locator("[role=option]").filter(has_text="new").filter(has_text="Inspection.md").count() == 1


def answers_a_file_of_questions(tab: Window, folder: Path) -> None:
    """A CSV of questions, those that nothing answers by themselves, and what became of all as a file."""
    lines = [
        ["id", "question"],
        ["a", "Where is a helium bottle stored?"],
        ["b", NOTHING],
        ["c", "Who reads the gauge?"],
    ]
    (folder / "questions.csv").write_text("".join(",".join(line) + "\n" for line in lines), "utf-8")
    tab.go("search", view="batch")
    tab.page.locator("[data-testid=stFileUploaderDropzoneInput]").first.set_input_files(folder / "questions.csv")
    tab.page.get_by_role("button", name="Ask 3 questions").click()
    tab.wait_for("2 questions answered · 1 probably not answered", "Click a question")
    look_at(tab, "Probably not answered")
    rows = list(csv.DictReader(io.StringIO(downloaded(tab, tab.page, "CSV", folder).decode("utf-8-sig"))))
    assert {row["id"]: row["state"] for row in rows} == {
        "a": BatchState.ANSWERED,
        "b": BatchState.UNANSWERED,
        "c": BatchState.ANSWERED,
    }
    assert "helium" in rows[0]["best sentence"].lower() and rows[0]["citation"]


def is_shared_by_its_address(tab: Window, other: Window) -> None:
    """More results come below those shown, and open for a colleague as they stand."""
    tab.go("search", q="the gauge at night")
    before = places(tab)
    tab.page.get_by_role("button", name="Show 10 more").click()
    tab.page.locator("[role=option]").nth(len(before)).wait_for()
    shown = places(tab)
    other.page.goto(tab.page.url)
    other.settle()
    other.page.locator("[role=option]").nth(len(before)).wait_for()
    assert shown == places(other) and shown[: len(before)] == before and len(shown) > len(before)


def is_taken_along(tab: Window, folder: Path) -> None:
    """Results as a workbook, as data and as a text, each read again by what reads such files."""
    import openpyxl

    tab.go("search", q=QUESTION)
    tab.page.get_by_role("button", name="Export").click()
    book = openpyxl.load_workbook(io.BytesIO(downloaded(tab, box(tab), "Excel", folder)), read_only=True)
    assert len(book.sheetnames) > 1
    data = json.loads(downloaded(tab, box(tab), "JSON", folder))
    assert QUESTION in json.dumps(data, ensure_ascii=False).replace('\\"', '"')
    brief = downloaded(tab, box(tab), "Brief", folder).decode("utf-8")
    assert brief.startswith("# ") and "upright behind the yellow gate" in brief


def refuses_what_nothing_answers(tab: Window) -> None:
    """Nothing answers, and what came nearest is shown as such; a reranker that is not there takes nothing away."""
    tab.go("search", q=NOTHING)
    tab.wait_for("Probably not answered in this library (p", "“xylophone”", "The nearest passages are listed below")
    tab.go("search", q=NOTHING, profile="relevance")
    tab.wait_for("Nothing found", "Closest passages")
    tab.go("search", q=QUESTION)
    tab.page.get_by_role("combobox", name="Rerank").click()
    tab.page.get_by_role("option", name="Fast").click()
    tab.wait_for("reranked", "Helium_Policy.pdf, page 1")


def ask(tab: Window, question: str) -> None:
    """Type a question and press Enter."""
    field = tab.page.get_by_label("Question", exact=True)
    field.fill(question)
    field.press("Enter")


def box(tab: Window) -> "Locator":
    """The box that is open."""
    return tab.page.get_by_test_id("stPopoverBody")


def chosen(tab: Window, words: str) -> None:
    """Choose the first result of the list that has these words."""
    row = tab.page.locator("[role=option]").filter(has_text=words).first
    row.click()
    tab.settle()
    tab.page.locator("[role=option][aria-selected=true]").filter(has_text=words).first.wait_for()


def marked(tab: Window) -> str:
    """Everything that is marked on the page."""
    found = tab.page.locator(".stMarkdownColoredBackground")
    found.first.wait_for()
    return " ".join(" ".join(found.all_inner_texts()).split())


def places(tab: Window) -> list[str]:
    """Where the results shown stand, in their order."""
    rows = tab.page.locator("[role=option] .place").filter(has_text=re.compile(r"^Watch_Log\.md, Night \d+$"))
    rows.nth(2).wait_for()
    tab.settle()
    return rows.all_inner_texts()


def value(tab: Window, label: str, title: str) -> "Locator":
    """The box of a value in a check list of the sidebar."""
    return tab.page.get_by_role("group", name=label).get_by_role("checkbox", name=f"{label}: {title}")


def at_once(tab: Window, first: "Locator", second: "Locator") -> None:
    """Click two things. The first is sent, and then the browser is too busy to hear of what came of it."""
    clicks = """async ([first, second]) => {
        first.click();
        await new Promise((sent) => setTimeout(sent, 30));
        const heard = performance.now() + 600;
        while (performance.now() < heard);
        second.click();
    }"""
    tab.page.evaluate(clicks, [first.element_handle(), second.element_handle()])


def offered(tab: Window, label: str) -> dict[str, int]:
    """The values a filter offers → how many passages each stands for."""
    rows = tab.page.get_by_role("group", name=label, exact=True).locator(".pick")
    rows.first.wait_for()
    found = [row.inner_text().split() for row in rows.all()]
    return {" ".join(words[:-1]): int(words[-1].replace(",", "")) for words in found}


def look_at(tab: Window, view: str) -> None:
    """Choose a side of the answer, or which rows to see."""
    tab.page.get_by_role("radio", name=view).or_(tab.page.get_by_role("button", name=view, exact=True)).first.click()
    tab.settle()


def downloaded(tab: Window, where: "Page | Locator", words: str, folder: Path) -> bytes:
    """The file that a button gives."""
    with tab.page.expect_download() as waiting:
        where.get_by_role("button", name=re.compile(rf"(^|\W){words}\b")).first.click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path.read_bytes()
