"""Quantizes the large matrix products of a converted model to 8-bit integers, which many processors compute faster.

    weight ≈ scale · int8 per group of 64 inputs; the processor quantizes activations likewise, per token

Groups of 64 limit the rounding error: an outlier affects 64 numbers, not a whole row. The value projections of
attention are not quantized: they are a twelfth of the work, and cause more than half of the error."""

import re
from typing import Any

import numpy as np

__all__ = ["GROUP", "in_int8"]

GROUP = 64
"""Inputs that share a scale; `DYNAMIC_QUANTIZATION_GROUP_SIZE` of OpenVINO."""
_MOST = 127
_VALUES = re.compile(r"(?:^|[._/])(?:value|v|v_proj|v_lin)(?:[._/]|$)")
"""How transformers name the value projections of attention."""


def in_int8(model: Any) -> int:
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
