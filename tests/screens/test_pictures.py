"""The picture of a page: a cited sentence is marked where it stands, or not at all."""

import pytest

from core.errors import NotFound, UnreadableFile
from core.pictures import page_picture

SAID = "Helium bottles must be stored upright."
TWICE = "See the log."


@pytest.fixture(scope="module")
def pdf() -> bytes:
    from fpdf import FPDF

    paper = FPDF()
    paper.add_page()
    paper.set_font("Helvetica", size=12)
    for line in (TWICE, SAID, TWICE):
        paper.cell(text=line, new_x="LMARGIN", new_y="NEXT")
    return bytes(paper.output())


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
    assert [each.marked for each in pictures] == [1, 1]
    assert pictures[0].png != pictures[1].png


@pytest.mark.parametrize("text", ["Helium bottles may be stored anywhere.", TWICE])
def test_what_cannot_be_located_exactly_is_said_and_not_marked(pdf: bytes, text: str) -> None:
    picture = page_picture(pdf, 1, text=text, spans=[(0, len(text))])
    assert picture.marked == 0 and "nothing is marked" in picture.note
    assert picture.png == page_picture(pdf, 1).png


def test_a_page_that_is_not_there_and_a_file_that_is_no_pdf_are_told(pdf: bytes) -> None:
    with pytest.raises(NotFound):
        page_picture(pdf, 2)
    with pytest.raises(UnreadableFile):
        page_picture(b"no pdf", 1)
