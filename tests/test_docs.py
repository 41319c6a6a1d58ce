"""Every setting, filter, factor, profile and command is in the docs, and every picture the docs show exists."""

import re
from dataclasses import MISSING, fields
from pathlib import Path

import pytest
import typer
from typer.main import get_command

from bootstrap.environment import Settings
from cli.main import app
from core.domain.coverage import CellState
from core.domain.documents import DocumentState, Truth
from core.domain.filters import FIELDS, SearchFilters
from core.workbench import Workbench
from tests.running import in_own_loop

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def page(name: str) -> str:
    """A page of the docs."""
    return (DOCS / name).read_text("utf-8")


def variable(field: str) -> str:
    """The environment variable of a setting."""
    return "DATABASE_URL" if field == "database_url" else f"FIVEFOLD_{field.upper()}"


@pytest.mark.parametrize("field", fields(Settings), ids=lambda field: str(field.name))
def test_every_setting_is_explained_with_its_default(field: "object") -> None:
    name, default = field.name, field.default  # type: ignore[attr-defined]
    row = re.search(rf"^\| `{variable(name)}` \| ([^|]*)\|", page("settings.md"), re.MULTILINE)
    assert row, f"{variable(name)} is not a row of docs/settings.md"
    if default is not MISSING:
        statement = row.group(1).strip().strip("`")
        assert statement == ("empty" if default == "" else str(default).lower())


def test_every_filter_is_explained() -> None:
    text = page("filters.md")
    named = [field.name for field in FIELDS]
    named += [each.name for each in fields(SearchFilters) if not each.name.startswith("exclude_")]
    assert not [name for name in named if f"`{name}`" not in text]


@pytest.mark.parametrize("field", [field for field in FIELDS if field.values], ids=lambda field: field.name)
def test_every_value_of_a_closed_filter_is_named(field: "object") -> None:
    row = re.search(rf"^\| `{field.name}` \|.*$", page("filters.md"), re.MULTILINE)  # type: ignore[attr-defined]
    assert row
    assert not [value for value in field.values if str(value) not in row.group()]  # type: ignore[attr-defined]


def test_every_factor_and_profile_is_explained() -> None:
    from core.knowledge.profiles import profiles
    from core.search.ranking.factors import FACTORS

    text = page("scores.md")
    assert not [name for name in FACTORS if f"| `{name}` |" not in text]
    assert not [name for name in profiles() if f"| `{name}` |" not in text]


def commands() -> list[tuple[str, list[str]]]:
    """Every command with its long options."""

    def walked(command: "object", path: str) -> list[tuple[str, list[str]]]:
        inner = getattr(command, "commands", {})
        if inner:
            return [found for name, each in inner.items() for found in walked(each, f"{path} {name}".strip())]
        options = [option for each in command.params for option in each.opts if option.startswith("--")]  # type: ignore[attr-defined]
        return [(path, [option for option in options if option != "--help"])]

    assert isinstance(app, typer.Typer)
    return walked(get_command(app), "")


@pytest.mark.parametrize(("command", "options"), commands(), ids=lambda value: value if isinstance(value, str) else "")
def test_every_command_and_option_is_explained(command: str, options: list[str]) -> None:
    text = page("command-line.md")
    assert f"`{command}" in text
    assert not [option for option in options if f"{option}`" not in text and f"`{option}" not in text]


def test_every_make_target_is_explained() -> None:
    targets = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert targets
    everyday = set(targets.group(1).split()) - {"help", "clean", "environment"}
    assert not [target for target in everyday if f"`make {target}`" not in page("command-line.md")]


def test_every_state_and_truth_is_explained() -> None:
    guide, readme = page("guide.md"), (ROOT / "README.md").read_text("utf-8")
    assert not [state for state in CellState if f"| {state} |" not in guide]
    assert not [truth for truth in Truth if f"| {truth} |" not in readme]
    assert DocumentState.FAILED.value in guide or "fails" in guide


@pytest.mark.parametrize("name", ["README.md", *(f"docs/{path.name}" for path in sorted(DOCS.glob("*.md")))])
def test_every_link_and_picture_leads_somewhere(name: str) -> None:
    folder = (ROOT / name).parent
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", (ROOT / name).read_text("utf-8"))
    dead = [link for link in links if "://" not in link and not (folder / link).exists()]
    assert not dead


def headings(path: Path) -> set[str]:
    """The anchors of a page, as GitHub makes them of its headings."""
    titles = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize(
    "name", ["README.md", "CONTRIBUTING.md", *(f"docs/{path.name}" for path in sorted(DOCS.glob("*.md")))]
)
def test_every_link_to_a_heading_finds_it(name: str) -> None:
    page_ = ROOT / name
    links = re.findall(r"\]\(([^()\s:]*\.md)?#([^)\s]+)\)", page_.read_text("utf-8"))
    dead = [
        f"{target}#{anchor}"
        for target, anchor in links
        if anchor not in headings(page_.parent / (target or page_.name))
    ]
    assert not dead


def test_the_readme_gives_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert re.search(r"^make run$", readme, re.MULTILINE)
    assert re.search(r"^make test$", readme, re.MULTILINE)


def test_the_image_and_the_compose_file_name_only_settings_that_exist() -> None:
    known = {variable(field.name) for field in fields(Settings)}
    known |= {f"{each}_FILE" for each in known}  # any setting can be in a file
    for name in ("Dockerfile", "compose.yaml"):
        used = set(re.findall(r"\bFIVEFOLD_[A-Z_]+\b|\bDATABASE_URL\b", (ROOT / name).read_text("utf-8")))
        assert used
        assert used <= known, name


def test_the_image_is_checked_by_a_route_that_exists() -> None:
    requested = re.search(r"8501(/\w+)", (ROOT / "Dockerfile").read_text("utf-8"))
    assert requested
    assert f'"{requested.group(1)}"' in (ROOT / "app.py").read_text("utf-8")


def test_every_tool_of_the_mcp_server_is_explained_with_its_arguments() -> None:
    from api.mcp.server import TEMPLATES, mcp_server

    text = page("mcp.md")
    for tool in in_own_loop(mcp_server(_no_library).list_tools):
        parts = [part for part in text.split("\n### ") if f"`{tool.name}`" in part.splitlines()[0]]
        assert len(parts) == 1, tool.name
        assert not [name for name in tool.input_schema["properties"] if f"`{name}`" not in parts[0]], tool.name
    assert not [each.uri for each in TEMPLATES if f"`{each.uri}`" not in text]


def _no_library(request: object) -> "Workbench":
    raise AssertionError("listing the tools opens no library")


def test_the_page_of_rights_is_that_of_the_rights_table() -> None:
    from docs.write_rights import PAGE, rights_page

    assert PAGE.read_text("utf-8") == rights_page(), "write it again: python -m docs.write_rights"


def test_the_page_of_terms_is_that_of_the_glossary() -> None:
    from docs.write_glossary import PAGE, glossary_page

    assert PAGE.read_text("utf-8") == glossary_page(), "write it again: python -m docs.write_glossary"
