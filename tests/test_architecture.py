"""Promises about the code itself, kept by machine."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = ("core", "storage", "adapters", "bootstrap", "cli", "pages", "api", "fivefold", "app.py")
LONG_MODULE_LINES = 300
LONGEST_MODULE_LINES = 500
LONGEST_FUNCTION_LINES = 40


def python_files(*places: str) -> Iterator[Path]:
    """The Python files of some folders and files of the repository."""
    for place in places:
        path = ROOT / place
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path] if path.exists() else []


def named(path: Path) -> str:
    """A path as it is told."""
    return path.relative_to(ROOT).as_posix()


@pytest.fixture(scope="module", autouse=True)
def forget_files() -> Iterator[None]:
    """The syntax of the whole product takes memory that later tests need."""
    yield
    parsed.cache_clear()


@cache
def parsed(path: Path) -> ast.Module:
    """A file's syntax, read once for all promises."""
    return ast.parse(path.read_text("utf-8"), named(path))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method of a file."""
    return (node for node in ast.walk(parsed(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_there_is_something_to_check() -> None:
    assert len(list(python_files(*PRODUCT))) > 50


def test_a_module_longer_than_300_lines_says_why_in_its_first_comment_and_none_is_longer_than_500() -> None:
    wrong = []
    for path in python_files(*PRODUCT, "sample", "bench"):
        text = path.read_text("utf-8")
        count = len(text.splitlines())
        opening = text.split("\nimport ")[0].split("\nfrom ")[0]
        reason = any(line.startswith("# ") for line in opening.splitlines())
        if count > LONGEST_MODULE_LINES or (count > LONG_MODULE_LINES and not reason):
            wrong.append(f"{named(path)}: {count}")
    assert not wrong


def test_a_function_longer_than_40_lines_says_why_above_it() -> None:
    long = []
    for path in python_files(*PRODUCT):
        lines = path.read_text("utf-8").splitlines()
        for function in functions(path):
            start = min([function.lineno, *(each.lineno for each in function.decorator_list)])
            statement = lines[start - 2].strip().startswith("#") if start > 1 else False
            if (function.end_lineno or 0) - function.lineno + 1 > LONGEST_FUNCTION_LINES and not statement:
                long.append(f"{named(path)}:{function.lineno} {function.name}")
    assert not long


def test_import_directions_hold() -> None:
    run = subprocess.run(
        [
            sys.executable,
            "-c",
            "from importlinter.cli import lint_imports_command; lint_imports_command()",
            "--no-cache",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "0 broken" in run.stdout


def test_no_page_writes_html_by_hand() -> None:
    assert not [named(path) for path in python_files(*PRODUCT) if "unsafe_allow_html" in path.read_text("utf-8")]


def test_unknown_errors_are_not_swallowed() -> None:
    """Everything may be caught only where it is raised again, or handed on, which its `noqa: BLE001 - why` says."""
    broad = []
    for path in python_files(*PRODUCT):
        lines = path.read_text("utf-8").splitlines()
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ExceptHandler) and is_broad(node):
                raises = any(isinstance(inner, ast.Raise) for inner in ast.walk(node))
                statement = "noqa: BLE001 - " in lines[node.lineno - 1]
                broad += [] if raises or statement else [f"{named(path)}:{node.lineno}"]
    assert not broad


def is_broad(handler: ast.ExceptHandler) -> bool:
    """Whether a handler catches everything."""
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(each is None or (isinstance(each, ast.Name) and each.id in BROAD) for each in caught)


BROAD = ("Exception", "BaseException")
SQL = re.compile(r"\b(?:SELECT\s.+\sFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM)\b", re.DOTALL)


def test_pages_hold_no_sql() -> None:
    for path in python_files("pages", "app.py"):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not SQL.search(node.value), f"{named(path)}:{node.lineno}"


# Nothing heavy is loaded by importing a module: it is loaded inside the function that needs it.
HEAVY = set(
    "torch sentence_transformers transformers openvino chromadb plotly pandas pypdfium2 pypdf docx openpyxl bm25s numba"
    " pysbd procrastinate alembic lxml optuna scipy sklearn".split()
)


@pytest.mark.parametrize("module", ["core.workbench", "bootstrap.workbench", "cli.main", "api.app"])
def test_importing_a_door_loads_nothing_heavy(module: str) -> None:
    report = f"import sys, {module}; print(*sorted({HEAVY!r} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", report], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == []


# What reaches the world outside the process, or the state of it: core is given these things, and takes none itself.
WORLD = set(
    "asyncio contextvars ftplib getpass http httpx multiprocessing os platform requests select shutil signal"
    " smtplib socket subprocess sys tempfile time urllib3".split()
)
CLOCKS = ("datetime.now", "datetime.today", "datetime.utcnow", "date.today", "time.time", "time.monotonic")
DISK = ("Path.cwd", "Path.home", "urllib.request")


def impurities(tree: ast.Module) -> list[str]:
    """What a module of core must not do: import the world, read a clock, ask where it runs."""
    found = []
    for node in ast.walk(tree):
        names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{each.name}" for each in node.names)]
        found += [name for name in names if name.split(".")[0] in WORLD or name in DISK]
        if isinstance(node, ast.Attribute) and ast.unparse(node) in (*CLOCKS, *DISK):
            found.append(ast.unparse(node))
    return found


def test_core_is_pure() -> None:
    """No network, process, environment, clock or scratch folder of its own; core.ports names what it is given."""
    seen = {named(path): impurities(parsed(path)) for path in python_files("core")}
    assert not {path: found for path, found in seen.items() if found}


@pytest.mark.parametrize(
    "source",
    [
        "import os",
        "def late():\n    import subprocess",
        "from time import perf_counter",
        "import urllib.request",
        "from urllib import request",
        "from contextvars import ContextVar",
        "def f(now=datetime.now): ...",
        "today = datetime.date.today() if False else date.today()",
        "here = Path.cwd()",
    ],
)
def test_what_is_impure_is_seen(source: str) -> None:
    assert impurities(ast.parse(source))


def test_what_is_pure_is_left_alone() -> None:
    source = "from datetime import datetime, time\nfrom urllib.parse import urlsplit\nmoment = datetime(2026, 1, 1)\n"
    assert impurities(ast.parse(source)) == []


# The packages of core that use threads or locks, and for what. A new one needs a reason here.
CONCURRENT = {
    "evaluation": "one experiment is written down at a time; questions added at once are told apart",
    "insights": "vectors of the sectors are made once",
    "library": "documents are stored one after the other, and read beside each other; the newest vocabulary and"
    " corrections are read once",
    "ports": "changes of several threads are counted",
    "search": "legs run beside each other; a reranker reads while its deadline runs; usage is written behind a search;"
    " word vectors are learned, and pdfium is entered, by one thread at a time",
    "text": "the sentence splitter is not thread-safe: each thread has its own",
}


def test_a_cache_of_a_function_with_arguments_is_bounded() -> None:
    wrong = []
    for path in python_files(*PRODUCT):
        for each in functions(path):
            for decorator in (ast.unparse(one) for one in each.decorator_list):
                endless = decorator == "cache" or re.fullmatch(r"lru_cache\((maxsize=)?None\)", decorator)
                if endless and (each.args.args or each.args.kwonlyargs):
                    wrong.append(f"{named(path)}: {each.name}")
                shared = decorator.startswith(("st.cache_resource", "st.cache_data")) and "max_entries" not in decorator
                if shared and each.args.args:
                    wrong.append(f"{named(path)}: {each.name}")
    assert not wrong


def test_threads_and_locks_of_core_have_a_reason() -> None:
    seen = set()
    for path in python_files("core"):
        for node in ast.walk(parsed(path)):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            if any(name.split(".")[0] in ("threading", "concurrent", "queue") for name in names):
                seen.add(path.relative_to(ROOT / "core").parts[0])
    assert seen == set(CONCURRENT)


# The glossary: one word per idea, the field's own. These were private words for standard ideas.
FORBIDDEN_CLASSES = re.compile(r"(Desk|Book|Tray|Shelf|Lab)$|^_?(Found|Wanted|Asked|Valued|Held|Kept|Said|Told|Shown)$")
FORBIDDEN_MODULES = frozenset(
    "said matching copies storable speaking in_its_words places pictures moments memories notes uses "
    "use_recorder views saved_views boards reviews judged tabular table_queries table_answers intake intray "
    "members unlock lessons teacher flips naming spelled cited numbered fading wordings near sums versus "
    "narrow collapse parts chunk holding grids counted shown merged package manners marks signs starts asking "
    "cases dated fitted spoken reach folding guard in_use composing opening turns traverse whole_files mirror "
    "first kin looks reading person not_shown heads moves closer utils helpers managers misc common".split()
)
# Participles and private words say neither what a value is nor what a function does. One is left where data or SQL
# columns that exist already are read by that name; a new one needs its reason here.
FORBIDDEN_NAMES = re.compile(
    r"_*(?:said|told|kept|asked|wanted|held|meant|spoken|heard|gone|things?|given_up|taken_over|(?:is_)?(?:said|told)"
    r"|(?:first_|second_|relevant_|irrelevant_)?kept(?:_(?:since|shares?|question|out))?|told_\w+|asked_(?:dates|kind|for|to_\w+)"
    r"|parts_asked|keys_asked|is_asked|sent_aside|put_(?:back|on_record)|taken_in|place_(?:before|after))"
)
STORED_NAMES = {
    ("core/library/saved_search_alerts.py", "told"): "stored as JSON",
    ("core/library/enrichment/values.py", "said"): "stored as JSON",
    ("storage/postgres/active_learning.py", "said"): "a column",
    ("storage/postgres/versions.py", "first_kept"): "a column",
    ("storage/postgres/versions.py", "second_kept"): "a column",
}
# Modules of one name in two packages of one layer. A new one needs a reason here.
NAMESAKES = {
    "service": "what a page may call of a feature",
    "store": "the port of a feature, or the store itself",
    "pipeline": "a flow from end to end",
    "files": "what a feature reads from files and writes to them",
    "pdf": "one file format: read, or written",
    "questions": "of a document, and of a batch",
    "agreement": "of judges, and of truths",
    "lexicon": "of names in text, and of tables and columns",
    "state": "what one page keeps in its session",
    "charts": "the figures of one page",
    "listing": "the list a page shows",
    "compare": "two results, and two experiments",
}


def layer(path: Path) -> str:
    """Modules of one name in two layers mean one noun; in one layer they must not. Of core: domain, knowledge, ports,
    what evaluates (its benchmarks carry the names of what they measure), and the features."""
    top, *rest = path.relative_to(ROOT).parts
    if top == "core":
        own = rest[0] if rest[0] in ("domain", "knowledge", "ports") or "benchmarks" in rest else "features"
        return f"core.{own}"
    return f"{top}.{rest[0]}" if top in ("storage", "pages", "api") and len(rest) > 1 else top


def test_classes_and_modules_have_the_names_of_the_field() -> None:
    classes: dict[str, list[str]] = {}
    for path in python_files(*PRODUCT):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name, []).append(named(path))
    assert not {name: files for name, files in classes.items() if FORBIDDEN_CLASSES.search(name)}
    assert not [named(path) for path in python_files(*PRODUCT) if path.stem in FORBIDDEN_MODULES]
    public = {name: files for name, files in classes.items() if not name.startswith("_")}
    assert not {name: files for name, files in public.items() if len(files) > 1}, "one class name, one meaning"


def definitions(path: Path) -> Iterator[str]:
    """Names that a file defines: of classes, functions, arguments, variables and attributes."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr


def test_identifiers_are_verbs_and_nouns_of_the_field() -> None:
    seen = {
        (named(path), name)
        for path in python_files(*PRODUCT, "bench", "docs", "sample")
        for name in definitions(path)
        if FORBIDDEN_NAMES.fullmatch(name)
    }
    assert seen == set(STORED_NAMES)


@pytest.mark.parametrize(
    "source",
    [
        "def _told(): ...",
        "def ask(self, *, wanted): ...",
        "kept: list[str] = []",
        "self._held = {}",
        "class Row:\n    said: str",
        "rows = [asked for asked in questions]",
    ],
)
def test_private_words_are_seen(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    (tmp_path / "module.py").write_text(source, "utf-8")
    assert any(FORBIDDEN_NAMES.fullmatch(name) for name in definitions(tmp_path / "module.py"))


def test_no_module_name_has_two_meanings_in_one_layer() -> None:
    files: dict[tuple[str, str], list[str]] = {}
    for path in python_files(*PRODUCT):
        files.setdefault((layer(path), path.stem), []).append(named(path))
    several = {key: found for key, found in files.items() if len(found) > 1 and key[1] != "__init__"}
    assert not {stem: found for (_, stem), found in several.items() if stem not in NAMESAKES}
    assert {stem for _, stem in several} >= set(NAMESAKES), "a namesake that is none any more"


def test_every_kind_of_file_has_one_row_and_a_reader() -> None:
    from core.ingestion.parsers.file_kinds import _ROWS, FileKind

    assert [row.kind for row in _ROWS] == list(FileKind)
    endings = [ending for row in _ROWS for ending in row.endings.split()]
    assert len(endings) == len(set(endings))
    for row in _ROWS:
        [imported] = [node for node in ast.walk(function_of(row.read)) if isinstance(node, ast.ImportFrom)][:1]
        module = importlib.import_module(str(imported.module))
        assert callable(getattr(module, imported.names[0].name)), row.kind


def function_of(function: Callable[..., object]) -> ast.Module:
    """A function's own syntax."""
    return ast.parse(inspect.getsource(function))


def third_party_imports(*places: str) -> dict[str, str]:
    """Top-level module → a file that imports it, for what is neither ours nor Python's."""
    ours = {path.stem if path.is_file() else path.name for path in ROOT.iterdir()}
    found: dict[str, str] = {}
    for path in python_files(*places):
        for node in ast.walk(parsed(path)):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            for top in (name.split(".")[0] for name in names):
                if top not in sys.stdlib_module_names and top not in ours:
                    found[top] = named(path)
    return found


def required(*files: str) -> set[str]:
    """Names of the distributions that requirements files ask for, normalised."""
    lines = "\n".join((ROOT / file).read_text("utf-8") for file in files).splitlines()
    requests = [re.match(r"[A-Za-z0-9._-]+", line) for line in lines if line.strip() and not line.startswith("#")]
    return {normal(match.group()) for match in requests if match}


def normal(name: str) -> str:
    """A distribution's name as packaging compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize(
    ("places", "files"),
    [
        (PRODUCT, ["requirements.txt"]),
        (("tests", "bench", "sample", "docs"), ["requirements.txt", "requirements-dev.txt"]),
    ],
)
def test_every_import_is_a_direct_requirement(places: tuple[str, ...], files: list[str]) -> None:
    holders = packages_distributions()
    requested = required(*files)
    missing = {
        module: file
        for module, file in third_party_imports(*places).items()
        if not requested & {normal(name) for name in holders.get(module, [module])}
    }
    assert not missing


def test_every_requirement_is_bounded_and_torch_is_pinned() -> None:
    for file in ("requirements.txt", "requirements-dev.txt"):
        for line in (ROOT / file).read_text("utf-8").splitlines():
            if line.strip() and not line.startswith("#"):
                assert line == "torch==2.13.0" or re.fullmatch(r"[\w.-]+(\[[\w,]+\])?>=[\d.]+,<[\d.]+", line), line
    assert "torch==2.13.0" in (ROOT / "requirements.txt").read_text("utf-8")


def test_the_fixed_parts_are_required() -> None:
    fixed = "torch streamlit sqlalchemy psycopg pgvector chromadb bm25s sentence-transformers pysbd plotly pypdf"
    assert set(fixed.split()) <= required("requirements.txt")


def test_every_package_says_what_it_offers() -> None:
    silent = []
    for path in python_files("core", "storage"):
        defines = any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in parsed(path).body)
        if defines and "migrations" not in path.parts and "__all__" not in path.read_text("utf-8"):
            silent.append(named(path))
    assert not silent


def test_nothing_imports_a_door_or_what_is_beside_the_product() -> None:
    """Doors and side rooms are used by nobody inside, but for the sample library, which pages offer to load.

    import-linter sees packages only, so they are looked for here.
    """
    outside = {"app", "cli", "tests", "bench", "sample", "docs"}
    seen = []
    for path in python_files("core", "storage", "pages"):
        for node in ast.walk(parsed(path)):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            barred = outside - {"sample"} if named(path).startswith("pages/") else outside
            seen += [f"{named(path)} imports {name}" for name in names if name.split(".")[0] in barred]
    assert not seen


# Words of a machine or a way of working that mean nothing to a reader of the repository.
FOREIGN = re.compile(r"(?<![\w.-])/work/|/tmp/w/|/root/|\bsub-?agent|\bhelper session", re.IGNORECASE)


def test_nothing_names_the_machine_it_was_written_on() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split(
        "\n"
    )
    texts = [ROOT / name for name in tracked if name.endswith((".py", ".md", ".toml", ".txt", ".yaml", ".csv"))]
    own = Path(__file__).resolve()
    named_there = [
        named(path) for path in texts if path.exists() and path != own and FOREIGN.search(path.read_text("utf-8"))
    ]
    assert not named_there
