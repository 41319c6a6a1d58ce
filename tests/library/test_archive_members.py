"""Files within files: each becomes a document of its own, once, and the archive says what it held."""

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.domain.documents import Document, DocumentState, SourceType
from core.library.archive_members import MOST_NESTED, is_container
from core.workbench import Workbench
from tests.library.packing import tar_of, zip_of
from tests.search.library import WordEmbedder
from tests.workbench import Stores, built

LEAVE = b"# Leave policy\nEmployees of the company must ask for leave two weeks ahead.\n"
RATES = b"code,rate\nREG,1.0\nOT,1.5\n"
PICTURE = b"GIF89a" + bytes(40)


@pytest.fixture
def stores() -> Stores:
    return Stores(WordEmbedder())


@pytest.fixture
def bench(stores: Stores, tmp_path: Path) -> Iterator[Workbench]:
    """An empty library whose jobs run at once."""
    yield built(stores, tmp_path)


def by_name(bench: Workbench) -> dict[str, Document]:
    return {document.name: document for document in bench.documents.list()}


def test_every_file_of_an_archive_is_a_document_with_its_path_its_parent_and_what_the_parent_has(
    bench: Workbench,
) -> None:
    inner = zip_of(("rates.csv", RATES))
    data = zip_of(("policies/leave.md", LEAVE), ("data/inner.zip", inner), ("logo.gif", PICTURE))
    bench.documents.upload("share.zip", data, project="North", tags=("2024",), source_type=SourceType.PAPER)
    found = by_name(bench)
    assert set(found) == {"share.zip", "policies/leave.md", "data/inner.zip/rates.csv"}
    archive = found.pop("share.zip")
    for document in found.values():
        assert document.state is DocumentState.READY and document.passages > 0
        assert document.parent == archive.id
        assert (document.project, document.tags, document.source_type) == ("North", ("2024",), SourceType.PAPER)


def test_the_archive_itself_is_ready_and_holds_nothing_that_is_searched(bench: Workbench) -> None:
    bench.documents.upload("share.zip", zip_of(("leave.md", LEAVE), ("logo.gif", PICTURE)))
    archive = by_name(bench)["share.zip"]
    assert archive.state is DocumentState.READY and is_container(archive)
    assert archive.media_type == "application/zip"
    assert archive.warnings == ("'logo.gif' was left out: it is a picture (GIF), which cannot be read.",)
    assert archive.labels.truth.value is None and "each file in it is a document" in archive.labels.truth.reason
    assert bench.documents.passages(archive.id) == []
    assert not is_container(by_name(bench)["leave.md"])


def test_an_archive_that_is_read_again_adds_nothing(bench: Workbench) -> None:
    bench.documents.upload("share.zip", zip_of(("leave.md", LEAVE), ("copy.md", LEAVE), ("rates.csv", RATES)))
    before = by_name(bench)
    for _ in range(2):
        bench.documents.retry(before["share.zip"].id)
    after = by_name(bench)
    assert {name: each.id for name, each in after.items()} == {name: each.id for name, each in before.items()}
    assert after["share.zip"].warnings == ("'copy.md' is in the library already, as 'leave.md'.",)


def test_a_file_that_was_archived_since_does_not_come_back(
    bench: Workbench, stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.documents.upload("share.zip", zip_of(("leave.md", LEAVE)))
    bench.documents.archive(by_name(bench)["leave.md"].id, archived=True)
    share = by_name(bench)["share.zip"].id
    with monkeypatch.context() as without:
        without.setattr(stores.catalogue, "documents", None)
        bench.documents.retry(share)
    assert set(by_name(bench)) == {"share.zip"}


def test_a_file_that_the_library_has_is_recognised_and_said(bench: Workbench) -> None:
    known = bench.documents.upload("our leave.md", LEAVE).document_id
    bench.documents.upload("share.zip", zip_of(("leave.md", LEAVE)))
    found = by_name(bench)
    assert set(found) == {"our leave.md", "share.zip"}
    assert found["our leave.md"].id == known and found["our leave.md"].parent is None
    assert found["share.zip"].warnings == ("'leave.md' is in the library already, as 'our leave.md'.",)


def test_a_damaged_file_in_an_archive_fails_alone_under_its_own_name(bench: Workbench) -> None:
    bench.documents.upload("share.zip", zip_of(("broken.pdf", b"%PDF-1.7 no more"), ("leave.md", LEAVE)))
    states = {name: each.state for name, each in by_name(bench).items()}
    assert states == {
        "share.zip": DocumentState.READY,
        "broken.pdf": DocumentState.FAILED,
        "leave.md": DocumentState.READY,
    }


def test_an_archive_that_cannot_be_used_fails_with_its_reason(bench: Workbench) -> None:
    bench.documents.upload("bad.zip", zip_of(("leave.md", LEAVE))[:-30])
    document = by_name(bench)["bad.zip"]
    assert document.state is DocumentState.FAILED and "damaged" in document.failure and document.remedy
    assert document.step == "read"


def test_a_tar_is_taken_apart_alike(bench: Workbench) -> None:
    bench.documents.upload("share.tar.gz", tar_of(("policies/leave.md", LEAVE), ("rates.csv", RATES), mode="w:gz"))
    assert set(by_name(bench)) == {"share.tar.gz", "policies/leave.md", "rates.csv"}


def test_documents_within_documents_end_somewhere(bench: Workbench, stores: Stores) -> None:
    """A chain of parents as mails within archives within mails make it."""
    parent = bench.documents.upload("outermost.md", LEAVE).document_id
    for depth in range(MOST_NESTED - 1):
        stores.jobs.run = lambda document_id: None
        parent = bench.documents.upload(
            f"{depth}.md", f"# Level {depth}\nIt is deep.".encode(), parent=parent
        ).document_id
    stores.jobs.run = bench.ingestion.ingest
    bench.documents.upload("deep enough.zip", zip_of(("leave a.md", LEAVE + b"a")), parent=parent)
    deepest = by_name(bench)["deep enough.zip"]
    assert deepest.state is DocumentState.FAILED and "deep within others" in deepest.failure


def test_deleting_an_archive_keeps_its_files(bench: Workbench) -> None:
    bench.documents.upload("share.zip", zip_of(("leave.md", LEAVE)))
    bench.documents.delete(by_name(bench)["share.zip"].id)
    assert set(by_name(bench)) == {"leave.md"}


def test_a_name_that_stands_twice_names_two_documents(bench: Workbench) -> None:
    with warnings.catch_warnings(action="ignore"):  # zipfile warns of the second name
        data = zip_of(("a.md", LEAVE), ("a.md", LEAVE + b"It is paid.\n"))
    bench.documents.upload("share.zip", data)
    assert set(by_name(bench)) == {"share.zip", "a.md", "a (2).md"}
