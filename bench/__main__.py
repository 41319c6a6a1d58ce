"""`python -m bench [FOLDER] [--only NAME]`: medians and ratios, in one run on one machine."""

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from bench import (
    classification,
    conflicts,
    coverage,
    ingest,
    keywords,
    quality,
    retrieval,
    search,
    start,
    tables,
    tuning,
)
from bench.stock import STOCK_SUFFIXES

__all__ = ["main"]

_BENCHES: dict[str, Callable[[Sequence[Path]], str]] = {
    "start": start.run,
    "ingest": ingest.run,
    "classification": classification.run,
    "search": search.run,
    "tuning": tuning.run,
    "conflicts": conflicts.run,
}
_NAMES = (*_BENCHES, "coverage", "tables", "keywords", "retrieval")
_COVERAGE = 100_000  # passages: the size that docs/scaling.md speaks of


def main(words: Sequence[str] | None = None) -> None:
    """Run the chosen benches on the files of a folder that both pipelines read."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parents[1] / "sample")
    parser.add_argument("--only", choices=(*_NAMES, "quality"))
    parser.add_argument(
        "--judged", nargs="*", type=Path, default=(), help="folders with judged questions, for the quality bench"
    )
    parser.add_argument("--save", type=Path, help="file for the values of the quality bench")
    parser.add_argument("--before", type=Path, help="such a file of an earlier run, shown beside this one")
    parser.add_argument(
        "--passages",
        type=_sizes,
        default=(),
        help=f"sizes of the libraries of the retrieval bench, such as 10000,500000 (without it {retrieval.SIZES}); the"
        f" largest is the size of the coverage bench's (without it {_COVERAGE})",
    )
    parser.add_argument("--topics", type=int, default=1_000, help="topics of the coverage bench")
    parser.add_argument("--rows", type=int, default=1_000_000, help="length of the table of the tables bench")
    chosen = parser.parse_args(words)
    if chosen.only == "quality":
        if not chosen.judged:
            parser.error("the quality bench needs --judged FOLDER…")
        print(quality.run(chosen.judged, save=chosen.save, before=chosen.before), flush=True)
        return
    files = sorted(p for p in chosen.folder.rglob("*") if p.is_file() and p.suffix.lower() in STOCK_SUFFIXES)
    if not files:
        parser.error(f"{chosen.folder} contains no {', '.join(STOCK_SUFFIXES)} file")
    benches = _BENCHES | {
        "coverage": partial(coverage.run, passages=max(chosen.passages, default=_COVERAGE), topics=chosen.topics),
        "retrieval": partial(retrieval.run, sizes=chosen.passages or retrieval.SIZES),
        "keywords": partial(keywords.run, sizes=chosen.passages or keywords.SIZES),
        "tables": lambda _: tables.run(sorted(chosen.folder.rglob("*.csv")), rows=chosen.rows),
    }
    for name in [chosen.only] if chosen.only else _NAMES:
        print(f"\n{name}: {len(files)} files of {chosen.folder}\n{benches[name](files)}", flush=True)


def _sizes(words: str) -> tuple[int, ...]:
    """
    >>> _sizes("10000,500000")
    (10000, 500000)
    """
    return tuple(int(word) for word in words.split(","))


main()
