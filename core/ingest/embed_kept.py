"""Converted models on disk: made once per model, library version and precision; a failure is tried again later."""

import json
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from hashlib import sha256
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from core.ingest.embed_convert import LEAST_COSINE

__all__ = ["converted_model", "description", "holds", "tried_with"]

_CONVERSION_SECONDS = 600
_RETRY_SECONDS = 24 * 3600
_CODE = ("embed_convert.py", "embed_int8.py")
_CONVERTERS = ("openvino", "torch", "transformers", "sentence-transformers")
_MADE = "tokens-int8"  # what is converted, and how: one made otherwise has another name
_PROJECT = Path(__file__).parents[2]


def description(place: Path) -> dict[str, Any]:
    """What is known of a conversion. Raises FileNotFoundError."""
    described: dict[str, Any] = json.loads((place / "described.json").read_text("utf-8"))
    return described


def converted_model(folder: Path, cache_folder: Path, digest: str, precision: str) -> Path:
    """The folder of the converted model, or of the description of why there is none; made at first use.

    digest: names the model by its contents. precision: of OpenVINO, "f32" or "bf16".

    A new conversion is written beside and renamed into place, so a reader never sees half of one, and of two
    processes converting at once the second discards its copy.
    """
    place = cache_folder / f"{digest[:16]}-openvino-{metadata.version('openvino')}-{precision}-{_MADE}"
    cache_folder.mkdir(parents=True, exist_ok=True)
    if holds(place):
        return place
    with tempfile.TemporaryDirectory(prefix="converting-", dir=cache_folder) as scratch:
        fresh = Path(scratch) / "model"
        fresh.mkdir()
        _run_conversion(folder, fresh, precision)
        with suppress(FileNotFoundError):
            place.rename(Path(scratch) / "stale")
        try:
            fresh.rename(place)
        except OSError:
            if not (place / "described.json").is_file():
                raise
    return place


def holds(place: Path) -> bool:
    """Whether what was converted there still holds: a success for ever, a failure for a day with the same code."""
    try:
        described = description(place)
    except FileNotFoundError:
        return False
    if "failed" not in described and described.get("least_cosine", 0.0) >= LEAST_COSINE:
        return True
    with tempfile.TemporaryFile(dir=place) as clock:  # the disk's own time: machines may share it
        age_seconds = os.fstat(clock.fileno()).st_mtime - (place / "described.json").stat().st_mtime
    return described.get("tried_with") == tried_with() and age_seconds < _RETRY_SECONDS


def tried_with() -> str:
    """Names the converter's code and libraries."""
    code = sha256(b"".join(Path(__file__).with_name(name).read_bytes() for name in _CODE)).hexdigest()[:16]
    installed = [f"{name} {metadata.version(name)}" for name in _CONVERTERS if find_spec(name.replace("-", "_"))]
    return ", ".join([code, *installed])


def _run_conversion(folder: Path, fresh: Path, precision: str) -> None:
    """Convert in another process; one that fails leaves a description saying so."""
    command = [sys.executable, "-m", "core.ingest.embed_convert", str(folder), str(fresh), precision]
    try:
        subprocess.run(
            command,
            cwd=_PROJECT,
            check=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_CONVERSION_SECONDS,
        )
        described = description(fresh)
    except subprocess.TimeoutExpired:
        described = {"failed": f"it did not end within {_CONVERSION_SECONDS} seconds"}
    except subprocess.CalledProcessError as error:
        lines = error.stderr.decode("utf-8", "replace").strip().splitlines()
        described = {"failed": lines[-1][:500] if lines else f"it ended with code {error.returncode}"}
    (fresh / "described.json").write_text(json.dumps(described | {"tried_with": tried_with()}, indent=1), "utf-8")
