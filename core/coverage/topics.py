"""Topics: parsed from text and CSV, labelled, renamed, merged, split, and edited as a table."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from core.domain.coverage import Topic, TopicOrigin
from core.domain.documents import Truth
from core.domain.errors import BadRequest
from core.formats.csv import inert, restored
from core.knowledge.workspace_terms import WorkspaceTerms
from core.search.query.route import read_route

__all__ = [
    "checked_topics",
    "csv_rows",
    "described",
    "edited",
    "merged",
    "renamed",
    "split",
    "topics_csv",
    "topics_from_csv",
    "topics_from_lines",
    "topics_from_table",
    "with_needs",
]

_LONGEST = 300


def topics_from_lines(text: str) -> tuple[str, ...]:
    """One topic per line, without list markers ("-", "*", "1."), duplicates and empty lines.

    Raises BadRequest naming the line of an invalid topic, or when there is no topic.

    >>> topics_from_lines("- minimum wage\\n\\n2. overtime\\nMinimum  Wage")
    ('minimum wage', 'overtime')
    """
    return _collected((number, _unmarked(line)) for number, line in enumerate(text.splitlines(), start=1))


def checked_topics(topics: Iterable[str]) -> tuple[str, ...]:
    """Topics with whitespace normalised and duplicates removed. Raises BadRequest as `topics_from_lines` does."""
    return _collected(enumerate(topics, start=1))


def topics_from_csv(data: bytes, name: str = "the file") -> tuple[str, ...]:
    """Topics from the column 'topic' (or 'topics'), else from the first column.

    Raises BadRequest naming the file, and the line if known.
    """
    header, body = csv_rows(data, name)
    place = header.index("topic") if "topic" in header else 0
    return _collected(((line, row[place] if place < len(row) else "") for line, row in body), f" of '{name}'")


def csv_rows(data: bytes, name: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The header in lower case (empty when the first row has no column 'topic'), and the rows with their line numbers.
    Raises BadRequest naming the file, and the line if known."""
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


_COLUMNS = ("topic", "needs", "owner", "domain", "jurisdiction")

_SEPARATORS = re.compile(r"[;,/|]|\band\b")


def described(topic: Topic, terms: WorkspaceTerms) -> Topic:
    """The topic with the domain and jurisdiction detected in its name, where none is set."""
    route = read_route(topic.name, date.min, terms)
    return replace(topic, domain=topic.domain or route.domain, jurisdiction=topic.jurisdiction or route.jurisdiction)


def renamed(topic: Topic, name: str) -> Topic:
    """The topic with a new name. Raises BadRequest for an invalid name."""
    return replace(topic, name=checked_topics([name])[0])


def with_needs(topics: Iterable[Topic], needs: Sequence[Truth]) -> tuple[Topic, ...]:
    """The topics with exactly these needed truths. Raises BadRequest when `needs` is empty."""
    if not needs:
        raise BadRequest("A topic must need at least one truth.", "Choose one or more of the five.")
    return tuple(replace(topic, needs=tuple(truth for truth in Truth if truth in needs)) for topic in topics)


def merged(topics: Sequence[Topic], name: str) -> tuple[Topic, ...]:
    """The first topic with the new name and the needs of all of them, then the others retired.

    Owner and domain stay if all topics that have one agree. Raises BadRequest for fewer than two topics.
    """
    if len(topics) < 2:
        raise BadRequest("Merging needs at least two topics.", "Choose the topics that mean the same.")
    first, *others = topics
    needs = tuple(truth for truth in Truth if any(truth in topic.needs for topic in topics))
    kept = replace(renamed(first, name), needs=needs, owner=_agreed(t.owner for t in topics) or "")
    kept = replace(kept, domain=_agreed(t.domain for t in topics))
    return kept, *(replace(topic, retired=True) for topic in others)


def _agreed(values: Iterable[str | None]) -> str | None:
    said = {value for value in values if value}
    return said.pop() if len(said) == 1 else None


def split(topic: Topic, names: Sequence[str], terms: WorkspaceTerms) -> tuple[Topic, tuple[Topic, ...]]:
    """The topic retired, and new ones that inherit its needs, owner, domain and source.

    Raises BadRequest for fewer than two names.
    """
    parts = checked_topics(names)
    if len(parts) < 2:
        raise BadRequest("Splitting needs at least two names.", "Write one part of the topic per line.")
    fresh = replace(topic, id=0, version=1, jurisdiction=None)
    return replace(topic, retired=True), tuple(described(replace(fresh, name=name), terms) for name in parts)


def topics_from_table(
    data: bytes, terms: WorkspaceTerms, name: str = "the file", project: str | None = None
) -> tuple[Topic, ...]:
    """Topics from CSV with the column 'topic' and optionally 'needs', 'owner', 'domain', 'jurisdiction'; without a
    header the first column holds the topics. needs: truths separated by ';', or 'all'.

    Raises BadRequest naming the file, and the line if known.
    """
    header, body = csv_rows(data, name)
    columns = {column: header.index(column) for column in _COLUMNS if column in header}
    columns.setdefault("topic", 0)
    found: dict[str, Topic] = {}
    for line, row in body:
        said = {column: restored(row[at].strip()) if at < len(row) else "" for column, at in columns.items()}
        if not said["topic"]:
            continue
        topic = Topic(
            _named(said["topic"], line, name),
            project=project,
            origin=TopicOrigin.CSV,
            needs=_needs(said.get("needs", ""), line, name),
            owner=said.get("owner", ""),
            domain=said.get("domain") or None,
            jurisdiction=_place(said.get("jurisdiction"), terms),
        )
        found.setdefault(topic.name.casefold(), topic)
    if not found:
        raise BadRequest(f"'{name}' names no topic.", "Put one topic in each row of the column 'topic'.")
    return tuple(found.values())


def _named(text: str, line: int, name: str) -> str:
    try:
        return checked_topics([text])[0]
    except BadRequest as problem:
        raise BadRequest(f"Line {line} of '{name}': '{text[:60]}' cannot be a topic.", problem.hint) from problem


def _needs(text: str, line: int, name: str) -> tuple[Truth, ...]:
    words = [word.strip().lower() for word in _SEPARATORS.split(text) if word.strip()]
    if not words or words == ["all"]:
        return tuple(Truth)
    unknown = [word for word in words if word not in set(Truth)]
    if unknown:
        problem = f"Line {line} of '{name}' needs '{unknown[0]}', which is no truth."
        raise BadRequest(problem, f"Truths are: {', '.join(Truth)}.")
    return tuple(truth for truth in Truth if truth.value in words)


def topics_csv(topics: Iterable[Topic]) -> str:
    """Topics as CSV that `topics_from_table` reads; text that a spreadsheet would run as a formula is escaped."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(_COLUMNS)
    for topic in topics:
        needs = "all" if len(topic.needs) == len(Truth) else "; ".join(topic.needs)
        row = (topic.name, needs, topic.owner, topic.domain or "", topic.jurisdiction or "")
        writer.writerow([inert(value) for value in row])
    return out.getvalue()


def edited(topic: Topic, row: Mapping[str, Any], terms: WorkspaceTerms) -> Topic:
    """The topic with the values of a table row; missing columns and an empty name keep the old value."""
    needs = row.get("needs")
    wanted = topic.needs if needs is None else tuple(truth for truth in Truth if truth.value in needs)
    return replace(
        topic,
        name=" ".join(str(row.get("name") or "").split()) or topic.name,
        needs=wanted or topic.needs,
        owner=str(row["owner"] or "").strip() if "owner" in row else topic.owner,
        domain=(row["domain"] or None) if "domain" in row else topic.domain,
        jurisdiction=_place(row["jurisdiction"], terms) if "jurisdiction" in row else topic.jurisdiction,
        retired=bool(row.get("retired", topic.retired)),
    )


def _place(said: Any, terms: WorkspaceTerms) -> str | None:
    """The jurisdiction's value for a name or value; unrecognised text stays as written."""
    words = str(said or "").strip()
    return (terms.jurisdictions.parse(words) or words) if words else None
