"""What every catalogue does, in memory or in PostgreSQL."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from threading import Thread

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from core.domain.documents import (
    Document,
    DocumentState,
    Evidence,
    EvidenceSource,
    Label,
    Labels,
    Page,
    Passage,
    Span,
    Truth,
)
from core.domain.errors import BadRequest, Cure, NotFound
from core.domain.filters import FIELDS, FilterField, SearchFilters
from core.domain.sanitize import storable_text
from core.ports.catalogue import NOT_READ_AGAIN, Catalogue, DocumentContent
from core.ports.job_queue import INDEXING, STOPPED, WAITING
from core.ports.stores import Vectors
from core.text.tokenize import MARKS, WITHOUT_SPACES
from storage.postgres.catalogue import SqlCatalogue
from storage.postgres.database import Database
from storage.postgres.documents import labels_data, labels_from
from storage.postgres.trash import SqlTrash
from storage.vectors.pgvector import PgvectorIndex
from tests.fakes import FakeCatalogue
from tests.label_edits import store_labels
from tests.stores.libraries import (
    MOMENT,
    admitted,
    document,
    filters_of,
    passage,
    random_documents,
    random_filters,
    random_vectors,
    store,
)

ONE = random_vectors(1, seed=1)


@pytest.fixture(params=["memory", "postgresql"])
def catalogue(request: pytest.FixtureRequest) -> Catalogue:
    """An empty catalogue of each kind."""
    if request.param == "memory":
        return FakeCatalogue()
    return SqlCatalogue(request.getfixturevalue("database"), lambda: "model")


def test_what_was_stored_is_read_back_exactly(catalogue: Catalogue) -> None:
    evidence = (Evidence("must file", EvidenceSource.TEXT, "regulatory", 0.1 + 0.2, "says what law requires"),)
    truth = Label("regulatory", 1 / 3, "compliance", 1e-17, evidence, "", confirmed=True)
    labels = Labels(truth=truth, jurisdiction=Label(reason="two are named"))
    known = catalogue.add_document(document(tags=("tax",), project="ann's", labels=labels, warnings=("scanned",)))
    page = Page(1, "You must file. Ünïcode 🙂 counts as one.", "Sheet: A")
    reported = Passage(
        page.text, 1, 0, len(page.text), (Span(0, 14), Span(15, len(page.text))), truth=Truth.REGULATORY,
        truth_probability=0.3, truth_evidence=evidence, rows=(2, 7), date=MOMENT, entities=("IRS",), keywords=("file",),
        section="1 Filing", context="Guide › Filing",
    )  # fmt: skip
    (stored,) = catalogue.save_ingested(known, [page], [reported], ONE)
    assert catalogue.passages([stored.id]) == {stored.id: stored}
    assert stored == replace(
        reported, id=stored.id, document_id=known.id, document_name="a.pdf", project="ann's", tags=("tax",)
    )
    assert catalogue.page(known.id, 1) == page
    assert catalogue.document(known.id) == replace(known, state=DocumentState.READY, step="", pages=1, passages=1)


def _three(catalogue: Catalogue, vectors: Vectors) -> list[DocumentContent]:
    """The contents of three documents, the middle one deleted; two passages of each."""
    known = [catalogue.add_document(document(name, project=name)) for name in ("two", "gone", "one")]
    catalogue.delete(known[1].id)
    return [
        DocumentContent(
            each, [Page(1, f"text of {each.name}")], [passage(f"{each.name} {n}") for n in "ab"], vectors[at : at + 2]
        )
        for each, at in zip(known, (0, 2, 4), strict=True)
    ]


def test_several_documents_are_stored_at_once_without_those_that_are_gone(catalogue: Catalogue) -> None:
    two, gone, one = _three(catalogue, random_vectors(6, 1))
    (old,) = catalogue.save_ingested(one.document, [Page(1, "old"), Page(2, "old")], [passage("old")], ONE)
    stored = catalogue.save_all_ingested([two, gone, one], step="indexing")
    assert stored.keys() == {one.document.id, two.document.id}
    assert catalogue.passages([old.id]) == {} and len({each.id for some in stored.values() for each in some}) == 4
    for content in (one, two):
        passages = stored[content.document.id]
        assert [each.text for each in passages] == [each.text for each in content.passages]
        assert {each.project for each in passages} == {each.document_name for each in passages}
        assert [each.position for each in passages] == [0, 1]
        assert list(catalogue.passages_of(content.document.id)) == list(passages)
        assert catalogue.page(content.document.id, 1) == content.pages[0]
        read = catalogue.document(content.document.id)
        assert (read.state, read.step, read.pages, read.passages) == (DocumentState.READY, "indexing", 1, 2)
    assert catalogue.save_all_ingested([gone]) == {}


def test_the_vectors_of_several_documents_are_those_of_their_passages(database: Database) -> None:
    vectors = random_vectors(6, 1)
    catalogue = SqlCatalogue(database, lambda: "model")
    two, gone, one = _three(catalogue, vectors)
    stored = catalogue.save_all_ingested([two, gone, one])
    found = PgvectorIndex(database, "model").vectors([each.id for some in stored.values() for each in some])
    for content in (one, two):
        ids = [each.id for each in stored[content.document.id]]
        np.testing.assert_array_equal(np.stack([found[each] for each in ids]), content.vectors)


def test_storing_again_replaces_pages_and_passages(catalogue: Catalogue) -> None:
    known = catalogue.add_document(document())
    (old,) = catalogue.save_ingested(known, [Page(1, "old"), Page(2, "gone")], [passage("old")], ONE)
    new = catalogue.save_ingested(known, [Page(1, "new text")], [passage("new"), passage("text")], random_vectors(2, 1))
    assert catalogue.passages([old.id]) == {}
    assert list(catalogue.passages_of(known.id)) == list(new)
    assert catalogue.page_texts([(known.id, 1), (known.id, 2), (known.id + 1, 1)]) == {(known.id, 1): "new text"}
    with pytest.raises(NotFound):
        catalogue.page(known.id, 2)


def test_the_passages_of_several_documents_are_read_together_each_in_reading_order(catalogue: Catalogue) -> None:
    one = store(catalogue, document(), [passage("first"), passage("second")], random_vectors(2, 1))
    other = store(catalogue, document("b.pdf"), [passage("another")], ONE)
    (first, second), unknown = (found[0].document_id for found in (one, other)), 1_000_000
    read = catalogue.passages_of_each([second, unknown, first])
    assert {i: list(found) for i, found in read.items()} == {first: list(one), second: list(other), unknown: []}
    assert catalogue.passages_of_each([]) == {}


def test_keywords_are_stored_with_every_passage_of_a_document_and_outlast_changed_labels(catalogue: Catalogue) -> None:
    before = store(catalogue, document(), [passage("one"), passage("two", keywords=("old",))], random_vectors(2, 1))
    (other,) = store(catalogue, document("b.pdf"), [passage("three")], ONE)
    known = catalogue.document(before[0].document_id)
    digests = catalogue.fingerprints(SearchFilters())
    catalogue.save_keywords(known.id, ["pay \x00day", "Überstunden"])
    store_labels(catalogue, known, [replace(each, truth=Truth.INTENT) for each in before])
    now = catalogue.passages_of(known.id)
    assert [each.keywords for each in now] == [(storable_text("pay \x00day"), "Überstunden")] * 2
    assert [each.truth for each in now] == [Truth.INTENT] * 2
    assert catalogue.passages([other.id])[other.id].keywords == ()
    store_labels(catalogue, known, before)
    assert catalogue.fingerprints(SearchFilters()) == digests


def test_an_edit_of_labels_loses_nothing_of_what_others_change_at_the_same_time(catalogue: Catalogue) -> None:
    (stored,) = store(catalogue, document(), [passage("one")], ONE)

    def tag(now: Document, passages: Sequence[Passage]) -> tuple[Document, Sequence[Passage]]:
        return replace(now, tags=("urgent",), owner="Bo"), [replace(each, tags=("urgent",)) for each in passages]

    other = Thread(target=lambda: catalogue.edit_labels(stored.document_id, tag))

    def label(now: Document, passages: Sequence[Passage]) -> tuple[Document, Sequence[Passage]]:
        other.start()
        other.join(0.3)
        labels = replace(now.labels, truth=Label("intent", 1.0, confirmed=True))
        return replace(now, labels=labels), [replace(each, truth=Truth.INTENT) for each in passages]

    assert [each.truth for each in catalogue.edit_labels(stored.document_id, label)] == [Truth.INTENT]
    other.join(10)
    now, [passage_now] = catalogue.document(stored.document_id), catalogue.passages_of(stored.document_id)
    assert (now.tags, now.owner, now.labels.truth.value) == (("urgent",), "Bo", "intent")
    assert (passage_now.tags, passage_now.truth) == (("urgent",), Truth.INTENT)


def test_a_document_begins_to_use_a_copy_only_when_nobody_deletes_it(database: Database) -> None:
    catalogue, trash = SqlCatalogue(database), SqlTrash(database)
    known, copy = catalogue.add_document(document()), "c" * 64
    use = Thread(
        target=lambda: catalogue.edit_labels(known.id, lambda now, passages: (replace(now, readable=copy), []))
    )
    with trash.unreferenced(copy) as unused:
        use.start()
        use.join(0.3)
        assert unused and catalogue.document(known.id).readable == ""
    use.join(10)
    assert catalogue.document(known.id).readable == copy


def test_a_document_that_fails_says_why_and_is_tried_again(catalogue: Catalogue) -> None:
    known = catalogue.add_document(document())
    catalogue.fail(known.id, step="read", reason="It is damaged.", remedy="Export it again.", cure=Cure.OTHER_FILE)
    failed = catalogue.document(known.id)
    assert (failed.state, failed.step, failed.failure, failed.remedy, failed.cure) == (
        DocumentState.FAILED, "read", "It is damaged.", "Export it again.", Cure.OTHER_FILE,
    )  # fmt: skip
    catalogue.mark(known.id, step="waiting")
    again = catalogue.document(known.id)
    assert (again.state, again.step, again.failure) == (DocumentState.PENDING, "waiting", "")


def test_a_document_that_cannot_be_read_again_keeps_its_text_and_warns_once(catalogue: Catalogue) -> None:
    (old,) = store(catalogue, document(warnings=("2 pages have no text.",)), [passage("old")], ONE)
    before = catalogue.document(old.document_id)
    for reason in ("The disk failed.", "It is damaged."):
        catalogue.mark(before.id, step="waiting")
        catalogue.fail(before.id, step="read", reason=reason, remedy="Export it again.", cure=Cure.OTHER_FILE)
    warnings = (f"{NOT_READ_AGAIN} It is damaged. Export it again.", "2 pages have no text.")
    now = catalogue.document(before.id)
    assert now == replace(before, warnings=warnings) and now.state is DocumentState.READY
    assert list(catalogue.passages_of(before.id)) == [old] and catalogue.page(before.id, 1).text == "old"
    assert list(catalogue.admissible(SearchFilters())) == [old.id]
    catalogue.save_ingested(replace(now, warnings=before.warnings), [], [passage("new")], ONE)
    assert catalogue.document(before.id).warnings == ("2 pages have no text.",)


def test_a_document_that_an_index_lacks_can_count_as_never_read(catalogue: Catalogue) -> None:
    (stored,) = store(catalogue, document(), [passage("text")], ONE)
    catalogue.mark(stored.document_id, step="store", unread=True)
    waiting = catalogue.document(stored.document_id)
    assert (waiting.state, waiting.step, waiting.pages, waiting.passages) == (DocumentState.PENDING, "store", 0, 0)
    assert list(catalogue.passages_of(waiting.id)) == []
    catalogue.fail(waiting.id, step="store", reason="No Chroma server answers.", remedy="Start it.")
    failed = catalogue.document(waiting.id)
    assert (failed.state, failed.failure, failed.warnings) == (DocumentState.FAILED, "No Chroma server answers.", ())


def test_a_document_that_an_index_may_lack_is_unread_when_it_is_queued_again(catalogue: Catalogue) -> None:
    known = catalogue.add_document(document())
    catalogue.save_ingested(known, [], [passage("text")], ONE, step=INDEXING)
    catalogue.mark(known.id, step=WAITING)
    waiting = catalogue.document(known.id)
    assert (waiting.state, waiting.step, waiting.passages) == (DocumentState.PENDING, WAITING, 0)
    assert list(catalogue.passages_of(known.id)) == []
    catalogue.fail(known.id, step="read", reason="It is damaged.", remedy="Export it again.")
    assert catalogue.document(known.id).state is DocumentState.FAILED


def test_a_document_cannot_live_beside_one_with_the_same_bytes(catalogue: Catalogue) -> None:
    first = catalogue.add_document(document())
    store_labels(catalogue, replace(first, archived=True), [])
    second = catalogue.add_document(document())
    assert second.id != first.id
    with pytest.raises(BadRequest, match=r"'a\.pdf': the same file is in no project already"):
        store_labels(catalogue, replace(first, tags=("back",)), [])
    assert catalogue.document(first.id) == replace(first, archived=True)
    store_labels(catalogue, replace(first, project="north"), [])
    with pytest.raises(BadRequest, match="the same file is in north already"):
        store_labels(catalogue, replace(second, project="north"), [])


def test_a_document_that_a_person_stopped_makes_no_progress(catalogue: Catalogue) -> None:
    known = catalogue.add_document(document())
    assert catalogue.progress(known.id, step="read")
    assert (catalogue.document(known.id).state, catalogue.document(known.id).step) == (DocumentState.PENDING, "read")
    catalogue.mark(known.id, step=STOPPED)
    assert not catalogue.progress(known.id, step="classify")
    assert catalogue.document(known.id).step == STOPPED


def test_documents_are_known_by_their_bytes_within_a_project(catalogue: Catalogue) -> None:
    shared = catalogue.add_document(document())
    ours = catalogue.add_document(document(project="ours"))
    assert catalogue.document_by_hash(shared.sha256, None) == shared
    assert catalogue.document_by_hash(shared.sha256, "ours") == ours
    assert catalogue.document_by_hash(shared.sha256, "theirs") is None
    assert catalogue.document_by_hash("0" * 64, None) is None


def test_documents_come_newest_first(catalogue: Catalogue) -> None:
    older = catalogue.add_document(document("older.pdf"))
    newer = catalogue.add_document(document("newer.pdf", uploaded_at=MOMENT + timedelta(seconds=1)))
    assert list(catalogue.documents()) == [newer, older]
    assert list(catalogue.documents(archived=True)) == []


@pytest.mark.parametrize("act", ["document", "mark", "progress", "fail", "save_ingested", "edit_labels"])
def test_a_deleted_document_is_not_found(catalogue: Catalogue, act: str) -> None:
    known = catalogue.add_document(document())
    (stored,) = store(catalogue, document("b.pdf"), [passage("text")], ONE)
    catalogue.delete(known.id)
    catalogue.delete(stored.document_id)
    assert (catalogue.passages([stored.id]), len(catalogue.admissible(SearchFilters()))) == ({}, 0)
    acts: dict[str, Callable[[], object]] = {
        "document": lambda: catalogue.document(known.id),
        "mark": lambda: catalogue.mark(known.id, step="read"),
        "progress": lambda: catalogue.progress(known.id, step="read"),
        "fail": lambda: catalogue.fail(known.id, step="read", reason="", remedy=""),
        "save_ingested": lambda: catalogue.save_ingested(known, [], [], random_vectors(0, 1)),
        "edit_labels": lambda: catalogue.edit_labels(known.id, lambda document, passages: (document, passages)),
    }
    with pytest.raises(NotFound):
        acts[act]()


def test_changed_labels_change_what_filters_admit(catalogue: Catalogue) -> None:
    (stored,) = store(catalogue, document(), [passage("text", truth=Truth.INTENT)], ONE)
    changed = replace(stored, truth=Truth.REALITY, date=MOMENT, domain="taxes")
    store_labels(catalogue, catalogue.document(stored.document_id), [changed])
    assert list(catalogue.admissible(SearchFilters(truths=("reality",), domains=("taxes",)))) == [stored.id]
    assert list(catalogue.admissible(SearchFilters(truths=("intent",)))) == []
    assert catalogue.passages([stored.id])[stored.id] == changed


def test_searches_are_remembered_newest_first_each_question_once(catalogue: Catalogue) -> None:
    requests = [("what", 1), ("why", 2), ("what", 3)]
    for minute, (question, hits) in enumerate(requests):
        catalogue.save_searched(question, hits, MOMENT + timedelta(minutes=minute), "ann")
    catalogue.save_searched("whose", 4, MOMENT + timedelta(hours=1), "ben")
    expected = [("what", 3, MOMENT + timedelta(minutes=2)), ("why", 2, MOMENT + timedelta(minutes=1))]
    assert list(catalogue.last_searches(5, "ann")) == expected
    assert list(catalogue.last_searches(1, "ann")) == expected[:1]
    catalogue.delete_searches("ann")
    assert not catalogue.last_searches(5, "ann")
    assert [question for question, _, _ in catalogue.last_searches(5, "ben")] == ["whose"]


def test_statistics_count_what_is_there(catalogue: Catalogue) -> None:
    regulatory = Labels(truth=Label("regulatory", 0.9))
    store(catalogue, document("a"), [passage("one"), passage("two")], random_vectors(2, 1))
    store(catalogue, document("b", labels=regulatory), [passage("three")], ONE)
    bad = catalogue.add_document(document("c", labels=regulatory))
    catalogue.fail(bad.id, step="read", reason="bad", remedy="")
    found = catalogue.statistics()
    assert (found.documents, found.passages, found.unsure) == (3, 3, 1)
    assert found.by_truth == {None: 1, Truth.REGULATORY: 1}
    assert found.by_state == {"ready": 2, "failed": 1}


def test_counts_agree_with_the_statistics_and_ask_for_less(catalogue: Catalogue) -> None:
    assert (catalogue.count_documents(), catalogue.count_passages(), catalogue.has_passages()) == (0, 0, False)
    likely = Labels(truth=Label("reality", 0.0))
    store(catalogue, document("a"), [passage("one"), passage("two")], random_vectors(2, 1))
    store(catalogue, document("b", labels=likely, project="ours"), [passage("three")], ONE)
    store(catalogue, document("old", archived=True), [passage("four")], ONE)
    catalogue.save_ingested(catalogue.add_document(document("c.zip")), [], [], random_vectors(0, 1))
    bad = catalogue.add_document(document("d", project="theirs"))
    catalogue.fail(bad.id, step="read", reason="bad", remedy="")
    found = catalogue.statistics()
    assert catalogue.count_documents() == found.documents == 4
    assert {str(each): catalogue.count_documents(each) for each in DocumentState} == {"pending": 0, **found.by_state}
    assert [catalogue.count_documents(project=each) for each in ("ours", "theirs", "new")] == [3, 3, 2]
    assert catalogue.count_documents(DocumentState.READY, "theirs") == 2
    assert catalogue.count_passages() == found.passages == 3
    assert catalogue.count_unknown_truths() == found.by_truth[None] == 1


def test_text_is_there_while_it_is_read_again(catalogue: Catalogue) -> None:
    (stored,) = store(catalogue, document(), [passage("text")], ONE)
    catalogue.mark(stored.document_id, step="read")
    assert catalogue.has_passages() and catalogue.count_documents(DocumentState.READY) == 0
    store_labels(catalogue, replace(catalogue.document(stored.document_id), archived=True), [])
    assert not catalogue.has_passages()


def test_every_change_of_passages_has_a_name_of_its_own(catalogue: Catalogue) -> None:
    seen = [catalogue.last_change(), catalogue.last_change()]
    assert seen[0] == seen[1]
    (stored,) = store(catalogue, document(), [passage("text")], ONE)
    seen.append(catalogue.last_change())
    store_labels(catalogue, catalogue.document(stored.document_id), [replace(stored, truth=Truth.INTENT)])
    seen.append(catalogue.last_change())
    other = store(catalogue, document("b"), [passage("text")], ONE)[0]
    seen.append(catalogue.last_change())
    catalogue.delete(other.document_id)
    seen.append(catalogue.last_change())
    assert all(before != after for before, after in pairwise(seen[1:])) and catalogue.last_change() == seen[-1]


def test_a_change_that_ends_after_a_later_one_is_noticed(database: Database) -> None:
    catalogue = SqlCatalogue(database, lambda: "model")
    store(catalogue, document(), [passage("text")], ONE)
    with database.transaction("changing a passage") as connection:
        connection.execute(text("UPDATE knowledge_chunks SET tags = '{slow}'"))
        store(catalogue, document("later"), [passage("text")], ONE)
        before = catalogue.last_change()
    assert catalogue.last_change() != before


def test_a_few_documents_are_found_without_the_others(catalogue: Catalogue) -> None:
    late = MOMENT + timedelta(seconds=1)
    holder, first, same = (catalogue.add_document(document(name)) for name in ("all.zip", "a.md", "b.md"))
    inner = catalogue.add_document(document("in.md", parent=holder.id, archived=True, project="old"))
    newer = catalogue.add_document(document("a.md", sha256="f" * 64, uploaded_at=late, project="ours"))
    assert catalogue.names() == {newer.id: "a.md", same.id: "b.md", first.id: "a.md", holder.id: "all.zip"}
    assert list(catalogue.names()) == [newer.id, same.id, first.id, holder.id]
    assert catalogue.names(archived=True) == {inner.id: "in.md"} and len(catalogue.names(archived=None)) == 5
    assert set(catalogue.projects()) == {"old", "ours"}
    assert set(catalogue.archived_members(holder.id)) == {inner.sha256} and not catalogue.archived_members(first.id)
    assert list(catalogue.documents_of([same.sha256], ["a.md"])) == [newer, same, first]
    assert list(catalogue.documents_of([inner.sha256, '{"%s"}'], ["in.md", "100%, {it}"])) == []
    assert list(catalogue.documents_of([], [])) == []


def test_documents_added_since_are_ready_and_come_newest_first(catalogue: Catalogue) -> None:
    def added(name: str, seconds: int, **values: object) -> int:
        described = document(name, uploaded_at=MOMENT + timedelta(seconds=seconds), **values)
        return store(catalogue, described, [passage("text")], ONE)[0].document_id

    ids = [added(f"{at}.md", at) for at in range(4)]
    archived = added("old.md", 9, archived=True)
    catalogue.add_document(document("waits.md", uploaded_at=MOMENT + timedelta(seconds=9)))

    def found(*, archived: bool | None = False, among: tuple[int, ...] = (), limit: int = 9) -> list[int]:
        late = catalogue.added_documents(MOMENT, archived=archived, among=among, limit=limit)
        return [each.id for each in late]

    assert found() == [ids[3], ids[2], ids[1]] and found(limit=2) == [ids[3], ids[2]]
    assert found(archived=None) == [archived, *found()] and found(archived=True) == [archived]
    assert found(among=(ids[0], ids[2], archived)) == [ids[2]]


def test_filters_and_facets_mean_the_same_in_postgresql_as_in_memory(database: Database) -> None:
    stores: tuple[Catalogue, Catalogue] = (FakeCatalogue(), SqlCatalogue(database))
    passages: list[Passage] = []
    for described, reported in random_documents(seed=5):
        for retained in stores:
            stored = store(retained, described, reported, random_vectors(len(reported), 1))
        passages += stored  # PostgreSQL's, and its ids
    memory, sql = stores
    shift = {p.document_id: m.document_id for p in passages for m in [_twin(memory, p)]}

    @given(chosen=random_filters)
    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    def holds(chosen: SearchFilters) -> None:
        ours = filters_of(chosen, passages)
        theirs = ours.replace(
            documents=tuple(shift[i] for i in ours.documents),
            exclude_documents=tuple(shift[i] for i in ours.exclude_documents),
        )
        assert np.array_equal(sql.admissible(ours), admitted(ours, passages))
        assert sql.undated(ours) == memory.undated(theirs)
        found, expected = dict(sql.facets(ours)), dict(memory.facets(theirs))
        found["documents"] = {str(shift[int(i)]): n for i, n in found["documents"].items()}
        assert found == expected
        assert list(found) == [field.name for field in FIELDS]
        for field in FIELDS:
            if not field.many:
                for value, number in found[field.name].items():
                    assert number == len(sql.admissible(_narrowed(ours, field, value, shift))), (field.name, value)

    holds()


def _narrowed(filters: SearchFilters, field: FilterField, value: str, shift: Mapping[int, int]) -> SearchFilters:
    """The filters with this value alone in the field. shift: document id in PostgreSQL → in memory."""
    chosen = (
        next(ours for ours, theirs in shift.items() if theirs == int(value)) if field.name == "documents" else value
    )
    return filters.replace(**{field.name: (chosen,), f"exclude_{field.name}": ()})


def test_counts_include_uncertain_labels_unless_the_filters_are_strict(catalogue: Catalogue) -> None:
    unsure = passage("unsure", domain="time", possible_labels=("domain:taxes", "truth:intent"))
    store(catalogue, document(), [passage("sure", domain="taxes"), unsure], np.ones((2, 1), np.float32))
    assert catalogue.facets(SearchFilters())["domains"] == {"taxes": 2, "time": 1}
    assert catalogue.facets(SearchFilters())["truths"] == {"intent": 1}
    assert catalogue.facets(SearchFilters(domains=("time",)))["domains"] == {"taxes": 2, "time": 1}
    strict = catalogue.facets(SearchFilters(strict_labels=True))
    assert (strict["domains"], strict["truths"]) == ({"taxes": 1, "time": 1}, {})


def test_the_count_of_a_project_includes_what_all_projects_share(catalogue: Catalogue) -> None:
    for name, project in (("a.txt", "A"), ("shared.txt", None)):
        store(catalogue, replace(document(name), project=project), [passage("text", project=project)], ONE)
    assert catalogue.facets(SearchFilters())["projects"] == {"A": 2}


def _twin(memory: Catalogue, stored: Passage) -> Passage:
    return next(
        p for d in memory.documents(archived=None) if d.name == stored.document_name for p in memory.passages_of(d.id)
    )


def test_two_sessions_storing_the_same_bytes_get_one_document(database: Database) -> None:
    catalogue = SqlCatalogue(database)
    first, second = catalogue.add_document(document()), catalogue.add_document(document())
    assert first == second
    assert len(catalogue.documents()) == 1


def test_vectors_lie_in_the_rows_only_when_asked_for(database: Database) -> None:
    for name, made_by in (("a", "model"), ("b", None)):
        catalogue = SqlCatalogue(database, None if made_by is None else lambda: "model")
        (stored,) = store(catalogue, document(name), [passage("text")], ONE)
        with database.transaction("looking") as connection:
            query = text("SELECT embedding::text, embedded_by FROM knowledge_chunks WHERE id = :id")
            embedding, model = connection.execute(query, {"id": stored.id}).one()
        assert model == made_by
        if made_by is not None:
            numbers = [float(n) for n in embedding.strip("[]").split(",")]
            assert np.array_equal(np.array(numbers, dtype=np.float32), ONE[0])
        else:
            assert embedding is None


def test_half_a_store_is_none(database: Database) -> None:
    catalogue = SqlCatalogue(database, lambda: "model")
    known = catalogue.add_document(document())
    (old,) = catalogue.save_ingested(known, [Page(1, "old")], [passage("old")], ONE)
    with pytest.raises(ValueError, match="shorter"):
        catalogue.save_ingested(known, [Page(1, "new")], [passage("new"), passage("text")], ONE)
    assert catalogue.page(known.id, 1).text == "old"
    assert list(catalogue.passages_of(known.id)) == [old]


def test_text_postgresql_cannot_hold_is_replaced_length_for_length(database: Database) -> None:
    catalogue = SqlCatalogue(database)
    wild = "a\0b \ud800 c"
    known = catalogue.add_document(replace(document(), name=wild))
    (stored,) = catalogue.save_ingested(known, [Page(1, wild)], [passage(wild, tags=(wild,))], ONE)
    assert catalogue.page(known.id, 1).text == stored.text == storable_text(wild)
    assert len(stored.text) == len(wild)
    assert catalogue.passages([stored.id])[stored.id] == stored


_TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
_SHARE = st.floats(0, 1)


@given(
    st.builds(
        Label,
        value=st.none() | _TEXT,
        probability=_SHARE,
        runner_up=st.none() | _TEXT,
        evidence=st.lists(
            st.builds(Evidence, _TEXT, st.sampled_from(EvidenceSource), _TEXT, st.floats(0, 1e9), _TEXT), max_size=3
        ).map(tuple),
        confirmed=st.booleans(),
    )
)
@settings(max_examples=40, deadline=None)
def test_labels_come_back_from_json_exactly(label: Label) -> None:
    labels = Labels(truth=label, language=label)
    assert labels_from(labels_data(labels)) == labels


def test_fingerprints_change_with_what_search_reads_and_with_nothing_else(catalogue: Catalogue) -> None:
    known = catalogue.add_document(document(project="north"))
    other = catalogue.add_document(document("b.pdf"))
    (stored,) = catalogue.save_ingested(known, [Page(1, "old")], [passage("old", truth=Truth.INTENT)], ONE)
    catalogue.save_ingested(other, [Page(1, "b")], [passage("b")], ONE)
    every = SearchFilters()
    first = dict(catalogue.fingerprints(every))
    assert set(first) == {known.id, other.id}
    catalogue.save_searched("old?", 1, MOMENT, "ann")
    assert catalogue.fingerprints(every) == first
    assert set(catalogue.fingerprints(SearchFilters(truths=("intent",)))) == {known.id}

    store_labels(catalogue, catalogue.document(known.id), [replace(stored, truth=Truth.REGULATORY)])
    relabelled = dict(catalogue.fingerprints(every))
    assert relabelled[known.id] != first[known.id] and relabelled[other.id] == first[other.id]

    catalogue.save_ingested(known, [Page(1, "old")], [passage("old", truth=Truth.REGULATORY)], ONE)
    assert catalogue.fingerprints(every)[known.id] != relabelled[known.id]
    catalogue.delete(known.id)
    assert catalogue.fingerprints(every) == {other.id: first[other.id]}


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_whatever_a_filter_reads_changes_the_fingerprint(catalogue: Catalogue, field: FilterField) -> None:
    if field.attribute in ("document_id", "origin"):  # a passage keeps these as long as its id
        return
    known = catalogue.add_document(document())
    (stored,) = catalogue.save_ingested(known, [Page(1, "text")], [passage("text")], ONE)
    every = SearchFilters(archived=None)
    before = catalogue.fingerprints(every)
    values = [value for value in field.values or ("other",) if value != getattr(stored, field.attribute)]
    changed = replace(stored, **{field.attribute: tuple(values[:1]) if field.many else values[0]})
    store_labels(catalogue, catalogue.document(known.id), [changed])
    assert catalogue.fingerprints(every) != before


SAID = (
    "Overtime pay is due within a week.",
    "Overtime – pay at once!",
    "overtime\n  PAY",
    "“Overtime”, pay",
    "Overtime payments are due.",
    "Pay overtime.",
    "Überstunden und overtime_pay",
    "préovertime pay",
    "overtime\u3000pay – 残業",
    "C# and W-2 for the employee’s file; 100% of it (a|b) [x] \\d .*",
    "",
    "员工年假为五天，PDF文件见W-2表格。",
    "वेतन मासिक है।",
)
"""Texts that say "overtime pay", and some that nearly do."""


@pytest.mark.parametrize(
    ("phrase", "saying"),
    [
        ("overtime pay", [0, 1, 2, 3, 6, 8]),
        ("OVERTIME, pay!", [0, 1, 2, 3, 6, 8]),
        ("overtime", [0, 1, 2, 3, 4, 5, 6, 7, 8]),
        ("überstunden", [6]),
        ("ÜBERSTUNDEN und", [6]),
        ("berstunden", []),
        ("残業", [8]),
        ("w 2", [9, 11]),
        ("c#", [9]),
        ("the employee", [9]),
        (".*", list(range(13))),
        ("年假", [11]),
        ("假", [11]),
        ("年假为五", [11]),
        ("文件", [11]),
        ("表格", [11]),
        ("pdf", [11]),
        ("w-2", [9, 11]),
        ("वेतन मासिक", [12]),
        ("वत", []),
        ("तन", []),
        ("(a|b)", [9]),
        ("d", [9]),
        ("'; DROP TABLE knowledge_chunks; --", []),
        ("a\0b \ud800", [9]),
        (" ".join(["overtime pay"] * 40), []),
        ("Overtime pay is due within a week. " * 1, [0]),
    ],
)
def test_a_phrase_is_said_word_for_word_whatever_the_capitals_and_punctuation(
    catalogue: Catalogue, phrase: str, saying: list[int]
) -> None:
    stored = store(catalogue, document(), [passage(passages) for passages in SAID], random_vectors(len(SAID), 1))
    every = np.array(sorted(p.id for p in stored), dtype=np.int64)
    if phrase == "overtime":
        saying = [place for place in saying if place != 7]
    found = catalogue.with_phrases(every, [phrase])
    assert found.dtype == np.int64
    assert [stored[place].text for place in saying] == [catalogue.passages(found)[i].text for i in found.tolist()]


def test_every_phrase_must_be_said_and_only_passages_asked_about_are_found(catalogue: Catalogue) -> None:
    reported = ["tax law and rules", "tax law", "rules", "tax rules"]
    stored = store(catalogue, document(), [passage(text) for text in reported], random_vectors(4, 1))
    every = np.array([p.id for p in stored], dtype=np.int64)
    assert catalogue.with_phrases(every, ["tax law", "rules"]).tolist() == [stored[0].id]
    assert catalogue.with_phrases(every[1:], ["rules"]).tolist() == [stored[2].id, stored[3].id]
    assert catalogue.with_phrases(every, []).tolist() == every.tolist()
    assert catalogue.with_phrases(every[:0], ["tax"]).tolist() == []
    assert catalogue.with_phrases(np.array([10**12]), ["tax"]).tolist() == []


_SPOKEN = st.lists(st.sampled_from([*"abAB12 üÜ-–_.’'“ ß\n中文ตา", "क", "का"]), max_size=14).map("".join)


@given(contents=st.lists(_SPOKEN, min_size=1, max_size=6), phrases=st.lists(_SPOKEN, min_size=1, max_size=2))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_postgresql_hears_what_the_words_of_a_text_say(
    database: Database, contents: list[str], phrases: list[str]
) -> None:
    catalogue = SqlCatalogue(database)
    stored = store(catalogue, document(), [passage(text) for text in contents], random_vectors(len(contents), 1))
    every = np.array(sorted(p.id for p in stored), dtype=np.int64)
    assert catalogue.with_phrases(every, phrases).tolist() == [
        p.id for p in stored if all(_in_a_row(p.text, phrase) for phrase in phrases)
    ]


def _in_a_row(text: str, phrase: str) -> bool:
    word = rf"[^\W_](?:[^\W_]|[{MARKS}])*"
    stored, expected = (" ".join(re.findall(word, each.lower())) for each in (text, phrase))
    return not expected or any(
        _at_border(stored, found.start() - 1, found.start()) and _at_border(stored, found.end(), found.end() - 1)
        for found in re.finditer(f"(?={re.escape(expected)})", stored)
        for found in [re.compile(re.escape(expected)).match(stored, found.start())]
        if found
    )


def _at_border(text: str, outside: int, inside: int) -> bool:
    """Whether a word ends between these two places, or one of them is a letter of a script without spaces."""
    if not 0 <= outside < len(text) or text[outside] == " ":
        return True
    return any(WITHOUT_SPACES.match(text[at]) for at in (outside, inside))
