"""Coverage-guided fuzzing of one reader with atheris (libFuzzer), in this process: files that reach new code stay."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

__all__ = ["run_coverage_guided"]

_LIBRARIES = (
    *("pypdf", "docx", "pptx", "openpyxl", "striprtf", "oxmsg", "olefile", "feedparser", "compressed_rtf", "bs4"),
    *("markdown_it", "msoffcrypto", "zipfile", "tarfile", "email", "html.parser", "csv"),
)


def run_coverage_guided(kind: str, minutes: float, seed: int, keep: Path) -> int:
    """Fuzz until the time is over or a file ends badly, which libFuzzer writes below `keep`. Its exit status."""
    try:
        import atheris
    except ImportError:
        print(
            "Coverage-guided fuzzing needs atheris: pip install atheris (Linux, Python 3.11 to 3.13).", file=sys.stderr
        )
        return 2
    with atheris.instrument_imports(include=["core.ingestion.parsers", *_LIBRARIES]):
        from bench.fuzz.once import read_once
        from bench.fuzz.seeds import SEEDS

        SEEDS[kind].make()
    keep.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as corpus, TemporaryDirectory() as folder:
        for number, data in enumerate(SEEDS[kind].make()):
            (Path(corpus) / f"{kind}{number}").write_bytes(data)
        limits = [f"-max_total_time={int(60 * minutes)}", "-timeout=60", "-rss_limit_mb=4096", "-max_len=200000"]
        words = [sys.argv[0], *limits, f"-seed={seed + 1}", f"-artifact_prefix={keep}/{kind}-guided-", corpus]
        atheris.Setup(words, lambda data: read_once(kind, bytes(data), Path(folder), ocr=False))
        atheris.Fuzz()
    return 0
