"""What one process learned, another one labels by: the same version, to the letter."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine

from adapters.sandboxed_reader import SandboxedReader
from core.domain.documents import Document, DocumentState, Page
from core.ingestion.classification.classifier import TruthClassifier
from core.ingestion.pipeline import IngestionPipeline
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from core.library.active_learning.service import ActiveLearningService
from core.ports.catalogue import DocumentContent
from storage.postgres.active_learning import SqlActiveLearningStore
from storage.postgres.catalogue import SqlCatalogue
from storage.postgres.database import Database, engine_for
from tests.database import new_tenant
from tests.fakes import FakeVectorIndex, InlineJobs
from tests.search.library import WordEmbedder
from tests.stores.libraries import MOMENT

FORM = "Site diary\nWeather\nCrew on site\nDelays and why\nVisitors\n"
FRESH = f"{FORM}Rain since noon, and the crane stood still for an hour."


def desk_of(database: Database) -> ActiveLearningService:
    """A desk over the stores of a tenant, with a small embedding."""
    jobs, embedder = InlineJobs(), WordEmbedder()
    catalogue, own = SqlCatalogue(database), TruthClassifier(embedder)
    store = SqlActiveLearningStore(database)
    desk = ActiveLearningService(
        store, catalogue, FakeVectorIndex(), own, jobs, lambda: embedder.name, lambda: BUILT_IN_TERMS, lambda: MOMENT
    )
    jobs.work = lambda kind, number: desk.learn()
    return desk


def said_of(desk: ActiveLearningService) -> str:
    """All that a desk knows and would say of a fresh document."""
    labels = desk.classifier.document("site diary 99.txt", "", [Page(1, FRESH)], {}, terms=BUILT_IN_TERMS)
    return repr((desk.learn(), desk.newest(), labels, desk.label_changes.preview()))


def main(url: str, tenant: str) -> None:
    """As another process says it."""
    sys.stdout.write(said_of(desk_of(Database(engine_for(url), tenant))))


NO_VECTORS = WordEmbedder().embed([])


@pytest.fixture
def database(engine: Engine) -> Database:
    """Six site diaries, five of them corrected."""
    made = new_tenant(engine)
    desk, catalogue = desk_of(made), SqlCatalogue(made)
    reader = SandboxedReader(60, 4096)
    ingestor = IngestionPipeline(WordEmbedder(), desk.classifier, reader)
    ids = []
    for number, expected in enumerate(("Frost", "A lorry late", "Two ill", "Mud", "A visit", "Wind")):
        data = f"{FORM}{expected} in the morning, and work began again on the gable at hour {number}.".encode()
        pending = Document(0, f"site diary {number}.txt", f"{number:064d}", 1, DocumentState.PENDING, MOMENT)
        read = ingestor.run(catalogue.add_document(pending), data, {}, lambda step: None, terms=BUILT_IN_TERMS)
        stored = catalogue.save_ingested(read.document, read.pages, read.passages, read.vectors)
        desk.follow([DocumentContent(read.document, read.pages, stored, read.vectors)])
        ids.append(read.document.id)
    reader.close()
    desk.corrector.correct_many([(each, "truth", "reality") for each in ids[:5]], "ann")
    return made


def test_no_record_is_made_of_a_document_that_was_deleted_meanwhile(database: Database) -> None:
    store = SqlActiveLearningStore(database)
    [[record, *_]] = list(store.records(WordEmbedder().name))
    store.save_records([(replace(record, document_id=10**12), NO_VECTORS), (replace(record, model="new"), NO_VECTORS)])
    assert list(store.records_of([record.document_id, 10**12], "new")) == [record.document_id]


def test_two_processes_label_by_the_same_lessons(database: Database) -> None:
    url = database.engine.url.render_as_string(hide_password=False)
    here = said_of(desk_of(database))
    assert "(lessons 1)" in here and "TrainingVersion(number=1" in here
    code = "import sys; from tests.stores.test_active_learning import main; main(*sys.argv[1:])"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONHASHSEED": "7"}
    there = subprocess.run(
        [sys.executable, "-c", code, url, database.tenant], capture_output=True, text=True, env=environment, check=True
    )
    assert there.stdout.strip() == here


def test_an_application_in_the_database_is_undone_exactly(database: Database) -> None:
    desk, catalogue = desk_of(database), SqlCatalogue(database)
    before = [(each, tuple(catalogue.passages_of(each.id))) for each in catalogue.documents()]
    preview = desk.label_changes.preview()
    assert preview.changes
    done = desk.label_changes.apply(preview, "ann")
    assert desk_of(database).label_changes.preview().changes == ()
    desk_of(database).label_changes.undo(done.number, "bob")
    assert [(each, tuple(catalogue.passages_of(each.id))) for each in catalogue.documents()] == before
