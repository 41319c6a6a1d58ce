"""Records of documents as the classifier saw them: made when a document is read, or later from its stored pages."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from threading import Lock

from core.documents import Document, DocumentState, Labels, Origin, Page
from core.ingest.classify import TruthClassifier
from core.ingest.classify_reading import Reading, read_for_classifying
from core.ingest.lessons import traits_of
from core.library.lessons_store import LessonStore, Record
from core.ports import Catalogue, Vectors

__all__ = ["Records"]

_REMEMBERED = 16  # documents between their classification and their storing


class Records:
    """The records of one tenant. `seen` hears of what was just classified, so that recording it asks nothing again."""

    def __init__(
        self, store: LessonStore, catalogue: Catalogue, own: TruthClassifier, model: Callable[[], str]
    ) -> None:
        self._store, self._catalogue, self._own, self._model = store, catalogue, own, model
        self._lock = Lock()
        self._seen: OrderedDict[str, tuple[Reading, Vectors, Labels]] = OrderedDict()

    def seen(self, reading: Reading, vectors: Vectors, own: Labels) -> None:
        """A document was classified. own: labels without lessons and corrections."""
        with self._lock:
            self._seen[_key(reading)] = (reading, vectors, own)
            while len(self._seen) > _REMEMBERED:
                self._seen.popitem(last=False)

    def kept(self, document: Document, pages: Sequence[Page]) -> Record | None:
        """Record a document that was read; none is made of a note or of a file without text. Raises StoreFailed."""
        if document.origin is not Origin.DOCUMENT or not pages:
            return None
        key = _key(read_for_classifying(document.name, document.title, pages, {}))
        with self._lock:
            known = self._seen.pop(key, None)
        if known is None:
            reading, vectors = self._own.read(document.name, document.title, pages)
            known = (reading, vectors, self._own.labels(reading, vectors, {}))
        record = Record(document.id, self._model(), traits_of(*known))
        self._store.save_record(record, known[1])
        return record

    def made(self, document: Document) -> Record | None:
        """The record of a document read before records were kept, from its stored pages; None when they are gone."""
        if document.state is not DocumentState.READY:
            return None
        return self.kept(document, _pages(self._catalogue, document))

    def all(self) -> Iterator[Sequence[Record]]:
        """Every record, some hundred at a time."""
        return self._store.records(self._model())

    def reading(self, document: Document) -> tuple[Reading, Vectors] | None:
        """What was read of a stored document, and its sentences' vectors as they are kept; None when its pages are
        gone."""
        pages = _pages(self._catalogue, document)
        if not pages:
            return None
        reading = read_for_classifying(document.name, document.title, pages, {})
        vectors = self._store.segments(document.id)
        if vectors is None or len(vectors) != len(reading.segments):
            return self._own.read(document.name, document.title, pages)
        return reading, vectors


def _key(reading: Reading) -> str:
    digest = sha256()
    for text in (reading.name, reading.title, reading.body):
        digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()


def _pages(catalogue: Catalogue, document: Document) -> Sequence[Page]:
    numbers = range(1, document.pages + 1)
    texts = catalogue.page_texts([(document.id, number) for number in numbers])
    return [Page(number, texts[document.id, number]) for number in numbers] if len(texts) == len(numbers) else []
