"""Cross-encoders: one raw logit for a question and a passage; run by OpenVINO where it agrees with the original.

A model is converted once per data folder (cross_encoder_conversion.py, in a separate process); after that, inference
needs only `openvino` and `tokenizers`. If the conversion fails or its logits differ, sentence-transformers is used.
"""

import shutil
from collections import deque
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from adapters.inference.cross_encoder_conversion import MOST_DIFFERENCE
from adapters.inference.embedder import padded_inputs
from adapters.inference.included_reranker import included_reranker_folder
from adapters.inference.model_cache import (
    KERNELS,
    Conversion,
    cached_conversion,
    described,
    weights_digest,
    weights_folder,
)
from core.domain.errors import ModelUnavailable
from core.knowledge.rerankers import INCLUDED
from core.ports.models import CrossEncoder, Logits

__all__ = ["OpenVinoCrossEncoder", "StockCrossEncoder", "load_cross_encoder", "stock_cross_encoder"]

_HINT = "Search goes on without it. Set FIVEFOLD_RERANKER_{name} to a folder that holds a cross-encoder."


def load_cross_encoder(model: str, name: str, cache_folder: Path, threads: int, max_tokens: int) -> CrossEncoder:
    """Load the cross-encoder from a folder or by its hub name, or the included one.

    name: of the reranker, for messages. cache_folder: of converted models. threads: inference threads; 0 uses all
    cores. max_tokens: of question and text together, at most the model's own limit. Takes seconds, at first use up to
    minutes. Raises ModelUnavailable when the weights cannot be loaded, and what the libraries raise for a full disk or
    a damaged conversion, which it deletes."""
    included = model == INCLUDED
    folder = (
        included_reranker_folder(cache_folder) if included else weights_folder(model, _HINT.format(name=name.upper()))
    )
    if find_spec("openvino") is None:
        return _stock(folder, threads, max_tokens, "OpenVINO is not installed")
    converted = cached_conversion(folder, cache_folder, weights_digest(folder), _CONVERSION)
    description = described(converted)
    if "failed" in description:
        return _stock(folder, threads, max_tokens, f"its conversion failed: {description['failed']}")
    if not _CONVERSION.agrees(description):
        return _stock(folder, threads, max_tokens, "its conversion does not agree with it")
    try:
        return OpenVinoCrossEncoder(converted, threads, max_tokens)
    except Exception:
        shutil.rmtree(converted, ignore_errors=True)  # a damaged file: the next attempt converts the model again
        raise


def _agrees(description: Mapping[str, Any]) -> bool:
    return float(description.get("difference", np.inf)) <= MOST_DIFFERENCE


_CONVERSION = Conversion("rerank", ("adapters.inference.cross_encoder_conversion",), _agrees)


def _stock(folder: Path, threads: int, max_tokens: int, reason: str) -> "StockCrossEncoder":
    import torch

    if threads:
        torch.set_num_threads(threads)
    notice = f"The reranker runs unconverted, some four times slower: {reason}."
    try:
        return StockCrossEncoder(stock_cross_encoder(folder), max_tokens, notice)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise ModelUnavailable(f"The model in {folder} cannot be loaded: {error}.", "Name a cross-encoder.") from error


def stock_cross_encoder(folder: Path) -> Any:
    """The model as sentence-transformers loads it, set to raw logits regardless of its configuration (some apply a
    sigmoid). Raises ValueError for a model with more than one output per pair."""
    import torch
    from sentence_transformers import CrossEncoder as Loaded

    model = Loaded(str(folder), device="cpu", local_files_only=True, activation_fn=torch.nn.Identity())
    if model.num_labels != 1:
        raise ValueError(f"it gives {model.num_labels} numbers per pair, and a reranker gives one")
    return model


class OpenVinoCrossEncoder:
    """Runs a converted model. Thread-safe; contains no lock during inference."""

    notice = ""

    def __init__(self, folder: Path, threads: int, max_tokens: int | None = None) -> None:
        import openvino
        from tokenizers import Tokenizer

        description = described(folder)
        self._inputs: list[str] = description["inputs"]
        self._pad_id: int = description["pad_id"]
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(min(max_tokens or description["max_tokens"], description["max_tokens"]))
        config: dict[str, Any] = {
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": description["precision"],
            "CPU_RUNTIME_CACHE_CAPACITY": KERNELS,
        }
        if threads:
            config["INFERENCE_NUM_THREADS"] = threads
        self._compiled = openvino.Core().compile_model(folder / "model.xml", "CPU", config)
        self._idle: deque[Any] = deque()
        # OpenVINO registers its NumPy types at the first inference. Two threads doing that at once deadlock, one of
        # them holding the GIL, and the process hangs; so the first inference runs here, alone.
        self.score("first", ["first"])

    def score(self, question: str, texts: Sequence[str]) -> Logits:
        """One raw logit per text, shape (n,); all texts in one batch."""
        if not texts:
            return np.zeros(0, dtype=np.float32)
        encodings = self._tokenizer.encode_batch([(question, text) for text in texts])
        width = max(len(encoding.ids) for encoding in encodings)
        tensors = padded_inputs(encodings, width, self._inputs, self._pad_id)
        try:
            request = self._idle.pop()
        except IndexError:
            request = self._compiled.create_infer_request()
        try:
            request.infer(tensors)
            return np.array(request.get_output_tensor(0).data, dtype=np.float32).reshape(len(texts))
        except RuntimeError as error:
            raise ModelUnavailable(f"The reranker stopped: {error}.", "Search goes on without it.") from error
        finally:
            self._idle.append(request)


class StockCrossEncoder:
    """Runs a model with sentence-transformers: slower, with more memory, always the reference. For one thread at a
    time."""

    def __init__(self, model: Any, max_tokens: int, notice: str = "") -> None:
        self._model, self.notice = model, notice
        model.max_seq_length = min(int(model.max_seq_length or max_tokens), max_tokens)

    def score(self, question: str, texts: Sequence[str]) -> Logits:
        """One raw logit per text, shape (n,); all texts in one batch."""
        import torch

        if not texts:
            return np.zeros(0, dtype=np.float32)
        pairs = [[question, text] for text in texts]
        try:
            found = self._model.predict(
                pairs, batch_size=len(pairs), activation_fn=torch.nn.Identity(), show_progress_bar=False
            )
        except RuntimeError as error:
            raise ModelUnavailable(f"The reranker stopped: {error}.", "Search goes on without it.") from error
        return np.asarray(found, dtype=np.float32).reshape(len(texts))
