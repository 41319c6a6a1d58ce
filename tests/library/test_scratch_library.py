"""Files read for an evaluation make the same library each time."""

from pathlib import Path

from bootstrap.scratch_library import NamedFile, fill
from core.domain.documents import DocumentState
from tests.search.library import WordEmbedder
from tests.workbench import Stores, built


def test_small_texts_are_read_together_and_stored_in_their_order(tmp_path: Path) -> None:
    library, seen = built(Stores(WordEmbedder()), tmp_path), list[tuple[int, int]]()
    texts = [
        NamedFile(f"note {number}.txt", f"Rule {number} on overtime holds for all.".encode()) for number in range(11)
    ]
    files = [*texts[:9], NamedFile("empty.txt", b""), *texts[9:], NamedFile("codes.csv", b"code,name\n1,one\n2,two\n")]
    documents = fill(library, files, on_file=lambda done, total: seen.append((done, total)))
    assert [each.name for each in documents.values()] == [each.name for each in files if each.data]
    assert {each.state for each in documents.values()} == {DocumentState.READY}
    stored = [passage.id for each in documents.values() for passage in library.documents.passages(each.id)]
    assert stored == sorted(stored)
    assert seen == [(4, 13), (8, 13), (12, 13), (13, 13)]
