"""Converts a sentence-transformers model to OpenVINO: `python -m adapters.inference.embedder_conversion MODEL_FOLDER
OUT PRECISION`.

Runs in a separate process, so that the serving process never imports torch (5 s, 500 MB). The whole model is traced,
pooling and normalisation included, so the converted graph maps tokens directly to unit vectors; it also returns the
vector of each token. The result is kept only when it agrees with the original: `described.json` holds the lowest cosine
over the probe texts. An int8 version is tried too, and used when it also agrees and is faster on this machine: large
matrix products of 8-bit integers, which many processors compute faster than any other.

    weight ≈ scale · int8 per group of 64 inputs; the processor quantizes activations likewise, per token

Groups of 64 limit the rounding error: an outlier affects 64 numbers, not a whole row. The value projections of
attention are not quantized: they are a twelfth of the work, and cause more than half of the error.
"""

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np

__all__ = ["GROUP", "LEAST_COSINE", "convert", "quantize_to_int8"]

LEAST_COSINE = 0.999  # of the converted vectors with the original ones. Chosen by hand.
_LEAST_FASTER = 1.1  # a smaller gain is not worth the rounding
_ROUNDS = 9  # measurements per model. Chosen by hand.
MOST_TOKENS = 512  # positions of BERT models
_SENTENCE = "Employers must keep form I-9 for three years after the date of hire, or one year after employment ends. "
PROBES = (
    "overtime",
    "W-2",
    "What is the latest business mileage rate?",
    "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich – 中文 текст",
    _SENTENCE,
    "Department: Police; Base Salary: 78,123.00; Overtime Pay: 141,998.22; Grade: F3 " * 3,
    _SENTENCE * 4,
    _SENTENCE * 12,
)
"""Short, long, cut off, other alphabets and table rows: what the product embeds."""


# One step after the other; the model inside is what is traced.
def convert(model_folder: Path, out_folder: Path, precision: str) -> dict[str, Any]:
    """Write the model, tokenizer.json and described.json to an existing folder; returns the description.

    precision: OpenVINO's inference precision to check against, "f32" or "bf16".
    """
    import openvino
    import torch
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(model_folder), device="cpu", local_files_only=True).eval().requires_grad_(False)
    tokenizer = model.tokenizer.backend_tokenizer
    example = dict(model.preprocess(["a short text", _SENTENCE]))
    inputs = [name for name in ("input_ids", "attention_mask", "token_type_ids") if name in example]

    class TokensToVectors(torch.nn.Module):  # type: ignore[misc,unused-ignore]
        """The whole pipeline as one function of plain tensors, which is what can be traced."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            features: Any = self.model(dict(zip(inputs, tensors, strict=True)))
            normalized = torch.nn.functional.normalize(features["sentence_embedding"], dim=-1)
            return normalized, features["token_embeddings"]

    with torch.no_grad():
        traced = openvino.convert_model(TokensToVectors(), example_input=tuple(example[name] for name in inputs))
    for port, name in zip(traced.inputs, inputs, strict=True):
        port.get_tensor().set_names({name})
    openvino.save_model(traced, out_folder / "model.xml", compress_to_fp16=False)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.save(str(out_folder / "tokenizer.json"))
    description = _of_model(model, inputs) | {"file": "model.xml", "group": 0}
    _describe(out_folder, description)
    converted = _served(out_folder, precision)
    original = model.encode(list(PROBES), batch_size=1, normalize_embeddings=True, show_progress_bar=False)
    description["least_cosine"] = _agreement(original, converted)
    description |= _in_int8(original, traced, out_folder, description, converted, precision)
    _describe(out_folder, description)
    for file in out_folder.glob("model*"):
        if file.stem != Path(description["file"]).stem:
            file.unlink()
    return description


def _in_int8(
    original: Any, traced: Any, out_folder: Path, description: dict[str, Any], plain: Any, precision: str
) -> dict[str, Any]:
    """Changes to the description where int8 agrees with the original and is faster than `plain`; empty otherwise.

    original: see _agreement. precision: of what stays in floating point."""
    import openvino

    if not quantize_to_int8(traced):
        return {}
    changes: dict[str, Any] = {"file": "model-int8.xml", "group": GROUP}
    openvino.save_model(traced, out_folder / changes["file"], compress_to_fp16=False)
    _describe(out_folder, description | changes)
    rounded = _served(out_folder, precision)
    cosine, faster = _agreement(original, rounded), _faster(rounded, plain)
    agrees = cosine >= LEAST_COSINE and faster >= _LEAST_FASTER
    return changes | {"least_cosine": cosine, "faster": round(faster, 2)} if agrees else {}


def _faster(one: Any, other: Any) -> float:
    """By how much one embedder is faster than the other on some passages: the median ratio of processor time, which
    other programs disturb less than time on the clock."""
    passages = [_SENTENCE * (3 + number) for number in range(8)]

    def seconds(embedder: Any) -> float:
        started = process_time()
        embedder.embed(passages)
        return process_time() - started

    seconds(one), seconds(other)  # the first calls compile
    return median([seconds(other) / seconds(one) for _ in range(_ROUNDS)])


def _of_model(model: Any, inputs: Sequence[str]) -> dict[str, Any]:
    return {
        "inputs": inputs,
        "dimensions": int(model.get_embedding_dimension() or 0),
        "max_tokens": min(int(model.max_seq_length or MOST_TOKENS), MOST_TOKENS),
        "pad_id": int(model.tokenizer.pad_token_id or 0),
    }


def _describe(folder: Path, description: dict[str, Any]) -> None:
    (folder / "described.json").write_text(json.dumps(description, indent=1), "utf-8")


def _served(folder: Path, precision: str) -> Any:
    from adapters.inference.embedder import OpenVinoEmbedder

    return OpenVinoEmbedder(folder, "converted", threads=0, precision=precision)


def _agreement(original: Any, converted: Any) -> float:
    """The lowest cosine between the original's and the converted model's vectors over the probes, alone and batched.

    original: shape (len(PROBES), dim), of the probes alone, which padding does not change."""
    together = (converted.embed(PROBES) * original).sum(axis=1).min()
    alone = min(float(converted.embed([text])[0] @ vector) for text, vector in zip(PROBES, original, strict=True))
    return min(float(together), alone)


GROUP = 64
"""Inputs that share a scale; `DYNAMIC_QUANTIZATION_GROUP_SIZE` of OpenVINO."""
_MOST = 127  # largest int8; -128 is left out, so that the range is symmetric
_VALUES = re.compile(r"(?:^|[._/])(?:value|v|v_proj|v_lin)(?:[._/]|$)")
"""How transformers name the value projections of attention."""


def quantize_to_int8(model: Any) -> int:
    """Quantize an OpenVINO model in place; returns the number of quantized products."""
    changed = 0
    for node in model.get_ordered_ops():
        if node.get_type_name() != "MatMul" or _VALUES.search(node.get_friendly_name()):
            continue
        weights = node.input_value(1).get_node()
        if weights.get_type_name() != "Constant" or len(weights.get_output_shape(0)) != 2:
            continue
        matrix = np.array(weights.data, dtype=np.float32)
        rows = matrix if node.get_attributes()["transpose_b"] else matrix.T
        if rows.shape[1] % GROUP == 0:
            _replace(node, rows)
            changed += 1
    return changed


def _replace(node: Any, rows: Any) -> None:
    """Replace the product of a node's first input with `rows`, shape (outputs, inputs), by a quantized one."""
    from openvino import opset13

    grouped = rows.reshape(len(rows), -1, GROUP)
    scales = np.maximum(np.abs(grouped).max(axis=-1, keepdims=True) / _MOST, np.finfo(np.float32).tiny)
    codes = opset13.convert(opset13.constant(np.round(grouped / scales).astype(np.int8)), "f32")
    scaled = opset13.multiply(codes, opset13.constant(scales.astype(np.float32)))
    weights = opset13.reshape(scaled, opset13.constant(np.array(rows.shape, dtype=np.int64)), special_zero=False)
    product = opset13.matmul(node.input_value(0), weights, transpose_a=False, transpose_b=True)
    product.set_friendly_name(node.get_friendly_name())
    for target in node.output(0).get_target_inputs():
        target.replace_source_output(product.output(0))


if __name__ == "__main__":
    convert(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
