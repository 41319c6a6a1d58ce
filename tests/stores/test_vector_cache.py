"""The copy of vectors and labels: it is searched as the store is, follows every change, and can be thrown away."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from sqlalchemy import Engine, text

import storage.vectors.cache.cache
from core.domain.documents import Document, Passage, Truth
from core.domain.filters import SearchFilters
from core.domain.results import FoundPassage
from storage.last_look import LastLook
from storage.postgres.catalogue import SqlCatalogue
from storage.postgres.database import Database, Scope
from storage.vectors.cache.cache import VectorCache, library_file
from storage.vectors.cache.changes import ChangeFeed
from storage.vectors.pgvector import CachedVectorIndex, PgvectorIndex
from tests.database import new_tenant
from tests.fakes import FakeVectorIndex
from tests.label_edits import store_labels
from tests.stores.contracts import test_vector_index as contract
from tests.stores.contracts.conftest import NewShelf, Shelf
from tests.stores.libraries import (
    admitted,
    assert_same_ranking,
    document,
    filters_of,
    passage,
    random_documents,
    random_filters,
    random_vectors,
    store,
)

MODEL = "random"
EVERYTHING = SearchFilters(archived=None)
ASKED = random_vectors(1, 77)[0]


@dataclass(frozen=True, slots=True)
class Desk:
    """One process's view of a library: its catalogue, and its index with a copy of its own in memory."""

    catalogue: SqlCatalogue
    index: CachedVectorIndex
    mirror: VectorCache


Open = Callable[[Database, Path], Desk]


@pytest.fixture(scope="module")
def opened() -> Iterator[Open]:
    """Opens a library as another process would; closed at the end."""
    mirrors: list[VectorCache] = []

    def make(database: Database, folder: Path) -> Desk:
        mirrors.append(VectorCache(database, MODEL, folder))
        mirrors[-1].open()
        copied = PgvectorIndex(database, MODEL)
        catalogue = SqlCatalogue(database, lambda: MODEL, mirrors[-1])
        return Desk(catalogue, CachedVectorIndex(copied, mirrors[-1]), mirrors[-1])

    yield make
    for mirror in mirrors:
        mirror.close()


# Whatever a vector index does, the copy does.


@pytest.fixture(scope="module")
def new_shelf(engine: Engine, opened: Open, tmp_path_factory: pytest.TempPathFactory) -> NewShelf:
    """Takes the place of the contract's own."""

    def made() -> Shelf:
        desk = opened(new_tenant(engine), tmp_path_factory.mktemp("mirror"))
        return Shelf(desk.catalogue, desk.index)

    return made


mixed, large, small = contract.mixed, contract.large, contract.small
for _name in [name for name in dir(contract) if name.startswith("test_")]:
    globals()[_name] = getattr(contract, _name)


# It follows


def put(desk: Desk, name: str, count: int, **values: object) -> Sequence[Passage]:
    vectors = random_vectors(count, len(name) + count)
    return store(desk.catalogue, document(name), [passage(f"{name} {n}.", **values) for n in range(count)], vectors)


def found(desk: Desk, filters: SearchFilters = EVERYTHING) -> list[int]:
    """Ids the copy finds; fails when the database had to answer."""
    assert desk.mirror.current() is not None
    ids = sorted(hit.passage_id for hit in desk.index.search(ASKED, filters, 10_000).hits)
    assert ids == desk.catalogue.admissible(filters).tolist()
    return ids


def stored(desk: Desk, filters: SearchFilters = EVERYTHING) -> list[int]:
    """Ids the database finds."""
    return SqlCatalogue(desk.catalogue._database).admissible(filters).tolist()


@pytest.fixture
def desks(database: Database, opened: Open, tmp_path: Path) -> tuple[Desk, Desk]:
    """Two processes on one library of some documents."""
    catalogue = SqlCatalogue(database, lambda: MODEL)
    for number, (described, passages) in enumerate(random_documents(8, documents=6)):
        store(catalogue, described, passages, random_vectors(len(passages), number))
    return opened(database, tmp_path), opened(database, tmp_path)


def test_another_process_sees_an_upload_at_its_next_search(desks: tuple[Desk, Desk]) -> None:
    web, worker = desks
    before = found(web)
    fresh = put(worker, "fresh.txt", 3)
    assert found(web) == sorted([*before, *(p.id for p in fresh)])
    assert web.index.vectors([fresh[0].id])[fresh[0].id] == pytest.approx(random_vectors(3, 12)[0])


def test_another_process_sees_new_labels_an_archived_and_a_deleted_document(desks: tuple[Desk, Desk]) -> None:
    web, worker = desks
    one, two, three = (put(worker, name, 2, domain="old") for name in ("one.txt", "two.txt", "three.txt"))
    assert found(web, SearchFilters(domains=("old",))) == sorted(p.id for p in (*one, *two, *three))
    relabelled = [replace(p, domain="new", truth=Truth.INTENT, tags=("t",)) for p in one]
    store_labels(worker.catalogue, worker.catalogue.document(one[0].document_id), relabelled)
    archived = replace(worker.catalogue.document(two[0].document_id), archived=True)
    store_labels(worker.catalogue, archived, [replace(p, archived=True) for p in two])
    worker.catalogue.delete(three[0].document_id)
    assert found(web, SearchFilters(domains=("new",), truths=("intent",), tags=("t",))) == [p.id for p in one]
    assert found(web, SearchFilters(domains=("old",))) == []
    assert found(web, SearchFilters(domains=("old",), archived=True)) == [p.id for p in two]


def whole(passages: Mapping[int, Passage], *, again: bool = False) -> Mapping[int, FoundPassage]:
    return {i: FoundPassage.of(each)._replace(again=again) for i, each in passages.items()}


def test_what_a_search_finds_again_is_as_another_process_has_changed_it(desks: tuple[Desk, Desk]) -> None:
    web, worker = desks
    one, two = (put(worker, name, 2, domain="old") for name in ("one.txt", "two.txt"))
    ids = [p.id for p in (*one, *two)]
    assert found(web)
    assert web.catalogue.found_passages(ids) == whole(web.catalogue.passages(ids))
    assert web.catalogue.found_passages(ids) == whole(web.catalogue.passages(ids), again=True)
    store_labels(
        worker.catalogue, worker.catalogue.document(one[0].document_id), [replace(p, domain="new") for p in one]
    )
    worker.catalogue.delete(two[0].document_id)
    assert found(web)
    later = web.catalogue.found_passages(ids)
    assert {i: each.passage.domain for i, each in later.items()} == {p.id: "new" for p in one}
    assert later == whole(web.catalogue.passages(ids))


def test_nothing_is_remembered_of_a_document_that_another_process_has_deleted(desks: tuple[Desk, Desk]) -> None:
    """Otherwise the memory of an app grows with every file that comes and goes."""
    web, worker = desks
    one, two = (put(worker, name, 2) for name in ("one.txt", "two.txt"))
    assert found(web)
    web.catalogue.found_passages([p.id for p in (*one, *two)])
    web.catalogue.documents_by_id([one[0].document_id, two[0].document_id])
    worker.catalogue.delete(two[0].document_id)
    assert found(web)
    assert set(web.mirror.passages._passages) == {p.id for p in one}
    assert set(web.mirror.documents._known) == {one[0].document_id}


def test_a_passage_that_somebody_found_stays_hidden_from_people_of_other_projects(
    desks: tuple[Desk, Desk], database: Database
) -> None:
    web, _ = desks
    described = document("north.txt", project="north")
    north = store(web.catalogue, described, [passage("North.")], random_vectors(1, 5))[0]
    scoped = {
        name: SqlCatalogue(replace(database, scope=Scope((name,), "bo")), lambda: MODEL, web.mirror)
        for name in ("north", "south")
    }
    assert north.id in found(web)
    assert north.id in web.catalogue.found_passages([north.id])
    assert north.id in scoped["north"].found_passages([north.id])
    assert scoped["south"].found_passages([north.id]) == {}
    moved = replace(web.catalogue.document(north.document_id), project="south")
    store_labels(web.catalogue, moved, [replace(north, project="south")])
    assert north.id in found(web)
    assert scoped["north"].found_passages([north.id]) == {}
    assert scoped["south"].found_passages([north.id])[north.id].passage.project == "south"


def test_a_document_read_before_is_as_another_process_has_changed_it_and_hidden_as_ever(
    desks: tuple[Desk, Desk], database: Database
) -> None:
    web, worker = desks
    one, two = (web.catalogue.add_document(document(name, project="north")) for name in ("one.txt", "two.txt"))
    ids = [one.id, two.id]
    assert {each.title for each in web.catalogue.documents_by_id(ids).values()} == {one.title}
    store_labels(worker.catalogue, replace(worker.catalogue.document(one.id), title="Another title"), [])
    worker.catalogue.delete(two.id)
    later = web.catalogue.documents_by_id(ids)
    assert {i: each.title for i, each in later.items()} == {one.id: "Another title"}
    south = SqlCatalogue(replace(database, scope=Scope(("south",), "bo")), lambda: MODEL, web.mirror)
    assert south.documents_by_id(ids) == {}


def test_a_document_that_is_read_again_or_counts_as_unread_leaves_nothing_of_what_it_was(
    desks: tuple[Desk, Desk],
) -> None:
    web, worker = desks
    rules = put(worker, "rules.txt", 4)
    assert {p.id for p in rules} <= set(found(web))
    known = worker.catalogue.document(rules[0].document_id)
    again = worker.catalogue.save_ingested(known, [], [passage("Anew.")], random_vectors(1, 3))
    assert {p.id for p in (*rules, *again)} & set(found(web)) == {again[0].id}
    worker.catalogue.fail(known.id, step="extract", reason="damaged", remedy="")
    assert again[0].id in found(web)
    worker.catalogue.mark(known.id, step="store", unread=True)
    assert found(web) == stored(web) and again[0].id not in found(web)


def test_a_change_that_is_undone_is_never_seen_and_one_in_progress_only_once_it_is_committed(
    desks: tuple[Desk, Desk],
) -> None:
    web, worker = desks
    rules, later = put(worker, "rules.txt", 2), put(worker, "later.txt", 2)
    relabel = text("UPDATE knowledge_chunks SET domain = 'changed' WHERE document_id = :document")
    changed = SearchFilters(domains=("changed",))
    assert found(web, changed) == []
    with pytest.raises(ZeroDivisionError), worker.catalogue._database.transaction("changing") as connection:
        connection.execute(relabel, {"document": rules[0].document_id})
        raise ZeroDivisionError
    assert found(web, changed) == []
    with worker.catalogue._database.transaction("changing slowly") as connection:
        connection.execute(relabel, {"document": rules[0].document_id})
        fast = put(web, "fast.txt", 1)  # a later transaction that is committed earlier
        worker.catalogue.delete(later[0].document_id)
        assert fast[0].id in found(web)
        assert found(web, changed) == []
    assert found(web, changed) == [p.id for p in rules]


def test_more_changes_than_a_search_waits_for_are_followed_in_the_background(
    desks: tuple[Desk, Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    web, worker = desks
    monkeypatch.setattr(storage.vectors.cache.cache, "_INLINE_PASSAGES", 10)
    fresh = put(worker, "many.txt", 30)
    answered = web.index.search(ASKED, EVERYTHING, 1000)
    assert {p.id for p in fresh} <= {hit.passage_id for hit in answered.hits}  # by the database
    web.mirror.open()
    assert {p.id for p in fresh} <= set(found(web))


@pytest.mark.parametrize("in_memory", [0, 10, 100_000])
def test_when_much_changed_the_file_is_written_anew_and_says_the_same(
    desks: tuple[Desk, Desk], monkeypatch: pytest.MonkeyPatch, opened: Open, in_memory: int
) -> None:
    web, worker = desks
    monkeypatch.setattr(storage.vectors.cache.cache, "_CHANGED_LEAST", 8)
    monkeypatch.setattr(storage.vectors.cache.cache, "_MEMORY_PASSAGES", in_memory)
    before = library_file(web.mirror._folder).stat().st_ino
    for number in range(5):
        put(worker, f"{number}.txt", 7, entities=("IRS",), date=datetime(2024, 1, 1 + number, tzinfo=UTC))
        worker.catalogue.delete(found(web) and worker.catalogue.documents()[-1].id)
        web.mirror.open()
        assert found(web) == stored(web)
        assert web.mirror.current().changed <= 14  # type: ignore[union-attr]
    assert library_file(web.mirror._folder).stat().st_ino != before
    for desk in (web, worker, opened(web.catalogue._database, web.mirror._folder)):
        assert found(desk, SearchFilters(entities=("IRS",))) == stored(desk, SearchFilters(entities=("IRS",)))
        assert desk.index.count() == len(stored(desk))


def test_a_restored_backup_is_told_from_what_was_there_by_its_versions(desks: tuple[Desk, Desk], opened: Open) -> None:
    web, worker = desks
    rules, removed = put(worker, "rules.txt", 2), put(worker, "gone.txt", 2)
    assert found(web) == stored(web)
    restore = (
        "UPDATE knowledge_chunks SET domain = 'restored' WHERE document_id = :one",
        "DELETE FROM knowledge_chunks WHERE document_id = :two",
        "UPDATE library_changes SET changed_by = 1",  # an older library, seen as one transaction saw it
    )
    with worker.catalogue._database.transaction("restoring") as connection:
        for statement in restore:
            parts = {"one": rules[0].document_id, "two": removed[0].document_id}
            connection.execute(text(statement), {name: id_ for name, id_ in parts.items() if f":{name}" in statement})
    with worker.catalogue._database.engine.begin() as connection:
        forgotten = text("DELETE FROM library_changes WHERE document_id = :two")
        connection.execute(forgotten, {"two": removed[0].document_id})
    again = opened(web.catalogue._database, web.mirror._folder)
    assert found(again) == stored(again)
    assert found(again, SearchFilters(domains=("restored",))) == [p.id for p in rules]


# It can be thrown away, and is never believed when damaged


def _each_file(damage: Callable[[Path], object]) -> Callable[[Path], None]:
    def everywhere(folder: Path) -> None:
        damage(library_file(folder))

    return everywhere


def _flipped(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 0xFF
    path.write_bytes(bytes(data))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "missing": _each_file(lambda path: path.unlink()),
    "empty": _each_file(lambda path: path.write_bytes(b"")),
    "cut short": _each_file(lambda path: os.truncate(path, path.stat().st_size // 2)),
    "without its seal": _each_file(lambda path: os.truncate(path, path.stat().st_size - 8)),
    "of other bytes": _each_file(lambda path: path.write_bytes(b"\0" * path.stat().st_size)),
    "changed at its start": _each_file(lambda path: _flipped(path, 5)),
    "changed in its description": _each_file(lambda path: _flipped(path, path.stat().st_size - 40)),
    "changed in its seal": _each_file(lambda path: _flipped(path, path.stat().st_size - 15)),
    "longer": _each_file(lambda path: path.write_bytes(path.read_bytes() + b"more")),
    "half written by a killed one": lambda folder: (folder / "library.mirror.1.new").write_bytes(b"half"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_file_is_made_anew_and_no_search_is_wrong_meanwhile(
    desks: tuple[Desk, Desk], opened: Open, damage: Callable[[Path], object]
) -> None:
    running, folder = desks[0], desks[0].mirror._folder
    expected = found(running)
    damage(folder)
    assert [hit.passage_id for hit in running.index.search(ASKED, EVERYTHING, 10_000).hits]
    assert sorted(hit.passage_id for hit in running.index.search(ASKED, EVERYTHING, 10_000).hits) == expected
    for desk in (opened(running.catalogue._database, folder), running):
        desk.mirror.open()
        assert found(desk) == expected
    assert library_file(folder).exists()
    assert list(folder.glob("*.new")) == []


def test_another_tenants_file_is_not_believed(desks: tuple[Desk, Desk], opened: Open, engine: Engine) -> None:
    other = new_tenant(engine)
    put(Desk(SqlCatalogue(other, lambda: MODEL), desks[0].index, desks[0].mirror), "other.txt", 2)
    folder = desks[0].mirror._folder
    stranger = opened(other, folder)
    assert found(stranger) == stored(stranger)
    assert found(desks[0]) == stored(desks[0])


def test_a_copy_of_another_models_vectors_is_made_anew(desks: tuple[Desk, Desk]) -> None:
    database, folder = desks[0].catalogue._database, desks[0].mirror._folder
    other = VectorCache(database, "another model", folder)
    other.open()
    content = other.current()
    other.close()
    assert content is not None
    assert (content.count(), content.admissible(EVERYTHING).tolist()) == (0, stored(desks[0]))


def test_a_folder_that_cannot_be_written_leaves_searching_to_the_database_and_says_so(
    desks: tuple[Desk, Desk], tmp_path: Path, opened: Open
) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("in the way")
    desk = opened(desks[0].catalogue._database, blocked / "mirror")
    assert desk.mirror.current() is None
    assert "searches take longer" in desk.index.notice
    ids = sorted(hit.passage_id for hit in desk.index.search(ASKED, EVERYTHING, 10_000).hits)
    assert ids == desk.catalogue.admissible(EVERYTHING).tolist() == found(desks[0])
    blocked.unlink()
    desk.mirror.open()
    assert (found(desk), desk.index.notice) == (ids, "")


def test_a_process_killed_while_it_writes_does_no_harm(desks: tuple[Desk, Desk], opened: Open) -> None:
    database, folder = desks[0].catalogue._database, desks[0].mirror._folder
    program = (
        "import os, sys, signal; from pathlib import Path; sys.path.insert(0, sys.argv[1])\n"
        "from storage.postgres.database import Database, engine_for; from storage.vectors.cache import cache\n"
        "cache._finish = lambda *given: os.kill(os.getpid(), signal.SIGKILL)\n"
        "Path(sys.argv[2], 'library.mirror').unlink()\n"
        "cache.VectorCache(Database(engine_for(sys.argv[3]), sys.argv[4]), 'random', Path(sys.argv[2])).open()\n"
    )
    url = database.engine.url.render_as_string(hide_password=False)
    root = str(Path(__file__).resolve().parents[2])
    run = subprocess.run([sys.executable, "-c", program, root, str(folder), url, database.tenant], timeout=120)
    assert run.returncode == -signal.SIGKILL
    assert len(list(folder.glob("*.new"))) == 1
    again = opened(database, folder)
    assert found(again) == stored(again)
    assert list(folder.glob("*.new")) == []


def test_a_closed_copy_makes_no_folder_again_that_was_deleted(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiling, compiled = threading.Event(), threading.Event()
    monkeypatch.setattr(storage.vectors.cache.cache, "_CLOSING_SECONDS", 0.0)

    def compile_slowly() -> None:
        compiling.set()
        compiled.wait(60)

    monkeypatch.setattr(storage.vectors.cache.cache, "compile_kernels", compile_slowly)
    mirror = VectorCache(database, MODEL, tmp_path / "library" / "mirror")
    opening = threading.Thread(target=mirror.open, daemon=True)
    opening.start()
    assert compiling.wait(60)
    mirror.close()
    compiled.set()
    opening.join(60)
    assert not opening.is_alive()
    assert not (tmp_path / "library").exists()


def test_a_closed_copy_ends_its_work_and_the_database_answers(database: Database, tmp_path: Path) -> None:
    mirror = VectorCache(database, MODEL, tmp_path)
    mirror.close()
    mirror.open()
    assert mirror.current() is None
    assert list(tmp_path.iterdir()) == []


# Filters


@pytest.fixture(scope="module")
def labelled(engine: Engine, opened: Open, tmp_path_factory: pytest.TempPathFactory) -> tuple[Desk, Sequence[Passage]]:
    """A library with any labels, half of it in the file and half in memory; some without a vector."""
    database = new_tenant(engine)
    written = SqlCatalogue(database, lambda: MODEL)
    halves: list[Passage] = []
    library = random_documents(1, each=25)
    for described, passages in library[:6]:
        halves += store(written, described, passages, random_vectors(len(passages), 1))
    desk = opened(database, tmp_path_factory.mktemp("labelled"))
    for described, passages in library[6:]:
        bare = SqlCatalogue(database, None) if described.project else written
        halves += store(bare, described, passages, random_vectors(len(passages), 2))
    return desk, halves


@settings(max_examples=150, deadline=None)
@given(filters=random_filters)
def test_a_filter_admits_in_the_copy_exactly_what_the_reference_admits(
    labelled: tuple[Desk, Sequence[Passage]], filters: SearchFilters
) -> None:
    desk, passages = labelled
    search_filters = filters_of(filters, passages)
    assert desk.mirror.current() is not None
    assert desk.catalogue.admissible(search_filters).tolist() == admitted(search_filters, passages).tolist()
    assert desk.catalogue.undated(search_filters) == SqlCatalogue(desk.catalogue._database).undated(search_filters)


@pytest.mark.parametrize("field", ["documents", "exclude_documents"])
def test_a_filter_may_name_thousands_of_documents(labelled: tuple[Desk, Sequence[Passage]], field: str) -> None:
    desk, passages = labelled
    filters = SearchFilters(**{field: tuple(range(1, 5_000))}, archived=None)
    assert desk.catalogue.admissible(filters).tolist() == admitted(filters, passages).tolist()


def test_passages_without_a_vector_are_admissible_but_not_found(labelled: tuple[Desk, Sequence[Passage]]) -> None:
    desk, passages = labelled
    everything = desk.index.search(ASKED, EVERYTHING, 1000)
    plain = PgvectorIndex(desk.catalogue._database, MODEL).search(ASKED, EVERYTHING, 1000)
    assert_same_ranking(everything, plain, 1e-5)
    assert len(plain.hits) < len(passages) == len(desk.catalogue.admissible(EVERYTHING))


# Many at once


def test_searches_from_many_threads_see_whole_documents_while_others_write(desks: tuple[Desk, Desk]) -> None:
    web, worker = desks
    stop, wrong = threading.Event(), list[str]()
    pair = SearchFilters(tags=("pair",))

    def search(desk: Desk) -> None:
        while not stop.is_set():
            ids = desk.index.search(ASKED, pair, 1000).hits
            if len(ids) % 2:
                wrong.append(f"{len(ids)} passages of pairs")

    def write(number: int) -> None:
        desk = desks[number % 2]
        for turn in range(4):
            both = put(desk, f"{number} {turn}", 2, tags=("pair",))
            if turn % 2:
                desk.catalogue.delete(both[0].document_id)

    readers = [threading.Thread(target=search, args=(desk,)) for desk in (web, worker, web)]
    writers = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    for thread in (*readers, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    stop.set()
    for thread in readers:
        thread.join()
    assert wrong == []
    assert found(web, pair) == found(worker, pair) == stored(web, pair)
    assert len(found(web, pair)) == 3 * 2 * 2


def test_a_random_run_of_changes_is_followed_to_the_letter(
    desks: tuple[Desk, Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage.vectors.cache.cache, "_CHANGED_LEAST", 40)
    chance, exact = np.random.default_rng(5), FakeVectorIndex()
    known: list[tuple[Document, Sequence[Passage]]] = []
    for desk in desks:
        for described in desk.catalogue.documents(archived=None):
            desk.catalogue.delete(described.id)
    for step in range(40):
        desk = desks[step % 2]
        if known and chance.random() < 0.3:
            removed, _ = known.pop(int(chance.integers(len(known))))
            desk.catalogue.delete(removed.id)
            exact.delete([removed.id])
        else:
            vectors = random_vectors(5, step)
            passages = store(desk.catalogue, document(f"{step}.txt"), [passage(f"{n}.") for n in range(5)], vectors)
            known.append((desk.catalogue.document(passages[0].document_id), passages))
            exact.add(passages, vectors)
        for each in desks:
            searched = each.index.search(ASKED, EVERYTHING, 7)
            assert_same_ranking(searched, exact.search(ASKED, EVERYTHING, 7), 1e-5)
    ids = [p.id for _, passages in known for p in passages]
    assert desks[0].index.similarities(ASKED, ids) == pytest.approx(exact.similarities(ASKED, ids), abs=1e-5)


def test_the_parts_of_a_search_look_at_the_database_once(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = VectorCache(database, MODEL, tmp_path, LastLook(60.0))
    index = CachedVectorIndex(PgvectorIndex(database, MODEL), mirror)
    desk = Desk(SqlCatalogue(database, lambda: MODEL, mirror), index, mirror)
    looks: list[int] = []
    look = storage.vectors.cache.cache.changes_since

    def counted(database: Database, since: int) -> ChangeFeed:
        looks.append(since)
        return look(database, since)

    monkeypatch.setattr(storage.vectors.cache.cache, "changes_since", counted)
    try:
        put(desk, "one.md", 1)
        mirror.open()
        looks.clear()
        for _ in range(3):
            assert len(desk.catalogue.admissible(SearchFilters())) == 1
        assert len(looks) == 1
        put(desk, "two.md", 2)
        desk.index.delete([])  # as after every change of the library
        assert len(desk.catalogue.admissible(SearchFilters())) == 3
    finally:
        mirror.close()
