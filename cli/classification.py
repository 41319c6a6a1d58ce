"""The commands that measure the document classifier and fit it again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import Out, progress, write_file
from cli.scratch import filled_library, output_measures

if TYPE_CHECKING:
    from core.domain.documents import Document, Passage
    from core.evaluation.benchmarks.classification import ClassificationReport
    from core.evaluation.judgments.files import LabelRow, PassageJudgment
    from core.evaluation.tuning.training_documents import TrainingDocument
    from core.ingestion.classification.weighting import Prototypes
    from core.ports.stores import Embedder, Vectors

__all__ = ["classification", "collect_sources", "fit_classifier"]

_FOLDS = 5
_NO_MOMENT = datetime(1970, 1, 1, tzinfo=UTC)  # of an upload that never was
_TRUSTED_WEIGHT = 3.0  # of checked labels; the best of 1 and 3 on sources left out

Learn = Annotated[
    list[Path] | None,
    typer.Option("--learn-from", help="A folder with labels.csv and files/ to learn from as well (may be repeated)."),
]
Trusted = Annotated[
    list[Path] | None,
    typer.Option("--trusted", help="Like --learn-from, for labels that were checked: they count three times."),
]
Dates = Annotated[
    Path | None,
    typer.Option("--dates", help="CSV with sha256 and effective_date; these dates replace those of the labels."),
]
HideNames = Annotated[bool, typer.Option("--hide-names", help="Give the files neutral names.")]
LeaveOut = Annotated[
    bool,
    typer.Option(
        "--leave-source-out",
        help="Label every document by weights fitted without its owner's documents and without near copies.",
    ),
]
Without = Annotated[
    list[str] | None,
    typer.Option(
        "--without", help="Leave a block of features out: words, opening, name, form or mean (may be repeated)."
    ),
]
Sources = Annotated[int, typer.Option("--sources", help="Learn from so many sources only; 0: from all.")]


def classification(
    labels: Path,
    files: Path,
    hide_names: HideNames = False,
    leave_source_out: LeaveOut = False,
    learn_from: Learn = None,
    trusted: Trusted = None,
    without: Without = None,
    sources: Sources = 0,
    dates: Dates = None,
    out: Out = None,
) -> None:
    """How often the labels given are the judged ones."""
    from core.evaluation.benchmarks.classification import evaluate_classification
    from core.evaluation.judgments.files import read_doubts, read_labels, read_passages

    rows = read_labels(labels, dates)
    judgments, doubts = read_passages(labels.with_name("passages.jsonl")), read_doubts(labels.with_name("doubts.csv"))
    if leave_source_out:
        read = list(_read_folders(learn_from or [], trusted or [], dates))
        own = list(_read_folder(labels, files, _TRUSTED_WEIGHT, dates))
        documents, passages = _left_out(own, read, hide_names, without or [], sources)
        _output(evaluate_classification(rows, documents, judgments, lambda number: passages[number], doubts), out)
        return
    from bootstrap.scratch_library import labelled_files

    with filled_library(labelled_files(rows, files, hide_names=hide_names)) as (workbench, ready):
        _output(evaluate_classification(rows, ready, judgments, workbench.documents.passages, doubts), out)


def _output(report: "ClassificationReport", out: Path | None) -> None:
    from core.formats.terminal import aligned, grouped

    output_measures(report.data(), out)
    for name in ("truth", "language", "format", "source"):
        typer.echo(f"\n{grouped(name, getattr(report, f'per_{name}'))}")
    typer.echo(f"\n{aligned(('documents', 'said', 'right'), report.bins)}")


def fit_classifier(
    learn_from: Learn = None,
    trusted: Trusted = None,
    dates: Dates = None,
    write: Annotated[Path, typer.Option("--write", help="The model file.")] = Path(
        "core/knowledge/classifier_model.npz"
    ),
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only", help="Keep the built-in model; fit only its passages, dates or domains (may be repeated)."
        ),
    ] = None,
) -> None:
    """Fit the classifier to labelled documents; `classification --leave-source-out` says how good it is."""
    from core.domain.errors import BadRequest
    from core.evaluation.tuning.classifier_fitting import PARTS, fit_parts
    from core.evaluation.tuning.classifier_fitting import fit_classifier as fit_all
    from core.ingestion.classification.linear_model import built_in_model, to_bytes

    if unknown := sorted(set(only or ()) - set(PARTS)):
        raise BadRequest(f"'{unknown[0]}' cannot be fitted alone.", f"Give one of: {', '.join(PARTS)}.")
    read = list(_read_folders(learn_from or [], trusted or [], dates))
    documents = [each.document for each in read]
    model = (
        fit_parts(built_in_model(), documents, only, _tell_step)
        if only
        else fit_all(documents, _embedder().name, on_step=_tell_step)
    )
    data = to_bytes(model)
    write_file(write, data)
    found = len({each.source for each in documents})
    typer.echo(f"{len(documents)} documents of {found} sources; {len(data):,} bytes written to {write}.")


def _tell_step(step: str) -> None:
    typer.echo(f"fits {step}")


def collect_sources(
    sources: Annotated[Path, typer.Argument(help="The list of sources: docs/classifier-sources.csv.")],
    clones: Annotated[Path, typer.Argument(help="A folder with checked-out repositories: OWNER/NAME.")],
    folder: Annotated[Path, typer.Argument(help="Where labels.csv and files/ are written.")],
) -> None:
    """Copy the listed files out of clones into a folder to learn from; files that are absent are counted."""
    import csv
    from hashlib import sha256

    with sources.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    (folder / "files").mkdir(parents=True, exist_ok=True)
    collected = []
    for row in rows:
        path = clones / row["source"] / row["source_path"]
        if path.is_file():
            data = path.read_bytes()
            digest = sha256(data).hexdigest()
            name = f"{digest[:8]}__{path.name}"
            (folder / "files" / name).write_bytes(data)
            collected.append({**row, "file": name, "sha256": digest})
    with (folder / "labels.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["file", *rows[0]])
        writer.writeheader()
        writer.writerows(collected)
    typer.echo(f"{len(collected)} of {len(rows)} files copied to {folder}.")


@dataclass(frozen=True, slots=True)
class _ReadFile:
    """A labelled file as it was read. passages: all of them if a judgment names one, else none. vectors: theirs."""

    row: "LabelRow"
    document: "TrainingDocument"
    passages: "tuple[Passage, ...]"
    vectors: "Vectors"


def _embedder() -> "Embedder":
    from adapters.inference.embedder import load_embedder
    from bootstrap.workbench import settings_from_environment
    from core.domain.embedding_models import DEFAULT_MODEL

    return load_embedder(DEFAULT_MODEL, settings_from_environment().data_folder / "models", 0)


def _read_folders(learn_from: Sequence[Path], trusted: Sequence[Path], dates: Path | None) -> "Iterator[_ReadFile]":
    """Every labelled file of the folders; trusted ones count more."""
    for folders, weight in ((trusted, _TRUSTED_WEIGHT), (learn_from, 1.0)):
        for folder in folders:
            yield from _read_folder(folder / "labels.csv", folder / "files", weight, dates)


def _read_folder(labels: Path, files: Path, weight: float, dates: Path | None) -> "Iterator[_ReadFile]":
    """Every labelled file of a folder; unreadable ones are reported and skipped."""
    from hashlib import sha256

    from core.domain.errors import BadFile
    from core.evaluation.judgments.files import read_labels, read_passages
    from core.ingestion.classification.weighting import Prototypes
    from core.knowledge.workspace_terms import BUILT_IN_TERMS

    rows = {row.sha256: row for row in read_labels(labels, dates)}
    judgments: dict[str, list[PassageJudgment]] = {}
    for each in read_passages(labels.with_name("passages.jsonl")):
        judgments.setdefault(each.sha256, []).append(each)
    embedder = _embedder()
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
                yield _read_file(row, data, judgments.get(row.sha256, []), embedder, prototypes, weight)
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
) -> _ReadFile:
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
    texts = [normalised(each.text) for each in found]
    judged = any(
        judgment.page in (None, each.page) and normalised(judgment.start_words) in text
        for each, text in zip(found, texts, strict=True)
        for judgment in judgments
    )
    return _ReadFile(row, document, tuple(found) if judged else (), embed(range(len(found))) if judged else vectors[:0])


def _left_out(
    own: Sequence[_ReadFile], others: Sequence[_ReadFile], hide_names: bool, without: Sequence[str], sources: int
) -> "tuple[dict[str, Document], dict[int, Sequence[Passage]]]":
    """`own` labelled fold by fold, each by weights fitted on the documents of the other folds' sources.

    Near copies of a fold's documents are not learned either. Returns the labelled documents by SHA-256 and their
    passages by document id.
    """
    from dataclasses import replace

    from core.domain.documents import Document, DocumentState
    from core.evaluation.tuning.classifier_fitting import fit_classifier
    from core.evaluation.tuning.training_documents import BLOCKS, fold_of
    from core.ingestion.classification.classifier import TruthClassifier
    from core.ingestion.classification.sample import name_words
    from core.knowledge.workspace_terms import BUILT_IN_TERMS
    from core.library.duplicates.near_copies import near_copies

    embedder, blocks = _embedder(), [each for each in BLOCKS if each not in without]
    every = [*own, *others]
    order = sorted({each.row.source for each in every}, key=lambda source: (fold_of(source, 10**9, "curve"), source))
    chosen = set(order[: sources or len(order)])
    bodies = [each.document.sample.body for each in every]
    copies = near_copies(bodies[: len(own)], bodies)
    documents: dict[str, Document] = {}
    passages: dict[int, Sequence[Passage]] = {}
    report = progress("folds labelled")
    for fold in range(_FOLDS):
        held = {number for number, each in enumerate(own) if fold_of(each.row.source, _FOLDS) == fold}
        copied = set().union(*(copies[number] for number in held))
        inside = [
            each
            for number, each in enumerate(every)
            if each.row.source in chosen and number not in copied and fold_of(each.row.source, _FOLDS) != fold
        ]
        model = fit_classifier([each.document for each in inside], embedder.name, blocks)
        classifier = TruthClassifier(embedder, model)
        for number, each in enumerate(own):
            if number not in held:
                continue
            row, sample = each.row, each.document.sample
            if not hide_names:
                sample = replace(sample, name=row.name, name_words=name_words(row.name))
            labels = classifier.labels(sample, each.document.vectors, {}, BUILT_IN_TERMS)
            documents[row.sha256] = Document(
                number, row.name, row.sha256, 0, DocumentState.READY, _NO_MOMENT, labels=labels
            )
            passages[number] = classifier.passages(labels, each.passages, each.vectors)
        report(fold + 1, _FOLDS)
    return documents, passages
