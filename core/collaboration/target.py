"""What a comment or an assignment is about: a document, a passage of one, or a cell of a coverage board."""

from dataclasses import dataclass, replace
from enum import StrEnum
from urllib.parse import urlencode

from core.domain.coverage import GapKind
from core.domain.documents import Document, Passage
from core.domain.errors import NotFound
from core.ports.catalogue import Catalogue

__all__ = ["Target", "TargetKind", "checked_target", "current_target", "on_cell", "on_document", "on_passage"]

_QUOTE = 300  # characters of a passage that its comments keep; chosen by hand


class TargetKind(StrEnum):
    """Kind of a target."""

    DOCUMENT = "document"
    PASSAGE = "passage"
    CELL = "cell"


@dataclass(frozen=True, slots=True)
class Target:
    """What is talked about. name: of the document, or of the topic.

    project: of a cell's board, or of the document at the time; None: the whole library. document_id: of documents and
    passages; passage_id, page, quote: of a passage, which is found again by its quote after the document was processed
    again. topic_id, column: of a cell."""

    kind: TargetKind
    name: str
    project: str | None = None
    document_id: int | None = None
    passage_id: int | None = None
    page: int = 0
    quote: str = ""
    topic_id: int | None = None
    column: GapKind | None = None

    @property
    def key(self) -> str:
        """The thing that is shown as a whole: passages share the key of their document.

        >>> on_cell("Overtime", 4, GapKind.INTENT, "north").key
        'cell:4:intent'
        """
        if self.kind is TargetKind.CELL:
            return f"cell:{self.topic_id}:{self.column}"
        return f"document:{self.document_id}"

    @property
    def path(self) -> str:
        """The address of it, relative to the root of the site.

        >>> on_cell("Overtime", 4, GapKind.INTENT, "north").path
        'coverage?view=Review&at=intent%3A4&decided=true&project=north'
        """
        if self.kind is TargetKind.CELL:
            own = {"view": "Review", "at": f"{self.column}:{self.topic_id}", "decided": "true"}
            return f"coverage?{urlencode(own | ({'project': self.project} if self.project else {}))}"
        mark = {"mark": str(self.passage_id)} if self.passage_id is not None else {}
        return f"document?{urlencode({'id': str(self.document_id), **mark, 'comments': 'open'})}"

    def covers(self, other: "Target") -> bool:
        """Whether what is said about the other belongs here too: all of a document's passages belong to it."""
        if self.key != other.key or (self.kind is TargetKind.CELL and self.project != other.project):
            return False
        if self.kind is not TargetKind.PASSAGE:
            return True
        return other.kind is TargetKind.PASSAGE and (
            self.passage_id == other.passage_id or (self.page, self.quote) == (other.page, other.quote)
        )


def on_document(document: Document) -> Target:
    """A whole document."""
    return Target(TargetKind.DOCUMENT, document.name, document.project, document.id)


def on_passage(passage: Passage) -> Target:
    """One passage of a document."""
    return Target(
        TargetKind.PASSAGE,
        passage.document_name,
        passage.project,
        passage.document_id,
        passage.id,
        passage.page,
        passage.text[:_QUOTE],
    )


def on_cell(topic: str, topic_id: int, column: GapKind, project: str | None) -> Target:
    """One cell of the board of a project; None: of the whole library."""
    return Target(TargetKind.CELL, topic, project, topic_id=topic_id, column=column)


def checked_target(target: Target, catalogue: Catalogue) -> Target:
    """The target with its document's present name and project. Raises NotFound when the document is not there."""
    found = current_target(target, catalogue)
    if found is None:
        raise NotFound("This document is not (or no longer) in the library.", "Open another one.")
    return found


def current_target(target: Target, catalogue: Catalogue) -> Target | None:
    """As `checked_target`; None when the document is not there. Documents change their project, and with it who may
    see them."""
    if target.document_id is None:
        return target
    document = catalogue.documents_by_id([target.document_id]).get(target.document_id)
    return None if document is None else replace(target, name=document.name, project=document.project)
