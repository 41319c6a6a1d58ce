"""Search index of insights and episodes: one pseudo-document each, kept in step with the stored row."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import PurePath

from core.domain.documents import Document, DocumentState, Page, Passage, SourceType
from core.domain.errors import BadRequest
from core.domain.extraction import BlockKind, ExtractedDocument
from core.ingestion.chunking import split
from core.ingestion.parsers.blocks import PageWriter
from core.ingestion.parsers.text_cleaning import clean
from core.ingestion.sentence_vectors import embed_passages
from core.insights.store import Episode, Insight, InsightOrEpisode, InsightStore, M
from core.ports.catalogue import Catalogue
from core.ports.stores import Embedder, SparseIndex, VectorIndex, Vectors

__all__ = [
    "InsightIndexer",
    "PreparedInsight",
    "PseudoDocument",
    "clean_text",
    "document_of",
    "pseudo_document_of",
    "title_of",
    "with_metadata",
]

_MEDIA_TYPE = "text/plain"

_TITLE, _CONTEXT = 80, 400

_UNKNOWN_PROJECT = "unknown project"


@dataclass(frozen=True, slots=True)
class PseudoDocument:
    """The indexed form of an insight or episode; `text == page.text[start:end]` for every passage."""

    page: Page
    passages: tuple[Passage, ...]


def pseudo_document_of(item: InsightOrEpisode) -> PseudoDocument:
    """The page of an insight or episode and its passages. Raises BadRequest for a text without a word."""
    writer = PageWriter(1)
    if isinstance(item, Episode):
        writer.add(item.question, BlockKind.FURNITURE)
    for paragraph in _body(item).split("\n\n"):
        writer.add(paragraph, BlockKind.PARAGRAPH)
    if isinstance(item, Episode):
        # On the page, but not searched: a question that names a file is answered by the file.
        writer.add(_opened(item), BlockKind.FURNITURE)
    page = writer.page()
    pieces = split(ExtractedDocument((page,), tuple(writer.blocks), _MEDIA_TYPE), "")
    if not any(letter.isalnum() for piece in pieces for letter in piece.text):
        raise BadRequest(f"This {item.origin.value} has no words.", "Write at least a word.")
    context = item.question[:_CONTEXT] if isinstance(item, Episode) else ""
    return PseudoDocument(page, tuple(with_metadata(replace(piece, context=context), item) for piece in pieces))


def with_metadata(passage: Passage, item: InsightOrEpisode) -> Passage:
    """A passage with the metadata filters read. Its truth stays unknown: a note is no evidence of any truth."""
    return replace(
        passage,
        origin=item.origin,
        sector=item.sector,
        tags=item.tags,
        project=item.project,
        date=item.at,
        source_type=SourceType.MANUAL,
        truth=None,
    )


def _body(item: InsightOrEpisode) -> str:
    if isinstance(item, Insight):
        return item.text
    assert isinstance(item, Episode)
    return "\n\n".join(part for part in (item.reflection, _outcome(item.reward)) if part)


def _opened(item: Episode) -> str:
    names = list(dict.fromkeys(PurePath(link.document_name).name for link in item.links))
    return f"Opened: {', '.join(names)}." if names else "Nothing was opened."


def _outcome(reward: float) -> str:
    """What came of a question, in words.

    >>> _outcome(0.5), _outcome(-1), _outcome(0)
    ('It helped (outcome +0.5).', 'It did not help (outcome -1).', 'The outcome was neither good nor bad.')
    """
    if reward == 0:
        return "The outcome was neither good nor bad."
    return f"It {'helped' if reward > 0 else 'did not help'} (outcome {reward:+g})."


def title_of(item: InsightOrEpisode) -> str:
    """The first words of an insight or episode, on one line of at most 80 characters."""
    text = item.question if isinstance(item, Episode) else _body(item)
    line = " ".join(text.split())
    return line if len(line) <= _TITLE else f"{line[: _TITLE - 2].rsplit(' ', 1)[0]} …"


def document_of(item: InsightOrEpisode, known: Document | None = None) -> Document:
    """The pseudo-document of an insight or episode. known: the stored one.

    Its hash identifies the row, not the words: two equal notes are two documents, and a rewritten note stays one
    document. Citations of an older wording are detected by their passage ids, which a rewritten note gives up.
    """
    name = f"{item.origin.value}:{item.id}"
    new = known or Document(0, "", sha256(name.encode()).hexdigest(), 0, DocumentState.PENDING, item.at)
    title = title_of(item)
    return replace(
        new,
        name=f"{item.origin.value.capitalize()} {item.id}: {title}",
        title=title,
        media_type=_MEDIA_TYPE,
        source_type=SourceType.MANUAL,
        origin=item.origin,
        project=item.project,
        tags=item.tags,
        date=item.at,
    )


def clean_text(text: str) -> str:
    """Text as it can be stored and searched, without surrounding whitespace."""
    return clean(text).strip()


@dataclass(frozen=True, slots=True)
class PreparedInsight:
    """A pseudo-document with its vectors: float32, shape (passages, dim), L2-normalised. model: whose they are."""

    side: PseudoDocument
    vectors: Vectors
    model: str


class InsightIndexer:
    """Keeps the search index consistent with the stored rows.

    The row is authoritative: it is written first, then `settled` updates the index and checks whether the row has
    changed in the meantime. So neither concurrent edits nor a killed process leave deleted text searchable.
    """

    def __init__(
        self,
        store: InsightStore,
        catalogue: Catalogue,
        vectors: VectorIndex,
        sparse: SparseIndex,
        embedder: Embedder,
        embedded: Callable[[str], None] = lambda model: None,
    ) -> None:
        """embedded: called with the model of the vectors that were stored."""
        self._store, self._catalogue, self._embedded = store, catalogue, embedded
        self._index, self._sparse, self._embedder = vectors, sparse, embedder

    def prepare(self, item: InsightOrEpisode) -> PreparedInsight:
        """Prepare an insight or episode for indexing. Raises ModelUnavailable, BadRequest for a text without a word."""
        side = pseudo_document_of(self._placed(item))
        found = embed_passages(self._embedder, side.passages)
        pairs = zip(side.passages, found.meanings, strict=True)
        passages = tuple(replace(each, meanings=known) for each, known in pairs)
        return PreparedInsight(replace(side, passages=passages), found.vectors, found.model)

    def synchronize(self, item: M, prepared: PreparedInsight | None = None, *, anew: bool = False) -> M:
        """The insight or episode as its row is now, with the search index brought in step.

        prepared: the embedded form, when there is one. anew: index it again even when nothing has changed.
        """
        while True:
            if item.deleted_at is not None:
                self._forget(item)
            else:
                self._show(item, prepared, anew=anew)
            now = self._store.find(type(item), item.id)
            if now.version == item.version:
                return now
            item, prepared = now, None

    def needs_reindex(self, item: InsightOrEpisode) -> bool:
        """Whether its words have changed, so that its passages must be made anew."""
        document = self._document(item)
        return document is None or self._changed(document, pseudo_document_of(self._placed(item)))

    def _placed(self, item: M) -> M:
        """The item with the project its searchable copy belongs to: its own and those of the documents it cites, also
        of deleted ones.

        An insight on a document of one project would otherwise be found by people who do not see that document. One on
        documents of several projects, or of an unknown one, is found by people who see all projects."""
        cited = {link.document_id for link in item.links}
        known = self._store.projects_of(sorted(cited))
        unknown = {_UNKNOWN_PROJECT} if cited - known.keys() else set()
        projects = sorted({item.project, *known.values(), *unknown} - {None}, key=str)
        return replace(item, project=" + ".join(map(str, projects)) or None)

    def _document(self, item: InsightOrEpisode) -> Document | None:
        """Its searchable document, also when a killed program left it before the row could name it."""
        found = self._catalogue.documents_by_id([item.document_id]) if item.document_id else {}
        if item.document_id in found:
            return found[item.document_id]
        return self._catalogue.document_by_hash(document_of(item).sha256, self._placed(item).project)

    def _changed(self, document: Document, side: PseudoDocument) -> bool:
        """Whether the stored passages say something else."""
        stored = [(each.start, each.end, each.context, each.text) for each in self._catalogue.passages_of(document.id)]
        return stored != [(each.start, each.end, each.context, each.text) for each in side.passages]

    def _show(self, item: InsightOrEpisode, prepared: PreparedInsight | None, *, anew: bool) -> None:
        known, placed = self._document(item), self._placed(item)
        if known is not None and not anew and not self._changed(known, pseudo_document_of(placed)):
            self._relabel(known, placed)
            document_id = known.id
        else:
            document_id = self._store_side(item, prepared or self.prepare(item), known)
        if document_id != item.document_id:
            self._store.assign_document(item, document_id)

    def _store_side(self, item: InsightOrEpisode, prepared: PreparedInsight, known: Document | None) -> int:
        """Put the passages where every leg finds them; the old ones leave first."""
        side, vectors = prepared.side, prepared.vectors
        placed = self._placed(item)
        document = document_of(placed, known or self._catalogue.add_document(document_of(placed)))
        sized = replace(document, size_bytes=len(side.page.text.encode()))
        self._sparse.delete([document.id])
        self._index.delete([document.id])
        passages = [replace(each, archived=document.archived) for each in side.passages]
        stored = self._catalogue.save_ingested(sized, [side.page], passages, vectors, embedded_by=prepared.model)
        self._index.add(stored, vectors, embedded_by=prepared.model)
        self._sparse.add(stored)
        self._embedded(prepared.model)
        return document.id

    def _relabel(self, document: Document, item: InsightOrEpisode) -> None:
        """Tags, sector, project changed; the words and their vectors did not."""

        def edit(now: Document, passages: Sequence[Passage]) -> tuple[Document, Sequence[Passage]]:
            return document_of(item, now), [with_metadata(each, item) for each in passages]

        passages = self._catalogue.passages_of(document.id)
        if edit(document, passages) != (document, [*passages]):
            self._index.update(self._catalogue.edit_labels(document.id, edit))

    def _forget(self, item: InsightOrEpisode) -> None:
        """Gone from every leg: first from the catalogue, which every search asks last."""
        document = self._document(item)
        if document is not None:
            self._catalogue.delete(document.id)
        for document_id in {item.document_id, document.id if document else 0} - {0}:
            self._sparse.delete([document_id])
            self._index.delete([document_id])
        if item.document_id:
            self._store.assign_document(item, 0)
