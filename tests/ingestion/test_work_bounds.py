"""Reading takes work in proportion to the file, and what a limit leaves out is told: counts and messages."""

import json
import time
from pathlib import Path

import pytest

from core.domain.documents import Page, Passage
from core.domain.errors import Cure, FileTooCostly
from core.domain.extraction import Block, BlockKind, ExtractedDocument
from core.ingestion.chunking import split
from core.ingestion.parsers import extract
from core.ingestion.parsers.file_kinds import FileKind, detect
from core.ingestion.parsers.table_files import json_tables
from core.ingestion.pipeline import MOST_PASSAGES, _searchable
from core.library.step_progress import StepClock


class CountedText(str):
    """A text that counts the characters copied out of it."""

    copied = 0

    def __getitem__(self, key: object) -> str:  # type: ignore[override]
        found = super().__getitem__(key)  # type: ignore[index]
        CountedText.copied += len(found)
        return found


@pytest.mark.parametrize("line", ["x" * 400_000, "word " * 80_000], ids=["no blank", "blanks"])
@pytest.mark.parametrize("kind", [BlockKind.HEADING, BlockKind.ROW, BlockKind.PARAGRAPH])
def test_a_huge_line_is_split_and_copied_a_few_times_only(line: str, kind: BlockKind) -> None:
    text = CountedText(line)
    CountedText.copied = 0
    read = ExtractedDocument((Page(1, text),), (Block(1, 0, len(text), kind),), "text/plain")
    passages = split(read, "T")
    assert all(len(passage.text) <= 3_200 for passage in passages)
    assert sum(len(passage.text) for passage in passages) >= 0.99 * len(line.strip())
    assert CountedText.copied < 20 * len(line)


def test_an_endless_list_keeps_its_lead_in_near_its_start_only() -> None:
    items = [
        f"{number}. Employees accrue leave in month {number} of the year, as the plan says." for number in range(4_000)
    ]
    text = "\n".join(["The duties are:", *items])
    places = [0]
    for line in text.split("\n"):
        places.append(places[-1] + len(line) + 1)
    kinds = [BlockKind.PARAGRAPH, *[BlockKind.ITEM] * len(items)]
    blocks = tuple(
        Block(1, start, end - 1, kind) for start, end, kind in zip(places[:-1], places[1:], kinds, strict=True)
    )
    passages = split(ExtractedDocument((Page(1, text),), blocks, "text/plain"), "T")
    assert "The duties are:" in passages[1].context
    assert "The duties are:" not in passages[-1].context


def sparse(rows: int) -> str:
    return json.dumps([{"id": number, f"key{number}": number} for number in range(rows)])


def test_sparse_json_is_a_bounded_table_that_keeps_every_value() -> None:
    tables = json_tables(sparse(2_000))
    assert tables is not None
    [table] = tables.tables
    assert len(table.columns) == 200 and table.columns[0] == "id" and table.columns[-1] == "Other fields"
    assert {len(row) for row in table.rows} == {200}
    assert table.rows[1_999][0] == "1999" and "key1999: 1999" in table.rows[1_999]
    assert "the 199 that most rows have are columns" in tables.warnings[0]


def test_a_long_sparse_table_has_fewer_columns_so_that_its_cells_stay_bounded() -> None:
    tables = json_tables(json.dumps([{f"key{number % 300}": 1} for number in range(200_000)]))
    assert tables is not None
    [table] = tables.tables
    assert len(table.columns) * len(table.rows) <= 10_000_000


def test_the_text_of_sparse_json_holds_the_other_fields_and_its_warnings() -> None:
    read = extract("a.json", sparse(500).encode())
    assert "key499: 499" in "\n".join(page.text for page in read.pages)
    assert any("Other fields" in each for each in read.warnings)


def test_cells_and_columns_left_out_of_the_text_are_told() -> None:
    wide = ",".join(f"c{number}" for number in range(250))
    warnings = extract("a.csv", f"{wide}\n{','.join(['x'] * 250)}\n".encode()).warnings
    assert "Table: the text of a row has its first 200 of 250 columns." in warnings
    warnings = extract("b.csv", f"a,b\n1,{'x' * 600}\n2,y\n".encode()).warnings
    assert any("1 cell is longer than 500 characters" in each for each in warnings)


def test_passages_beyond_the_most_are_left_out_and_the_place_is_told() -> None:
    one = Passage("x", 7, 0, 1, ())
    stored, warnings = _searchable([one] * (MOST_PASSAGES + 5))
    assert len(stored) == MOST_PASSAGES
    assert warnings == (
        "It has 50,005 passages; the first 50,000 can be searched, up to page 7, character 1. Split the file to search"
        " the rest.",
    )
    assert _searchable([one]) == ((one,), ())


class Ticking:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_step_beyond_its_deadline_says_which_step_which_file_and_what_to_do() -> None:
    clock, reports = Ticking(), list[str]()
    steps = StepClock(300, clock)
    with steps.begin(1, "law.pdf", reports.append) as progress:
        progress("classify")
        clock.now = 299
        progress("classify")
        clock.now = 301
        with pytest.raises(FileTooCostly) as caught:
            progress("classify")
    assert caught.value.message == "Classifying 'law.pdf' took more than 300 seconds and was stopped."
    assert caught.value.hint == "Split the file, or raise FIVEFOLD_FILE_SECONDS."
    assert caught.value.cure is Cure.AGAIN and progress.step == "classify"


def test_the_deadline_grows_with_the_passages_and_each_step_has_its_own() -> None:
    clock, reports = Ticking(), list[str]()
    with StepClock(300, clock).begin(1, "a.txt", reports.append) as progress:
        progress("embed")
        progress("embed 256/2500")
        clock.now = 899
        progress("embed 2304/2500")
        progress("entities")
        clock.now += 899
        progress("entities 2500/2500")
        clock.now += 2
        with pytest.raises(FileTooCostly, match=r"Finding the names in 'a\.txt' took more than 900 seconds"):
            progress("entities 2500/2500")


def test_progress_is_told_once_a_second_at_most() -> None:
    clock, reports = Ticking(), list[str]()
    with StepClock(300, clock).begin(1, "a.txt", reports.append) as progress:
        for number in range(1, 1_001):
            clock.now += 0.01
            progress(f"split {number}")
    assert reports[0] == "split 1" and 9 <= len(reports) <= 11


def test_a_step_that_follows_at_once_is_not_told() -> None:
    clock, reports = Ticking(), list[str]()
    with StepClock(300, clock).begin(1, "a.txt", reports.append) as progress:
        for step, seconds in (("read", 0.1), ("classify", 0.1), ("split", 0.1), ("embed", 0.1), ("store", 0.0)):
            progress(step)
            clock.now += seconds
    assert reports == ["read", "embed"] and progress.step == "store"


def test_a_step_that_says_nothing_is_overdue_and_forgotten_when_it_ends() -> None:
    clock = Ticking()
    steps = StepClock(300, clock)
    with steps.begin(4, "a.txt", lambda step: None) as progress:
        progress("classify")
        clock.now = 440
        assert steps.overdue() == ()
        clock.now = 451
        [overdue] = steps.overdue()
        assert (overdue.document_id, overdue.step) == (4, "classify")
        assert "Classifying 'a.txt' took more than 300 seconds" in overdue.error.message
    assert steps.overdue() == ()


FOUND = sorted((Path(__file__).parent / "found").glob("*"))


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
def test_what_fuzzing_found_is_read_or_refused_by_name(path: Path, tmp_path: Path) -> None:
    from bench.fuzz.outcome import Outcome, opened_trial

    with opened_trial(path.name.partition("-")[0], 120, 1024, str(tmp_path)) as trial:
        assert trial.run(path.read_bytes()).outcome in (Outcome.READ, Outcome.REFUSED)


def test_the_kind_of_a_file_with_many_comments_is_found_at_once() -> None:
    started = time.process_time()
    assert detect("a.xml", b'<?xml version="1.0"?>\n' + b"<!-- x -->\n" * 24 + b"<l>Paid</l>").kind is FileKind.XML
    assert time.process_time() - started < 1  # without a bound: 13 seconds, and twice that for each comment more
    assert detect("a.txt", b"<!-- a --> <!-- b -->\n<!doctype html><p>Paid</p>").kind is FileKind.HTML
