"""Accuracy of the labels of documents and passages on judged files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from types import MappingProxyType
from typing import Any

from core.domain.documents import Document, Label, Passage
from core.evaluation.judgments.files import LabelRow, PassageJudgment
from core.evaluation.metrics.measures import (
    calibration_bins,
    calibration_error,
    calibration_error_by_chance,
    mean,
    normalised,
)

__all__ = ["ClassificationReport", "WrongTruth", "evaluate_classification"]

_SAME = {"other": "general"}
"""Label words that mean the same domain."""

_CONFIDENT = 0.8  # as BINDING_SURE of the classifier report


@dataclass(frozen=True, slots=True)
class WrongTruth:
    """One document whose truth was not the judged one; `given` is None when the classifier abstained."""

    name: str
    source: str
    judged: str
    given: str | None
    probability: float


@dataclass(frozen=True, slots=True)
class ClassificationReport:
    """Shares in [0, 1]; NaN where nothing was judged.

    An abstention is a wrong answer in every accuracy, and left out of `ece`, which judges stated probabilities only.
    date_accuracy: over documents with a judged date, at the judged precision. dates_invented: undated documents
    given one.
    ece_by_chance: what exact probabilities would show as `ece` on so few documents.
    bins: of `ece`, least sure first: documents, mean probability, share right.
    passage_accuracy: of the judged passages. confident_wrong: regulatory or compliance at 0.8 or more, and wrong.
    truth_accuracy_doubts: another truth that `doubts` calls defensible counts as right. per_language: by the language
    the product detected; per_format: by the ending of the file's name.
    """

    documents: int
    truth_accuracy: float
    truth_accuracy_doubts: float
    authority_accuracy: float
    domain_accuracy: float
    jurisdiction_accuracy: float
    date_accuracy: float
    dates_invented: int
    passage_accuracy: float
    passages_judged: int
    ece: float
    ece_by_chance: float
    abstained: float
    confident_wrong: int
    per_truth: Mapping[str, Mapping[str, float]]
    per_source: Mapping[str, Mapping[str, float]]
    per_language: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    per_format: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    bins: tuple[tuple[int, float, float], ...] = ()
    wrong: tuple[WrongTruth, ...] = ()
    wrong_passages: tuple[str, ...] = ()
    unread: tuple[str, ...] = field(default=())

    def data(self) -> dict[str, Any]:
        """Plain data for JSON."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        plain["wrong"] = [{name: getattr(w, name) for name in w.__dataclass_fields__} for w in self.wrong]
        return plain


@dataclass(frozen=True, slots=True)
class _JudgedDocument:
    row: LabelRow
    document: Document | None

    def label(self, name: str) -> Label:
        return getattr(self.document.labels, name) if self.document else Label()

    def right(self, name: str) -> bool:
        expected, given = getattr(self.row, name), self.label(name).value
        return given is not None and _SAME.get(given, given) == _SAME.get(expected, expected)

    @property
    def right_date(self) -> bool:
        given = self.label("effective_date").value
        return given is not None and given[: len(self.row.effective_date)] == self.row.effective_date


def evaluate_classification(
    rows: Sequence[LabelRow],
    documents: Mapping[str, Document],
    judgments: Sequence[PassageJudgment],
    passages_of: Callable[[int], Sequence[Passage]],
    doubts: Mapping[str, frozenset[str]] = MappingProxyType({}),
) -> ClassificationReport:
    """Compare judged rows with `documents` (SHA-256 → the ready one); one that could not be read counts as wrong.

    doubts: SHA-256 → other defensible truths.
    """
    judged = [_JudgedDocument(row, documents.get(row.sha256)) for row in rows]
    decided = [(j.label("truth").probability, j.right("truth")) for j in judged if j.label("truth").value is not None]
    passages = _passages(judgments, documents, passages_of)
    return ClassificationReport(
        documents=len(judged),
        truth_accuracy=_share(judged, "truth"),
        truth_accuracy_doubts=mean(
            [j.right("truth") or j.label("truth").value in doubts.get(j.row.sha256, ()) for j in judged]
        ),
        authority_accuracy=_share([j for j in judged if j.row.authority], "authority"),
        domain_accuracy=_share([j for j in judged if j.row.domain], "domain"),
        jurisdiction_accuracy=_share([j for j in judged if j.row.jurisdiction], "jurisdiction"),
        date_accuracy=mean([j.right_date for j in judged if j.row.effective_date]),
        dates_invented=sum(not j.row.effective_date and j.label("effective_date").value is not None for j in judged),
        passage_accuracy=mean([right for _, right in passages]),
        passages_judged=len(passages),
        ece=calibration_error(decided),
        ece_by_chance=calibration_error_by_chance([probability for probability, _ in decided]),
        abstained=mean([j.label("truth").value is None for j in judged]),
        confident_wrong=sum(_confident_wrong(j) for j in judged),
        per_truth=_grouped(judged, lambda j: j.row.truth),
        per_source=_grouped(judged, lambda j: j.row.source),
        per_language=_grouped(judged, lambda j: j.label("language").value or "unknown"),
        per_format=_grouped(judged, lambda j: PurePath(j.row.name).suffix.lower().lstrip(".") or "none"),
        bins=tuple(calibration_bins(decided)),
        wrong=tuple(_wrong(j) for j in judged if not j.right("truth")),
        wrong_passages=tuple(words for words, right in passages if not right),
        unread=tuple(j.row.name for j in judged if j.document is None),
    )


def _share(judged: Sequence[_JudgedDocument], name: str) -> float:
    return mean([j.right(name) for j in judged])


def _confident_wrong(judged: _JudgedDocument) -> bool:
    label = judged.label("truth")
    binding = label.value in ("regulatory", "compliance")
    return binding and label.probability >= _CONFIDENT and not judged.right("truth")


def _wrong(judged: _JudgedDocument) -> WrongTruth:
    label = judged.label("truth")
    return WrongTruth(judged.row.name, judged.row.source, judged.row.truth, label.value, label.probability)


def _grouped(judged: Sequence[_JudgedDocument], key: Callable[[_JudgedDocument], str]) -> dict[str, dict[str, float]]:
    groups: dict[str, list[_JudgedDocument]] = {}
    for one in judged:
        groups.setdefault(key(one), []).append(one)
    return {
        name: {
            "documents": len(group),
            "truth_accuracy": _share(group, "truth"),
            "authority_accuracy": _share(group, "authority"),
            "domain_accuracy": _share(group, "domain"),
            "jurisdiction_accuracy": _share(group, "jurisdiction"),
            "abstained": mean([j.label("truth").value is None for j in group]),
        }
        for name, group in sorted(groups.items())
    }


def _passages(
    judgments: Sequence[PassageJudgment],
    documents: Mapping[str, Document],
    passages_of: Callable[[int], Sequence[Passage]],
) -> list[tuple[str, bool]]:
    """For each judged passage its first words and whether a passage holding them carries the judged truth."""
    results = []
    for judgment in judgments:
        document = documents.get(judgment.sha256)
        if document is None:
            results.append((f"{judgment.sha256[:8]}: {judgment.start_words}", False))
            continue
        words = normalised(judgment.start_words)
        holding = [
            passage
            for passage in passages_of(document.id)
            if (judgment.page is None or passage.page == judgment.page) and words in normalised(passage.text)
        ]
        right = bool(holding) and all(passage.truth == judgment.truth for passage in holding)
        results.append((f"{document.name}: {judgment.start_words}", right))
    return results
