"""A library of real services over in-memory stores behind the API. Only the model is small: its vectors are words."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.app import create_app
from core.access.authorization import Guard, guarded
from core.domain.coverage import Topic
from core.domain.people import Principal
from core.workbench import Workbench
from tests.search.library import WordEmbedder
from tests.workbench import Stores, built

__all__ = ["LAW", "POLICY", "OpenedLibrary", "client", "library", "local_client"]

POLICY = """# Overtime policy
All overtime must be approved in writing by a manager before it is worked.
Employees of the company must record every hour on the day it is worked.
This policy is reviewed every year by internal audit of Acme Corporation.
"""
LAW = """# Fair Labor Standards Act, section 207
An employer shall pay overtime at one and one-half times the regular rate for hours beyond forty in a workweek.
Whoever violates this section is liable to a civil penalty under 29 U.S.C. 216.
"""
EMPLOYEES = "employee_id,name,state,hire_date\nE1,Ann,CA,2021-03-01\nE2,Bob,NY,2022-05-01\nE3,Cy,CA,2023-06-01\n"


class NoPlaces:
    """Stands in for the locator: everything is shared by all projects."""

    def __getattr__(self, name: str) -> Any:
        several = name in ("documents", "topics", "questions", "change_set", "insight")
        return lambda *_: (None,) if several else None


@dataclass(frozen=True, slots=True)
class OpenedLibrary:
    """What the API is given."""

    workbench: Workbench
    stores: Stores

    def for_principal(self, principal: Principal) -> Workbench:
        """The workbench behind the guard."""
        guarded_workbench: Workbench = guarded(self.workbench, Guard(principal, NoPlaces(), self.workbench.audit))
        return guarded_workbench


def filled(folder: Path) -> OpenedLibrary:
    """A library with three documents, a topic with a finished run, a question set and notes."""
    stores = Stores(WordEmbedder())
    workbench = built(stores, folder)
    for name, text in (("policy.md", POLICY), ("law.md", LAW), ("employees.csv", EMPLOYEES)):
        workbench.documents.upload(name, text.encode())
    workbench.coverage.add_topics([Topic("overtime"), Topic("Acme payroll", project="acme")])
    workbench.coverage.runs.carry_out(workbench.coverage.runs.start(None).id)
    return OpenedLibrary(workbench, stores)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> OpenedLibrary:
    """One library for the tests of a module."""
    return filled(tmp_path_factory.mktemp("api"))


def local_client(library: OpenedLibrary, *, rate: str = "1000000/minute") -> TestClient:
    """A client on this machine, which needs no token."""
    app = create_app(lambda: library, local=lambda: True, rate=lambda: rate)
    return TestClient(
        app,
        base_url="http://localhost",
        client=("127.0.0.1", 50000),
        headers={"X-Requested-With": "tests"},
        raise_server_exceptions=False,
    )


@pytest.fixture(scope="module")
def client(library: OpenedLibrary) -> Iterator[TestClient]:
    """A client of this machine."""
    with local_client(library) as opened:
        yield opened
