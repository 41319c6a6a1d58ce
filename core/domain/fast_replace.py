"""A faster dataclasses.replace, for code that copies hundreds of values per search."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar

__all__ = ["changed"]

T = TypeVar("T")


def changed(value: T, **values: Any) -> T:
    """dataclasses.replace in a third of the time, for classes whose fields are all positional arguments, in order.

    >>> from core.domain.documents import Span
    >>> changed(Span(1, 2), end=5)
    Span(start=1, end=5)
    """
    kind: Any = type(value)
    read, places = _told(kind)
    held = list(read(value))
    for name, new in values.items():
        held[places[name]] = new
    copy: T = kind(*held)
    return copy


@cache
def _told(kind: Any) -> tuple[Callable[[Any], tuple[Any, ...]], Mapping[str, int]]:
    names = [field.name for field in fields(kind)]
    return attrgetter(*names), {name: place for place, name in enumerate(names)}
