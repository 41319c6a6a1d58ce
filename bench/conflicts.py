"""Benchmark of conflict detection: recall on conflicts planted in real sentences, false alarms on unchanged ones."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from adapters.sandboxed_reader import SandboxedReader
from bench.measured import Headline, Report
from bootstrap.workbench import settings_from_environment
from core.coverage.conflicts import disagreement
from core.coverage.statements import content_stems, quantities
from core.formats.terminal import aligned
from core.ingestion.chunking import split
from core.search.citations.cite import QuotableKind, quotables

__all__ = ["run"]

_FIGURE = re.compile(r"\d+")
_MOST_SENTENCES = 2000  # two million pairs
_LOOK_AT = 40  # reported pairs that are printed. Chosen by hand.
_SHARED = 2
"""Content words a pair must share to be compared: with fewer the subjects differ, and the pair counts as not
reported."""


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence that names an amount."""

    document: str
    text: str
    stems: frozenset[str]


def run(files: Sequence[Path]) -> Report:
    """Recall on copies with another value, false alarms on unchanged copies and on different sentences of different
    documents; of the last, the first reported are printed to be judged by eye."""
    sentences = _spread(list(_sentences(files)))
    planted = [(each.text, other) for each in sentences if (other := _other_value(each.text))]
    found = sum(disagreement(one, other) is not None for one, other in planted)
    echoes = sum(disagreement(each.text, each.text) is not None for each in sentences)
    pairs = [(one, other) for one, other in combinations(sentences, 2) if one.document != other.document]
    reported = [pair for pair in pairs if _disagree(*pair)]
    rows = [
        ("copies with another value", len(planted), found),
        ("unchanged copies", len(sentences), echoes),
        ("different sentences of different documents", len(pairs), len(reported)),
    ]
    shown = [f"{number}. {_described(*pair)}" for number, pair in enumerate(reported[:_LOOK_AT], 1)]
    headlines = [
        Headline("planted conflicts found", "share", found / max(1, len(planted)), more=True),
        Headline("unchanged copies reported", "share", echoes / max(1, len(sentences))),
    ]
    return Report(headlines, "\n".join([aligned(("pairs", "looked at", "reported"), rows), *shown]))


def _sentences(files: Sequence[Path]) -> Iterator[_Sentence]:
    """Every sentence of prose with an amount, once."""
    limits, seen = settings_from_environment(), set[str]()
    reader = SandboxedReader(limits.file_seconds, limits.file_megabytes)
    try:
        for file in files:
            for passage in split(reader.read(file.name, file.read_bytes()), file.stem):
                prose = [part for part in quotables(passage) if part.kind is QuotableKind.SENTENCE]
                for text in [" ".join(part.span.of(passage.text).split()) for part in prose]:
                    if passage.rows is None and text.casefold() not in seen and _amount_in_prose(text):
                        seen.add(text.casefold())
                        yield _Sentence(file.name, text, content_stems(text))
    finally:
        reader.close()


def _amount_in_prose(text: str) -> bool:
    """Table rows and questions state nothing that could be contradicted; the board leaves them out as well."""
    return "|" not in text and not text.endswith("?") and bool(quantities(text))


def _spread(sentences: Sequence[_Sentence]) -> list[_Sentence]:
    """At most so many, the same share of every document."""
    of_document = defaultdict(list)
    for each in sentences:
        of_document[each.document].append(each)
    step = max(1.0, len(sentences) / _MOST_SENTENCES)
    return [own[int(i * step)] for own in of_document.values() for i in range(int((len(own) - 1) / step) + 1)]


def _other_value(text: str) -> str:
    """The sentence with its first amount more than doubled; "" when that is written in words."""
    amount = quantities(text)[0]
    figure = _FIGURE.search(text, amount.start, amount.end)
    if figure is None:
        return ""
    return f"{text[: figure.start()]}{int(figure.group()) * 2 + 1}{text[figure.end() :]}"


def _disagree(one: _Sentence, other: _Sentence) -> bool:
    return len(one.stems & other.stems) >= _SHARED and disagreement(one.text, other.text) is not None


def _described(one: _Sentence, other: _Sentence) -> str:
    difference = disagreement(one.text, other.text)
    assert difference is not None
    sides = "".join(f"\n   {each.document}: {each.text}" for each in (one, other))
    return f"{difference.kind}: {difference.first} / {difference.second}{sides}"
