"""Which rows of a file are loaded, which are set aside with a reason, and which only add up the others."""

import csv
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.datasets import ColumnType
from core.domain.errors import UnreadableFile
from core.ingestion.parsers import extract
from core.ingestion.parsers.table_text import MOST_COLUMNS
from tests.ingestion.making import loaded, table_of

HUNDRED = [f"E{n},{n},2020-01-{n % 28 + 1:02}" for n in range(100)]


def test_rows_with_a_wrong_cell_are_set_aside_and_the_others_loaded(tmp_path: Path) -> None:
    lines = [*HUNDRED]
    lines[9], lines[49] = "E9,nine,2020-01-10", "E49,forty,soon"
    table = table_of(tmp_path, "\n".join(["id,hours,hired", *lines]))
    assert (table.rows, table.rejected) == (98, 2)
    assert [(reject.row, reject.reason) for reject in table.rejects] == [
        (10, "hours: 'nine' is not a whole number"),
        (50, "hours: 'forty' is not a whole number; hired: 'soon' is not a date"),
    ]
    assert table.rejects[0].cells == ("E9", "nine", "2020-01-10")
    assert [column.filled for column in table.columns] == [98, 98, 98]
    assert len(loaded(table)) == 98
    assert ["E9", "9", "2020-01-10"] not in loaded(table)


def test_a_column_with_too_many_wrong_cells_is_text_and_loses_no_row(tmp_path: Path) -> None:
    lines = [line if n % 10 else f"E{n},about {n},2020-01-01" for n, line in enumerate(HUNDRED)]
    table = table_of(tmp_path, "\n".join(["id,hours,hired", *lines]))
    assert (table.rows, table.rejected, table.columns[1].type) == (100, 0, "text")


def test_whole_numbers_do_not_push_out_the_fractions_among_them(tmp_path: Path) -> None:
    table = table_of(tmp_path, "\n".join(["id,hours,hired", *HUNDRED[:-1], "E99,7.5,2020-01-01"]))
    assert (table.rows, table.columns[1].type) == (100, "number")


def test_ragged_lines_are_set_aside_whichever_comes_first(tmp_path: Path) -> None:
    extracted = extract("a.csv", b"id,team,pay\nA,Red,5,late\nB,Red\nC,Blue,7\nD,Blue,8,,\n", tmp_path)
    [table] = extracted.tables
    assert [(reject.row, reject.reason) for reject in table.rejects] == [
        (1, "4 cells where the header has 3"),
        (2, "only 2 cells where the header has 3"),
    ]
    assert loaded(table) == [["C", "Blue", "7"], ["D", "Blue", "8"]]
    assert [column.header for column in table.columns] == ["id", "team", "pay"]
    assert extracted.warnings == ("2 rows have another number of cells than the header.",)


def test_delimiters_at_the_end_of_the_header_alone_cost_no_row(tmp_path: Path) -> None:
    table = table_of(tmp_path, "id,pay,,\nA,5\nB,7\n")
    assert ([column.header for column in table.columns], table.rows) == (["id", "pay"], 2)


STAFF = "name,team,pay,hours\nAnn,Red,100.50,1\nBo,Red,20,2\nCy,Blue,30,4\n"
TOTALS = [
    ("Total,,150.50,7", [(4, "Total · 150.50 · 7")]),
    ("Grand total:,,150.50,7", [(4, "Grand total: · 150.50 · 7")]),
    (",,Total,7", [(4, "Total · 7")]),
    ("Total 2020,all,150.50,9", [(4, "Total 2020 · all · 150.50 · 9")]),
    ("Subtotal,,150.50,7\nGrand Total,,150.50,7", [(4, "Subtotal · 150.50 · 7"), (5, "Grand Total · 150.50 · 7")]),
    ("Sub-total for Red,,,3\nTotal,,,7", [(4, "Sub-total for Red · 3"), (5, "Total · 7")]),
    ("Total Body Fitness,Red,12,5", []),
    ("Total Body Fitness,,12,", []),
    ("Totally Fit,,12,", []),
    ("Summer Lee,,,9", []),
    ("Total,Red,12,5", []),
]


@pytest.mark.parametrize(("foot", "left_out"), TOTALS)
def test_rows_that_add_up_the_others_are_left_out_and_only_those(
    foot: str, left_out: list[tuple[int, str]], tmp_path: Path
) -> None:
    table = table_of(tmp_path, f"{STAFF}{foot}\n")
    assert list(table.left_out) == left_out
    assert table.rows + table.rejected == 3 + len(foot.split("\n")) - len(left_out)


def test_totals_are_found_where_commas_are_decimal_points(tmp_path: Path) -> None:
    table = table_of(tmp_path, "name;pay\nAnn;1.000,50\nBo;0,25\nSumme;7\nTotal;1.007,75\n")
    assert [row for row, _ in table.left_out] == [4]


def test_totals_are_not_counted_in_the_summary(tmp_path: Path) -> None:
    extracted = extract("a.csv", f"{STAFF}Total,,150.50,7\n".encode(), tmp_path)
    assert "has 3 rows in total and 4 columns" in extracted.pages[-1].text
    assert "pay: 3 of 3 rows filled, 3 different values; sum (total) 150.5;" in extracted.pages[-1].text
    assert "1 totals row is not counted in the summaries." in extracted.warnings


def summary_of(data: str, name: str = "a.csv") -> str:
    """The text of a file's last page, which sums up its last table."""
    return extract(name, data.encode()).pages[-1].text


def test_the_summary_adds_up_what_the_loaded_table_holds(tmp_path: Path) -> None:
    data = "Konto;Betrag\nMiete;1.234,50\nStrom;80,25\nWasser;40,75\nGas;100,00"
    summary = summary_of(data)
    assert "Betrag: 4 of 4 rows filled, 4 different values; sum (total) 1455.5;" in summary
    assert "largest (highest, maximum, biggest): 1.234,50, in row 1" in summary
    assert "smallest (lowest, minimum): 40,75, in row 3" in summary
    assert [row[1] for row in loaded(table_of(tmp_path, data))] == ["1234.50", "80.25", "40.75", "100.00"]


@pytest.mark.parametrize(
    ("rows", "total"),
    [
        ("a;1.500\nb;2.250\nc;20", ""),  # thousands or three decimals
        ("a;1.500\nb;2.25\nc;20", "23.75"),
        ("a;1.500\nb;2000\nc;20", "2021.5"),
        ("a;1,500\nb;2,250\nc;20", "3770"),
        ("a;1,500;0,5\nb;2,250;0,5\nc;20;1", ""),  # decimal commas beside it
        ("a;10115\nb;01067\nc;20095", ""),  # codes
    ],
)
def test_numbers_that_can_be_read_in_two_ways_are_not_summed(rows: str, total: str) -> None:
    head = "name;value;share" if rows.count(";") > 3 else "name;value"
    line = next(line for line in summary_of(f"{head}\n{rows}").split("\n") if line.startswith("value: "))
    assert (f"sum (total) {total};" in line) if total else ("sum" not in line)


def test_a_total_in_millions_with_decimal_commas_is_left_out_of_the_sum() -> None:
    summary = summary_of("Konto;Art;Betrag\nMiete;a;1.234.000,50\nStrom;b;80,25\nGas;c;40\nTotal;alle;1.234.120,75")
    assert "sum (total) 1234120.75;" in summary


YEARS = "Country,2019,2020,2021\nAustria,10,11,12\nBelgium,20,21,22\n"
TIERS = ["Region", "2020 Plan", "2020 Actual", "2021 Plan", "2021 Actual"]
HEADERS = [
    (YEARS, ["Country", "2019", "2020", "2021"], 2),
    (f"{YEARS}Malta,n/a,confidential,pending\nPeru,1,2,3", ["Country", "2019", "2020", "2021"], 4),
    (YEARS.replace("Country", ""), ["Column 1", "2019", "2020", "2021"], 2),
    ("Grade,1,2,3\nA,30000,31000,32000\nB,40000,41000,42000", ["Grade", "1", "2", "3"], 2),
    ("Region,2020,,2021,\n,Plan,Actual,Plan,Actual\nUlm,1,2,3,4", TIERS, 1),
    (",2020,,2021,\nRegion,Plan,Actual,Plan,Actual\nUlm,1,2,3,4", TIERS, 1),
    ("Region,2020,2021\n,Plan,Actual\nUlm,1,2\nBonn,3,4", ["Region", "2020 Plan", "2021 Actual"], 2),
    ("Name,Team,Pay\n,Total,Total\nBo,5,6\nCy,7,9", ["Name", "Team", "Pay"], 3),
    ("Report,2020\nName,Pay\nAda,5\nBo,6", ["Name", "Pay"], 2),
    ("Name,Team,Pay\n,Red,5\nBo,Blue,6", ["Name", "Team", "Pay"], 2),
    # Rows without a header stay rows: years of birth, grades, and words below numbers.
    ("Ann,1990,2019\nBo,1985,2018\nCy,1991,2020", ["Column 1", "Column 2", "Column 3"], 3),
    ("Ann,1,2,3\nBo,2,2,3\nCy,3,1,1", ["Column 1", "Column 2", "Column 3", "Column 4"], 3),
    ("Austria,10\nBelgium,11\nMalta,pending\nPeru,4", ["Column 1", "Column 2"], 4),
]


@pytest.mark.parametrize(("data", "columns", "rows"), HEADERS)
def test_a_header_may_hold_years_and_is_never_looked_for_among_rows(
    data: str, columns: list[str], rows: int, tmp_path: Path
) -> None:
    table = table_of(tmp_path, data)
    assert [column.header for column in table.columns] == columns
    assert table.rows + table.rejected == rows


def test_years_in_a_header_are_not_summed() -> None:
    assert "2019: 2 of 2 rows filled" in (summary := summary_of(YEARS))
    assert "sum (total)" not in summary  # of two rows
    assert "2019: 3 of 3 rows filled, 3 different values; sum (total) 33;" in summary_of(f"{YEARS}Peru,3,4,5")


def test_lines_above_the_header_are_kept_as_text() -> None:
    page, *_ = extract("a.csv", b"Payroll 2020,,,\nCompany:,Acme\nName,Team,Pay,Days\nAda,Red,10,3\nBo,Red,11,4").pages
    rows = "Name: Ada; Team: Red; Pay: 10; Days: 3\nName: Bo; Team: Red; Pay: 11; Days: 4"
    assert page.text == f"Payroll 2020\n\nCompany: · Acme\n\n{rows}"


def test_columns_beyond_what_the_database_holds_are_left_out_with_a_warning(tmp_path: Path) -> None:
    width = MOST_COLUMNS + 250
    lines = [",".join(f"head{n}" for n in range(width)), *[",".join([f"c{row}"] * width) for row in range(3)]]
    extracted = extract("wide.csv", "\n".join(lines).encode(), tmp_path)
    assert len(extracted.tables[0].columns) == len(loaded(extracted.tables[0])[0]) == MOST_COLUMNS
    assert extracted.tables[0].rows == 3
    assert f"Table has more than {MOST_COLUMNS} columns" in " ".join(extracted.warnings)


def test_a_huge_cell_is_loaded_whole_and_kept_out_of_the_profile(tmp_path: Path) -> None:
    huge = "long " * 200_000
    table = table_of(tmp_path, f'id,note\nA,"{huge}"\nB,short\n')
    assert loaded(table)[0] == ["A", huge.strip()]
    assert (table.columns[1].values, len(table.columns[1].least)) == ({}, 200)


def test_a_quotation_mark_that_is_never_closed_is_told(tmp_path: Path) -> None:
    extracted = extract("a.csv", b'id,note\nA,fine\nB,"open\nC,lost\nD,lost\n', tmp_path)
    assert extracted.tables[0].rows == 2
    assert "A quotation mark in the last row is never closed" in extracted.warnings[0]
    with pytest.raises(UnreadableFile, match="more than 10,000,000 characters"):
        extract("a.csv", b'id,note\nA,"' + b"word,\n" * 2_000_000, tmp_path)


def test_control_characters_go_and_never_part_a_row(tmp_path: Path) -> None:
    table = table_of(tmp_path, 'id,note\nA,no\x00thing\x07\nB,up\x0bdown\x85aside\nC,"two\r\nlines"\r\nD,a\u2028b\n')
    assert loaded(table) == [["A", "nothing"], ["B", "up down aside"], ["C", "two\nlines"], ["D", "a b"]]
    assert table.rejected == 0


def test_a_reject_keeps_the_beginning_of_long_cells(tmp_path: Path) -> None:
    table = table_of(tmp_path, f"id,team,pay\nA,Red,5\nB,{'x' * 900}\n")
    assert [len(cell) for cell in table.rejects[0].cells] == [1, 200]


# Without what is cleaned away, and without other delimiters: in a few short lines either could be meant.
LETTERS = st.characters(exclude_categories=["Cc", "Cf", "Cs", "Cn", "Co", "Zs", "Zl", "Zp"], exclude_characters=";|")
CELLS = st.one_of(
    st.sampled_from(["", "12", "007", "$1,000.50", "Total", "Y", "2/20/2025", "=1+1", "n/a", "3,5", '"', "F"]),
    st.text(LETTERS, max_size=6),
)
ROWS = st.lists(st.lists(CELLS, min_size=2, max_size=5), min_size=1, max_size=30).filter(
    lambda rows: any(map(any, rows))
)


@given(ROWS)
def test_every_row_is_loaded_set_aside_or_left_out_and_text_stays_as_it_was(rows: list[list[str]]) -> None:
    out = StringIO()
    csv.writer(out).writerows([["first", "second", "third"], *rows])
    with TemporaryDirectory() as folder:
        table = table_of(Path(folder), out.getvalue())
        found = loaded(table)
    given_rows = [row for row in rows if any(row)]
    assert table.rows + table.rejected + len(table.left_out) == len(given_rows)
    assert len(found) == table.rows
    values = {reject.row for reject in table.rejects} | {row for row, _ in table.left_out}
    remaining = [row for number, row in enumerate(given_rows, 1) if number not in values]
    for at, column in enumerate(table.columns):
        if column.type is ColumnType.TEXT:
            assert [row[at] or "" for row in found] == [row[at] if at < len(row) else "" for row in remaining]
