"""Reading a document again when a store fails or the program dies: every index holds the text that stays, or it is not
called readable."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.domain.documents import Document, DocumentState
from core.domain.errors import FivefoldError, StoreFailed, StoreUnavailable, UnreadableFile
from core.ports.catalogue import NOT_READ_AGAIN
from tests.library.test_upload_queue import LAW, Tray

CALLS: Mapping[str, Callable[[Tray], tuple[object, str]]] = {
    "ask the vectors": lambda tray: (tray.stores.vectors, "ping"),
    "save": lambda tray: (tray.stores.catalogue, "save_all_ingested"),
    "add vectors": lambda tray: (tray.stores.vectors, "add"),
    "delete former vectors": lambda tray: (tray.stores.vectors, "delete"),
    "delete keywords": lambda tray: (tray.stores.sparse, "delete"),
    "add keywords": lambda tray: (tray.stores.sparse, "add"),
    "add entities": lambda tray: (tray.workbench.ingestion._graph, "add_each"),
    "follow": lambda tray: (tray.stores.lessons, "save_records"),
    "end": lambda tray: (tray.workbench.upload_queue, "ended"),
}
"""Step of storing → the call that fails there."""


class _Killed(BaseException):
    """As a signal would end the program: nothing catches it."""


@pytest.fixture
def tray(tmp_path: Path) -> Tray:
    """A library with one document, to be read again."""
    made = Tray(tmp_path)
    (only,) = made.add(LAW.format(3))
    made.let_go()
    made.workbench.documents.retry(only)
    made.stores.jobs.cancel()
    return made


def _only(tray: Tray) -> Document:
    (document,) = tray.workbench.documents.list()
    return document


def _stop_at(tray: Tray, patch: pytest.MonkeyPatch, step: str, error: BaseException, *, after: bool = False) -> None:
    """The call of a step raises the error; after: when it has done its work."""
    store, name = CALLS[step](tray)
    call = getattr(store, name)

    def stop(*given: Any, **named: Any) -> None:
        if after:
            call(*given, **named)
        raise error

    patch.setattr(store, name, stop)


def _assert_true(tray: Tray) -> None:
    """Every index holds exactly the text of a document that is called readable; any other one has none."""
    document, stores = _only(tray), tray.stores
    passages = [each.id for each in tray.workbench.documents.passages(document.id)]
    assert bool(passages) is (document.state is DocumentState.READY)
    if passages:
        assert stores.vectors.passage_ids().tolist() == passages
        assert stores.sparse.passages_containing([]).tolist() == passages


@pytest.mark.parametrize("step", CALLS)
def test_a_document_whose_store_fails_at_every_attempt_is_whole_or_not_called_readable(
    tray: Tray, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    only, before = _only(tray).id, tray.workbench.documents.passages(_only(tray).id)
    with monkeypatch.context() as broken:
        _stop_at(tray, broken, step, StoreUnavailable("The store does not answer.", "Start it."))
        for _ in range(2):  # the attempts of its job
            with pytest.raises(StoreUnavailable) as error:
                tray.workbench.ingestion.ingest_pending(only)
    tray.workbench.ingestion.fail(only, error.value)
    _assert_true(tray)
    document = _only(tray)
    assert "The store does not answer." in f"{document.failure} {document.warnings}"
    if step in ("ask the vectors", "save"):
        assert document.warnings[0].startswith(NOT_READ_AGAIN)
        assert tray.workbench.documents.passages(only) == before
    tray.workbench.documents.retry(only)
    tray.let_go()
    assert _only(tray).state is DocumentState.READY
    _assert_true(tray)


@pytest.mark.parametrize("step", CALLS)
def test_a_document_stopped_after_a_store_failed_is_whole_or_not_called_readable(
    tray: Tray, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    with monkeypatch.context() as broken:
        _stop_at(tray, broken, step, StoreFailed("The disk is full.", "Make room."))
        with pytest.raises(StoreFailed):
            tray.workbench.ingestion.ingest_pending(_only(tray).id)
    tray.workbench.upload_queue.stop()
    if step == "end":  # every index has it
        assert _only(tray).state is DocumentState.READY
    _assert_true(tray)


def _read_damaged(tray: Tray) -> None:
    """The next attempt finds the file damaged."""
    tray.workbench.ingestion._pipeline.run = _damaged  # type: ignore[method-assign]
    tray.workbench.ingestion.ingest_pending(_only(tray).id)


def _give_up(tray: Tray) -> None:
    """The next worker finds that the job has ended too many processes."""
    tray.workbench.ingestion.fail(_only(tray).id, FivefoldError("It ended the program 3 times.", "Split it."))


def _damaged(*given: Any, **named: Any) -> Any:
    raise UnreadableFile("It is damaged.", "Export it again.")


@pytest.mark.parametrize("goes_on", [_read_damaged, _give_up])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", CALLS)
def test_a_document_is_whole_or_not_called_readable_whose_program_was_killed(
    tray: Tray, monkeypatch: pytest.MonkeyPatch, step: str, after: bool, goes_on: Callable[[Tray], None]
) -> None:
    with monkeypatch.context() as killed:
        _stop_at(tray, killed, step, _Killed(), after=after)
        with pytest.raises(_Killed):
            tray.workbench.ingestion.ingest_pending(_only(tray).id)
    goes_on(tray)
    _assert_true(tray)


@pytest.mark.parametrize("error", [StoreFailed("The disk is full.", "Make room."), _Killed()])
@pytest.mark.parametrize("step", ["delete former vectors", "delete keywords", "end"])
def test_a_file_that_turns_out_to_be_an_archive_leaves_its_former_text_whole_or_nowhere(
    tray: Tray, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    def as_archive(document: Document, *given: Any) -> Document:
        return replace(document, state=DocumentState.READY, pages=0, passages=0, step="")

    monkeypatch.setattr(tray.workbench.ingestion._members, "take_out", as_archive)
    only = _only(tray).id
    with monkeypatch.context() as broken:
        _stop_at(tray, broken, step, error)
        with pytest.raises(type(error)):
            tray.workbench.ingestion.ingest_pending(only)
    if tray.workbench.documents.passages(only):
        _give_up(tray)
        _assert_true(tray)
    else:
        assert tray.stores.catalogue.document(only).step == "indexing", "it is read again"
        tray.workbench.ingestion.ingest_pending(only)
        assert (_only(tray).state, _only(tray).step) == (DocumentState.READY, "")
        assert tray.stores.vectors.count() == tray.stores.sparse.count() == 0


def _restored(tray: Tray) -> int:
    """The document back from the trash, not read yet; its vectors were in another store."""
    only = _only(tray).id
    tray.workbench.documents.delete(only)
    tray.workbench.trash.restore([only])
    tray.stores.jobs.cancel()
    assert tray.stores.catalogue.document(only).state is DocumentState.PENDING and not tray.stores.vectors.count()
    return only


def test_a_restored_document_that_cannot_be_read_again_is_found_by_meaning(tray: Tray) -> None:
    tray.workbench.ingestion.ingest_pending(_only(tray).id)
    before = tray.stores.vectors.vectors(tray.stores.vectors.passage_ids().tolist())
    _restored(tray)
    _read_damaged(tray)
    _assert_true(tray)
    assert _only(tray).warnings == (f"{NOT_READ_AGAIN} It is damaged. Export it again.",)
    after = tray.stores.vectors.vectors(list(before))
    assert before.keys() == after.keys() and all((before[each] == after[each]).all() for each in before)


@pytest.mark.parametrize("answers", [True, False], ids=["index answers", "index does not answer"])
def test_a_restored_document_that_has_no_vectors_in_the_end_says_so(
    tray: Tray, monkeypatch: pytest.MonkeyPatch, answers: bool
) -> None:
    only = _restored(tray)

    def stop(*given: Any, **named: Any) -> Any:
        raise StoreUnavailable("No Chroma server answers.", "Start it.")

    with monkeypatch.context() as broken:
        broken.setattr(tray.workbench.ingestion._pipeline, "run", _damaged)
        broken.setattr(tray.stores.vectors, "add" if answers else "vectors", stop)
        with pytest.raises(StoreUnavailable) as error:
            tray.workbench.ingestion.ingest_pending(only)
        tray.workbench.ingestion.fail(only, error.value)
    [warning] = _only(tray).warnings
    assert warning.endswith(
        "No Chroma server answers. Until it is read again, it may be found by its words only. Start it."
    )
    tray.workbench.documents.retry(only)
    tray.let_go()
    assert not _only(tray).warnings
    _assert_true(tray)
