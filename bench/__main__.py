"""`python -m bench [FOLDER] [--only ingest|search|start]`: medians and ratios, in one run on one machine."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from bench import ingest, search, start
from bench.stock import STOCK_SUFFIXES

__all__ = ["main"]

_BENCHES = {"start": start.run, "ingest": ingest.run, "search": search.run}


def main(words: Sequence[str] | None = None) -> None:
    """Run the chosen benches on the files of a folder that both pipelines read."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parents[1] / "sample")
    parser.add_argument("--only", choices=tuple(_BENCHES))
    chosen = parser.parse_args(words)
    files = sorted(p for p in chosen.folder.rglob("*") if p.is_file() and p.suffix.lower() in STOCK_SUFFIXES)
    if not files:
        parser.error(f"{chosen.folder} holds no {', '.join(STOCK_SUFFIXES)} file")
    for name in [chosen.only] if chosen.only else _BENCHES:
        print(f"\n{name}: {len(files)} files of {chosen.folder}\n{_BENCHES[name](files)}", flush=True)


main()
