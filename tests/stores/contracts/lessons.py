"""What is kept of learning, made short for tests."""

from typing import Any

import numpy as np

from core.documents import Evidence, EvidenceSource, Label, Labels
from core.ingest.lessons import Traits
from core.ingest.lessons_learned import Learned
from core.library.lessons_store import (
    Act,
    ActKind,
    Confirmed,
    LessonVersion,
    Move,
    OddPassage,
    Record,
    Verdict,
)
from tests.stores.libraries import MOMENT

__all__ = ["act_of", "move_of", "record_of", "verdict_of", "version_of"]

_TOLD = (Evidence("Options considered", EvidenceSource.TEXT, "intent", 1.5, "asks"),)


def record_of(document_id: int, model: str = "model", dimensions: int = 4) -> Record:
    """A record whose vector says which document it is of."""
    mean = np.full(dimensions, (document_id % 7) / 8, dtype=np.float32)
    own = Labels(truth=Label("intent", 0.61, "compliance", 0.2), domain=Label(reason="Nothing."))
    return Record(document_id, model, Traits(own, ("name: talk", "options considered"), mean))


def version_of(number: int) -> LessonVersion:
    """A version learned from one document."""
    confirmed = (Confirmed(3, "talk 3.txt", {"truth": "intent"}, 0),)
    outcomes = (Learned("truth", 1, 0, 1, 4.0, (9,)),)
    return LessonVersion(number, MOMENT, f"print {number}", "model", confirmed, outcomes, ("page",))


def move_of(document_id: int = 3) -> Move:
    """A truth moved, with two passages."""
    before, after = Label(None, 0.0, "intent", 0.4, _TOLD, "Too close."), Label("intent", 0.7, evidence=_TOLD)
    odd = (OddPassage(8, 0.75, _TOLD),)
    return Move(document_id, "talk 3.txt", "truth", before, after, (7, 8), odd, MOMENT)


def act_of(kind: ActKind = ActKind.APPLIED, **changes: Any) -> Act:
    """An application of version 1."""
    told: dict[str, Any] = {"kind": kind, "at": MOMENT, "who": "ann", "version": 1}
    told |= {"moves": (move_of(),) if kind is ActKind.APPLIED else ()}
    return Act(**(told | changes))


def verdict_of(document_id: int = 3, **changes: Any) -> Verdict:
    """Somebody said what a document states."""
    told: dict[str, Any] = {"document_id": document_id, "sha256": "ab", "field": "truth", "said": "intent"}
    told |= {"who": "ann", "at": MOMENT, "given": "reality", "automatic": True, "move": move_of(document_id)}
    return Verdict(**(told | changes))
