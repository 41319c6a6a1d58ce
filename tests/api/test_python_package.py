"""The Python package: the example of the documentation, its pages, and the wheel in an environment of its own."""

import os
import re
import shutil
import site
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import fivefold
from docs.python_api import PAGE, api_page
from fivefold import FivefoldError, _path, open_library

ROOT = Path(__file__).resolve().parents[2]
POLICY = (
    "# Overtime policy\n\nAll overtime must be approved in writing by a manager. It is our policy to pay all hours.\n"
)


@pytest.fixture
def folder(tmp_path: Path, models: Path, prepared: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a library and a folder of contracts, as the example expects them."""
    library = tmp_path / "payroll-library"
    shutil.copytree(models, library / "models", copy_function=os.link)
    shutil.copytree(prepared, library / "postgres")
    (tmp_path / "contracts").mkdir()
    (tmp_path / "contracts" / "overtime.md").write_text(POLICY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DATABASE_URL", raising=False)
    return tmp_path


def example(text: str) -> str:
    """The first Python example of a page."""
    found = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert found
    return found[1]


def test_the_example_of_the_documentation_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = example((ROOT / "docs" / "python.md").read_text("utf-8"))
    assert code == example(fivefold.__doc__ or "")
    assert len([line for line in code.splitlines() if line.strip()]) == 9
    exec(compile(code.replace('truths=["compliance"]', 'truths=["intent"]'), "docs/python.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "overtime.md" in printed
    assert "All overtime must be approved in writing by a manager." in printed
    assert "overtime approval intent covered" in printed


def test_a_library_answers_counts_and_checks(folder: Path) -> None:
    with open_library(folder / "payroll-library") as library:
        [document] = library.upload("contracts/overtime.md", project="Payroll", tags=["draft"])
        assert (document.project, document.tags, document.state) == ("Payroll", ("draft",), "ready")
        [again] = library.upload("contracts/overtime.md", project="Payroll")
        assert again.id == document.id
        assert [each.id for each in library.documents()] == [document.id]
        labelled = library.label(document, truth="compliance", domain="time")
        assert (labelled.labels.truth.value, labelled.labels.truth.confirmed) == ("compliance", True)
        assert labelled.labels.domain.value == "time"
        assert library.search("overtime", tags=["draft"], top_k=1, weights={"similarity": 1.0}).hits
        assert not library.search("overtime", truths=["regulatory"], threshold=0.0).hits
        assert library.answer("Who approves overtime?", project="Payroll").answered
        assert not library.ask_table("How many employees are there?").answered
        [claim] = library.check_citations(
            "Overtime is approved by a manager in writing [overtime.md].", project="Payroll"
        )
        assert claim.state == "supported"
        assert library.workbench.audit.page is not None
        for wrong in (
            lambda: library.label(document),
            lambda: library.label(document, truth="opinion"),
            lambda: library.search("overtime", truths=["opinion"]),
            lambda: library.search("overtime", colours=["red"]),
            lambda: library.upload("no such file"),
            lambda: library.coverage([]),
        ):
            with pytest.raises(FivefoldError) as refused:
                wrong()
            assert refused.value.message
    library.close()


def test_an_empty_file_is_refused_and_the_others_are_read(folder: Path) -> None:
    (folder / "contracts" / "empty.txt").write_bytes(b"")
    with open_library(folder / "payroll-library") as library:
        with pytest.raises(FivefoldError, match="empty"):
            library.upload("contracts")
        assert [each.name for each in library.documents()] == ["overtime.md"]


def test_the_pages_of_the_api_are_those_of_the_docstrings() -> None:
    assert PAGE.read_text("utf-8") == api_page(), "run `python -m docs.python_api`"


def test_another_package_of_the_same_name_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "__init__.py").write_text("")
    monkeypatch.setattr(_path, "TREE", tmp_path / "nowhere")
    with pytest.raises(ImportError, match="needs its package 'core'"):
        _path.check()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this checkout without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    [found] = folder.glob("*.whl")
    return found


def test_the_wheel_has_every_file_of_the_product_under_one_name(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"fivefold"}
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    packages = ("core/", "storage/", "adapters/", "bootstrap/", "api/", "pages/", "cli/", "sample/", ".streamlit/")
    values = {f"fivefold/_tree/{name}" for name in listed if name.startswith(packages) and (ROOT / name).is_file()}
    values |= {"fivefold/_tree/app.py", "fivefold/_tree/docs/guide.md", "fivefold/__init__.py"}
    assert not values - names
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]


def test_the_wheel_works_in_another_environment_and_another_folder(wheel: Path, folder: Path) -> None:
    place = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    python = place / "bin" / "python"
    [packages] = (place / "lib").glob("python*/site-packages")
    shared = next(path for path in map(Path, [*site.getsitepackages(), *sys.path]) if (path / "streamlit").is_dir())
    (packages / "shared.pth").write_text(f"{shared}\n")
    install = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "--no-deps",
        "--no-index",
        "-q",
        str(wheel),
    ]
    installed = subprocess.run(install, capture_output=True, text=True, check=False)
    assert installed.returncode == 0, installed.stderr
    elsewhere = {name: value for name, value in os.environ.items() if not name.startswith(("FIVEFOLD_", "PYTHON"))}
    code = example((ROOT / "docs" / "python.md").read_text("utf-8"))
    run = subprocess.run(
        [str(python), "-c", code], cwd=folder, env=elsewhere, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert "overtime approval" in run.stdout
    result = subprocess.run(
        [str(place / "bin" / "fivefold"), "search", "Who approves overtime?"],
        cwd=folder,
        env=elsewhere | {"FIVEFOLD_DATA_FOLDER": str(folder / "payroll-library")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "[overtime.md, " in result.stdout
