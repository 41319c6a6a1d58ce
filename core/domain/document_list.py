"""What a list of documents is asked for, and one page of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from core.domain.documents import Document

__all__ = [
    "ARCHIVED",
    "UNKNOWN_TRUTH",
    "DocumentOrder",
    "DocumentPage",
    "DocumentQuery",
    "ListedDocument",
    "NamingPage",
]

ARCHIVED = "archived"
"""A state of the list beside those of `DocumentState`."""
UNKNOWN_TRUTH = "unknown"
"""The truth of a document that was read and not labelled."""


class DocumentOrder(StrEnum):
    """What a list is sorted by. Each begins with what people look for first: the latest date, the name from A on, the
    least certain label; what has no value comes last in both directions."""

    MATCH = "match"
    UPLOADED = "uploaded"
    NAME = "name"
    TRUTH = "truth"
    CERTAINTY = "certainty"
    DATE = "date"
    PAGES = "pages"
    TAGS = "tags"
    STATE = "state"


@dataclass(frozen=True, slots=True)
class DocumentQuery:
    """Which documents, in which order, and which page of them.

    words: part of a name or title. hits: (passage id, score) of what was found inside documents; a document with one is
    listed as if its name had the words. state: of `DocumentState`, ARCHIVED, or "" for all but the archived. project:
    "" for the documents without one, None for any. truths: any of them, UNKNOWN_TRUTH too. tags: any of them.
    reverse: the other direction. limit: None for all.
    """

    words: str = ""
    hits: tuple[tuple[int, float], ...] = ()
    state: str = ""
    project: str | None = None
    truths: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    order: DocumentOrder = DocumentOrder.UPLOADED
    reverse: bool = False
    limit: int | None = 50
    offset: int = 0


@dataclass(frozen=True, slots=True)
class ListedDocument:
    """A document of the list. passage: the best hit inside it, None where only its name matches. sentence: the part of
    that passage that has the words. mentions: passages that mention the entity a list is about."""

    document: Document
    passage: int | None = None
    sentence: str = ""
    mentions: int = 0


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """One page of a list. total: documents on all pages. counts: "state", "project", "truth" and "tag" → value →
    documents, each under the other filters. partly: no passage has all the words; those with some of them were taken.
    """

    entries: tuple[ListedDocument, ...]
    total: int
    counts: Mapping[str, Mapping[str, int]]
    partly: bool = False


@dataclass(frozen=True, slots=True)
class NamingPage:
    """One page of the documents that mention an entity, most mentions first; each with its first mention. total: on all
    pages. spellings: document id → the entity as the first mention spells it, where that is known."""

    entries: tuple[ListedDocument, ...]
    total: int
    spellings: Mapping[int, str]
