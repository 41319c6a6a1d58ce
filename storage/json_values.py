"""Values of core as JSON that PostgreSQL can hold, written and read by their own types."""

from typing import Any, TypeVar

from storage.rows import storable_text

__all__ = ["read", "written"]

T = TypeVar("T")
_ADAPTERS: dict[Any, Any] = {}


def _adapter(kind: Any) -> Any:
    """Reads and writes values of a type; made at first use, because pydantic is not loaded before."""
    from pydantic import TypeAdapter

    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def written(value: object) -> Any:
    """A value as JSON that PostgreSQL can hold."""
    return _storable(_adapter(type(value)).dump_python(value, mode="json"))


def read(kind: type[T], data: Any) -> T:
    value: T = _adapter(kind).validate_python(data)
    return value


def _storable(data: Any) -> Any:
    if isinstance(data, str):
        return storable_text(data)
    if isinstance(data, dict):
        return {storable_text(key): _storable(value) for key, value in data.items()}
    return [_storable(value) for value in data] if isinstance(data, list) else data
