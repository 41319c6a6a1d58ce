"""Applies corrected document labels to the passages that inherited the old value."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from core.domain.documents import (
    LABEL_FIELDS,
    POSSIBLE_FROM,
    Authority,
    Document,
    Label,
    Labels,
    Passage,
    TemporalClass,
    Truth,
    possible_label,
)
from core.domain.errors import BadRequest
from core.domain.filters import FIELDS
from core.knowledge.workspace_terms import WorkspaceTerms

__all__ = ["apply_later_edits", "parse_date", "possible_labels", "relabel"]

_CLOSED_FIELDS: Mapping[str, type[Truth] | type[Authority] | type[TemporalClass]] = {
    "truth": Truth,
    "authority": Authority,
    "temporal_class": TemporalClass,
}
_OPEN_FIELDS = ("domain", "jurisdiction")
_EDITABLE_FIELDS = ("project", "tags", "source_type", "owner", "url", "archived", "parent", "version_of")
_JURISDICTION = re.compile(r"federal|global|(?:country|state):[A-Z]{2}")
_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")


def relabel(
    document: Document, passages: Sequence[Passage], corrected: Mapping[str, Label], terms: WorkspaceTerms
) -> tuple[Document, tuple[Passage, ...]]:
    """The document with corrected labels, and its passages with the labels they inherit from it.

    A passage follows if it has the document's old value; a passage with its own label keeps it.
    Raises BadRequest for an unknown field or a value outside its set.
    """
    for field, label in corrected.items():
        _check(field, label)
        titles = terms.domains.titles
        if field == "domain" and label.confirmed and label.value is not None and label.value not in titles:
            known = ", ".join(f"{name} ({title})" for name, title in titles.items())
            raise BadRequest(f"'{label.value}' is not a domain of this workspace.", f"Domains are: {known}.")
    changed = replace(document, labels=replace(document.labels, **corrected))
    moved = tuple(passages)
    for field, label in corrected.items():
        before = getattr(document.labels, field).value
        if field in _CLOSED_FIELDS or field in _OPEN_FIELDS:
            moved = tuple(_follow(passage, field, before, label) for passage in moved)
        elif field == "effective_date":
            date = parse_date(label.value)
            moved = tuple(replace(p, date=date) if p.date == document.date else p for p in moved)
            changed = replace(changed, date=date)
    return changed, tuple(replace(each, possible_labels=possible_labels(changed.labels, each)) for each in moved)


def possible_labels(labels: Labels, passage: Passage) -> tuple[str, ...]:
    """`Passage.possible_labels` of a passage with these document labels.

    A label inherited from the document may be its runner-up instead, unless an analyst confirmed it; where the passage
    states a truth of its own, it may still be the document's."""
    found = []
    for field in (each.attribute for each in FIELDS if each.classified):
        label: Label = getattr(labels, field)
        if getattr(passage, field) == label.value:
            other, probability = label.runner_up, 0.0 if label.confirmed else label.runner_up_probability
        else:  # only a truth of its own has a probability
            other, probability = label.value, 1 - passage.truth_probability if field == "truth" else 0.0
        if other and probability >= POSSIBLE_FROM:
            found.append(possible_label(field, other))
    return tuple(found)


def apply_later_edits(
    document: Document,
    passages: Sequence[Passage],
    current: Document,
    corrections: Mapping[str, Label],
    terms: WorkspaceTerms,
) -> tuple[Document, tuple[Passage, ...]]:
    """Applies edits that users made while the document was being read, which can take minutes.

    current: the document as stored now. corrections: all current corrections, as confirmed labels.
    """
    current_values = {name: getattr(current, name) for name in _EDITABLE_FIELDS}
    filtered = {name: current_values[name] for name in ("project", "tags", "source_type", "archived")}
    document = replace(document, **current_values)
    moved = tuple(replace(passage, **filtered) for passage in passages)
    since = {
        field: label for field, label in corrections.items() if getattr(document.labels, field).value != label.value
    }
    return relabel(document, moved, since, terms)


def _follow(passage: Passage, field: str, before: str | None, label: Label) -> Passage:
    if getattr(passage, field) != before:
        return passage
    value = _CLOSED_FIELDS[field](label.value) if field in _CLOSED_FIELDS and label.value is not None else label.value
    moved = replace(passage, **{field: value})  # type: ignore[arg-type]
    if field != "truth":
        return moved
    return replace(moved, truth_probability=label.probability, truth_evidence=label.evidence)


def _check(field: str, label: Label) -> None:
    if field not in LABEL_FIELDS:
        raise BadRequest(f"'{field}' is not a label.", f"Labels are: {', '.join(LABEL_FIELDS)}.")
    if label.value is None:
        return
    if field in _CLOSED_FIELDS:
        allowed = [member.value for member in _CLOSED_FIELDS[field]]
        if label.value not in allowed:
            raise BadRequest(f"'{label.value}' is not a value of {field}.", f"Values are: {', '.join(allowed)}.")
    elif field == "jurisdiction" and not _JURISDICTION.fullmatch(label.value):
        raise BadRequest(
            f"'{label.value}' is not a jurisdiction.", "Write federal, global, country:XX or state:XX, as in state:CA."
        )
    elif field == "effective_date" and parse_date(label.value) is None:
        raise BadRequest(f"'{label.value}' is not a date.", "Write 2023, 2023-06 or 2023-06-17.")
    elif not label.value.strip():
        raise BadRequest(f"The value of {field} is empty.", "Give a value.")


def parse_date(value: str | None) -> datetime | None:
    """The first moment of an ISO year, month or day, in UTC; None for anything else.

    >>> parse_date("2023-06").isoformat(), parse_date("2023-13"), parse_date(None)
    ('2023-06-01T00:00:00+00:00', None, None)
    """
    found = _DATE.fullmatch(value or "")
    if found is None:
        return None
    year, month, day = (int(part) if part else 1 for part in found.groups())
    try:
        return datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None
