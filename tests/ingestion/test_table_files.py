"""Tables out of workbooks, Parquet and JSON; and that a reader apart gives the same as one at hand."""

import json
import re
import zipfile
from datetime import date, datetime, timedelta
from decimal import Decimal
from io import BytesIO
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adapters.sandboxed_reader import SandboxedReader
from core.domain.errors import EmptyFile, UnreadableFile
from core.ingestion.parsers import extract
from core.ingestion.parsers.table_text import MOST_COLUMNS
from tests.ingestion.making import loaded, table_of, with_part, workbook_of
from tests.ingestion.making_office import xls_of


def merged(rows: list[list[object]], *areas: str) -> bytes:
    """A workbook of one sheet with merged areas."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for area in areas:
        book.active.merge_cells(area)
    out = BytesIO()
    book.save(out)
    return out.getvalue()


def parquet_of(**columns: list[object]) -> bytes:
    out = BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def test_every_sheet_with_rows_is_a_table(tmp_path: Path) -> None:
    data = workbook_of(
        Staff=[["id", "pay"], ["A", 5.5], ["B", 123456789.55]],
        Empty=[],
        Codes=[["Set-up of codes"], [], ["code", "on"], ["REG", datetime(2025, 2, 20)], ["OT", date(2024, 1, 2)]],
    )
    tables = extract("a.xlsx", data, tmp_path).tables
    assert [table.label for table in tables] == ["Sheet: Staff", "Sheet: Codes"]
    assert len({table.path for table in tables}) == 2
    assert loaded(tables[0]) == [["A", "5.5"], ["B", "123456789.55"]]
    assert [column.type for column in tables[1].columns] == ["text", "date"]
    assert loaded(tables[1]) == [["REG", "2025-02-20"], ["OT", "2024-01-02"]]


def test_short_rows_of_a_sheet_are_whole_and_totals_left_out(tmp_path: Path) -> None:
    data = workbook_of(
        S=[["id", "team", "pay", "note"], ["A", "Red", 5], ["B"], ["C", "Blue", 7, "x"], ["Total", None, 12]]
    )
    table = table_of(tmp_path, data, "a.xlsx")
    assert (table.rows, table.rejected, table.left_out) == (3, 0, ((4, "Total · 12"),))
    assert loaded(table)[1] == ["B", None, None, None]


def test_what_a_merged_area_shows_stands_in_each_of_its_rows(tmp_path: Path) -> None:
    rows = [
        ["Staff of 2020"],
        ["team", "name", "pay"],
        ["Red", "Ann", 1],
        [None, "Bo", 2],
        ["Blue", "Cy", 3],
        [None, "Di", 4],
    ]
    table = table_of(tmp_path, merged(rows, "A1:C1", "A3:A4", "A5:A6"), "a.xlsx")
    assert [row[0] for row in loaded(table)] == ["Red", "Red", "Blue", "Blue"]
    assert [column.header for column in table.columns] == ["team", "name", "pay"]


def test_an_area_of_several_columns_is_filled_down_its_first(tmp_path: Path) -> None:
    rows = [["team", "site", "pay"], ["Red", None, 1], [None, None, 2], ["Blue", "West", 3]]
    table = table_of(tmp_path, merged(rows, "A2:B3"), "a.xlsx")
    assert loaded(table) == [["Red", None, "1"], ["Red", None, "2"], ["Blue", "West", "3"]]


@pytest.mark.parametrize("numbered", [True, False])
def test_rows_behind_thousands_of_empty_ones_are_read(numbered: bool, tmp_path: Path) -> None:
    rows: list[list[object]] = [["Name", "Pay"], ["Ada", 5], *[[]] * 1_500, ["Bo", 6], *[[]] * 3_000, ["Cy", 7]]
    data = workbook_of(Pay=rows)
    if not numbered:
        with zipfile.ZipFile(BytesIO(data)) as package:
            xml = package.read("xl/worksheets/sheet1.xml")
        data = with_part(data, "xl/worksheets/sheet1.xml", re.sub(rb'<row r="\d+"', b"<row", xml))
    assert loaded(table_of(tmp_path, data, "a.xlsx")) == [["Ada", "5"], ["Bo", "6"], ["Cy", "7"]]


def test_a_merged_cell_is_repeated_below_the_last_value(tmp_path: Path) -> None:
    data = merged([["Dept", "Name"], ["Pay", "Ada"]], "A2:A4")
    assert loaded(table_of(tmp_path, data, "a.xlsx")) == [["Pay", "Ada"], ["Pay", None], ["Pay", None]]


def test_empty_cells_that_are_not_merged_stay_empty(tmp_path: Path) -> None:
    table = table_of(tmp_path, merged([["team", "pay"], ["Red", 1], [None, 2], ["Blue", 3]]), "a.xlsx")
    assert [row[0] for row in loaded(table)] == ["Red", None, "Blue"]


def test_a_sheet_wider_than_a_table_warns(tmp_path: Path) -> None:
    width = MOST_COLUMNS + 100
    data = workbook_of(S=[[f"head {n}" for n in range(width)], list(range(width)), list(range(width))])
    extracted = extract("a.xlsx", data, tmp_path)
    assert len(extracted.tables[0].columns) == MOST_COLUMNS
    assert f"Sheet: S has more than {MOST_COLUMNS} columns" in " ".join(extracted.warnings)


def formatted(*rows: list[object], **formats: str) -> bytes:
    """A workbook of one sheet, with a number format per column below the first row."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for column, number_format in formats.items():
        for cell in book.active[column][1:]:
            cell.number_format = number_format
    out = BytesIO()
    book.save(out)
    return out.getvalue()


PADDED = {"A": "00000", "B": "0%", "C": '#,##0.00 "€"', "D": "[h]:mm"}


def test_cells_are_read_as_the_sheet_shows_them_and_stay_numbers(tmp_path: Path) -> None:
    head = ["Staff no", "Rate", "Amount", "Hours", "Plain"]
    data = formatted(head, [123, 0.055, 1234.5, timedelta(hours=36, minutes=30), 0.5], **PADDED)
    extracted = extract("a.xlsx", data, tmp_path)
    assert extracted.pages[0].text == "Staff no: 00123; Rate: 5.5%; Amount: 1234.50 €; Hours: 36:30; Plain: 0.5"
    [table] = extracted.tables
    assert [column.type for column in table.columns] == ["text", "number", "money", "text", "number"]
    assert loaded(table) == [["00123", "5.5", "1234.50", "36:30", "0.5"]]


def test_formulas_without_a_saved_result_are_counted_and_not_called_empty(tmp_path: Path) -> None:
    data = workbook_of(S=[["id", "pay", "Total"], *[[f"A{n}", n, f"=B{n}*2"] for n in range(2, 14)]])
    extracted = extract("a.xlsx", data, tmp_path)
    assert extracted.warnings == (
        "12 cells are formulas without a saved result. Open the file in Excel, save it, and upload it again.",
    )
    assert "Total: formulas without a saved result." in extracted.pages[-1].text
    assert "empty" not in extracted.pages[-1].text


def test_formulas_with_a_saved_result_or_an_empty_text_are_not_counted(tmp_path: Path) -> None:
    data = workbook_of(S=[["id", "note"], ["A", "=1+1"], ["B", "=1+2"]])
    with zipfile.ZipFile(BytesIO(data)) as package:
        sheet = package.read("xl/worksheets/sheet1.xml")
    sheet = sheet.replace(b"<f>1+1</f><v></v>", b"<f>1+1</f><v>2</v>").replace(
        b"<f>1+1</f><v />", b"<f>1+1</f><v>2</v>"
    )
    sheet = sheet.replace(b'<c r="B3">', b'<c r="B3" t="str">')
    assert b'<c r="B3" t="str">' in sheet and b"<v>2</v>" in sheet
    assert extract("a.xlsx", with_part(data, "xl/worksheets/sheet1.xml", sheet), tmp_path).warnings == ()


def test_parquet_comes_back_with_its_types(tmp_path: Path) -> None:
    data = parquet_of(
        code=["007", "12", None],
        hours=[1, 2, None],
        rate=[0.1 + 0.2, 123456789.55, float("nan")],
        pay=[Decimal("1.50"), Decimal("2.25"), None],
        hired=[date(2020, 1, 2), None, date(2021, 3, 4)],
        seen=[datetime(2020, 1, 2, 3, 4, 5), datetime(2020, 1, 2), None],
        active=[True, False, None],
        note=["a\nb", "=1+1", "x\x00y"],
    )
    table = table_of(tmp_path, data, "a.parquet")
    kinds = ["text", "integer", "number", "money", "date", "timestamp", "boolean", "text"]
    assert [column.type for column in table.columns] == kinds
    assert loaded(table) == [
        ["007", "1", "0.3", "1.50", "2020-01-02", "2020-01-02 03:04:05", "true", "a\nb"],
        ["12", "2", "123456789.55", "2.25", None, "2020-01-02 00:00:00", "false", "=1+1"],
        [None, None, None, None, "2021-03-04", None, None, "xy"],
    ]


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"PAR1 and nothing more", UnreadableFile),
        (parquet_of(a=[1, 2])[:-20], UnreadableFile),
        (b"no parquet at all", UnreadableFile),
        (parquet_of(a=[]), EmptyFile),
        (parquet_of(), EmptyFile),
    ],
)
def test_a_damaged_or_empty_parquet_file_is_told(data: bytes, error: type[Exception], tmp_path: Path) -> None:
    with pytest.raises(error, match=r"'a\.parquet'"):
        extract("a.parquet", data, tmp_path)


STAFF = [
    {"id": "A", "pay": 5, "home": {"city": "Ulm", "zip": "08901"}},
    {"id": "B", "pay": 7.5, "tags": ["x", 1], "on": True},
]
STAFF_ROWS = [["A", "5", "Ulm", "08901", None, None], ["B", "7.5", None, None, '["x", 1]', "true"]]
JSON_TABLES = [
    ("a.json", json.dumps(STAFF)),
    ("a.json", json.dumps({"made": "2020-01-01", "staff": STAFF})),
    ("a.jsonl", "\n".join(map(json.dumps, STAFF)) + "\n\n"),
]


@pytest.mark.parametrize(("name", "text"), JSON_TABLES)
def test_lists_of_objects_are_tables_with_nested_columns(name: str, text: str, tmp_path: Path) -> None:
    table = table_of(tmp_path, text, name)
    assert [column.header for column in table.columns] == ["id", "pay", "home.city", "home.zip", "tags", "on"]
    assert loaded(table) == STAFF_ROWS


def test_an_object_of_several_lists_gives_several_tables(tmp_path: Path) -> None:
    text = json.dumps({"staff": STAFF, "codes": [{"code": "REG"}, {"code": "OT"}], "version": 2, "years": [2020]})
    assert [table.label for table in extract("a.json", text.encode(), tmp_path).tables] == [
        "Sheet: staff",
        "Sheet: codes",
    ]


def test_what_is_beside_the_lists_of_objects_is_a_page_of_fields(tmp_path: Path) -> None:
    policy = {
        "policy": "Travel",
        "effective_date": "2025-01-01",
        "limits": {"hotel": 180, "meals": None},
        "notes": ["Receipts above 25 EUR are required.", "Ask first."],
        "rates": [{"city": "Ulm", "day": 14}, {"city": "Bonn", "day": 28}],
    }
    extracted = extract("a.json", json.dumps(policy).encode(), tmp_path)
    fields, rates, summary = extracted.pages
    assert [fields.label, rates.label, summary.label] == ["Fields", "Sheet: rates", "Summary of Sheet: rates"]
    assert fields.text.split("\n\n") == [
        "policy: Travel",
        "effective_date: 2025-01-01",
        "limits.hotel: 180",
        "notes: Receipts above 25 EUR are required.",
        "notes: Ask first.",
    ]
    assert [table.label for table in extracted.tables] == ["Sheet: rates"]


def test_a_line_separator_inside_a_value_does_not_part_json_lines(tmp_path: Path) -> None:
    table = table_of(tmp_path, '{"id": "A", "note": "one\u2028two"}\n{"id": "B", "note": "three"}\n', "a.jsonl")
    assert loaded(table) == [["A", "one\ntwo"], ["B", "three"]]


NO_TABLES = [
    '{"name": "Ann", "pay": 5}',
    '{"name": ["Ann", "Bo"], "pay": [5, 7]}',
    "[1, 2, 3]",
    '["a", {"b": 1}]',
    "[{}, {}]",
    "[" * 5000 + "]" * 5000,
    "[1" + "0" * 5000 + "]",
    "{not json: at all",
]


@pytest.mark.parametrize("text", NO_TABLES, ids=range(len(NO_TABLES)))
def test_json_that_is_no_table_is_read_as_text(text: str, tmp_path: Path) -> None:
    extracted = extract("a.json", text.encode(), tmp_path)
    assert (extracted.tables, extracted.pages[0].text[:20]) == ((), text[:20])


FILES = [
    ("a.csv", b"id,first_name,pay,hired\nA,Ann,$5.50,2020-01-02\nB,Bo,oops\nTotal,,5.50,\n"),
    ("a.xlsx", workbook_of(One=[["id", "pay"], ["A", 5], ["B", 7]], Two=[["code", "text"], ["REG", "Regular pay"]])),
    ("a.xls", xls_of(One=[["id", "pay"], ["A", 5], ["B", 7]])),
    ("a.parquet", parquet_of(id=["A", "B"], pay=[1.5, None])),
    ("a.json", json.dumps(STAFF).encode()),
]


def test_a_reader_apart_gives_the_same_tables(tmp_path: Path) -> None:
    reader = SandboxedReader(60, 4096)
    try:
        for name, data in FILES:
            here = extract(name, data, tmp_path)
            rows = [loaded(table) for table in here.tables]
            assert reader.read(name, data, tmp_path) == here
            assert [loaded(table) for table in here.tables] == rows
            assert here.tables
    finally:
        reader.close()


def test_without_a_folder_no_table_is_written(tmp_path: Path) -> None:
    for name, data in FILES:
        assert extract(name, data).tables == ()
    assert list(tmp_path.iterdir()) == []
