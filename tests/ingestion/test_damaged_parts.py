"""A file whose comments, notes, charts or pictures are damaged is read without them, and says so."""

import zipfile
from collections.abc import Callable
from io import BytesIO

import openpyxl
import pytest
from openpyxl.comments import Comment
from PIL import Image

from core.domain.errors import UnreadableFile
from core.ingestion.parsers import extract
from tests.ingestion.making import with_part
from tests.ingestion.making_word import word_of
from tests.ingestion.test_extract_docx import CHART, header, par, run, section
from tests.ingestion.test_extract_office import deck_of, saved

DRAWING = (
    f"<w:p>{run('See below.')}<w:r><w:drawing>"
    '<c:chart xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" r:id="chart"/></w:drawing></w:r></w:p>'
)


def word() -> bytes:
    """A document with a part of each kind beside its text."""
    note = f'<w:{{0}} w:id="1">{par("A note.")}</w:{{0}}>'
    data = word_of(
        par("Pay is due on the first.") + DRAWING + section(header("header")),
        header=par("SOP-012"),
        footnotes=note.format("footnote"),
        endnotes=note.format("endnote"),
        comments=f'<w:comment w:id="4" w:author="Eva">{par("Should be 14.")}</w:comment>',
        chart="",
    )
    return with_part(data, "word/chart.xml", CHART.encode())


def workbook() -> bytes:
    book, out = openpyxl.Workbook(), BytesIO()
    sheet = book.active
    assert sheet is not None
    for row in (["Name", "Rate"], ["Ada", 0.5]):
        sheet.append(row)
    sheet["B2"].comment = Comment("From May on 0.8.", "Eva")
    book.save(out)
    return out.getvalue()


def cut(package: bytes, name: str) -> bytes:
    """The package with a part whose XML ends early."""
    with zipfile.ZipFile(BytesIO(package)) as parts:
        content = parts.read(name)
    return with_part(package, name, content[: len(content) // 2])


def flipped(package: bytes, name: str) -> bytes:
    """The package with a part one byte of which is not what was written."""
    with zipfile.ZipFile(BytesIO(package)) as parts:
        info = parts.getinfo(name)
    at = info.header_offset + 30 + len(name) + info.compress_size // 2
    return package[:at] + bytes([package[at] ^ 0xFF]) + package[at + 1 :]


@pytest.mark.parametrize("damaged", [cut, flipped])
@pytest.mark.parametrize(
    ("file", "make", "part", "kind", "text"),
    [
        ("a.docx", word, "word/comments.xml", "comments", "Pay is due"),
        ("a.docx", word, "word/footnotes.xml", "footnotes", "Comment by Eva"),
        ("a.docx", word, "word/endnotes.xml", "endnotes", "A note."),
        ("a.docx", word, "word/header.xml", "page headers", "Pay is due"),
        ("a.docx", word, "word/chart.xml", "charts", "See below."),
        ("a.pptx", lambda: saved(deck_of()), "ppt/charts/chart1.xml", "charts", "Supervisors approve it."),
        ("a.pptx", lambda: saved(deck_of()), "ppt/notesSlides/notesSlide1.xml", "speaker notes", "Left words."),
        ("a.xlsx", workbook, "xl/comments/comment1.xml", "comments", "Ada"),
    ],
)
def test_the_rest_is_read_with_a_warning(
    file: str, make: Callable[[], bytes], part: str, kind: str, text: str, damaged: Callable[[bytes, str], bytes]
) -> None:
    whole = extract(file, make())
    found = extract(file, damaged(make(), part))
    assert [each for each in found.warnings if each not in whole.warnings] == [
        f"Damaged, so not read: {kind}. Save the file again in the program that made it, and upload it."
    ]
    assert text in "\n".join(page.text for page in found.pages)


def test_a_damaged_picture_costs_no_text() -> None:
    deck, picture = deck_of(), BytesIO()
    Image.new("L", (9, 9)).save(picture, "PNG")
    deck.slides[0].shapes.add_picture(picture, 0, 0)
    found = extract("a.pptx", flipped(saved(deck), "ppt/media/image1.png"))
    assert found.warnings[-1].startswith("Damaged, so not read: pictures or embedded files.")
    assert "Left words." in "\n".join(page.text for page in found.pages)


@pytest.mark.parametrize("damaged", [cut, flipped])
def test_a_file_whose_text_is_damaged_is_refused(damaged: Callable[[bytes, str], bytes]) -> None:
    with pytest.raises(UnreadableFile, match="damaged"):
        extract("a.docx", damaged(cut(word(), "word/comments.xml"), "word/document.xml"))
