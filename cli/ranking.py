"""The commands that fit the probability of an answer and the weights of a profile."""
# Longer than 300 lines: the commands that fit a ranking share their options and their output.

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import Out, Profile, profile_of, progress, write_file, write_json
from cli.scratch import filled_library, labelled_library
from core.domain.errors import BadRequest

if TYPE_CHECKING:
    from core.evaluation.judgments.files import TopicJudgment
    from core.evaluation.tuning.answerability_fitting import AnswerCase
    from core.evaluation.tuning.coverage_fitting import CellCase
    from core.evaluation.tuning.truth_fitting import TruthCase, TruthShares
    from core.evaluation.tuning.weight_fitting import WeightCase

__all__ = [
    "evaluate_requirements",
    "fit_answerability",
    "fit_coverage",
    "fit_truth_answers",
    "fit_weights",
]

Folders = Annotated[list[Path], typer.Argument(help="Collections, or corpora with questions.jsonl; two or more.")]


def fit_answerability(
    folders: Folders,
    write: Annotated[
        Path | None, typer.Option("--write", help="The model file; otherwise the one that searches read.")
    ] = None,
    read: Annotated[bool, typer.Option("--read", help="Where the included reranker has read.")] = False,
    out: Out = None,
) -> None:
    """Fit the probability that a library answers a question, and measure it on each collection left out."""
    from dataclasses import asdict

    from core.evaluation.tuning.answerability_fitting import fit_answer_model, left_out, model_toml
    from core.formats.terminal import aligned

    _check(folders)
    cases = [case for folder in folders for case in _cases(folder, read=read)]
    model = fit_answer_model(cases)
    measured = left_out(cases)
    built_in = Path("core/knowledge") / ("answerability_read.toml" if read else "answerability.toml")
    write_file(write or built_in, model_toml(model, _embedding_model()).encode())
    write_json({"threshold": model.threshold, "left_out": [asdict(each) for each in measured]}, out)
    rows = [
        (
            each.collection,
            each.cases,
            each.auroc,
            "–" if each.auroc_found is None else each.auroc_found,
            each.auroc_judged,
            each.at_threshold.answerable,
            each.at_threshold.unanswerable,
        )
        for each in measured
    ]
    head = ("left out", "cases", "AUROC", "where found", "if judged", "answerable called unanswered", "unanswerable so")
    typer.echo(aligned(head, rows))
    typer.echo("where found: questions with an answering document among the first five passages")
    typer.echo("if judged: the AUROC of somebody who knows which of the first five passages answer")
    for each in measured:
        points = " · ".join(f"{point.answerable:.3f} → {point.unanswerable:.3f}" for point in each.curve)
        typer.echo(f"curve of {each.collection} (answerable → unanswerable called unanswered): {points}")


def _embedding_model() -> str:
    """The model that the signals are measured with."""
    from bootstrap.environment import settings_from_environment
    from core.domain.embedding_models import DEFAULT_MODEL, DEFAULT_NAME

    configured = settings_from_environment().embedding_model
    return DEFAULT_NAME if configured == DEFAULT_MODEL else configured


def _cases(folder: Path, *, read: bool) -> "Iterator[AnswerCase]":
    """The questions of a folder asked with and without the documents that answer them. read: by the reranker."""
    from bootstrap.answer_cases import answer_cases
    from bootstrap.scratch_library import NamedFile
    from core.evaluation.judgments.folders import read_judged_folder

    judged = read_judged_folder(folder)
    report = progress(f"questions of {judged.name} asked")
    with filled_library([NamedFile(*each) for each in judged.documents.values()]) as (workbench, documents):
        of = len(judged.questions)
        yield from answer_cases(workbench, judged, documents, lambda done: report(done, of), read=read)


def fit_truth_answers(
    folders: Folders,
    write: Annotated[Path, typer.Option("--write", help="The model file.")] = Path("core/knowledge/truth_answers.toml"),
    out: Out = None,
) -> None:
    """Fit the probability that one truth answers a question, and measure it on each collection left out."""
    from dataclasses import asdict

    from core.evaluation.tuning.truth_fitting import fit_truth_model, left_out_truths, truth_model_toml
    from core.formats.terminal import aligned
    from core.knowledge.gaps import gap_table

    _check(folders)
    cases = [case for folder in folders for case in _truth_cases(folder)]
    model = fit_truth_model(cases)
    bounds = gap_table().evidence
    measured = left_out_truths(cases, bounds.partial, bounds.covered)
    write_file(write, truth_model_toml(model, _embedding_model()).encode())
    write_json({"left_out": [asdict(each) for each in measured]}, out)
    rows = [
        (
            each.collection,
            each.auroc,
            each.auroc_cosine,
            *(_shares(some) for some in (each.answering, each.other, each.without)),
            f"{each.all_silent} of {each.answerable}",
        )
        for each in measured
    ]
    head = ("left out", "AUROC", "of the best cosine", "truths that answer", "other truths", "without", "all silent")
    typer.echo("truths: number, called answered / partly / silent. without: where the answering documents are gone or")
    typer.echo("never were. all silent: answerable questions of which every truth is called silent")
    typer.echo(aligned(head, rows))


def _shares(some: "TruthShares") -> str:
    return f"{some.truths}: {some.answered} / {some.partly} / {some.silent}"


def _truth_cases(folder: Path) -> "Iterator[TruthCase]":
    """The questions of a folder asked each truth, with and without the documents that answer them."""
    from bootstrap.answer_cases import truth_cases
    from bootstrap.scratch_library import NamedFile
    from core.evaluation.judgments.folders import read_judged_folder

    judged = read_judged_folder(folder)
    report = progress(f"questions of {judged.name} asked")
    with filled_library([NamedFile(*each) for each in judged.documents.values()]) as (workbench, documents):
        yield from truth_cases(workbench, judged, documents, lambda done: report(done, len(judged.questions)))


def fit_coverage(
    folders: Annotated[list[Path], typer.Argument(help="Folders with labels.csv and files; two or more.")],
    topics: Annotated[
        Path, typer.Option(help="Folder of judged topics, NAME.jsonl each; gaps.jsonl of FOLDERS count too.")
    ],
    write: Annotated[Path, typer.Option("--write", help="The model file.")] = Path(
        "core/knowledge/topic_coverage.toml"
    ),
    out: Out = None,
) -> None:
    """Fit the probability that one truth covers a topic, and measure it on each collection left out."""
    from dataclasses import asdict

    from core.evaluation.tuning.coverage_fitting import fit_topic_model, left_out_cells, topic_model_toml
    from core.formats.terminal import aligned
    from core.knowledge.gaps import gap_table

    _check(folders)
    judged = {folder: _topics(folder, topics) for folder in folders}
    cases = [case for folder in folders for case in _cell_cases(folder, judged[folder])]
    model = fit_topic_model(cases)
    bounds = gap_table().evidence
    measured = left_out_cells(cases, bounds.partial, bounds.covered)
    write_file(write, topic_model_toml(model, _embedding_model()).encode())
    write_json({"left_out": [asdict(each) for each in measured]}, out)
    rows = [
        (
            each.collection,
            each.auroc,
            each.auroc_cosine,
            each.brier,
            *(f"{some.covered} of {some.cells}" for some in (each.gap, each.partial, each.full)),
        )
        for each in measured
    ]
    head = ("left out", "AUROC", "of the best cosine", "Brier score", "gaps", "partial", "covered")
    typer.echo("gaps, partial, covered: how many of the cells given this state are covered as people judged")
    typer.echo(aligned(head, rows))


def _topics(folder: Path, topics: Path) -> "list[TopicJudgment]":
    """The judged topics of a folder, and those it came with."""
    from core.evaluation.judgments.files import read_topics

    own = folder / "gaps.jsonl"
    return [*read_topics(topics / f"{folder.resolve().name}.jsonl"), *(read_topics(own) if own.exists() else ())]


def _cell_cases(folder: Path, topics: "Sequence[TopicJudgment]") -> "Iterator[CellCase]":
    """The judged cells of a folder's topics, each document with its judged truth."""
    from bootstrap.answer_cases import cell_cases
    from core.evaluation.judgments.files import read_labels

    report = progress(f"topics of {folder.resolve().name} searched")
    with labelled_library(read_labels(folder / "labels.csv"), folder / "files", use_labels=True) as workbench:
        name = folder.resolve().name
        yield from cell_cases(workbench, name, topics, lambda done: report(done, len(topics)))


def evaluate_requirements(
    folders: Annotated[list[Path], typer.Argument(help="Folders with labels.csv and files.")],
    judged: Annotated[Path, typer.Option(help="Folder of judged sentences, requirements_NAME.jsonl each.")],
    out: Out = None,
) -> None:
    """Measure which of the sentences found are requirements, and the cells of the matrix, by the model for topics."""
    from dataclasses import asdict

    from bootstrap.answer_cases import requirement_cases
    from core.evaluation.judgments.files import read_labels, read_requirements
    from core.evaluation.tuning.coverage_fitting import measured_cells
    from core.formats.terminal import aligned
    from core.knowledge.answerability import topic_model
    from core.knowledge.gaps import gap_table

    bounds, rows, data = gap_table().evidence, [], []
    for folder in folders:
        name = folder.resolve().name
        sentences = read_requirements(judged / f"requirements_{name}.jsonl")
        with labelled_library(read_labels(folder / "labels.csv"), folder / "files", use_labels=True) as workbench:
            found, cases = requirement_cases(workbench, name, sentences)
        if not cases:
            raise BadRequest(f"None of the judged sentences of {name} is found.", "Judge sentences of these files.")
        cells = measured_cells(cases, topic_model(), bounds.partial, bounds.covered)
        right = sum(each.requirement for each in found)
        all_right = sum(each.requirement for each in sentences)
        data.append(
            {"found": len(found), "requirements_found": right, "requirements": all_right, "cells": asdict(cells)}
        )
        shares = (f"{some.covered} of {some.cells}" for some in (cells.gap, cells.partial, cells.full))
        rows.append(
            (name, f"{right} of {len(found)}", f"{right} of {all_right}", cells.auroc, cells.auroc_cosine, *shares)
        )
    write_json({"collections": data}, out)
    typer.echo("right: found sentences that are requirements; found: requirements that are found; gaps, partial,")
    typer.echo("covered: how many of the cells given this state are covered as people judged")
    head = ("collection", "right", "found", "AUROC", "of the best cosine", "gaps", "partial", "covered")
    typer.echo(aligned(head, rows))


def fit_weights(folders: Folders, profile: Profile = None, out: Out = None) -> None:
    """Look for weights of a profile's factors on several judged folders, and measure them on each folder left out."""
    from dataclasses import asdict

    from core.evaluation.tuning.weight_fitting import FLAT
    from core.evaluation.tuning.weight_fitting import fit_weights as fitted
    from core.formats.terminal import aligned
    from core.knowledge.profiles import BUILT_IN

    _check(folders)
    current = profile_of(BUILT_IN, profile)
    cases = [case for folder in folders for case in _weight_cases(folder, current.ref)]
    found = fitted(cases, current)
    write_json(asdict(found), out)
    rows = [
        (each.folder, each.questions, each.in_use, each.equal, each.chosen, _mix(each.weights))
        for each in found.left_out
    ]
    typer.echo(f"nDCG@10 of the weights of '{current.ref}', of equal ones, and of those chosen on the other folders")
    typer.echo(aligned(("left out", "questions", "in use", "equal", "chosen", "chosen on the others"), rows))
    typer.echo(f"best on all folders: {_mix(found.best)}, mean {found.best_mean:.3f}; within {FLAT} of it:")
    ranges = [(name, low, high) for name, (low, high) in found.ranges.items()]
    typer.echo(aligned(("factor", "lowest", "highest"), ranges))


def _mix(weights: "Mapping[str, float]") -> str:
    return ", ".join(f"{name} {weight:g}" for name, weight in weights.items())


def _check(folders: "Sequence[Path]") -> None:
    """Raises BadRequest for fewer than two folders, before any is read."""
    if len({folder.resolve() for folder in folders}) < 2:
        raise BadRequest("One folder cannot be judged by others.", "Name two folders or more.")


def _weight_cases(folder: Path, profile: str) -> "Iterator[WeightCase]":
    """Every answerable question of a folder with its candidates."""
    from bootstrap.environment import utc_now
    from bootstrap.scratch_library import NamedFile
    from core.domain.queries import SearchRequest
    from core.evaluation.judgments.folders import read_judged_folder
    from core.evaluation.tuning.replay import DEPTH, Replay
    from core.evaluation.tuning.weight_fitting import WeightCase

    judged = read_judged_folder(folder)
    questions = [question for question in judged.questions if question.grades]
    report = progress(f"questions of {judged.name} asked")
    with filled_library([NamedFile(*each) for each in judged.documents.values()]) as (workbench, _):
        for done, question in enumerate(questions, start=1):
            request = SearchRequest(question.text, question.filters, profile, top_k=DEPTH)
            found = workbench.search.run(request, remember=False)
            yield WeightCase(judged.name, Replay(found, utc_now()), question.grades)
            report(done, len(questions))
