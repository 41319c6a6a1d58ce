"""What pages ask of the stores does not grow with the library: never a query, or a row drawn, for each document."""

import inspect
import threading
from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import Any

import pytest

import tests.fakes
from core.domain.coverage import Topic
from pages.components import session
from tests.screens.conftest import Opened, Stack, listed, uploaded_rows

FEW, MANY = 6, 30  # the greater one is more than a page of files
RULES = "\n".join(
    f"Rule {number}: a manager approves journey {number} in writing before it begins." for number in range(30)
)
PAGES = [
    ("home.py", {}),
    ("upload.py", {}),
    ("library.py", {}),
    ("library.py", {"view": "duplicates"}),
    ("library.py", {"view": "enrichment"}),
    ("coverage.py", {}),
    ("coverage.py", {"view": "Topics"}),
    ("data.py", {}),
    ("search.py", {}),
    ("insights.py", {}),
    ("tuning.py", {}),
    ("settings.py", {}),
]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each method of a store is called; what one store asks of another counts for nothing."""
    found: Counter[str] = Counter()
    inside = threading.local()

    def counted(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def call(*args: Any, **kwargs: Any) -> Any:
            if getattr(inside, "store", ""):
                return method(*args, **kwargs)
            found[name] += 1
            inside.store = name
            try:
                return method(*args, **kwargs)
            finally:
                inside.store = ""

        return call

    for store in vars(tests.fakes).values():
        if inspect.isclass(store) and store.__name__.startswith("Fake"):
            for name, method in inspect.getmembers(store, inspect.isfunction):
                if not name.startswith("_"):
                    monkeypatch.setattr(store, name, counted(f"{store.__name__}.{name}", method))
    return found


def filled(library: Stack, number: int) -> None:
    """So many documents that may be versions of each other."""
    for at in range(len(library.workbench.documents.list()), number):
        library.add(
            f"Journeys {at}.md", f"# Journeys {at}\n{RULES}\nEdition {at} of this text is the one that counts.\n"
        )


def test_no_page_asks_a_store_more_often_when_there_are_more_documents(
    library: Stack, opened: Opened, calls: Counter[str]
) -> None:
    def of_each_page() -> dict[str, Counter[str]]:
        found = {}
        for page, params in PAGES:
            opened(page, **params)  # what is looked up once per process is looked up by now
            calls.clear()
            opened(page, **params)
            found[f"{page} {params}"] = Counter(calls)
        return found

    filled(library, FEW)
    few = of_each_page()
    filled(library, MANY)
    many = of_each_page()
    # Some lookups are kept for seconds, so one more may be due; a query for each document would be due for each.
    more = {
        f"{page}: {name}": (few[page][name], number)
        for page in few
        for name, number in many[page].items()
        if number - few[page][name] >= (MANY - FEW) // 2
    }
    assert not more, more


def test_only_a_page_of_the_files_is_drawn(library: Stack, opened: Opened) -> None:
    filled(library, MANY)
    assert len(uploaded_rows(opened("upload.py"))) == 25
    assert len(listed(opened("library.py"))) == MANY


@pytest.mark.parametrize(
    ("page", "view"),
    [
        ("home", ""),
        ("upload", ""),
        ("library", ""),
        ("coverage", "Board"),
        ("search", ""),
        ("data", ""),
        ("tuning", ""),
        ("insights", ""),
    ],
)
def test_no_document_is_read_that_is_not_shown(
    library: Stack, opened: Opened, calls: Counter[str], page: str, view: str
) -> None:
    filled(library, FEW)
    library.workbench.coverage.add_topics([Topic("Journeys")])
    calls.clear()
    opened(f"{page}.py", **({"view": view} if view else {}))
    assert not calls["FakeCatalogue.documents"], "every document of the library is read"


def test_the_truths_of_all_documents_are_counted_for_home_alone(
    library: Stack, opened: Opened, calls: Counter[str]
) -> None:
    filled(library, FEW)
    question = {"q": "Who approves a journey?"}
    found: Counter[str] = Counter()
    for page, params in [*PAGES, ("search.py", question), ("search.py", question | {"view": "five"})]:
        calls.clear()
        opened(page, **params)
        found[page] += calls["FakeCatalogue.statistics"]
    assert {page for page, number in found.items() if number} == {"home.py"}


def test_the_health_check_counts_documents_and_jobs_and_nothing_else(library: Stack, calls: Counter[str]) -> None:
    filled(library, FEW)
    calls.clear()
    health = session.health().as_data()
    assert (health["status"], health["documents"], health["waiting_jobs"]) == ("ok", FEW, 0)
    assert set(calls) == {"FakeCatalogue.count_documents"}
