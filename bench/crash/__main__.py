"""The crash matrix: `python -m bench.crash [--only NAME …] [--json FILE]`.

Every case starts real programs of the product on a library in a temporary folder, kills one of them with SIGKILL at a
named step (or fills its disk, or moves its clock), starts it again, waits until nothing is left to do, and compares
what is there with what must be there: originals byte by byte, documents, passages, tables, corrections, decisions;
vectors and keywords as `cli check` does; and that no job, row, file or process is left over. It prints what was lost.
A case that ends with an error is told so, and the next one begins. The exit code is 1 when anything was lost or a case
failed.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from zipfile import ZipFile

import sample
from bench.crash import keeping, machines, reading
from bench.crash.library import CrashLibrary
from bench.crash.pausing import KillPoint
from bench.crash.reading import Made
from core.formats.terminal import aligned

__all__ = ["CASES", "Outcome", "made_libraries", "run", "sample_files"]

_OLD = ("Overtime_and_Timekeeping_Policy.pdf", "Ledgerloom_Best_Practices.md", "deduction_plans.csv")
_NEW = ("Leave_and_Time_Off_Policy.pdf", "earning_codes.csv")
_PACKED = "2025-02-11_Kickoff_Meeting_Notes.md"

Run = Callable[[Made, Path], list[str]]
"""Runs a case in a folder that is not there yet; returns what was lost."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One row of the matrix. lost: empty when nothing was. not_run: why the case was not run; failed: the error that
    ended it before anything could be compared; both else empty."""

    case: str
    point: str
    seconds: float
    lost: tuple[str, ...] = ()
    not_run: str = ""
    failed: str = ""

    @property
    def good(self) -> bool:
        """Whether it was run to its end and nothing was lost, or could not be run here."""
        return not self.lost and not self.failed

    @property
    def message(self) -> str:
        """What the table says."""
        if self.not_run:
            return f"not run: {self.not_run}"
        return f"cannot be told, the case failed: {self.failed}" if self.failed else "; ".join(self.lost) or "nothing"


def _at(points: Sequence[str], run: Callable[[Made, Path, KillPoint], list[str]]) -> dict[str, Run]:
    return {point: partial(_killed, run, KillPoint.parse(point)) for point in points}


def _killed(run: Callable[[Made, Path, KillPoint], list[str]], point: KillPoint, made: Made, folder: Path) -> list[str]:
    return run(made, folder, point)


def _under(names: Sequence[str], run: Callable[[Made, Path, str], list[str]]) -> dict[str, Run]:
    return {name: partial(_named, run, name) for name in names}


def _named(run: Callable[[Made, Path, str], list[str]], name: str, made: Made, folder: Path) -> list[str]:
    return run(made, folder, name)


CASES: dict[str, dict[str, Run]] = {
    "upload": _at(reading.UPLOAD, reading.killed_command),
    "read": _at(reading.READ, reading.killed_worker),
    "postmaster": _at(reading.POSTMASTER, reading.killed_postmaster),
    "app": _at(reading.APP, reading.killed_app),
    "chroma": _at(reading.CHROMA, reading.killed_chroma),
    "chroma-worker": _at(reading.CHROMA_WORKER, reading.killed_worker_of_chroma),
    "coverage": _at(keeping.COVERAGE, keeping.killed_run),
    "decision": _at(keeping.DECISION, keeping.killed_decision),
    "model": _at((*keeping.MODEL_COMMAND, *keeping.MODEL), keeping.killed_model),
    "backup": _at(keeping.BACKUP, keeping.killed_backup),
    "restore": _at(keeping.RESTORE, keeping.killed_restore),
    "upgrade": _at(keeping.UPGRADE, keeping.killed_upgrade),
    "disk": _under(("data", "pg_wal"), machines.full_disk),
    "clock": _under(("+1d", "-1d"), machines.jumping_clock),
    "machines": _under(("random kills",), machines.many_workers),
}
"""Case → kill point → how to run it."""


def sample_files(folder: Path) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Files of the sample library: those read before every case, and those of the case, one of them packed there."""
    packed = folder / "Notes.zip"
    sample_folder = sample.files()[0].parent
    with ZipFile(packed, "w") as archive:
        archive.writestr(_PACKED, (sample_folder / _PACKED).read_bytes())
    return tuple(sample_folder / name for name in _OLD), (*(sample_folder / name for name in _NEW), packed)


def made_libraries(folder: Path, old: Sequence[Path], files: tuple[Path, ...], models: Path | None = None) -> Made:
    """The libraries that all cases begin with, below a folder that other users may pass.

    old: files that are read before every case, the first with a label set by hand; files: those of the case; models: a
    folder with the converted model, which is otherwise converted first.
    """
    (folder / "base").mkdir()
    (folder / "base").chmod(0o711)
    base = CrashLibrary(folder / "base")
    if models is not None:
        (base.data / "models").symlink_to(models, target_is_directory=True)
    base.command("ingest", *map(str, old))
    with base.opened() as workbench:
        first = next(each for each in workbench.documents.list() if each.name == old[0].name)
        workbench.documents.correct(first.id, "truth", "regulatory", "crash")
    base.settle()
    before = base.contents()
    queued = base.copy(folder / "queued")
    queued.queue(files)
    read = queued.copy(folder / "read")
    read.settle()
    expected = read.contents()
    remains = read.remains()
    assert not remains, f"an undisturbed library is not clean: {remains}"
    return Made(base, before, queued, files, expected)


def run(cases: Sequence[str], folder: Path, points: str = "") -> Iterator[Outcome]:
    """Run cases, those kill points only that contain `points`."""
    folder.chmod(0o711)  # as root, the database runs as another user, who must pass
    made = made_libraries(folder, *sample_files(folder))
    number = 0
    for case in cases:
        for point, killed in CASES[case].items():
            if points not in point:
                continue
            number += 1
            yield _outcome(case, point, partial(killed, made, folder / f"case-{number}"))


def _outcome(case: str, point: str, killed: Callable[[], list[str]]) -> Outcome:
    """One row. Whatever error ends a case is told in its row, and the matrix goes on."""
    began = perf_counter()
    lost: list[str] = []
    not_run = failed = ""
    try:
        lost = killed()
    except machines.NotRun as reason:
        not_run = str(reason)
    except Exception as problem:  # noqa: BLE001 - the row tells it
        failed = " ".join(f"{type(problem).__name__}: {problem}".split())[:600]
    return Outcome(case, point, round(perf_counter() - began, 1), tuple(lost), not_run, failed)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.crash", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=tuple(CASES), default=tuple(CASES), metavar="NAME", help="cases")
    parser.add_argument("--at", default="", help="only kill points that contain this")
    parser.add_argument("--json", type=Path, help="write the outcomes to this file")
    chosen = parser.parse_args()
    outcomes = []
    with TemporaryDirectory(prefix="fivefold-crash-", ignore_cleanup_errors=True) as folder:
        for each in run(chosen.only, Path(folder), chosen.at):
            print(f"{each.case}: {each.point}: {each.seconds:.0f} s, lost {each.message}", flush=True)
            outcomes.append(each)
    rows = [(each.case, each.point, each.seconds, each.message) for each in outcomes]
    print(
        f"\n{aligned(('case', 'kill point', 'seconds', 'lost'), rows)}" if rows else "\nno case has such a kill point"
    )
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(each) for each in outcomes], indent=1), "utf-8")
    sys.exit(not all(each.good for each in outcomes))


if __name__ == "__main__":
    main()
