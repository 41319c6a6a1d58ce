"""Changing the embedding model of a library: with real models of different dimensions, on pgvector and Chroma."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Engine, func, select

from bootstrap.environment import Settings, utc_now
from bootstrap.workbench import OpenWorkbench, open_workbench
from core.domain.errors import BadRequest, ModelUnavailable
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.library.embedding_models import service
from storage.postgres.embedding_models import PREPARED
from storage.postgres.word_vectors import WORDS
from tests.tiny_models import tiny_embedder

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
QUESTION = "Who approves overtime?"
TEXTS = [
    "Overtime is approved by the manager in writing before it is worked.",
    "A berth is assigned by the harbor master for one season.",
    "Invoices above five thousand dollars need two signatures.",
    "The keeper lights the lantern at six every evening.",
    "Employees record their hours on the day they work them.",
]
_TENANTS = count(1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models of 16 and 24 dimensions."""
    made = tmp_path_factory.mktemp("tiny")
    tiny_embedder(made / "small", 16)
    tiny_embedder(made / "wide", 24)
    return made


@pytest.fixture(autouse=True)
def unconverted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The models run as they are: converting one takes longer than the rest of a test."""
    monkeypatch.setattr("adapters.inference.embedder.find_spec", _without_openvino)


def _without_openvino(name: str) -> object:
    return None if name == "openvino" else find_spec(name)


@pytest.fixture(params=["pgvector", "chroma"])
def settings(request: pytest.FixtureRequest, tmp_path: Path, folder: Path, engine: Engine) -> Settings:
    """A library of its own, embedded with the small model; no worker runs."""
    return Settings(
        tmp_path,
        database_url=engine.url.set(drivername="postgresql").render_as_string(hide_password=False),
        vector_index=request.param,
        tenant=f"models-{next(_TENANTS)}",
        embedding_model=str(folder / "small"),
        worker=False,
    )


@contextmanager
def opened(settings: Settings) -> Iterator[OpenWorkbench]:
    with closing(open_workbench(settings)) as library:
        yield library


def add(library: OpenWorkbench, name: str, text: str) -> int:
    """A document with one passage."""
    receipt = library.workbench.documents.upload(name, f"# {name}\n\n{text}\n".encode())
    library.workbench.ingestion.ingest(receipt.document_id)
    return receipt.document_id


def fill(library: OpenWorkbench) -> list[int]:
    return [add(library, f"Note {number}.md", text) for number, text in enumerate(TEXTS, 1)]


def search(library: OpenWorkbench) -> tuple[dict[int, float], list[str]]:
    """Passage → similarity, for all that the search by meaning found; and the notices."""
    result = library.workbench.search.run(SearchRequest(QUESTION, top_k=50), remember=False)
    (dense,) = [leg for leg in result.legs if leg.leg == "dense"]
    assert not dense.error and dense.found == len(result.candidates)
    return {each.passage.id: each.signals.similarity for each in result.candidates}, list(result.notices)


def expected(library: OpenWorkbench, model: Path) -> dict[int, float]:
    """The same, computed from the texts with one model."""
    from adapters.inference.embedder import load_embedder
    from core.ingestion.sentence_vectors import embedded_text

    embedder = load_embedder(str(model), model.parent, 1)
    catalogue = library.stores.catalogue
    passages = catalogue.passages(catalogue.admissible(SearchFilters(archived=None)).tolist())
    vectors = embedder.embed([embedded_text(each) for each in passages.values()])
    return dict(zip(passages, (vectors @ embedder.embed([QUESTION])[0]).tolist(), strict=True))


def answers_from(library: OpenWorkbench, model: Path) -> None:
    """The search is what this model gives, and so are the vectors of the sentences."""
    required = expected(library, model)
    found, _ = search(library)
    assert found.keys() == required.keys()
    assert list(found.values()) == pytest.approx([required[each] for each in found], abs=2e-3)
    width = 16 if model.name == "small" else 24
    passages = library.stores.catalogue.passages(list(required)).values()
    assert all(len(each.meanings) == width * len(each.sentences) for each in passages)


def work(library: OpenWorkbench, most: int = 100) -> None:
    """What a worker does with the jobs: until none is left."""
    calls = []
    library.workbench.models._jobs.defer = lambda kind, ids: calls.append(kind)  # type: ignore[attr-defined, method-assign]
    for _ in range(most):
        calls.clear()
        library.workbench.models.carry_on()
        if not [kind for kind in calls if kind == "embed"]:
            return
    raise AssertionError("it did not end")


def stored(library: OpenWorkbench, table: object) -> dict[str, int]:
    """Model → rows."""
    query = select(table.c.model, func.count()).group_by(table.c.model)  # type: ignore[attr-defined]
    with library.database.transaction("counting") as connection:
        return {model.partition("@")[0]: number for model, number in connection.execute(query)}


def test_searches_use_the_old_vectors_until_all_are_exchanged_at_once(
    settings: Settings, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "_BATCH", 2)
    monkeypatch.setattr(service, "_PER_JOB", 2)
    with opened(settings) as library:
        _, removed, *_ = fill(library)
        models = library.workbench.models
        answers_from(library, folder / "small")
        begun = models.use(str(folder / "wide"), "Ann")
        assert begun is not None and (begun.dimensions, begun.who) == (24, "Ann")
        with pytest.raises(BadRequest, match="wide already"):
            models.use("default")

        models.carry_on()
        switch = models.status().switch
        assert switch is not None and switch.under_way and (switch.done, switch.total) == (2, 5)
        answers_from(library, folder / "small")

        library.workbench.documents.delete(removed)
        add(library, "Later.md", "The storm bell is rung twice when the wind turns north.")
        answers_from(library, folder / "small")

        work(library)
        status = models.status()
        assert status.switch is not None and not status.switch.under_way and not status.switch.cancelled
        assert status.in_use.label == "wide" and status.passages == 5
        answers_from(library, folder / "wide")
        assert stored(library, PREPARED) == {} and stored(library, WORDS).keys() == {"wide"}
        add(library, "After.md", "Nets are mended on the quay in winter.")
        answers_from(library, folder / "wide")
        assert library.workbench.check.run().ok
    with opened(replace(settings, embedding_model="default")) as again:
        answers_from(again, folder / "wide")


def test_a_killed_process_resumes_after_its_last_batch(settings: Settings, folder: Path) -> None:
    with opened(settings) as library:
        fill(library)
        library.workbench.models.use(str(folder / "wide"))
    child = subprocess.Popen(
        [sys.executable, "-c", _EMBED_TWO_AND_WAIT, *map(str, (settings.data_folder, settings.tenant))],
        cwd=ROOT,
        env=_environment(settings),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None and child.stdout.readline() == "two batches\n"
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    with opened(settings) as library:
        assert len(library.stores.models.lacking(_name(library))[0]) == 3
        answers_from(library, folder / "small")
        work(library)
        answers_from(library, folder / "wide")


_EMBED_TWO_AND_WAIT = """
import itertools, time
import adapters.inference.embedder as embedder
embedder.find_spec = lambda name: None if name == "openvino" else object()
from bootstrap.workbench import open_workbench, settings_from_environment
from core.library.embedding_models import service
service._BATCH = 1
with open_workbench(settings_from_environment()) as workbench:
    prepare, calls = workbench.models._prepare, itertools.count()
    def waiting(embedder, ids):
        if next(calls) == 2:
            print("two batches", flush=True)
            time.sleep(600)
        prepare(embedder, ids)
    workbench.models._prepare = waiting
    workbench.models.carry_on()
"""


def _environment(settings: Settings) -> dict[str, str]:
    import os

    return os.environ | {
        "FIVEFOLD_DATA_FOLDER": str(settings.data_folder),
        "DATABASE_URL": settings.database_url,
        "FIVEFOLD_VECTOR_INDEX": settings.vector_index,
        "FIVEFOLD_TENANT": settings.tenant,
        "FIVEFOLD_EMBEDDING_MODEL": settings.embedding_model,
        "FIVEFOLD_WORKER": "false",
    }


def _name(library: OpenWorkbench) -> str:
    switch = library.workbench.models.status().switch
    assert switch is not None
    return switch.name


def test_a_model_that_cannot_be_loaded_changes_nothing(settings: Settings, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "junk").mkdir()
    (tmp_path / "junk" / "config.json").write_text("{}")
    with opened(settings) as library:
        fill(library)
        for name, message in ((str(tmp_path / "junk"), "cannot be loaded"), ("no/such-model", "cannot be downloaded")):
            with pytest.raises(ModelUnavailable, match=message):
                library.workbench.models.use(name)
        assert library.workbench.models.status().switch is None
        answers_from(library, folder / "small")


def test_a_cancelled_change_leaves_nothing_behind(
    settings: Settings, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "_BATCH", 2)
    monkeypatch.setattr(service, "_PER_JOB", 2)
    with opened(settings) as library:
        fill(library)
        models = library.workbench.models
        models.use(str(folder / "wide"))
        models.carry_on()
        name = _name(library)
        ended = models.cancel()
        assert ended is not None and ended.cancelled
        work(library)
        assert stored(library, PREPARED) == {} and stored(library, WORDS).keys() == {"small"}
        assert len(library.stores.models.lacking(name)[0]) == 5
        answers_from(library, folder / "small")
        assert models.cancel() is None


def test_a_document_embedded_before_the_exchange_and_stored_after_it_is_embedded_again(
    settings: Settings, folder: Path
) -> None:
    with opened(settings) as library:
        fill(library)
        library.workbench.models.use(str(folder / "wide"))
        pipeline = library.workbench.ingestion._pipeline
        run = pipeline.run

        def exchanged_meanwhile(*args: object, **named: object) -> object:
            embedded = run(*args, **named)  # type: ignore[arg-type]
            assert embedded.model.startswith("small@")
            work(library)
            return embedded

        pipeline.run = exchanged_meanwhile  # type: ignore[method-assign, assignment]
        add(library, "Meanwhile.md", "The storm bell is rung twice when the wind turns north.")
        assert len(search(library)[0]) == 5  # not yet found by meaning, and nothing fails
        work(library)
        answers_from(library, folder / "wide")


def test_a_search_during_which_the_vectors_are_exchanged_is_run_again(settings: Settings, folder: Path) -> None:
    with opened(settings) as library:
        fill(library)
        library.workbench.models.use(str(folder / "wide"))
        vectors = library.stores.vectors
        ranked: Callable[..., object] = vectors.search
        calls = []

        def exchanged_before(*args: object, **named: object) -> object:
            calls.append(1)
            if len(calls) == 1:
                work(library)
            return ranked(*args, **named)

        vectors.search = exchanged_before  # type: ignore[method-assign, assignment]
        found, _ = search(library)
        assert len(calls) == 2
        required = expected(library, folder / "wide")
        assert list(found.values()) == pytest.approx([required[each] for each in found], abs=2e-3)


def test_what_was_fitted_for_another_model_is_left_out_and_said(settings: Settings, folder: Path) -> None:
    with opened(replace(settings, embedding_model="default")) as library:
        (one, *_) = fill(library)
        assert search(library)[1] == [] and not library.workbench.models.notices
        library.workbench.models.use(str(folder / "wide"))
        work(library)
        (notice,) = search(library)[1]
        assert notice.startswith("This library uses wide.") and "fitted with all-MiniLM-L6-v2" in notice
        assert "without the meaning of sentences" in notice and notice in library.workbench.notices()
        classifier = library.workbench.evaluation.classifier._classifier  # type: ignore[attr-defined]
        reading, own = classifier.read(
            "Note.md", "", library.stores.catalogue.page(one, 1) and [library.stores.catalogue.page(one, 1)]
        )
        assert own.shape[1] == 24
        assert not len(classifier._model.comparable(own, library.embedder.name))
        assert np.isfinite(own).all() and reading.segments

        profiles = library.workbench.evaluation.profiles
        made = profiles.save(replace(profiles.default(None), name="ours", threshold=0.1), "Ann").profile
        assert made.embedder == "wide"
        assert library.workbench.search.run(SearchRequest(QUESTION, profile="ours")).notices == ()
        library.workbench.models.use("default")
        work(library)
        (notice,) = library.workbench.search.run(SearchRequest(QUESTION, profile="ours")).notices
        assert "“ours@1”" in notice and "fitted with wide" in notice and not search(library)[1]


def test_the_settings_name_the_model_of_an_empty_library_only(settings: Settings, folder: Path) -> None:
    with opened(settings) as library:
        assert library.workbench.models.status().in_use.label == "small"
    with opened(replace(settings, embedding_model=str(folder / "wide"))) as library:
        assert library.workbench.models.status().in_use.label == "wide"
        fill(library)
    with opened(settings) as library:
        assert library.workbench.models.status().in_use.label == "wide"
        answers_from(library, folder / "wide")
        assert any("FIVEFOLD_EMBEDDING_MODEL names small" in each for each in library.workbench.notices())
        assert library.workbench.models.use(str(folder / "wide")) is None
        assert utc_now() and library.workbench.models.status().switch is None
