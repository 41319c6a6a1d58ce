"""What is stored: documents, pages, passages and what is said about them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.errors import Cure

__all__ = [
    "LABEL_FIELDS",
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
]


class Truth(StrEnum):
    """Which kind of truth a passage states. Closed; the order is the order of every table and chart."""

    REGULATORY = "regulatory"
    COMPLIANCE = "compliance"
    INTENT = "intent"
    REFERENCE = "reference"
    REALITY = "reality"


class Authority(StrEnum):
    """Who speaks."""

    GOVERNMENT = "government"
    VENDOR = "vendor"
    INDUSTRY = "industry"
    CUSTOMER = "customer"
    INTERNAL = "internal"


class TemporalClass(StrEnum):
    """How time touches what is said."""

    EVERGREEN = "evergreen"
    CURRENT = "current"
    DATED = "dated"
    HISTORICAL = "historical"


class SourceType(StrEnum):
    """How a document reached us."""

    UPLOAD = "upload"
    EMAIL = "email"
    FEED = "feed"
    PAPER = "paper"
    WEB = "web"
    MANUAL = "manual"


class Origin(StrEnum):
    """What was retrieved."""

    DOCUMENT = "document"
    INSIGHT = "insight"
    EPISODE = "episode"
    GRAPH = "graph"


class Sector(StrEnum):
    """The kind of memory an insight or episode is."""

    SEMANTIC = "semantic"
    EPISODIC = "episodic"
    PROCEDURAL = "procedural"
    EMOTIONAL = "emotional"
    REFLECTIVE = "reflective"


class TableRole(StrEnum):
    """What a Reality table holds: what happens, or what is configured."""

    RECORDS = "records"
    SETUP = "setup"


class DocumentState(StrEnum):
    """Where a document is on its way: pending → ready | failed(reason)."""

    PENDING = "pending"
    READY = "ready"
    FAILED = "failed"


class EvidenceSource(StrEnum):
    """Where the words that decided a label stand."""

    NAME = "name"
    HEADING = "heading"
    TEXT = "text"
    METADATA = "metadata"
    MEANING = "meaning"
    CORRECTION = "correction"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One reason for a label.

    `quote` stands letter for letter in the document's text, name or metadata; `value` is the label it
    speaks for; `weight` ≥ 0 is its share of the decision before calibration; `rule` says in words why it counts.
    """

    quote: str
    source: EvidenceSource
    value: str
    weight: float
    rule: str


@dataclass(frozen=True, slots=True)
class Label:
    """A decided label field. `value` None means the classifier abstained, and `reason` says why.

    probability, runner_up_probability: calibrated, in [0, 1].
    """

    value: str | None = None
    probability: float = 0.0
    runner_up: str | None = None
    runner_up_probability: float = 0.0
    evidence: tuple[Evidence, ...] = ()
    reason: str = ""
    confirmed: bool = False


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
        """The characters themselves."""
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
    """A retrievable piece of one page, on sentence borders: `text == page.text[start:end]`, always.

    `id` is 0 until stored. `sentences` are spans of `text`; together with `id` they name citations.
    `page` is the 1-based page number, also for files without pages (see Document.paged).
    `truth` is the passage's own (a passage may state another truth than its document); None = unknown.
    `context` is what is embedded and matched beside the text (title and headings), never quoted.
    `rows` is the 1-based first and last table row of a table passage.
    `meanings` is a vector per sentence, int8, shape (sentences, dim), of any length; empty when none were measured.
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
    archived: bool = False
    meanings: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class Document:
    """One stored document. `date` is its own (effective, else published), timezone-aware; None = undated.

    `owner` answers for it, `url` is where it came from. `parent` is the archive, mail or feed it came in, `version_of`
    the document it replaced (an archived one), `readable` the SHA-256 of an unlocked copy that is read in place of an
    original under a password. `failure`, `remedy` and `cure` count when the state is failed: what happened, what to do,
    what can help. `step` is the pipeline step now running, or the one that failed. `warnings` are for the reader ("3
    pages hold no text"). `origin` is insight or episode for the searchable side of one (core.memories), which no list
    of documents and no count shows.
    """

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
