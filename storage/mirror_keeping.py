"""A mirror's file: written from the database or from what is held, and read again."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import StoreFailed
from core.ports import Vectors
from storage.mirror_columns import LISTED, SINGLE, Columns, Words, merged
from storage.mirror_files import ArrayWriter, DamagedFile, open_arrays, writing_arrays
from storage.mirror_held import Held, Part, in_memory
from storage.mirror_vectors import Coded, bits_of, codes_of

__all__ = ["even", "library_file", "read_library", "write_anew", "write_library"]

_FORMAT = 1
_BLOCK = 8192  # vectors written at a time


def library_file(folder: Path) -> Path:
    """Where a tenant's copy stands."""
    return folder / "library.mirror"


def read_library(folder: Path, tenant: str, model: str) -> Held:
    """What the file holds, as of when it was written. Raises DamagedFile, also for another's file, and OSError."""
    file = open_arrays(library_file(folder))
    about = file.about
    if {name: about.get(name) for name in ("format", "tenant", "model", "fields")} != _meant_for(tenant, model):
        raise DamagedFile
    try:
        coded = Coded(**{name: file.arrays[name] for name in ("vectors", "codes", "scales", "bits", "mean")})
        base = Part(Columns.from_arrays(file.arrays), coded, np.ones(len(file.arrays["ids"]), dtype=np.bool_))
        versions = {int(document): bytes.fromhex(version) for document, version in about["versions"].items()}
        words = Words(about["words"])
    except (KeyError, ValueError) as error:
        raise DamagedFile from error
    nothing = np.zeros((0, coded.vectors.shape[1]), dtype=np.float32)
    return Held((base, in_memory(Columns.none(), nothing, coded.mean)), words, versions, file)


def _meant_for(tenant: str, model: str) -> dict[str, Any]:
    return {"format": _FORMAT, "tenant": tenant, "model": model, "fields": [*SINGLE, *LISTED]}


def write_anew(
    folder: Path,
    tenant: str,
    model: str,
    words: Words,
    versions: Mapping[int, bytes],
    blocks: Iterable[tuple[Columns, Vectors]],
) -> None:
    """Write the passages of the blocks, ids ascending over all. Raises OSError, StoreFailed."""
    columns = [Columns.none()]

    def vectors() -> Iterator[Vectors]:
        for block, rows in blocks:
            columns.append(block)
            yield rows

    with writing_arrays(library_file(folder)) as file:
        stored = file.add("vectors", even(vectors()))
        together, _ = merged(columns, [np.ones(len(each), dtype=np.bool_) for each in columns])
        _finish(file, stored, together, _meant_for(tenant, model) | _said(words, versions))


def write_library(folder: Path, tenant: str, model: str, held: Held, going_on: Callable[[], None]) -> None:
    """Write what is held. going_on: called between blocks, it raises what is to end the writing. Raises OSError."""
    columns, places = merged([part.columns for part in held.parts], [part.live for part in held.parts])
    with writing_arrays(library_file(folder)) as file:
        stored = file.add("vectors", even(_gathered(held.parts, places, going_on)))
        _finish(file, stored, columns, _meant_for(tenant, model) | _said(held.words, held.versions))


def _said(words: Words, versions: Mapping[int, bytes]) -> dict[str, Any]:
    return {"words": words.all(), "versions": {str(document): version.hex() for document, version in versions.items()}}


def _gathered(parts: Sequence[Part], places: NDArray[np.int64], going_on: Callable[[], None]) -> Iterator[Vectors]:
    """The vectors at these places among all rows of all parts."""
    starts = np.cumsum([0, *(len(part.columns) for part in parts)])
    width = max(part.coded.vectors.shape[1] for part in parts)
    for first in range(0, len(places), _BLOCK):
        chosen = places[first : first + _BLOCK]
        block = np.zeros((len(chosen), width), dtype=np.float32)
        for start, part in zip(starts, parts, strict=False):
            theirs = (chosen >= start) & (chosen < start + len(part.columns))
            if part.coded.vectors.shape[1]:
                block[theirs] = part.coded.vectors[chosen[theirs] - start]
        going_on()
        yield block


def even(blocks: Iterable[Vectors]) -> Iterator[Vectors]:
    """The blocks, at least one, all of one width: blocks of passages without a vector have none of their own.

    Raises StoreFailed when vectors have different lengths.
    """
    waiting, width = 0, 0
    for block in blocks:
        if not block.shape[1]:
            if width:
                yield np.zeros((len(block), width), dtype=np.float32)
            else:
                waiting += len(block)
            continue
        if width not in (0, block.shape[1]):
            raise StoreFailed("Vectors of one model have different lengths.", "Have the documents read again.")
        if not width:
            width = block.shape[1]
            yield np.zeros((waiting, width), dtype=np.float32)
        yield block
    if not width:
        yield np.zeros((waiting, 0), dtype=np.float32)


def _finish(file: ArrayWriter, vectors: Vectors, columns: Columns, about: dict[str, Any]) -> None:
    """Everything but the vectors, which are read again block by block."""
    slices = [slice(start, start + _BLOCK) for start in range(0, max(len(vectors), 1), _BLOCK)]
    total = np.zeros(vectors.shape[1])
    scales: list[NDArray[np.float32]] = []

    def codes() -> Iterator[NDArray[np.int8]]:
        for rows in slices:
            block, scale = codes_of(vectors[rows])
            scales.append(scale)
            np.add(total, vectors[rows].sum(axis=0, dtype=np.float64), out=total)
            yield block

    file.add("codes", codes())
    file.add("scales", [np.concatenate(scales)])
    mean = (total / max(len(vectors), 1)).astype(np.float32)
    file.add("mean", [mean])
    file.add("bits", (bits_of(vectors[rows], mean) for rows in slices))
    for name, array in columns.arrays().items():
        file.add(name, [array])
    file.finish(about)
