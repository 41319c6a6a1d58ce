"""What the tables cannot say is refused with its reason, and no question whatever brings the desk down."""

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.errors import FivefoldError
from core.knowledge.question_lexicon import asking
from core.table_qa.answerer import LONGEST_QUESTION
from tests.table_qa.domains import OFFICES, Office, office

REASONS = {
    "How many employees will we hire next year?": "what will be",
    "predict the salary of operators": "what will be",
    "Who is likely to leave?": "what will be",
    "Should we raise salaries?": "what should be",
    "What is the best practice for overtime?": "what should be",
    "Which supplier would you recommend": "not",
    "Why did Bo Ray leave?": "not why",
    "explain the bonus of Ida Moss": "not why",
    "": "The question is empty.",
    "   ": "The question is empty.",
    "\n\t": "The question is empty.",
    "\0": "The question is empty.",
    "?!… --- ...": "The question is empty.",
    "🙂🙂🙂": "The question is empty.",
    "hello": "No table is about this.",
    "how many": "No table is about this.",
    "in 2015": "No table is about this.",
    "' OR 1=1 --": "No table is about this.",
    "employees not": "could not be put together: 'not'.",
    "longest department": "It is not clear what 'longest' is about.",
    "employees over 40": "It is not clear which column '40' is compared with.",
    "employees but operators": "It is not clear what 'but operators' leaves out.",
    "all employees but in Texas": "It is not clear what 'but Texas' leaves out.",
    "all employees but managers": "It is not clear what 'but managers' leaves out.",
    "everyone but Ann Lee": "It is not clear what 'Ann' leaves out.",
    "employees hired in May": "Not found in the tables: 'may'.",
    "employees hired from May to June 2020": "Not found in the tables: 'may'.",
    "how many employees as of 2015": "'as of 2015' may mean all up to then, or what held at that time.",
    "employees with a bonus of $2000": "could not be put together: '$2000'.",
    "May employees": "Not found in the tables: 'may'.",
    "which states have no remote employees": "is about whole groups here",
    "states where nobody is remote": "is about whole groups here",
    "which states have no terminated employees": "is about whole groups here",
    "a" * 10_000: f"more than {LONGEST_QUESTION:,} letters",
    "salary " * 1_500: f"more than {LONGEST_QUESTION:,} letters",
}
UNKNOWN = {
    "how many unicorns do we have": ["unicorns"],
    "average shoe size": ["shoe", "size"],
    "employees in Atlantis": ["atlantis"],
    "salary of Zorro": ["zorro"],
    "employees who like pizza, pizza and pizza": ["pizza"],
    "SELECT * FROM employees; DROP TABLE employees;--": ["select", "drop"],
    "employees'; DELETE FROM employees WHERE '1'='1": ["delete"],
    "¿Cuántos empleados hay en Texas?": ["cuántos", "empleados", "hay", "en"],
    "wie viele Mitarbeiter gibt es": ["wie", "viele", "mitarbeiter", "gibt", "es"],
    "сколько сотрудников": ["сколько", "сотрудников"],
    "従業員は何人ですか": ["従業員は何人ですか"],
    "a" * 900: ["a" * 900],
}


@pytest.mark.parametrize(("question", "reason"), REASONS.items(), ids=[each[:30] for each in REASONS])
def test_what_no_table_can_answer_is_refused_with_its_reason(question: str, reason: str) -> None:
    answer = office("hr").desk.ask(question)
    assert not answer.answered
    assert reason in answer.refusal
    assert (answer.rows, answer.query, answer.reading, answer.headline) == (None, None, "", "")


@pytest.mark.parametrize(("question", "words"), UNKNOWN.items(), ids=[each[:30] for each in UNKNOWN])
def test_a_refusal_names_the_words_no_table_knows_each_once(question: str, words: list[str]) -> None:
    named = ", ".join(f"'{word}'" for word in words)
    assert office("hr").desk.ask(question).refusal == f"Not found in the tables: {named}."


def test_what_only_looks_odd_is_still_answered() -> None:
    desk = office("hr").desk
    for question in ("how many 🙂 employees", "HOW MANY EMPLOYEES", "  how\nmany\temployees ??"):
        assert desk.ask(question).headline == "12", question


def test_without_a_table_nothing_is_asked() -> None:
    assert Office().desk.ask("how many employees").refusal == "There is no table to ask."


SMALL = (
    "the of in who which with have their 10 2015 $50k 1,5 and Q1 ' \" % > = ( -- zero manager employees since".split()
)
OPERATORS = [" ".join(phrase) for phrase in asking().operators]


@cache
def words_of(name: str) -> list[str]:
    """Words an office's own people might use: its tables, headers and cells."""
    found: list[str] = []
    for table in office(name).desk.tables():
        found += [table.name, table.name.replace("_", " ")]
        for column in table.columns:
            found += [column.header, column.header.replace("_", " "), *column.values, column.least, column.most]
    return [word for word in dict.fromkeys(found) if word]


def test_the_largest_of_no_rows_is_no_row() -> None:
    answer = office("procurement").desk.ask("Spain largest")
    assert answer.answered and answer.rows is not None
    assert (answer.rows.total, answer.headline) == (0, "0 rows")


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_words_in_any_order_are_answered_or_refused_and_never_crash(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(OFFICES)))
    pools = st.sampled_from([words_of(name), OPERATORS, SMALL])
    word = pools.flatmap(st.sampled_from) | st.text(max_size=6)
    question = " ".join(data.draw(st.lists(word, max_size=9)))
    try:
        answer = office(name).desk.ask(question)
    except FivefoldError as error:
        assert error.message
        return
    assert answer.answered == (not answer.refusal)
    if answer.answered:
        assert answer.query is not None and answer.rows is not None
        assert answer.reading and answer.headline and answer.citation
        again = office(name).desk.follow(question, answer.query)
        assert again.rows is not None and again.rows.rows == answer.rows.rows
        for other in answer.others:
            assert office(name).desk.follow(question, other.query).reading == other.reading
