"""Editing what is said of documents: planned, made, told in the history, taken back – and the same by CSV."""

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.documents import Document, DocumentState, Label, Labels, SourceType
from core.domain.errors import BadRequest, NotFound, StoreFailed
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from core.library.bulk_edit.plan import BulkEdit, EditMode, documents_csv, plan_edits, read_edits, value_of
from core.workbench import Workbench
from tests.search.library import WordEmbedder
from tests.workbench import Stores, built

POLICY = "# Overtime policy\nAll overtime must be approved in writing. This policy is reviewed by internal audit.\n"
NOTES = "# Meeting notes\nThe customer wants overtime approved by phone. We agreed to look at it in the spring.\n"


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Workbench]:
    """Two documents, one in a project."""
    workbench = built(Stores(WordEmbedder()), tmp_path)
    workbench.documents.upload("policy.md", POLICY.encode(), project="North", tags=["hr"])
    workbench.documents.upload("notes.md", NOTES.encode())
    yield workbench


def by_name(office: Workbench, name: str) -> Document:
    return next(each for each in office.documents.list(archived=None) if each.name == name)


def found(office: Workbench, **filters: object) -> set[str]:
    result = office.search.run(SearchRequest("overtime approved", SearchFilters(**filters)))  # type: ignore[arg-type]
    return {hit.candidate.passage.document_name for hit in result.hits}


def test_a_plan_changes_nothing_and_tells_every_change(office: Workbench) -> None:
    notes = by_name(office, "notes.md")
    plan = office.bulk_edit.plan({notes.id: [BulkEdit("project", "North"), BulkEdit("tags", "pay; hr", EditMode.ADD)]})
    assert [(each.field, each.before, each.after) for each in plan.changes] == [
        ("project", "", "North"),
        ("tags", "", "pay; hr"),
    ]
    assert by_name(office, "notes.md") == notes and not office.bulk_edit.history()


def test_edits_reach_the_document_its_passages_and_every_search(office: Workbench) -> None:
    notes = by_name(office, "notes.md")
    edits = [
        BulkEdit("project", "North"),
        BulkEdit("tags", "pay"),
        BulkEdit("source_type", "email"),
        BulkEdit("owner", "Ann Lee"),
    ]
    edits += [
        BulkEdit("url", "https://example.org/n"),
        BulkEdit("truth", "intent"),
        BulkEdit("effective_date", "2024-05"),
    ]
    assert found(office, tags=("pay",)) == set()
    office.bulk_edit.apply(office.bulk_edit.plan({notes.id: edits}).changes, "Sorted", "Bob")
    now = by_name(office, "notes.md")
    assert (now.project, now.tags, now.source_type, now.owner) == ("North", ("pay",), SourceType.EMAIL, "Ann Lee")
    assert now.labels.truth.confirmed and now.date == datetime(2024, 5, 1, tzinfo=UTC)
    for filters in ({"tags": ("pay",)}, {"source_types": ("email",)}, {"date_from": datetime(2024, 4, 1, tzinfo=UTC)}):
        assert found(office, **filters) == {"notes.md"}


def test_taking_back_restores_every_field_and_the_label_with_its_evidence(office: Workbench) -> None:
    before = {each.id: each for each in office.documents.list()}
    expected = [
        BulkEdit("project", "South"),
        BulkEdit("tags", "x", EditMode.ADD),
        BulkEdit("truth", "reality"),
        BulkEdit("owner", "me"),
    ]
    plan = office.bulk_edit.plan(dict.fromkeys(before, expected))
    made = office.bulk_edit.apply(plan.changes, "All of it", "Bob")
    assert all(each.project == "South" and each.labels.truth.confirmed for each in office.documents.list())
    back = office.bulk_edit.undo(made.id, "Ann")
    assert (back.restored, back.left) == (len(plan.changes), ())
    assert {each.id: each for each in office.documents.list()} == before
    [reported] = office.bulk_edit.history()
    assert reported.undone_by == "Ann" and reported.what == "All of it"
    with pytest.raises(BadRequest, match="undone already"):
        office.bulk_edit.undo(made.id)


def test_a_label_taken_back_is_the_classifiers_again_when_the_file_is_read_again(office: Workbench) -> None:
    policy = by_name(office, "policy.md")
    made = office.bulk_edit.apply(
        office.bulk_edit.plan({policy.id: [BulkEdit("truth", "reality")]}).changes, "Wrong", "Bob"
    )
    office.documents.retry(policy.id)
    assert by_name(office, "policy.md").labels.truth.value == "reality"
    office.bulk_edit.undo(made.id)
    office.documents.retry(policy.id)
    assert by_name(office, "policy.md").labels.truth == policy.labels.truth


def test_what_was_changed_again_since_is_left_and_told(office: Workbench) -> None:
    policy = by_name(office, "policy.md")
    first = office.bulk_edit.apply(
        office.bulk_edit.plan({policy.id: [BulkEdit("owner", "A"), BulkEdit("url", "")]}).changes, "1"
    )
    office.bulk_edit.apply(office.bulk_edit.plan({policy.id: [BulkEdit("owner", "B")]}).changes, "2")
    back = office.bulk_edit.undo(first.id)
    assert back.restored == 0 and "policy.md: its owner was changed again since." in back.left
    assert by_name(office, "policy.md").owner == "B"


def test_a_planned_change_of_what_was_changed_meanwhile_is_not_made(office: Workbench) -> None:
    policy = by_name(office, "policy.md")
    stale = office.bulk_edit.plan({policy.id: [BulkEdit("owner", "A")]})
    office.bulk_edit.apply(office.bulk_edit.plan({policy.id: [BulkEdit("owner", "B")]}).changes, "first")
    with pytest.raises(BadRequest, match="Nothing was changed"):
        office.bulk_edit.apply(stale.changes, "second")
    assert by_name(office, "policy.md").owner == "B"


def test_a_document_deleted_meanwhile_stops_nobody_and_keeps_its_history(office: Workbench) -> None:
    ids = [each.id for each in office.documents.list()]
    plan = office.bulk_edit.plan({key: (BulkEdit("owner", "A"),) for key in ids})
    office.documents.delete(ids[0])
    made = office.bulk_edit.apply(plan.changes, "both")
    assert len(made.changes) == 1
    office.documents.delete(ids[1])
    back = office.bulk_edit.undo(made.id)
    assert back.restored == 0 and "no longer in the library" in back.left[0]
    assert office.bulk_edit.history(ids[1])


def test_labels_of_a_document_deleted_in_the_middle_are_left_out(office: Workbench) -> None:
    first, second = (each.id for each in office.documents.list())
    plan = office.bulk_edit.plan({each: (BulkEdit("truth", "reality"),) for each in (first, second)})

    def meddle(done: int, whole: int, name: str) -> None:
        if done == 1:
            office.documents.delete(plan.changes[0].document_id)

    made = office.bulk_edit.apply(plan.changes, "both", on_document=meddle)
    assert [each.document_id for each in made.changes] == [plan.changes[1].document_id]
    assert office.documents.get(plan.changes[1].document_id).labels.truth.confirmed


def test_archiving_takes_documents_out_of_searches_and_can_be_taken_back(office: Workbench) -> None:
    ids = [each.id for each in office.documents.list()]
    made = office.bulk_edit.archive(ids, archived=True, who="Bob")
    assert not office.documents.list() and not found(office) and len(office.documents.list(archived=True)) == 2
    office.bulk_edit.undo(made.id)
    assert found(office) == {"policy.md", "notes.md"}
    with pytest.raises(BadRequest):
        office.bulk_edit.archive(ids, archived=False)


def _archived_with_a_living_twin(office: Workbench) -> tuple[int, int]:
    """An archived document whose bytes were uploaded again since, and another archived one."""
    policy, notes = by_name(office, "policy.md").id, by_name(office, "notes.md").id
    office.bulk_edit.archive([policy, notes], archived=True)
    office.documents.upload("again.md", POLICY.encode(), project="North")
    return policy, notes


def test_an_archived_document_cannot_come_back_beside_the_same_file(office: Workbench) -> None:
    policy, _ = _archived_with_a_living_twin(office)
    for act in (
        lambda: office.documents.archive(policy, archived=False),
        lambda: office.bulk_edit.archive([policy], archived=False),
    ):
        with pytest.raises(BadRequest, match=r"'policy\.md' cannot come back: the same file is in the library again"):
            act()
    assert office.documents.get(policy).archived and len(office.bulk_edit.history()) == 1
    office.bulk_edit.delete(by_name(office, "again.md").id)
    office.bulk_edit.archive([policy], archived=False)
    assert not office.documents.get(policy).archived


def test_one_document_that_is_refused_stops_no_other_and_what_was_done_can_be_undone(office: Workbench) -> None:
    policy, notes = _archived_with_a_living_twin(office)
    with pytest.raises(BadRequest, match=r"1 of 2 documents were changed\. 'policy\.md' cannot come back"):
        office.bulk_edit.archive([policy, notes], archived=False)
    assert office.documents.get(policy).archived and not office.documents.get(notes).archived
    made = office.bulk_edit.history()[0]
    assert [each.document_id for each in made.changes] == [notes]
    assert office.bulk_edit.undo(made.id).restored == 1 and office.documents.get(notes).archived


def test_an_undo_leaves_what_is_refused_and_tells_it(office: Workbench) -> None:
    policy, notes = _archived_with_a_living_twin(office)
    archived = office.bulk_edit.history()[0]
    undone = office.bulk_edit.undo(archived.id)
    assert undone.restored == 1 and "'policy.md' cannot come back" in undone.left[0]
    assert office.documents.get(policy).archived and not office.documents.get(notes).archived


def test_an_undo_that_is_refused_as_a_whole_can_be_repeated(office: Workbench) -> None:
    policy = by_name(office, "policy.md").id
    made = office.bulk_edit.apply(office.bulk_edit.plan({policy: [BulkEdit("project", "South")]}).changes, "Moved")
    office.documents.upload("again.md", POLICY.encode(), project="North")
    with pytest.raises(BadRequest, match="the same file is in North already"):
        office.bulk_edit.undo(made.id)
    office.documents.delete(by_name(office, "again.md").id)
    assert office.bulk_edit.undo(made.id).restored == 1 and office.documents.get(policy).project == "North"


@pytest.mark.parametrize("broken", ["catalogue", "index", "page"])
def test_what_was_done_before_a_failure_is_in_the_history_and_can_be_undone(
    office: Workbench, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    first, second = (each.id for each in office.documents.list())
    edits = [BulkEdit("owner", "Ann"), BulkEdit("truth", "reality")]
    plan = office.bulk_edit.plan({first: edits, second: edits})

    service: Any = office.bulk_edit

    def breaking(act: Callable[..., object]) -> Callable[..., object]:
        turn = count()

        def act_once(*given: Any) -> object:
            if next(turn) == 1:
                raise StoreFailed("The disk is full.")
            return act(*given)

        return act_once

    tell = lambda *given: None  # noqa: E731
    with monkeypatch.context() as patched, pytest.raises(StoreFailed):
        if broken == "catalogue":
            patched.setattr(service._catalogue, "edit_labels", breaking(service._catalogue.edit_labels))
        elif broken == "index":
            patched.setattr(service._vectors, "update", breaking(service._vectors.update))
        office.bulk_edit.apply(plan.changes, "Sorted", "Bob", breaking(tell) if broken == "page" else tell)
    made = office.bulk_edit.history()[0]
    done = [first, second] if broken == "index" else [first]  # the catalogue has what the index lacks
    assert [(each.document_id, each.field) for each in made.changes] == [(each, "owner") for each in done]
    undone = office.bulk_edit.undo(made.id)
    assert (undone.restored, undone.left) == (len(done), ())
    assert {each.owner for each in office.documents.list()} == {""}


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (BulkEdit("truth", "opinion"), "'opinion' is not a value of truth"),
        (BulkEdit("jurisdiction", "Texas"), "'Texas' is not a jurisdiction"),
        (BulkEdit("effective_date", "2024-13"), "'2024-13' is not a date"),
        (BulkEdit("source_type", "fax"), "'fax' is not a source type"),
        (BulkEdit("url", "javascript:alert(1)"), "is not an address"),
        (BulkEdit("owner", "x" * 81), "The owner is too long"),
        (BulkEdit("tags", "x" * 61), "too long tags"),
        (BulkEdit("truth", mode=EditMode.CLEAR), "cannot be empty"),
        (BulkEdit("sha256", "0"), "'sha256' cannot be edited"),
    ],
)
def test_a_value_a_field_cannot_hold_is_a_problem_that_names_the_document(
    office: Workbench, edit: BulkEdit, expected: str
) -> None:
    policy = by_name(office, "policy.md")
    plan = office.bulk_edit.plan({policy.id: [edit, BulkEdit("owner", "A")]})
    assert [each.field for each in plan.changes] == ["owner"]
    [problem] = plan.problems
    assert problem.about == "policy.md" and expected in problem.what and str(problem) == f"policy.md: {problem.what}"


def test_the_same_file_cannot_be_twice_in_one_project(office: Workbench) -> None:
    office.documents.upload("copy.md", POLICY.encode(), project="South")
    plan = office.bulk_edit.plan({by_name(office, "copy.md").id: [BulkEdit("project", "North")]})
    assert not plan.changes and "The same file is in North already." in plan.problems[0].what


def test_an_unknown_document_or_set_is_told(office: Workbench) -> None:
    [problem] = office.bulk_edit.plan({999: [BulkEdit("owner", "A")]}).problems
    assert str(problem) == "Document 999: It is no longer in the library."
    with pytest.raises(NotFound):
        office.bulk_edit.undo(999)


# CSV


def test_the_list_read_back_unchanged_changes_nothing(office: Workbench) -> None:
    documents = office.documents.list()
    read = read_edits(documents_csv(documents), "d.csv", documents)
    unconfirmed = office.bulk_edit.plan(read.edits)
    assert not read.problems and not unconfirmed.problems
    assert all(each.before == each.after for each in unconfirmed.changes)


def test_a_changed_cell_is_a_change_and_a_missing_column_is_none(office: Workbench) -> None:
    documents = office.documents.list()
    rows = "id;owner;Date;tags\n" + "".join(f"{each.id};'=SUM(A1);2024-05;\n" for each in documents)
    read = read_edits(rows.encode("cp1252"), "d.csv", documents)
    plan = office.bulk_edit.plan(read.edits)
    changed = {(each.name, each.field, each.after) for each in plan.changes}
    assert changed == {
        *((name, "owner", "=SUM(A1)") for name in ("policy.md", "notes.md")),
        *((name, "effective_date", "2024-05") for name in ("policy.md", "notes.md")),
        ("policy.md", "tags", ""),
    }


def test_rows_that_cannot_be_used_are_told_and_the_others_go_on(office: Workbench) -> None:
    policy = by_name(office, "policy.md")
    lines = ("99,,,A,red", f"{policy.id},other.md,,A,", ",policy.md,,B,", f",,{policy.sha256[:9]},C,")
    rows = "\n".join(("id,file,sha256,owner,colour", *lines))
    read = read_edits(rows.encode(), "d.csv", office.documents.list())
    assert read.edits == {policy.id: (BulkEdit("owner", "B"),)}
    text = " ".join(map(str, read.problems))
    for statement in ("'colour' is not known", "Row 2: there is no document with id 99", "Row 3:", "Row 5:"):
        assert statement in text


@pytest.mark.parametrize("data", [b"", b"owner,tags\nA,b\n", b'id,"owner\n1,A\n'])
def test_a_file_that_cannot_be_read_at_all_is_refused(office: Workbench, data: bytes) -> None:
    with pytest.raises(BadRequest):
        read_edits(data, "d.csv", office.documents.list())


TEXTS = st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=20)
TAGS = st.lists(TEXTS.map(lambda t: " ".join(t.replace(";", " ").split())).filter(bool), max_size=3, unique=True)


@given(owner=TEXTS.map(lambda text: " ".join(text.split())), tags=TAGS, truth=st.sampled_from(["intent", None]))
def test_whatever_is_written_is_read_back_as_it_was(owner: str, tags: list[str], truth: str | None) -> None:
    labels = replace(Labels(), truth=Label(truth, 1.0 if truth else 0.0, confirmed=bool(truth)))
    document = Document(
        5, "a.md", "ab" * 32, 1, DocumentState.READY, datetime(2026, 1, 1, tzinfo=UTC), owner=owner, tags=tuple(tags),
        labels=labels,
    )  # fmt: skip
    data = documents_csv([document])
    read = read_edits(data, "d.csv", [document])
    assert not read.problems and not plan_edits([document], read.edits, [document], BUILT_IN_TERMS).changes
    [row] = csv.DictReader(io.StringIO(data.decode("utf-8-sig")))
    assert not row["owner"].startswith(("=", "+", "@"))
    assert value_of(document, "tags") == "; ".join(tags)


def test_what_is_said_of_a_document_while_it_is_read_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.library.step_progress._STEP_SECONDS", 0.0)  # each step is told, however short
    stores = Stores(WordEmbedder())
    office = built(stores, tmp_path)
    reports: list[int] = []

    document_id = office.documents.upload("notes.md", NOTES.encode()).document_id
    progress = stores.catalogue.progress

    def observed(own_id: int, *, step: str) -> bool:
        goes_on = progress(own_id, step=step)
        if step == "embed" and not reports:
            reports.append(own_id)
            plan = office.bulk_edit.plan(
                {own_id: [BulkEdit("tags", "late"), BulkEdit("owner", "Ann"), BulkEdit("truth", "reality")]}
            )
            office.bulk_edit.apply(plan.changes, "meanwhile")
        return goes_on

    stores.catalogue.progress = observed  # type: ignore[method-assign]
    office.documents.retry(document_id)
    now = office.documents.get(document_id)
    assert reports and now.state is DocumentState.READY
    assert (now.tags, now.owner) == (("late",), "Ann")
    assert now.labels.truth.value == "reality" and now.labels.truth.confirmed
    assert all(each.tags == ("late",) and each.truth == "reality" for each in office.documents.passages(document_id))
