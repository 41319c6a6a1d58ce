"""Loads a TOML table of this package; errors name the file and key."""

import tomllib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

from core.domain.errors import BadTable

__all__ = ["check_keys", "table"]


@lru_cache(maxsize=128)
def table(name: str) -> Mapping[str, Any]:
    """The parsed core/knowledge/{name}.toml. Raises BadTable naming the file when it does not parse."""
    try:
        return tomllib.loads(files("core.knowledge").joinpath(f"{name}.toml").read_text("utf-8"))
    except (tomllib.TOMLDecodeError, FileNotFoundError) as error:
        raise BadTable(f"core/knowledge/{name}.toml: {error}.", "Correct the file.") from error


def check_keys(name: str, row: str, keys: Iterable[str], allowed: Iterable[str]) -> None:
    """Raises BadTable naming file, row and key for a key that is not allowed."""
    for key in keys:
        if key not in set(allowed):
            raise BadTable(f"core/knowledge/{name}.toml: [{row}] has the unknown key '{key}'.", "Remove or correct it.")
