"""`python -m bench [FOLDER] [--only NAME]`: medians and ratios, in one run on one machine.

Each bench prints its own tables. At the end one table has what counts of each: ours beside the peer that was measured
in the same run. `--save FILE` keeps it as JSON, and `--against FILE` shows such a file of an earlier run beside it.
"""

import argparse
import json
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from bench import (
    classification,
    conflicts,
    coverage,
    growth,
    ingest,
    keywords,
    quality,
    retrieval,
    search,
    start,
    tables,
    tuning,
)
from bench.measured import Headline, Report
from bench.stock import STOCK_SUFFIXES
from core.formats.terminal import aligned

__all__ = ["compared", "main"]

_BENCHES: dict[str, Callable[[Sequence[Path]], Report]] = {
    "start": start.run,
    "ingest": ingest.run,
    "classification": classification.run,
    "search": search.run,
    "tuning": tuning.run,
    "conflicts": conflicts.run,
}
_NAMES = (*_BENCHES, "coverage", "tables", "keywords", "retrieval")
_BY_NAME = ("growth", "quality")  # long, or in need of more than files
_COVERAGE = 100_000  # passages: the size that docs/scaling.md speaks of


def main(words: Sequence[str] | None = None) -> None:
    """Run the chosen benches on the files of a folder that both pipelines read."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parents[1] / "sample")
    parser.add_argument(
        "--only", nargs="+", choices=(*_NAMES, *_BY_NAME), help="benches; without it all but growth and quality"
    )
    parser.add_argument("--save", type=Path, help="file for the summary of this run")
    parser.add_argument("--against", type=Path, help="such a file of an earlier run, shown beside this one")
    parser.add_argument(
        "--judged", nargs="*", type=Path, default=(), help="folders with judged questions, for the quality bench"
    )
    parser.add_argument("--save-questions", type=Path, help="file for the values per question of the quality bench")
    parser.add_argument("--before", type=Path, help="such a file of an earlier run, compared in pairs")
    parser.add_argument(
        "--passages",
        type=_sizes,
        default=(),
        help=f"sizes of the libraries of the retrieval bench, such as 10000,500000 (without it {retrieval.SIZES}); the"
        f" largest is the size of the coverage bench's (without it {_COVERAGE})",
    )
    parser.add_argument(
        "--peer-seconds",
        type=float,
        default=retrieval.PEER_SECONDS,
        help="until the retrieval bench gives up the index of a peer; 0: without peers, for very large libraries",
    )
    parser.add_argument("--small-files", type=int, default=ingest.SMALL_FILES, help="of the ingest bench")
    parser.add_argument(
        "--documents",
        type=_sizes,
        default=growth.SIZES,
        help=f"sizes of the libraries of the growth bench, such as 0,100000 (without it {growth.SIZES})",
    )
    parser.add_argument("--topics", type=int, default=1_000, help="topics of the coverage bench")
    parser.add_argument("--rows", type=int, default=1_000_000, help="length of the table of the tables bench")
    chosen = parser.parse_args(words)
    if "quality" in (chosen.only or ()) and not chosen.judged:
        parser.error("the quality bench needs --judged FOLDER…")
    files = sorted(p for p in chosen.folder.rglob("*") if p.is_file() and p.suffix.lower() in STOCK_SUFFIXES)
    if not files:
        parser.error(f"{chosen.folder} contains no {', '.join(STOCK_SUFFIXES)} file")
    earlier = json.loads(chosen.against.read_text("utf-8")) if chosen.against else None
    benches = _BENCHES | {
        "ingest": partial(ingest.run, small=chosen.small_files),
        "coverage": partial(coverage.run, passages=max(chosen.passages, default=_COVERAGE), topics=chosen.topics),
        "retrieval": partial(retrieval.run, sizes=chosen.passages or retrieval.SIZES, peer_seconds=chosen.peer_seconds),
        "growth": partial(growth.run, sizes=chosen.documents),
        "keywords": partial(keywords.run, sizes=chosen.passages or keywords.SIZES),
        "tables": lambda _: tables.run(sorted(chosen.folder.rglob("*.csv")), rows=chosen.rows),
        "quality": lambda _: quality.run(chosen.judged, save=chosen.save_questions, before=chosen.before),
    }
    headlines: list[Headline] = []
    for name in chosen.only or _NAMES:
        report = benches[name](files)
        headlines += report.headlines
        print(f"\n{name}: {len(files)} files of {chosen.folder}\n{report.details}", flush=True)
    print(f"\n{_machine()}\n{compared(headlines, earlier)}", flush=True)
    if chosen.save:
        run = {"machine": _machine(), "results": [asdict(each) for each in headlines]}
        chosen.save.write_text(json.dumps(run, indent=2, ensure_ascii=False), "utf-8")


def compared(headlines: Sequence[Headline], earlier: dict[str, Any] | None = None) -> str:
    """The summary. "× peer" and "× before" say how many times better ours is than the peer, and than the earlier run's.

    >>> print(compared([Headline("search, p50", "ms", 20.0, "stock", 10.0)]))
    measured     unit    ours  peer   theirs  × peer
    search, p50  ms    20.000  stock  10.000   0.500
    """
    before = {(each["what"], each["unit"], each["peer"]): each["ours"] for each in (earlier or {}).get("results", ())}
    header = ("measured", "unit", "ours", "peer", "theirs", "× peer", *(("before", "× before") if earlier else ()))
    table = aligned(header, list(_rows(headlines, before, with_before=earlier is not None)))
    return f"{table}\nbefore: {earlier['machine']}" if earlier else table


def _rows(
    headlines: Sequence[Headline], before: dict[tuple[str, str, str], float], *, with_before: bool
) -> Iterator[tuple[object, ...]]:
    for each in headlines:
        row = (each.what, each.unit, each.ours, each.peer, each.theirs, each.advantage(each.theirs))
        past = before.get((each.what, each.unit, each.peer))
        yield (*row, past, each.advantage(past)) if with_before else row


def _machine() -> str:
    """The machine and the day, so that nobody compares runs of different ones unknowingly."""
    import psutil

    names = [line.partition(":")[2].strip() for line in _processor_lines() if line.startswith("model name")]
    memory = psutil.virtual_memory().total / 2**30
    return (
        f"{datetime.now(UTC):%Y-%m-%d}: {(names or [platform.processor() or platform.machine()])[0]},"
        f" {psutil.cpu_count()} cores, {memory:.0f} GiB, {platform.system()}, Python {platform.python_version()},"
        f" load {psutil.getloadavg()[0]:.1f}"
    )


def _processor_lines() -> list[str]:
    known = Path("/proc/cpuinfo")  # Linux
    return known.read_text("utf-8").splitlines() if known.exists() else []


def _sizes(words: str) -> tuple[int, ...]:
    """
    >>> _sizes("10000,500000")
    (10000, 500000)
    """
    return tuple(int(word) for word in words.split(","))


if __name__ == "__main__":
    main()
