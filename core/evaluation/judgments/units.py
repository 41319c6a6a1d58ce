"""Units: stable names of ranked documents and passages, and an index of the units in a library."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from hashlib import sha256 as digest

from core.domain.documents import Document, Passage
from core.domain.errors import BadRequest
from core.domain.evaluation import Level
from core.domain.results import Candidate, Dropped, Hit, SearchResult
from core.evaluation.metrics.measures import normalised
from core.ports.catalogue import Catalogue

__all__ = ["UnitIndex", "document_of", "passage_unit", "passages_in", "ranking", "unit_of"]

_DIGITS = 12  # hex digits (48 bits): enough to tell the passages of one page apart


def passage_unit(sha256: str, passage: Passage) -> str:
    """A passage's name: "<sha256 of its file>:<page>:<12 hex digits of its text's SHA-256>".

    It needs no database id, so it survives deleting and re-reading the file, also on another machine. Equal texts on
    one page are one unit.

    >>> passage_unit("00ff", Passage("Pay overtime.", page=3, start=0, end=13, sentences=()))
    '00ff:3:53794dcaaa66'
    """
    return f"{sha256}:{passage.page}:{digest(passage.text.encode()).hexdigest()[:_DIGITS]}"


def document_of(unit: str) -> str:
    """SHA-256 of the document that the unit is or belongs to.

    >>> document_of("00ff:3:53794dcaaa66"), document_of("00ff")
    ('00ff', '00ff')
    """
    return unit.partition(":")[0]


def unit_of(result: SearchResult, found: Hit | Dropped | Candidate, level: Level) -> str:
    """The unit of a search result: its passage's name, or the SHA-256 of its document."""
    passage = (found if isinstance(found, Candidate) else found.candidate).passage
    sha256 = result.documents[passage.document_id].sha256
    return sha256 if level is Level.DOCUMENT else passage_unit(sha256, passage)


def ranking(result: SearchResult, level: Level, depth: int) -> tuple[str, ...]:
    """The first `depth` units shown, best first, without duplicates: a document ranks where its best passage does."""
    return tuple(dict.fromkeys(unit_of(result, hit, level) for hit in result.hits))[:depth]


def passages_in(result: SearchResult) -> dict[str, Passage]:
    """Unit → passage of everything a search considered: shown, dropped, or only retrieved.

    Retrieval does not depend on the profile, so two profiles consider the same passages for a question.
    """
    found: tuple[Hit | Dropped | Candidate, ...] = (*result.hits, *result.dropped, *result.candidates)
    return {
        unit_of(result, one, Level.PASSAGE): (one if isinstance(one, Candidate) else one.candidate).passage
        for one in found
    }


_FOR_DOCUMENTS = "Name passages by their unit, or by document, page and how they begin."


class UnitIndex:
    """Units of one tenant's documents, including archived ones. Caches each document: create a new index per task."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._passages: dict[str, dict[str, Passage]] = {}
        self._texts: dict[str, str] = {}

    @cached_property
    def _all(self) -> Sequence[Document]:
        return self._catalogue.documents(archived=None)

    @cached_property
    def _documents(self) -> Mapping[str, Document]:
        """SHA-256 → document; of several with the same bytes the oldest."""
        return {document.sha256: document for document in self._all}

    @cached_property
    def _names(self) -> Mapping[str, Sequence[str]]:
        """File name → SHA-256s of the files called so."""
        names: dict[str, list[str]] = {}
        for sha256, document in self._documents.items():
            names.setdefault(document.name, []).append(sha256)
        return names

    @cached_property
    def ids(self) -> frozenset[int]:
        """The ids of all documents."""
        return frozenset(document.id for document in self._all)

    def document(self, unit: str) -> Document | None:
        """The document that a unit is, or is a part of."""
        return self._documents.get(document_of(unit))

    def passages(self, sha256: str) -> Mapping[str, Passage]:
        """Unit → passage of a document, in reading order; empty when it is not here."""
        if sha256 not in self._passages:
            document = self._documents.get(sha256)
            found = self._catalogue.passages_of(document.id) if document is not None else ()
            self._passages[sha256] = {passage_unit(sha256, passage): passage for passage in found}
        return self._passages[sha256]

    def passage(self, unit: str) -> Passage | None:
        """The passage of a unit; None for a document's, and for what is not here."""
        return self.passages(document_of(unit)).get(unit)

    def unit(self, unit: str, level: Level) -> str:
        """The unit itself, when the library holds it and sets of this level grade it.

        A passage is a part of its document, so it may be graded for either level. Raises BadRequest saying why not.
        """
        if document_of(unit) not in self._documents:
            raise BadRequest(f"the library contains no document '{_short(unit)}'.", "Upload the file first.")
        if unit != document_of(unit) and self.passage(unit) is None:
            raise BadRequest(f"the document has no passage '{_short(unit)}'.", "Judge it again as it is now.")
        if unit == document_of(unit) and level is Level.PASSAGE:
            raise BadRequest("it names a whole document, and this set grades passages.", _FOR_DOCUMENTS)
        return unit

    def named(self, name: str, level: Level, *, page: int | None = None, words: str = "") -> str:
        """The unit of a document called `name` (its file name, its SHA-256, or a unit), at the level of a set.

        Of a passage: the one on that page that holds these words, if there is just one. Raises BadRequest saying
        why not.
        """
        if document_of(name) in self._documents and name != document_of(name):
            return self.unit(name, level)
        sha256 = self._sha256(name)
        if level is Level.DOCUMENT:
            return sha256
        phrase = normalised(words.rstrip("…"))
        fitting = [
            unit
            for unit, passage in self.passages(sha256).items()
            if page in (None, passage.page) and phrase in self._text(unit, passage)
        ]
        if len(fitting) == 1:
            return fitting[0]
        problem = f"{len(fitting)} passages of '{name[:60]}' fit" if fitting else f"no passage of '{name[:60]}' fits"
        raise BadRequest(f"{problem} page and words.", _FOR_DOCUMENTS)

    def _text(self, unit: str, passage: Passage) -> str:
        if unit not in self._texts:
            self._texts[unit] = normalised(passage.text)
        return self._texts[unit]

    def _sha256(self, name: str) -> str:
        if name in self._documents:
            return name
        documents = self._names.get(name, ())
        if len(documents) == 1:
            return documents[0]
        if documents:
            raise BadRequest(
                f"{len(documents)} documents are called '{name[:60]}'.", "Name the one meant by its SHA-256."
            )
        raise BadRequest(f"the library contains no document '{_short(name)}'.", "Upload the file first.")


def _short(unit: str) -> str:
    """A unit as it fits into a sentence: a SHA-256 says enough with its first digits."""
    return unit if len(unit) <= 40 else f"{unit[:16]}…{unit[-16:]}"
