"""The upload flow of one file, from bytes to labelled passages with vectors: read → classify → split → embed."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

from core.documents import Document, DocumentState, Label, Labels, Page, Passage, TableRole
from core.entities import Entity
from core.errors import EmptyFile
from core.ingest.chunk import split
from core.ingest.entities import with_entities
from core.ingest.extract import Extracted
from core.ingest.isolate import IsolatedReader
from core.ingest.parts import embedded
from core.ingest.relabel import moment
from core.ports import Classifier, Embedder, Vectors
from core.settings import Settings
from core.tabular import ReadTable

__all__ = ["Ingested", "Ingestor"]


@dataclass(frozen=True, slots=True)
class Ingested:
    """One file, ready to be stored. vectors: float32, shape (len(passages), dim), L2-normalised. entities: all that its
    passages name, each once."""

    document: Document
    pages: tuple[Page, ...]
    passages: tuple[Passage, ...]
    vectors: Vectors
    entities: tuple[Entity, ...] = ()


class Ingestor:
    """Turns originals into labelled passages with vectors. Thread-safe; touches no store."""

    def __init__(self, embedder: Embedder, classifier: Classifier, limits: Settings) -> None:
        self._embedder, self._classifier = embedder, classifier
        self._reader = IsolatedReader(limits.file_seconds, limits.file_megabytes)

    def run(
        self,
        document: Document,
        data: bytes,
        corrections: Mapping[str, Label],
        on_step: Callable[[str], None],
        on_tables: Callable[[Sequence[ReadTable]], None] = lambda tables: None,
    ) -> Ingested:
        """Ingest one original; `on_step` hears "read", "classify", "split" and "embed" as each begins, and
        "embed 256/1000" while a long one is embedded; `on_tables`
        gets the tables of a file as soon as they are read: they can be asked while the text is still embedded.

        Raises a BadFile for a file that cannot be used; ModelUnavailable is the only other error of ours.
        """
        extracted = self._read(document.name, data, on_step, on_tables)
        title = _title(extracted, document.name)
        on_step("classify")
        labels = self._classifier.document(document.name, title, extracted.pages, corrections, extracted.metadata)
        on_step("split")
        passages = split(extracted, title)
        if not passages:
            raise EmptyFile(
                f"'{document.name}' holds no sentence to search, only headers or page numbers.",
                "Check that it is the right file.",
            )
        on_step("embed")
        vectors, meanings = embedded(self._embedder, passages, lambda done: on_step(f"embed {done}/{len(passages)}"))
        passages = tuple(replace(each, meanings=known) for each, known in zip(passages, meanings, strict=True))
        described = replace(_described(document, extracted, labels), title=title, passages=len(passages))
        told = [_told(passage, described, extracted.setup_pages) for passage in passages]
        named, entities = with_entities(self._classifier.passages(labels, told, vectors))
        return Ingested(described, extracted.pages, named, vectors, entities)

    def _read(
        self,
        name: str,
        data: bytes,
        on_step: Callable[[str], None],
        on_tables: Callable[[Sequence[ReadTable]], None],
    ) -> Extracted:
        """Tables come as files in a folder that is gone when they are loaded."""
        on_step("read")
        with TemporaryDirectory(prefix="fivefold-tables-") as folder:
            extracted = self._reader.read(name, data, Path(folder))
            if extracted.tables:
                on_step("load")
            on_tables(extracted.tables)
        return extracted

    @property
    def notices(self) -> tuple[str, ...]:
        """What the user should know of the models, once they are loaded; an embedder may carry a `notice`."""
        notice = getattr(self._embedder, "notice", "")
        return (notice,) if notice else ()

    def close(self) -> None:
        """Stop the reading processes."""
        self._reader.close()


def _described(document: Document, extracted: Extracted, labels: Labels) -> Document:
    """The document as it is once it is read and classified."""
    date = moment(labels.effective_date.value) or moment(extracted.metadata.get("published", "")[:10])
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


def _title(extracted: Extracted, name: str) -> str:
    """The document's own title, else its first heading of level 1, else its name without ending."""
    first = next((text for level, text in extracted.headings if level == 1 and 3 < len(text) <= 120), "")
    return extracted.title or first or PurePath(name).stem.replace("_", " ").strip() or name


def _told(passage: Passage, document: Document, setup_pages: Collection[int]) -> Passage:
    """A passage with what it takes over from its document and its table."""
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
