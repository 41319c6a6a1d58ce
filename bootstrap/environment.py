"""The one place that reads the environment."""

import os
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from core.domain.errors import BadRequest
from core.domain.settings import Settings

__all__ = ["settings_from_environment"]

_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def settings_from_environment() -> Settings:
    """Settings from FIVEFOLD_<NAME> and DATABASE_URL, with defaults for unset ones. Raises BadRequest."""
    values: dict[str, Any] = {"data_folder": Path(__file__).parents[1] / ".data"}
    for field in fields(Settings):
        variable = "DATABASE_URL" if field.name == "database_url" else f"FIVEFOLD_{field.name.upper()}"
        text = os.environ.get(variable, "").strip()
        if text:
            kind = Path if field.default is MISSING else type(field.default)
            values[field.name] = _parsed(variable, text, kind)
    return Settings(**values)


def _parsed(variable: str, text: str, kind: type) -> Any:
    if kind is bool:
        if text.lower() not in _WORDS:
            raise BadRequest(
                f"{variable} must be true or false, not '{text}'.", f"Set {variable}=true or {variable}=false."
            )
        return _WORDS[text.lower()]
    if kind is int:
        if not text.isascii() or not text.isdigit() or int(text) == 0:
            raise BadRequest(f"{variable} must be a whole number above 0, not '{text}'.", f"Correct {variable}.")
        return int(text)
    return Path(text).expanduser() if kind is Path else text
