"""The commands that measure the document classifier and fit it again."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.labelled_files import TRUSTED_WEIGHT, built_in_embedder, left_out, read_folder, read_folders
from cli.options import Out, read_file, write_file
from cli.scratch import filled_library, output_measures

if TYPE_CHECKING:
    from core.evaluation.benchmarks.classification import ClassificationReport

__all__ = ["classification", "collect_sources", "fit_classifier"]

_COMPARED = (
    "truth_accuracy",
    "truth_accuracy_doubts",
    "authority_accuracy",
    "jurisdiction_accuracy",
    "domain_accuracy",
    "ece",
)

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
        read = list(read_folders(learn_from or [], trusted or [], dates))
        own = list(read_folder(labels, files, TRUSTED_WEIGHT, dates))
        documents, passages, stock = left_out(own, read, hide_names, without or [], sources)
        report = evaluate_classification(rows, documents, judgments, lambda number: passages[number], doubts)
        peer = evaluate_classification(rows, stock, [], lambda number: (), doubts)
        _output(report, out, {name: getattr(peer, name) for name in _COMPARED})
        return
    from bootstrap.scratch_library import labelled_files

    with filled_library(labelled_files(rows, files, hide_names=hide_names)) as (workbench, ready):
        _output(evaluate_classification(rows, ready, judgments, workbench.documents.passages, doubts), out)


def _output(report: "ClassificationReport", out: Path | None, stock: Mapping[str, float] | None = None) -> None:
    from core.formats.terminal import aligned, grouped

    output_measures({**report.data(), **({"stock": stock} if stock else {})}, out)
    if stock:
        rows = [(name, getattr(report, name), value) for name, value in stock.items()]
        typer.echo(f"\n{aligned(('beside TF-IDF and logistic regression', 'ours', 'stock'), rows)}")
    for name in ("truth", "language", "format", "source"):
        typer.echo(f"\n{grouped(name, getattr(report, f'per_{name}'))}")
    typer.echo(f"\n{aligned(('documents', 'said', 'right'), report.bins)}")


# Over 40 lines: its options and their help.
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
            "--only",
            help="Keep the built-in model; fit only its passages, dates, domains or context. With --add: learn only"
            " truth, authority or jurisdiction (may be repeated).",
        ),
    ] = None,
    add: Annotated[
        bool,
        typer.Option(
            "--add",
            help="Keep the built-in model and add what new documents teach of truth, authority and jurisdiction;"
            " --trusted names files that it has learned already and should stay right on.",
        ),
    ] = False,
) -> None:
    """Fit the classifier to labelled documents; `classification --leave-source-out` says how good it is."""
    from core.domain.errors import BadRequest
    from core.evaluation.tuning.classifier_fitting import PARTS, fit_parts
    from core.evaluation.tuning.classifier_fitting import fit_classifier as fit_all
    from core.evaluation.tuning.classifier_update import ADDED_LABELS, add_documents
    from core.evaluation.tuning.context_fitting import explained_variance
    from core.ingestion.classification.linear_model import built_in_model, to_bytes

    parts = ADDED_LABELS if add else PARTS
    if unknown := sorted(set(only or ()) - set(parts)):
        raise BadRequest(f"'{unknown[0]}' cannot be fitted alone.", f"Give one of: {', '.join(parts)}.")
    in_context = not add and (not only or "context" in only)
    checked, documents = (
        [each.document for each in read_folders(learned, known, dates, in_context=in_context)]
        for learned, known in (([], trusted or []), (learn_from or [], []))
    )
    if add:
        model = add_documents(built_in_model(), documents, checked, _tell_step, only or ADDED_LABELS)
    elif only:
        model = fit_parts(built_in_model(), [*checked, *documents], only, _tell_step)
    else:
        model = fit_all([*checked, *documents], built_in_embedder().name, on_step=_tell_step)
    documents += checked
    if in_context:
        typer.echo(f"The map of sentences in context explains {explained_variance(documents):.1%} of left-out owners'.")
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
    only: Annotated[
        Path | None, typer.Option("--only", help="A file with the SHA-256 of the files, a line each.")
    ] = None,
) -> None:
    """Copy the listed files out of clones into a folder to learn from; files that are absent are counted."""
    import csv
    from hashlib import sha256

    from core.domain.errors import BadRequest

    with sources.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        rows, header = list(reader), reader.fieldnames or []
    data = None if only is None else read_file(only, "Name a file with a SHA-256 in each line.")
    chosen = None if data is None else set(data.decode("utf-8", "replace").split())
    if chosen is not None and (unlisted := len(chosen - {row["sha256"] for row in rows})):
        raise BadRequest(f"{unlisted} files of '{only}' are not in '{sources}'.", "Check both lists.")
    rows = [row for row in rows if chosen is None or row["sha256"] in chosen]
    (folder / "files").mkdir(parents=True, exist_ok=True)
    collected = []
    for row in rows:
        path = clones / row["source"] / row["source_path"]
        if path.is_file():
            data = path.read_bytes()
            digest = sha256(data).hexdigest()
            if chosen is not None and digest not in chosen:
                continue  # a later commit: judged questions are about the listed one
            name = f"{digest[:8]}__{path.name}"
            (folder / "files" / name).write_bytes(data)
            collected.append({**row, "file": name, "sha256": digest})
    with (folder / "labels.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["file", *header])
        writer.writeheader()
        writer.writerows(collected)
    typer.echo(f"{len(collected)} of {len(rows)} files copied to {folder}.")
