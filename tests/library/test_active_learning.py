"""Learning from corrections as an analyst meets it: previews, applications, undoing, and what is never touched."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.domain.documents import EvidenceSource, Truth
from core.domain.errors import BadRequest, NotFound
from core.domain.filters import SearchFilters
from core.evaluation.metrics.classifier_report import LabelRate
from core.library.active_learning.corrections import accuracy_over_time
from core.library.active_learning.store import LabelVerdict, LearningActionKind
from core.ports.stores import Embedder
from core.workbench import Workbench
from tests.label_edits import store_labels
from tests.workbench import Stores, built

INGEST = Path(__file__).parents[1] / "ingestion"
KINDS: Sequence[Mapping[str, Any]] = tomllib.loads((INGEST / "lessons.toml").read_text("utf-8"))["kind"]
OTHERS: Sequence[Mapping[str, str]] = tomllib.loads((INGEST / "examples.toml").read_text("utf-8"))["document"]
TALKS = next(kind for kind in KINDS if kind["name"] == "toolbox talks")
NOW = datetime(2024, 5, 15, 9, tzinfo=UTC)


@pytest.fixture
def stores(embedder: Embedder) -> Stores:
    return Stores(embedder)


@pytest.fixture
def library(stores: Stores, tmp_path: Path) -> Workbench:
    return built(stores, tmp_path, lambda: NOW)


def add(library: Workbench, document: Mapping[str, str]) -> int:
    """Upload one text; every example is read as plain text, whatever its name."""
    name = f"{document['name'].rpartition('.')[0]}.txt"
    return library.documents.upload(name, document["text"].encode()).document_id


def talks(library: Workbench) -> tuple[list[int], int]:
    """Six toolbox talks in the library, all but one corrected: (those, the one)."""
    left, *others = (add(library, each) for each in TALKS["document"])
    library.documents.correct_many([(each, "truth", "intent") for each in others], "ann")
    return others, left


def state(library: Workbench) -> Mapping[int, object]:
    """Every document and passage, whole."""
    return {each.id: (each, tuple(library.documents.passages(each.id))) for each in library.documents.list()}


def found_under(library: Workbench, truth: Truth) -> set[int]:
    """Documents with passages that a filter on this truth admits, as the vector index has it."""
    vector = np.ones(library.active_learning.classifier.own.read("a", "", [])[1].shape[1], dtype=np.float32)
    hits = library.documents._vectors.search(vector, SearchFilters(truths=(truth,), strict_labels=True), 100)
    ids = [each.passage_id for each in hits.hits]
    return {library.documents.passage(each).document_id for each in ids}


QUOTING = """# Time cards

{0}

# Overtime

Cal. Labor Code § 226 requires itemized statements. Whoever falsifies a time card is guilty of a misdemeanor.

# Vacation

{0}
"""


@pytest.mark.parametrize("truth", ["intent", "compliance"])
def test_a_law_in_a_corrected_document_stays_a_law_when_the_file_is_read_again(library: Workbench, truth: str) -> None:
    ours = "The shop hands in every time card on Friday, and its foreman keeps a list of the days off. " * 12
    document_id = library.documents.upload("time cards.md", QUOTING.format(ours).encode()).document_id
    library.documents.correct(document_id, "truth", truth)
    corrected = [each.truth for each in library.documents.passages(document_id)]
    assert set(corrected) == {Truth(truth), Truth.REGULATORY}
    library.documents.retry(document_id)
    assert [each.truth for each in library.documents.passages(document_id)] == corrected


def test_a_sixth_document_read_later_takes_the_lesson_and_says_so(library: Workbench) -> None:
    left, *others = TALKS["document"]
    ids = [add(library, each) for each in others]
    library.documents.correct_many([(each, "truth", "intent") for each in ids], "ann")
    truth = library.documents.get(add(library, left)).labels.truth
    assert (truth.value, truth.confirmed) == ("intent", False)
    assert truth.evidence[0].source is EvidenceSource.CORRECTION and "(lessons 1)" in truth.evidence[0].rule
    assert truth.evidence[0].quote in left["text"]
    assert 0.5 < truth.probability < 0.9  # a lesson of five documents leaves room for doubt


def test_a_preview_lists_what_would_change_and_changes_nothing(library: Workbench) -> None:
    for each in OTHERS[:12]:
        add(library, each)
    _, left = talks(library)
    before, own = state(library), library.documents.get(left).labels.truth.value
    assert own != "intent"
    preview = library.active_learning.label_changes.preview()
    assert (preview.version, preview.left) == (1, 0) and preview.considered == 18
    assert {each.document_id for each in preview.changes} == {left}
    [change] = [each for each in preview.changes if each.field == "truth"]
    assert (change.before.value, change.after.value, change.after.probability > 0.5) == (own, "intent", True)
    assert change.reason.startswith("reads like 'Talk ")
    assert all(each.reason for each in preview.changes)
    assert state(library) == before


def test_applying_changes_the_labels_the_passages_and_the_index(library: Workbench) -> None:
    _, left = talks(library)
    assert left not in found_under(library, Truth.INTENT)
    done = library.active_learning.label_changes.apply(library.active_learning.label_changes.preview(), "ann")
    truth = library.documents.get(left).labels.truth
    assert (done.documents, done.left, truth.value, truth.confirmed) == (1, (), "intent", False)
    assert {each.truth for each in library.documents.passages(left)} == {Truth.INTENT}
    assert left in found_under(library, Truth.INTENT)
    [act] = library.active_learning.acts()
    assert (act.kind, act.who, act.at, act.version, act.number) == (
        LearningActionKind.APPLIED,
        "ann",
        NOW,
        1,
        done.number,
    )
    assert library.active_learning.label_changes.preview().changes == ()


def test_undoing_an_application_restores_everything_exactly(library: Workbench) -> None:
    talks(library)
    before = state(library)
    done = library.active_learning.label_changes.apply(library.active_learning.label_changes.preview(), "ann")
    assert state(library) != before
    undone = library.active_learning.label_changes.undo(done.number, "bob")
    assert (undone.labels, undone.documents, undone.left) == (done.labels, 1, ())
    assert state(library) == before
    assert [each.kind for each in library.active_learning.acts()] == [
        LearningActionKind.UNDONE,
        LearningActionKind.APPLIED,
    ]
    with pytest.raises(BadRequest, match="undone already"):
        library.active_learning.label_changes.undo(done.number, "bob")
    with pytest.raises(NotFound):
        library.active_learning.label_changes.undo(99, "bob")


def test_what_a_person_said_meanwhile_is_neither_overwritten_nor_undone(library: Workbench) -> None:
    _, left = talks(library)
    preview = library.active_learning.label_changes.preview()
    library.documents.correct(left, "truth", "reference", "bob")
    stored = library.documents.get(left).labels.truth
    done = library.active_learning.label_changes.apply(preview, "ann")
    assert [each.endswith("its truth was confirmed meanwhile.") for each in done.left] == [True]
    assert library.documents.get(left).labels.truth == stored
    if done.number:
        library.active_learning.label_changes.undo(done.number, "ann")
    assert library.documents.get(left).labels.truth == stored


def test_a_document_confirmed_after_an_application_keeps_that_when_it_is_undone(library: Workbench) -> None:
    _, left = talks(library)
    done = library.active_learning.label_changes.apply(library.active_learning.label_changes.preview(), "ann")
    library.documents.correct(left, "truth", "intent", "bob")
    undone = library.active_learning.label_changes.undo(done.number, "ann")
    assert library.documents.get(left).labels.truth.confirmed
    assert "its truth was changed again since." in undone.left[0]


def test_a_preview_can_be_stopped(library: Workbench) -> None:
    talks(library)
    reports: list[tuple[int, int, str]] = []
    stopped = library.active_learning.label_changes.preview(lambda *each: reports.append(each), stop=lambda: True)
    assert (stopped.changes, stopped.left, reports) == ((), 1, [])


def test_applying_can_be_stopped_and_what_was_done_can_be_undone(
    library: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.library.active_learning.label_changes._AT_ONCE", 1)
    kind = next(each for each in KINDS if each["name"] == "exit talks")
    ids = [add(library, each) for each in kind["document"]]
    library.documents.correct_many([(each, "domain", "recruiting") for each in ids[:4]], "ann")
    before, reports = state(library), list[int]()
    preview = library.active_learning.label_changes.preview()
    assert {each.document_id for each in preview.changes} == set(ids[4:])
    done = library.active_learning.label_changes.apply(
        preview, "ann", lambda at, of, name: reports.append(at), lambda: bool(reports)
    )
    assert (done.documents, reports) == (1, [0])
    library.active_learning.label_changes.undo(done.number, "ann")
    assert state(library) == before


def test_a_correction_taken_back_gives_the_label_and_the_passages_back_exactly(library: Workbench) -> None:
    number = add(library, OTHERS[20])
    before = state(library)
    for value in ("reference", "intent"):
        library.documents.correct(number, "truth", value, "ann")
    assert library.documents.get(number).labels.truth.confirmed
    library.documents.uncorrect(number, "truth", who="ann")
    assert state(library) == before
    assert library.documents._catalogue.corrections(number) == {}
    with pytest.raises(BadRequest, match="was not set by hand"):
        library.documents.uncorrect(number, "truth", who="ann")


def test_what_was_learned_from_a_correction_taken_back_is_forgotten(library: Workbench) -> None:
    others, left = talks(library)
    own = library.documents.get(left).labels.truth.value
    library.active_learning.label_changes.apply(library.active_learning.label_changes.preview(), "ann")
    for each in others:
        library.documents.uncorrect(each, "truth", who="ann")
    newest = library.active_learning.newest()
    assert newest is not None and newest.confirmed == () and newest.number == 6
    [change] = [each for each in library.active_learning.label_changes.preview().changes if each.field == "truth"]
    assert (change.document_id, change.after.value, change.reason) == (left, own, "its lesson was taken back")


def test_learning_again_without_a_change_keeps_the_version(library: Workbench) -> None:
    talks(library)
    version = library.active_learning.newest()
    assert library.active_learning.learn() == version == library.active_learning.newest()
    [outcome] = version.outcomes if version else ()
    assert (outcome.field, outcome.documents, outcome.right_taught) == ("truth", 5, 5)


def test_many_corrections_are_one_learning_and_all_or_none(library: Workbench) -> None:
    ids = [add(library, each) for each in TALKS["document"][:3]]
    before = state(library)
    with pytest.raises(BadRequest):
        library.documents.correct_many([(ids[0], "truth", "intent"), (ids[1], "truth", "nonsense")])
    assert state(library) == before and library.active_learning.newest() is None
    library.documents.correct_many([(each, field, value) for each in ids for field, value in SAID])
    newest = library.active_learning.newest()
    assert newest is not None and newest.number == 1
    assert [dict(each.values) for each in newest.confirmed] == [dict(SAID)] * 3


def test_what_a_colleague_changes_during_many_corrections_stays(
    library: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [add(library, each) for each in TALKS["document"][:3]]
    catalogue = library.documents._catalogue
    correct, edit_last = catalogue.correct, colleague(library, ids[-1])
    monkeypatch.setattr(catalogue, "correct", lambda *given: (edit_last(), correct(*given)))
    library.documents.correct_many([(each, "truth", "intent") for each in ids], "ann")
    assert_edited(library, ids[-1])
    assert [library.documents.get(each).labels.truth.value for each in ids] == ["intent"] * 3


def test_what_a_colleague_changes_while_lessons_are_applied_or_undone_stays(
    library: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, left = talks(library)
    changes, before = library.active_learning.label_changes, library.documents.get(left).labels
    add_act, edit = changes._store.add_act, colleague(library, left)
    monkeypatch.setattr(changes._store, "add_act", lambda act: (edit(), add_act(act))[1])
    done = changes.apply(changes.preview(), "ann")
    assert_edited(library, left)
    assert library.documents.get(left).labels.truth.value == "intent"
    changes.undo(done.number, "ann")
    assert_edited(library, left)
    assert library.documents.get(left).labels == before


def test_a_label_that_a_colleague_confirms_while_lessons_are_applied_stays(
    library: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, left = talks(library)
    changes = library.active_learning.label_changes
    add_act = changes._store.add_act
    confirm = partial(library.documents.correct, left, "truth", "reference", "bob")
    monkeypatch.setattr(changes._store, "add_act", lambda act: (confirm(), add_act(act))[1])
    changes.apply(changes.preview(), "ann")
    truth = library.documents.get(left).labels.truth
    assert (truth.value, truth.confirmed) == ("reference", True)


def colleague(library: Workbench, document_id: int) -> Callable[[], None]:
    """Tags a document, gives it an owner and tags its passages."""
    catalogue = library.documents._catalogue

    def edit() -> None:
        passages = [replace(each, tags=("urgent",)) for each in catalogue.passages_of(document_id)]
        store_labels(catalogue, replace(catalogue.document(document_id), tags=("urgent",), owner="Bo"), passages)

    return edit


def assert_edited(library: Workbench, document_id: int) -> None:
    document = library.documents.get(document_id)
    assert (document.tags, document.owner) == (("urgent",), "Bo")
    assert {each.tags for each in library.documents.passages(document_id)} == {("urgent",)}


def test_new_documents_may_wait_until_lessons_are_applied(library: Workbench) -> None:
    left, *others = TALKS["document"]
    library.active_learning.choose(at_once=False, who="ann")
    ids = [add(library, each) for each in others]
    library.documents.correct_many([(each, "truth", "intent") for each in ids[:4]], "ann")
    library.documents.uncorrect(ids[3], "truth", who="ann")
    number = add(library, left)
    assert library.documents.get(number).labels.truth.value != "intent"
    library.active_learning.label_changes.apply(library.active_learning.label_changes.preview(), "ann")
    library.documents.delete(number)
    assert library.documents.get(add(library, left)).labels.truth.value == "intent"


def test_a_deleted_document_teaches_no_longer(library: Workbench) -> None:
    others, _ = talks(library)
    library.documents.delete(others[0])
    newest = library.active_learning.newest()
    assert newest is not None and [each.document_id for each in newest.confirmed] == others[1:]


def test_documents_read_before_there_were_records_are_looked_at_from_their_pages(
    library: Workbench, stores: Stores
) -> None:
    others, left = talks(library)
    with_records = library.active_learning.label_changes.preview()
    stores.lessons.forget([*others, left])
    from_pages = library.active_learning.label_changes.preview()  # their sentences are embedded alone
    values, expected = (
        [(change.document_id, change.field, change.after.value) for change in each.changes]
        for each in (from_pages, with_records)
    )
    assert values == expected


def test_two_workbenches_on_the_same_stores_say_the_same(stores: Stores, tmp_path: Path) -> None:
    """As two processes: neither knows what the other has in its memory."""
    one = built(stores, tmp_path, lambda: NOW)
    _, left = talks(one)
    other = built(stores, tmp_path, lambda: NOW)
    assert other.active_learning.label_changes.preview() == one.active_learning.label_changes.preview()
    assert other.active_learning.learn() == one.active_learning.learn() == one.active_learning.newest()
    other.documents.correct(left, "truth", "intent", "bob")
    assert one.active_learning.newest() == other.active_learning.newest()


SAID = (("truth", "intent"), ("domain", "general"))


def verdict(number: int, days: int, given: str | None, expected: str, *, automatic: bool = True) -> LabelVerdict:
    """What was said of one truth some days after the beginning."""
    return LabelVerdict(number, "ab", "truth", expected, "ann", NOW + timedelta(days=days), given, automatic)


def test_accuracy_counts_each_label_once_in_the_week_it_was_judged() -> None:
    statements = [
        verdict(1, 0, "intent", "intent"),
        verdict(2, 1, "intent", "reality"),
        verdict(2, 9, "reality", "reference", automatic=False),
        verdict(3, 8, None, "reality"),
        verdict(4, 8, "intent", "reality"),
        verdict(4, 9, "reality", "", automatic=False),
        replace(verdict(5, 40, "time", "time"), field="domain"),
    ]
    weeks = accuracy_over_time(statements, "truth")
    assert [(f"{each.start}", each.right) for each in weeks] == [
        ("2024-05-13", LabelRate(1, 2)),
        ("2024-05-20", LabelRate(0, 1)),
    ]
    months = accuracy_over_time(statements, None, by_month=True)
    assert [(f"{each.start}", each.right) for each in months] == [
        ("2024-05-01", LabelRate(1, 3)),
        ("2024-06-01", LabelRate(1, 1)),
    ]


def test_what_people_say_is_counted_as_it_is_said(library: Workbench) -> None:
    _, left = talks(library)
    [week] = library.active_learning.accuracy("truth")
    assert week.right.n == 5
    library.documents.uncorrect(left + 1, "truth", who="ann")
    [week] = library.active_learning.accuracy("truth")
    assert week.right.n == 4
