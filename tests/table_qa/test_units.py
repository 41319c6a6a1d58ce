"""Units and currencies of a question: those of the header, converted; others are refused, or listed as not used."""

import pytest

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
