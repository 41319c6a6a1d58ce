"""A batch of questions: read as it comes, wrong rows told one by one, an error never taken for silence."""

import csv
import io
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.documents import Truth
from core.domain.errors import BadRequest, StoreFailed
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.domain.results import LegReport, SearchResult
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from core.search.batch.files import COLUMNS, OUTCOME_COLUMNS, TEMPLATE, batch_csv, batch_xlsx, outcome_rows, read_batch
from core.search.batch.questions import (
    Batch,
    BatchOutcome,
    BatchQuestion,
    BatchState,
    outcome_of,
    run_batch,
    totals,
    unanswered,
)
from tests.search.library import NOW, Library, payroll_library

QUESTIONS = ("When are deposits of withheld taxes due?", "zebra xylophone quark", "How does vacation accrue?")


def read(text: str, **given: object) -> Batch:
    return read_batch(text.encode(), "questions.csv", terms=BUILT_IN_TERMS, **given)  # type: ignore[arg-type]


def batch_of(*questions: str) -> tuple[BatchQuestion, ...]:
    return tuple(BatchQuestion(row, f"R-{row}", question) for row, question in enumerate(questions, start=2))


def run(library: Library, questions: Sequence[BatchQuestion], **given: object) -> list[BatchOutcome]:
    outcomes: list[BatchOutcome] = []
    ask = given.pop("ask", None) or (lambda requests: library.searcher.search_many(requests, NOW))
    run_batch(questions, ask, on_outcome=outcomes.append, **given)  # type: ignore[arg-type]
    return outcomes


# Reading


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "windows-1252"])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_file_is_read_however_a_spreadsheet_saved_it(encoding: str, mark: str, end: str) -> None:
    lines = [mark.join(("id", "question", "truths")), mark.join(("R-1", '"Wann ist, ü; fällig?"', "intent"))]
    batch = read_batch((end.join(lines) + end).encode(encoding), "fragen.csv", terms=BUILT_IN_TERMS)
    assert not batch.problems
    assert [(each.key, each.question, each.filters.truths) for each in batch.questions] == [
        ("R-1", "Wann ist, ü; fällig?", ("intent",))
    ]


def test_the_line_that_tells_excel_the_separator_is_understood() -> None:
    assert [each.question for each in read("sep=;\r\nquestion;truth\r\na, b;intent\r\n").questions] == ["a, b"]


def test_the_template_is_a_batch_without_problems() -> None:
    batch = read(TEMPLATE)
    assert [each.row for each in batch.questions] == [2, 3] and not batch.problems and not batch.ignored


def test_columns_go_by_their_names_in_any_order_and_writing() -> None:
    batch = read("Top,Exclude Truth,Jurisdiction,QUERY,Key,Owner\n5,Reality,California,q,k,me\n")
    (question,) = batch.questions
    assert (question.top_k, question.key, question.filters.exclude_truths) == (5, "k", ("reality",))
    assert question.filters.jurisdictions == ("state:CA",) and batch.ignored == ("Owner",)


def test_a_column_that_is_nearly_a_filter_is_pointed_out() -> None:
    assert "Did you mean 'truths'" in read("question,trutsh\nq,intent\n").notices[0]


def test_every_wrong_row_names_row_and_column_and_the_others_go_on() -> None:
    batch = read(
        "question,id,truths,date_from,top,recency_months,include_undated,archived,profile,documents\n"
        "fine,1,,,,,,,,\n,2,intent,,,,,,,\nq,3,gossip,,,,,,,\nq,4,,2026-13-99,,,,,,\nq,5,,,0,,,,,\n"
        "q,6,,,,-1,,,,\nq,7,,,,,maybe,,,\nq,8,,,,,,maybe,,\nq,9,,,,,,,zigzag,\nq,10,,,,,,,,nowhere.pdf\nq,1,,,,,,,,\n"
        "fine too,12,,,,,,,balanced,law.pdf\nthis, that,13,,,,,,,balanced,law.pdf\n",
        profiles={"balanced"},
        documents={"Law.pdf": [7, 8]},
    )
    assert [(each.row, each.field) for each in batch.problems] == [
        *((3, "question"), (4, "truths"), (5, "date_from"), (6, "top"), (7, "recency_months"), (8, "include_undated")),
        *((9, "archived"), (10, "profile"), (11, "documents"), (12, "id"), (14, "")),
    ]
    assert "none of regulatory" in batch.problems[1].problem and "row 2" in batch.problems[9].problem
    assert "quotation marks" in batch.problems[-1].problem
    assert [each.question for each in batch.questions] == ["fine", "fine too"]
    assert batch.questions[1].filters.documents == (7, 8)


def test_a_number_of_thousands_of_digits_is_a_problem_of_its_row_alone() -> None:
    many = "9" * 5000
    batch = read(f"question,top,recency_months,documents\na,{many},,\nb,,{many},\nc,,,{many}\nd,5,3,\n")
    assert [each.field for each in batch.problems] == ["top", "recency_months", "documents"]
    assert [each.question for each in batch.questions] == ["d"]


def test_row_numbers_are_those_of_a_spreadsheet() -> None:
    batch = read('question\n\n"two\nlines"\n   \n""\nlast\n')
    assert [(each.row, each.question) for each in batch.questions] == [(3, "two lines"), (6, "last")]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "no column 'question'"),
        (b"frage\nx\n", "no column 'question'"),
        (b"question\n", "contains no question"),
        (b"question,Question\na,b\n", "twice"),
        (b"question\n\x81\xff\n", "UTF-8"),
        (b'question\n"open\nand more\n', "never closed"),
        (b"question\n" + b"q\n" * 10_001, "more than 10,000"),
    ],
)
def test_a_file_that_is_no_batch_says_why(data: bytes, says: str) -> None:
    with pytest.raises(BadRequest, match=says) as raised:
        read_batch(data, "questions.csv", terms=BUILT_IN_TERMS)
    assert raised.value.hint


def test_a_rows_filters_narrow_those_of_the_page_further() -> None:
    page = SearchFilters(truths=("regulatory", "intent"), projects=("Tallgrass",), archived=None)
    batch = read("question,truths\na,intent|reality\nb,\nc,reality\n", filters=page, profile="relevance")
    first, second = batch.questions
    assert first.filters == page.replace(truths=("intent",)) and second.filters == page
    assert first.profile == "relevance"
    assert (batch.problems[0].row, batch.problems[0].field) == (4, "truths")


def test_archived_documents_can_be_asked_for_where_the_page_lets_them_through() -> None:
    page = SearchFilters(archived=None)
    batch = read("question,archived\na,only\nb,no\nc,too\nd,\n", filters=page)
    assert [each.filters.archived for each in batch.questions] == [True, False, None, None]


@given(st.binary(max_size=200))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    for head in (b"", b"question,truths,tags\n"):
        try:
            batch = read_batch(head + data, "any.csv", terms=BUILT_IN_TERMS)
        except BadRequest:
            continue
        rows = [each.row for each in (*batch.questions, *batch.problems)]
        assert rows and len(rows) == len(set(rows))


# Asking


def test_every_question_is_answered_as_if_it_had_been_asked_alone() -> None:
    library = payroll_library()
    outcomes = run(library, batch_of(*QUESTIONS), block=2)
    assert [each.state for each in outcomes] == [BatchState.ANSWERED, BatchState.UNANSWERED, BatchState.ANSWERED]
    for each in outcomes:
        alone = library.searcher.search(each.question.request, NOW)
        assert each.hits >= len(alone.hits) * alone.answered and each.why == ("" if alone.answered else alone.silence)
        assert each.score == (alone.hits[0].score.total if alone.hits else None)
        assert each.answer_probability == alone.answer_probability
        assert sum(each.by_truth.values()) == each.hits
    assert outcomes[0].best is not None and outcomes[0].best.document_name == "pub.pdf"
    assert [each.question.row for each in unanswered(outcomes)] == [3]


def test_a_row_that_says_how_many_counts_no_more() -> None:
    library = payroll_library()
    (question,) = batch_of("overtime")
    (few,) = run(library, [replace(question, top_k=1)])
    (every,) = run(library, [question])
    assert few.hits == 1 < every.hits and few.best == every.best


class _Flaky:
    """Search that fails for a block with one bad question in it, and for that question alone."""

    def __init__(self, library: Library, bad: str) -> None:
        self.library, self.bad, self.sizes = library, bad, list[int]()

    def __call__(self, requests: Sequence[SearchRequest]) -> Sequence[SearchResult]:
        self.sizes.append(len(requests))
        if any(request.question == self.bad for request in requests):
            raise StoreFailed("The database went away.", "Start it again.")
        return self.library.searcher.search_many(requests, NOW)


def test_a_question_that_fails_fails_alone_and_is_not_unanswered() -> None:
    ask = _Flaky(payroll_library(), QUESTIONS[1])
    outcomes = run(ask.library, batch_of(*QUESTIONS), ask=ask)
    assert [each.state for each in outcomes] == [BatchState.ANSWERED, BatchState.FAILED, BatchState.ANSWERED]
    assert "database went away" in outcomes[1].why and not unanswered(outcomes)
    assert ask.sizes == [3, 1, 1, 1]


def test_silence_of_a_search_that_could_not_look_everywhere_is_a_failure() -> None:
    library = payroll_library()
    for question in batch_of(*QUESTIONS[:2]):
        result = library.searcher.search(question.request, NOW)
        legs = (LegReport("dense", 0, 0, 0, 1.0, "no vectors"), result.legs[1])
        broken = replace(result, legs=legs, answer_probability=None, answered=bool(result.hits))
        reported = outcome_of(question, broken)
        assert (reported.state, reported.why) == (BatchState.FAILED, "The search by meaning failed: no vectors")


def test_it_stops_between_blocks_and_what_is_done_stays() -> None:
    library, seen = payroll_library(), list[str]()
    outcomes: list[BatchOutcome] = []
    run_batch(
        batch_of(*QUESTIONS * 3),
        lambda requests: library.searcher.search_many(requests, NOW),
        on_outcome=outcomes.append,
        on_question=lambda question: seen.append(question.question),
        stop=lambda: len(outcomes) >= 4,
        block=2,
    )
    assert len(outcomes) == 4 and seen == [QUESTIONS[0], QUESTIONS[2]]


@given(
    st.lists(st.sampled_from(list(BatchState)), max_size=8),
    st.integers(0, 3),
    st.dictionaries(st.sampled_from([*(truth.value for truth in Truth), "unknown"]), st.integers(1, 5)),
)
def test_totals_add_up(states: list[BatchState], waiting: int, by_truth: dict[str, int]) -> None:
    questions = batch_of(*("q",) * (len(states) + waiting))
    batch = replace(read("question\n,\nq,q\n"), questions=questions)
    outcomes = [BatchOutcome(each, state, by_truth=by_truth) for each, state in zip(questions, states, strict=False)]
    counts = totals(batch, outcomes)
    assert counts.rows == counts.answered + counts.unanswered + counts.failed + counts.refused + counts.to_ask
    assert sum(counts.by_truth.values()) == len(states) * sum(by_truth.values())


# Taking it out


def finished() -> tuple[Batch, list[BatchOutcome]]:
    batch = read(f"id,question,truths\n=1+1,{QUESTIONS[0]},\n-2,{QUESTIONS[1]},\nR-3,,intent\nR-4,never asked,\n")
    return batch, run(payroll_library(), batch.questions[:2])


def test_every_row_of_the_file_stands_in_the_outcome() -> None:
    batch, outcomes = finished()
    rows = [dict(zip(OUTCOME_COLUMNS, row, strict=True)) for row in outcome_rows(batch, outcomes)]
    assert [(row["row"], row["state"]) for row in rows] == [
        *((2, "answered"), (3, "unanswered"), (4, "refused"), (5, "not asked"))
    ]
    assert rows[0]["hits"] == sum(rows[0][f"hits {truth}"] for truth in (*map(str, Truth), "unknown"))
    assert rows[0]["citation"].startswith("[pub.pdf, p.1]") and rows[1]["why"] and "question" in rows[2]["why"]


def test_a_failed_row_shows_no_number_of_hits() -> None:
    (question,) = batch_of("q")
    row = outcome_rows(Batch("b", (question,)), [BatchOutcome(question, BatchState.FAILED, why="gone")])[0]
    assert dict(zip(OUTCOME_COLUMNS, row, strict=True))["hits"] is None


def test_the_csv_runs_no_formula_and_can_be_run_again() -> None:
    batch, outcomes = finished()
    data = batch_csv(batch, outcomes)
    cells = list(csv.reader(io.StringIO(data.decode("utf-8-sig"))))
    assert not [cell for row in cells for cell in row if cell.startswith(("=", "+", "-", "@"))]
    again = read_batch(data, "outcome.csv", terms=BUILT_IN_TERMS)
    assert [each.question for each in again.questions[:2]] == list(QUESTIONS[:2])
    assert [each.key for each in again.questions[:2]] == ["=1+1", "-2"]
    assert all(each.filters == SearchFilters() for each in again.questions)


def test_no_column_of_the_outcome_is_read_as_a_filter() -> None:
    assert set(OUTCOME_COLUMNS) & set(COLUMNS) == {"id", "question"}


def test_the_workbook_has_the_rows_unanswered_on_a_sheet_of_their_own() -> None:
    from openpyxl import load_workbook

    batch, outcomes = finished()
    book = load_workbook(io.BytesIO(batch_xlsx(batch, outcomes)))
    assert book.sheetnames == ["Outcome", "Unanswered", "Refused rows", "Totals"]
    assert [row[0] for row in book["Unanswered"].iter_rows(min_row=2, values_only=True)] == [3]
    assert [row[:2] for row in book["Refused rows"].iter_rows(min_row=2, values_only=True)] == [(4, "question")]
    assert book["Outcome"]["B2"].value == "'=1+1"
    assert dict(book["Totals"].iter_rows(min_row=2, values_only=True))["rows"] == 4
