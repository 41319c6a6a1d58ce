"""Names of what is ranked and graded, which stay the same when a file is read again."""

from hashlib import sha256 as digest

from core.documents import Passage
from core.judged import Level
from core.results import Candidate, Dropped, Hit, SearchResult

__all__ = ["document_of", "passage_unit", "passages_in", "ranking", "unit_of"]

_DIGITS = 12


def passage_unit(sha256: str, passage: Passage) -> str:
    """A passage's name: "<sha256 of its file>:<page>:<12 hex digits of its text's SHA-256>".

    It needs no database id, so it is the same after the file was deleted and read again, on another machine too. A text
    that stands twice on a page is one unit.

    >>> passage_unit("00ff", Passage("Pay overtime.", page=3, start=0, end=13, sentences=()))
    '00ff:3:53794dcaaa66'
    """
    return f"{sha256}:{passage.page}:{digest(passage.text.encode()).hexdigest()[:_DIGITS]}"


def document_of(unit: str) -> str:
    """SHA-256 of the document that a unit is, or is a part of.

    >>> document_of("00ff:3:53794dcaaa66"), document_of("00ff")
    ('00ff', '00ff')
    """
    return unit.partition(":")[0]


def unit_of(result: SearchResult, found: Hit | Dropped | Candidate, level: Level) -> str:
    """The unit of something a search found: its passage's name, or the SHA-256 of its document."""
    passage = (found if isinstance(found, Candidate) else found.candidate).passage
    sha256 = result.documents[passage.document_id].sha256
    return sha256 if level is Level.DOCUMENT else passage_unit(sha256, passage)


def ranking(result: SearchResult, level: Level, depth: int) -> tuple[str, ...]:
    """The first `depth` units shown, best first, each once: documents stand where their best passage stands."""
    return tuple(dict.fromkeys(unit_of(result, hit, level) for hit in result.hits))[:depth]


def passages_in(result: SearchResult) -> dict[str, Passage]:
    """Unit → passage of everything a search looked at: shown, left out, or only retrieved.

    Retrieval does not depend on the profile, so two profiles asked the same have looked at the same passages.
    """
    found: tuple[Hit | Dropped | Candidate, ...] = (*result.hits, *result.dropped, *result.candidates)
    return {
        unit_of(result, one, Level.PASSAGE): (one if isinstance(one, Candidate) else one.candidate).passage
        for one in found
    }
