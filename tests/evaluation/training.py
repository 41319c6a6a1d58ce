"""A small corpus to fit the classifier on: texts of each truth that many sources share."""

from collections.abc import Iterator

import numpy as np

from core.domain.documents import Page
from core.evaluation.judgments.files import LabelRow
from core.evaluation.tuning.training_documents import TrainingDocument, training_document
from core.ingestion.classification.sample import DocumentSample, read_for_classifying
from core.knowledge.workspace_terms import BUILT_IN_TERMS

__all__ = ["AUTHORITIES", "EMBEDDER", "NO_VECTORS", "TEXTS", "corpus", "sampled"]

TEXTS = {
    "regulatory": "Section {n}. No person shall operate a kiln without a licence. Whoever violates this section pays.",
    "compliance": "Our staff policy number {n}. Employees ask their manager before they travel. We review this yearly.",
    "intent": "The contractor shall deliver report {n} to the client. Offers are due in May. The scope covers kilns.",
    "reference": "This guide of kiln {n} explains how to fire clay. We recommend slow cooling. Click Save to finish.",
    "reality": "kiln,{n},degrees,1240\nkiln,{n},degrees,1190\nkiln,{n},degrees,1215\nkiln,{n},degrees,1275",
}
AUTHORITIES = dict(zip(TEXTS, ("government", "internal", "customer", "vendor", "customer"), strict=True))
EMBEDDER = "letters@1"
NO_VECTORS = np.zeros((0, 4), dtype=np.float32)


def sampled(text: str, name: str = "document.txt") -> DocumentSample:
    return read_for_classifying(name, "", [Page(1, text)], {})


def corpus() -> Iterator[TrainingDocument]:
    """Twenty sources with a document of every truth each."""
    for source in range(20):
        for truth, text in TEXTS.items():
            place = "federal" if truth == "regulatory" else "global"
            row = LabelRow("f", f"{truth}.txt", "0", truth, "other", AUTHORITIES[truth], place, "", f"owner{source}/a")
            statement = text.format(n=source)
            yield training_document(row, "en", sampled(statement), NO_VECTORS, BUILT_IN_TERMS, passages=[statement])
