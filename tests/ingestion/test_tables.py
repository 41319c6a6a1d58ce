"""What the columns of a table are taken for, and how each cell is written for the database."""

from pathlib import Path

import pytest

from core.domain.datasets import Column
from core.ingestion.table_typing.typed_tables import sql_name
from tests.ingestion.making import loaded, table_of


def read(folder: Path, header: str, cells: str) -> tuple[Column, list[str | None]]:
    """A column between words, so that its rows are never empty; cells: divided by bars."""
    lines = "\n".join(f'x{n}\t"{cell}"' for n, cell in enumerate(cells.split("|")))
    table = table_of(folder, f'word\t"{header}"\n{lines}\n', "a.tsv")
    return table.columns[1], [row[1] for row in loaded(table)]


MONTH_FIRST = "month read before day"
SHORT_YEARS = "years of two digits read as 1969 to 2068"
# header, cells, type, cells as written ("" is NULL), note
COLUMNS = [
    ("code", "007|012|100", "text", "007|012|100", ""),
    ("count", "0|12|1,234|-5|+3", "integer", "0|12|1234|-5|+3", ""),
    ("count", "(7)|12|−3|4-", "integer", "-7|12|-3|-4", ""),
    ("badge", "1234567890123456789|2", "number", "1234567890123456789|2", ""),
    ("hours", "1|2|3|4|5|6|7|8|9|10|11|12|13|14|15|16|17|18|19|20.5", "number", None, ""),
    ("hours", ".5|1e3|8.25", "number", ".5|1e3|8.25", ""),
    ("paid", "$1,234.50|$ 7|-$3.10|12 USD", "money", "1234.50|7|-3.10|12", ""),
    ("paid", "($1,234.50)|$(7.00)|$ (3.00)|USD 5", "money", "-1234.50|-7.00|-3.00|5", ""),
    ("Base Salary", "100.50|200", "money", "100.50|200", ""),
    ("Base Salary", "100|200", "integer", "100|200", ""),
    ("vacation balance (hours)", "8.5|16", "number", "8.5|16", ""),
    ("rate", "1.234,50|7,5|12", "number", "1234.50|7.5|12", "commas read as decimal points"),
    ("rate", "12 345,5|7,25", "number", "12345.5|7.25", "commas read as decimal points"),
    ("rate", "1.234|2.500|3.000,75", "number", "1234|2500|3000.75", "commas read as decimal points"),
    ("paid", "12,50 €|1.000,00 €", "money", "12.50|1000.00", "commas read as decimal points"),
    ("share", "12%|7.5 %|100%", "number", "12|7.5|100", "percent signs left out"),
    ("share", "12%|0.5", "number", "12|0.5", "percent signs left out (not all cells have one)"),
    ("extension", "555 1234|12 34", "text", "555 1234|12 34", ""),
    ("digits", "１２|٣", "text", "１２|٣", ""),
    ("paid on time", "Y|N|y", "boolean", "true|false|true", ""),
    ("paid on time", "Yes|no|NO", "boolean", "true|false|false", ""),
    ("paid on time", "TRUE|f|t", "boolean", "true|false|true", ""),
    ("is_active", "1|0|1", "boolean", "true|false|true", "1 read as yes, 0 as no"),
    ("Exempt?", "1|0|1", "boolean", "true|false|true", "1 read as yes, 0 as no"),
    ("children", "1|0|1", "integer", "1|0|1", ""),
    ("gender", "F|F|F", "text", "F|F|F", ""),
    ("gender", "F|N|F", "text", "F|N|F", ""),
    ("gender", "F|M", "text", "F|M", ""),
    ("answer", "yes|no|maybe", "text", "yes|no|maybe", ""),
    ("on", "2025-02-20|2024/12/31", "date", "2025-02-20|2024-12-31", ""),
    ("on", "2/20/2025|12/31/2024", "date", "2025-02-20|2024-12-31", "month read before day"),
    ("on", "20.02.2025|31.12.2024", "date", "2025-02-20|2024-12-31", "day read before month"),
    ("on", "3/4/2025|5/6/2025", "date", "2025-03-04|2025-05-06", "month read before day (either way would fit)"),
    ("on", "3 March 2024|Mar 4, 2024|5-Sept-2024", "date", "2024-03-03|2024-03-04|2024-09-05", ""),
    ("on", "1st May 2024|May 2nd, 2024", "date", "2024-05-01|2024-05-02", ""),
    ("on", "2/20/25|3/1/70", "date", "2025-02-20|1970-03-01", f"month read before day; {SHORT_YEARS}"),
    ("on", "20-Feb-25", "date", "2025-02-20", SHORT_YEARS),
    ("at", "2025-02-20 10:05|2025-02-21", "timestamp", "2025-02-20 10:05:00|2025-02-21 00:00:00", ""),
    ("at", "2025-02-20T10:05:06Z", "timestamp", "2025-02-20 10:05:06", ""),
    ("at", "2/20/2025 1:05 PM|2/21/2025 12:05 am", "timestamp", "2025-02-20 13:05:00|2025-02-21 00:05:00", MONTH_FIRST),
    ("at", "2/20/2025 0:00", "date", "2025-02-20", "month read before day"),
    ("from", "08:30|17:00", "text", "08:30|17:00", ""),
    ("version", "6.4.1|6.4.2", "text", "6.4.1|6.4.2", ""),
    ("section", "Sector 1 2020|Decal 3 2020", "text", "Sector 1 2020|Decal 3 2020", ""),
    ("on", "2025-02-30|2025-13-01", "text", "2025-02-30|2025-13-01", ""),
    ("Zip", "94110|10001", "text", "94110|10001", ""),
    ("ZipCode", "94110|10001", "text", "94110|10001", ""),
    ("Telephone", "5551234|5559876", "text", "5551234|5559876", ""),
    ("SSN", "123456789|987654321", "text", "123456789|987654321", ""),
    ("number", "123-45-6789|987-65-4321", "text", "123-45-6789|987-65-4321", ""),
    ("Account Balance", "$12.50|$7.00", "money", "12.50|7.00", ""),
    ("hours", "8|n/a|-|7.5||NULL|TBD", "number", "8|||7.5|||", ""),
    ("left on", "2025-02-20|unknown|N/A", "date", "2025-02-20||", ""),
    ("remark", "none|n/a|late", "text", "none|n/a|late", ""),
    ("remark", "n/a|-|?", "text", "n/a|-|?", ""),
    ("note", "=SUM(A1:A2)|@cmd|+1-1|-2+3", "text", "=SUM(A1:A2)|@cmd|+1-1|-2+3", ""),
    ("note", "\\.|\\N|a\\nb", "text", "\\.|\\N|a\\nb", ""),
]  # fmt: skip


@pytest.mark.parametrize(("header", "cells", "kind", "written", "note"), COLUMNS)
def test_a_column_is_of_the_narrowest_type_its_cells_fit(
    header: str, cells: str, kind: str, written: str | None, note: str, tmp_path: Path
) -> None:
    column, found = read(tmp_path, header, cells)
    assert (column.type, column.note) == (kind, note)
    assert written is None or ["" if cell is None else cell for cell in found] == written.split("|")


def test_the_profile_counts_ranges_and_common_values(tmp_path: Path) -> None:
    table = table_of(tmp_path, "id,team,pay\nE1,Red,$100.00\nE2,Red,$20.00\nE3,Blue,n/a\n")
    key, team, pay = table.columns
    assert (key.key, team.key, pay.key) == (True, False, False)
    assert (team.filled, team.distinct, team.top) == (3, 2, (("Red", 2), ("Blue", 1)))
    assert team.values == {"Red": 2, "Blue": 1}
    assert (pay.filled, pay.least, pay.most, pay.values) == (2, "20.00", "100.00", {})


def test_a_column_with_a_gap_or_a_repetition_is_no_key(tmp_path: Path) -> None:
    table = table_of(tmp_path, "gap,twice,amount\nA,X,1.5\n,X,2.5\nC,Y,3.5\n")
    assert [column.key for column in table.columns] == [False, False, False]


PERSONAL = [
    ("first_name", "Ann|Bo", "a name"),
    ("LastName", "Lee|Ray", "a name"),
    ("SSN", "1|2", "an identity number"),
    ("number", "123-45-6789|987-65-4321", "an identity number"),
    ("Date of Birth", "1980-01-02|1990-03-04", "a date of birth"),
    ("write to", "ann@firm.com|bo@firm.org", "contact data"),
    ("home phone", "555 1234|555 9876", "contact data"),
    ("Gender", "F|M", "a protected trait"),
    ("IBAN", "DE1|DE2", "a bank account"),
    ("department", "Fire|Police", ""),
    ("stage", "one|two", ""),
]


@pytest.mark.parametrize(("header", "cells", "reason"), PERSONAL)
def test_personal_data_is_told_by_header_or_by_cells(header: str, cells: str, reason: str, tmp_path: Path) -> None:
    assert read(tmp_path, header, cells)[0].personal == reason


HEADERS = [
    ("name,pay,pay\nAnn,1,2\nBo,3,4\n", ["name", "pay", "pay_2"]),
    ("name,,pay\nAnn,x,2\nBo,y,4\n", ["name", "column_2", "pay"]),
    ("Order,User ID,%\nAnn,1,2\nBo,3,4\n", ["order_", "user_id", "percent"]),
    ("xmin,ctid,_row\nAnn,1,2\nBo,3,4\n", ["xmin_", "ctid_", "row"]),
    ("名前,給料\nAnn,1\nBo,3\n", ["column_", "column__2"]),
    ("1,2\n3,4\n", ["column_1", "column_2"]),
]


@pytest.mark.parametrize(("text", "names"), HEADERS)
def test_headers_become_distinct_names_that_need_no_quotes(text: str, names: list[str], tmp_path: Path) -> None:
    assert [column.name for column in table_of(tmp_path, text).columns] == names


def test_no_name_is_looked_up_in_the_systems_own_schema() -> None:
    assert sql_name("pg_class") == "_pg_class"


def test_a_header_is_found_below_title_lines(tmp_path: Path) -> None:
    table = table_of(tmp_path, "Payroll 2020,,\nprinted by Ann,,\n\nname,team,pay\nBo,Red,5\nCy,Blue,7\n")
    assert [column.header for column in table.columns] == ["name", "team", "pay"]
    assert loaded(table) == [["Bo", "Red", "5"], ["Cy", "Blue", "7"]]
