"""Vectors quantized to int8: a quarter of the size, cosines within 0.005."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["RoughCosines", "cosines", "lengths", "packed", "rough_cosines", "unpacked"]


def packed(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """Quantize vectors, shape (n, dim), each scaled by its largest component; length is lost, direction is preserved.

    >>> packed(np.array([[0.1, -0.2], [0.0, 0.0]], dtype=np.float32)).tolist()
    [[64, -127], [0, 0]]
    """
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
    codes: NDArray[np.int8] = np.round(vectors / np.where(largest == 0, 1, largest) * 127).astype(np.int8)
    return codes


def unpacked(codes: NDArray[np.int8]) -> NDArray[np.float32]:
    """Dequantized unit vectors, shape (n, dim); zero vectors stay zero."""
    units = codes.astype(np.float32)
    units /= lengths(codes)[:, None]  # in place: each copy of a library's vectors costs as much again
    return units


def lengths(codes: NDArray[np.int8]) -> NDArray[np.float32]:
    """Length of each packed vector, shape (n,); 1 for zero vectors."""
    found = np.empty(len(codes), dtype=np.float32)
    for start in range(0, len(codes), _BLOCK):
        block = codes[start : start + _BLOCK].astype(np.float32)
        found[start : start + _BLOCK] = np.sqrt(np.einsum("ij,ij->i", block, block))
    found[found == 0] = 1
    return found


_BLOCK = 8192  # vectors, some 12 MB as float32


RoughCosines = Callable[[NDArray[np.int8], NDArray[np.float32], NDArray[np.float32]], NDArray[np.float32]]
"""A function like `rough_cosines`."""


def rough_cosines(
    codes: NDArray[np.int8], scales: NDArray[np.float32], vector: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Cosine of each packed vector with a unit vector, shape (dim,), within 0.001: shape (n,). scales: 1 / lengths.
    storage.vectors.cache.quantized_vectors computes the same faster."""
    found: NDArray[np.float32] = (codes @ vector) * scales
    return found


def cosines(codes: NDArray[np.int8], vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Cosines, in [-1, 1], of packed vectors with unit vectors: shape (n, m); 0 for zero vectors."""
    found: NDArray[np.float32] = unpacked(codes) @ vectors.T
    return np.clip(found, -1.0, 1.0, out=found)
