"""`python -m bench.fuzz --minutes N [--seed S]`: damaged files of every kind through the sandboxed reader.

Each file is read as the worker reads it, then split into passages, and either gives a text or is refused with a message
that names it and says what to do. Anything else is a finding: its file is made as small as it can be and kept.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic

from bench.fuzz.mutations import damaged
from bench.fuzz.outcome import Outcome, Tried, opened_trial
from bench.fuzz.report import FuzzReport
from bench.fuzz.seeds import SEEDS
from bench.fuzz.shrinking import smallest

__all__ = ["main"]

_TURN_SECONDS = 20.0  # of one kind of file before the next one's turn
_SHRINKING_SECONDS = 30.0


def main(words: Sequence[str] | None = None) -> int:
    """Run; the exit status is 1 when there was a finding."""
    parser = argparse.ArgumentParser(prog="python -m bench.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0, help="another seed tries other files; the same one the same")
    parser.add_argument("--only", nargs="*", choices=tuple(SEEDS), default=(), help="kinds of files")
    parser.add_argument("--seconds", type=int, default=60, help="of one file; more is a hang")
    parser.add_argument("--megabytes", type=int, default=2048, help="of the reading process; more is a finding")
    parser.add_argument("--keep", type=Path, default=Path(".fuzz"), help="folder for the files of findings")
    chosen = parser.parse_args(words)
    report = FuzzReport(chosen.keep)
    try:
        _run(report, chosen, monotonic() + 60 * chosen.minutes)
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
    print(report.text(), flush=True)
    return 1 if report.findings else 0


def _run(report: FuzzReport, chosen: argparse.Namespace, until: float) -> None:
    kinds = chosen.only or tuple(SEEDS)
    files = {kind: _files(kind, chosen.seed) for kind in kinds}
    turn = min(_TURN_SECONDS, max(1.0, 60 * chosen.minutes / len(kinds)))
    while monotonic() < until:
        for kind in kinds:
            ends = min(until, monotonic() + turn)
            with TemporaryDirectory() as folder, opened_trial(kind, chosen.seconds, chosen.megabytes, folder) as trial:
                while monotonic() < ends:
                    number, data = next(files[kind])
                    tried = trial.run(data)
                    if tried.outcome.finding and report.is_new(kind, tried):
                        small = smallest(data, _same(trial.run, tried), _SHRINKING_SECONDS)
                        report.keep(kind, number, tried, small)
                    report.add(kind, tried)
                report.memory(kind, trial.megabytes())
            if monotonic() >= until:
                return
        print(report.line(), file=sys.stderr, flush=True)


def _files(kind: str, seed: int) -> Iterator[tuple[int, bytes]]:
    """Damaged files of one kind without end, numbered from 1."""
    originals, number = SEEDS[kind].make(), 0
    while True:
        number += 1
        chance = Random(f"{seed} {kind} {number}")
        yield number, damaged(SEEDS[kind].shape, chance.choice(originals), chance)


def _same(run: Callable[[bytes], Tried], first: Tried) -> Callable[[bytes], bool]:
    """Whether smaller bytes are the same finding."""
    return lambda data: run(data).outcome is first.outcome and first.outcome is not Outcome.HANG


if __name__ == "__main__":
    sys.exit(main())
