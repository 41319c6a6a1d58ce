"""Which pairs of sentences disagree; precision first: the nasty pairs that do not are as many as those that do."""

from time import perf_counter

import pytest

from core.coverage.conflicts import disagreement, find_conflicts
from core.coverage.detection.detector import Detector, assess
from core.domain.coverage import Board, ConflictKind, Topic
from core.domain.documents import Authority, Truth
from core.knowledge.profiles import profiles
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from tests.search.library import NOW, Library

PROFILE = profiles()["balanced"]

LAW, RULE = True, False
CONFLICTING = [
    (
        "Employees must report a data breach within 72 hours.",
        "A data breach is reported by employees within 96 hours.",
        LAW,
    ),
    ("Expense reports must be submitted within 30 days.", "Expense reports are submitted within 60 days.", LAW),
    ("Vacation accrues at two days per month of service.", "Vacation accrues at 3 days per month of service.", RULE),
    (
        "Purchase orders above $10,000 need a second signature.",
        "Purchase orders above $25,000 need a second signature.",
        RULE,
    ),
    (
        "Personnel records must be kept for at least seven years.",
        "Personnel records are kept for at least 3 years.",
        LAW,
    ),
    (
        "Overtime is paid at one and one-half times the regular rate.",
        "Overtime is paid at 2 times the regular rate.",
        RULE,
    ),
    (
        "The supplier keeps system availability of at least 99.9% each month.",
        "System availability of the supplier is 99% each month.",
        RULE,
    ),
    (
        "Wage statements must be furnished to employees by January 31.",
        "Wage statements are furnished to employees by February 15.",
        LAW,
    ),
    ("Contractors must not share passwords with colleagues.", "Contractors must share passwords with colleagues.", LAW),
    (
        "Managers must approve travel requests before booking flights.",
        "Managers need not approve travel requests before booking flights.",
        LAW,
    ),
    (
        "A visitor must be escorted in the server room; escorting a visitor is required.",
        "Escorting a visitor in the server room is optional.",
        LAW,
    ),
    (
        "Notice of termination of the contract is given within two weeks.",
        "Notice of termination of the contract is given within 30 days.",
        RULE,
    ),
]
AGREEING = [
    (
        "Notice of termination of the contract is given within two weeks.",
        "Notice of termination of the contract is given within 14 days.",
        RULE,
    ),
    (
        "Overtime is paid at one and one-half times the regular rate.",
        "Overtime is paid at 1.5 times the regular rate.",
        RULE,
    ),
    ("Expense reports must be submitted within 30 days.", "Expense reports are submitted within 10 days.", LAW),
    (
        "Personnel records must be kept for at least three years.",
        "Personnel records are kept for at least 7 years.",
        LAW,
    ),
    ("Personnel records must be kept for at least three years.", "Invoices are paid within 30 days of receipt.", LAW),
    (
        "A data breach must be reported within 72 hours.",
        "Employees complete data security training within 30 days.",
        LAW,
    ),
    ("Vacation accrues at two days per month.", "Sick leave accrues at one day per month.", RULE),
    ("Meal breaks of at least 30 minutes must be given.", "A shift of 8 hours has meal breaks.", LAW),
    ("Purchase orders above $10,000 need a second signature.", "Petty cash below $50 needs no purchase order.", RULE),
    ("Employees may request telework from their manager.", "Employees must record telework hours every day.", RULE),
    ("Wage statements must be furnished by January 31.", "The tax year ends on December 31.", LAW),
    (
        "Backups are kept at least 30 days and up to 90 days in the archive.",
        "Backups are kept for 60 days in the archive.",
        RULE,
    ),
    ("Contractors must not share passwords with anyone.", "Contractors must change passwords every year.", LAW),
    (
        "The contractor shall not be required to insure the building site of the agency.",
        "The contractor shall insure the building site of the agency.",
        RULE,
    ),
    (
        "A traveller may spend at most $500 per night on a hotel room.",
        "A traveller may spend at most €450 per night on a hotel room.",
        RULE,
    ),
    (
        "The supplier must notify the buyer of defects within 5 days.",
        "The buyer must notify the supplier of defects within 10 days.",
        RULE,
    ),
]


@pytest.mark.parametrize(("first", "second", "binding"), CONFLICTING)
def test_sentences_that_cannot_both_hold_disagree(first: str, second: str, binding: bool) -> None:
    assert disagreement(first, second, binding=binding) is not None


@pytest.mark.parametrize(("first", "second", "binding"), AGREEING)
def test_stricter_equal_or_other_matters_do_not(first: str, second: str, binding: bool) -> None:
    assert disagreement(first, second, binding=binding) is None


LAW_TEXT = "Employees must report a data breach within 72 hours of finding it."
POLICY_TEXT = "Employees report a data breach within 96 hours of finding it."


def board_with(library: Library, policy: str = POLICY_TEXT, **labels: object) -> Board:
    library.add("law.pdf", LAW_TEXT, truth=Truth.REGULATORY, authority=Authority.GOVERNMENT, jurisdiction="federal")
    library.add("policy.md", policy, **({"truth": Truth.COMPLIANCE} | labels))
    detector = Detector(library.catalogue, library.vectors, library.sparse, library.embedder)
    return assess(
        detector, [Topic("report a data breach")], now=NOW, profile=PROFILE, terms=BUILT_IN_TERMS, timer=perf_counter
    )


def conflicts(library: Library, board: Board) -> list:
    passages = {p.id: p for d in library.catalogue.documents() for p in library.catalogue.passages_of(d.id)}
    return list(find_conflicts(board, passages, {d.id: d for d in library.catalogue.documents()}))


def test_a_conflict_names_both_sentences_the_law_first() -> None:
    library = Library()
    (found,) = conflicts(library, board_with(library))
    assert found.kind is ConflictKind.NUMBER
    assert (found.first.truth, found.second.truth) == (Truth.REGULATORY, Truth.COMPLIANCE)
    assert (found.first.text, found.second.text) == ("within 72 hours", "within 96 hours")
    assert found.first.citation.quote == LAW_TEXT and found.second.citation.quote == POLICY_TEXT
    assert found.first.text in found.first.citation.quote
    again = Library()
    assert conflicts(again, board_with(again))[0].key == found.key


@pytest.mark.parametrize(
    ("policy", "labels"),
    [
        (POLICY_TEXT, {"truth": Truth.REGULATORY}),
        (POLICY_TEXT, {"truth": Truth.REALITY}),
        (POLICY_TEXT, {"jurisdiction": "state:TX"}),
        (f"For example, {POLICY_TEXT[0].lower()}{POLICY_TEXT[1:]}", {}),
        ("Do employees report a data breach within 96 hours of finding it?", {}),
    ],
)
def test_the_same_truth_another_place_and_examples_are_never_compared(policy: str, labels: dict) -> None:
    library = Library()
    assert conflicts(library, board_with(library, policy, **labels)) == []


def test_different_years_are_no_conflict() -> None:
    library = Library()
    library.add("old.md", "In 2024 the deferral limit for each employee is $23,000.", truth=Truth.REGULATORY)
    library.add("new.md", "In 2025 the deferral limit for each employee is $23,500.", truth=Truth.REFERENCE)
    detector = Detector(library.catalogue, library.vectors, library.sparse, library.embedder)
    board = assess(
        detector, [Topic("deferral limit employee")], now=NOW, profile=PROFILE, terms=BUILT_IN_TERMS, timer=perf_counter
    )
    assert {cell.state.value for cell in board.cells} >= {"covered"}
    assert conflicts(library, board) == []


def test_a_pair_stands_under_the_topic_it_is_about_and_under_no_other() -> None:
    library = Library()
    records = "Personnel records must be kept for at least seven years after employment ends."
    library.add("law.pdf", f"{LAW_TEXT} {records}", truth=Truth.REGULATORY)
    library.add(
        "policy.md",
        f"{POLICY_TEXT} {records.replace('must be', 'are').replace('seven', '3')}",
        truth=Truth.COMPLIANCE,
    )
    detector = Detector(library.catalogue, library.vectors, library.sparse, library.embedder)
    board = assess(
        detector,
        [Topic("report a data breach"), Topic("personnel records kept")],
        now=NOW,
        profile=PROFILE,
        terms=BUILT_IN_TERMS,
        timer=perf_counter,
    )
    assert {(found.topic.name, found.second.text) for found in conflicts(library, board)} == {
        ("report a data breach", "within 96 hours"),
        ("personnel records kept", "at least 3 years"),
    }


def test_a_clause_and_its_exception_in_two_documents_are_no_conflict() -> None:
    clause = "The contractor shall indemnify the agency for its own negligence."
    exception = "The contractor shall not be required to indemnify the agency for the negligence of the agency."
    other = exception.replace("not be required to indemnify", "not indemnify")
    topic = [Topic("contractor shall indemnify agency for negligence")]

    def found(first: str, second: str) -> list:
        library = Library()
        library.add("tender.md", first, truth=Truth.REGULATORY)
        library.add("contract.md", second, truth=Truth.REFERENCE)
        detector = Detector(library.catalogue, library.vectors, library.sparse, library.embedder)
        board = assess(detector, topic, now=NOW, profile=PROFILE, terms=BUILT_IN_TERMS, timer=perf_counter)
        return conflicts(library, board)

    assert found(f"{clause} {other}", f"{clause} {other}") == []
    assert found(f"{clause} {exception}", f"{clause} {exception}") == []
    assert len(found(clause, f"{clause} {other}")) == 1
