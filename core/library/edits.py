"""Editing what is said of documents: planned first, so that it can be looked at, then made in one step."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from core.changes import Change
from core.documents import LABEL_FIELDS, Document, Label, SourceType
from core.errors import BadRequest
from core.ingest.relabel import relabelled

__all__ = ["FIELDS", "METADATA", "Edit", "EditMode", "Plan", "Problem", "edited", "planned", "value_of"]

METADATA = ("project", "tags", "source_type", "owner", "url")
FIELDS = (*METADATA, *LABEL_FIELDS)
"""What can be edited: what people say of a document, and its labels."""

_MOST = {"project": 80, "owner": 80, "url": 2_000}
_MOST_TAG, _MOST_TAGS = 60, 50
_SEPARATOR = ";"


class EditMode(StrEnum):
    """What an edit does with a field. ADD and REMOVE are for tags; CLEAR leaves nothing (not for labels)."""

    SET = "set"
    ADD = "add"
    REMOVE = "remove"
    CLEAR = "clear"


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of one field. value: as people write it; tags parted by ";"."""

    field: str
    value: str = ""
    mode: EditMode = EditMode.SET


@dataclass(frozen=True, slots=True)
class Problem:
    """What cannot be done, in whole sentences, and about what: a document, a row of a file, or "" for no one thing.

    >>> str(Problem("The owner is too long.", "memo.md")), str(Problem("Nothing was named."))
    ('memo.md: The owner is too long.', 'Nothing was named.')
    """

    what: str
    about: str = ""

    def __str__(self) -> str:
        return f"{self.about}: {self.what}" if self.about else self.what


@dataclass(frozen=True, slots=True)
class Plan:
    """What edits would change, and what they cannot."""

    changes: tuple[Change, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def documents(self) -> int:
        """How many documents would change."""
        return len({change.document_id for change in self.changes})


def value_of(document: Document, field: str) -> str:
    """What a field of a document holds, as people write it; "" for nothing.

    >>> from datetime import datetime
    >>> from core.documents import DocumentState
    >>> value_of(Document(1, "a.md", "", 1, DocumentState.READY, datetime.min, tags=("a", "b")), "tags")
    'a; b'
    """
    if field in LABEL_FIELDS:
        return getattr(document.labels, field).value or ""
    value = getattr(document, field)
    return f"{_SEPARATOR} ".join(value) if field == "tags" else str(value or "")


def planned(documents: Sequence[Document], wanted: Mapping[int, Sequence[Edit]], living: Iterable[Document]) -> Plan:
    """What the edits wanted (document id → edits) come to. living: all documents that are not archived, in which the
    same file may be only once per project.

    A field that holds the value already is no change; a label that has the value only by the classifier becomes a
    confirmed one, and that is a change.
    """
    changes: list[Change] = []
    problems: list[Problem] = []
    places = {(each.sha256, each.project): each.id for each in living}
    for document in documents:
        for edit in wanted.get(document.id, ()):
            try:
                after = _after(document, edit)
                _check(document, edit.field, after, places)
            except BadRequest as problem:
                problems.append(Problem(str(problem), document.name))
                continue
            before, label = value_of(document, edit.field), getattr(document.labels, edit.field, None)
            if before == after and (label is None or label.confirmed or not after):
                continue
            changes.append(Change(document.id, document.name, edit.field, before, after, label))
            if edit.field == "project":
                places.pop((document.sha256, document.project), None)
                places[document.sha256, after or None] = document.id
    return Plan(tuple(changes), tuple(problems))


def edited(document: Document, changes: Iterable[Change]) -> Document:
    """The document with the metadata changes made; changes of labels are not made here."""
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


def _after(document: Document, edit: Edit) -> str:
    """What the field would hold. Raises BadRequest."""
    if edit.field not in FIELDS:
        raise BadRequest(f"'{edit.field}' cannot be edited.", f"Fields are {', '.join(FIELDS)}.")
    if edit.mode is EditMode.CLEAR:
        return ""
    if edit.field != "tags":
        return " ".join(edit.value.split())
    own, said = document.tags, _tags(edit.value)
    match edit.mode:
        case EditMode.ADD:
            said = tuple(dict.fromkeys((*own, *said)))
        case EditMode.REMOVE:
            said = tuple(tag for tag in own if tag not in said)
    return f"{_SEPARATOR} ".join(said)


def _tags(said: str) -> tuple[str, ...]:
    """
    >>> _tags(" pay ;  union rules;pay;; ")
    ('pay', 'union rules')
    """
    return tuple(dict.fromkeys(" ".join(tag.split()) for tag in said.split(_SEPARATOR) if tag.strip()))


def _check(document: Document, field: str, after: str, places: Mapping[tuple[str, str | None], int]) -> None:
    """Raises BadRequest for a value the field cannot hold."""
    if field in LABEL_FIELDS:
        if not after:
            raise BadRequest(f"The {field.replace('_', ' ')} cannot be empty.", "Give a value, or leave the field out.")
        relabelled(document, (), {field: Label(after, 1.0, confirmed=True)})
    elif field == "source_type" and after not in {each.value for each in SourceType}:
        raise BadRequest(f"'{after}' is not a source type.", f"Values are {', '.join(SourceType)}.")
    elif field == "tags" and (len(_tags(after)) > _MOST_TAGS or max(map(len, _tags(after)), default=0) > _MOST_TAG):
        raise BadRequest("Too many or too long tags.", f"At most {_MOST_TAGS}, each of {_MOST_TAG} characters.")
    elif field == "url" and after and not after.startswith(("http://", "https://")):
        raise BadRequest(f"'{after[:80]}' is not an address.", "Write it whole, beginning with https://.")
    elif field in _MOST and len(after) > _MOST[field]:
        raise BadRequest(f"The {field} is too long ({len(after)} characters).", f"Use at most {_MOST[field]}.")
    elif field == "project" and not document.archived:
        there = places.get((document.sha256, after or None), document.id)
        if there != document.id:
            raise BadRequest(f"The same file is in {after or 'no project'} already.", "Delete or archive one of them.")
