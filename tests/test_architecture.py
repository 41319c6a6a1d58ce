"""Promises about the code itself, kept by machine."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = (
    *("core", "storage", "pages", "app.py", "cli.py", "cli_batch.py", "cli_citations.py", "cli_evaluate.py"),
    "cli_fit.py",
    *("cli_experiments.py", "cli_profiles.py", "cli_rank.py", "cli_results.py", "cli_vocabulary.py", "cli_enrich.py"),
)
LONGEST_MODULE_LINES = 300
LONGEST_FUNCTION_LINES = 40


def python_files(*places: str) -> Iterator[Path]:
    """The Python files of some folders and files of the repository."""
    for place in places:
        path = ROOT / place
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path] if path.exists() else []


def named(path: Path) -> str:
    """A path as it is told."""
    return path.relative_to(ROOT).as_posix()


def parsed(path: Path) -> ast.Module:
    """A file's syntax."""
    return ast.parse(path.read_text("utf-8"), named(path))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method of a file."""
    return (node for node in ast.walk(parsed(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_there_is_something_to_check() -> None:
    assert len(list(python_files(*PRODUCT))) > 50


def test_no_module_is_longer_than_300_lines() -> None:
    lines = {
        named(path): len(path.read_text("utf-8").splitlines()) for path in python_files(*PRODUCT, "sample", "bench")
    }
    assert not {name: count for name, count in lines.items() if count > LONGEST_MODULE_LINES}


def test_a_function_longer_than_40_lines_says_why_above_it() -> None:
    long = []
    for path in python_files(*PRODUCT):
        lines = path.read_text("utf-8").splitlines()
        for function in functions(path):
            start = min([function.lineno, *(each.lineno for each in function.decorator_list)])
            said = lines[start - 2].strip().startswith("#") if start > 1 else False
            if (function.end_lineno or 0) - function.lineno + 1 > LONGEST_FUNCTION_LINES and not said:
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
                said = "noqa: BLE001 - " in lines[node.lineno - 1]
                broad += [] if raises or said else [f"{named(path)}:{node.lineno}"]
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
    " pysbd procrastinate alembic lxml optuna scipy sklearn krippendorff".split()
)


@pytest.mark.parametrize("module", ["core.workbench", "storage.opening", "cli"])
def test_importing_a_door_loads_nothing_heavy(module: str) -> None:
    report = f"import sys, {module}; print(*sorted({HEAVY!r} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", report], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == []


def test_core_reads_neither_the_environment_nor_the_clock() -> None:
    """`core.moments` holds the one clock, which can be replaced; `core.ingest.isolate` waits for a child process."""
    seen = []
    for path in python_files("core"):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
                said = ast.unparse(node)
                if said in ("os.environ", "os.getenv") or (said in CLOCKS and named(path) != "core/moments.py"):
                    seen.append(f"{named(path)}:{node.lineno} {said}")
    assert not seen


CLOCKS = ("datetime.now", "datetime.today", "datetime.utcnow", "date.today", "time.time")


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
    asked = [re.match(r"[A-Za-z0-9._-]+", line) for line in lines if line.strip() and not line.startswith("#")]
    return {normal(match.group()) for match in asked if match}


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
    asked = required(*files)
    missing = {
        module: file
        for module, file in third_party_imports(*places).items()
        if not asked & {normal(name) for name in holders.get(module, [module])}
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
    outside = {
        *(
            "app",
            "cli",
            "cli_batch",
            "cli_citations",
            "cli_evaluate",
            "cli_fit",
            "cli_experiments",
            "cli_profiles",
            "cli_rank",
        ),
        *("cli_results", "cli_vocabulary", "cli_enrich", "tests", "bench", "sample", "docs"),
    }
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
