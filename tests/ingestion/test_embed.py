"""Vectors: the converted model agrees with the original, in any order and from any thread."""

import json
import os
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.inference import model_cache
from adapters.inference.embedder import CONVERSION, OpenVinoEmbedder, _batches, load_embedder
from adapters.inference.model_cache import Conversion, cached_conversion, conversion_holds
from adapters.inference.model_cache import described as description
from adapters.inference.translating_embedder import TranslatingEmbedder
from core.domain.errors import ModelUnavailable
from core.ports.model_choice import FixedModel
from core.ports.stores import Embedder, Vectors

TEXTS = ["overtime", "Employers must keep the form for three years. " * 30, "", "W-2", "Überstunden werden bezahlt."]


@pytest.mark.slow
def test_the_default_model_is_served_converted_and_its_vectors_have_length_one(embedder: Embedder) -> None:
    assert isinstance(embedder, TranslatingEmbedder) and isinstance(embedder.model, OpenVinoEmbedder)
    vectors = embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dimensions) == (5, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert embedder.embed([]).shape == (0, 384)
    assert embedder.name.startswith("all-MiniLM-L6-v2@")


@pytest.mark.slow
def test_libraries_in_one_process_share_a_model_with_as_many_threads(models: Path, embedder: Embedder) -> None:
    same, other = load_embedder("default", models, 1), load_embedder("default", models, 2)
    assert isinstance(embedder, TranslatingEmbedder)
    assert isinstance(same, TranslatingEmbedder) and same.model is embedder.model
    assert isinstance(other, TranslatingEmbedder) and other.model is not embedder.model


@pytest.mark.slow
def test_meaning_is_near_and_batching_does_not_matter(embedder: Embedder) -> None:
    rate, mileage, lunch = embedder.embed(
        ["mileage rate for business", "cents per mile driven for work", "lunch break"]
    )
    assert rate @ mileage > rate @ lunch + 0.2
    together = embedder.embed(TEXTS)
    alone = np.vstack([embedder.embed([text]) for text in TEXTS])
    np.testing.assert_allclose((together * alone).sum(axis=1), 1.0, atol=1e-3)


@given(st.lists(st.integers(1, 512), max_size=300))
def test_batches_hold_every_text_once_and_little_padding(lengths: list[int]) -> None:
    batches = list(_batches(lengths))
    assert sorted(at for batch in batches for at in batch) == list(range(len(lengths)))
    for batch in batches:
        own = [lengths[at] for at in batch]
        assert len(own) * max(own) - sum(own) <= 14
        assert len(own) <= 64 and (len(own) == 1 or len(own) * max(own) <= 1024)


@pytest.mark.slow
def test_texts_without_parts_have_the_same_vectors(embedder: Embedder) -> None:
    vectors, parts = embedder.embed_parts(TEXTS, [()] * len(TEXTS))
    np.testing.assert_allclose(vectors, embedder.embed(TEXTS), atol=1e-5)
    assert [each.shape for each in parts] == [(0, 384)] * len(TEXTS)


@pytest.mark.slow
def test_threads_do_not_disturb_each_other(embedder: Embedder) -> None:
    query_vectors = embedder.embed(TEXTS)
    found: list[np.ndarray] = []
    threads = [threading.Thread(target=lambda: found.append(embedder.embed(TEXTS))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for vectors in found:
        np.testing.assert_allclose(vectors, query_vectors, atol=1e-5)


@pytest.mark.parametrize(
    ("described", "age_hours", "stored"),
    [
        ({"least_cosine": 1.0}, 1000, True),
        ({"least_cosine": 0.5, "tried_with": "ours"}, 1, True),
        ({"failed": "no room", "tried_with": "ours"}, 1, True),
        ({"failed": "no room", "tried_with": "ours"}, 25, False),
        ({"failed": "no room", "tried_with": "torch 1.0"}, 1, False),
        ({"failed": "no room"}, 1, False),
        (None, 0, False),
    ],
)
def test_a_failed_conversion_is_tried_again_after_a_day_or_with_other_libraries(
    tmp_path: Path, described: dict[str, object] | None, age_hours: int, stored: bool
) -> None:
    path = tmp_path / "described.json"
    if described is not None:
        ours = {"tried_with": CONVERSION.tried_with} if "ours" in described.values() else {}
        path.write_text(json.dumps(described | ours))
        then = path.stat().st_mtime - 3600 * age_hours
        os.utime(path, (then, then))
    assert conversion_holds(tmp_path, CONVERSION) is stored


@pytest.mark.slow
def test_a_model_that_cannot_be_converted_leaves_its_reason(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    place = cached_conversion(tmp_path / "model", tmp_path / "kept", "0" * 64, CONVERSION)
    assert description(place)["failed"]
    assert conversion_holds(place, CONVERSION)


def test_programs_that_start_at_once_convert_a_model_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Path] = []
    together = threading.Barrier(2)

    def convert(folder: Path, fresh: Path, precision: str, conversion: Conversion) -> None:
        started.append(fresh)
        with suppress(threading.BrokenBarrierError):
            together.wait(0.5)  # a second conversion comes here, too
        (fresh / "described.json").write_text('{"least_cosine": 1.0}')

    monkeypatch.setattr(model_cache, "_convert", convert)
    with ThreadPoolExecutor(2) as programs:
        arguments = (tmp_path / "model", tmp_path / "kept", "0" * 64, CONVERSION)
        first, second = (programs.submit(cached_conversion, *arguments) for _ in range(2))
    assert first.result() == second.result() and conversion_holds(first.result(), CONVERSION)
    assert len(started) == 1


@pytest.mark.parametrize("model", ["no/such-model-anywhere", "not a name at all!"])
def test_a_model_that_cannot_be_had_says_so(model: str, tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"cannot be downloaded|neither a folder nor"):
        load_embedder(model, tmp_path, 1)


def test_importing_the_embedder_does_not_import_torch() -> None:
    import subprocess

    code = "import adapters.inference.embedder, sys; print('torch' in sys.modules, 'openvino' in sys.modules)"
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_a_slower_model_says_so_once_it_is_loaded() -> None:
    from adapters.inference.embedder import LazyEmbedder, LoadedModels

    class Slower:
        name, dimensions, notice = "slower", 1, "The model runs unconverted."

        def embed(self, texts: Sequence[str]) -> Vectors:
            return np.zeros((len(texts), 1), dtype=np.float32)

    embedder = LazyEmbedder(FixedModel(), LoadedModels(lambda model: Slower()))
    assert embedder.notice == ""
    embedder.embed(["one"])
    assert embedder.notice == "The model runs unconverted."
