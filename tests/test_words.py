"""The texts people read are in plain English and use the field's terms: phrases of the product's own are kept out."""

import ast
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("adapters", "api", "bootstrap", "cli", "core", "fivefold", "pages", "storage")
SOMEONE_ELSES = ROOT / "pages" / "components" / "document" / "pdfjs"
"""The viewer of Mozilla, whose texts are its own."""
DISPLAYED = {"about", "from", "help", "label", "means", "name", "obtain", "question", "rule", "text", "title"}
"""Keys of the TOML tables whose strings people read; lists hold words that are looked for in texts."""
FORBIDDEN = re.compile(
    r"(?<!there )\b(?:is|are) no (?!longer\b|more than\b)|\bholds? (?:no|nothing)\b|\bsays? (?:no|nothing)\b"
    r"|\bstands?\b(?!-| out\b| for\b)|\btak(?:es?|en|ing) (?:it |them )?over\b|\btake it (?:along|out)\b"
    r"|\bas it came\b|\bby itself\b|\banew\b|\blet go of\b|\bsay who you are\b|\bwins for ever\b"
    r"|\bwhat (?:is|was) said of\b|\bby the clock\b|\bheld against\b",
    re.IGNORECASE,
)
Text = tuple[int, str]


def texts(source: str) -> Iterator[Text]:
    """Every string of a module that is not a docstring, with its line. A formatted string gives its fixed parts one by
    one."""
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


def displayed(source: str) -> Iterator[Text]:
    """Every string under a displayed key of a TOML table, with the line where it begins."""

    def walked(value: object, key: str) -> Iterator[tuple[str, str]]:
        if isinstance(value, dict):
            for name, each in value.items():
                yield from walked(each, name)
        elif isinstance(value, list):
            for each in value:
                yield from walked(each, key) if isinstance(each, dict) else ()
        elif isinstance(value, str) and key in DISPLAYED:
            yield key, value

    for key, text in walked(tomllib.loads(source), ""):
        place = re.search(rf"\b{key} *= *[\"']+{re.escape(text[:30])}", source)
        yield _line(source, place.start()) if place else 1, text


def script_texts(source: str) -> Iterator[Text]:
    """Every string of a script, with its line; comments are left out, the words of a template are not."""
    for match in re.finditer(
        r"""//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)""", source, re.DOTALL
    ):
        if match[1]:
            yield _line(source, match.start()), match[1]


def template_texts(source: str) -> Iterator[Text]:
    """What a template shows, with its line: neither its tags nor its comments, style and expressions."""
    hidden = re.compile(r"<style.*?</style>|<[^>]*>|\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
    shown = hidden.sub(lambda match: "\n" * match[0].count("\n") or " ", source)
    yield from enumerate(shown.splitlines(), start=1)


def paragraphs(source: str) -> Iterator[Text]:
    """Every paragraph, item and row of a page of the documentation as one line, with the line where it begins."""
    for match in re.finditer(r"[^\n]+(?:\n(?![ ]*(?:[-|#]|\d+\.) )[^\n]+)*", source):
        yield _line(source, match.start()), " ".join(match[0].split())


def _line(source: str, place: int) -> int:
    return source.count("\n", 0, place) + 1


def _files(*patterns: str) -> list[Path]:
    """Our own files of the packages by pattern."""
    found = [path for package in PACKAGES for pattern in patterns for path in (ROOT / package).rglob(pattern)]
    return sorted(path for path in found if SOMEONE_ELSES not in path.parents)


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def _problems(paths: list[Path], read: Callable[[str], Iterator[Text]]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{line}: {match[0]!r} in {text!r}"
        for path in paths
        for line, text in read(path.read_text("utf-8"))
        if (match := FORBIDDEN.search(text))
    ]


@pytest.mark.parametrize("package", PACKAGES)
def test_no_text_has_a_phrase_of_the_private_language(package: str) -> None:
    found = _problems(sorted((ROOT / package).rglob("*.py")), texts)
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("paths", "read"),
    [
        pytest.param(_files("*.toml"), displayed, id="tables"),
        pytest.param(_files("*.js"), script_texts, id="scripts"),
        pytest.param(_files("*.html"), template_texts, id="templates"),
        pytest.param(PAGES, paragraphs, id="documentation"),
    ],
)
def test_no_other_text_has_one_either(paths: list[Path], read: Callable[[str], Iterator[Text]]) -> None:
    assert paths
    found = _problems(paths, read)
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "phrase", ["'a' is no filter", "holds no text", "look anew", "Say who you are", "stands in two", "Take it over"]
)
def test_the_phrases_are_recognised(phrase: str) -> None:
    assert [line for line, text in texts(f'raise ValueError("{phrase}")') if FORBIDDEN.search(text)] == [1]


@pytest.mark.parametrize(
    ("read", "source", "line"),
    [
        (displayed, 'words = ["it stands"]\n[a]\nmeans = "it stands"', 3),
        (displayed, '[[kinds]]\n\n\nlabel = "it stands"', 4),
        (script_texts, "// it stands\nconst words = `it\nstands here`", 2),
        (template_texts, "<p class='it stands'>\n{{ it.stands }}\n<b>it</b> stands</p>", 3),
        (paragraphs, "# Title\n\nThis is\nno filter\n", 3),
    ],
)
def test_every_reader_finds_what_people_read_and_nothing_else(
    read: Callable[[str], Iterator[Text]], source: str, line: int
) -> None:
    assert [number for number, text in read(source) if FORBIDDEN.search(text)] == [line]


@pytest.mark.parametrize("phrase", ["This view is no longer there.", "There is no table yet.", "a standard"])
def test_plain_english_is_let_through(phrase: str) -> None:
    assert not FORBIDDEN.search(phrase)
