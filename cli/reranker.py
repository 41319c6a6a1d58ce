"""The commands that learn the included reranker."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import progress, read_file, write_file
from core.domain.errors import BadFile, BadRequest

if TYPE_CHECKING:
    from core.domain.documents import Passage
    from core.evaluation.tuning.reranker_fitting import RerankerExample

__all__ = ["collect_questions", "fit_reranker", "learned_examples"]

_QUESTIONS = "questions.jsonl"
_START_HINT = "Name a file that this command wrote."


def collect_questions(
    clones: Annotated[Path, typer.Argument(help="A folder with checked-out repositories: OWNER/NAME.")],
    folder: Annotated[Path, typer.Argument(help="Where files/ and questions.jsonl are written.")],
) -> None:
    """Write public sets of questions, and the texts that answer them, as `fit-reranker` learns from them."""
    import json
    from hashlib import sha256

    from core.evaluation.judgments.word_hashes import word_hash
    from core.evaluation.tuning.public_questions import PUBLIC_SETS

    (folder / "files").mkdir(parents=True, exist_ok=True)
    lines: list[dict[str, object]] = []
    for public in PUBLIC_SETS:
        root = clones / public.repository
        files = {
            path.relative_to(root).as_posix(): path.read_bytes()
            for pattern in public.patterns
            for path in sorted(root.glob(pattern))
        }
        if not files:
            raise BadRequest(f"'{root}' has none of the files of '{public.repository}'.", "Check the repository out.")
        before, name = len(lines), public.repository.partition("/")[2]
        for number, each in enumerate(public.read(files), start=1):
            data = each.text.encode()
            digest = sha256(data).hexdigest()
            (folder / "files" / f"{digest[:8]}__{name}-{number}.txt").write_bytes(data)
            lines += [
                {"document": digest[:16], "kind": "plain", "sentences": [*map(word_hash, found)], "question": question}
                for question, found in each.questions
            ]
        typer.echo(f"{len(lines) - before} questions of {public.repository}")
    write_file(folder / _QUESTIONS, "".join(f"{json.dumps(line)}\n" for line in lines).encode())


def fit_reranker(
    folder: Annotated[Path, typer.Argument(help="Where the files of the questions are.")],
    questions: Annotated[list[Path], typer.Option(help="Questions about them (may be repeated).")],
    write: Annotated[Path, typer.Option("--write", help="The model file.")] = Path(
        "adapters/inference/included_reranker.safetensors"
    ),
    start: Annotated[
        Path | None, typer.Option("--start", help="A model file to go on from; otherwise from the embedding model.")
    ] = None,
) -> None:
    """Learn the included reranker from questions about documents; takes about an hour on two cores."""
    from safetensors import SafetensorError
    from safetensors.numpy import load, save

    from adapters.inference.embedder import model_folder
    from adapters.inference.reranker_training import train_reranker
    from adapters.native_heap import keep_free_memory
    from core.domain.embedding_models import DEFAULT_MODEL
    from core.knowledge.rerankers import rerank_table

    known = None
    if start is not None:
        try:
            known = load(read_file(start, _START_HINT))
        except SafetensorError as error:
            raise BadRequest(f"'{start}' is not a model file: {error}.", _START_HINT) from error
    examples = learned_examples(folder, questions)
    keep_free_memory()
    typer.echo(f"{len(examples)} questions to learn from")
    tokens = rerank_table().rows["included"].max_tokens
    learned = train_reranker(examples, model_folder(DEFAULT_MODEL), tokens, progress("steps"), known)
    write_file(write, save(learned))


def learned_examples(folder: Path, questions: Sequence[Path]) -> "list[RerankerExample]":
    """The examples of the questions whose documents are in the folder."""
    from cli.labelled_files import built_in_embedder
    from core.evaluation.tuning.reranker_fitting import parse_reranker_questions, reranker_examples
    from core.knowledge.rerankers import rerank_table

    hint = "Name a file with a question in each line."
    lines = [line for path in questions for line in read_file(path, hint).decode("utf-8", "replace").splitlines()]
    judged = parse_reranker_questions(lines)
    passages = _passages(folder, {each.document for each in judged})
    characters = rerank_table().rows["included"].characters
    examples = reranker_examples(judged, passages, characters, built_in_embedder().embed)
    if not examples:
        raise BadRequest(f"The files in '{folder}' contain none of the sentences.", "Collect the files first.")
    return examples


def _passages(folder: Path, named: set[str]) -> "Mapping[str, Sequence[Passage]]":
    """The passages of the named files by the first 16 digits of their SHA-256; unreadable files are reported."""
    from hashlib import sha256

    from adapters.ocr import installed_ocr
    from core.ingestion.chunking import split
    from core.ingestion.parsers import extract
    from core.ingestion.pipeline import document_title

    paths = sorted(path for path in (folder / "files").rglob("*") if path.is_file())
    found: dict[str, Sequence[Passage]] = {}
    report = progress("files read")
    for done, path in enumerate(paths, start=1):
        data, name = path.read_bytes(), path.name.partition("__")[2] or path.name
        key = sha256(data).hexdigest()[:16]
        if key in named:
            try:
                extracted = extract(name, data, ocr=installed_ocr())
                found[key] = split(extracted, document_title(extracted, name))
            except BadFile as error:
                typer.echo(f"failed: {name}: {error.message}", err=True)
        report(done, len(paths))
    return found
