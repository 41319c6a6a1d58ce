"""Changes of documents that tests make past the services."""

from collections.abc import Sequence
from dataclasses import replace

from core.domain.documents import Document, Passage
from core.ports.catalogue import Catalogue

__all__ = ["store_labels"]

_EDITED = ("title", "project", "source_type", "labels", "date", "tags", "archived", "owner", "url", "version_of")


def store_labels(catalogue: Catalogue, document: Document, passages: Sequence[Passage] = ()) -> None:
    """Give a document and some of its passages these labels, tags, dates, project or archived flag. Raises NotFound,
    BadRequest."""
    changed = {each.id: each for each in passages}

    def edit(now: Document, stored: Sequence[Passage]) -> tuple[Document, Sequence[Passage]]:
        edited = replace(now, **{name: getattr(document, name) for name in _EDITED})
        return edited, [changed.get(each.id, each) for each in stored]

    catalogue.edit_labels(document.id, edit)
