"""Reads labelled files as the classifier learns from them, and labels them with their sources left out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cli.options import progress

if TYPE_CHECKING:
    from core.domain.documents import Document, Passage
    from core.evaluation.judgments.files import LabelRow, PassageJudgment
    from core.evaluation.tuning.training_documents import TrainingDocument
    from core.ingestion.classification.weighting import Prototypes
    from core.ports.stores import Embedder, Vectors

__all__ = ["TRUSTED_WEIGHT", "ReadFile", "built_in_embedder", "left_out", "read_folder", "read_folders"]

TRUSTED_WEIGHT = 3.0
"""Of checked labels; the best of 1 and 3 on sources left out."""
_FOLDS = 5
_NO_MOMENT = datetime(1970, 1, 1, tzinfo=UTC)  # of an upload that never was


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A labelled file as it was read. passages: all of them if a judgment names one, else none. vectors: theirs."""

    row: "LabelRow"
    document: "TrainingDocument"
    passages: "tuple[Passage, ...]"
    vectors: "Vectors"


def built_in_embedder() -> "Embedder":
    """The embedder of the built-in model."""
    from adapters.inference.embedder import load_embedder
    from bootstrap.workbench import settings_from_environment
    from core.domain.embedding_models import DEFAULT_MODEL

    return load_embedder(DEFAULT_MODEL, settings_from_environment().data_folder / "models", 0)


def read_folders(
    learn_from: Sequence[Path], trusted: Sequence[Path], dates: Path | None, *, in_context: bool = False
) -> "Iterator[ReadFile]":
    """Every labelled file of the folders; trusted ones count more. in_context: as `read_folder`."""
    for folders, weight in ((trusted, TRUSTED_WEIGHT), (learn_from, 1.0)):
        for folder in folders:
            yield from read_folder(folder / "labels.csv", folder / "files", weight, dates, in_context=in_context)


def read_folder(
    labels: Path, files: Path, weight: float, dates: Path | None, *, in_context: bool = False
) -> "Iterator[ReadFile]":
    """Every labelled file of a folder; unreadable ones are reported and skipped. in_context: embed its sentences within
    their passages too, which takes several times as long."""
    from hashlib import sha256

    from core.domain.errors import BadFile
    from core.evaluation.judgments.files import read_labels, read_passages
    from core.ingestion.classification.weighting import Prototypes
    from core.knowledge.workspace_terms import BUILT_IN_TERMS

    rows = {row.sha256: row for row in read_labels(labels, dates)}
    judgments: dict[str, list[PassageJudgment]] = {}
    for each in read_passages(labels.with_name("passages.jsonl")):
        judgments.setdefault(each.sha256, []).append(each)
    embedder = built_in_embedder()
    prototypes, report = (
        Prototypes(embedder, BUILT_IN_TERMS.prototypes),
        progress(f"files of {labels.parent.name} read"),
    )
    paths = sorted(path for path in files.rglob("*") if path.is_file())
    for done, path in enumerate(paths, start=1):
        data = path.read_bytes()
        row = rows.get(sha256(data).hexdigest())
        if row is not None:
            try:
                yield _read_file(row, data, judgments.get(row.sha256, []), embedder, prototypes, weight, in_context)
            except BadFile as error:
                typer.echo(f"failed: {row.name}: {error.message}", err=True)
        report(done, len(paths))


# Over 40 lines: what is read once of a file, and the imports that start slowly.
def _read_file(
    row: "LabelRow",
    data: bytes,
    judgments: "Sequence[PassageJudgment]",
    embedder: "Embedder",
    prototypes: "Prototypes",
    weight: float,
    in_context: bool,
) -> ReadFile:
    from dataclasses import replace

    from adapters.ocr import installed_ocr
    from core.evaluation.metrics.measures import normalised
    from core.evaluation.tuning.training_documents import training_document
    from core.ingestion.chunking import split
    from core.ingestion.classification.classifier import TruthClassifier
    from core.ingestion.classification.language import language_label
    from core.ingestion.parsers import extract
    from core.ingestion.pipeline import document_title
    from core.ingestion.sentence_vectors import embed_passages
    from core.knowledge.workspace_terms import BUILT_IN_TERMS

    name = f"document{Path(row.name).suffix}"
    extracted = extract(name, data, ocr=installed_ocr())
    title = document_title(extracted, name)
    sample, vectors = TruthClassifier(embedder).read(name, title, extracted.pages, extracted.metadata)
    found = split(extracted, title)
    main_language = language_label(sample).value or "en"
    own = [each.text for each in found]

    def embed(numbers: Sequence[int]) -> "Vectors":
        return embed_passages(embedder, [found[number] for number in numbers]).vectors

    document = training_document(row, main_language, sample, vectors, BUILT_IN_TERMS, weight, own, embed, prototypes)
    if in_context:
        titled = split(extracted, document_title(extracted, row.name))  # a title is in the context of every passage
        document = replace(document, in_context=_in_context(embedder, titled, sample.segments))
    texts = [normalised(each.text) for each in found]
    judged = any(
        judgment.page in (None, each.page) and normalised(judgment.start_words) in text
        for each, text in zip(found, texts, strict=True)
        for judgment in judgments
    )
    return ReadFile(row, document, tuple(found) if judged else (), embed(range(len(found))) if judged else vectors[:0])


def _in_context(embedder: "Embedder", passages: "Sequence[Passage]", segments: Sequence[str]) -> "Vectors":
    """The vectors of sentences in their passages, shape (segments, dim); 0 for one that is whole in none."""
    import numpy as np

    from core.ingestion.sentence_vectors import embed_passages

    holding = [each for each in passages if any(segment in each.text for segment in segments)]
    found = embed_passages(embedder, holding, segments=segments).segments
    nowhere = np.zeros(embedder.dimensions, dtype=np.float32)
    rows = np.array([found.get(segment, nowhere) for segment in segments], dtype=np.float32)
    return rows.reshape(-1, embedder.dimensions)


# Over 40 lines: five folds; each is fitted, labelled and compared.
def left_out(
    own: Sequence[ReadFile], others: Sequence[ReadFile], hide_names: bool, without: Sequence[str], sources: int
) -> "tuple[dict[str, Document], dict[int, Sequence[Passage]], dict[str, Document]]":
    """`own` labelled fold by fold, each by weights fitted on the documents of the other folds' owners.

    Near copies of a fold's documents are not learned either. Returns the labelled documents by SHA-256, their
    passages by document id, and the documents as a stock classifier labels them.
    """
    from dataclasses import replace

    import numpy as np

    from core.domain.documents import Document, DocumentState
    from core.domain.errors import BadRequest
    from core.evaluation.benchmarks.stock_classifier import STOCK_FIELDS, stock_labels
    from core.evaluation.tuning.classifier_fitting import fit_classifier
    from core.evaluation.tuning.training_documents import BLOCKS, fold_of
    from core.ingestion.classification.classifier import TruthClassifier
    from core.ingestion.classification.sample import name_words
    from core.knowledge.workspace_terms import BUILT_IN_TERMS
    from core.library.duplicates.near_copies import near_copies

    embedder, blocks = built_in_embedder(), [each for each in BLOCKS if each not in without]
    every = [*own, *others]
    order = sorted({each.row.source for each in every}, key=lambda source: (fold_of(source, 10**9, "curve"), source))
    chosen = set(order[: sources or len(order)])
    bodies = [each.document.sample.body for each in every]
    copies = near_copies(bodies[: len(own)], bodies)
    documents: dict[str, Document] = {}
    stock: dict[str, Document] = {}
    passages: dict[int, Sequence[Passage]] = {}
    report = progress("folds labelled")
    for fold in range(_FOLDS):
        judged = [number for number, each in enumerate(own) if fold_of(each.row.source, _FOLDS) == fold]
        if not judged:
            report(fold + 1, _FOLDS)
            continue
        copied = {other for number in judged for other in copies[number]}
        inside = [
            each
            for number, each in enumerate(every)
            if each.row.source in chosen and number not in copied and fold_of(each.row.source, _FOLDS) != fold
        ]
        if len({fold_of(each.row.source, _FOLDS) for each in inside}) < 2:
            raise BadRequest(
                "There are too few documents to learn from.",
                "Give documents of more owners, as OWNER/NAME in labels.csv.",
            )
        model = fit_classifier([each.document for each in inside], embedder.name, blocks)
        classifier = TruthClassifier(embedder, model)
        plain = stock_labels(
            [each.document.sample.body for each in inside],
            [{name: getattr(each.row, name) for name in STOCK_FIELDS} for each in inside],
            np.array([each.document.weight for each in inside]),
            [bodies[number] for number in judged],
        )
        for number, peer in zip(judged, plain, strict=True):
            row, sample = own[number].row, own[number].document.sample
            if not hide_names:
                sample = replace(sample, name=row.name, name_words=name_words(row.name))
            labels = classifier.labels(sample, own[number].document.vectors, {}, BUILT_IN_TERMS)
            documents[row.sha256] = Document(
                number, row.name, row.sha256, 0, DocumentState.READY, _NO_MOMENT, labels=labels
            )
            stock[row.sha256] = replace(documents[row.sha256], labels=peer)
            passages[number] = classifier.passages(labels, own[number].passages, own[number].vectors)
        report(fold + 1, _FOLDS)
    return documents, passages, stock
