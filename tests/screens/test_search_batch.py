"""Batch search on the page: what was read, what is wrong, the run that outlives its tab, and what became of each."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.errors import StoreFailed
from core.domain.queries import SearchRequest
from core.domain.results import SearchResult
from core.search.batch.files import TEMPLATE
from core.search.batch.questions import Batch, BatchOutcome, BatchQuestion, BatchState, outcome_of
from pages.components.search import five_truths
from pages.components.search.batch import _draw_run, _failures_in_words, _progress, draw_batch
from pages.components.search.batch_run import BatchRun, batch_runs
from tests.screens.conftest import Opened, Stack, words
from tests.search.library import NOW

FILE = (
    "id,question,truths,top\n"
    "R-1,When must overtime be paid at one and one-half times the regular rate?,,\n"
    "R-2,zebra xylophone quark,,\n"
    "R-3,Who approves overtime in writing?,compliance,3\n"
    "R-4,,intent,\n"
    "R-5,overtime,gossip,\n"
)
Batched = Callable[..., AppTest]


class Asking:
    """Answers with the real search; can be told to wait, or to fail for a question."""

    def __init__(self, library: Stack) -> None:
        self.library, self.failing, self.free = library, "", threading.Event()
        self.free.set()

    def __call__(self, requests: Sequence[SearchRequest]) -> Sequence[SearchResult]:
        assert self.free.wait(30)
        if any(request.question == self.failing for request in requests):
            raise StoreFailed("The database went away.", "Start it again.")
        return [self.library.workbench.search.run(request, remember=False) for request in requests]


@pytest.fixture
def asking(stocked: Stack) -> Iterator[Asking]:
    """How the page asks; nothing is left waiting behind."""
    asking = Asking(stocked)
    yield asking
    asking.free.set()
    ended()


@pytest.fixture
def batched(asking: Asking, opened: Opened, monkeypatch: pytest.MonkeyPatch) -> Batched:
    """The Search page with the batch where the five truths stand."""
    monkeypatch.setattr(
        five_truths,
        "draw_five_truths",
        lambda page: draw_batch(page.filters, page.profile, asking, only_routed=page.only_routed, rerank=page.rerank),
    )
    return lambda **params: opened("search.py", q="overtime", view="five", **params)


def uploaded(screen: AppTest, text: str = FILE, name: str = "questions.csv") -> AppTest:
    screen.file_uploader[0].upload(name, text.encode(), "text/csv").run()
    return screen


def ended() -> None:
    deadline = time.monotonic() + 30
    while any(run.running for run in batch_runs()):
        assert time.monotonic() < deadline, "the batch did not end"
        time.sleep(0.01)


def ran(screen: AppTest, text: str = FILE) -> AppTest:
    uploaded(screen, text).button(key="batch.run").click().run()
    ended()
    return screen.run()


def table(screen: AppTest, column: str) -> list[Any]:
    """A column of the first table that has it."""
    return next(list(each.value[column]) for each in screen.dataframe if column in each.value)


def test_before_the_first_batch_the_page_says_what_to_do(batched: Batched) -> None:
    screen = batched()
    assert "No batch has been run yet" in words(screen)
    assert not screen.exception and TEMPLATE.startswith("id,question")


def test_what_was_read_and_what_is_wrong_is_shown_before_anything_is_asked(batched: Batched) -> None:
    screen = uploaded(batched())
    text = words(screen)
    assert "**3 questions**" in text and "**2 rows** refused" in text
    assert table(screen, "Problem") == [
        "it is empty",
        "'gossip' is none of regulatory, compliance, intent, reference, reality",
    ]
    assert table(screen, "Row")[:3] == [2, 3, 4] and not batch_runs()


def test_the_filters_of_the_page_hold_for_every_row(batched: Batched) -> None:
    screen = uploaded(batched(truths=["regulatory"]))
    assert "Every row: truth is regulatory" in words(screen)
    assert any("outside 'regulatory'" in each for each in table(screen, "Problem"))
    assert set(table(screen, "Narrowed to")) == {"truth is regulatory"}


def test_what_else_the_page_asks_holds_for_every_row_too(batched: Batched) -> None:
    screen = uploaded(batched(routed="1"))
    assert "only routed truths" in words(screen)
    screen.button(key="batch.run").click().run()
    ended()
    assert all(each.only_routed for each in batch_runs()[0].batch.questions)


def test_every_question_ends_answered_or_without_hits_and_the_files_are_there(batched: Batched) -> None:
    screen = ran(batched())
    assert table(screen, "Outcome") == ["✓ answered", "○ probably not answered", "✓ answered"]
    assert "**2 questions answered** · **1** probably not answered" in words(screen)
    assert "one-half" in table(screen, "Best sentence, or why not")[0]
    assert "[flsa_section_207.md, Fair Labor Standards Act, section 207]" in table(screen, "Citation")[0]
    assert {"batch.out.CSV", "batch.out.Excel"} <= {each.key for each in screen.get("download_button")}


def test_the_questions_without_hits_can_be_listed_alone(batched: Batched) -> None:
    screen = ran(batched())
    screen.segmented_control(key="batch.shown").set_value("Probably not answered").run()
    assert table(screen, "Question") == ["zebra xylophone quark"]


def test_a_question_that_failed_is_not_without_hits_and_can_be_asked_again(batched: Batched, asking: Asking) -> None:
    asking.failing = "zebra xylophone quark"
    screen = ran(batched())
    assert table(screen, "Outcome")[1] == "⚡ failed" and "**0** probably not answered" in words(screen)
    message = screen.error[0].value.replace("\\", "")
    assert message == "1 search failed, so its result is not known. The database went away. Start it again."
    asking.failing = ""
    (run,) = batch_runs()
    screen.button(key=f"batch.again.{run.number}").click().run()
    ended()
    assert table(screen.run(), "Outcome")[1] == "○ probably not answered" and not screen.error


def test_the_message_names_each_reason_of_failed_searches_with_its_number() -> None:
    reasons = ["It is full."] * 2 + ["It went away."] * 3 + ["A.", "B."]
    questions = [BatchQuestion(row, "", f"overtime {row}") for row in range(2, 9)]
    failed = [BatchOutcome(each, BatchState.FAILED, why=why) for each, why in zip(questions, reasons, strict=True)]
    run = BatchRun(1, Batch("questions.csv", tuple(questions)), NOW, {each.question.row: each for each in failed})
    assert _failures_in_words(run).replace("\\", "").split("\n") == [
        "7 searches failed, so their results are not known.",
        "",
        "- 3 questions: It went away.",
        "- 2 questions: It is full.",
        "- 1 question: A.",
        "- 1 more reason in the table below",
    ]


def test_while_it_runs_its_totals_are_counted_with_its_progress(
    asking: Asking, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = tuple(BatchQuestion(row, "", "When must overtime be paid?") for row in (2, 3))
    run = BatchRun(1, Batch("questions.csv", questions), NOW, asking=2, done=1)
    run.outcome_by_row[2] = outcome_of(questions[0], asking([questions[0].request])[0])
    monkeypatch.setattr(five_truths, "draw_five_truths", lambda page: _draw_run(run, asking))
    screen = opened("search.py", q="overtime", view="five")
    assert "**1 question answered** · **0** probably not answered · 1 not asked" in words(screen)
    assert table(screen, "Row") == [2] and "List 1 more outcome" not in [each.label for each in screen.button]
    monkeypatch.setattr(five_truths, "draw_five_truths", lambda page: _progress(run, 0))
    assert "List 1 more outcome" in [each.label for each in opened("search.py", q="overtime", view="five").button]


def test_what_answers_stands_before_the_numbers(batched: Batched) -> None:
    shown = next(each.value for each in ran(batched()).dataframe if "Outcome" in each.value)
    assert list(shown.columns)[:5] == ["Row", "Question", "Outcome", "Best sentence, or why not", "Hits"]


def test_a_batch_goes_on_when_its_tab_is_closed_and_is_found_again(batched: Batched, asking: Asking) -> None:
    asking.free.clear()
    uploaded(batched()).button(key="batch.run").click().run()
    assert [run.running for run in batch_runs()] == [True]
    asking.free.set()
    ended()
    assert table(batched(), "Outcome") == ["✓ answered", "○ probably not answered", "✓ answered"]


def test_a_batch_that_was_stopped_can_go_on(batched: Batched, asking: Asking) -> None:
    asking.free.clear()
    many = "question\n" + "".join(f"overtime {n}\n" for n in range(40))
    screen = uploaded(batched(), many)
    screen.button(key="batch.run").click().run()
    (run,) = batch_runs()
    screen.button(key=f"batch.stop.{run.number}").click().run()
    asking.free.set()
    ended()
    assert 0 < len(run.outcome_by_row) < 40
    screen.run()
    assert f"Stopped after {len(run.outcome_by_row)} of 40 questions" in screen.warning[0].value
    screen.button(key=f"batch.again.{run.number}").click().run()
    ended()
    assert len(run.outcome_by_row) == 40 and not run.rest


def test_a_file_that_is_no_batch_says_what_to_do(batched: Batched) -> None:
    screen = uploaded(batched(), "frage\nWann?\n")
    assert "no column 'question'" in screen.warning[0].value.replace("\\", "")


def test_a_batch_can_be_forgotten(batched: Batched) -> None:
    screen = ran(batched())
    screen.button(key="batch.forget").click().run()
    assert "No batch has been run yet" in words(screen)
