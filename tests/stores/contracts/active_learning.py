"""What is kept of learning, made short for tests."""

from typing import Any

import numpy as np

from core.domain.documents import Evidence, EvidenceSource, Label, Labels
from core.library.active_learning.neighbours import DocumentTraits
from core.library.active_learning.store import (
    ConfirmedLabel,
    DivergentPassage,
    LabelMove,
    LabelVerdict,
    LearningAction,
    LearningActionKind,
    TrainingRecord,
    TrainingVersion,
)
from core.library.active_learning.training import TrainingResult
from tests.stores.libraries import MOMENT

__all__ = ["act_of", "move_of", "record_of", "verdict_of", "version_of"]

_TOLD = (Evidence("Options considered", EvidenceSource.TEXT, "intent", 1.5, "asks"),)


def record_of(document_id: int, model: str = "model", dimensions: int = 4) -> TrainingRecord:
    """A record whose vector says which document it is of."""
    mean = np.full(dimensions, (document_id % 7) / 8, dtype=np.float32)
    own = Labels(truth=Label("intent", 0.61, "compliance", 0.2), domain=Label(reason="Nothing."))
    return TrainingRecord(document_id, model, DocumentTraits(own, ("name: talk", "options considered"), mean))


def version_of(number: int) -> TrainingVersion:
    """A version learned from one document."""
    confirmed = (ConfirmedLabel(3, "talk 3.txt", {"truth": "intent"}, 0),)
    outcomes = (TrainingResult("truth", 1, 0, 1, 4.0, (9,)),)
    return TrainingVersion(number, MOMENT, f"print {number}", "model", confirmed, outcomes, ("page",))


def move_of(document_id: int = 3) -> LabelMove:
    """A truth moved, with two passages."""
    before, after = Label(None, 0.0, "intent", 0.4, _TOLD, "Too close."), Label("intent", 0.7, evidence=_TOLD)
    odd = (DivergentPassage(8, 0.75, _TOLD),)
    return LabelMove(document_id, "talk 3.txt", "truth", before, after, (7, 8), odd, MOMENT)


def act_of(kind: LearningActionKind = LearningActionKind.APPLIED, **changes: Any) -> LearningAction:
    """An application of version 1."""
    values: dict[str, Any] = {"kind": kind, "at": MOMENT, "who": "ann", "version": 1}
    values |= {"moves": (move_of(),) if kind is LearningActionKind.APPLIED else ()}
    return LearningAction(**(values | changes))


def verdict_of(document_id: int = 3, **changes: Any) -> LabelVerdict:
    """Somebody said what a document states."""
    values: dict[str, Any] = {"document_id": document_id, "sha256": "ab", "field": "truth", "value": "intent"}
    values |= {"who": "ann", "at": MOMENT, "given": "reality", "automatic": True, "move": move_of(document_id)}
    return LabelVerdict(**(values | changes))
