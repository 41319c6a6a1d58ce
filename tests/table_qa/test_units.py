"""Units and currencies of a question: those of the header, converted; others are refused, or listed as not used."""

import pytest

from tests.table_qa.domains import Office

JOBS = Office(
    {
        "jobs.csv": "Job,Duration,Hours,Salary (USD),Bonus,Fee (EUR)\n"
        "A,1,20,40000,10,1\nB,3,45,50000,30,2\nC,5,50,60000,50,3\nD,2,15,70000,20,4\n"
    }
)


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
def test_a_unit_that_the_header_contradicts_is_refused(question: str) -> None:
    assert "is not measured in" in JOBS.desk.ask(question).refusal


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
    question: str, headline: str, unused: tuple[str, ...]
) -> None:
    answer = JOBS.desk.ask(question)
    assert (answer.headline or answer.refusal, answer.unused) == (headline, unused)
