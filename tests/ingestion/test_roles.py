"""Which tables are set-up."""

import pytest

from core.domain.documents import TableRole
from core.ingestion.parsers.file_kinds import FileKind
from core.ingestion.parsers.table_files import delimited_tables, tables_as_text
from core.ingestion.table_typing.typed_tables import suggested_role

SETUP = [
    "code,description\nREG,Regular pay\nOT15,Overtime at one and one-half\nHOL,Paid holiday",
    "plan,description,amount\nMED-A,Medical plan A,84.00\nDEN,Dental insurance,11.75\nVIS,Vision insurance,4.20",
    "rule,code,text\n1,NET30,Payment within thirty days\n2,NET60,Payment within sixty days\n3,COD,Cash on delivery",
    "class;meaning\nPUB;Anyone may read it\nINT;Employees may read it\nSEC;Named people may read it",
]
RECORDS = [
    "id,name,hired\nE1001,Ann Lee,2020-01-01\nE1002,Bo Ray,2021-02-01\nE1003,Cy Fox,2022-03-01",
    "date,code,hours\n2024-01-01,REG,8\n2024-01-02,REG,8\n2024-01-02,OT15,2",
    "department,title,salary\nABS,Clerk of court,100\nABS,Deputy clerk,200\nPOL,Police officer,300",
    "invoice,supplier\nINV-20391,Acme Paper Company\nINV-20392,Best Chairs Inc\nINV-20393,Coffee and Tea",
    "name,city\nAnn Lee,San Jose\nBo Ray,Los Angeles\nCy Fox,New York",
    "code,amount\nREG,1.0\nOT,1.5\nDT,2.0",
    "code,description\nREG,Regular pay",
]


def role(text: str) -> tuple[int, ...]:
    return tables_as_text("table.csv", delimited_tables("table.csv", text, FileKind.CSV), FileKind.CSV).setup_pages


@pytest.mark.parametrize("text", SETUP)
def test_a_short_table_of_codes_each_described_is_setup(text: str) -> None:
    assert role(text) == (1,)


@pytest.mark.parametrize("text", RECORDS)
def test_what_happens_is_not_setup(text: str) -> None:
    assert role(text) == ()


def test_a_long_table_is_never_setup() -> None:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    rows = [[a + b + c, f"Meaning of {a}{b}{c} here"] for a in letters for b in letters[:5] for c in letters[:5]]
    assert suggested_role(["code", "text"], rows[:500]) is TableRole.SETUP
    assert suggested_role(["code", "text"], rows) is None
