"""Files that cannot be used, each with the error a user is told; read as a table."""

import random

import pytest

from core.domain.errors import BadFile, EmptyFile, EncryptedFile, FileTooCostly, UnreadableFile, UnsupportedFile
from core.ingestion.parsers import extract
from tests.ingestion.making import docx_of, encrypted, pdf_of, with_part, workbook_of

PDF = pdf_of("Employees accrue leave every month.\nIt is paid.", "A second page stands here.")
DOCX = docx_of("# Leave", "Employees accrue leave every month.")
XLSX = workbook_of(Pay=[["Name", "Pay"], ["Ada", 10], ["Bob", 12]])
NOISE = random.Random(7).randbytes(4096)
BILLION = b"""<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>&b;</w:body></w:document>"""

CASES = [
    ("nothing.pdf", b"", EmptyFile, "0 bytes"),
    ("nothing.txt", b"", EmptyFile, "0 bytes"),
    ("blank.txt", b" \r\n\t\n", EmptyFile, "blanks"),
    ("zeros.csv", bytes(500), EmptyFile, "blanks"),
    ("commas.csv", b",,,\n,,,\n", EmptyFile, "no cell"),
    ("blank.pdf", pdf_of("", ""), EmptyFile, "blank"),
    ("bare.docx", docx_of(), EmptyFile, "no text"),
    ("bare.xlsx", workbook_of(Empty=[]), EmptyFile, "no cell"),
    ("bare.html", b"<html><body><script>let a = 1</script></body></html>", EmptyFile, "no text"),
    ("locked.pdf", encrypted(PDF), EncryptedFile, "password"),
    (
        "locked.docx",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
        EncryptedFile,
        "password",
    ),
    ("old.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"WordDocument" * 50, UnsupportedFile, "old Office"),
    ("cut.docx", DOCX[: len(DOCX) // 2], UnreadableFile, "cut short"),
    ("cut.xlsx", XLSX[:-40], UnreadableFile, "cut short"),
    ("head.pdf", PDF[:60], UnreadableFile, "damaged"),
    ("tail.pdf", PDF[400:], UnreadableFile, "beginning"),
    ("entities.docx", with_part(DOCX, "word/document.xml", BILLION), UnreadableFile, "entities"),
    ("broken.docx", with_part(DOCX, "word/document.xml", b"<w:document"), UnreadableFile, "damaged"),
    ("broken.xlsx", with_part(XLSX, "xl/workbook.xml", b"<workbook"), UnreadableFile, "damaged"),
    ("bomb.docx", with_part(DOCX, "word/media/zeros.bin", bytes(80_000_000)), FileTooCostly, "unpacks"),
    ("film.mp4", b"\0\0\0\x18ftypmp42" + NOISE, UnsupportedFile, "nor of a kind that can be read"),
    ("noise.txt", NOISE, UnreadableFile, "binary data"),
    ("photo.txt", b"\x89PNG\r\n\x1a\n" + NOISE, UnreadableFile, "picture"),
    ("archive.zip", with_part(b"PK\x05\x06" + bytes(18), "photo.gif", b"GIF8" + NOISE), UnsupportedFile, "archive"),
]


@pytest.mark.parametrize(("name", "data", "error", "words"), CASES, ids=[case[0] for case in CASES])
def test_a_bad_file_says_what_is_wrong_and_what_to_do(name: str, data: bytes, error: type[BadFile], words: str) -> None:
    with pytest.raises(error) as caught:
        extract(name, data)
    assert name in caught.value.message
    assert words in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("suffix", ["pdf", "docx", "xlsx", "html", "md", "txt", "csv", "tsv", "bin", ""])
def test_random_bytes_are_never_read_as_text_whatever_their_name(suffix: str) -> None:
    with pytest.raises(BadFile) as caught:
        extract(f"noise.{suffix}", NOISE)
    assert "noise" in caught.value.message


@pytest.mark.parametrize("share", [0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 0.97])
def test_a_pdf_cut_anywhere_is_either_read_or_refused_and_never_something_else(share: float) -> None:
    try:
        extracted = extract("cut.pdf", PDF[: int(len(PDF) * share)])
    except BadFile as error:
        assert "cut.pdf" in error.message
    else:
        assert "leave" in extracted.pages[0].text


@pytest.mark.parametrize(
    ("name", "data", "media"),
    [
        ("report.docx", PDF, "application/pdf"),
        ("report.txt", PDF, "application/pdf"),
        ("page.pdf", b"<!DOCTYPE html><html><body><p>Leave is paid.</p></body></html>", "text/html"),
        ("sheet.pdf", XLSX, "spreadsheetml"),
        ("letter.pdf", DOCX, "wordprocessingml"),
    ],
)
def test_a_mislabelled_file_is_read_as_what_it_is_with_a_warning(name: str, data: bytes, media: str) -> None:
    extracted = extract(name, data)
    assert media in extracted.media_type
    assert "was read as such" in extracted.warnings[0]


@pytest.mark.parametrize(
    "name",
    ["عقد العمل.txt", "‮fdp.txt", "🧾 receipts 🧾.txt", "../../etc/passwd.txt", "a" * 300 + ".txt", "nul\x00.txt"],
)
def test_hostile_names_do_not_matter(name: str) -> None:
    assert extract(name, b"Leave is paid.").pages[0].text == "Leave is paid."


def test_a_name_with_half_a_character_can_still_be_told() -> None:
    with pytest.raises(EmptyFile):
        extract("half\ud83d.txt", b"")
