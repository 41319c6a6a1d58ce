"""Files under a password: asked for, opened, read from an unlocked copy; the password is kept nowhere."""

import logging
from io import BytesIO
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter

from core.domain.documents import Document, DocumentState
from core.domain.errors import BadRequest, EncryptedFile
from core.library.documents import asks_for_password
from core.search.citations.page_locator import page_picture
from core.workbench import Workbench
from tests.ingestion.making import docx_of, pdf_of, workbook_of
from tests.library.packing import zip_of
from tests.search.library import WordEmbedder
from tests.workbench import Stores, built

SECRET = "Grüße-4711"
PDF = pdf_of("Employees accrue leave every month.", "It is paid out in December.")


def locked_pdf(data: bytes, password: str, algorithm: str, owner: str = "boss") -> bytes:
    """A PDF under a user's and an owner's password."""
    writer = PdfWriter(clone_from=PdfReader(BytesIO(data)))
    writer.encrypt(password, owner, algorithm=algorithm)
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def locked_office(data: bytes) -> bytes:
    """An Office file under the password, as Office encrypts it."""
    from msoffcrypto.format.ooxml import OOXMLFile

    out = BytesIO()
    OOXMLFile(BytesIO(data)).encrypt(SECRET, out)
    return out.getvalue()


@pytest.fixture
def stores() -> Stores:
    return Stores(WordEmbedder())


@pytest.fixture
def bench(stores: Stores, tmp_path: Path) -> Workbench:
    return built(stores, tmp_path)


def only(bench: Workbench) -> Document:
    (document,) = bench.documents.list()
    return document


LOCKED = [
    ("leave.pdf", locked_pdf(PDF, "secret", "RC4-40"), "secret", "accrue leave"),
    ("leave.pdf", locked_pdf(PDF, "secret", "RC4-128"), "secret", "accrue leave"),
    ("leave.pdf", locked_pdf(PDF, SECRET, "AES-256"), SECRET, "accrue leave"),
    ("leave.pdf", locked_pdf(PDF, "secret", "AES-128"), "secret", "accrue leave"),
    ("leave.docx", locked_office(docx_of("# Leave", "Employees accrue leave every month.")), SECRET, "accrue leave"),
    ("pay.xlsx", locked_office(workbook_of(Pay=[["Name", "Pay"], ["Ada", 10], ["Bob", 12]])), SECRET, "Ada"),
]


@pytest.mark.parametrize(("name", "data", "password", "words"), LOCKED, ids=[each[0] for each in LOCKED])
def test_the_password_opens_the_file_and_it_is_read_like_any_other(
    bench: Workbench, name: str, data: bytes, password: str, words: str
) -> None:
    bench.documents.upload(name, data)
    failed = only(bench)
    assert failed.state is DocumentState.FAILED and asks_for_password(failed)
    assert "Type its password" in failed.remedy
    bench.decryption.unlock(failed.id, password)
    ready = only(bench)
    assert ready.state is DocumentState.READY and ready.failure == ""
    assert words in bench.documents.page(ready.id, 1).text
    assert ready.readable and ready.readable != ready.sha256 == failed.sha256
    assert bench.documents.uploaded(ready.id) == data != bench.documents.original(ready.id)


def test_a_wrong_password_is_said_and_changes_nothing(bench: Workbench) -> None:
    for name, data, _, _ in (LOCKED[2], LOCKED[4]):
        document_id = bench.documents.upload(name, data).document_id
        before = bench.documents.get(document_id)
        with pytest.raises(EncryptedFile, match="not the password"):
            bench.decryption.unlock(document_id, "wrong")
        with pytest.raises(BadRequest, match="No password"):
            bench.decryption.unlock(document_id, "")
        assert bench.documents.get(document_id) == before


def test_the_password_is_neither_logged_nor_told_nor_stored(
    bench: Workbench, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level(logging.DEBUG)
    bench.documents.upload("leave.pdf", locked_pdf(PDF, SECRET, "AES-256"))
    with pytest.raises(EncryptedFile) as wrong:
        bench.decryption.unlock(only(bench).id, f"not {SECRET}")
    bench.decryption.unlock(only(bench).id, SECRET)
    assert SECRET not in f"{wrong.value!r} {wrong.value} {only(bench)!r} {caplog.text}"
    assert SECRET.encode() not in bench.documents.original(only(bench).id)


def test_reading_again_needs_the_password_no_more(bench: Workbench) -> None:
    bench.documents.upload("leave.pdf", locked_pdf(PDF, "secret", "AES-256"))
    bench.decryption.unlock(only(bench).id, "secret")
    bench.documents.retry(only(bench).id)
    assert only(bench).state is DocumentState.READY


def test_pages_are_drawn_from_the_unlocked_copy(bench: Workbench) -> None:
    bench.documents.upload("leave.pdf", locked_pdf(PDF, "secret", "AES-256"))
    bench.decryption.unlock(only(bench).id, "secret")
    document = only(bench)
    page = bench.documents.page(document.id, 1)
    start = page.text.index("Employees")
    drawn = page_picture(bench.documents.original(document.id), 1, text=page.text, spans=[(start, start + 35)])
    assert drawn.png.startswith(b"\x89PNG") and drawn.marked == 1


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-128", "AES-256"])
def test_a_pdf_that_only_its_owner_may_change_opens_without_asking(bench: Workbench, algorithm: str) -> None:
    bench.documents.upload("leave.pdf", locked_pdf(PDF, "", algorithm))
    assert only(bench).state is DocumentState.READY and only(bench).readable == ""


def test_the_same_locked_file_is_recognised_after_it_was_unlocked(bench: Workbench) -> None:
    data = locked_pdf(PDF, "secret", "AES-256")
    bench.documents.upload("leave.pdf", data)
    bench.decryption.unlock(only(bench).id, "secret")
    assert bench.documents.upload("copy.pdf", data).duplicate_of == "leave.pdf"


def test_a_locked_file_in_an_archive_can_be_unlocked_too(bench: Workbench) -> None:
    bench.documents.upload("share.zip", zip_of(("plans/leave.pdf", locked_pdf(PDF, "secret", "AES-256"))))
    locked = next(each for each in bench.documents.list() if each.name == "plans/leave.pdf")
    assert asks_for_password(locked)
    bench.decryption.unlock(locked.id, "secret")
    assert bench.documents.get(locked.id).state is DocumentState.READY


def test_what_a_password_cannot_help_does_not_ask_for_one(bench: Workbench) -> None:
    bench.documents.upload("broken.pdf", b"%PDF-1.7 no more")
    assert not asks_for_password(only(bench))


def test_a_locked_opendocument_is_told_apart_for_no_password_opens_it_here(bench: Workbench) -> None:
    locked = "<manifest><file-entry><encryption-data/></file-entry></manifest>"
    manifest = ("META-INF/manifest.xml", locked.encode())
    bench.documents.upload("plan.odt", zip_of(("mimetype", b"application/vnd.oasis.opendocument.text"), manifest))
    failed = only(bench)
    assert "password" in failed.failure and not asks_for_password(failed)
    assert "Upload" not in failed.remedy and "without password" in failed.remedy
