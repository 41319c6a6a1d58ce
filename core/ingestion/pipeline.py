"""The ingestion pipeline of a file, from bytes to labelled passages with vectors: read → split → embed → classify."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from core.domain.datasets import ReadTable
from core.domain.documents import Document, DocumentState, Label, Labels, Page, Passage, TableRole
from core.domain.entities import Entity
from core.domain.errors import EmptyFile
from core.domain.extraction import ExtractedDocument
from core.ingestion.chunking import split
from core.ingestion.classification.classifier import Classifier
from core.ingestion.classification.relabel import parse_date, relabel
from core.ingestion.classification.sample import DocumentSample, read_for_classifying
from core.ingestion.sentence_vectors import EmbeddedPassages, embed_passages
from core.knowledge.workspace_terms import WorkspaceTerms
from core.ner.recognizer import tag_entities
from core.ports.reader import FileReader
from core.ports.stores import Embedder, Vectors

__all__ = ["MOST_PASSAGES", "IngestedDocument", "IngestionPipeline", "document_title"]


@dataclass(frozen=True, slots=True)
class IngestedDocument:
    """One file, ready to be stored. vectors: float32, shape (len(passages), dim), L2-normalised. entities: all entities
    named in its passages, each once. model: whose vectors they are."""

    document: Document
    pages: tuple[Page, ...]
    passages: tuple[Passage, ...]
    vectors: Vectors
    entities: tuple[Entity, ...] = ()
    model: str = ""


class IngestionPipeline:
    """Turns original files into labelled passages with vectors. Thread-safe; does not access stores."""

    def __init__(self, embedder: Embedder, classifier: Classifier, reader: FileReader) -> None:
        self._embedder, self._classifier, self._reader = embedder, classifier, reader

    # Long: the steps in their order, each told as it begins.
    def run(
        self,
        document: Document,
        data: bytes,
        corrections: Mapping[str, Label],
        on_step: Callable[[str], None],
        on_tables: Callable[[Sequence[ReadTable]], None] = lambda tables: None,
        *,
        terms: WorkspaceTerms,
    ) -> IngestedDocument:
        """Ingests one original file.

        on_step: called with "read", "load" (only with tables), "split", "embed", "classify" and "entities" as each step
        begins, and with "embed 256/1000" during a long one; it may raise to end the work. on_tables: called with the
        file's tables once they are parsed, so that they can be queried while the text is still being embedded.

        Raises BadFile for an unusable file and ModelUnavailable if a model cannot be loaded.
        """
        extracted = self._read(document.name, data, on_step, on_tables)
        title = document_title(extracted, document.name)
        on_step("split")
        passages, left_out = _searchable(split(extracted, title, on_passage=lambda done: on_step(f"split {done}")))
        if not passages:
            raise EmptyFile(
                f"'{document.name}' contains no sentence to search, only headers or page numbers.",
                "Check that it is the right file.",
            )
        sample = read_for_classifying(document.name, title, extracted.pages, extracted.metadata)
        found = self.embed(passages, on_step, sample.segments)
        on_step("classify")
        known = found.segments if found.model == self._embedder.name else {}  # the library's model may have changed
        sampled = self._classifier.segment_vectors(sample, known)
        labels = self._classifier.labels(sample, sampled, corrections, terms)
        passages = tuple(replace(each, meanings=packed) for each, packed in zip(passages, found.meanings, strict=True))
        ready = replace(
            _ready_document(document, extracted, labels),
            title=title,
            passages=len(passages),
            warnings=(*extracted.warnings, *left_out),
        )
        inherited = [_with_document_facts(passage, ready, extracted.setup_pages) for passage in passages]
        on_step("entities")
        labelled, entities = tag_entities(
            self._with_truths(ready, (sample, sampled), inherited, found.vectors, terms),
            lambda done: on_step(f"entities {done}/{len(passages)}"),
        )
        return IngestedDocument(ready, extracted.pages, labelled, found.vectors, entities, found.model)

    def embed(
        self, passages: Sequence[Passage], on_step: Callable[[str], None], segments: Sequence[str] = ()
    ) -> EmbeddedPassages:
        """The vectors of passages, as `embed_passages` gives them. Raises ModelUnavailable."""
        on_step("embed")
        return embed_passages(self._embedder, passages, lambda done: on_step(f"embed {done}/{len(passages)}"), segments)

    def _with_truths(
        self,
        document: Document,
        read: tuple[DocumentSample, Vectors],
        passages: Sequence[Passage],
        vectors: Vectors,
        terms: WorkspaceTerms,
    ) -> Sequence[Passage]:
        """The passages labelled. read: the document's sample, and the vectors of its sentences.

        Where somebody set the document's truth, they are compared with the truth it had before, and follow as they did
        then: reading a file again changes nothing that a correction left.
        """
        truth = document.labels.truth
        if not truth.confirmed:
            return self._classifier.passages(document.labels, passages, vectors)
        before = self._classifier.uncorrected(*read, terms)
        compared = replace(document, labels=replace(document.labels, truth=before.truth))
        labelled = self._classifier.passages(compared.labels, passages, vectors)
        return relabel(compared, labelled, {"truth": truth}, terms)[1]

    def _read(
        self,
        name: str,
        data: bytes,
        on_step: Callable[[str], None],
        on_tables: Callable[[Sequence[ReadTable]], None],
    ) -> ExtractedDocument:
        """Extracts text and tables; the tables' temporary folder exists only while `on_tables` runs."""
        on_step("read")
        with self._reader.scratch_folder() as folder:
            extracted = self._reader.read(name, data, folder)
            if extracted.tables:
                on_step("load")
            on_tables(extracted.tables)
        return extracted

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices about the loaded models for the user, from an embedder's `notice`."""
        notice = getattr(self._embedder, "notice", "")
        return (notice,) if notice else ()


MOST_PASSAGES = 50_000
"""Passages of one document, some 60 million characters. Chosen by hand, not fitted."""


def _searchable(passages: Sequence[Passage]) -> tuple[tuple[Passage, ...], tuple[str, ...]]:
    """The passages that are searched, and a warning that tells up to where the document was read."""
    if len(passages) <= MOST_PASSAGES:
        return tuple(passages), ()
    last = passages[MOST_PASSAGES - 1]
    where = f"row {last.rows[1]:,}" if last.rows is not None else f"page {last.page:,}, character {last.end:,}"
    return tuple(passages[:MOST_PASSAGES]), (
        f"It has {len(passages):,} passages; the first {MOST_PASSAGES:,} can be searched, up to {where}. Split the file"
        " to search the rest.",
    )


def _ready_document(document: Document, extracted: ExtractedDocument, labels: Labels) -> Document:
    """The document with the facts found by reading and classifying it."""
    date = parse_date(labels.effective_date.value) or parse_date(extracted.metadata.get("published", "")[:10])
    return replace(
        document,
        state=DocumentState.READY,
        media_type=extracted.media_type,
        paged=extracted.paged,
        labels=labels,
        date=date,
        pages=len(extracted.pages),
        warnings=extracted.warnings,
        step="",
        failure="",
        remedy="",
    )


def document_title(extracted: ExtractedDocument, name: str) -> str:
    """The document's own title, else its first level-1 heading, else its file name without extension."""
    first = next((text for level, text in extracted.headings if level == 1 and 3 < len(text) <= 120), "")
    return extracted.title or first or PurePath(name).stem.replace("_", " ").strip() or name


def _with_document_facts(passage: Passage, document: Document, setup_pages: Collection[int]) -> Passage:
    """The passage with the labels and table facts it inherits from its document."""
    return replace(
        passage,
        document_id=document.id,
        document_name=document.name,
        date=document.date,
        source_type=document.source_type,
        project=document.project,
        tags=document.tags,
        archived=document.archived,
        table_role=TableRole.SETUP if passage.rows is not None and passage.page in setup_pages else None,
    )
