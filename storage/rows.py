"""Values to rows and back. What PostgreSQL cannot hold is replaced, length for length, so that spans still stand."""

import json
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.types.json import Jsonb

from core.documents import (
    LABEL_FIELDS,
    Authority,
    Document,
    DocumentState,
    Evidence,
    EvidenceSource,
    Label,
    Labels,
    Origin,
    Page,
    Passage,
    Sector,
    SourceType,
    Span,
    TableRole,
    TemporalClass,
    Truth,
)
from core.errors import Cure
from core.storable import storable_text

__all__ = [
    "DOCUMENT_ROW",
    "PASSAGE_ROW",
    "EmbeddingDumper",
    "document_from",
    "document_values",
    "labels_data",
    "labels_from",
    "passage_from",
    "passage_values",
    "storable_page",
    "storable_passage",
    "storable_text",
]


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, Mapping):
        return {key: _storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(item) for item in value]
    return value


def storable_page(page: Page) -> Page:
    """The page as it can be stored."""
    return replace(page, text=storable_text(page.text), label=storable_text(page.label))


def storable_passage(passage: Passage) -> Passage:
    """The passage as it can be stored; its spans stay right."""
    texts = ("text", "section", "context")
    clean: dict[str, Any] = {name: storable_text(getattr(passage, name)) for name in texts}
    lists: dict[str, Any] = {
        name: tuple(_storable(getattr(passage, name))) for name in ("tags", "entities", "keywords")
    }
    return replace(passage, **clean, **lists)


def labels_data(labels: Labels) -> dict[str, Any]:
    """Labels as JSON data; `labels_from` gives back the same labels, exactly."""
    return {field: _storable(asdict(label)) for field, label in labels.items()}


def labels_from(data: Mapping[str, Any]) -> Labels:
    """Labels from JSON data. A field stored before it existed is empty."""
    return Labels(**{field: _label_from(data[field]) for field in LABEL_FIELDS if field in data})


def _label_from(data: Mapping[str, Any]) -> Label:
    return Label(**{**data, "evidence": _evidence_from(data["evidence"])})


def _evidence_from(data: Sequence[Mapping[str, Any]]) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(item["quote"], _SOURCES[item["source"]], item["value"], item["weight"], item["rule"]) for item in data
    )


_SOURCES = {str(member): member for member in EvidenceSource}


# A library's documents come again with every search, and reading their labels takes ten times as long as finding them.
@lru_cache(maxsize=4096)
def _labels_of(sent: str) -> Labels:
    return labels_from(json.loads(sent))


@lru_cache(maxsize=16_384)
def _evidence_of(sent: str) -> tuple[Evidence, ...]:
    return _evidence_from(json.loads(sent))


def document_values(document: Document) -> dict[str, Any]:
    """The columns of a document, without its tenant and id."""
    plain: dict[str, Any] = {
        name: _storable(getattr(document, name))
        for name in (
            "name",
            "sha256",
            "media_type",
            "title",
            "project",
            "step",
            "failure",
            "remedy",
            "tags",
            "warnings",
            "owner",
            "url",
            "readable",
        )
    }
    return plain | {
        "size_bytes": document.size_bytes,
        "state": str(document.state),
        "uploaded_at": document.uploaded_at,
        "paged": document.paged,
        "source_type": str(document.source_type),
        "labels": labels_data(document.labels),
        "date": document.date,
        "pages": document.pages,
        "passages": document.passages,
        "archived": document.archived,
        "cure": str(document.cure),
        "origin": str(document.origin),
        "parent": document.parent,
        "version_of": document.version_of,
    }


def document_from(row: Mapping[Any, Any]) -> Document:
    """A document from its row, with its labels as text."""
    plain: dict[str, Any] = {name: row[name] for name in _DOCUMENT_COLUMNS}
    return Document(
        **plain,
        state=DocumentState(row["state"]),
        source_type=SourceType(row["source_type"]),
        labels=_labels_of(row["labels"]),
        tags=tuple(row["tags"]),
        warnings=tuple(row["warnings"]),
        cure=Cure(row["cure"]),
        origin=Origin(row["origin"]),
    )


_DOCUMENT_COLUMNS = (
    *("id", "name", "sha256", "size_bytes", "uploaded_at", "media_type", "paged", "title", "project", "date", "pages"),
    *("passages", "step", "failure", "remedy", "archived", "owner", "url", "parent", "version_of", "readable"),
)

DOCUMENT_ROW = ", ".join(
    (*_DOCUMENT_COLUMNS, "state", "source_type", "labels::text AS labels", "tags", "warnings", "cure", "origin")
)
"""What is read of a document, with its labels as text."""

_PASSAGE_COLUMNS = (
    *("id", "document_id", "document_name", "position", "page", "text", "section", "context", "truth_probability"),
    *("domain", "jurisdiction", "date", "project", "archived", "meanings"),
)
_CLOSED = {
    "authority": Authority,
    "temporal_class": TemporalClass,
    "sector": Sector,
    "table_role": TableRole,
    "truth": Truth,
}
_LISTS = ("tags", "entities", "keywords")
_OPTIONAL = {name: {None: None} | {str(member): member for member in values} for name, values in _CLOSED.items()}
_MEMBERS: Mapping[str, Mapping[str | None, Any]] = _OPTIONAL | {
    "source_type": {str(member): member for member in SourceType},
    "origin": {str(member): member for member in Origin},
}
"""Column → stored word → enum member: a look-up, because two hundred passages are read per search."""


def passage_values(passage: Passage) -> dict[str, Any]:
    """The columns of a passage, without its tenant and embedding. Lists and JSON are the driver's."""
    plain: dict[str, Any] = {name: getattr(passage, name) for name in _PASSAGE_COLUMNS}
    closed: dict[str, Any] = {
        name: None if (value := getattr(passage, name)) is None else str(value) for name in _CLOSED
    }
    lists: dict[str, Any] = {name: list(getattr(passage, name)) for name in _LISTS}
    return {
        **plain,
        **closed,
        **lists,
        "span_start": passage.start,
        "span_end": passage.end,
        "sentences": [bound for span in passage.sentences for bound in (span.start, span.end)],
        "table_rows": None if passage.rows is None else list(passage.rows),
        "evidence": Jsonb([_storable(asdict(item)) for item in passage.truth_evidence]),
        "source_type": str(passage.source_type),
        "origin": str(passage.origin),
    }


def passage_from(row: Sequence[Any]) -> Passage:
    """A passage from its values, in the order of `PASSAGE_ROW`."""
    values = list(row)
    for place, converted in _CONVERTED:
        values[place] = converted(values[place])
    return Passage(*values)


def _spans(bounds: Sequence[int]) -> tuple[Span, ...]:
    return tuple(map(Span, bounds[::2], bounds[1::2]))


_NAMED_OTHERWISE = {"start": "span_start", "end": "span_end", "rows": "table_rows", "truth_evidence": "evidence::text"}
PASSAGE_ROW = {field.name: _NAMED_OTHERWISE.get(field.name, field.name) for field in fields(Passage)}
"""Attribute of a passage → its column: one row of these, with evidence as text, makes a passage."""

_CONVERT: Mapping[str, Callable[[Any], Any]] = {
    "sentences": _spans,
    "truth_evidence": _evidence_of,
    "rows": lambda pair: None if pair is None else tuple(pair),
    **dict.fromkeys(_LISTS, tuple),
    **{name: members.__getitem__ for name, members in _MEMBERS.items()},
}
_CONVERTED = [(place, _CONVERT[name]) for place, name in enumerate(PASSAGE_ROW) if name in _CONVERT]


class EmbeddingDumper(Dumper):
    """A float32 array of shape (dim,) as PostgreSQL's binary real[], which it casts to vector.

    Ten times as fast as writing the numbers as text, and exact.
    """

    format = Format.BINARY
    oid = 1021

    def dump(self, obj: NDArray[np.float32]) -> bytes:
        """Header (dimensions, no nulls, element type 700, length, first index), then size and big-endian value each."""
        items = np.empty(len(obj), dtype=[("bytes", ">i4"), ("value", ">f4")])
        items["bytes"], items["value"] = 4, obj
        return struct.pack(">5i", 1, 0, 700, len(obj), 1) + items.tobytes()
