"""Units and currencies of a question: those of the header, converted; others are refused, or listed as not used."""

import pytest

from core.domain.datasets import ColumnType
from tests.table_qa.domains import Office

JOBS = """\
Job,Duration,Hours,Salary (USD),Bonus,Fee (EUR)
A,1,20,40000,10,1
B,3,45,50000,30,2
C,5,50,60000,50,3
D,2,15,70000,20,4
"""


@pytest.fixture(scope="module")
def jobs() -> Office:
    """An office of one table, which no test changes."""
    return Office({"jobs.csv": JOBS})


@pytest.mark.parametrize(
    "question",
    [
        "jobs with a salary over 50k euros",
        "jobs with a salary over €50k",
        "jobs with hours over 30 kg",
        "jobs with hours over 30 dollars",
        "jobs with hours over 3 miles",
    ],
)
def test_a_unit_that_the_header_contradicts_is_refused(jobs: Office, question: str) -> None:
    assert "is not measured in" in jobs.desk.ask(question).refusal


@pytest.mark.parametrize(
    ("question", "headline", "unused"),
    [
        ("jobs with a salary over 50k dollars", "C; D", ()),
        ("jobs with a salary over $50k", "C; D", ()),
        ("jobs with hours over 1 day", "B; C", ()),
        ("jobs over 2 euros", "C; D", ()),
        ("jobs with duration over 2 minutes", "B; C", ("minutes",)),
        ("jobs with a bonus over 20 euros", "B; C", ("euros",)),
        ("jobs with a bonus over $20", "B; C", ("$",)),
        ("jobs with a bonus over 20 units", "B; C", ()),
    ],
)
def test_a_unit_that_the_header_does_not_name_is_listed_as_not_used(
    jobs: Office, question: str, headline: str, unused: tuple[str, ...]
) -> None:
    answer = jobs.desk.ask(question)
    assert (answer.headline or answer.refusal, answer.unused) == (headline, unused)


PAYMENTS = "Payee,Amount,Currency\nAda,100.50,EUR\nBen,200.25,USD\nCem,300.00,EUR\n"


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("total amount", True),
        ("average amount by payee", True),
        ("total amount by currency", False),
        ("total amount in EUR", False),
        ("how many payments", False),
    ],
)
def test_amounts_in_several_currencies_are_not_put_together_without_a_word(question: str, *, told: bool) -> None:
    answer = Office({"payments.csv": PAYMENTS}).desk.ask(question)
    assert answer.answered, answer.refusal
    note = "'Amount' is in several currencies (EUR and USD), which were put together."
    assert any(each.startswith(note) for each in answer.notes) is told


def test_a_column_of_several_currencies_is_no_number() -> None:
    office = Office({"fees.csv": "Service,Fee\nSetup,$ 100\nRun,€ 200\nStop,€ 50\n"})
    column = office.desk.table("fees").column("fee")
    assert column is not None
    assert (column.type, column.note) == (ColumnType.TEXT, "read as text: amounts in $ and EUR cannot be added up")
    assert not office.desk.ask("total fee").answered
