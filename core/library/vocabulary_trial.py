"""What a vocabulary would do before it is saved: to a sentence, and to a document of the library."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from core.documents import Document, Label, Page
from core.errors import BadRequest
from core.library.relabelling import FIELDS, decided_anew
from core.ports import Catalogue, Classifier
from core.queries import Chip
from core.search.route import read_route
from core.speaking import speaking
from core.vocabulary import Vocabulary

__all__ = ["Outcome", "Tried", "tried_document", "tried_text"]

_CHIPS = ("domain", "jurisdiction")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Labels by field, and the chips a question with these words would get."""

    labels: Mapping[str, Label]
    chips: tuple[Chip, ...] = ()


@dataclass(frozen=True, slots=True)
class Tried:
    """The same words under the vocabulary that holds, and under the one that is tried."""

    now: Outcome
    then: Outcome

    @property
    def moved(self) -> tuple[str, ...]:
        """The fields whose value would be another."""
        return tuple(name for name in FIELDS if self.now.labels[name].value != self.then.labels[name].value)


def tried_text(text: str, now: Vocabulary, then: Vocabulary, classifier: Classifier, today: date) -> Tried:
    """A text as a document without a name, and as a question. Raises BadRequest when it is empty."""
    if not text.strip():
        raise BadRequest("There is nothing to try.", "Type or paste a sentence or a page.")

    def outcome(vocabulary: Vocabulary) -> Outcome:
        with speaking(vocabulary):
            labels = classifier.document("", "", [Page(1, text)], {}, {})
            chips = tuple(chip for chip in read_route(text, today).chips if chip.kind in _CHIPS)
        return Outcome({field: getattr(labels, field) for field in FIELDS}, chips)

    return Tried(outcome(now), outcome(then))


def tried_document(
    document: Document, catalogue: Catalogue, now: Vocabulary, then: Vocabulary, classifier: Classifier
) -> Tried:
    """A document's labels as they would come out; `now` too, which may differ from what it carries until labels are
    decided anew."""

    def outcome(vocabulary: Vocabulary) -> Outcome:
        with speaking(vocabulary):
            anew = decided_anew(document, catalogue, classifier)
        return Outcome({field: anew.get(field, getattr(document.labels, field)) for field in FIELDS})

    return Tried(outcome(now), outcome(then))
