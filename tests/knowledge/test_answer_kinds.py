"""What kind of answer a question asks for, and whether a sentence holds one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.knowledge.answer_kinds import answer_kinds, question_kind


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What percentage of the premium does the employer pay?", "percentage"),
        ("How long must timecards be kept?", "duration"),
        ("How many days of notice do I have to give?", "duration"),
        ("appeal deadline after a denied claim", "duration"),
        ("How quickly must an injury be reported?", "duration"),
        ("What is the pay date for the second March payroll?", "date"),
        ("By when are quarterly returns filed?", "date"),
        ("When is the annual report due?", "date"),
        ("How much does the dental plan cost?", "money"),
        ("What is the mileage allowance?", "money"),
        ("highest base salary in the finance department", "money"),
        ("minimum wage 2025", "money"),
        ("How many dependants can I cover?", "number"),
        ("vacation carryover limit", "number"),
        ("Who approves a payment?", ""),
        ("What is the payment process for invoices?", ""),
        ("What are the wage rules for apprentices?", ""),
        ("Why is overtime paid?", ""),
        ("When must overtime be paid at a higher rate?", ""),
        ("", ""),
    ],
)
def test_the_kind_of_answer_is_read_from_the_question(question: str, kind: str) -> None:
    assert question_kind(question) == kind


@pytest.mark.parametrize(
    ("kind", "sentence", "words"),
    [
        ("percentage", "The agency adds 5% of basic pay.", "5%"),
        ("percentage", "Half of it is refunded.", "Half of"),
        ("percentage", "The fee is refunded.", ""),
        ("duration", "Keep them for three (3) years.", "three (3) years"),
        ("duration", "Returns are filed Quarterly.", "Quarterly"),
        ("duration", "Keep them for a while; see page 3.", ""),
        ("date", "Returns are due on April 15.", "April 15"),
        ("date", "It is paid on the last day of the month.", "last day"),
        ("date", "It was due on 2025-04-15.", "2025-04-15"),
        ("date", "It is due soon.", ""),
        ("money", "The fee is $1,200.", "$1,200"),
        ("money", "Pay 45 cents a mile.", "45 cents"),
        ("money", "Name: Ada; Base Salary: 78902; Grade: 4", "78902"),
        ("money", "See section 12 for the fee.", ""),
        ("number", "Two dependants may be covered.", "Two"),
        ("number", "Dependants may be covered.", ""),
    ],
)
def test_a_sentence_holds_it_or_not(kind: str, sentence: str, words: str) -> None:
    assert answer_kinds()[kind].answer_in(sentence) == words


@given(st.data())
def test_whatever_the_pattern_of_a_kind_finds_holds_one_of_its_marks(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from([kind.name for kind in answer_kinds().values() if kind.marks]))
    kind = answer_kinds()[name]
    reported = data.draw(st.from_regex(kind.answer_pattern)).lower()
    assert kind.answer_pattern.search(reported) is None or any(mark in reported for mark in kind.marks)
