"""Documents, their labels, pages and passages."""

from datetime import datetime
from typing import Self

from pydantic import Field

from api.inputs import Shape
from core.domain.document_list import ListedDocument
from core.domain.documents import LABEL_FIELDS, Document, Labels

__all__ = [
    "DocumentShape",
    "DocumentStatus",
    "EnrichmentShape",
    "LabelShape",
    "LabelsShape",
    "ListedDocumentShape",
    "PageInfo",
    "PageText",
    "PassageShape",
    "Receipt",
]


class EvidenceShape(Shape):
    """One piece of evidence for a label."""

    quote: str = Field(description="Exact text of the document, its name or its metadata.")
    source: str
    value: str = Field(description="The value it speaks for.")
    weight: float = Field(description="Its share of the decision before calibration, at least 0.")
    rule: str = Field(description="Why it counts.")


class LabelShape(Shape):
    """The label of one field: its value, how certain it is, and why."""

    value: str | None = Field(description="null where the classifier is not sure enough; `reason` says why.")
    probability: float = Field(description="Calibrated, in [0, 1].")
    runner_up: str | None
    runner_up_probability: float
    confirmed: bool = Field(description="Set or confirmed by a person; it stays when the document is read again.")
    reason: str
    evidence: list[EvidenceShape]


class LabelsShape(Shape):
    """Every label of a document. effective_date: 2023, 2023-06 or 2023-06-17."""

    truth: LabelShape
    domain: LabelShape
    authority: LabelShape
    jurisdiction: LabelShape
    effective_date: LabelShape
    temporal_class: LabelShape
    language: LabelShape

    @classmethod
    def of(cls, labels: Labels) -> Self:
        return cls.model_validate({name: getattr(labels, name) for name in LABEL_FIELDS})


class DocumentShape(Shape):
    """A document without its text."""

    id: int
    name: str
    title: str
    sha256: str
    size_bytes: int
    media_type: str
    state: str = Field(description="pending, ready or failed.")
    uploaded_at: datetime
    project: str | None = Field(description="null: shared by all projects.")
    tags: list[str]
    source_type: str
    date: datetime | None = Field(description="Effective date, else publication date.")
    pages: int
    passages: int
    archived: bool
    owner: str
    url: str
    parent: int | None = Field(description="The archive, mail or feed that contained it.")
    version_of: int | None = Field(description="The archived document it replaced.")
    labels: dict[str, str | None] = Field(description="Label field → value; null: unknown.")

    @classmethod
    def of(cls, document: Document) -> Self:
        given = {name: getattr(document, name) for name in cls.model_fields if name != "labels"}
        return cls.model_validate(given | {"labels": {name: label.value for name, label in document.labels.items()}})


class ListedDocumentShape(Shape):
    """A document of a list, with the sentence that has the searched words."""

    document: DocumentShape
    passage_id: int | None = Field(description="The best passage with the words; null where only the name has them.")
    sentence: str
    mentions: int = Field(description="Passages that mention the entity the list is about; 0 in other lists.")

    @classmethod
    def of(cls, listed: ListedDocument) -> Self:
        return cls(
            document=DocumentShape.of(listed.document),
            passage_id=listed.passage,
            sentence=listed.sentence,
            mentions=listed.mentions,
        )


class DocumentStatus(Shape):
    """How far the reading of a document is."""

    id: int
    state: str = Field(description="pending, ready or failed.")
    step: str = Field(description="The step under way, or the one that failed.")
    failure: str = Field(description="What happened; empty unless it failed.")
    remedy: str = Field(description="What to do about it.")
    cure: str = Field(description="What can help: again, password or other file.")
    warnings: list[str]
    pages: int
    passages: int


class Receipt(Shape):
    """The result of an upload: stored and queued for reading, or in the library already."""

    document_id: int
    name: str
    sha256: str
    duplicate_of: str = Field(description="Name of the document with the same bytes; empty for a new one.")


class PageInfo(Shape):
    """A page without its text."""

    number: int
    characters: int


class PageText(Shape):
    """A page of extracted text. label: of a part without page numbers, such as a sheet."""

    number: int
    label: str
    text: str


class PassageShape(Shape):
    """A retrievable part of one page. text == page.text[start:end]."""

    id: int
    document_id: int
    document_name: str
    page: int
    start: int
    end: int
    section: str
    text: str
    rows: list[int] | None = Field(description="First and last table row, counted from 1.")
    truth: str | None
    domain: str | None
    authority: str | None
    jurisdiction: str | None
    date: datetime | None
    temporal_class: str | None
    project: str | None
    tags: list[str]
    entities: list[str]
    keywords: list[str]


class EnrichmentShape(Shape):
    """What was extracted from a document; manual edits included."""

    document_id: int
    summary: str
    keywords: list[str]
    questions: list[str]
    document_type: str
