"""The command line's `evaluate citations`: whether quotes stand on their pages, and are marked where they stand."""

from dataclasses import replace
from pathlib import Path

import typer

from cli_experiments import Out, Profile, profile_of, progress, written

__all__ = ["citations"]


def citations(questions: Path, profile: Profile = None, out: Out = None) -> None:
    """How exact the citations are with which the library answers a file of questions.

    Exit code 1 when a quote is not, letter for letter, what its page says.
    """
    from core.printed import aligned, grouped
    from core.tuning.citations import evaluate_citations
    from core.tuning.judgments import read_questions
    from storage.opening import open_workbench, settings_from_environment

    judged = read_questions(questions)
    with open_workbench(replace(settings_from_environment(), worker=False)) as workbench:
        chosen = profile_of(workbench.tuning.profiles, profile, None)
        report = evaluate_citations(
            judged,
            lambda request: workbench.search(request, remember=False),
            lambda document_id, number: workbench.page(document_id, number).text,
            workbench.original,
            profile=chosen.ref,
            on_question=progress("questions asked"),
        )
    data = report.data()
    written(data, out)
    typer.echo(aligned(("measure", "value"), [(name, v) for name, v in data.items() if isinstance(v, int | float)]))
    typer.echo(f"\n{grouped('kind', data['per_kind'])}")
    for wrong in data["wrong"]:
        problem = wrong["problem"] or _problem(wrong)
        typer.echo(f"wrong: {wrong['document']}, page {wrong['page']}: {problem}: {wrong['quote'][:120]!r}")
    if any(not wrong["exact"] for wrong in data["wrong"]):
        raise typer.Exit(1)


def _problem(wrong: dict[str, int]) -> str:
    """What is wrong with a citation, in words."""
    if not wrong["exact"]:
        return "the quote is not what the page says"
    if not wrong["marked"]:
        return "not marked"
    return f"{wrong['covered']} of {wrong['words']} words covered, {wrong['strays']} letters too many"
