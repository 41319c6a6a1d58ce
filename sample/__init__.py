"""The sample library: fourteen documents this project writes itself, about an invented company and its new payroll.

They state all five truths and disagree where real documents disagree: the policy pays overtime after 40 hours a week,
the state's rules after eight a day; the contract asks for shift differentials, and no earning code is set up for them.
The files in `library/` are committed; `python -m sample.make` writes those made from `source/` again.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ExpectedTruths", "expected", "files", "questions", "topics"]

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class ExpectedTruths:
    """Which truths the library states about a topic, and which are silent, as its author knows it."""

    covered: tuple[str, ...]
    missing: tuple[str, ...]


def files() -> list[Path]:
    """The documents, by name."""
    return sorted(path for path in (_FOLDER / "library").iterdir() if not path.name.startswith("."))


def topics() -> list[str]:
    """Topics worth a coverage board of this library."""
    return list(expected())


def questions() -> list[str]:
    """Questions worth asking this library; the last one has no answer in it."""
    return (_FOLDER / "questions.txt").read_text("utf-8").splitlines()


def expected() -> Mapping[str, ExpectedTruths]:
    """Topic → the truths that cover it and those that miss it; a truth in neither could be argued both ways."""
    with (_FOLDER / "topics.csv").open(encoding="utf-8", newline="") as lines:
        return {
            row["topic"]: ExpectedTruths(tuple(row["covered"].split()), tuple(row["missing"].split()))
            for row in csv.DictReader(lines)
        }
