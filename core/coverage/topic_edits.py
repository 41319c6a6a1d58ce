"""Topics as an analyst edits them: described, renamed, merged, split; and as a table."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from core.boards import Topic, TopicOrigin
from core.coverage.report import inert, restored
from core.coverage.topics import checked_topics, csv_rows
from core.documents import Truth
from core.errors import BadRequest
from core.search.route import read_route
from core.tables.jurisdictions import parse_jurisdiction

__all__ = ["described", "edited", "merged", "renamed", "split", "topics_csv", "topics_from_table", "with_needs"]

_COLUMNS = ("topic", "needs", "owner", "domain", "jurisdiction")
_SEPARATORS = re.compile(r"[;,/|]|\band\b")


def described(topic: Topic) -> Topic:
    """The topic with the domain and jurisdiction its name speaks of, where none is set."""
    route = read_route(topic.name, date.min)
    return replace(topic, domain=topic.domain or route.domain, jurisdiction=topic.jurisdiction or route.jurisdiction)


def renamed(topic: Topic, name: str) -> Topic:
    """The same topic under another name. Raises BadRequest for what cannot be one."""
    return replace(topic, name=checked_topics([name])[0])


def with_needs(topics: Iterable[Topic], needs: Sequence[Truth]) -> tuple[Topic, ...]:
    """Topics that need these truths and no others. Raises BadRequest when there is none."""
    if not needs:
        raise BadRequest("A topic must need at least one truth.", "Choose one or more of the five.")
    return tuple(replace(topic, needs=tuple(truth for truth in Truth if truth in needs)) for topic in topics)


def merged(topics: Sequence[Topic], name: str) -> tuple[Topic, ...]:
    """The first topic under the name, needing what any of them needs, and the others retired.

    Owner and domain stay where they agree or only one has one. Raises BadRequest for fewer than two.
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


def split(topic: Topic, names: Sequence[str]) -> tuple[Topic, tuple[Topic, ...]]:
    """The topic retired, and new ones that take over what it needs, its owner, domain and source.

    Raises BadRequest for fewer than two names.
    """
    parts = checked_topics(names)
    if len(parts) < 2:
        raise BadRequest("Splitting needs at least two names.", "Write one part of the topic per line.")
    fresh = replace(topic, id=0, version=1, jurisdiction=None)
    return replace(topic, retired=True), tuple(described(replace(fresh, name=name)) for name in parts)


def topics_from_table(data: bytes, name: str = "the file", project: str | None = None) -> tuple[Topic, ...]:
    """Topics from CSV with the column 'topic' and any of 'needs', 'owner', 'domain', 'jurisdiction'; without a header
    the first column names the topics. needs: truths apart by ';', or 'all'.

    Raises BadRequest naming the file, and the line where there is one.
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
            jurisdiction=_place(said.get("jurisdiction")),
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
    """Topics as CSV that `topics_from_table` reads; text a spreadsheet would run as a formula is made inert."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(_COLUMNS)
    for topic in topics:
        needs = "all" if len(topic.needs) == len(Truth) else "; ".join(topic.needs)
        row = (topic.name, needs, topic.owner, topic.domain or "", topic.jurisdiction or "")
        writer.writerow([inert(value) for value in row])
    return out.getvalue()


def edited(topic: Topic, row: Mapping[str, Any]) -> Topic:
    """The topic with what a row of a table says of it; what the row leaves out stays. An empty name stays as it was."""
    needs = row.get("needs")
    wanted = topic.needs if needs is None else tuple(truth for truth in Truth if truth.value in needs)
    return replace(
        topic,
        name=" ".join(str(row.get("name") or "").split()) or topic.name,
        needs=wanted or topic.needs,
        owner=str(row["owner"] or "").strip() if "owner" in row else topic.owner,
        domain=(row["domain"] or None) if "domain" in row else topic.domain,
        jurisdiction=_place(row["jurisdiction"]) if "jurisdiction" in row else topic.jurisdiction,
        retired=bool(row.get("retired", topic.retired)),
    )


def _place(said: Any) -> str | None:
    """A jurisdiction as written or as its value; one that cannot be read stays as written."""
    words = str(said or "").strip()
    return (parse_jurisdiction(words) or words) if words else None
