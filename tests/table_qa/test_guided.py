"""The guided form is filled with what was understood and answers alike; a model's SQL passes the same guard."""

from dataclasses import replace
from datetime import date

import pytest

from core.domain.errors import BadRequest
from core.table_qa.guided import LISTED, GuidedCondition, GuidedForm
from core.table_qa.service import TableService
from tests.answers.endpoints import Behaviour, completion, served
from tests.database import ScratchTableStore
from tests.table_qa.domains import HR, TODAY, Office, office


def test_a_question_that_was_understood_fills_the_form_which_answers_the_same() -> None:
    desk = office("staff").desk
    form = desk.form("attrition rate by department")
    assert form == GuidedForm("staff", "share", "attrition", "department")
    assert desk.answer_form(form).headline == desk.ask("attrition rate by department").headline


def test_what_was_understood_of_a_refused_question_fills_the_form() -> None:
    desk = office("staff").desk
    question = "average age by department of purple female executives"
    assert not desk.ask(question).answered
    form = desk.form(question)
    assert form is not None
    assert (form.table, form.measure, form.column, form.by) == ("staff", "average", "age", "department")
    assert {(each.column, each.value) for each in form.where} == {("gender", "Female"), ("job_role", "Executive")}


def test_what_was_not_understood_stays_empty() -> None:
    form = office("staff").desk.form("average rate by department")
    assert form == GuidedForm("staff", "average", "", "department")


@pytest.mark.parametrize(
    ("form", "headline"),
    [
        (GuidedForm("employees"), "12"),
        (GuidedForm("employees", "sum", "salary", where=(GuidedCondition("state", "is", "tx"),)), "312,000"),
        (GuidedForm("employees", where=(GuidedCondition("state", "is not", "TX"),)), "9"),
        (GuidedForm("employees", where=(GuidedCondition("salary", "more than", "150,000"),)), "2"),
        (GuidedForm("employees", where=(GuidedCondition("job_title", "holds", "exec"),)), "2"),
        (GuidedForm("employees", where=(GuidedCondition("bonus", "empty"),)), "2"),
        (GuidedForm("employees", day="hire_date", start=date(2015, 1, 1), end=date(2015, 12, 31)), "2"),
        (GuidedForm("employees", day="hire_date", start=date(2021, 1, 2)), "3"),
        (GuidedForm("employees", LISTED, where=(GuidedCondition("is_remote", "is", "yes"),)), "5 rows"),
        (GuidedForm("employees", "share", "is_remote"), "41.7%"),
        (GuidedForm("employees", "distinct", "state"), "5"),
    ],
)
def test_a_filled_form_answers_and_shows_its_reading(form: GuidedForm, headline: str) -> None:
    answer = office("hr").desk.answer_form(form)
    assert (answer.headline, bool(answer.reading)) == (headline, True)


def test_groups_by_a_part_of_a_date() -> None:
    answer = office("hr").desk.answer_form(GuidedForm("employees", by="hire_date", part="year"))
    assert answer.reading == "Number of rows of employees by year of hire_date"


@pytest.mark.parametrize(
    "form",
    [
        GuidedForm("employees", "sum"),
        GuidedForm("employees", "sum", "state"),
        GuidedForm("employees", "share", "state"),
        GuidedForm("employees", where=(GuidedCondition("salary", "is", "much"),)),
        GuidedForm("employees", where=(GuidedCondition("hire_date", "is", "May"),)),
        GuidedForm("employees", where=(GuidedCondition("is_remote", "is", "perhaps"),)),
        GuidedForm("employees", where=(GuidedCondition("state", "is", " "),)),
        GuidedForm("employees", by="nothing"),
        GuidedForm("employees", day="hire_date", start=date(2020, 1, 1), end=date(2019, 1, 1)),
    ],
)
def test_a_field_that_is_missing_or_wrong_is_named(form: GuidedForm) -> None:
    with pytest.raises(BadRequest):
        office("hr").desk.answer_form(form)


@pytest.mark.parametrize(
    ("question", "where", "left_out"),
    [
        ("employees in TX or OH", (), ("a condition on state",)),
        (
            "employees with a salary between 60000 and 90000",
            (GuidedCondition("salary", "at least", "60000"), GuidedCondition("salary", "at most", "90000")),
            (),
        ),
        ("employees with a salary not above 60000", (GuidedCondition("salary", "at most", "60000"),), ()),
        ("employees who earn above average", (), ("a condition on salary",)),
        ("average salary by state with more than 2 employees", (), ("a condition on groups (more than 2)",)),
        ("purple employees in TX or OH", (), ("TX", "OH")),
        ("purple employees with a salary between 60000 and 90000", (), ("60000", "90000")),
    ],
)
def test_what_the_form_cannot_hold_is_left_out_and_named(
    question: str, where: tuple[GuidedCondition, ...], left_out: tuple[str, ...]
) -> None:
    form = office("hr").desk.form(question)
    assert form is not None
    assert (form.where, form.left_out) == (where, left_out)


def test_a_share_of_no_is_not_filled_in_as_a_share_of_yes() -> None:
    form = office("hr").desk.form("percentage of employees who are not remote")
    assert form is not None
    assert (form.measure, form.left_out) == ("count", ("the share of is_remote",))


@pytest.mark.parametrize(
    ("test", "headline"),
    [("is", "2"), ("is not", "2"), ("at most", "3"), ("less than", "1"), ("at least", "3"), ("more than", "1")],
)
def test_a_day_of_a_column_of_moments_is_the_whole_day(test: str, headline: str) -> None:
    moments = ("2024-01-30 09:00:00", "2024-01-31 08:00:00", "2024-01-31 23:30:00", "2024-02-01 08:00:00")
    rows = [f"{number},{moment}" for number, moment in enumerate(moments, 1)]
    desk = Office({"calls.csv": "\n".join(("Call,Logged", *rows))}).desk
    assert desk.answer_form(GuidedForm("calls", where=(GuidedCondition("logged", test, "2024-01-31"),))).headline == (
        headline
    )


def with_model(behaviour: Behaviour) -> TableService:
    """The tables of the HR office, with a language model."""
    loaded = Office(HR)
    store = loaded.desk._store
    assert isinstance(store, ScratchTableStore)
    return TableService(store, loaded.catalogue, lambda: TODAY, behaviour.endpoint())


def test_a_proposed_statement_is_run_as_the_reader_and_shown_with_its_reading() -> None:
    body = completion(
        '{"sql": "SELECT count(*) FROM employees WHERE state = \'TX\'", "reading": "Employees in Texas."}'
    )
    with served(Behaviour(body=body)) as model:
        proposal = with_model(model).propose_sql("how many in Texas")
    assert (proposal.rows.value, proposal.reading) == (3, "Employees in Texas.")
    sent = str(model.requests[0][2])
    assert "how many in Texas" in sent and "hire_date" in sent
    assert "Ann" not in sent and "142000" not in sent


@pytest.mark.parametrize(
    "text",
    [
        '{"sql": "DROP TABLE employees", "reading": "x"}',
        '{"sql": "SELECT * FROM documents", "reading": "x"}',
        '{"sql": "SELECT pg_sleep(9)", "reading": "x"}',
        '{"sql": "", "reading": "The tables hold no weather."}',
        "I would count the rows.",
    ],
)
def test_a_proposal_passes_the_same_guard(text: str) -> None:
    with served(Behaviour(body=completion(text))) as model:
        desk = with_model(model)
        with pytest.raises(BadRequest):
            desk.propose_sql("how many")
    assert desk.ask("how many employees").headline == "12"


def test_without_a_model_nothing_is_proposed() -> None:
    desk = office("hr").desk
    assert desk.language_model == ""
    with pytest.raises(BadRequest, match="No language model"):
        desk.propose_sql("how many")


def test_an_empty_question_gives_an_empty_form() -> None:
    form = office("hr").desk.form("")
    assert form is not None
    assert replace(form, table="") == GuidedForm("")
