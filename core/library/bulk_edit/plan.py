"""Plans bulk edits: what each edit changes per document; reads and writes edits as CSV."""
# Over 300 lines: the columns of the CSV are the fields of the plan.

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from core.domain.documents import LABEL_FIELDS, Document, Label, SourceType
from core.domain.errors import BadRequest
from core.formats.csv import decoded, records, restored
from core.formats.spreadsheet import csv_bytes
from core.ingestion.classification.relabel import relabel
from core.knowledge.workspace_terms import WorkspaceTerms
from core.library.bulk_edit.store import LabelEdit

__all__ = [
    "COLUMNS",
    "FIELDS",
    "METADATA",
    "BulkEdit",
    "EditMode",
    "EditPlan",
    "EditProblem",
    "ParsedEdits",
    "documents_csv",
    "plan_edits",
    "read_edits",
    "value_of",
    "with_edits",
]

METADATA = ("project", "tags", "source_type", "owner", "url")

FIELDS = (*METADATA, *LABEL_FIELDS)
"""What can be edited: what people say of a document, and its labels."""

_MOST = {"project": 80, "owner": 80, "url": 2_000}

_MOST_TAG, _MOST_TAGS = 60, 50

_SEPARATOR = ";"


class EditMode(StrEnum):
    """What an edit does to a field. ADD and REMOVE apply to tags only; CLEAR empties the field (not for labels)."""

    SET = "set"
    ADD = "add"
    REMOVE = "remove"
    CLEAR = "clear"


@dataclass(frozen=True, slots=True)
class BulkEdit:
    """One change of one field. value: as users type it; tags are separated by ";"."""

    field: str
    value: str = ""
    mode: EditMode = EditMode.SET


@dataclass(frozen=True, slots=True)
class EditProblem:
    """Why an edit is impossible, in whole sentences. about: a document, a row of a file, or "" for neither.

    >>> str(EditProblem("The owner is too long.", "memo.md")), str(EditProblem("Nothing was named."))
    ('memo.md: The owner is too long.', 'Nothing was named.')
    """

    what: str
    about: str = ""

    def __str__(self) -> str:
        return f"{self.about}: {self.what}" if self.about else self.what


@dataclass(frozen=True, slots=True)
class EditPlan:
    """The changes the edits would make, and the problems that prevent others."""

    changes: tuple[LabelEdit, ...] = ()
    problems: tuple[EditProblem, ...] = ()

    @property
    def documents(self) -> int:
        """How many documents would change."""
        return len({change.document_id for change in self.changes})


def value_of(document: Document, field: str) -> str:
    """What a field of a document holds, as people write it; "" for nothing.

    >>> from datetime import datetime
    >>> from core.domain.documents import DocumentState
    >>> value_of(Document(1, "a.md", "", 1, DocumentState.READY, datetime.min, tags=("a", "b")), "tags")
    'a; b'
    """
    if field in LABEL_FIELDS:
        return getattr(document.labels, field).value or ""
    value = getattr(document, field)
    return f"{_SEPARATOR} ".join(value) if field == "tags" else str(value or "")


def plan_edits(
    documents: Sequence[Document],
    requested: Mapping[int, Sequence[BulkEdit]],
    living: Iterable[Document],
    terms: WorkspaceTerms,
) -> EditPlan:
    """The changes and problems of the wanted edits (document id → edits). living: all documents that are not archived;
    among them the same file may occur only once per project.

    A field that already holds the value is no change; confirming a label that only the classifier gave is a change.
    """
    changes: list[LabelEdit] = []
    problems: list[EditProblem] = []
    living_ids = {(each.sha256, each.project): each.id for each in living}
    for document in documents:
        for edit in requested.get(document.id, ()):
            try:
                after = _after(document, edit)
                _check(document, edit.field, after, living_ids, terms)
            except BadRequest as problem:
                problems.append(EditProblem(str(problem), document.name))
                continue
            before, label = value_of(document, edit.field), getattr(document.labels, edit.field, None)
            if before == after and (label is None or label.confirmed or not after):
                continue
            changes.append(LabelEdit(document.id, document.name, edit.field, before, after, label))
            if edit.field == "project":
                living_ids.pop((document.sha256, document.project), None)
                living_ids[document.sha256, after or None] = document.id
    return EditPlan(tuple(changes), tuple(problems))


def with_edits(document: Document, changes: Iterable[LabelEdit]) -> Document:
    """The document with the metadata changes applied; label changes are not applied here."""
    for change in changes:
        match change.field:
            case "tags":
                document = replace(document, tags=_tags(change.after))
            case "project":
                document = replace(document, project=change.after or None)
            case "source_type":
                document = replace(document, source_type=SourceType(change.after))
            case "owner":
                document = replace(document, owner=change.after)
            case "url":
                document = replace(document, url=change.after)
    return document


def _after(document: Document, edit: BulkEdit) -> str:
    """What the field would hold. Raises BadRequest."""
    if edit.field not in FIELDS:
        raise BadRequest(f"'{edit.field}' cannot be edited.", f"Fields are {', '.join(FIELDS)}.")
    if edit.mode is EditMode.CLEAR:
        return ""
    if edit.field != "tags":
        return " ".join(edit.value.split())
    own, tags = document.tags, _tags(edit.value)
    match edit.mode:
        case EditMode.ADD:
            tags = tuple(dict.fromkeys((*own, *tags)))
        case EditMode.REMOVE:
            tags = tuple(tag for tag in own if tag not in tags)
    return f"{_SEPARATOR} ".join(tags)


def _tags(text: str) -> tuple[str, ...]:
    """
    >>> _tags(" pay ;  union rules;pay;; ")
    ('pay', 'union rules')
    """
    return tuple(dict.fromkeys(" ".join(tag.split()) for tag in text.split(_SEPARATOR) if tag.strip()))


def _check(
    document: Document,
    field: str,
    after: str,
    living_ids: Mapping[tuple[str, str | None], int],
    terms: WorkspaceTerms,
) -> None:
    """Raises BadRequest for a value the field cannot hold."""
    if field in LABEL_FIELDS:
        if not after:
            raise BadRequest(f"The {field.replace('_', ' ')} cannot be empty.", "Give a value, or leave the field out.")
        relabel(document, (), {field: Label(after, 1.0, confirmed=True)}, terms)
    elif field == "source_type" and after not in {each.value for each in SourceType}:
        raise BadRequest(f"'{after}' is not a source type.", f"Values are {', '.join(SourceType)}.")
    elif field == "tags" and (len(_tags(after)) > _MOST_TAGS or max(map(len, _tags(after)), default=0) > _MOST_TAG):
        raise BadRequest("Too many or too long tags.", f"At most {_MOST_TAGS}, each of {_MOST_TAG} characters.")
    elif field == "url" and after and not after.startswith(("http://", "https://")):
        raise BadRequest(f"'{after[:80]}' is not an address.", "Write it whole, beginning with https://.")
    elif field in _MOST and len(after) > _MOST[field]:
        raise BadRequest(f"The {field} is too long ({len(after)} characters).", f"Use at most {_MOST[field]}.")
    elif field == "project" and not document.archived:
        there = living_ids.get((document.sha256, after or None), document.id)
        if there != document.id:
            raise BadRequest(f"The same file is in {after or 'no project'} already.", "Delete or archive one of them.")


_KEYS = ("id", "file", "sha256")

COLUMNS = (*_KEYS, *FIELDS)

_MOST_BYTES = 20_000_000  # of a CSV file; chosen by hand

_DIGITS = 16  # hex digits of a SHA-256 that identify a file: 64 bits do not coincide by chance


@dataclass(frozen=True, slots=True)
class ParsedEdits:
    """The edits a file asks for by document id, and the problems found per row or column."""

    edits: dict[int, tuple[BulkEdit, ...]] = field(default_factory=dict)
    problems: tuple[EditProblem, ...] = ()


def documents_csv(documents: Sequence[Document]) -> bytes:
    """A row per document: which it is, then every field as it is now. Blank is nothing (an unknown label)."""
    rows = [
        (each.id, each.name, each.sha256[:_DIGITS], *(value_of(each, name) for name in FIELDS)) for each in documents
    ]
    return csv_bytes(COLUMNS, rows)


def read_edits(data: bytes, name: str, documents: Sequence[Document]) -> ParsedEdits:
    """Read the edits of a CSV file. A document is identified by its id, its SHA-256 (or the first 16 digits) or its
    file name; several of them must agree. A missing column and a blank label cell change nothing; a blank cell of
    another field clears it. Of several rows for one document, the last wins.

    Raises BadRequest for a file that cannot be read at all.
    """
    rows = records(decoded(data, name, _MOST_BYTES), name, _delimiter)
    head = [_column(cell) for cell in next(rows, (1, []))[1]]
    if not any(key in head for key in _KEYS):
        raise BadRequest(
            f"'{name}' does not say which documents it is about.",
            "Its first row must name a column 'id', 'file' or 'sha256'; download the list to begin with.",
        )
    problems = [
        EditProblem(f"The column '{each}' is not known and changes nothing.") for each in head if each not in COLUMNS
    ]
    problems += [EditProblem(f"The column '{each}' is listed twice.") for each in COLUMNS if head.count(each) > 1]
    edits: dict[int, tuple[BulkEdit, ...]] = {}
    finder = _DocumentFinder(documents)
    for number, cells in rows:
        row = dict(zip(head, (restored(cell) for cell in cells), strict=False))
        try:
            document = finder.find(row)
        except BadRequest as problem:
            problems.append(EditProblem(problem.message, f"Row {number}"))
            continue
        edits[document.id] = tuple(
            BulkEdit(column, value) if value else BulkEdit(column, mode=EditMode.CLEAR)
            for column, value in row.items()
            if column in FIELDS and (value or column not in LABEL_FIELDS)
        )
    return ParsedEdits(edits, tuple(problems))


class _DocumentFinder:
    """Finds the document a row refers to."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents
        self._by_id = {str(each.id): each for each in documents}

    def find(self, row: dict[str, str]) -> Document:
        """Raises BadRequest when none, or several, are what the row says."""
        by = {key: row[key] for key in _KEYS if row.get(key)}
        if not by:
            raise BadRequest("it names no document.")
        first = self._by_id.get(by["id"]) if "id" in by else None
        found = [first] if first is not None else [] if "id" in by else self._documents
        found = [each for each in found if _agrees(each, by)]
        key_words = ", ".join(f"{key} {value}" for key, value in by.items())
        if not found:
            raise BadRequest(f"there is no document with {key_words}.")
        if len(found) > 1:
            raise BadRequest(f"{len(found)} documents have {key_words}; name the one by its id.")
        return found[0]


def _agrees(document: Document, by: dict[str, str]) -> bool:
    digits = by.get("sha256", "").lower()
    return (not digits or (len(digits) >= _DIGITS and document.sha256.startswith(digits))) and (
        by.get("file", document.name) == document.name
    )


def _column(cell: str) -> str:
    plain = "_".join(cell.strip().lower().replace("-", " ").replace("_", " ").split())
    return {"name": "file", "document": "file", "tag": "tags", "date": "effective_date"}.get(plain, plain)


def _delimiter(text: str) -> str:
    line = next((each for each in text.splitlines() if each.strip()), "")
    parted = {mark: next(csv.reader([line], delimiter=mark), []) for mark in (",", ";", "\t")}
    return max(parted, key=lambda mark: sum(_column(cell) in COLUMNS for cell in parted[mark]))
