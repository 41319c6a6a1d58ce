"""What sentences state: amounts, days, what is binding; and pairs whose amounts belong to different cases."""

import pytest

from core.coverage.conflicts import disagreement
from core.coverage.statements import BindingForce, binding_of, content_stems, days_of_year, quantities


@pytest.mark.parametrize(
    ("sentence", "amounts"),
    [
        ("Answer within two weeks.", [(14.0, "day", "at most")]),
        ("Answer within 14 calendar days.", [(14.0, "day", "at most")]),
        ("Answer within 5 business days.", [(5.0, "business day", "at most")]),
        ("Keep it for three (3) years.", [(36.0, "month", "exact")]),
        ("Keep it for at least 12 months.", [(12.0, "month", "at least")]),
        ("Rest for 30 minutes or more.", [(0.5, "hour", "at least")]),
        ("It costs $1.5 million.", [(1500000.0, "$", "exact")]),
        ("It pays one and one-half times the rate.", [(1.5, "times", "exact")]),
        ("It may not exceed 7.5%.", [(7.5, "percent", "at most")]),
        ("See section 12.4 of part 541 on page 7.", []),
        ("Twenty-five people met in room 14.", []),
    ],
)
def test_amounts_are_read_with_unit_and_bound(sentence: str, amounts: list[tuple[float, str, str]]) -> None:
    found = quantities(sentence)
    assert [(q.value, q.unit, q.bound.value) for q in found] == amounts
    assert all(q.words in sentence and sentence[q.start : q.end].strip() for q in found)


def test_days_without_a_year_come_every_year() -> None:
    assert [(d.month, d.day) for d in days_of_year("Due April 30 and, in 2020, on May 4, 2020.")] == [(4, 30)]
    assert days_of_year("It may be 31 of them in March.") == ()
    assert days_of_year("On March 45 nothing happens.") == ()


@pytest.mark.parametrize(
    ("sentence", "binding"),
    [
        ("Guests must register.", BindingForce.REQUIRED),
        ("Registration is mandatory.", BindingForce.REQUIRED),
        ("Guests must not smoke.", BindingForce.FORBIDDEN),
        ("Smoking is prohibited.", BindingForce.FORBIDDEN),
        ("Guests need not register.", BindingForce.OPTIONAL),
        ("Registration is not required.", BindingForce.OPTIONAL),
        ("Guests may register.", BindingForce.OPTIONAL),
        ("Guests register in May.", None),
        ("Guests may register but must sign.", None),
    ],
)
def test_what_binds(sentence: str, binding: BindingForce | None) -> None:
    assert binding_of(sentence) is binding


def test_what_a_sentence_is_about_leaves_amounts_and_obligation_out() -> None:
    assert content_stems("Samples must be stored within 48 hours.") == content_stems("Store the sample.")


@pytest.mark.parametrize(
    ("first", "second", "binding"),
    [
        ("Final bills must be paid within 14 days.", "Final bills are paid within two weeks.", True),
        ("Records must be kept for 12 months after the audit.", "Records are kept for one year after the audit.", True),
        (
            "Extra work counts for hours over 40 hours in a workweek.",
            "Extra work counts for hours over 8 hours in a workday.",
            True,
        ),
        (
            "Leave accrues at two days per month for all staff.",
            "Leave accrues at 24 days per year for all staff.",
            False,
        ),
        ("Part-time staff accrue 10 days of leave.", "Full-time staff accrue 20 days of leave.", False),
        (
            "Staff with under five years of service get leave of 10 days.",
            "Staff with over five years of service get leave of 15 days.",
            False,
        ),
        ("The employer pays a pension share of 7 percent.", "The employee pays a pension share of 5 percent.", False),
        ("Quarterly safety returns are due on April 30.", "Annual safety returns are due on January 31.", False),
        ("The late fee for a book is between $10 and $20.", "The late fee for a book is $15.", False),
        (
            "The landlord must return the deposit within 21 days.",
            "The landlord must inspect the flat within 7 days.",
            True,
        ),
        ("Drivers rest for 30 minutes after driving.", "Drivers rest for 11 hours before the next shift.", False),
        (
            "Complaints must be answered within 10 business days.",
            "Complaints are answered within 5 business days.",
            True,
        ),
    ],
)
def test_equal_stricter_and_other_cases_do_not_disagree(first: str, second: str, binding: bool) -> None:
    assert disagreement(first, second, binding=binding) is None


@pytest.mark.parametrize(
    ("first", "second", "binding"),
    [
        ("Final bills must be paid within 6 days.", "Final bills are paid within two weeks.", True),
        ("Records must be kept for 12 months after the audit.", "Records are kept for 6 months after the audit.", True),
        (
            "Leave accrues at two days per month for all staff.",
            "Leave accrues at one day each month for all staff.",
            False,
        ),
        ("The late fee for a book is $25.", "The late fee for a book is $40.", False),
        (
            "Employers must give employees the pay notice within 5 days.",
            "We give employees the pay notice within 9 days.",
            True,
        ),
        ("Quarterly safety returns are due on April 30.", "Quarterly safety returns are due on May 15.", False),
        ("Drivers must rest for at least 11 hours between shifts.", "Drivers rest for 8 hours between shifts.", True),
        (
            "The supplier delivers spare parts within 5 business days.",
            "Spare parts are delivered within ten business days.",
            False,
        ),
        ("Visitors must wear a helmet in the hall.", "Visitors may wear a helmet in the hall.", True),
    ],
)
def test_the_same_case_with_other_amounts_disagrees(first: str, second: str, binding: bool) -> None:
    assert disagreement(first, second, binding=binding) is not None
