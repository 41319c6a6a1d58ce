"""The command `coverage`: which topics are supported by which truth."""

from pathlib import Path
from typing import Annotated

import typer

from cli.options import AsJson, Project, open_library

__all__ = ["coverage"]


def coverage(
    topics: Annotated[list[str], typer.Argument(help="Topics, or a CSV file with a 'topic' column.")],
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Say which topics are supported by which truth, and what to obtain where they are not."""
    from core.coverage.board_view import board_data, board_text
    from core.coverage.topics import check_topics, topics_from_csv
    from core.coverage.unread_files import unread_files_data, unread_files_in_words
    from core.domain.coverage import Topic
    from core.formats.terminal import json_text

    named: list[str] = []
    for topic in topics:
        path = Path(topic)
        is_table = path.suffix.lower() == ".csv" and path.is_file()
        named += topics_from_csv(path.read_bytes(), path.name) if is_table else [topic]
    with open_library() as workbench:
        board = workbench.coverage.glance([Topic(name) for name in check_topics(named)], project)
    if as_json:
        typer.echo(json_text(board_data(board) | unread_files_data(board)))
    else:
        typer.echo("\n".join(filter(None, (board_text(board), unread_files_in_words(board)))))
