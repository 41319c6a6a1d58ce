"""What a changed library touches, and that nothing else has changed."""

import random
from dataclasses import replace

import pytest

from core.coverage.detection.detector import Detector
from core.coverage.runs import touched
from core.domain.coverage import Cell, GapKind, Topic
from core.domain.documents import Truth
from core.domain.filters import SearchFilters
from core.knowledge.profiles import profiles
from tests.label_edits import store_labels
from tests.search.library import NOW, Library

PROFILE = profiles()["balanced"]

WORDS = "overtime rate vacation accrual deposit taxes wage statement audit records shift holiday".split()
TOPICS = {n: Topic(f"{a} {b}", id=n) for n, (a, b) in enumerate(zip(WORDS[::2], WORDS[1::2], strict=True), 1)}
WANTED = [(topic, kind) for topic in TOPICS.values() for kind in GapKind]


def detector_of(library: Library) -> Detector:
    return Detector(library.catalogue, library.vectors, library.sparse, library.embedder)


def judged(library: Library) -> tuple[Cell, ...]:
    return detector_of(library).judge(WANTED, project=None, now=NOW, profile=PROFILE)


def random_library(chance: random.Random) -> Library:
    library = Library()
    for number in range(chance.randint(0, 8)):
        add(library, chance, number)
    return library


def add(library: Library, chance: random.Random, number: int) -> None:
    text = " ".join(chance.sample(WORDS, chance.randint(2, 6))).capitalize() + "."
    library.add(f"{number}.md", text, truth=chance.choice(list(Truth)))


def change(library: Library, chance: random.Random) -> None:
    documents = [document.id for document in library.catalogue.documents()]
    kind = chance.choice(("add", "delete", "relabel"))
    if kind == "add" or not documents:
        add(library, chance, 100 + chance.randint(0, 900))
    elif kind == "delete":
        removed = chance.choice(documents)
        library.sparse.delete([removed])
        library.vectors.delete([removed])
        library.catalogue.delete(removed)
    else:
        chosen = chance.choice(documents)
        passages = [replace(p, truth=chance.choice(list(Truth))) for p in library.catalogue.passages_of(chosen)]
        store_labels(library.catalogue, library.catalogue.document(chosen), passages)
        library.vectors.update(passages)


def content(cell: Cell) -> tuple[object, ...]:
    return cell.state, cell.evidence_score, cell.evidence, cell.near_misses


@pytest.mark.parametrize("seed", range(40))
def test_a_cell_that_is_not_touched_would_be_judged_the_same(seed: int) -> None:
    chance = random.Random(seed)
    library = random_library(chance)
    before, cells = library.catalogue.fingerprints(SearchFilters()), judged(library)
    for _ in range(chance.randint(1, 3)):
        change(library, chance)
    after = library.catalogue.fingerprints(SearchFilters())
    hit = touched(detector_of(library), cells, TOPICS, before, after, project=None, now=NOW, profile=PROFILE)
    for old, new in zip(cells, judged(library), strict=True):
        assert (old.topic_id, old.kind) in hit or content(old) == content(new)


def test_an_unrelated_document_touches_nothing_and_no_change_asks_nothing() -> None:
    library = random_library(random.Random(3))
    before, cells = library.catalogue.fingerprints(SearchFilters()), judged(library)
    library.embedder.batches = 0
    assert not touched(detector_of(library), cells, TOPICS, before, before, project=None, now=NOW, profile=PROFILE)
    assert library.embedder.batches == 0
    library.add("zebra.md", "Zebras sleep standing up.", truth=Truth.REGULATORY)
    after = library.catalogue.fingerprints(SearchFilters())
    hit = touched(detector_of(library), cells, TOPICS, before, after, project=None, now=NOW, profile=PROFILE)
    assert not hit
