"""Labels that analysts gave to files: each counts in the project where it was made, for as long as the file may come
back, and moves along with its document. In memory and in PostgreSQL."""

from collections.abc import Mapping
from dataclasses import replace
from threading import Thread

import numpy as np
import pytest
from sqlalchemy import text

from core.domain.documents import Document, Label, Labels, Page
from core.domain.errors import NotFound
from core.ports.catalogue import Catalogue
from storage.postgres.catalogue import SqlCatalogue
from storage.postgres.database import Database, Scope
from storage.postgres.trash import SqlTrash
from tests.fakes import FakeCatalogue
from tests.stores.libraries import MOMENT, document

NO_VECTORS = np.zeros((0, 0), dtype=np.float32)


@pytest.fixture(params=["memory", "postgresql"])
def catalogue(request: pytest.FixtureRequest) -> Catalogue:
    """An empty catalogue of each kind."""
    if request.param == "memory":
        return FakeCatalogue()
    return SqlCatalogue(request.getfixturevalue("database"))


def _add(catalogue: Catalogue, project: str | None = None, name: str = "a.pdf") -> int:
    return catalogue.add_document(document(name, project=project)).id


def _correct(catalogue: Catalogue, document_id: int, **values: str) -> None:
    for field, value in values.items():
        catalogue.correct(document_id, field, value, "ann", MOMENT)


def _move(catalogue: Catalogue, document_id: int, project: str | None) -> None:
    catalogue.edit_labels(document_id, lambda found, passages: (replace(found, project=project), passages))


def _read(catalogue: Catalogue, document_id: int) -> Document:
    """Read the file: its labels are those that were corrected."""
    labels = replace(Labels(domain=Label("time", 0.9)), **catalogue.corrections(document_id))
    read = replace(catalogue.document(document_id), labels=labels)
    catalogue.save_ingested(read, [Page(1, "text")], (), NO_VECTORS)
    return catalogue.document(document_id)


def _values(catalogue: Catalogue, document_id: int) -> Mapping[str, str | None]:
    return {field: label.value for field, label in catalogue.corrections(document_id).items()}


def test_the_latest_correction_holds(catalogue: Catalogue) -> None:
    ours, other = _add(catalogue), _add(catalogue, name="b.pdf")
    for value in ("intent", "regulatory"):
        _correct(catalogue, ours, truth=value)
    _correct(catalogue, ours, domain="taxes")
    _correct(catalogue, other, truth="reality")
    truth, domain = Label("regulatory", 1.0, confirmed=True), Label("taxes", 1.0, confirmed=True)
    assert catalogue.corrections(ours) == {"truth": truth, "domain": domain}


def test_corrections_of_several_documents_are_read_at_once(catalogue: Catalogue) -> None:
    one, two, taken_back, none = (_add(catalogue, name=name) for name in "abcd")
    for each, value in (
        (one, "intent"),
        (two, "reality"),
        (two, "reference"),
        (taken_back, "intent"),
        (taken_back, ""),
    ):
        _correct(catalogue, each, truth=value)
    found = catalogue.corrections_of_each([one, two, taken_back, none])
    values = {each: {field: label.value for field, label in labels.items()} for each, labels in found.items()}
    assert values == {one: {"truth": "intent"}, two: {"truth": "reference"}, taken_back: {}, none: {}}


def test_a_document_that_is_gone_cannot_be_corrected(catalogue: Catalogue) -> None:
    gone = _add(catalogue)
    catalogue.delete(gone)
    with pytest.raises(NotFound):
        _correct(catalogue, gone, truth="intent")
    assert catalogue.corrections(gone) == {}


def test_a_correction_counts_in_its_own_project_only(catalogue: Catalogue) -> None:
    alpha, beta, shared = _add(catalogue, "Alpha"), _add(catalogue, "Beta"), _add(catalogue)
    _correct(catalogue, alpha, truth="intent")
    assert [_values(catalogue, each) for each in (alpha, beta, shared)] == [{"truth": "intent"}, {}, {}]
    _correct(catalogue, shared, truth="reality", domain="taxes")
    _correct(catalogue, beta, truth="")
    assert _values(catalogue, alpha) == {"truth": "intent"} and _values(catalogue, beta) == {}


def test_a_file_that_is_deleted_and_uploaded_again_has_its_corrections(catalogue: Catalogue) -> None:
    first = _add(catalogue, "Alpha")
    _correct(catalogue, first, truth="intent")
    catalogue.delete(first)
    assert _values(catalogue, _add(catalogue, "Alpha")) == {"truth": "intent"}
    assert _values(catalogue, _add(catalogue, "Beta")) == {}


@pytest.mark.parametrize("read", [True, False])
@pytest.mark.parametrize(("before", "after"), [("Alpha", "Beta"), (None, "Beta"), ("Alpha", None)])
def test_a_document_that_moves_keeps_its_corrections(
    catalogue: Catalogue, read: bool, before: str | None, after: str | None
) -> None:
    moved = _add(catalogue, before)
    _correct(catalogue, moved, truth="reality", domain="taxes")
    _correct(catalogue, moved, truth="intent", domain="")
    if read:
        _read(catalogue, moved)
    _move(catalogue, moved, after)
    assert _values(catalogue, moved) == {"truth": "intent"}
    _correct(catalogue, moved, truth="reference")
    _move(catalogue, moved, before)
    assert _values(catalogue, moved) == {"truth": "reference"}


def test_a_move_takes_only_corrections_of_the_document_along(catalogue: Catalogue) -> None:
    there = _add(catalogue, "Beta")
    _correct(catalogue, there, truth="reality", domain="taxes")
    catalogue.delete(there)
    moved = _add(catalogue, "Alpha")
    _correct(catalogue, moved, truth="intent")
    assert _read(catalogue, moved).labels.domain.value == "time"
    _move(catalogue, moved, "Beta")
    assert _values(catalogue, moved) == {"truth": "intent", "domain": "taxes"}  # what Beta says of the file counts, too
    _move(catalogue, moved, "Alpha")
    assert _values(catalogue, moved) == {"truth": "intent"}


def test_a_restored_document_has_its_corrections(database: Database) -> None:
    catalogue, trash = SqlCatalogue(database), SqlTrash(database)
    restored = _add(catalogue, "Alpha")
    _correct(catalogue, restored, truth="intent")
    trash.put(restored, "ann", MOMENT)
    trash.take_back(restored)
    assert _values(catalogue, restored) == {"truth": "intent"}


def test_a_correction_is_visible_to_people_of_its_project(database: Database) -> None:
    catalogue = SqlCatalogue(database)
    for project, value in (("Alpha", "intent"), ("Beta", "reality"), (None, "reference")):
        _correct(catalogue, _add(catalogue, project), truth=value)
    eve = replace(database, scope=Scope(("Beta",), "eve"))
    with eve.transaction("looking") as connection:
        assert set(connection.scalars(text("SELECT value FROM corrections"))) == {"reality", "reference"}
    beta = next(each for each in SqlCatalogue(eve).documents() if each.project == "Beta")
    _correct(SqlCatalogue(eve), beta.id, truth="intent")
    _move(SqlCatalogue(eve), _add(SqlCatalogue(eve), "Beta", "b.pdf"), None)
    assert _values(catalogue, beta.id) == {"truth": "intent"}


def test_a_correction_made_during_a_move_is_not_left_behind(database: Database) -> None:
    catalogue = SqlCatalogue(database)
    moved = _add(catalogue, "Alpha")
    correction = Thread(target=_correct, args=[catalogue, moved], kwargs={"truth": "intent"})
    with database.transaction("moving") as connection:
        connection.execute(text("UPDATE documents SET project = 'Beta' WHERE id = :id"), {"id": moved})
        correction.start()
        correction.join(0.3)
        assert correction.is_alive()
    correction.join(10)
    assert _values(catalogue, moved) == {"truth": "intent"}
