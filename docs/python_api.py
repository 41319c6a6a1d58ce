"""Writes docs/python-api.md from the docstrings of the package `fivefold` and of what it returns.

`python -m docs.python_api` writes the file; a test compares it.
"""

import inspect
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import fivefold
from core.answers.cite_check.service import CheckedClaim
from core.domain.coverage import Board, Cell, Gap
from core.domain.dataset_queries import Rows, TableAnswer
from core.domain.documents import Document, Label, Labels
from core.domain.errors import FivefoldError
from core.domain.five_truths import FiveTruthsAnswer, TruthAnswer
from core.domain.results import Citation, Hit, Score, SearchResult

__all__ = ["PAGE", "api_page"]

PAGE = Path(__file__).with_name("python-api.md")

_VALUES = (
    (Document, Labels, Label),
    (SearchResult, Hit, Score, Citation),
    (FiveTruthsAnswer, TruthAnswer),
    (Board, Cell, Gap),
    (TableAnswer, Rows),
    (CheckedClaim,),
)
"""The classes of what the methods return, by method."""


def api_page() -> str:
    """The whole page as Markdown."""
    return "\n".join(_lines()).rstrip() + "\n"


def _lines() -> Iterator[str]:
    yield "# Python API"
    yield ""
    yield "Generated from the docstrings by `python -m docs.python_api`. [Python](python.md) tells how to install it."
    yield ""
    yield _text(fivefold)
    yield ""
    yield "## Functions"
    yield from _callable("open_library", fivefold.open_library)
    yield "## DocumentLibrary"
    yield ""
    yield _text(fivefold.DocumentLibrary)
    yield ""
    for name, member in vars(fivefold.DocumentLibrary).items():
        if not name.startswith("_"):
            yield from _callable(name, member)
    yield "## Values"
    yield ""
    yield "What the methods return: frozen dataclasses."
    yield ""
    for group in _VALUES:
        for kind in group:
            yield from _value(kind)
    yield "## Errors"
    yield ""
    yield _text(FivefoldError)
    yield ""


def _callable(name: str, member: Any) -> Iterator[str]:
    yield ""
    if isinstance(member, property):
        yield f"### `{name}`"
        documented: Any = member.fget
    else:
        documented = member
        yield f"### `{name}{_signature(member)}`"
    yield ""
    yield _text(documented)
    yield ""


def _signature(member: Any) -> str:
    text = str(inspect.signature(member)).replace("(self, ", "(").replace("(self)", "()")
    text = re.sub(r"\b(?:collections\.abc|typing|pathlib|types)\.", "", text).replace(" -> None", "")
    return re.sub(r"'([^']+)'", r"\1", text.replace("''", '""'))


def _value(kind: type) -> Iterator[str]:
    yield f"### `{kind.__name__}`"
    yield ""
    yield _text(kind)
    yield ""
    yield "Fields: " + ", ".join(f"`{name}`" for name in _field_names(kind) if not name.startswith("_")) + "."
    yield ""


def _field_names(kind: Any) -> list[str]:
    """Of a dataclass its fields, of another class its slots, then its properties."""
    if is_dataclass(kind):
        return [each.name for each in fields(kind)]
    return [*kind.__slots__, *(name for name, member in vars(kind).items() if isinstance(member, property))]


def _text(documented: Any) -> str:
    """A docstring without its examples, which are tests."""
    text = inspect.getdoc(documented) or ""
    return re.split(r"\n\s*>>> ", text)[0].rstrip()


if __name__ == "__main__":
    PAGE.write_text(api_page(), "utf-8")
