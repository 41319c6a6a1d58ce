"""Reads a table of this package, or says which file and key is wrong."""

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from core.errors import BadTable

__all__ = ["check_keys", "table"]


@cache
def table(name: str) -> Mapping[str, Any]:
    """The parsed core/tables/{name}.toml. Raises BadTable naming the file when it does not parse."""
    try:
        return tomllib.loads(files("core.tables").joinpath(f"{name}.toml").read_text("utf-8"))
    except (tomllib.TOMLDecodeError, FileNotFoundError) as error:
        raise BadTable(f"core/tables/{name}.toml: {error}.", "Correct the file.") from error


def check_keys(name: str, row: str, keys: Iterable[str], allowed: Iterable[str]) -> None:
    """Raises BadTable naming file, row and key for a key that is not allowed."""
    for key in keys:
        if key not in set(allowed):
            raise BadTable(f"core/tables/{name}.toml: [{row}] has the unknown key '{key}'.", "Remove or correct it.")
