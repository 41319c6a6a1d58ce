"""The picture of a page: a cited sentence is marked where it stands, word by word, or not at all.

The cited sentence is printed in red and everything else in black, so that the picture itself says what was to be
marked: every red dot, and no black one.
"""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import core.coverage.meeting_pack
from core.domain.errors import NotFound, UnreadableFile
from core.ingestion.parsers.pdf import read_pdf
from core.search.citations.page_locator import PagePicture, page_picture

SAID = "Helium bottles must be stored upright."
TWICE = "See the log."
BEFORE = "The first shift opens the hall and reads the log of the night before anything is moved. "
LONG = (
    "Helium bottles must be stored upright and chained to the wall, away from every source of heat and from the only"
    " way out of the room."
)
AFTER = " Empty ones are marked and go back within a week. The guard signs for each of them."
BLACK, RED = (0, 0, 0), (255, 0, 0)
SCALE = 3.0
FONT = Path(core.coverage.meeting_pack.__file__).parent / "fonts" / "DejaVuSansCondensed.ttf"

Parts = Sequence[tuple[str, tuple[int, int, int]]]


def paper(*, font: Path | None = None) -> Any:
    from fpdf import FPDF

    made = FPDF()
    if font is not None:
        made.add_font("own", fname=str(font))
    made.add_page()
    made.set_font("own" if font else "Helvetica", size=12)
    return made


def flowed(made: Any, parts: Parts) -> Any:
    for text, colour in parts:
        made.set_text_color(*colour)
        made.write(6, text)
    return made


def lines(made: Any, parts: Parts, *, left: int = 30, top: int = 30) -> Any:
    for number, (text, colour) in enumerate(parts):
        made.set_text_color(*colour)
        made.text(left, top + 6 * number, text)
    return made


def columns(parts: Parts) -> bytes:
    made = paper()
    with made.text_columns(ncols=2, gutter=10, text_align="J") as both:
        for text, colour in parts:
            made.set_text_color(*colour)
            both.write(text)
    return bytes(made.output())


def turned(pdf: bytes, angle: int, *, upright: bool, crop: tuple[int, int, int, int] | None = None) -> bytes:
    """The first page shown turned; upright: with its content turned the other way, so that it still reads rightly."""
    from pypdf import PdfReader, PdfWriter
    from pypdf.generic import RectangleObject

    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf)))
    page = writer.pages[0]
    if upright:
        page.rotate(-angle)
        page.transfer_rotation_to_content()
    page.rotate(angle)
    if crop:
        page.cropbox = RectangleObject(crop)
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def contained_wordings(text: str, first: str, last: str) -> tuple[int, int]:
    start = text.index(first)
    return start, text.index(last, start) + len(last)


def dots(pdf: bytes, picture: PagePicture, *, number: int = 1) -> tuple[int, int, int]:
    """Red dots, red dots inside the boxes, and black dots inside them; a dot's width beside a box still counts."""
    from PIL import Image

    image = np.asarray(Image.open(BytesIO(page_picture(pdf, number, scale=SCALE).png)).convert("RGB")).astype(int)
    red = (image[..., 0] > 150) & (image[..., 1] < 90)
    black = image.max(axis=2) < 110
    inside = np.zeros(red.shape, dtype=bool)
    for box in (box for boxes in picture.boxes for box in boxes):
        edges = (box.top - 0.7, box.bottom + 0.7, box.left - 0.7, box.right + 0.7)
        top, bottom, left, right = (max(0, round(edge * SCALE)) for edge in edges)
        inside[top:bottom, left:right] = True
    return int(red.sum()), int((red & inside).sum()), int((black & inside).sum())


def marked_right(pdf: bytes, first: str, last: str) -> PagePicture:
    """The picture of the first page with the red sentence marked, every dot of it and nothing else."""
    text = read_pdf("paper.pdf", pdf).pages[0].text
    picture = page_picture(pdf, 1, text=text, spans=[contained_wordings(text, first, last)])
    red, inside, foreign = dots(pdf, picture)
    assert (picture.marked, picture.note) == (1, "")
    assert red > 500
    assert (inside, foreign) == (red, 0)
    return picture


@pytest.fixture(scope="module")
def pdf() -> bytes:
    return bytes(lines(paper(), [(TWICE, BLACK), (SAID, RED), (TWICE, BLACK)]).output())


@pytest.fixture(scope="module")
def wrapped() -> bytes:
    return bytes(flowed(paper(), [(BEFORE, BLACK), (LONG, RED), (AFTER, BLACK)]).output())


def test_a_sentence_is_marked_on_its_page(pdf: bytes) -> None:
    text = f"{TWICE}\n{SAID}\n{TWICE}"
    start = text.index(SAID)
    bare, marked = page_picture(pdf, 1), page_picture(pdf, 1, text=text, spans=[(start, start + len(SAID))])
    assert (marked.marked, marked.note) == (1, "")
    assert marked.png != bare.png


def test_of_two_equal_sentences_the_cited_one_is_marked(pdf: bytes) -> None:
    text = f"{TWICE}\n{SAID}\n{TWICE}"
    first, last = (0, len(TWICE)), (text.rindex(TWICE), len(text))
    pictures = [page_picture(pdf, 1, text=text, spans=[span]) for span in (first, last)]
    tops = [picture.boxes[0][0].top for picture in pictures]
    assert [each.marked for each in pictures] == [1, 1]
    assert tops[0] < tops[1]


def test_a_sentence_over_three_lines_has_a_box_for_each(wrapped: bytes) -> None:
    assert len(marked_right(wrapped, "Helium", "the room.").boxes[0]) == 3


def test_a_sentence_that_goes_on_in_the_next_column_is_marked_in_both() -> None:
    pdf = columns([(BEFORE * 31, BLACK), (LONG, RED), (AFTER * 3, BLACK)])
    picture = marked_right(pdf, "Helium", "the room.")
    assert max(box.left for box in picture.boxes[0]) - min(box.left for box in picture.boxes[0]) > 200


@pytest.mark.parametrize("angle", [90, 180, 270])
def test_a_page_that_is_shown_turned_is_marked_as_it_is_shown(wrapped: bytes, angle: int) -> None:
    marked_right(turned(wrapped, angle, upright=True), "Helium", "the room.")


@pytest.mark.parametrize("angle", [0, 90, 180, 270])
def test_a_page_that_lies_on_its_side_is_marked_too(pdf: bytes, angle: int) -> None:
    marked_right(turned(pdf, angle, upright=False), "Helium", "upright.")


@pytest.mark.parametrize("angle", [0, 90, 180, 270])
def test_a_cropped_page_is_marked_where_the_crop_shows_it(pdf: bytes, angle: int) -> None:
    marked_right(turned(pdf, angle, upright=False, crop=(40, 500, 480, 820)), "Helium", "upright.")


@pytest.mark.parametrize("angle", [90, 45, 270])
def test_a_line_printed_aslant_is_marked(angle: int) -> None:
    made = paper()
    with made.rotation(angle, 100, 150):
        lines(made, [(TWICE, BLACK), (SAID, RED), (TWICE, BLACK)], left=60, top=150)
    text = read_pdf("paper.pdf", bytes(made.output())).pages[0].text
    picture = page_picture(bytes(made.output()), 1, text=text, spans=[contained_wordings(text, "Helium", "upright.")])
    red, inside, _ = dots(bytes(made.output()), picture)
    assert picture.marked == 1
    assert inside > 0.97 * red > 0


def test_words_broken_by_hyphens_at_line_ends_are_marked_whole() -> None:
    statement = ("Helium bottles are inter-", "nationally marked in yel-", "low and in green.")
    made = lines(paper(), [(TWICE, BLACK), *((line, RED) for line in statement), (TWICE, BLACK)])
    text = read_pdf("paper.pdf", bytes(made.output())).pages[0].text
    assert "internationally" in text and "yellow" in text
    assert len(marked_right(bytes(made.output()), "Helium", "green.").boxes[0]) == 3


def test_soft_hyphens_are_marked_where_they_break_and_missed_where_they_do_not() -> None:
    made = paper()
    made.set_right_margin(120)
    statement = "Helium bot\u00adtles are inter\u00adna\u00adtion\u00adal\u00adly marked yel\u00adlow."
    flowed(made, [(BEFORE, BLACK), (statement, RED), (AFTER, BLACK)])
    assert "bottles are internationally" in " ".join(read_pdf("paper.pdf", bytes(made.output())).pages[0].text.split())
    marked_right(bytes(made.output()), "Helium", "low.")


def test_ligatures_accents_and_signs_beyond_the_basic_plane_do_not_hide_a_sentence() -> None:
    statement = "The \ufb01rst o\ufb03cer \ufb02ies at 10⁵ m² and ½ speed, naïve café \U0001f600 ok."
    made = flowed(paper(font=FONT), [("Read the o\ufb03ce log. ", BLACK), (statement, RED), (AFTER, BLACK)])
    marked_right(bytes(made.output()), "The ", " ok.")


def test_a_text_that_spells_ligatures_otherwise_than_the_page_finds_its_place() -> None:
    made = flowed(paper(font=FONT), [(BEFORE, BLACK), ("The \ufb01rst o\ufb03cer signs.", RED), (AFTER, BLACK)])
    for text in ("The first officer signs.", "The \ufb01rst o\ufb03cer signs.", "The \ufb01rst of\ufb01cer signs."):
        picture = page_picture(bytes(made.output()), 1, text=text, spans=[(0, len(text))])
        red, inside, foreign = dots(bytes(made.output()), picture)
        assert (inside, foreign) == (red, 0)


def test_raised_signs_belong_to_their_sentence() -> None:
    made = flowed(paper(), [(BEFORE, BLACK), ("Helium", RED)])
    made.char_vpos = "SUP"
    flowed(made, [("12", RED)])
    made.char_vpos = "LINE"
    flowed(made, [(" is stored upright.", RED), (AFTER, BLACK)])
    marked_right(bytes(made.output()), "Helium", "upright.")


def test_a_text_in_another_order_than_the_page_is_marked_line_by_line() -> None:
    rows = [("Helium", BLACK), ("upright", RED), ("Argon", BLACK), ("flat", RED)]
    made = lines(paper(), rows)
    text = "upright\nflat\nHelium\nArgon"
    picture = page_picture(bytes(made.output()), 1, text=text, spans=[(0, len("upright\nflat"))])
    red, inside, foreign = dots(bytes(made.output()), picture)
    assert picture.marked == 1
    assert (inside, foreign) == (red, 0)


def test_what_stands_around_a_repeated_sentence_tells_which_is_meant() -> None:
    """The text lacks the page's first line, so letters cannot simply be counted."""
    made = lines(paper(), [("Page 7", BLACK), (TWICE, BLACK), (SAID, BLACK), (TWICE, RED), ("The end.", BLACK)])
    text = f"{TWICE}\n{SAID}\n{TWICE}\nThe end."
    start = text.rindex(TWICE)
    picture = page_picture(bytes(made.output()), 1, text=text, spans=[(start, start + len(TWICE))])
    red, inside, foreign = dots(bytes(made.output()), picture)
    assert (inside, foreign) == (red, 0)


@pytest.mark.parametrize("text", ["Helium bottles may be stored anywhere.", TWICE, "-", ""])
def test_what_cannot_be_located_exactly_is_said_and_not_marked(pdf: bytes, text: str) -> None:
    picture = page_picture(pdf, 1, text=text, spans=[(0, len(text))])
    assert picture.marked == 0 and "nothing is marked" in picture.note
    assert picture.boxes == ((),)
    assert picture.png == page_picture(pdf, 1).png


def test_of_several_sentences_those_not_found_are_counted(pdf: bytes) -> None:
    text = f"{TWICE}\n{SAID}\nNobody said this."
    spans = [contained_wordings(text, "Helium", "upright."), contained_wordings(text, "Nobody", "this.")]
    picture = page_picture(pdf, 1, text=text, spans=spans)
    assert picture.marked == 1
    assert picture.note.startswith("1 of 2 cited sentences could not be located")


def test_letters_too_small_to_see_are_not_marked(pdf: bytes) -> None:
    made = paper()
    made.set_font_size(0.01)
    made.text(30, 30, SAID)
    made.set_font_size(12)
    made.text(30, 60, "Anything else.")
    picture = page_picture(bytes(made.output()), 1, text=f"{SAID}\nAnything else.", spans=[(0, len(SAID))])
    assert picture.marked == 0


def test_a_page_that_is_not_there_and_a_file_that_is_no_pdf_are_told(pdf: bytes) -> None:
    with pytest.raises(NotFound):
        page_picture(pdf, 2)
    with pytest.raises(UnreadableFile):
        page_picture(b"no pdf", 1)
