"""From when a document holds: which of the dates it names are its own."""

import pytest

from core.domain.documents import Label, Page, Truth
from core.ingestion.classification.dates import date_candidate, effective_date_label
from core.ingestion.classification.linear_model import built_in_model
from core.ingestion.classification.sample import read_for_classifying


def dated(text: str, name: str = "paper.txt", title: str = "", truth: str = Truth.COMPLIANCE) -> str | None:
    """The date that most likely is the document's own, whether or not it is certain enough."""
    best = date_candidate(read_for_classifying(name, title, [Page(1, text)], {}), Label(truth, 0.9))
    return best.evidence.value if best else None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Work at night\nThese rules come into force on 2 May 2018 and end those of 1 May 2001.", "2018-05-02"),
        ("---\nentry_into_force: 2021-06-01\n---\nDecree on care", "2021-06-01"),
        ("The law was passed in 1938 and changed in 1974 after long debates in both houses.", None),
        ("A plan without a day.", None),
    ],
)
def test_only_a_date_that_the_text_says_is_its_own_counts(text: str, expected: str | None) -> None:
    sample = read_for_classifying("paper.txt", "", [Page(1, text)], {})
    assert effective_date_label(sample, Label(Truth.REGULATORY, 0.9), built_in_model()).value == expected


def test_a_date_that_is_not_certain_enough_is_named_with_its_reason() -> None:
    sample = read_for_classifying("paper.txt", "", [Page(1, "A plan.")], {"modified": "2020-05-04"})
    label = effective_date_label(sample, Label(Truth.REFERENCE, 0.9), built_in_model())
    assert label.value is None
    assert "“2020-05-04” (file metadata: modified)" in label.reason


HISTORIES = [
    ("§ 4-2 Purchasing.\nOrders need a form.\n(Ord. 12, 3-4-99; Am. Ord. 40, passed 5-6-2011)", "2011-05-06"),
    ("§ 9 Payday.\nWages are due monthly.\n[Amended by 1971 c.12 §1; 2009 c.80 §2]", "2009"),
    ("Privacy law\nConsolidated to 29 May 1997\nAn Act about personal records", "1997-05-29"),
    ("Rules on overtime\nCurrent through Register Vol. 3, June 2, 2021\nPay is due for it.", "2021-06-02"),
]
NUMBERED = [
    ("[ Circular No. 17, May 3, 1990 ]\nLeave shall be approved in advance.", "1990-05-03"),
    ("ABC 1234-07R 2003\nThis booklet is about machines.", "2003"),
    ("Machine safety rules\n(Revised 8/05)\nEmployees must lock the switch.", "2005-08"),
]
OF_SEVERAL = [
    (
        "Springfield, the 4th March, 2015\nThe rules of 1975 were published in the Gazette dated the 6th "
        "September, 1975 and shall be amended.",
        "2015-03-04",
    ),
    ("This amendment is made as of June 1, 2024. The rate is $95 effective July 1, 2024.", "2024-06-01"),
    ("May 2, 2018\nCall for offers\nDue date: 6/18/2018\nTentative start date: 7/25/18", "2018-05-02"),
    ("Acceptable use\nMay 2022\nDate Approved: 5 March 2021\nReview Date: June 2023", "2022-05"),
    ("Work at night\nThese rules come into force on 2 May 2018 and end those of 1 May 2001.", "2018-05-02"),
    ("Posted: 3 June 2019\nThe new rates apply from: 1 July 2019", "2019-07-01"),
]
STAMPED = [
    ("Wage notice\nNotice last revised: April 2023 (do not use the one of August 2016).", "2023-04"),
    ("From: Office\nSent: Thu, 25 Jan 2007\nPlease plan your vacation.", "2007-01-25"),
    ("| **Valid From** | 2026-01-13 |\n| **Valid To** | 2027-01-13 |", "2026-01-13"),
    ("---\nentry_into_force: 2021-06-01\n---\nDecree on care", "2021-06-01"),
]


@pytest.mark.parametrize(("text", "expected"), [*HISTORIES, *NUMBERED, *OF_SEVERAL, *STAMPED])
def test_of_several_dates_the_document_has_its_own(text: str, expected: str) -> None:
    assert dated(text) == expected


def test_figures_are_read_in_the_order_the_text_writes_them() -> None:
    assert dated("Date posted: 07/02/2019\nFor pay of £23,000 and under.") == "2019-02-07"
    assert dated("Date posted: 07/02/2019\nFor pay of $23,000 and under.") == "2019-07-02"
    assert dated("Date posted: 07/02/2019\nThe last day is 28/02/2019.") == "2019-02-07"


def test_literature_is_dated_by_its_heading_and_not_by_the_rules_it_tells_of() -> None:
    told = "The salary test of the rule effective August 23, 2004 is a first step for many of us who write about it."
    assert (
        dated("Duties checklist – Effective August 23, 2004\nAsk each manager.", truth=Truth.REFERENCE) == "2004-08-23"
    )
    long = "A word about managers and what they do all day long, with their own hands or with those of others. " * 4
    assert dated(long + told, truth=Truth.REFERENCE) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [("plan_20230617.txt", "2023-06-17"), ("plan_2021_05.txt", "2021-05"), ("form-2056.txt", None)],
)
def test_a_file_name_gives_its_date_and_no_number(name: str, expected: str | None) -> None:
    assert dated("A plan without a day.", name) == expected


def test_a_title_made_of_the_file_name_counts_as_the_name() -> None:
    assert dated("Notes of May 4, 2015\nTo all units", "memo_815_2014.txt", "memo 815 2014") == "2015-05-04"
    assert dated("Notes of May 4, 2015\nTo all units", "memo.txt", "Plan for 2014") == "2014"
