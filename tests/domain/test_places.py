"""Where a stretch of text stands on a page: laws of the matching, on invented pages."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from core.ingestion.parsers.pdf import read_pdf
from core.ingestion.parsers.text_cleaning import clean
from core.search.citations.page_locator import Box, bare, located

words = st.text("abcdefgh", min_size=1, max_size=7)
sentences = st.lists(words, min_size=1, max_size=6).map(lambda parts: " ".join(parts) + ".")


def printed(*lines: str) -> bytes:
    from fpdf import FPDF

    paper = FPDF()
    paper.add_page()
    paper.set_font("Courier", size=11)
    for line in lines:
        paper.cell(text=line, new_x="LMARGIN", new_y="NEXT")
    return bytes(paper.output())


@given(expected=st.lists(sentences, min_size=1, max_size=8))
def test_every_sentence_of_a_page_is_located_on_its_own_line_however_often_it_is_said(expected: list[str]) -> None:
    pdf = printed(*expected)
    text = read_pdf("page.pdf", pdf).pages[0].text
    spans, at = [], 0
    for sentence in expected:
        start = text.index(sentence, at)
        spans.append((start, at := start + len(sentence)))
    found = located(pdf, 1, text, spans)
    assert all(found)
    tops = [boxes[0].top for boxes in found]
    assert tops == sorted(tops)
    assert all(after.top > before.bottom for (before, *_), (after, *_) in pairwise(found))


@given(expected=sentences, other=sentences)
def test_a_sentence_the_page_does_not_hold_has_no_place(expected: str, other: str) -> None:
    lone = f"z{other}"
    assert located(printed(expected), 1, lone, [(0, len(lone))]) == [()]


@given(st.text())
def test_letters_count_the_same_with_spaces_and_hyphens_anywhere(text: str) -> None:
    assert bare(" \u00ad-\n".join(text)) == bare(text)


def test_a_bullet_of_a_symbol_font_is_the_bullet_that_was_read() -> None:
    assert bare("\uf0b7 Overtime is paid.") == bare(clean("\uf0b7 Overtime is paid.")) != bare("Overtime is paid.")


def test_a_box_holds_what_has_its_middle_inside() -> None:
    box = Box(0, 0, 10, 10)
    assert box.holds(Box(8, 8, 11, 11))
    assert not box.holds(Box(9, 9, 14, 10))
