"""What is configured: a topic against the rows of set-up tables, one by one.

A row says in two or three words what a passage of prose says in sentences, so it is weighed by itself: meaning is the
cosine of the topic with the row's description, and the share is of the smaller of the two, topic or description, so
that "Overtime at one and one-half" is all about overtime.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.boards import Topic
from core.coverage.evidence import Weighed, weigh
from core.coverage.statements import content_stems
from core.documents import Passage, TableRole
from core.ports import Embedder, Vectors
from core.tables.gaps import EvidenceRow

__all__ = ["SetupRow", "row_values", "setup_rows", "weighed_rows"]

_TELLING = 0.9
"""Share of a column's values that are different for it to tell rows apart."""


@dataclass(frozen=True, slots=True)
class SetupRow:
    """One row. index: of its sentence in the passage. says: its description."""

    passage: Passage
    index: int
    says: str


def row_values(line: str) -> dict[str, str]:
    """A row's line as column → value.

    >>> row_values("code: OT15; description: Overtime at 1.5; rate: 1.5")
    {'code': 'OT15', 'description': 'Overtime at 1.5', 'rate': '1.5'}
    """
    parts = (part.partition(": ") for part in line.split("; "))
    return {name.strip(): value.strip() for name, mark, value in parts if mark}


def setup_rows(passages: Sequence[Passage]) -> list[SetupRow]:
    """The rows of one document's set-up tables, each with what describes it; other passages are left out.

    The description is the column whose values are different in nearly every row and have most words.
    """
    rows = [
        (passage, index, row_values(span.of(passage.text)))
        for passage in passages
        if passage.table_role is TableRole.SETUP
        for index, span in enumerate(passage.sentences)
    ]
    rows = [(passage, index, values) for passage, index, values in rows if values]
    name = _described_by([values for _, _, values in rows])
    return [
        SetupRow(passage, index, values.get(name, "") or "; ".join(values.values())) for passage, index, values in rows
    ]


def _described_by(rows: Sequence[Mapping[str, str]]) -> str:
    best, most = "", 0.0
    for name in dict.fromkeys(name for values in rows for name in values):
        held = [values[name] for values in rows if values.get(name)]
        words = sum(len(content_stems(value)) for value in held) / len(rows)
        if len(set(held)) >= _TELLING * len(held) and words > most:
            best, most = name, words
    return best


def weighed_rows(
    rows: Sequence[SetupRow], topics: Sequence[Topic], asked: Vectors, embedder: Embedder, row: EvidenceRow
) -> list[list[Weighed]]:
    """Per topic the rows weighed, strongest first, each by its sentence. asked: the topics' vectors, shape
    (len(topics), dim). Raises ModelUnavailable."""
    if not rows:
        return [[] for _ in topics]
    cosines = np.clip(asked @ embedder.embed([each.says for each in rows]).T, -1.0, 1.0)
    said = [content_stems(each.says) for each in rows]
    weighed = []
    for number, topic in enumerate(topics):
        stems = content_stems(topic.name)
        items = []
        for place, each in enumerate(rows):
            share = len(stems & said[place]) / max(1, min(len(stems), len(said[place])))
            found = weigh(each.passage, float(cosines[number, place]), share, row)
            items.append(replace(found, sentence=each.index))
        weighed.append(sorted(items, key=lambda item: (-item.score, -item.meaning, item.passage.id, item.sentence)))
    return weighed
