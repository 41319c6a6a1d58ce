"""A label confirmed in one project says nothing of the same file in another, and stays with its document."""

from pathlib import Path

import pytest

from core.domain.documents import Document
from core.library.bulk_edit.plan import BulkEdit
from core.ports.stores import Embedder
from core.workbench import Workbench
from tests.workbench import Stores, built

TEXT = b"# Holiday calendar\nThe office is closed on the first of May and on the day after Thanksgiving.\n"


@pytest.fixture
def library(embedder: Embedder, tmp_path: Path) -> Workbench:
    return built(Stores(embedder), tmp_path)


def _add(library: Workbench, project: str | None) -> int:
    return library.documents.upload("calendar.md", TEXT, project=project).document_id


def _read_again(library: Workbench, document_id: int) -> Document:
    library.documents.retry(document_id)
    return library.documents.get(document_id)


def _truth(document: Document) -> tuple[str | None, bool]:
    return document.labels.truth.value, document.labels.truth.confirmed


def test_a_label_confirmed_in_one_project_is_not_confirmed_in_another(library: Workbench) -> None:
    alpha, earlier = _add(library, "Alpha"), _add(library, "Beta")
    own = _truth(library.documents.get(earlier))
    library.documents.correct(alpha, "truth", "regulatory", "ann")
    later = _add(library, None)
    assert _truth(_read_again(library, alpha)) == ("regulatory", True)
    assert not own[1]
    assert not _truth(_read_again(library, earlier))[1] and not _truth(library.documents.get(later))[1]


def test_taking_a_label_back_leaves_the_one_of_another_project(library: Workbench) -> None:
    alpha, beta = _add(library, "Alpha"), _add(library, "Beta")
    for each in (alpha, beta):
        library.documents.correct(each, "truth", "regulatory", "ann")
    library.documents.uncorrect(alpha, "truth", who="ann")
    assert not _truth(_read_again(library, alpha))[1]
    assert _truth(_read_again(library, beta)) == ("regulatory", True)


def test_a_moved_document_is_read_again_with_its_labels(library: Workbench) -> None:
    moved = _add(library, "Alpha")
    library.documents.correct(moved, "truth", "regulatory", "ann")
    done = library.bulk_edit.apply(library.bulk_edit.plan({moved: [BulkEdit("project", "Beta")]}).changes, "Moved")
    assert _truth(_read_again(library, moved)) == ("regulatory", True)
    library.documents.correct(moved, "truth", "reference", "bob")
    library.bulk_edit.undo(done.id)
    assert library.documents.get(moved).project == "Alpha"
    assert _truth(_read_again(library, moved)) == ("reference", True)


def test_a_file_deleted_and_uploaded_again_has_its_labels_in_its_project(library: Workbench) -> None:
    deleted = _add(library, "Alpha")
    library.documents.correct(deleted, "truth", "regulatory", "ann")
    library.documents.delete(deleted)
    library.trash.purge([deleted])
    assert _truth(library.documents.get(_add(library, "Alpha"))) == ("regulatory", True)
    assert not _truth(library.documents.get(_add(library, "Beta")))[1]


def test_a_label_still_teaches_the_whole_workspace(library: Workbench) -> None:
    alpha = _add(library, "Alpha")
    _add(library, "Beta")
    library.documents.correct(alpha, "truth", "regulatory", "ann")
    newest = library.active_learning.newest()
    assert newest is not None and [each.document_id for each in newest.confirmed] == [alpha]
