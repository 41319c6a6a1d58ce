"""The reranker that comes with Fivefold: low-rank changes to the weights of the default embedding model.

`evaluate fit-reranker` learns the changes (Hu et al. 2021, LoRA) and a head; both are one small file beside this
module. Added to the embedding model, whose weights are on every machine, they make a BERT classifier with one output,
which loads like any other cross-encoder.
"""

import json
import shutil
import tempfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from adapters.inference.embedder import model_folder
from adapters.inference.model_cache import weights_digest
from core.domain.embedding_models import DEFAULT_MODEL
from core.domain.errors import ModelUnavailable

__all__ = ["CHANGES", "DOWN", "HEAD", "REPLACED", "UP", "included_reranker_folder", "merged"]

CHANGES = Path(__file__).with_name("included_reranker.safetensors")
DOWN, UP = ".down", ".up"
"""Endings of the two matrices, shapes (rank, in) and (out, rank), whose product up · down is added to a weight."""
HEAD = {"head.dense": "bert.pooler.dense", "head.out": "classifier"}
"""Name of a layer of the head → its name in a BERT classifier."""
REPLACED = "replaced."
"""Beginning of the names of weights that are replaced whole."""

_ENDING = "-included-reranker"  # of the folder's name

Weights = Mapping[str, NDArray[np.float32]]


def included_reranker_folder(cache_folder: Path) -> Path:
    """The model's folder, made at first use: config, tokenizer, weights. Safe to call from several processes at once.
    Raises ModelUnavailable when the embedding model or the changes are missing or damaged."""
    from safetensors import SafetensorError

    base = model_folder(DEFAULT_MODEL)
    try:
        digest = sha256(weights_digest(base).encode() + CHANGES.read_bytes()).hexdigest()
        folder = cache_folder / f"{digest[:16]}{_ENDING}"
        if not folder.is_dir():
            _make(base, folder)
            _remove_former(cache_folder, folder)
    except (OSError, KeyError, ValueError, SafetensorError) as error:
        words = f"The included reranker cannot be made of the embedding model in {base}: {error}."
        raise ModelUnavailable(words, "Search goes on without it. Install Fivefold and its packages again.") from error
    return folder


def _remove_former(cache_folder: Path, folder: Path) -> None:
    """Remove what an earlier version of the changes made, some 150 MB with its conversion."""
    for former in cache_folder.glob(f"*{_ENDING}"):
        if former != folder:
            conversions = list(cache_folder.glob(f"{weights_digest(former)[:16]}-*"))
            for each in (*conversions, former):
                shutil.rmtree(each, ignore_errors=True)


def _make(base: Path, folder: Path) -> None:
    """Write the model to a temporary folder and rename it into place."""
    from safetensors.numpy import load_file, save_file

    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="merging-", dir=folder.parent) as scratch:
        fresh = Path(scratch) / "model"
        fresh.mkdir()
        for path in base.iterdir():
            if path.is_file() and path.name.startswith(("tokenizer", "vocab", "special_tokens")):
                shutil.copyfile(path, fresh / path.name)
        config = json.loads((base / "config.json").read_text("utf-8"))
        config |= {"architectures": ["BertForSequenceClassification"], "id2label": {"0": "LABEL_0"}}
        (fresh / "config.json").write_text(json.dumps(config | {"label2id": {"LABEL_0": 0}}), "utf-8")
        weights = merged(load_file(base / "model.safetensors"), load_file(CHANGES))
        save_file(dict(weights), fresh / "model.safetensors", metadata={"format": "pt"})
        try:
            fresh.rename(folder)
        except OSError:  # another process was first
            if not folder.is_dir():
                raise


def merged(base: Weights, changes: Mapping[str, NDArray[np.float16]]) -> Weights:
    """The weights of the classifier, float32: each weight of the base plus up · down where there is such a change.

    Raises KeyError for a change to a weight that the base lacks, ValueError where shapes differ.

    >>> base = {"layer.weight": np.eye(2, dtype=np.float32)}
    >>> half = {"layer.down": np.ones((1, 2), np.float16), "layer.up": np.ones((2, 1), np.float16)}
    >>> merged(base, half)["bert.layer.weight"].tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    """
    found = {f"bert.{name}": np.asarray(value, np.float32) for name, value in base.items()}
    for name, value in changes.items():
        wide = value.astype(np.float32)
        if name.endswith(DOWN):
            layer = name.removesuffix(DOWN)
            key = f"bert.{layer}.weight"
            found[key] = found[key] + changes[f"{layer}{UP}"].astype(np.float32) @ wide
        elif name.startswith(REPLACED):
            key = f"bert.{name.removeprefix(REPLACED)}"
            found[key] = wide.reshape(found[key].shape)
        elif not name.endswith(UP):
            layer, _, kind = name.rpartition(".")
            found[f"{HEAD[layer]}.{kind}"] = wide
    return found
