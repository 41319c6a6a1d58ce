"""What a fuzzing run found, per kind of file."""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

from bench.fuzz.outcome import Outcome, Tried
from core.formats.terminal import aligned

__all__ = ["Finding", "FuzzReport"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A file that ended badly. number: of the file under its seed. told: the error behind it."""

    kind: str
    number: int
    outcome: Outcome
    path: Path
    message: str


class FuzzReport:
    """Counts per kind of file; each new sort of bad end once, with its file below `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ends: defaultdict[str, Counter[Outcome]] = defaultdict(Counter)
        self._slowest: Counter[str] = Counter()
        self._memory: Counter[str] = Counter()
        self._known: set[tuple[str, Outcome, str]] = set()
        self.findings: list[Finding] = []

    def add(self, kind: str, tried: Tried) -> None:
        """Count one file."""
        self._ends[kind][tried.outcome] += 1
        self._slowest[kind] = max(self._slowest[kind], round(1000 * tried.seconds))

    def memory(self, kind: str, megabytes: float) -> None:
        """Note the memory of a reading process."""
        self._memory[kind] = max(self._memory[kind], round(megabytes))

    def is_new(self, kind: str, tried: Tried) -> bool:
        """Whether this sort of bad end is met for the first time."""
        key = (kind, tried.outcome, _sort(tried.message))
        new = key not in self._known
        self._known.add(key)
        return new

    def keep(self, kind: str, number: int, tried: Tried, data: bytes) -> None:
        """Write the file of a finding."""
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{kind}-{number}-{tried.outcome}"
        path.write_bytes(data)
        path.with_suffix(".txt").write_text(f"{kind} {number} {tried.outcome} {tried.seconds:.1f} s\n{tried.message}\n")
        self.findings.append(Finding(kind, number, tried.outcome, path, tried.message))

    def line(self) -> str:
        """How far it is."""
        total = sum((ends for ends in self._ends.values()), Counter[Outcome]())
        return f"{total.total():,} files; " + ", ".join(f"{total[each]:,} {each}" for each in Outcome if total[each])

    def text(self) -> str:
        """The table of all kinds, their sum, and the findings."""
        heads = ["kind", "files", *Outcome, "slowest s", "MB"]
        rows = [
            [kind, ends.total(), *(ends[each] for each in Outcome), self._slowest[kind] / 1000, self._memory[kind]]
            for kind, ends in self._ends.items()
        ]
        found = [f"{each.outcome} {each.path}: {_sort(each.message)}" for each in self.findings]
        return "\n".join([aligned(heads, rows), self.line(), *found, f"{len(found)} sorts of findings"])


def _sort(message: str) -> str:
    """The same for all files that end alike: the last line of an error, without its numbers and quotations."""
    last = (message.splitlines() or [""])[-1]
    return re.sub(r"'[^']*'|\"[^\"]*\"|\d+", "…", last)[:160]
