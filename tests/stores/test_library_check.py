"""The check of a library: every store is broken once, and the break is reported and repaired."""

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from core.domain.errors import StoreFailed
from core.library.check import CheckedStore, CheckReport, LibraryCheck
from core.ports.catalogue import Catalogue
from core.ports.stores import VectorIndex
from storage.files import OriginalFiles
from storage.keywords.index import KeywordIndex
from storage.postgres.catalogue import SqlCatalogue
from storage.vectors.pgvector import PgvectorIndex
from tests.fakes import FakeCatalogue, FakeTrash, FakeVectorIndex
from tests.stores.libraries import document, passage, random_vectors, store


@dataclass
class CheckedLibrary:
    """Real files in a folder, two documents of three passages each, and a record of what is to be read again."""

    folder: Path
    catalogue: Catalogue = field(default_factory=FakeCatalogue)
    vectors: VectorIndex = field(default_factory=FakeVectorIndex)
    read_again: list[int] = field(default_factory=list)
    ids: dict[str, list[int]] = field(default_factory=dict)
    documents: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.originals = OriginalFiles(str(self.folder / "originals"))
        keywords = self.keywords()
        for name in ("rules.txt", "leave.txt"):
            passages = [passage(f"{name} {part}") for part in ("overtime", "vacation", "taxes")]
            vectors = random_vectors(3, len(name))
            described = document(name, sha256=self.originals.put(name.encode()))
            stored = store(self.catalogue, described, passages, vectors)
            self.vectors.add(stored, vectors)
            keywords.add(stored)
            self.ids[name], self.documents[name] = [each.id for each in stored], stored[0].document_id

    def keywords(self) -> KeywordIndex:
        """The keyword index as another process opens it."""
        return KeywordIndex(self.folder / "bm25", self.catalogue)

    def check(self) -> LibraryCheck:
        """A check as another process makes it."""
        return LibraryCheck(
            catalogue=self.catalogue,
            keywords=self.keywords(),
            vectors=self.vectors,
            originals=self.originals,
            trash=FakeTrash(self.catalogue),
            purge=lambda document_ids: None,
            read_again=self.read_again.append,
        )

    def delete_vectors(self, *passage_ids: int) -> None:
        """Take vectors out of the index."""
        self.vectors.discard(np.array(sorted(passage_ids), dtype=np.int64))

    def delete_original(self, name: str) -> None:
        """Take a file out of the folder of originals."""
        digest = sha256(name.encode()).hexdigest()
        (self.folder / "originals" / digest[:2] / digest[2:]).unlink()


@pytest.fixture(params=["memory", "postgres"])
def library(request: pytest.FixtureRequest, tmp_path: Path) -> CheckedLibrary:
    if request.param == "memory":
        return CheckedLibrary(tmp_path)
    database = request.getfixturevalue("database")
    return CheckedLibrary(tmp_path, SqlCatalogue(database), PgvectorIndex(database, "random"))


def messages(report: CheckReport, store: CheckedStore) -> list[str]:
    return [each.message for each in report.differences if each.store is store]


def test_a_library_whose_stores_agree_has_no_differences_and_nothing_is_written(library: CheckedLibrary) -> None:
    before = {
        path: path.stat().st_mtime_ns for path in library.folder.rglob("*") if path.suffix in {".json", ".segment"}
    }
    report = library.check().run(repair=True)
    assert (report.documents, report.passages, report.differences, report.ok) == (2, 6, (), True)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert library.read_again == []


def delete_segments(library: CheckedLibrary) -> None:
    for path in library.folder.rglob("*.segment"):
        path.unlink()


def delete_manifest(library: CheckedLibrary) -> None:
    (library.folder / "bm25" / "manifest.json").unlink()


def damage_segments(library: CheckedLibrary) -> None:
    for path in library.folder.rglob("*.segment"):
        path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize("damage", [delete_segments, delete_manifest, damage_segments])
def test_missing_or_damaged_keyword_files_are_reported_and_indexed_again(
    library: CheckedLibrary, damage: Callable[[CheckedLibrary], None]
) -> None:
    damage(library)
    found = library.check().run()
    assert messages(found, CheckedStore.KEYWORDS) == ["The keyword index lacks 6 passages and has 0 too many."]
    assert not found.ok
    assert library.check().run() == found  # looking repairs nothing
    assert library.check().run(repair=True).ok
    assert library.check().run().differences == ()
    assert library.keywords().search(["overtime"], None, 10).rows_before == 6


def test_keywords_of_deleted_documents_are_reported_and_removed(library: CheckedLibrary) -> None:
    library.vectors.delete([library.documents["rules.txt"]])
    library.catalogue.delete(library.documents["rules.txt"])
    found = library.check().run()
    assert messages(found, CheckedStore.KEYWORDS) == ["The keyword index lacks 0 passages and has 3 too many."]
    assert library.check().run(repair=True).ok
    assert library.keywords().count() == 3


def test_missing_vectors_are_reported_and_their_documents_read_again(library: CheckedLibrary) -> None:
    library.delete_vectors(*library.ids["rules.txt"][1:])
    found = library.check().run()
    assert messages(found, CheckedStore.VECTORS) == [
        "2 passages of 1 document without a vector, not found by meaning: rules.txt."
    ]
    assert not found.ok
    assert library.read_again == []
    assert library.check().run(repair=True).ok
    assert library.read_again == [library.documents["rules.txt"]]


def test_vectors_without_a_passage_are_reported_and_deleted(tmp_path: Path) -> None:
    library = CheckedLibrary(tmp_path)  # in PostgreSQL a vector goes with its passage's row
    library.keywords().delete([2])
    library.catalogue.delete(2)
    found = library.check().run()
    assert messages(found, CheckedStore.VECTORS) == ["3 vectors without a passage in the catalogue."]
    assert library.check().run(repair=True).ok
    assert library.vectors.count() == 3
    assert library.check().run().differences == ()


def test_a_missing_original_is_reported_and_its_document_is_not_read_again(library: CheckedLibrary) -> None:
    library.delete_original("rules.txt")
    library.delete_vectors(library.ids["rules.txt"][0], library.ids["leave.txt"][0])
    repaired = library.check().run(repair=True)
    assert messages(repaired, CheckedStore.ORIGINALS) == ["1 document without the original: rules.txt."]
    assert library.read_again == [
        library.documents["leave.txt"]
    ]  # reading the other one again would fail, and its text would be lost
    assert [each.repaired for each in repaired.differences] == [True, False, False]
    assert not repaired.ok


def test_the_start_repairs_keywords_and_leaves_a_notice_of_missing_vectors(library: CheckedLibrary) -> None:
    delete_segments(library)
    check = library.check()
    check.refresh()
    assert check.notice == ""
    assert library.keywords().differences() == (0, 0)
    library.delete_vectors(library.ids["rules.txt"][0])
    check.refresh()
    assert check.notice == (
        "1 passage of 1 document without a vector, not found by meaning: rules.txt. Run 'python -m cli check --repair'."
    )
    assert library.read_again == []


class _OfflineVectors(FakeVectorIndex):
    def count(self) -> int:
        raise StoreFailed("The database does not answer.", "Start it.")


def test_a_store_that_does_not_answer_does_not_end_the_start(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    library = CheckedLibrary(tmp_path, vectors=_OfflineVectors())
    check = library.check()
    check.refresh()
    assert check.notice == ""
    assert "could not be checked: The database does not answer." in caplog.text


def test_the_start_lists_no_vectors_when_their_number_is_right(tmp_path: Path) -> None:
    library = CheckedLibrary(tmp_path)

    class _CountedOnly(FakeVectorIndex):
        def passage_ids(self) -> np.ndarray:  # type: ignore[type-arg]
            raise AssertionError("listed")

    counted = _CountedOnly()
    counted._rows = library.vectors._rows  # type: ignore[attr-defined]
    library.vectors = counted
    library.check().refresh()
    with pytest.raises(AssertionError, match="listed"):
        library.check().run()
