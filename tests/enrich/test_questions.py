"""Which question a sentence answers: a table, traps among them."""

import pytest

from core.domain.errors import BadTable
from core.knowledge import enrichment as table
from core.library.enrichment.questions import find_questions
from tests.enrich.reading import POLICY, read

ANSWERED = [
    ("Employers must file Form 941 by the last day of the month.", "When must employers file Form 941?"),
    ("Timesheets shall be submitted no later than noon on Friday.", "When must timesheets be submitted?"),
    ("Payroll records must be preserved for at least three years.", "How long must payroll records be preserved?"),
    ("Every office must keep visitor logs for two years.", "How long must every office keep visitor logs?"),
    ("A qualified plan is a plan that meets the rules of the code.", "What is a qualified plan?"),
    ("Boat licences are permits to moor a boat in the harbour.", ""),
    ("The term “working day” means any day but a Sunday.", "What does “working day” mean?"),
    ("Nurses on night duty are eligible for the night allowance.", "Who is eligible for the night allowance?"),
    ("Interns are not entitled to paid leave.", "Who is not entitled to paid leave?"),
    ("The harbour master is responsible for mooring permits.", "Who is responsible for mooring permits?"),
    ("The harbour master is responsible for issuing permits.", "Who is responsible for issuing permits?"),
    ("Overtime must be approved in advance by the supervisor.", "Who must approve overtime?"),
    ("The night allowance is $4.50 an hour on weekdays.", "What is the night allowance?"),
    (
        "If a worker is late, the foreman must note the time of arrival.",
        "What must the foreman do if a worker is late?",
    ),
    ("The purpose of this audit trail is to show who changed what.", ""),
    ("The purpose of the audit trail is to show who changed what.", "What is the purpose of the audit trail?"),
    ("This policy applies to all employees of the harbour.", "What does this policy apply to?"),
    ("Time cards are reviewed every Monday by the foreman.", "How often are time cards reviewed?"),
    ("Backup tapes are stored in the vault of the main office.", "Where are backup tapes stored?"),
    ("The crew may not work more than twelve hours a day.", "May the crew work more than twelve hours a day?"),
    ("Visitors must not enter the engine room.", "May visitors enter the engine room?"),
    ("To request a key card, you must send the form to the office.", "How do you request a key card?"),
    # Traps
    ("It is a plan that meets the rules of the code.", ""),
    ("This is the first day of the rest of the year.", ""),
    ("Such an employee must file the form by Friday.", ""),
    ("The key is a text that is used for this purpose.", ""),
    ("Instead the office is a party to the contract.", ""),
    ("The form must be signed by hand.", ""),
    ("The report is available.", ""),
]


@pytest.mark.parametrize(("sentence", "question"), ANSWERED)
def test_a_sentence_answers_this_question_or_none(sentence: str, question: str) -> None:
    results = find_questions(read(sentence)).questions
    assert [each.question for each in results] == ([question] if question else [])
    assert all(each.answer.text == sentence for each in results)


def test_a_heading_that_asks_is_answered_by_a_sentence_below_it_that_shares_its_words() -> None:
    text = "# Who may use the night ferry?\n\nLast year was busy for everybody here.\n"
    assert find_questions(read(text)).questions == ()
    text += "Residents with a pass may use the night ferry free of charge.\n"
    (results,) = find_questions(read(text)).questions
    assert results.question == "Who may use the night ferry?"
    assert results.answer.text == "Residents with a pass may use the night ferry free of charge."


def test_at_most_five_are_asked_in_reading_order_and_no_two_alike() -> None:
    results = find_questions(read(POLICY)).questions
    assert 3 <= len(results) <= 5
    assert [each.answer.start for each in results] == sorted(each.answer.start for each in results)
    assert len({each.question for each in results}) == len(results)
    twice = "Payroll records must be kept for ten years.\n\nAll payroll records must be kept for ten years.\n"
    assert len(find_questions(read(twice)).questions) == 1


def test_other_languages_are_not_asked_in_english() -> None:
    assert find_questions(read(POLICY, language="de")).questions == ()


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"pattern": "(", "question": "?", "weight": 0.5, "rule": "x"}, "forms"),
        ({"pattern": "a", "question": "?", "weight": 2.0, "rule": "x"}, "weight"),
        ({"pattern": "a", "question": "?", "weight": 0.5, "rule": "x", "colour": 1}, "unknown key 'colour'"),
    ],
)
def test_a_wrong_form_is_an_error_that_names_the_place(
    row: dict, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "table", lambda name: {"forms": [row], "bases": {}})
    table.question_forms.cache_clear()
    with pytest.raises(BadTable, match=expected):
        table.question_forms()
    table.question_forms.cache_clear()
