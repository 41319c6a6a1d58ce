"""Local model files: weights from a folder or the hub, and converted models, cached per library version and
precision."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from core.domain.errors import ModelUnavailable

__all__ = [
    "KERNELS",
    "Conversion",
    "cached_conversion",
    "conversion_holds",
    "described",
    "inference_precision",
    "weights_digest",
    "weights_folder",
]

KERNELS = 100
"""Compiled for shapes of input and kept; with OpenVINO's 5,000 memory grows for hours. Chosen by hand."""

_CONVERSION_SECONDS = 600  # time limit of a conversion. Chosen by hand.
_RETRY_SECONDS = 24 * 3600  # until a failed conversion is tried again. Chosen by hand, not fitted.
_CONVERTERS = ("openvino", "torch", "transformers", "sentence-transformers")
_PROJECT = Path(__file__).parents[2]
_HUB_SECONDS = 5.0  # per question to the model hub. Chosen by hand.
_WEIGHTS = ("*.json", "*.txt", "*.model", "*.safetensors")


@dataclass(frozen=True, slots=True)
class Conversion:
    """A kind of model conversion. made: name of the result. code: the modules it depends on; the first is run as
    `python -m MODULE FOLDER OUT PRECISION` and writes a described.json. agrees: whether that description is close
    enough to the original."""

    made: str
    code: Sequence[str]
    agrees: Callable[[Mapping[str, Any]], bool]

    @property
    def tried_with(self) -> str:
        """Fingerprint of code and library versions."""
        sources = b"".join(_PROJECT.joinpath(*each.split(".")).with_suffix(".py").read_bytes() for each in self.code)
        installed = [f"{name} {metadata.version(name)}" for name in _CONVERTERS if find_spec(name.replace("-", "_"))]
        return ", ".join([sha256(sources).hexdigest()[:16], *installed])


def weights_folder(model: str, hint: str) -> Path:
    """The folder of a model's weights: a local folder, the local hub cache, or a download.

    model: a folder, or a name on the hub. hint: what to do when the weights cannot be loaded. An unreachable hub times
    out after a few seconds. Raises ModelUnavailable."""
    if Path(model).expanduser().is_dir():
        return Path(model).expanduser().resolve()
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    patterns = list(_WEIGHTS)
    try:
        return Path(snapshot_download(model, allow_patterns=patterns, local_files_only=True))
    except HFValidationError as error:
        raise ModelUnavailable(f"'{model}' is neither a folder nor a model name.", hint) from error
    except LocalEntryNotFoundError:
        pass
    try:
        return Path(snapshot_download(model, allow_patterns=patterns, etag_timeout=_HUB_SECONDS))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise ModelUnavailable(f"The model '{model}' is not on this machine and cannot be downloaded.", hint) from error


def weights_digest(folder: Path) -> str:
    """Hex SHA-256 over names and bytes of all files that affect the model's output."""
    digest = sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".json", ".txt", ".model", ".safetensors", ".bin"} and path.is_file():
            digest.update(path.relative_to(folder).as_posix().encode())
            with path.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
    return digest.hexdigest()


def inference_precision() -> str:
    """bf16 where the processor supports it, else f32."""
    import openvino

    return "bf16" if "BF16" in openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES") else "f32"


def described(folder: Path) -> dict[str, Any]:
    """The description of a conversion; the key "failed" holds the error. Raises FileNotFoundError."""
    description: dict[str, Any] = json.loads((folder / "described.json").read_text("utf-8"))
    return description


def cached_conversion(folder: Path, cache_folder: Path, digest: str, conversion: Conversion) -> Path:
    """The folder of the converted model, or of the description of its failure; converted at first use.

    digest: content hash of the model.

    A conversion is written to a temporary folder and renamed into place, so a reader never sees a partial one. One
    process converts; others that start meanwhile wait for it, because a conversion keeps all cores busy.
    """
    from filelock import FileLock

    precision = inference_precision()
    name = f"{digest[:16]}-{conversion.made}-openvino-{metadata.version('openvino')}-{precision}"
    cached = cache_folder / name
    cache_folder.mkdir(parents=True, exist_ok=True)
    if conversion_holds(cached, conversion):
        return cached
    with FileLock(cache_folder / "conversion.lock"):
        if not conversion_holds(cached, conversion):
            with tempfile.TemporaryDirectory(prefix="converting-", dir=cache_folder) as scratch:
                fresh = Path(scratch) / "model"
                fresh.mkdir()
                _convert(folder, fresh, precision, conversion)
                with suppress(FileNotFoundError):
                    cached.rename(Path(scratch) / "stale")
                fresh.rename(cached)
    return cached


def conversion_holds(folder: Path, conversion: Conversion) -> bool:
    """Whether a cached conversion is valid: a success always, a failure for a day with the same code."""
    try:
        description = described(folder)
    except (FileNotFoundError, ValueError):
        return False
    if "failed" not in description and conversion.agrees(description):
        return True
    with tempfile.TemporaryFile(dir=folder) as clock:  # the file system's time, because machines may share the folder
        age_seconds = os.fstat(clock.fileno()).st_mtime - (folder / "described.json").stat().st_mtime
    return description.get("tried_with") == conversion.tried_with and age_seconds < _RETRY_SECONDS


def _convert(folder: Path, fresh: Path, precision: str, conversion: Conversion) -> None:
    """Convert in a separate process; on failure write a description with the error."""
    try:
        subprocess.run(
            [sys.executable, "-m", conversion.code[0], str(folder), str(fresh), precision],
            cwd=_PROJECT,
            check=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_CONVERSION_SECONDS,
        )
        description = described(fresh)
    except subprocess.TimeoutExpired:
        description = {"failed": f"it did not end within {_CONVERSION_SECONDS} seconds"}
    except subprocess.CalledProcessError as error:
        lines = error.stderr.decode("utf-8", "replace").strip().splitlines()
        description = {"failed": lines[-1][:500] if lines else f"it ended with code {error.returncode}"}
    (fresh / "described.json").write_text(
        json.dumps(description | {"tried_with": conversion.tried_with}, indent=1), "utf-8"
    )
