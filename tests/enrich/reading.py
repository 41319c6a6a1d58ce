"""Documents made for enrichment: texts cut into passages by the product's own reader."""

from dataclasses import replace
from datetime import UTC, datetime
from itertools import count

from core.domain.documents import Document, DocumentState, Label, Labels, Passage, Span
from core.library.enrichment.document_reader import DocumentText, reading_of
from core.search.citations.cite import display_quote
from core.text.sentences import sentences

__all__ = ["POLICY", "document_of", "passages_of", "read"]

AT = datetime(2026, 3, 1, tzinfo=UTC)

POLICY = """# Leave and Absence Policy

This policy explains how employees of Harbour Mills request leave and who approves it.

## Requesting leave

Employees must submit a leave request within five days of the first absence.
The line manager must approve the leave request before the roster is published.
Leave requests must be approved in writing by the line manager.
A leave request is a written notice of a planned absence.
If the line manager is away, the personnel office shall decide on the leave request.

## Who may carry over leave?

Full-time employees may carry over ten days of leave to the next calendar year.
Part-time employees are eligible for carry over in proportion to their hours.

## Records

Leave records must be kept for at least four years after the end of employment.
The personnel office is responsible for keeping leave records under 29 U.S.C. § 2616 and 29 CFR 825.500.
The policy is effective January 1st, 2026 and was published on 12 November 2025.
"""


def passages_of(text: str, *, per_passage: int = 4) -> list[Passage]:
    """Passages of some sentences each, as they are stored; headings are those of Markdown."""
    made: list[Passage] = []
    ids = count(100)
    spans = list(sentences(text)) or [Span(0, len(text))]
    section = ""
    for at in range(0, len(spans), per_passage):
        group = spans[at : at + per_passage]
        start, end = group[0].start, group[-1].end
        for span in group:
            if span.of(text).startswith("#"):
                section = display_quote(span.of(text).split("\n")[0])
        own = tuple(Span(span.start - start, span.end - start) for span in group)
        made.append(Passage(text[start:end], 1, start, end, own, id=next(ids), document_id=1, section=section))
    return made


def document_of(name: str = "leave.md", title: str = "Leave and Absence Policy", language: str = "en") -> Document:
    """A document that was read."""
    labels = replace(Labels(), language=Label(language, 1.0), truth=Label("compliance", 0.9))
    return Document(1, name, "ab", 1, DocumentState.READY, AT, title=title, labels=labels)


def read(text: str, *, language: str = "en", title: str = "", per_passage: int = 4) -> DocumentText:
    """A text as the operations read it."""
    return reading_of(document_of(title=title, language=language), passages_of(text, per_passage=per_passage))
