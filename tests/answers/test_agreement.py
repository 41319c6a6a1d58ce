"""Which sentences say the same; the pairs that only look alike are as many as those that do."""

import pytest

from core.answers.agreement import agreements_of
from core.domain.documents import Truth
from core.domain.five_truths import AgreementKind, TruthAnswer, TruthState
from tests.coverage.boards import citation

AMOUNT, DATE, OBLIGATION, WORDING = AgreementKind
ALIKE = [
    (
        "Notice of termination of the contract is given within two weeks.",
        "Notice of termination of the contract is given within 14 days.",
        AMOUNT,
    ),
    (
        "Overtime is paid at one and one-half times the regular rate.",
        "Overtime is paid at 1.5 times the regular rate.",
        AMOUNT,
    ),
    (
        "Personnel records must be kept for at least seven years.",
        "Personnel records are kept for 7 years.",
        AMOUNT,
    ),
    (
        "Purchase orders above $10,000 need a second signature.",
        "A second signature is needed on purchase orders above $10,000.",
        AMOUNT,
    ),
    (
        "Wage statements must be furnished to employees by January 31.",
        "Wage statements are furnished to employees by January 31st.",
        DATE,
    ),
    (
        "Managers must approve travel requests before booking flights.",
        "Managers shall approve travel requests before flights are booked.",
        OBLIGATION,
    ),
    (
        "Contractors must not share passwords with colleagues.",
        "Contractors cannot share passwords with their colleagues.",
        OBLIGATION,
    ),
    (
        "Overtime hours are approved by the manager of the payroll department.",
        "The manager of the payroll department approves overtime hours.",
        WORDING,
    ),
]
ONLY_ALIKE = [
    ("Expense reports must be submitted within 30 days.", "Expense reports are submitted within 10 days."),
    ("Vacation accrues at two days per month of service.", "Vacation accrues at two days per year of service."),
    (
        "Personnel records must be kept for at least seven years.",
        "Personnel records are kept for at most seven years.",
    ),
    ("Employers file Form 941 with the agency within 30 days.", "Employers file Form 940 with the agency in 30 days."),
    (
        "Overtime hours are approved by the manager of the payroll department.",
        "Overtime hours are not approved by the manager of the payroll department.",
    ),
    ("Expense reports must be submitted within 30 days.", "Invoices are paid within 30 days of receipt."),
    ("Full-time staff accrue 20 days of vacation each year.", "Part-time staff accrue 20 days of vacation each year."),
    (
        "The IRS requires wage statements to be furnished by January 31.",
        "The DOL requires wage statements to be furnished by January 31.",
    ),
    (
        "Managers must approve travel requests before booking flights.",
        "Managers may approve travel requests before booking flights.",
    ),
    ("Must managers approve travel requests before booking?", "Managers must approve travel requests before booking."),
    ("| records | must be kept | 7 years | personnel |", "| records | must be kept | 7 years | personnel |"),
    (
        "Personnel records must be kept for seven years in 2019.",
        "Personnel records must be kept for seven years in 2024.",
    ),
]


def truth_answer(truth: Truth, quote: str, **values: object) -> TruthAnswer:
    """A truth that answers with one sentence."""
    return TruthAnswer(truth, TruthState.ANSWERED, (citation(quote, truth=truth, **values),))


def between(one: str, other: str, **values: object) -> AgreementKind | None:
    """What regulatory and compliance agree in."""
    found = agreements_of((truth_answer(Truth.REGULATORY, one), truth_answer(Truth.COMPLIANCE, other, **values)))
    return found[0].kind if found else None


@pytest.mark.parametrize(("one", "other", "kind"), ALIKE)
def test_they_say_the_same(one: str, other: str, kind: AgreementKind) -> None:
    assert between(one, other) is kind
    assert between(other, one) is kind


@pytest.mark.parametrize(("one", "other"), ONLY_ALIKE)
def test_they_only_look_alike(one: str, other: str) -> None:
    assert between(one, other) is None
    assert between(other, one) is None


def test_sentences_of_different_places_or_of_a_table_do_not_agree() -> None:
    same = "Expense reports must be submitted within 30 days."
    places = (
        truth_answer(Truth.REGULATORY, same, jurisdiction="state:CA"),
        truth_answer(Truth.COMPLIANCE, same, jurisdiction="state:NY"),
    )
    assert agreements_of(places) == ()
    assert between(same, same, rows=(1, 1)) is None
    assert between(same, same) is AgreementKind.AMOUNT


def test_a_pair_of_truths_agrees_once_and_in_what_is_most_exact() -> None:
    law = TruthAnswer(
        Truth.REGULATORY,
        TruthState.ANSWERED,
        (citation(ALIKE[5][0]), citation("Expense reports must be submitted within 30 days.")),
    )
    policy = TruthAnswer(
        Truth.COMPLIANCE,
        TruthState.ANSWERED,
        (citation(ALIKE[5][1]), citation("Expense reports are submitted within 30 days.")),
    )
    (found,) = agreements_of((law, policy))
    assert found.kind is AgreementKind.AMOUNT
    assert found.first.text == "within 30 days"
    assert 0 < found.strength <= 1
