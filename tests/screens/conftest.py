"""A workbench of real in-memory stores behind the real pages. Only the model is small: its vectors are words."""

import json
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.elements.lib import policies
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

from tests.search.library import WordEmbedder
from tests.workbench import OpenedWorkbench, Stores, built

MAIN = Path(__file__).parents[2] / "pages" / "frame" / "main.py"

POLICY = """# Overtime policy
All overtime must be approved in writing by a manager before it is worked.
Employees of the company must record every hour on the day it is worked.
This policy is reviewed every year by internal audit.
"""
LAW = """# Fair Labor Standards Act, section 207
An employer shall pay overtime at one and one-half times the regular rate for hours beyond forty in a workweek.
Whoever violates this section is liable to a civil penalty under 29 U.S.C. 216.
"""
HOSTILE = """# Notes :red[shout]
The *overtime* rate is $5 -> $7 <b>bold</b> :material/home: `code` [link](javascript:alert(1)) per hour of overtime.
"""
JAPANESE = "# 残業規程\n残業は、事前に上司の承認を得なければならない。超過勤務手当は二十五パーセント増しとする。\n"

Opened = Callable[..., AppTest]


class Stack:
    """The library behind the pages: `workbench` is the real one, `jobs.run` can be taken away to leave jobs waiting."""

    def __init__(self, data_folder: Path) -> None:
        self.stores = Stores(WordEmbedder())
        self.jobs, self.boards, self.tunings = self.stores.jobs, self.stores.boards, self.stores.tunings
        self.workbench = built(self.stores, data_folder)

    def add(self, name: str, text: str, **where: Any) -> int:
        """Upload a text; gives its document id."""
        return self.workbench.documents.upload(name, text.encode(), **where).document_id


@pytest.fixture(scope="session", autouse=True)
def packages_looked_through_once() -> Iterator[None]:
    """AppTest reads the description of every installed package for each screen; they do not change meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture(autouse=True)
def unwarned(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Streamlit warns only once, and only its log, of a widget that is given its value twice; here each one counts."""
    statement: list[str] = []
    monkeypatch.setattr(
        policies, "_LOGGER", SimpleNamespace(warning=lambda words, *args, **_: statement.append(words % args))
    )
    yield
    assert not statement, statement


@pytest.fixture(autouse=True)
def cookies(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The cookies and headers of the browser, none at first; AppTest has a mock of them."""
    sent: dict[str, str] = {}
    monkeypatch.setattr(ContextProxy, "cookies", sent)
    monkeypatch.setattr(ContextProxy, "headers", sent)
    return sent


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    """An empty library, opened by the pages instead of a database."""
    import streamlit as st

    import bootstrap.workbench
    from pages.components import session

    library = Stack(tmp_path)
    monkeypatch.setattr(bootstrap.workbench, "open_workbench", lambda *_: OpenedWorkbench(library.workbench))
    st.cache_resource.clear()
    st.cache_data.clear()
    session.workbench()
    session.start_warming()
    deadline = time.monotonic() + 30
    while not session.ready():
        assert time.monotonic() < deadline, "the models did not get warm"
        time.sleep(0.01)
    yield library
    st.cache_resource.clear()


@pytest.fixture
def stocked(library: Stack) -> Stack:
    """A small library: a policy, a law, and two texts that are hard to draw."""
    library.add("overtime_policy.md", POLICY, project="Tallgrass")
    library.add("flsa_section_207.md", LAW)
    library.add("hostile_notes.md", HOSTILE)
    library.add("残業規程.md", JAPANESE)
    return library


@pytest.fixture
def opened() -> Opened:
    """Open a page by its file name, with query parameters, and let it draw."""

    def opened(page: str, /, **params: str | list[str]) -> AppTest:
        screen = AppTest.from_file(str(MAIN), default_timeout=60)
        if page == "inspection.py":  # its address is not its file's name, so AppTest finds it only among known pages
            screen.run()
        if page != "home.py":
            screen.switch_page(f"../{page}")
        for name, value in params.items():
            screen.query_params[name] = value
        screen.run()
        assert not screen.exception, screen.exception[0].value
        return screen

    return opened


def filter_values(screen: AppTest, field: str) -> list[str]:
    """The titles a check list of the filters is drawn from, in their order; [] where the field has none."""
    drawn = [each.proto for each in screen.main.get("bidi_component")]
    lists = [json.loads(each.json) for each in drawn if each.component_name == "fivefold_filters"]
    groups = [group for each in lists for group in each["groups"] if group["field"] == field]
    return [value["title"] for group in groups for value in group["values"]]


def listed(screen: AppTest, label: str = "Documents") -> list[dict[str, Any]]:
    """The rows of a table drawn in the browser, by its label: each its name and cells; [] where it is not drawn."""
    drawn = [each.proto for each in screen.main.get("bidi_component")]
    tables = [json.loads(each.json) for each in drawn if each.component_name == "fivefold_table"]
    return [row for table in tables if table["label"] == label for row in table["rows"]]


def uploaded_rows(screen: AppTest) -> list[dict[str, Any]]:
    """The rows the list of files is drawn from."""
    drawn = [each.proto for each in screen.get("bidi_component")]
    (files,) = [json.loads(each.json) for each in drawn if each.component_name == "fivefold_files"]
    found: list[dict[str, Any]] = files["rows"]
    return found


def names(screen: AppTest) -> set[str]:
    """The names of the documents that the library lists."""
    return {row["full"] for row in listed(screen)}


def words(screen: AppTest) -> str:
    """All that a page says: markdown, captions, notices, labels of links and buttons."""
    statements = [*screen.markdown, *screen.caption, *screen.error, *screen.warning, *screen.info, *screen.success]
    links = [link.label for link in screen.page_link]
    return "\n".join([*(str(each.value) for each in statements), *links, *(button.label for button in screen.button)])
