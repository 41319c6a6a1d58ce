"""Searches in processes of their own: the same results, for the same person, also when a process dies."""

import os
import pickle
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from bootstrap import search_processes
from bootstrap.environment import Settings
from bootstrap.search_processes import ScopedSearches, SearchProcessPool
from bootstrap.workbench import OpenWorkbench, ProcessRole, open_workbench
from core.domain import people
from core.domain.errors import BadRequest
from core.domain.filters import SearchFilters
from core.domain.frozen import pickle_fast
from core.domain.people import Door, Principal
from core.domain.queries import SearchRequest
from core.domain.results import SearchResult
from core.ports.own_changes import OwnChanges
from storage.postgres.database import EVERYTHING, Scope
from tests.running import until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes inherit descriptors on POSIX only")
SECONDS = 240.0
TEXTS = {
    "law.txt": "Overtime Act of Nevada. An employer shall pay overtime at one and a half times the regular rate.",
    "policy.txt": "Our policy: overtime must be approved by a manager before it is worked, and is paid each month.",
    "secret.txt": "Project Falcon: overtime is paid twice the rate to the engineers of this project only.",
}
ASKED = SearchRequest("How is overtime paid?")


@pytest.fixture(scope="module")
def library(shared_folder: Path) -> Iterator[OpenWorkbench]:
    """Three documents, one of them of a project, and one search process that is ready."""
    with open_workbench(Settings(shared_folder, worker=True)) as workbench:
        for name, text in TEXTS.items():
            workbench.documents.upload(name, text.encode(), project="Falcon" if name == "secret.txt" else None)
        until(lambda: not workbench.documents.statistics().waiting_jobs, SECONDS, "the reading of the documents")
    opened = open_workbench(Settings(shared_folder, worker=False, search_processes=1), ProcessRole.APP)
    try:
        until(lambda: answered(pool_of(opened)), SECONDS, "a search process that is ready")
        yield opened
    finally:
        opened.close()


def pool_of(library: OpenWorkbench) -> SearchProcessPool:
    processes = library.workbench.answers.processes
    assert isinstance(processes, ScopedSearches)
    return processes.pool


def answered(pool: SearchProcessPool) -> SearchResult | None:
    found: SearchResult | None = pool.call(EVERYTHING, "search", (ASKED,))
    return found


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What processes answered, by name; a question that none answered fails: the app would answer it all the same."""
    answered_calls: list[str] = []
    call = SearchProcessPool.call

    def noted(pool: SearchProcessPool, scope: Scope, name: str, arguments: tuple[object, ...]) -> object:
        found = call(pool, scope, name, arguments)
        assert found is not None
        answered_calls.append(name)
        return found

    monkeypatch.setattr(SearchProcessPool, "call", noted)
    return answered_calls


def names(result: SearchResult) -> list[str]:
    return [hit.candidate.passage.document_name for hit in result.hits]


def alone(library: OpenWorkbench, request: SearchRequest) -> SearchResult:
    """What the app finds when it searches itself."""
    search = library.workbench.search
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(search, "_processes", None)
        return search.run(request, remember=False)


def test_a_process_finds_what_the_app_finds(library: OpenWorkbench) -> None:
    here, there = alone(library, ASKED), answered(pool_of(library))
    assert there is not None
    assert names(there) == names(here) and len(names(here)) == 3
    for ours, theirs in zip(here.hits, there.hits, strict=True):
        assert theirs.score.total == pytest.approx(ours.score.total, abs=1e-6)  # an age in days goes on
        assert theirs.citations == ours.citations
        assert [each.name for each in theirs.score.factors] == [each.name for each in ours.score.factors]
    again = library.workbench.search.rescore(there, there.profile)
    assert names(again) == names(there)


def test_the_pages_services_use_the_processes(library: OpenWorkbench, answers: list[str]) -> None:
    workbench = library.workbench
    result = workbench.search.run(ASKED)
    answer = workbench.answers.ask(ASKED.question, filters=SearchFilters(), profile="")
    assert answers == ["search", "answer"]
    assert names(result) and any(each.citations for each in answer.truths)
    cited = {citation.passage_id for truth in answer.truths for citation in truth.citations}
    assert workbench.search.recent(1)[0][:2] == (ASKED.question, len(cited))


def test_a_person_is_shown_their_projects_only(library: OpenWorkbench, answers: list[str]) -> None:
    owner = Principal("owner", "Owner", ((None, people.Role.ADMINISTRATOR),), Door.BROWSER)
    visitor = Principal("visitor", "Visitor", (("Payroll", people.Role.ANALYST),), Door.BROWSER)
    assert "secret.txt" in names(library.for_principal(owner).search.run(ASKED))
    narrowed = library.for_principal(visitor)
    assert narrowed.search.run(ASKED).hits
    assert "secret.txt" not in names(narrowed.search.run(ASKED))
    answer = narrowed.answers.ask(ASKED.question, filters=SearchFilters(), profile="")
    assert "secret.txt" not in [each.document_name for truth in answer.truths for each in truth.citations]
    assert len(answers) == 4


def test_an_error_comes_back_as_it_was(library: OpenWorkbench) -> None:
    pool = pool_of(library)
    with pytest.raises(BadRequest, match="nosuch"):
        pool.call(EVERYTHING, "search", (SearchRequest("overtime", profile="nosuch"),))
    with pytest.raises(BadRequest, match="empty"):
        pool.call(EVERYTHING, "answer", (" ", SearchFilters(), ""))
    assert answered(pool) is not None


def test_what_the_app_changes_is_found_at_once(library: OpenWorkbench, answers: list[str]) -> None:
    workbench = library.workbench
    document = next(each for each in workbench.documents.list() if each.name == "policy.txt")
    for archived in (True, False, True, False):
        workbench.documents.archive(document.id, archived=archived)
        assert ("policy.txt" in names(workbench.search.run(ASKED))) is not archived
    assert answers == ["search"] * 4


def test_what_the_app_chooses_counts_for_the_next_question(library: OpenWorkbench, answers: list[str]) -> None:
    search, profiles = library.workbench.search, library.workbench.evaluation.profiles
    usual = search.run(ASKED).profile.ref
    try:
        for chosen in ("knowledge", "balanced", "knowledge"):
            profiles.choose(None, chosen, "Ann")
            assert search.run(ASKED).profile.name == chosen
    finally:
        profiles.choose(None, "", "Ann")
    assert search.run(ASKED).profile.ref == usual
    assert len(answers) == 5


def test_a_process_that_dies_costs_no_search(library: OpenWorkbench, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = pool_of(library)
    (first,) = pool.pids
    stop = threading.Event()

    def ask(number: int) -> int:
        asked = 0
        while not stop.is_set():
            assert len(names(library.workbench.search.run(replace(ASKED, question=f"overtime {number} {asked}")))) == 3
            asked += 1
            stop.wait(0.05)  # the next process needs the cores to start
        return asked

    with ThreadPoolExecutor(4) as threads:
        searching = [threads.submit(ask, number) for number in range(4)]
        os.kill(first, signal.SIGKILL)
        until(lambda: [pid for pid in pool.pids if pid != first], SECONDS, "a second process")
        until(lambda: answered(pool), SECONDS, "its first answer")
        stop.set()
        assert min(each.result() for each in searching) > 0
    assert not psutil.pid_exists(first)


def test_a_process_that_hangs_is_ended_and_the_app_searches(library: OpenWorkbench) -> None:
    pool = pool_of(library)
    until(lambda: answered(pool), SECONDS, "a process that is ready")
    (first,) = pool.pids
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(search_processes, "_MOST_SECONDS", 0.5)
        os.kill(first, signal.SIGSTOP)
        until(lambda: psutil.Process(first).status() == psutil.STATUS_STOPPED, SECONDS, "its stop")
        assert len(names(library.workbench.search.run(ASKED))) == 3
    until(lambda: first not in pool.pids, SECONDS, "the end of the process")
    until(lambda: answered(pool), SECONDS, "another one")


GARBAGE = """
import sys
from multiprocessing.connection import Connection
channel = Connection(int(sys.argv[1]))
channel.send_bytes(b"ready")
while True:
    channel.recv_bytes()
    channel.send_bytes(b"no pickle")
"""


def test_an_answer_that_cannot_be_read_ends_its_process_and_nobody_waits(tmp_path: Path) -> None:
    pool = SearchProcessPool(replace(Settings(tmp_path), search_processes=1), OwnChanges(), ("-c", GARBAGE))
    pool.start()
    first = until(lambda: pool.pids, SECONDS, "a process")
    until(lambda: pool._channels._free, SECONDS, "its channels")
    assert [answered(pool) for _ in range(3)] == [None] * 3
    until(lambda: pool.pids != first, SECONDS, "its end")
    pool.stop()


def test_where_they_cannot_work_they_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    with pytest.raises(BadRequest, match="Windows"):
        SearchProcessPool(replace(Settings(tmp_path), search_processes=1), OwnChanges())


def test_without_a_process_the_app_searches(tmp_path: Path) -> None:
    settings = replace(Settings(tmp_path), search_processes=2)
    pool = SearchProcessPool(settings, OwnChanges(), ("-c", "import sys; sys.stdin.buffer.read()"))
    assert answered(pool) is None
    pool.start()
    until(lambda: len(pool.pids) == 2, SECONDS, "two processes")
    assert answered(pool) is None  # they never say that they are ready
    pool.stop()
    assert not pool.pids and answered(pool) is None


def test_a_result_is_the_same_after_its_journey(library: OpenWorkbench) -> None:
    result = alone(library, ASKED)
    assert pickle.loads(pickle_fast(result)) == result
