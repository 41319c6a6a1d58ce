"""Raised and lowered numbers of every kind of file: exponents, marks of notes and fractions beside other digits."""

import re
from io import BytesIO

import pptx
import pytest
from fpdf import FPDF

from core.ingestion.parsers import extract
from core.search.citations.page_locator import located
from tests.ingestion.making_office import odt_of, rtf_of
from tests.ingestion.making_word import word_of

PLAIN = "10{-6} m{2} in 2019{3}, log<10>100, CO<2>, the 5{th}, 1{1}/<2> h"
WRITTEN = "10^-6 m^2 in 2019^3, log_10 100, CO2, the 5th, 1 1/2 h"


def slide_of(*runs: tuple[str, int]) -> bytes:
    """A presentation of one slide; a run is its text and 1 (raised), -1 (lowered) or 0."""
    deck, out = pptx.Presentation(), BytesIO()
    frame = deck.slides.add_slide(deck.slide_layouts[6]).shapes.add_textbox(0, 0, 9_000_000, 900_000).text_frame
    for text, level in runs:
        run = frame.paragraphs[0].add_run()
        run.text = text
        if level:
            run.font._element.set("baseline", f"{level * 30_000}")
    deck.save(out)
    return out.getvalue()


def runs_of(text: str) -> list[tuple[str, int]]:
    """The runs of a line, those in braces raised, those in angle brackets lowered; signs are runs of their own."""
    parts = re.split(r"([{<])", text.replace("{-6}", "{-}{6}").replace("}", "{").replace(">", "<"))
    levels = {"{": 1, "<": -1}
    runs = [(part, 0 if at % 4 == 0 else levels[parts[at - 1]]) for at, part in enumerate(parts) if at % 2 == 0]
    return [run for run in runs if run[0]]


def word() -> bytes:
    levels = {1: "superscript", -1: "subscript", 0: "baseline"}
    runs = (
        f'<w:r><w:rPr><w:vertAlign w:val="{levels[level]}"/></w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'
        for text, level in runs_of(PLAIN)
    )
    return word_of(f"<w:p>{''.join(runs)}</w:p>")


def odt() -> bytes:
    positions = {1: "super 58%", -1: "-33% 58%", 0: "0% 100%"}
    styles = "".join(
        f'<style:style style:name="T{at}"><style:text-properties style:text-position="{position}"/></style:style>'
        for at, position in positions.items()
    )
    spans = "".join(f'<text:span text:style-name="T{level}">{text}</text:span>' for text, level in runs_of(PLAIN))
    return odt_of(f"<text:p>{spans}</text:p>", styles)


def rtf() -> bytes:
    words = {1: r"{\super ", -1: r"{\sub ", 0: "{"}
    return rtf_of("".join(f"{words[level]}{text}}}" for text, level in runs_of(PLAIN)))


def html() -> bytes:
    tags = {1: "sup", -1: "sub", 0: "span"}
    runs = [("-6", 1) if run == ("-", 1) else run for run in runs_of(PLAIN) if run != ("6", 1)]
    return f"<p>{''.join(f'<{tags[level]}>{text}</{tags[level]}>' for text, level in runs)}</p>".encode()


@pytest.mark.parametrize(
    ("name", "data"),
    [("a.docx", word()), ("a.pptx", slide_of(*runs_of(PLAIN))), ("a.odt", odt()), ("a.rtf", rtf()), ("a.html", html())],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_raised_numbers_are_no_further_digits(name: str, data: bytes) -> None:
    assert extract(name, data).pages[0].text == WRITTEN


def pdf_of(*runs: tuple[str, int]) -> bytes:
    page = FPDF()
    page.add_page()
    page.set_font("helvetica", size=11)
    for text, level in runs:
        page.char_vpos = {1: "SUP", -1: "SUB", 0: "LINE"}[level]
        page.write(6, text)
    return bytes(page.output())


@pytest.mark.parametrize(
    ("printed", "text"),
    [
        ("As in 2019{3}", "As in 2019 ³"),
        ("(Part 7){2}", "(Part 7) ²"),
        ("to pay by 31 December.{12}", "to pay by 31 December. ¹²"),
        ("paid overtime{1,2}", "paid overtime ¹,²"),
        ("about 10{-6}", "about 10⁻⁶"),
        ("of 120 m{2}", "of 120 m2"),
        ("Form 1040", "Form 1040"),
    ],
)
def test_raised_numbers_of_a_pdf_are_apart_and_found_on_its_page(printed: str, text: str) -> None:
    runs = [("-6", 1) if run == ("-", 1) else run for run in runs_of(printed) if run != ("6", 1)]
    data = pdf_of(*runs)
    read = extract("a.pdf", data).pages[0].text
    assert read == text
    assert all(located(data, 1, read, [(0, len(read))])) or "⁻" in text
