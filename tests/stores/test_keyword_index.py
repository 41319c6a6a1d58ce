"""The keyword index on disk: it survives, mends itself, and is seen by every process on the machine."""

import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from core.domain.documents import Passage
from core.domain.filters import SearchFilters
from core.ports.own_changes import ChangeCount
from storage.keywords.index import KeywordIndex
from storage.last_look import LastLook
from tests.fakes import FakeCatalogue
from tests.stores.libraries import document, passage, random_vectors, store


def put(catalogue: FakeCatalogue, name: str, *texts: str) -> Sequence[Passage]:
    return store(catalogue, document(name), [passage(text) for text in texts], random_vectors(len(texts), 0))


def found(index: KeywordIndex, term: str) -> list[int]:
    return [hit.passage_id for hit in index.search([term], None, 100).hits]


@pytest.fixture
def catalogue() -> FakeCatalogue:
    made = FakeCatalogue()
    put(made, "rules.txt", "Overtime is paid.", "Taxes are withheld.")
    return made


@pytest.fixture
def folder(tmp_path: Path, catalogue: FakeCatalogue) -> Path:
    """The files of three uploads, one of them deleted."""
    index = KeywordIndex(tmp_path / "bm25", catalogue)
    index.add(put(catalogue, "more.txt", *(f"Rule {n} on vacation." for n in range(20))))
    removed = put(catalogue, "gone.txt", "Overtime is not paid.")
    index.add(removed)
    index.delete([removed[0].document_id])
    catalogue.delete(removed[0].document_id)
    return tmp_path / "bm25"


def test_another_start_reads_the_files_and_asks_the_catalogue_for_no_text_to_index(
    folder: Path, catalogue: FakeCatalogue
) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.segment")}
    again = KeywordIndex(folder, catalogue)
    assert again.reconcile() == (0, 0)
    assert (found(again, "overtime"), again.count()) == ([1], 22)
    assert {path.name: path.stat().st_mtime_ns for path in folder.glob("*.segment")} == before


def test_a_look_at_the_files_holds_for_a_moment_but_not_after_an_own_change(
    folder: Path, catalogue: FakeCatalogue
) -> None:
    own = ChangeCount()
    here, there = KeywordIndex(folder, catalogue, LastLook(600.0, own)), KeywordIndex(folder, catalogue)
    assert here.count() == 22
    assert here.count() == 22
    there.add(put(catalogue, "late.txt", "Bonuses are paid late."))
    assert (here.count(), there.count()) == (22, 23)
    own.follow(9)  # the program that this one works for has changed something
    assert here.count() == 23
    here.add(put(catalogue, "own.txt", "Bonuses are our own."))
    assert here.count() == 24


def test_a_passage_that_the_filters_know_already_is_found_although_the_last_look_is_recent(
    folder: Path, catalogue: FakeCatalogue
) -> None:
    here = KeywordIndex(folder, catalogue, LastLook(600.0))
    assert [here.count(), here.count()] == [22, 22]
    (late,) = put(catalogue, "late.txt", "Bonuses are paid late.")
    KeywordIndex(folder, catalogue).add([late])
    hits = here.search(["bonuses"], catalogue.admissible(SearchFilters()), 9).hits
    assert [hit.passage_id for hit in hits] == [late.id]


def _each(damage: Callable[[Path], object]) -> Callable[[Path], None]:
    def every_segment(folder: Path) -> None:
        for path in folder.glob("*.segment"):
            damage(path)

    return every_segment


DAMAGES: dict[str, Callable[[Path], object]] = {
    "segments missing": _each(lambda path: path.unlink()),
    "segments cut short": _each(lambda path: path.write_bytes(path.read_bytes()[:100])),
    "segments of other bytes": _each(lambda path: path.write_bytes(b"\0" * path.stat().st_size)),
    "manifest missing": lambda folder: (folder / "manifest.json").unlink(),
    "manifest empty": lambda folder: (folder / "manifest.json").write_bytes(b""),
    "manifest of other bytes": lambda folder: (folder / "manifest.json").write_bytes(b"\xff{]\n{}"),
    "manifest changed by a byte": lambda folder: (folder / "manifest.json").write_bytes(
        (folder / "manifest.json").read_bytes().replace(b"[[", b"[ [")
    ),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_damaged_files_are_made_anew_from_the_catalogue(
    folder: Path, catalogue: FakeCatalogue, damage: Callable[[Path], object]
) -> None:
    running = KeywordIndex(folder, catalogue)
    assert found(running, "overtime") == [1]
    damage(folder)
    for index in (KeywordIndex(folder, catalogue), running):
        assert found(index, "overtime") == [1]
        assert len(found(index, "vacation")) == 20
    assert KeywordIndex(folder, catalogue).reconcile() == (0, 0)


def test_files_that_missed_a_change_catch_up_by_content_not_by_count(folder: Path, catalogue: FakeCatalogue) -> None:
    catalogue.delete(2)
    put(catalogue, "missed.txt", *(f"Absence {n}." for n in range(20)))  # as many passages as were deleted
    index = KeywordIndex(folder, catalogue)
    assert index.reconcile() == (20, 20)
    assert (found(index, "vacation"), len(found(index, "absence"))) == ([], 20)


def test_a_library_restored_from_a_backup_gives_the_same_ids_to_other_words(folder: Path) -> None:
    restored = FakeCatalogue()
    put(restored, "rules.txt", "Overtime is paid.", "Taxes are withheld.")
    put(restored, "more.txt", *(f"Rule {n} on parking." for n in range(20)))
    index = KeywordIndex(folder, restored)
    assert (found(index, "vacation"), len(found(index, "parking"))) == ([], 20)


def test_two_indexes_on_one_folder_see_each_others_uploads_and_deletions(
    folder: Path, catalogue: FakeCatalogue
) -> None:
    web, worker = KeywordIndex(folder, catalogue), KeywordIndex(folder, catalogue)
    assert found(web, "parking") == []
    fresh = put(catalogue, "fresh.txt", "Parking is free.")
    worker.add(fresh)
    assert found(web, "parking") == [fresh[0].id]
    web.delete([fresh[0].document_id])
    assert found(worker, "parking") == []


def test_a_worker_process_is_seen_at_once(folder: Path, catalogue: FakeCatalogue) -> None:
    web = KeywordIndex(folder, catalogue)
    assert found(web, "parking") == []
    root = Path(__file__).resolve().parents[2]
    program = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[2])\n"
        "from storage.keywords.index import KeywordIndex; from tests.fakes import FakeCatalogue\n"
        "from tests.stores.libraries import document, passage, random_vectors, store\n"
        "library = FakeCatalogue()\n"
        "store(library, document('x'), [passage('unused')] * 30, random_vectors(30, 0))\n"
        "index = KeywordIndex(Path(sys.argv[1]), library)\n"
        "index.add(store(library, document('y'), [passage('Parking is free.')], random_vectors(1, 0)))\n"
    )
    subprocess.run([sys.executable, "-c", program, str(folder), str(root)], check=True, timeout=60)
    assert found(web, "parking") == [31]


def test_searches_go_on_while_uploads_and_deletions_come_from_many_threads(
    folder: Path, catalogue: FakeCatalogue
) -> None:
    indexes = [KeywordIndex(folder, catalogue), KeywordIndex(folder, catalogue)]
    uploads = [put(catalogue, f"{n}.txt", f"Parking lot {n}.", "Filler.") for n in range(16)]
    assert [found(index, "overtime") for index in indexes] == [[1], [1]]
    stop, wrong = threading.Event(), []

    def search(index: KeywordIndex) -> None:
        while not stop.is_set():
            if found(index, "overtime") != [1]:
                wrong.append(found(index, "overtime"))

    def upload(index: KeywordIndex, mine: Sequence[Sequence[Passage]]) -> None:
        for passages in mine:
            index.add(passages)
        index.delete([mine[0][0].document_id])

    readers = [threading.Thread(target=search, args=(index,)) for index in indexes]
    writers = [threading.Thread(target=upload, args=(indexes[n % 2], uploads[n::4])) for n in range(4)]
    for thread in (*readers, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    stop.set()
    for thread in readers:
        thread.join()
    assert wrong == []
    stored = sorted(passages[0].id for passages in uploads[4:])
    assert [sorted(found(index, "parking")) for index in indexes] == [stored, stored]


def test_many_uploads_leave_few_segments(folder: Path, catalogue: FakeCatalogue) -> None:
    index = KeywordIndex(folder, catalogue)
    for n in range(40):
        index.add(put(catalogue, f"{n}.txt", "Parking."))
    assert len(list(folder.glob("*.segment"))) <= 7
    assert len(found(index, "parking")) == 40


def test_a_passage_another_machine_stored_is_found_once_the_catalogue_admits_it(
    folder: Path, catalogue: FakeCatalogue
) -> None:
    index = KeywordIndex(folder, catalogue)
    assert found(index, "parking") == []
    elsewhere = put(catalogue, "elsewhere.txt", "Parking is free.")
    admissible = catalogue.admissible(SearchFilters())
    assert [hit.passage_id for hit in index.search(["parking"], admissible, 10).hits] == [elsewhere[0].id]
