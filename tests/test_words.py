"""The texts people read are in plain English and use the field's terms: phrases of the product's own are kept out."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("adapters", "bootstrap", "cli", "core", "pages", "storage")
FORBIDDEN = re.compile(
    r"(?<!there )\bis no (?!longer\b|more than\b)|\bholds? (?:no|nothing)\b|\bsays? no\b"
    r"|\bstands?\b(?!-| out\b| for\b)|\btakes? over\b|\btake it along\b|\bas it came\b|\bby itself\b|\banew\b"
    r"|\blet go of\b|\bsay who you are\b|\bwins for ever\b|\bwhat is said of\b",
    re.IGNORECASE,
)


def texts(source: str) -> Iterator[tuple[int, str]]:
    """Every string of a module that is not a docstring, with its line. A formatted string gives its fixed parts one by
    one."""
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


@pytest.mark.parametrize("package", PACKAGES)
def test_no_text_has_a_phrase_of_the_private_language(package: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {match[0]!r} in {text!r}"
        for path in sorted((ROOT / package).rglob("*.py"))
        for line, text in texts(path.read_text("utf-8"))
        if (match := FORBIDDEN.search(text))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "phrase", ["'a' is no filter", "holds no text", "look anew", "Say who you are", "stands in two"]
)
def test_the_phrases_are_recognised(phrase: str) -> None:
    assert [line for line, text in texts(f'raise ValueError("{phrase}")') if FORBIDDEN.search(text)] == [1]


@pytest.mark.parametrize("phrase", ["This view is no longer there.", "There is no table yet.", "a standard"])
def test_plain_english_is_let_through(phrase: str) -> None:
    assert not FORBIDDEN.search(phrase)
