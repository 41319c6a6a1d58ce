"""What a colleague changes of a document while a service changes it stays."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.domain.documents import Document, Passage, TableRole
from core.domain.vocabulary import DomainWords, Vocabulary
from core.library.bulk_edit.plan import BulkEdit
from core.workbench import Workbench
from tests.ingestion.making import pdf_of
from tests.library.test_decrypt import locked_pdf
from tests.search.library import WordEmbedder
from tests.workbench import Stores, built

NOTICE = "# How we answer\nEvery data subject may send an erasure request. An erasure request is answered in a month.\n"
CODES = "code,description,rate\nOT,Overtime,1.5\nDT,Double time,2\n"


class Colleague:
    """Changes a document after every read of it outside an edit: its owner, its tags and those of its passages."""

    def __init__(self, catalogue: Any, document_id: int, *, tags: bool = True) -> None:
        self._catalogue, self._document_id, self._tags = catalogue, document_id, tags
        self._editing, self._edits = False, 0
        self._edit_labels = catalogue.edit_labels

    def watch(self, patch: pytest.MonkeyPatch) -> None:
        """Begin to change the document."""
        for name in ("document", "documents_by_id", "passages_of"):
            patch.setattr(self._catalogue, name, self._followed(getattr(self._catalogue, name)))
        patch.setattr(self._catalogue, "edit_labels", self._alone)

    def stop(self, patch: pytest.MonkeyPatch) -> None:
        """Look whether every change is there."""
        assert self._edits
        patch.undo()
        self._edit_labels(self._document_id, self._checked)

    def _followed(self, read: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def read_and_change(asked: Any) -> Any:
            found = read(asked)
            if not self._editing and self._document_id in ([asked] if isinstance(asked, int) else asked):
                self._alone(self._document_id, self._change)
            return found

        return read_and_change

    def _alone(self, document_id: int, edit: Callable[..., Any]) -> Sequence[Passage]:
        self._editing = True
        try:
            return self._edit_labels(document_id, edit)
        finally:
            self._editing = False

    def _change(self, now: Document, passages: Sequence[Passage]) -> tuple[Document, Sequence[Passage]]:
        self._checked(now, passages)
        self._edits += 1
        owner, tags = f"Bo {self._edits}", (f"edit {self._edits}",) if self._tags else now.tags
        return replace(now, owner=owner, tags=tags), [replace(each, tags=tags) for each in passages]

    def _checked(self, now: Document, passages: Sequence[Passage]) -> tuple[Document, Sequence[Passage]]:
        if self._edits:
            assert now.owner == f"Bo {self._edits}"
            assert not self._tags or {now.tags, *(each.tags for each in passages)} == {(f"edit {self._edits}",)}
        return now, passages


class Desk:
    """A library in memory whose jobs run at once."""

    def __init__(self, folder: Path) -> None:
        self.stores = Stores(WordEmbedder())
        self.bench: Workbench = built(self.stores, folder)

    def upload(self, name: str, data: str | bytes = NOTICE) -> int:
        """The id of a document, read."""
        return self.bench.documents.upload(name, data.encode() if isinstance(data, str) else data).document_id

    def without_colleague(self, document_id: int) -> tuple[Document, list[Passage]]:
        """A document and its passages but for what the colleague changes."""
        passages = [replace(each, tags=()) for each in self.bench.documents.passages(document_id)]
        return replace(self.bench.documents.get(document_id), owner="", tags=()), passages


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    yield Desk(tmp_path)


Act = Callable[[], object]


def bulk_edit(desk: Desk) -> tuple[int, Act]:
    """A move to a project, planned before."""
    document = desk.upload("a.md")
    plan = desk.bench.bulk_edit.plan({document: [BulkEdit("project", "South")]})
    return document, lambda: desk.bench.bulk_edit.apply(plan.changes, "Moved")


def undone_edit(desk: Desk) -> tuple[int, Act]:
    """A move to a project, undone."""
    document, move = bulk_edit(desk)
    move()
    return document, lambda: desk.bench.bulk_edit.undo(desk.bench.bulk_edit.history()[0].id)


def unarchived(desk: Desk) -> tuple[int, Act]:
    """A document that comes back from the archive."""
    document = desk.upload("a.md")
    desk.bench.documents.archive(document, archived=True)
    return document, lambda: desk.bench.documents.archive(document, archived=False)


def table_role(desk: Desk) -> tuple[int, Act]:
    """A table that becomes a table of records."""
    document = desk.upload("codes.csv", CODES)
    return document, lambda: desk.bench.documents.set_table_role("codes", TableRole.RECORDS)


def unlocked(desk: Desk) -> tuple[int, Act]:
    """A file whose password is given, before it is read again."""
    document = desk.upload("leave.pdf", locked_pdf(pdf_of("Employees accrue leave."), "secret", "AES-128"))
    desk.bench.decryption._retry = lambda document_id: None
    return document, lambda: desk.bench.decryption.unlock(document, "secret")


def relabelled(desk: Desk) -> tuple[int, Act]:
    """A document that a word of the workspace gives another domain."""
    document = desk.upload("a.md", NOTICE * 3)
    words = DomainWords("privacy", "Privacy", ("data subject", "erasure request"))
    desk.bench.vocabulary.save(Vocabulary((words,)), who="Ann")
    return document, lambda: desk.bench.vocabulary.relabelling.start("Ann")


def newer_version(desk: Desk) -> tuple[int, Act]:
    """The newer of two versions."""
    older, newer = desk.upload("rules v1.md"), desk.upload("rules v2.md", NOTICE.replace("month", "week"))
    return newer, lambda: desk.bench.versions.accept(older, newer)


def older_version(desk: Desk) -> tuple[int, Act]:
    """The older one, which goes to the archive."""
    older, newer = desk.upload("rules v1.md"), desk.upload("rules v2.md", NOTICE.replace("month", "week"))
    return older, lambda: desk.bench.versions.accept(older, newer)


@pytest.mark.parametrize(
    "begin",
    [bulk_edit, undone_edit, unarchived, table_role, unlocked, relabelled, newer_version, older_version],
)
def test_what_a_colleague_changes_of_a_document_meanwhile_stays(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, begin: Callable[[Desk], tuple[int, Act]]
) -> None:
    document_id, act = begin(desk)
    before = desk.without_colleague(document_id)
    colleague = Colleague(desk.stores.catalogue, document_id)
    colleague.watch(monkeypatch)
    act()
    colleague.stop(monkeypatch)
    assert desk.without_colleague(document_id) != before


def test_what_a_colleague_changes_of_a_notes_document_meanwhile_stays(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = desk.bench.insights.save("The herd keeps a ledger.", tags=["herd"])
    colleague = Colleague(desk.stores.catalogue, note.document_id, tags=False)
    colleague.watch(monkeypatch)
    desk.bench.insights.change(replace(note, tags=("ledger",)))
    colleague.stop(monkeypatch)
    assert desk.bench.documents.get(note.document_id).tags == ("ledger",)


def test_a_label_that_a_colleague_sets_while_documents_are_labelled_again_stays(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    document_id, act = relabelled(desk)
    catalogue = desk.stores.catalogue
    reading = catalogue.corrections

    def read_and_correct(asked: Any) -> object:
        found = reading(asked)
        monkeypatch.undo()
        desk.bench.documents.correct(document_id, "domain", "taxes")
        return found

    monkeypatch.setattr(catalogue, "corrections", read_and_correct)
    act()
    domain = desk.bench.documents.get(document_id).labels.domain
    assert (domain.value, domain.confirmed) == ("taxes", True)
