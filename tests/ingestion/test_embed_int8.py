"""A model in int8: which products change, how near they stay, and when the conversion does without it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adapters.inference import embedder_conversion
from adapters.inference.embedder_conversion import GROUP, quantize_to_int8

RNG = np.random.default_rng(7)
WEIGHTS = RNG.normal(size=(32, 2 * GROUP)).astype(np.float32)


def model_of(name: str, weights: Any = WEIGHTS, *, transposed: bool = True) -> Any:
    """A model that is one product with constant weights."""
    import openvino
    from openvino import opset13

    rows = opset13.parameter([-1, weights.shape[1]], np.float32)
    product = opset13.matmul(rows, opset13.constant(weights if transposed else weights.T.copy()), False, transposed)
    product.set_friendly_name(name)
    return openvino.Model([product], [rows])


def answer(model: Any, rows: Any) -> Any:
    """What the model gives."""
    import openvino

    compiled = openvino.Core().compile_model(model, "CPU", {"DYNAMIC_QUANTIZATION_GROUP_SIZE": GROUP})
    return compiled(rows)[0]


@pytest.mark.parametrize("transposed", [True, False])
def test_a_product_in_int8_stays_near_the_original(transposed: bool) -> None:
    model = model_of("layer.0.output.dense/MatMul", transposed=transposed)
    rows = RNG.normal(size=(8, 2 * GROUP)).astype(np.float32)
    assert quantize_to_int8(model) == 1
    found, exact = answer(model, rows), rows @ WEIGHTS.T
    cosines = (found * exact).sum(1) / np.linalg.norm(found, axis=1) / np.linalg.norm(exact, axis=1)
    assert cosines.min() > 0.999
    assert np.abs(found - exact).max() > 0  # it did change


@pytest.mark.parametrize(
    "name", ["layer.0.attention.self.value/MatMul", "block.1.v_proj.MatMul", "layer.2.attn.v/MatMul"]
)
def test_value_projections_stay_as_they_are(name: str) -> None:
    assert quantize_to_int8(model_of(name)) == 0


def test_rows_that_do_not_fall_into_groups_stay_as_they_are() -> None:
    assert quantize_to_int8(model_of("dense", WEIGHTS[:, : GROUP + 1])) == 0


@pytest.mark.parametrize(
    ("cosine", "faster", "taken"), [(0.9995, 1.4, True), (0.9985, 1.4, False), (0.9995, 1.05, False)]
)
def test_int8_is_taken_only_where_it_agrees_and_is_faster(
    cosine: float, faster: float, taken: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedder_conversion, "_served", lambda folder, precision: None)
    monkeypatch.setattr(embedder_conversion, "_agreement", lambda model, converted: cosine)
    monkeypatch.setattr(embedder_conversion, "_faster", lambda one, other: faster)
    statement = embedder_conversion._in_int8(None, model_of("dense"), tmp_path, {}, None, "bf16")
    assert (statement.get("file") == "model-int8.xml") is taken and bool(statement) is taken
