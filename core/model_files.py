"""Models on this machine: where their weights lie, and what was converted of them, once per library and precision."""

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

from core.errors import ModelUnavailable

__all__ = [
    "Conversion",
    "conversion_holds",
    "described",
    "inference_precision",
    "kept_conversion",
    "weights_digest",
    "weights_folder",
]

_CONVERSION_SECONDS = 600
_RETRY_SECONDS = 24 * 3600
_CONVERTERS = ("openvino", "torch", "transformers", "sentence-transformers")
_PROJECT = Path(__file__).parents[1]
_HUB_SECONDS = 5.0
_WEIGHTS = ("*.json", "*.txt", "*.model", "*.safetensors")


@dataclass(frozen=True, slots=True)
class Conversion:
    """A way to convert models. made: names what comes of it. code: the modules that decide that; the first is run as
    `python -m MODULE FOLDER OUT PRECISION` and leaves a described.json. agrees: whether what that says is as good as
    the original."""

    made: str
    code: Sequence[str]
    agrees: Callable[[Mapping[str, Any]], bool]

    @property
    def tried_with(self) -> str:
        """Names the code and the libraries."""
        sources = b"".join(_PROJECT.joinpath(*each.split(".")).with_suffix(".py").read_bytes() for each in self.code)
        installed = [f"{name} {metadata.version(name)}" for name in _CONVERTERS if find_spec(name.replace("-", "_"))]
        return ", ".join([sha256(sources).hexdigest()[:16], *installed])


def weights_folder(model: str, hint: str) -> Path:
    """Where a model's weights lie: the folder itself, the hub's copy on this machine, or one fetched now.

    model: a folder, or a name on the hub. hint: what to do when they cannot be had. A hub out of reach is given up
    after a few seconds. Raises ModelUnavailable.
    """
    if Path(model).expanduser().is_dir():
        return Path(model).expanduser().resolve()
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    wanted = list(_WEIGHTS)
    try:
        return Path(snapshot_download(model, allow_patterns=wanted, local_files_only=True))
    except HFValidationError as error:
        raise ModelUnavailable(f"'{model}' is neither a folder nor a model name.", hint) from error
    except LocalEntryNotFoundError:
        pass
    try:
        return Path(snapshot_download(model, allow_patterns=wanted, etag_timeout=_HUB_SECONDS))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise ModelUnavailable(f"The model '{model}' is not on this machine and cannot be downloaded.", hint) from error


def weights_digest(folder: Path) -> str:
    """Hex SHA-256 over names and bytes of what decides what a model says."""
    digest = sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".json", ".txt", ".model", ".safetensors", ".bin"} and path.is_file():
            digest.update(path.relative_to(folder).as_posix().encode())
            with path.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
    return digest.hexdigest()


def inference_precision() -> str:
    """bf16 where the processor computes in it, else f32."""
    import openvino

    return "bf16" if "BF16" in openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES") else "f32"


def described(place: Path) -> dict[str, Any]:
    """What is known of a conversion; the key "failed" says why there is none. Raises FileNotFoundError."""
    told: dict[str, Any] = json.loads((place / "described.json").read_text("utf-8"))
    return told


def kept_conversion(folder: Path, cache_folder: Path, digest: str, conversion: Conversion) -> Path:
    """The folder of the converted model, or of the description of why there is none; made at first use.

    digest: names the model by its contents.

    A new conversion is written beside and renamed into place, so a reader never sees half of one, and of two
    processes converting at once the second discards its copy.
    """
    precision = inference_precision()
    name = f"{digest[:16]}-{conversion.made}-openvino-{metadata.version('openvino')}-{precision}"
    place = cache_folder / name
    cache_folder.mkdir(parents=True, exist_ok=True)
    if conversion_holds(place, conversion):
        return place
    with tempfile.TemporaryDirectory(prefix="converting-", dir=cache_folder) as scratch:
        fresh = Path(scratch) / "model"
        fresh.mkdir()
        _convert(folder, fresh, precision, conversion)
        with suppress(FileNotFoundError):
            place.rename(Path(scratch) / "stale")
        try:
            fresh.rename(place)
        except OSError:
            if not (place / "described.json").is_file():
                raise
    return place


def conversion_holds(place: Path, conversion: Conversion) -> bool:
    """Whether what was converted there still holds: a success for ever, a failure for a day with the same code."""
    try:
        told = described(place)
    except FileNotFoundError:
        return False
    if "failed" not in told and conversion.agrees(told):
        return True
    with tempfile.TemporaryFile(dir=place) as clock:  # the disk's own time: machines may share it
        age_seconds = os.fstat(clock.fileno()).st_mtime - (place / "described.json").stat().st_mtime
    return told.get("tried_with") == conversion.tried_with and age_seconds < _RETRY_SECONDS


def _convert(folder: Path, fresh: Path, precision: str, conversion: Conversion) -> None:
    """Convert in another process; one that fails leaves a description saying so."""
    try:
        subprocess.run(
            [sys.executable, "-m", conversion.code[0], str(folder), str(fresh), precision],
            cwd=_PROJECT,
            check=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_CONVERSION_SECONDS,
        )
        told = described(fresh)
    except subprocess.TimeoutExpired:
        told = {"failed": f"it did not end within {_CONVERSION_SECONDS} seconds"}
    except subprocess.CalledProcessError as error:
        lines = error.stderr.decode("utf-8", "replace").strip().splitlines()
        told = {"failed": lines[-1][:500] if lines else f"it ended with code {error.returncode}"}
    (fresh / "described.json").write_text(json.dumps(told | {"tried_with": conversion.tried_with}, indent=1), "utf-8")
