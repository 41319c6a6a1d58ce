"""Decides which truth a document states, with the sentences that decided it."""

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Label, Truth
from core.ingestion.classification.label_evidence import explained
from core.ingestion.classification.linear_model import Blocks, ClassifierModel, softmax
from core.ingestion.classification.sample import DocumentSample

__all__ = ["CAUTIOUS", "LEAST_WORDS", "NO_TEXT", "decided", "truth_label"]

NO_TEXT = Label(reason="The document contains no text that could be read.")

LEAST_WORDS = 8  # fewer words could be any document's; chosen by hand
_LEAST_BY_NAME = 0.3  # probability that so few words need beside a file name with a meaning; chosen by hand
_BINDING = (Truth.REGULATORY, Truth.COMPLIANCE)
CAUTIOUS = 0.79  # what a law or policy label may claim at most below `sure`: under the 0.8 that pages call sure


def truth_label(sample: DocumentSample, blocks: Blocks, vectors: NDArray[np.float32], model: ClassifierModel) -> Label:
    """The truth of a document. vectors: of sample.segments, or none.

    Abstains on little text and below the threshold. A law or policy label claims 0.8 or more only from `sure` on: the
    score from which, on sources left out of the fitting, almost none was wrong, because that error costs most.
    """
    if not sample.words:
        return NO_TEXT
    label = decided("truth", model.heads["truth"].scores(blocks), sample, blocks, vectors, model)
    named = len(blocks.words["name"][0]) > 0
    if not named and not len(blocks.words["words"][0]):
        return Label(reason="It contains no word that tells which truth it states.")
    if sample.words < LEAST_WORDS and not (named and label.probability >= _LEAST_BY_NAME):
        return Label(reason="Too little text to tell which truth it states.")
    return label


def decided(
    name: str,
    scores: NDArray[np.float64],
    sample: DocumentSample,
    blocks: Blocks,
    vectors: NDArray[np.float32],
    model: ClassifierModel,
) -> Label:
    """The most probable class of a head with its evidence, or an abstention with its reason. scores: log-odds."""
    head, numbers = model.heads[name], model.numbers[name]
    shares = softmax(scores)
    order = np.argsort(-shares, kind="stable")
    first, second = head.classes[order[0]], head.classes[order[1]]
    probability, runner_up = float(shares[order[0]]), float(shares[order[1]])
    evidence = explained(head, model.vocabularies, blocks, sample, vectors, first, second)
    if probability < numbers["threshold"]:
        reason = f"Only {probability:.0%} for {first} and {runner_up:.0%} for {second}: too close to decide."
        return Label(None, 0.0, first, probability, evidence, reason)
    if first in _BINDING and probability < numbers.get("sure", 0.0):
        probability = min(probability, CAUTIOUS)
    return Label(first, probability, second, min(runner_up, 1.0 - probability), evidence)
