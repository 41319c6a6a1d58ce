"""What an analyst does on the first day, in a real browser against the real app."""

import os
import re
import shutil
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from core.domain.coverage import CellState
from tests.browser.driving import Window
from tests.browser.paper import make_pdf, text_of
from tests.running import RunningApp

pytestmark = pytest.mark.browser

POLICY = {
    "Purpose and scope": """
        This policy applies to everyone who works in the hangars of Corvane Airship Yard. It is the policy of the yard
        that no airship leaves its mast without a signed release. The yard master owns this policy and reviews it every
        year. Violations of this policy are a matter for discipline.
    """,
    "Handling of helium": """
        Helium bottles must be stored upright behind the yellow gate. The valve of a bottle must be closed by two
        employees, and both must sign the valve log. A leaking helium bottle must be carried to the north meadow within
        nine minutes.
    """,
    "Night watch": """
        The night watch walks the hangar every 45 minutes and writes down the pressure of each gas cell. Employees on
        night watch must not use open flames. The supervisor approves the watch log every morning before the gates are
        opened.
    """,
}
MEADOW = {"Grazing": "Sheep graze the north meadow from April. The shepherd must close the gate at eight."}


def sums(text: str) -> list[tuple[list[Decimal], Decimal]]:
    """Every "A 0.310 + B 0.120 − C 0.012 = 0.418" of a page: the signed parts and the total."""
    found: list[tuple[str, str]] = re.findall(r"((?:(?: [+−] )?[A-Z][a-z -]+ \d\.\d{3})+) = (\d\.\d{3})", text)
    return [
        ([Decimal(f"{sign.strip().replace('−', '-')}{part}") for sign, part in _signed(parts)], Decimal(total))
        for parts, total in found
    ]


def _signed(parts: str) -> list[tuple[str, str]]:
    return re.findall(r"(?:^|( [+−] ))[A-Z][a-z -]+ (\d\.\d{3})", parts)


@pytest.fixture(scope="module")
def shared_folder(models: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A first day begins without a database."""
    folder = tmp_path_factory.mktemp("first day") / "my data"
    shutil.copytree(models, folder / "models", copy_function=os.link)
    return folder


@pytest.mark.slow
def test_a_pdf_is_uploaded_searched_explained_cited_and_covered(
    shared_app: RunningApp, window: Callable[[RunningApp], Window], tmp_path: Path
) -> None:
    pdf = make_pdf(tmp_path / "Hangar_Safety_Policy.pdf", "Hangar Safety Policy", POLICY)
    tab = window(shared_app)

    tab.upload(pdf)
    shared_app.read_by_now(1)
    assert "0 failed" in tab.wait_for("Read Compliance")

    tab.go("search")
    question = tab.page.get_by_label("Question", exact=True)
    question.fill("How quickly must a leaking helium bottle be carried away?")
    question.press("Enter")
    answer = "A leaking helium bottle must be carried to the north meadow within nine minutes."
    results = tab.wait_for(answer)
    assert answer in text_of(pdf) and "Hangar_Safety_Policy.pdf, page 2" in results

    tab.page.get_by_role("link", name="Open in full").click()
    (parts, total), *others = sums(tab.wait_for("Rank at each stage"))
    assert len(parts) > 2
    assert sum(parts) == total
    assert all(sum(each) == whole for each, whole in others)

    tab.page.get_by_text("Citations", exact=True).click()
    quotes = re.findall(r"“([^”]+)”", tab.wait_for("relevance"))[1:]  # the first repeats the question
    assert answer in quotes
    assert all(quote in text_of(pdf) for quote in quotes)

    tab.page.get_by_text("Page", exact=True).first.click()
    tab.wait_for("Picture of the page")
    picture = tab.page.get_by_alt_text("Page 2 of Hangar_Safety_Policy.pdf")
    picture.wait_for()
    assert picture.evaluate("image => image.complete && image.naturalWidth > 100")

    tab.go("coverage")
    tab.page.get_by_label("Topics, one per line").fill("storage of helium bottles\nharvest of sugar beets")
    tab.page.get_by_role("button", name="Add topics").click()
    tab.wait_for("2 topics")
    tab.page.get_by_role("button", name="Assess").click()
    board = tab.wait_for("What to obtain", "% covered")
    assert CellState.COVERED.value in board
    assert CellState.GAP.value in board
    tab.page.get_by_role("button", name="What to obtain").click()
    tab.wait_for("harvest of sugar beets", "The owner of the policy handbook")
    assert not tab.complains()


def test_a_file_that_cannot_be_used_fails_alone_with_its_reason(
    shared_app: RunningApp, window: Callable[[RunningApp], Window], tmp_path: Path
) -> None:
    whole = make_pdf(tmp_path / "whole.pdf", "Meadow Rules", MEADOW).read_bytes()
    (tmp_path / "torn.pdf").write_bytes(whole[: len(whole) // 3])
    (tmp_path / "nothing.txt").write_bytes(b"")
    documents = shared_app.health()["documents"]
    tab = window(shared_app)
    tab.upload(*(tmp_path / name for name in ("torn.pdf", "nothing.txt", "whole.pdf")))
    tab.wait_for("'nothing.txt' is empty")
    shared_app.read_by_now(documents + 2)
    tab.go("upload")
    assert "torn.pdf" in tab.wait_for("1 failed", f"{documents + 1} read", "whole.pdf")
    assert not tab.complains()


def test_a_file_over_the_limit_says_so_without_being_pointed_at(
    shared_app: RunningApp, window: Callable[[RunningApp], Window], tmp_path: Path
) -> None:
    huge = tmp_path / "huge.pdf"
    huge.touch()
    os.truncate(huge, 1025 << 20)  # takes no room on the disk
    tab = window(shared_app)
    tab.go("upload")
    tab.page.locator("[data-testid=stFileUploaderDropzoneInput]").first.set_input_files(huge)
    reason = tab.page.get_by_text("File must be 1.0GB or smaller")
    reason.wait_for()
    box = reason.bounding_box()
    assert box and box["width"] > 100 and box["height"] > 10
