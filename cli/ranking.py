"""The command that fits the probability of an answer."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import Out, progress, write_file, write_json
from cli.scratch import filled_library

if TYPE_CHECKING:
    from core.evaluation.tuning.answerability_fitting import AnswerCase

__all__ = ["fit_answerability"]


def fit_answerability(
    folders: Annotated[list[Path], typer.Argument(help="Collections, or corpora with questions.jsonl; two or more.")],
    write: Annotated[Path, typer.Option("--write", help="The model file.")] = Path("core/knowledge/answerability.toml"),
    out: Out = None,
) -> None:
    """Fit the probability that a library answers a question, and measure it on each collection left out."""
    from dataclasses import asdict

    from bootstrap.environment import settings_from_environment
    from core.evaluation.tuning.answerability_fitting import fit_answer_model, left_out, model_toml
    from core.formats.terminal import aligned

    cases = [case for folder in folders for case in _cases(folder)]
    model = fit_answer_model(cases, settings_from_environment().embedding_model)
    measured = left_out(cases, model.threshold)
    write_file(write, model_toml(model).encode())
    write_json({"threshold": model.threshold, "left_out": [asdict(each) for each in measured]}, out)
    rows = [
        (each.collection, each.cases, each.auroc, each.at_threshold.answerable, each.at_threshold.unanswerable)
        for each in measured
    ]
    typer.echo(aligned(("left out", "cases", "AUROC", "answerable called unanswered", "unanswerable called so"), rows))
    for each in measured:
        points = " · ".join(f"{point.answerable:.3f} → {point.unanswerable:.3f}" for point in each.curve)
        typer.echo(f"curve of {each.collection} (answerable → unanswerable called unanswered): {points}")


def _cases(folder: Path) -> "Iterator[AnswerCase]":
    """Every question of a folder, asked with and without the documents that answer it."""
    from bootstrap.scratch_library import NamedFile
    from core.domain.queries import SearchRequest
    from core.evaluation.judgments.folders import read_judged_folder
    from core.evaluation.tuning.answerability_fitting import AnswerCase
    from core.search.ranking.answerability import answer_signals

    judged = read_judged_folder(folder)
    report = progress(f"questions of {judged.name} asked")
    with filled_library([NamedFile(*each) for each in judged.documents.values()]) as (workbench, documents):
        for done, question in enumerate(judged.questions, start=1):
            answering = tuple(documents[sha].id for sha in question.grades if sha in documents)
            left_out = (*question.filters.exclude_documents, *answering)
            for excluded in dict.fromkeys((question.filters.exclude_documents, left_out)):
                filters = question.filters.replace(exclude_documents=excluded)
                found = workbench.search.run(SearchRequest(question.text, filters), remember=False)
                there = bool(answering) and excluded != left_out
                yield AnswerCase(judged.name, answer_signals(found.candidates), there)
            report(done, len(judged.questions))
