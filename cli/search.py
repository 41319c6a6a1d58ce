"""The commands `search`, `batch`, `rank`, `answer` and `ask`."""
# Longer than 300 lines: commands of one group that share their options and their output.

import json
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.options import AsJson, Profile, Project, open_library, profile_of, progress, read_file, write_file
from core.domain.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from core.domain.filters import SearchFilters
    from core.domain.queries import SearchRequest
    from core.domain.results import SearchResult
    from core.search.batch.questions import Batch, BatchOutcome
    from core.search.ranking.rerank import DeadlineReranker
    from core.workbench import Workbench

__all__ = ["Format", "Narrow", "OutFile", "SearchFormat", "batch", "narrowing", "output_result", "rank"]


class SearchFormat(StrEnum):
    """Output format of a search result."""

    TEXT = "text"
    CSV = "csv"
    XLSX = "xlsx"
    JSON = "json"
    MARKDOWN = "markdown"


Format = Annotated[SearchFormat, typer.Option("--format", help="Output format.")]

OutFile = Annotated[Path | None, typer.Option("--out", help="Write it to this file instead of printing it.")]


def output_result(result: "SearchResult", form: SearchFormat, out: Path | None) -> None:
    """Print a result, or write it to a file; a workbook needs a file.

    Raises BadRequest for a workbook without a file, and when the file cannot be written.
    """
    from core.search.exports import FORMATS, result_text

    if form is SearchFormat.XLSX and out is None:
        raise BadRequest("A workbook cannot be printed.", "Name a file with --out, e.g. --out results.xlsx.")
    made = f"{result_text(result)}\n".encode() if form is SearchFormat.TEXT else FORMATS[form.value].made(result)
    if out is None:
        typer.echo(made.decode("utf-8-sig"), nl=False)
        return
    write_file(out, made)
    typer.echo(f"Written to {out}.", err=True)


Narrow = Annotated[
    list[str] | None,
    typer.Option("--filter", help="field=value, also exclude_…, e.g. exclude_domains=taxes (may be repeated)"),
]


def batch(
    questions: Annotated[Path, typer.Argument(help="A CSV with the column 'question', and any filter as a column.")],
    out: Annotated[Path, typer.Option("--out", help="Output file, ending in .csv or .xlsx.")],
    narrow: Narrow = None,
    profile: Profile = None,
) -> None:
    """Ask many questions, and write hits per truth and the best sentence of each. Exit code 1 when any search failed or
    any row was refused."""
    from core.formats.terminal import aligned
    from core.search.batch.files import totals_rows
    from core.search.batch.questions import run_batch, totals

    data = read_file(questions, "Name a CSV file that is there.")
    to_file = _writer_for(out)
    outcomes: list[BatchOutcome] = []
    with open_library() as workbench:
        batch_file = _read(data, questions.name, narrow or (), profile, workbench)
        for each in batch_file.problems:
            column = f", {each.field}" if each.field else ""
            typer.echo(f"refused: row {each.row}{column}: {each.problem}", err=True)
        for notice in batch_file.notices:
            typer.echo(f"! {notice}", err=True)
        show_progress = progress("questions asked")

        def on_outcome(outcome: "BatchOutcome") -> None:
            outcomes.append(outcome)
            show_progress(len(outcomes), len(batch_file.questions))

        run_batch(batch_file.questions, workbench.search.run_many, on_outcome=on_outcome)
    write_file(out, to_file(batch_file, outcomes))
    counts = totals(batch_file, outcomes)
    typer.echo(aligned(("what", "number"), totals_rows(counts)))
    if counts.failed or counts.refused:
        raise typer.Exit(1)


def narrowing(conditions: "Sequence[str]", workbench: "Workbench") -> "SearchFilters":
    """Parse filters given as field=value; documents may be given by name. Raises BadRequest."""
    from core.search.batch.files import filters_from

    return filters_from(conditions, workbench.vocabulary.terms(), _documents(workbench))


def _documents(workbench: "Workbench") -> "Mapping[str, Sequence[int]]":
    """Document name → ids of the documents with that name."""
    named: dict[str, list[int]] = {}
    for each in workbench.documents.list():
        named.setdefault(each.name, []).append(each.id)
    return named


def _read(data: bytes, name: str, narrow: "Sequence[str]", profile: str | None, workbench: "Workbench") -> "Batch":
    from core.search.batch.files import read_batch

    registry = workbench.evaluation.profiles
    return read_batch(
        data,
        name,
        terms=workbench.vocabulary.terms(),
        filters=narrowing(narrow, workbench),
        profile=profile_of(registry, profile).ref if profile else "",
        profiles={name for ref in registry.every() for name in (ref, ref.partition("@")[0])},
        documents=_documents(workbench),
    )


def _writer_for(out: Path) -> "Callable[[Batch, Sequence[BatchOutcome]], bytes]":
    """The writer for the file extension; fails before any question is asked."""
    from core.search.batch.files import batch_csv, batch_xlsx

    writer = {".csv": batch_csv, ".xlsx": batch_xlsx}.get(out.suffix.lower())
    if writer is None:
        raise BadRequest(f"'{out.name}' ends neither in .csv nor in .xlsx.", "Name the outcome's file accordingly.")
    return writer


def rank(
    question: str,
    file: Annotated[Path, typer.Argument(help="A text per line; .jsonl: strings, or objects with a 'text'.")],
    reranker: Annotated[str, typer.Option(help="included, fast, balanced or accurate.")] = "included",
    top_k: Annotated[int | None, typer.Option(min=1, help="Maximum number of texts.")] = None,
    as_json: AsJson = False,
) -> None:
    """Order texts by a reranker, best first: logit, number of the text in the file (from 1), and the text."""
    from core.formats.terminal import aligned, json_text
    from core.knowledge.rerankers import rerank_table
    from core.search.ranking.rerank import rank_passages

    texts, model = _texts(file), _reranker(reranker)
    ranked = rank_passages(question, texts, model, rerank_table().rows[reranker])[:top_k]
    if as_json:
        rows = [{"number": index + 1, "logit": logit, "text": texts[index]} for index, logit in ranked]
        typer.echo(json_text(rows))
        return
    shown = [("–" if logit is None else f"{logit:.3f}", index + 1, _short(texts[index])) for index, logit in ranked]
    typer.echo(aligned(("logit", "number", "text"), shown))


def _reranker(name: str) -> "DeadlineReranker":
    """A reranker without deadline: it scores all texts, however long it takes."""
    from bootstrap.environment import settings_from_environment
    from bootstrap.workbench import configured_rerankers

    every = configured_rerankers(settings_from_environment(), threads=0, hurried=False)
    if name not in every:
        raise BadRequest(f"There is no reranker '{name}'.", f"Choose {', '.join(every)}.")
    return every[name]


def _texts(file: Path) -> list[str]:
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"'{file}' cannot be read: {error}.", "Name a text file in UTF-8.") from error
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if file.suffix == ".jsonl":
        texts = [_of_json(f"{file}, line {number}", line) for number, line in numbered]
    else:
        texts = [line for _, line in numbered]
    if not texts:
        raise BadRequest(f"'{file}' contains no text.", "Write one text per line.")
    return texts


def _of_json(where: str, line: str) -> str:
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadRequest(f"{where}: {error}.", "Write one JSON value per line.") from error
    text = value.get("text") if isinstance(value, dict) else value
    if not isinstance(text, str):
        raise BadRequest(f"{where} contains no text.", 'Write "a text" or {"text": "a text"}.')
    return text


def _short(text: str) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= 80 else f"{line[:79]}…"


Many = list[str] | None


class BriefFormat(StrEnum):
    """Output format of a brief."""

    MARKDOWN = "markdown"
    HTML = "html"
    JSON = "json"


def many(flag: str, help_text: str) -> Any:
    """A filter option that can be repeated."""
    return typer.Option(flag, help=f"{help_text} (may be repeated)")


# One option per filter: the signature is the command's documentation.
def search(
    question: str,
    truth: Annotated[Many, many("--truth", "regulatory, compliance, intent, reference or reality")] = None,
    domain: Annotated[Many, many("--domain", "e.g. taxes")] = None,
    authority: Annotated[Many, many("--authority", "government, vendor, industry, customer or internal")] = None,
    jurisdiction: Annotated[Many, many("--jurisdiction", "federal, country:XX, state:XX or global")] = None,
    source_type: Annotated[Many, many("--source-type", "upload, email, feed, paper, web or manual")] = None,
    temporal_class: Annotated[Many, many("--temporal-class", "evergreen, current, dated or historical")] = None,
    tag: Annotated[Many, many("--tag", "any of these tags")] = None,
    project: Annotated[Many, many("--project", "documents of this project and shared ones")] = None,
    date_from: Annotated[str | None, typer.Option(help="ISO date, inclusive.")] = None,
    date_to: Annotated[str | None, typer.Option(help="ISO date, inclusive: that whole day.")] = None,
    recency_months: Annotated[int | None, typer.Option(help="At most this many months of 30 days old.")] = None,
    include_undated: Annotated[bool, typer.Option(help="Let undated documents through a date filter.")] = False,
    strict_labels: Annotated[bool, typer.Option(help="Exclude passages with uncertain labels.")] = False,
    narrow: Narrow = None,
    only_routed: Annotated[bool, typer.Option(help="Exclude truths the question is not about.")] = False,
    profile: Profile = None,
    weights: Annotated[Many, many("--weight", "factor=weight instead of the profile's weights; together 1")] = None,
    threshold: Annotated[float | None, typer.Option(help="Minimum score, 0 to 1, instead of the profile's.")] = None,
    half_life_days: Annotated[float | None, typer.Option(help="Days, instead of the profile's half-life.")] = None,
    top_k: Annotated[int | None, typer.Option(min=1, help="Maximum number of results.")] = None,
    offset: Annotated[int, typer.Option(min=0, help="Skip so many results: page 2 of 10 has the offset 10.")] = 0,
    query_vector: Annotated[
        Path | None, typer.Option(help="A JSON list of numbers: search with this vector instead of the question's own.")
    ] = None,
    rerank: Annotated[str, typer.Option(help="Rerank the best results: included, fast, balanced or accurate.")] = "",
    reranker_deadline: Annotated[float | None, typer.Option(help="Seconds the reranker may read.")] = None,
    as_json: AsJson = False,
    form: Format = SearchFormat.TEXT,
    out: OutFile = None,
) -> None:
    """Answer a question with scored, cited passages."""
    from core.domain.filters import check_filters
    from core.domain.queries import SearchRequest

    filters = check_filters(
        {
            "truths": truth,
            "domains": domain,
            "authorities": authority,
            "jurisdictions": jurisdiction,
            "source_types": source_type,
            "temporal_classes": temporal_class,
            "tags": tag,
            "projects": project,
            "date_from": date_from,
            "date_to": date_to,
            "recency_months": recency_months,
            "include_undated": include_undated,
            "strict_labels": strict_labels,
        }
    )
    request = SearchRequest(
        question,
        filters,
        top_k=top_k,
        only_routed=only_routed,
        rerank=rerank,
        offset=offset,
        weights=tuple(_weight(each) for each in weights or ()),
        threshold=threshold,
        half_life_days=half_life_days,
        query_vector=() if query_vector is None else _vector(query_vector),
        reranker_deadline=reranker_deadline,
    )
    _answer(request, narrow or (), profile, SearchFormat.JSON if as_json else form, out)


def _weight(text: str) -> tuple[str, float]:
    name, _, number = text.partition("=")
    try:
        return name.strip(), float(number)
    except ValueError as error:
        raise BadRequest(f"'{text}' is not a weight.", "Write factor=number, e.g. similarity=0.6.") from error


def _vector(path: Path) -> tuple[float, ...]:
    """The numbers of a JSON file; Infinity and NaN are refused by the search. Raises BadRequest."""
    data = read_file(path, "Name a file with a JSON list of numbers.")
    try:
        numbers = json.loads(data)
    except ValueError as error:
        raise BadRequest(f"'{path}' is not JSON: {error}.", "Write a list of numbers, [0.1, 0.2, …].") from error
    sound = isinstance(numbers, list) and bool(numbers)
    if not sound or any(isinstance(each, bool) or not isinstance(each, int | float) for each in numbers):
        raise BadRequest(f"'{path}' has no list of numbers.", "Write a list of numbers, [0.1, 0.2, …].")
    return tuple(map(float, numbers))


def _answer(
    request: "SearchRequest", narrow: "Sequence[str]", profile: str | None, form: SearchFormat, out: Path | None
) -> None:
    """Search and output the result. profile: None for the default of the one searched project. narrow: additional
    filters, as field=value."""
    from core.search.query.filter_intersection import narrowed

    with open_library() as workbench:
        filters = request.filters
        if narrow:
            filters = narrowed(filters.replace(archived=None), narrowing(narrow, workbench))
        scored = profile_of(workbench.evaluation.profiles, profile, filters.project)
        result = workbench.search.run(replace(request, filters=filters, profile=scored.ref))
        if request.question.strip():
            answer = workbench.answers.ask(request.question, filters=filters, profile=scored.ref)
            result = replace(result, truths=answer.states)
    output_result(result, form, out)


def answer(
    question: str,
    project: Annotated[
        str | None, typer.Option("--project", help="Documents and tables of this project, and shared ones.")
    ] = None,
    profile: Profile = None,
    form: Annotated[BriefFormat, typer.Option("--format", help="Output format.")] = BriefFormat.MARKDOWN,
) -> None:
    """Answer a question by all five truths, and print the brief."""
    from core.answers.brief import brief_data, brief_html, brief_markdown
    from core.domain.filters import SearchFilters
    from core.formats.terminal import json_text

    with open_library() as workbench:
        scored = profile_of(workbench.evaluation.profiles, profile, project).ref
        brief = workbench.answers.ask(question, filters=SearchFilters(), profile=scored, project=project)
    match form:
        case BriefFormat.MARKDOWN:
            typer.echo(brief_markdown(brief), nl=False)
        case BriefFormat.HTML:
            typer.echo(brief_html(brief))
        case BriefFormat.JSON:
            typer.echo(json_text(brief_data(brief)))


def ask(question: str, project: Project = None) -> None:
    """Answer a question from the library's tables, with the SQL that counted it. Exit code 1 when they cannot."""
    from core.table_qa.query_description import table_answer_text

    with open_library() as workbench:
        found = workbench.tables.ask(question, project)
    typer.echo(table_answer_text(found))
    if not found.answered:
        raise typer.Exit(1)
