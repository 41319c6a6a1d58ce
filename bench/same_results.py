"""`python -m bench.same_results DATA_FOLDER QUESTIONS… --save FILE | --against FILE`: whether searches find the same.

It searches a library that is stored already, because the vectors of a document depend on the batch they were computed
in, and keeps every number, reason and citation; then it names what differs from an earlier run. The clock stands
still, so that nothing gets older between the two runs. Set OMP_NUM_THREADS=1 for both: with several threads, products
of matrices differ in the eighth digit from run to run.
"""

import argparse
import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch
from zlib import crc32

from bootstrap.workbench import open_workbench, settings_from_environment
from core.domain.documents import Document, Passage
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.domain.results import Score
from core.workbench import Workbench

__all__ = ["differences", "main", "plain_data", "searched"]

_NOW = datetime(2026, 11, 27, tzinfo=UTC)
_CLOCK = "bootstrap.workbench.utc_now"
_LISTED = 40  # differences that are printed
_TIMES = ("milliseconds", "rerank_ms", "asked_at")
_PROFILES = ("relevance", "authority", "knowledge", "trend", "memory")
_FILTERS = (
    SearchFilters(truths=("regulatory",)),
    SearchFilters(truths=("intent", "reality"), exclude_domains=("payroll",)),
    SearchFilters(jurisdictions=("country:US",), strict_labels=True),
    SearchFilters(archived=None, origins=("document",)),
    SearchFilters(date_from=datetime(2023, 1, 1, tzinfo=UTC)),
)


def searched(workbench: Workbench, questions: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """What was asked, and the whole result as plain data: each question by itself, under another profile, with a
    filter, from a later page on, and of the five truths."""
    for number, question in enumerate(questions):
        filters = _FILTERS[number % len(_FILTERS)]
        requests = {
            "": SearchRequest(question),
            "profile": SearchRequest(question, profile=_PROFILES[number % len(_PROFILES)]),
            "filter": SearchRequest(question, filters),
            "page": SearchRequest(question, offset=10 * (1 + number % 9), top_k=7),
        }
        for kind, request in requests.items():
            yield f"{question} [{kind}]", plain_data(workbench.search.run(request, remember=False))
        if not number % 4:
            yield f"{question} [five truths]", plain_data(workbench.answers.ask(question, filters=filters, profile=""))


def plain_data(value: Any) -> Any:
    """A value as JSON holds it, with every field but durations; of a passage or document its id and a checksum."""
    match value:
        case Passage() | Document():
            return f"{value.id}, {crc32(repr(value).encode()):08x}"
        case Score():
            return plain_data({"total": value.total, "factors": value.factors, "multipliers": value.multipliers})
        case Mapping():
            return {str(key): plain_data(each) for key, each in value.items()}
        case None | bool() | int() | float():
            return value
        case str():
            return str(value)
        case Sequence():
            return [plain_data(each) for each in value]
        case set() | frozenset():
            return sorted(map(plain_data, value))
    if is_dataclass(value):
        names = [each.name for each in fields(value) if each.name not in _TIMES]
        return {name: plain_data(getattr(value, name)) for name in names}
    return str(value)


def differences(before: Any, after: Any, place: str = "") -> Iterator[str]:
    """Where two values differ, and how.

    >>> list(differences({"total": 0.5, "hits": [1, 2]}, {"total": 0.25, "hits": [1]}))
    ['.total: 0.5 → 0.25', '.hits: 2 → 1 entries']
    """
    if isinstance(before, dict) and isinstance(after, dict):
        for name in before | after:
            yield from differences(before.get(name), after.get(name), f"{place}.{name}")
    elif isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            yield f"{place}: {len(before)} → {len(after)} entries"
        for number, pair in enumerate(zip(before, after, strict=False)):
            yield from differences(*pair, f"{place}[{number}]")
    elif before != after:
        yield f"{place}: {before!r} → {after!r}"


def main(words: Sequence[str] | None = None) -> int:
    """0 when nothing differs, else 1."""
    parser = argparse.ArgumentParser(prog="python -m bench.same_results", description=__doc__)
    parser.add_argument("data", type=Path, help="data folder of a library")
    parser.add_argument("questions", type=Path, nargs="+", help="JSON lines with a field 'question'")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--save", type=Path, help="file for the results of this run")
    action.add_argument("--against", type=Path, help="such a file of an earlier run")
    chosen = parser.parse_args(words)
    lines = [line for path in chosen.questions for line in path.read_text("utf-8").splitlines() if line.strip()]
    questions = [json.loads(line)["question"] for line in lines]
    settings = replace(settings_from_environment(), data_folder=chosen.data, worker=False)
    with patch(_CLOCK, lambda: _NOW), open_workbench(settings) as workbench:
        results = searched(workbench, questions)
        if chosen.save:
            _save(chosen.save, results)
            return 0
        return _compare(chosen.against, results)


def _save(path: Path, results: Iterator[tuple[str, Any]]) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for entry in results:
            print(json.dumps(entry), file=file)


def _compare(path: Path, results: Iterator[tuple[str, Any]]) -> int:
    """Prints what differs; 1 when something does."""
    found: list[str] = []
    compared = 0
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line, (request, result) in zip(file, results, strict=True):
            before = json.loads(line)
            # Through JSON too, so that both have the same kinds of numbers and texts.
            found += differences(before, json.loads(json.dumps((request, result))), request)
            compared += 1
    print("\n".join(islice(found, _LISTED)) + "\n" * bool(found) + f"{compared} results, {len(found)} differences")
    return bool(found)


if __name__ == "__main__":
    raise SystemExit(main())
