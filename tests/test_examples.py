"""What docstrings show is what the code does: every example of every module is run."""

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
_PACKAGES = (
    "core",
    "storage",
    "adapters",
    "bootstrap",
    "api",
    "cli",
    "pages",
    "bench",
    "docs",
    "fivefold",
    "sample",
    "tests",
)
MODULES = [
    ".".join(file.relative_to(ROOT).with_suffix("").parts)
    for package in _PACKAGES
    for file in sorted((ROOT / package).rglob("*.py"))
    if re.search(r"^ *>>> ", file.read_text("utf-8"), re.MULTILINE)
]
"""Those with examples. No other module is imported: with pytest's own collection each test process imported all."""


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_a_module_give_what_they_show(module: str) -> None:
    outcome = doctest.testmod(import_module(module))
    assert outcome.attempted and not outcome.failed
