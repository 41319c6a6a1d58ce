"""The command-line door's `rank`: any texts by how well they answer a question."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.errors import BadRequest

if TYPE_CHECKING:
    from core.search.rerank import DeadlineReranker

__all__ = ["rank"]


def rank(
    question: str,
    file: Annotated[Path, typer.Argument(help="A text per line; .jsonl: strings, or objects with a 'text'.")],
    reranker: Annotated[str, typer.Option(help="fast, balanced or accurate.")] = "fast",
    top_k: Annotated[int | None, typer.Option(min=1, help="At most this many texts.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Order texts by a reranker, best first: logit, number of the text in the file (from 1), and the text."""
    from core.printed import aligned, json_text
    from core.search.rerank import rank_passages

    texts = _texts(file)
    ranked = rank_passages(question, texts, _reranker(reranker))[:top_k]
    if as_json:
        rows = [{"number": place + 1, "logit": logit, "text": texts[place]} for place, logit in ranked]
        typer.echo(json_text(rows))
        return
    shown = [("–" if logit is None else f"{logit:.3f}", place + 1, _short(texts[place])) for place, logit in ranked]
    typer.echo(aligned(("logit", "number", "text"), shown))


def _reranker(name: str) -> "DeadlineReranker":
    """Without a deadline: all texts are read, however long it takes."""
    from core.search.rerank import rerankers
    from storage.opening import settings_from_environment

    every = rerankers(settings_from_environment(), threads=0, hurried=False)
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
        raise BadRequest(f"'{file}' holds no text.", "Write one text per line.")
    return texts


def _of_json(where: str, line: str) -> str:
    try:
        told = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadRequest(f"{where}: {error}.", "Write one JSON value per line.") from error
    text = told.get("text") if isinstance(told, dict) else told
    if not isinstance(text, str):
        raise BadRequest(f"{where} holds no text.", 'Write "a text" or {"text": "a text"}.')
    return text


def _short(text: str) -> str:
    """The beginning of a text, in one line."""
    line = " ".join(text.split())
    return line if len(line) <= 80 else f"{line[:79]}…"
