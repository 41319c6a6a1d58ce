"""Pictures of text: read where text recognition is installed, told where it is not – page by page, never in silence."""

from collections.abc import Callable
from functools import cache
from io import BytesIO

import pytest
from PIL import Image

from adapters.ocr import installed_ocr
from core.coverage.detection.risks import _UNREADABLE
from core.domain.errors import BadFile, Cure, EmptyFile, FileTooCostly, UnreadableFile, UnsupportedFile
from core.domain.extraction import BlockKind, ExtractedDocument
from core.ingestion.chunking import split
from core.ingestion.parsers import extract
from core.ingestion.parsers.text_cleaning import garbled, mojibake
from core.search.citations.page_locator import located
from tests.ingestion.making import drawn, pdf_of, scan_of

LEAVE = "# Leave policy\nEmployees accrue one day of leave every month.\nUnused leave is carried over to the next year."
PAY = "# Overtime pay\nOvertime is paid at one and a half times the regular rate after forty hours."
OCR = installed_ocr()
needs_tesseract = pytest.mark.skipif(OCR is None, reason="Tesseract is not installed")


@cache
def scan() -> bytes:
    """A picture of `LEAVE`."""
    return drawn(pdf_of(LEAVE))


@cache
def white() -> bytes:
    """A picture of an empty page."""
    return drawn(pdf_of(""))


def recognised(name: str, data: bytes, seconds: float = 300) -> ExtractedDocument:
    """What is read of a file where text recognition is installed; `extract` alone reads as where it is not."""
    return extract(name, data, seconds=seconds, ocr=OCR)


@needs_tesseract
def test_the_pages_of_a_mixed_file_that_are_pictures_are_recognised_and_told() -> None:
    extracted = recognised("mixed.pdf", scan_of("Leave is paid.", scan(), drawn(pdf_of(PAY))))
    assert extracted.pages[0].text == "Leave is paid."
    assert "Employees accrue one day of leave every month." in extracted.pages[1].text
    assert "one and a half times the regular rate" in extracted.pages[2].text
    assert extracted.warnings == (
        "2 of 3 pages (2, 3) were read by text recognition (OCR); look whether letters and figures are right.",
    )
    assert not _UNREADABLE.search(extracted.warnings[0])
    assert [text for _, text in extracted.headings] == ["Leave policy", "Overtime pay"]


@needs_tesseract
def test_what_was_recognised_can_be_cited_and_has_no_place_on_the_page() -> None:
    data = scan_of(scan())
    extracted = recognised("scan.pdf", data)
    sentence = "Employees accrue one day of leave every month."
    [passage] = split(extracted, "Leave")
    assert sentence in [span.of(passage.text) for span in passage.sentences]
    text = extracted.pages[0].text
    at = text.index(sentence)
    assert located(data, 1, text, [(at, at + len(sentence))]) == [()]


@needs_tesseract
@pytest.mark.parametrize("turned", [90, 180, 270])
def test_a_scan_on_its_side_is_read_upright(turned: int) -> None:
    extracted = recognised("side.png", drawn(pdf_of("\n".join([LEAVE] * 4)), turned=turned))
    assert "Employees accrue one day of leave every month." in extracted.pages[0].text


@needs_tesseract
def test_a_stamp_on_a_scan_does_not_hide_its_text_and_a_picture_beside_text_is_left_alone() -> None:
    stamped = recognised("stamped.pdf", scan_of(scan(), stamp="EXHIBIT 000123, received by the clerk"))
    assert "Unused leave is carried over" in stamped.pages[0].text
    logo = recognised(
        "white.pdf", scan_of(white(), stamp="Only the words of this page, and a white picture behind them.")
    )
    assert logo.pages[0].text == "Only the words of this page, and a white picture behind them."
    assert logo.warnings == ()


@needs_tesseract
def test_pictures_are_documents_and_a_tiff_has_pages() -> None:
    png = recognised("leave.png", scan())
    assert (png.media_type, png.paged, png.headings) == ("image/png", False, ((1, "Leave policy"),))
    out = BytesIO()
    frames = [Image.open(BytesIO(each)) for each in (scan(), drawn(pdf_of(PAY)))]
    frames[0].save(out, "TIFF", save_all=True, append_images=frames[1:], dpi=(200, 200))
    tiff = recognised("fax.tif", out.getvalue())
    assert (len(tiff.pages), tiff.paged) == (2, True)
    assert "Overtime is paid" in tiff.pages[1].text


@needs_tesseract
def test_a_page_on_which_nothing_is_found_is_told() -> None:
    extracted = recognised("mixed.pdf", scan_of("Leave is paid.", white()))
    assert extracted.warnings == ("1 of 2 pages (2) contains no text that could be read, only pictures.",)
    assert _UNREADABLE.search(extracted.warnings[0])
    with pytest.raises(EmptyFile, match="no text could be recognised"):
        recognised("white.pdf", scan_of(white()))
    with pytest.raises(EmptyFile, match="no text could be recognised"):
        recognised("white.png", white())


@needs_tesseract
def test_pages_there_is_no_time_for_are_told() -> None:
    with pytest.raises(EmptyFile, match="no time") as caught:
        recognised("long.pdf", scan_of(scan()), seconds=-1)
    assert caught.value.cure is Cure.AGAIN
    extracted = recognised("long.pdf", scan_of("Leave is paid.", scan()), seconds=-1)
    assert "could not be read in the time one file may take" in extracted.warnings[0]
    assert extracted.pages[1].text == ""


def test_without_tesseract_each_page_that_is_a_picture_is_named_with_the_remedy() -> None:
    extracted = extract("mixed.pdf", scan_of("Leave is paid.", scan(), "It is accrued.", scan()))
    assert extracted.warnings == (
        "2 of 4 pages (2, 4) contain no text that could be read, only pictures. "
        "Install Tesseract (text recognition) where files are read, then read this one again.",
    )
    stamped = extract("stamped.pdf", scan_of("Leave is paid.", scan(), stamp="EXHIBIT 000123 received"))
    assert stamped.warnings == ("1 of 2 pages (2) contains a picture whose text, if it shows any, could not be read.",)
    for warning in (*extracted.warnings, *stamped.warnings):
        assert _UNREADABLE.search(warning)


@pytest.mark.parametrize(
    ("name", "make", "error", "words"),
    [("scan.pdf", lambda: scan_of(scan(), scan()), EmptyFile, "scan"), ("scan.png", scan, UnsupportedFile, "picture")],
)
def test_without_tesseract_a_scan_is_refused_with_what_to_install(
    name: str, make: Callable[[], bytes], error: type[BadFile], words: str
) -> None:
    with pytest.raises(error, match=words) as caught:
        extract(name, make())
    assert "Tesseract" in caught.value.hint and caught.value.cure is Cure.AGAIN


def bomb() -> bytes:
    out = BytesIO()
    Image.new("1", (16_000, 16_000)).save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "make", "error"),
    [
        ("cut.png", lambda: scan()[: len(scan()) // 2], UnreadableFile),
        ("bomb.png", bomb, FileTooCostly),
        ("noise.jpg", lambda: b"\xff\xd8\xff\xe0" + bytes(range(256)) * 8, UnreadableFile),
        ("noise.tif", lambda: b"II*\x00" + bytes(range(256)) * 8, UnreadableFile),
    ],
)
def test_a_bad_picture_says_what_is_wrong(name: str, make: Callable[[], bytes], error: type[BadFile]) -> None:
    with pytest.raises(error, match=name) as caught:
        extract(name, make())
    assert caught.value.cure is Cure.OTHER_FILE


SHIFTED = "".join(chr(ord(letter) - 29) if letter.isalpha() else letter for letter in LEAVE.lower() * 4)


def test_a_page_whose_letters_make_no_words_is_told() -> None:
    assert garbled(SHIFTED)
    extracted = extract("shifted.pdf", pdf_of(LEAVE, SHIFTED.replace("#", "")))
    assert extracted.warnings == ("1 of 2 pages (2) contains garbled text: the file lacks the letters of its fonts.",)


WORDS = [
    "Employees accrue leave every month, and unused leave is carried over to the next year by the supervisor. " * 4,
    "Überstunden werden nach vierzig Stunden in der Woche mit dem Anderthalbfachen des Lohns bezahlt. " * 4,
    "Pracownicy nabywają prawo do urlopu w każdym miesiącu; niewykorzystany urlop przechodzi na następny rok. " * 4,
    "Los empleados acumulan vacaciones cada mes y las que no se usan pasan al año siguiente sin límite. " * 4,
    "CODE REG HRS 40 RATE 10.50 DEPT HR NYC PLN 401K FICA FUTA SUTA W2 W4 I9 EIN SSN PTO LWOP " * 8,
]


@pytest.mark.parametrize("words", WORDS)
def test_languages_and_codes_are_not_taken_for_garbled(words: str) -> None:
    assert not garbled(words)
    assert not mojibake(words)


def test_text_in_a_wrong_encoding_is_told() -> None:
    text = (WORDS[1] + WORDS[3]).encode().decode("cp1252")
    [warning] = extract("note.txt", text.encode()).warnings
    assert warning == "The text is garbled: its letters were saved in a wrong encoding (“Ã¼” for “ü”)."


def test_a_blank_page_is_no_risk() -> None:
    assert extract("some.pdf", pdf_of("Leave is paid.", "", "It is accrued.")).warnings == ()


def test_recognised_rows_and_blocks_hold_words() -> None:
    extracted = extract("a.pdf", scan_of("Leave is paid.", "It is accrued."))
    assert all(block.kind is not BlockKind.FURNITURE for block in extracted.blocks)
