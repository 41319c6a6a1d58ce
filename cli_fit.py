"""The command-line door's `evaluate fit-classifier`: fits the truth weights, and says how well they do elsewhere."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli_experiments import progress

if TYPE_CHECKING:
    from core.ingest.classify import TruthClassifier
    from core.tuning.fitting import Judged
    from core.tuning.judgments import LabelRow
    from storage.scratch import NamedFile

__all__ = ["fit_classifier"]

Write = Annotated[Path | None, typer.Option("--write", help="Write the table to this file instead of showing it.")]


def fit_classifier(labels: Path, files: Path, write: Write = None) -> None:
    """Fit what each clue tells of the truths; figures are of sources left out of the fitting."""
    from core.ingest.classify import TruthClassifier
    from core.ingest.embed import DEFAULT_MODEL, load_embedder
    from core.tuning.fitting import best_temperature, fit, fitted_text, left_out
    from core.tuning.fitting_report import figures_text
    from core.tuning.judgments import read_labels
    from storage.opening import settings_from_environment
    from storage.scratch import labelled_files

    rows = read_labels(labels)
    embedder = load_embedder(DEFAULT_MODEL, settings_from_environment().data_folder / "models", 0)
    classifier = TruthClassifier(embedder)
    judged: dict[str, list[Judged]] = {}
    for names, hide in (("names shown", False), ("names hidden", True)):
        judged[names] = list(_judged(rows, labelled_files(rows, files, hide_names=hide), classifier))
    every = [one for part in judged.values() for one in part]
    told = left_out(every, on_source=progress("sources left out"))
    at = 0
    for names, part in judged.items():
        typer.echo(figures_text(names, part, told[at : at + len(part)]) + "\n")
        at += len(part)
    typer.echo(f"odds to be divided by {best_temperature(every, told):.2f} to be calibrated (1: as they are)\n")
    text = fitted_text(fit(every), len(every), len({one.source for one in every}))
    if write is None:
        typer.echo(text)
    else:
        write.write_text(text, "utf-8")


def _judged(
    rows: Sequence["LabelRow"], files: Sequence["NamedFile"], classifier: "TruthClassifier"
) -> "Iterator[Judged]":
    """Each labelled file as the classifier reads it; one that cannot be read is told and left out."""
    from hashlib import sha256

    from core.errors import BadFile
    from core.ingest.extract import extract
    from core.tuning.fitting import Judged

    by_hash = {row.sha256: row for row in rows}
    for file in files:
        row = by_hash.get(sha256(file.data).hexdigest())
        if row is None:
            continue
        try:
            read = extract(file.name, file.data)
        except BadFile as error:
            typer.echo(f"failed: {row.name}: {error.message}", err=True)
            continue
        yield Judged(row.name, row.source, row.truth, classifier.clues(file.name, read.pages))
