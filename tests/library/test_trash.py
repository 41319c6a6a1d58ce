"""The trash when something fails in between: nothing is left half-way, and every message says what was done."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from core.domain.errors import BadRequest, NotFound, StoreFailed, StoreUnavailable
from core.domain.queries import SearchRequest
from tests.library.test_versions import OTHER, V1, V2, V3, Shelf

CODES = "code,name,rate\n" + "\n".join(f"{number:03},Code {number},{number}.5" for number in range(30))
NEW_CODES = CODES.replace("Code 7,", "Code seven,")


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """An empty library."""
    return Shelf(tmp_path)


def _fail(*given: Any, **named: Any) -> Any:
    raise StoreUnavailable("No Chroma server answers.", "Start it.")


def _indexed(shelf: Shelf, *document_ids: int) -> None:
    """Every index holds exactly the text of these documents."""
    passages = sorted(each.id for i in document_ids for each in shelf.workbench.documents.passages(i))
    assert shelf.stores.vectors.passage_ids().tolist() == passages
    assert shelf.stores.sparse.passages_containing([]).tolist() == passages


# Restoring


def test_documents_that_cannot_be_restored_are_named_and_the_others_come_back(shelf: Shelf) -> None:
    rules, canteen, third = shelf.add("rules.md", V1), shelf.add("canteen.md", OTHER), shelf.add("third.md", V3)
    for each in (rules, canteen, third):
        shelf.workbench.bulk_edit.delete(each)
    again = shelf.add("canteen again.md", OTHER)
    with pytest.raises(BadRequest) as refused:
        shelf.workbench.trash.restore([rules, canteen, 999, third])
    assert refused.value.message == (
        "2 of 4 documents were restored. 'canteen.md' cannot be restored: the same file is in the library again."
        " Document 999 is not in the trash."
    )
    assert shelf.living() == {"rules.md", "third.md", "canteen again.md"}
    assert [each.document_id for each in shelf.workbench.trash.listed()] == [canteen]
    _indexed(shelf, rules, third, again)


def test_one_document_that_cannot_be_restored_says_why(shelf: Shelf) -> None:
    with pytest.raises(NotFound, match=r"^Document 999 is not in the trash\."):
        shelf.workbench.trash.restore([999])


def test_nothing_is_restored_while_the_vectors_do_not_answer(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = shelf.add("rules.md", V1)
    shelf.workbench.documents.delete(rules)
    with monkeypatch.context() as broken:
        broken.setattr(shelf.stores.vectors, "ping", _fail)
        with pytest.raises(StoreUnavailable):
            shelf.workbench.trash.restore([rules])
    shelf.workbench.trash.restore([rules])
    _indexed(shelf, rules)


AFTER_RESTORING: Mapping[str, Callable[[Shelf], tuple[object, str]]] = {
    "keywords": lambda shelf: (shelf.stores.sparse, "add"),
    "tables": lambda shelf: (shelf.workbench.tables, "relink"),
    "versions": lambda shelf: (shelf.workbench.versions, "rejoin"),
    "learning": lambda shelf: (shelf.workbench.active_learning, "_defer"),
}
"""Step after a document has come back → the call that fails there."""


@pytest.mark.parametrize("step", AFTER_RESTORING)
def test_a_restored_document_is_found_and_its_deletion_undone_where_another_step_fails(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    rules = shelf.add("rules.md", V1)
    shelf.workbench.bulk_edit.delete(rules)
    shelf.stores.jobs.held = True
    with monkeypatch.context() as broken:
        broken.setattr(*AFTER_RESTORING[step](shelf), _fail)
        with pytest.raises(StoreFailed, match=r"^'rules\.md' was restored, but .* No Chroma server answers\."):
            shelf.workbench.trash.restore([rules])
    shelf.stores.jobs.run_held()
    _indexed(shelf, rules)
    (deleted,) = shelf.workbench.bulk_edit.history()
    assert deleted.undone_at is not None


def test_restoring_ends_at_a_store_that_does_not_answer_and_says_how_far_it_came(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [shelf.add("rules.md", V1), shelf.add("canteen.md", OTHER), shelf.add("third.md", V3)]
    for each in ids:
        shelf.workbench.documents.delete(each)
    store = shelf.workbench.trash._store
    take_back = store.take_back
    monkeypatch.setattr(store, "take_back", lambda number: _fail() if number == ids[1] else take_back(number))
    with pytest.raises(StoreFailed, match=r"^1 of 3 documents were restored\. No Chroma server answers\."):
        shelf.workbench.trash.restore(ids)
    assert shelf.living() == {"rules.md"}


# Deleting


def test_a_version_before_stays_archived_whose_file_is_in_the_library_again(shelf: Shelf) -> None:
    old, new = shelf.add("rules.md", V1), shelf.add("new rules.md", V2)
    shelf.versions.accept(old, new)
    again = shelf.add("once more.md", V1)
    shelf.workbench.documents.delete(new)
    assert shelf.living() == {"once more.md"} and shelf.workbench.documents.get(old).archived
    _indexed(shelf, old, again)
    shelf.workbench.trash.restore([new])
    assert shelf.chain(old) == [old, new]


def test_a_table_before_stays_archived_whose_file_is_in_the_library_again(shelf: Shelf) -> None:
    old, new = shelf.add("codes.csv", CODES), shelf.add("codes.csv", NEW_CODES)
    again = shelf.add("codes of last year.csv", CODES)
    assert shelf.living() == {"codes.csv", "codes of last year.csv"}
    shelf.workbench.bulk_edit.delete(new)
    assert shelf.living() == {"codes of last year.csv"} and shelf.workbench.documents.get(old).archived
    assert {each.document_id for each in shelf.workbench.tables.tables()} == {old, again}
    _indexed(shelf, old, again)


@pytest.mark.parametrize("step", ["vectors", "trash"])
def test_nothing_is_changed_by_a_deletion_that_cannot_begin(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    old, new = shelf.add("rules.md", V1), shelf.add("new rules.md", V2)
    shelf.versions.accept(old, new)
    with monkeypatch.context() as patch:
        if step == "vectors":
            patch.setattr(shelf.stores.vectors, "ping", _fail)
        else:
            patch.setattr(shelf.workbench.trash._store, "put", _fail)
        with pytest.raises(StoreUnavailable):
            shelf.workbench.bulk_edit.delete(new)
    assert shelf.chain(old) == [old, new] and shelf.living() == {"new rules.md"}
    assert not shelf.workbench.bulk_edit.history() and not shelf.workbench.trash.listed()
    _indexed(shelf, old, new)


AFTER_DELETING: Mapping[str, Callable[[Shelf], tuple[object, str]]] = {
    "keywords": lambda shelf: (shelf.stores.sparse, "delete"),
    "vectors": lambda shelf: (shelf.stores.vectors, "delete"),
    "entities": lambda shelf: (shelf.workbench.trash._graph, "delete"),
    "enrichment": lambda shelf: (shelf.workbench.enrichment, "forget"),
    "usage": lambda shelf: (shelf.stores.log, "delete"),
    "links of tables": lambda shelf: (shelf.workbench.tables, "_link"),
    "table before": lambda shelf: (shelf.workbench.documents, "archive"),
}
"""Step after a document has gone → the call that fails there."""


@pytest.mark.parametrize("step", AFTER_DELETING)
def test_a_step_that_fails_after_a_deletion_keeps_none_of_the_others(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    old, new = shelf.add("codes.csv", CODES), shelf.add("codes.csv", NEW_CODES)
    calls: list[str] = []
    for name, found in AFTER_DELETING.items():
        store, method = found(shelf)
        monkeypatch.setattr(store, method, _noting(calls, name, _fail if name == step else getattr(store, method)))
    with pytest.raises(StoreFailed, match=r"^'codes\.csv' is in the trash, but .* No Chroma server answers\.") as error:
        shelf.workbench.bulk_edit.delete(new, "Ann")
    assert "check --repair" in error.value.hint
    assert set(calls) == AFTER_DELETING.keys()
    assert [each.document_id for each in shelf.workbench.trash.listed()] == [new]
    (deleted,) = shelf.workbench.bulk_edit.history()
    assert (deleted.what, deleted.who, deleted.changes[0].document_id) == ("Deleted", "Ann", new)
    assert shelf.workbench.documents.get(old).archived is (step == "table before")


def _noting(calls: list[str], name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    def noted(*given: Any, **named: Any) -> Any:
        calls.append(name)
        return call(*given, **named)

    return noted


# For good


@pytest.mark.parametrize("problem", ["not there", "no answer"])
def test_nothing_is_deleted_for_good_where_it_cannot_begin(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, problem: str
) -> None:
    rules = shelf.add("rules.md", V1)
    shelf.workbench.documents.delete(rules)
    if problem == "no answer":
        monkeypatch.setattr(shelf.stores.vectors, "ping", _fail)
    with pytest.raises(NotFound if problem == "not there" else StoreUnavailable):
        shelf.workbench.trash.purge([rules, 999] if problem == "not there" else [rules])
    assert shelf.workbench.trash.restorable() == {rules}


def test_what_was_restored_is_found_by_a_search(shelf: Shelf) -> None:
    rules = shelf.add("rules.md", V1)
    shelf.workbench.documents.delete(rules)
    shelf.workbench.trash.restore([rules])
    found = shelf.workbench.search.run(SearchRequest("approval of a flight"))
    assert {hit.candidate.passage.document_id for hit in found.hits} == {rules}
