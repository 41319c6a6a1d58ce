"""Documents, pages and passages, and their labels."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.domain.errors import Cure

__all__ = [
    "LABEL_FIELDS",
    "POSSIBLE_FROM",
    "Authority",
    "Document",
    "DocumentState",
    "Evidence",
    "EvidenceSource",
    "Label",
    "Labels",
    "Origin",
    "Page",
    "Passage",
    "Sector",
    "SourceType",
    "Span",
    "TableRole",
    "TemporalClass",
    "Truth",
    "possible_label",
]


class Truth(StrEnum):
    """The five truths of a passage. Closed; the order is that of every table and chart."""

    REGULATORY = "regulatory"
    COMPLIANCE = "compliance"
    INTENT = "intent"
    REFERENCE = "reference"
    REALITY = "reality"


class Authority(StrEnum):
    """The kind of author of a document."""

    GOVERNMENT = "government"
    VENDOR = "vendor"
    INDUSTRY = "industry"
    CUSTOMER = "customer"
    INTERNAL = "internal"


class TemporalClass(StrEnum):
    """How the content relates to time."""

    EVERGREEN = "evergreen"
    CURRENT = "current"
    DATED = "dated"
    HISTORICAL = "historical"


class SourceType(StrEnum):
    """How a document was added."""

    UPLOAD = "upload"
    EMAIL = "email"
    FEED = "feed"
    PAPER = "paper"
    WEB = "web"
    MANUAL = "manual"


class Origin(StrEnum):
    """What kind of content a passage comes from."""

    DOCUMENT = "document"
    INSIGHT = "insight"
    EPISODE = "episode"


class Sector(StrEnum):
    """The memory sector of an insight or episode."""

    SEMANTIC = "semantic"
    EPISODIC = "episodic"
    PROCEDURAL = "procedural"
    EMOTIONAL = "emotional"
    REFLECTIVE = "reflective"


class TableRole(StrEnum):
    """What a Reality table contains: records or configuration."""

    RECORDS = "records"
    SETUP = "setup"


class DocumentState(StrEnum):
    """Ingestion state: pending → ready | failed(reason)."""

    PENDING = "pending"
    READY = "ready"
    FAILED = "failed"


class EvidenceSource(StrEnum):
    """Where the evidence for a label was found."""

    NAME = "name"
    HEADING = "heading"
    TEXT = "text"
    METADATA = "metadata"
    MEANING = "meaning"
    CORRECTION = "correction"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One piece of evidence for a label.

    `quote` is copied exactly from the document's text, name or metadata; `value` is the label value it supports;
    `weight` ≥ 0 is its share of the decision before calibration; `rule` explains why it counts."""

    quote: str
    source: EvidenceSource
    value: str
    weight: float
    rule: str


@dataclass(frozen=True, slots=True)
class Label:
    """The label of one field. `value` None means the classifier abstained, and `reason` says why.

    probability, runner_up_probability: calibrated, in [0, 1].
    """

    value: str | None = None
    probability: float = 0.0
    runner_up: str | None = None
    runner_up_probability: float = 0.0
    evidence: tuple[Evidence, ...] = ()
    reason: str = ""
    confirmed: bool = False


POSSIBLE_FROM = 0.25
"""Least probability of a value the label does not give, from which a filter on that value admits it (behaviour.md)."""

LABEL_FIELDS = ("truth", "domain", "authority", "jurisdiction", "effective_date", "temporal_class", "language")


@dataclass(frozen=True, slots=True)
class Labels:
    """Every label field of a document. `effective_date` values are ISO: "2023", "2023-06" or "2023-06-17"."""

    truth: Label = Label()
    domain: Label = Label()
    authority: Label = Label()
    jurisdiction: Label = Label()
    effective_date: Label = Label()
    temporal_class: Label = Label()
    language: Label = Label()

    def items(self) -> Iterator[tuple[str, Label]]:
        """Field name and label, in the order of LABEL_FIELDS."""
        for name in LABEL_FIELDS:
            yield name, getattr(self, name)


@dataclass(frozen=True, slots=True)
class Span:
    """Characters [start, end) of a text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The spanned text."""
        return text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Page:
    """One page of extracted text. `number` is 1-based. Files without pages have one page per part
    (a body, a sheet); then `Document.paged` is false and `label` names the part ("Sheet: Employees")."""

    number: int
    text: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """A retrievable part of one page, cut at sentence boundaries: `text == page.text[start:end]`, always.

    `id` is 0 until stored. `sentences` are spans of `text`; together with `id` they name citations. `page` is the
    1-based page number, also for files without pages (see Document.paged). `truth` is the passage's own and may
    differ from its document's; None = unknown. `context` (title and headings) is embedded and matched with the text,
    but never quoted. `rows` is the 1-based first and last table row of a table passage. `meanings` holds one vector
    per sentence, int8, shape (sentences, dim), each row scaled on its own; empty when there are none.
    `possible_labels` holds the values its labels do not give but that have a probability of at least POSSIBLE_FROM,
    as `possible_label` writes them.
    """

    text: str
    page: int
    start: int
    end: int
    sentences: tuple[Span, ...]
    id: int = 0
    document_id: int = 0
    document_name: str = ""
    position: int = 0
    section: str = ""
    context: str = ""
    rows: tuple[int, int] | None = None
    truth: Truth | None = None
    truth_probability: float = 0.0
    truth_evidence: tuple[Evidence, ...] = ()
    domain: str | None = None
    authority: Authority | None = None
    jurisdiction: str | None = None
    date: datetime | None = None
    temporal_class: TemporalClass | None = None
    source_type: SourceType = SourceType.UPLOAD
    origin: Origin = Origin.DOCUMENT
    sector: Sector | None = None
    table_role: TableRole | None = None
    project: str | None = None
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    possible_labels: tuple[str, ...] = ()
    archived: bool = False
    meanings: bytes = field(default=b"", repr=False)


def possible_label(field: str, value: str) -> str:
    """An entry of `Passage.possible_labels`.

    >>> possible_label("truth", "intent")
    'truth:intent'
    """
    return f"{field}:{value}"


@dataclass(frozen=True, slots=True)
class Document:
    """One stored document. `date` is its effective date, else its publication date, timezone-aware; None = undated.

    `owner` is the person responsible, `url` the source. `parent` is the archive, mail or feed that contained it,
    `version_of` the (archived) document it replaced, `readable` the SHA-256 of a decrypted copy that is read instead of
    a password-protected original. `failure`, `remedy` and `cure` apply to failed documents: what happened, what to do,
    what can help. `step` is the current pipeline step, or the one that failed. `warnings` are for the reader ("3 pages
    have no text"). `origin` is insight or episode for the searchable copy of one (core.insights.store), which lists
    and counts of documents leave out."""

    id: int
    name: str
    sha256: str
    size_bytes: int
    state: DocumentState
    uploaded_at: datetime
    media_type: str = ""
    paged: bool = False
    title: str = ""
    project: str | None = None
    source_type: SourceType = SourceType.UPLOAD
    labels: Labels = Labels()
    date: datetime | None = None
    tags: tuple[str, ...] = ()
    pages: int = 0
    passages: int = 0
    warnings: tuple[str, ...] = ()
    step: str = ""
    failure: str = ""
    remedy: str = ""
    cure: Cure = Cure.AGAIN
    archived: bool = False
    origin: Origin = Origin.DOCUMENT
    owner: str = ""
    url: str = ""
    parent: int | None = None
    version_of: int | None = None
    readable: str = ""
