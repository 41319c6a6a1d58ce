"""Topics as an analyst gives them: typed lines or a CSV file."""

import csv
import io
from collections.abc import Iterable

from core.errors import BadRequest

__all__ = ["checked_topics", "csv_rows", "topics_from_csv", "topics_from_lines"]

_LONGEST = 300


def topics_from_lines(text: str) -> tuple[str, ...]:
    """One topic per line; list marks ("-", "*", "1.") are taken off, repeats and empty lines left out.

    Raises BadRequest naming the line of a topic that cannot be one, or when there is none.

    >>> topics_from_lines("- minimum wage\\n\\n2. overtime\\nMinimum  Wage")
    ('minimum wage', 'overtime')
    """
    return _collected((number, _unmarked(line)) for number, line in enumerate(text.splitlines(), start=1))


def checked_topics(topics: Iterable[str]) -> tuple[str, ...]:
    """Topics already apart: whitespace tidied, repeats left out. Raises BadRequest as `topics_from_lines` does."""
    return _collected(enumerate(topics, start=1))


def topics_from_csv(data: bytes, name: str = "the file") -> tuple[str, ...]:
    """The column headed 'topic' (or 'topics'), else the first column.

    Raises BadRequest naming the file, and the line where there is one.
    """
    header, body = csv_rows(data, name)
    place = header.index("topic") if "topic" in header else 0
    return _collected(((line, row[place] if place < len(row) else "") for line, row in body), f" of '{name}'")


def csv_rows(data: bytes, name: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The header in small letters (empty when the first row is none: it names no column 'topic'), and the rows with
    their lines. Raises BadRequest naming the file, and the line where there is one."""
    rows = [(reader_line, row) for reader_line, row in _rows(data, name) if any(cell.strip() for cell in row)]
    if not rows:
        raise BadRequest(f"'{name}' holds no rows.", "Put one topic in each row of the first column.")
    header = [{"topics": "topic"}.get(cell.strip().lower(), cell.strip().lower()) for cell in rows[0][1]]
    return (header, rows[1:]) if "topic" in header else ([], rows)


def _rows(data: bytes, name: str) -> list[tuple[int, list[str]]]:
    text = _decoded(data)
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max(",;\t", key=first.count) if any(first.count(mark) for mark in ",;\t") else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        return [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        problem = f"'{name}' is not a CSV file (line {reader.line_num}: {error})."
        raise BadRequest(problem, "Save it as CSV with one topic in each row.") from error


def _decoded(data: bytes) -> str:
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def _unmarked(line: str) -> str:
    head, _, rest = line.strip().partition(" ")
    numbered = head.rstrip(".)").isdigit() and head[-1] in ".)"
    return rest if rest and (head in ("-", "*", "•") or numbered) else line


def _collected(numbered: Iterable[tuple[int, str]], where: str = "") -> tuple[str, ...]:
    found: dict[str, str] = {}
    for number, raw in numbered:
        topic = " ".join(raw.split())
        if not topic:
            continue
        if not any(character.isalnum() for character in topic):
            raise BadRequest(f"Line {number}{where} is not a topic: '{topic}'.", "A topic needs at least one word.")
        if len(topic) > _LONGEST:
            problem = f"Line {number}{where} is too long for a topic ({len(topic)} characters)."
            raise BadRequest(problem, f"Name the topic in at most {_LONGEST} characters.")
        found.setdefault(topic.casefold(), topic)
    if not found:
        raise BadRequest("There is no topic to assess.", "Give at least one topic, such as 'minimum wage'.")
    return tuple(found.values())
