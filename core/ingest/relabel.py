"""A corrected document label moves the passages that had it from their document, and no others."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from core.documents import LABEL_FIELDS, Authority, Document, Label, Passage, TemporalClass, Truth
from core.errors import BadRequest
from core.tables.domains import domain_titles

__all__ = ["caught_up", "moment", "relabelled"]

_CLOSED: Mapping[str, type[Truth] | type[Authority] | type[TemporalClass]] = {
    "truth": Truth,
    "authority": Authority,
    "temporal_class": TemporalClass,
}
_OPEN = ("domain", "jurisdiction")
_SAID = ("project", "tags", "source_type", "owner", "url", "archived", "parent", "version_of")
_JURISDICTION = re.compile(r"federal|global|(?:country|state):[A-Z]{2}")
_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")


def relabelled(
    document: Document, passages: Sequence[Passage], corrected: Mapping[str, Label]
) -> tuple[Document, tuple[Passage, ...]]:
    """The document with corrected labels, and its passages with those they took from the document.

    A passage follows when its value is the document's old one; a passage with a label of its own keeps it.
    Raises BadRequest for an unknown field or a value outside its set.
    """
    for field, label in corrected.items():
        _check(field, label)
        if field == "domain" and label.confirmed and label.value is not None and label.value not in domain_titles():
            known = ", ".join(f"{name} ({title})" for name, title in domain_titles().items())
            raise BadRequest(f"'{label.value}' is no domain of this workspace.", f"Domains are: {known}.")
    changed = replace(document, labels=replace(document.labels, **corrected))
    moved = tuple(passages)
    for field, label in corrected.items():
        before = getattr(document.labels, field).value
        if field in _CLOSED or field in _OPEN:
            moved = tuple(_follow(passage, field, before, label) for passage in moved)
        elif field == "effective_date":
            date = moment(label.value)
            moved = tuple(replace(p, date=date) if p.date == document.date else p for p in moved)
            changed = replace(changed, date=date)
    return changed, moved


def caught_up(
    document: Document, passages: Sequence[Passage], current: Document, corrections: Mapping[str, Label]
) -> tuple[Document, tuple[Passage, ...]]:
    """A document just read, and its passages, with what people said of it meanwhile: reading takes minutes.

    current: the document as it is stored now. corrections: all there are now, as confirmed labels.
    """
    told = {name: getattr(current, name) for name in _SAID}
    filtered = {name: told[name] for name in ("project", "tags", "source_type", "archived")}
    document = replace(document, **told)
    moved = tuple(replace(passage, **filtered) for passage in passages)
    since = {
        field: label for field, label in corrections.items() if getattr(document.labels, field).value != label.value
    }
    return relabelled(document, moved, since)


def _follow(passage: Passage, field: str, before: str | None, label: Label) -> Passage:
    if getattr(passage, field) != before:
        return passage
    value = _CLOSED[field](label.value) if field in _CLOSED and label.value is not None else label.value
    moved = replace(passage, **{field: value})  # type: ignore[arg-type]
    if field != "truth":
        return moved
    return replace(moved, truth_probability=label.probability, truth_evidence=label.evidence)


def _check(field: str, label: Label) -> None:
    if field not in LABEL_FIELDS:
        raise BadRequest(f"'{field}' is not a label.", f"Labels are: {', '.join(LABEL_FIELDS)}.")
    if label.value is None:
        return
    if field in _CLOSED:
        allowed = [member.value for member in _CLOSED[field]]
        if label.value not in allowed:
            raise BadRequest(f"'{label.value}' is not a value of {field}.", f"Values are: {', '.join(allowed)}.")
    elif field == "jurisdiction" and not _JURISDICTION.fullmatch(label.value):
        raise BadRequest(
            f"'{label.value}' is not a jurisdiction.", "Write federal, global, country:XX or state:XX, as in state:CA."
        )
    elif field == "effective_date" and moment(label.value) is None:
        raise BadRequest(f"'{label.value}' is not a date.", "Write 2023, 2023-06 or 2023-06-17.")
    elif not label.value.strip():
        raise BadRequest(f"The value of {field} is empty.", "Give a value.")


def moment(value: str | None) -> datetime | None:
    """The first moment of an ISO year, month or day, in UTC; None for anything else.

    >>> moment("2023-06").isoformat(), moment("2023-13"), moment(None)
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
