"""From when a document holds: which of the dates it names are its own."""

import pytest

from core.domain.documents import EvidenceSource, Label, Page, Truth
from core.ingestion.classification.date_candidates import date_candidates
from core.ingestion.classification.date_reading import dates_in
from core.ingestion.classification.dates import effective_date_label
from core.ingestion.classification.linear_model import built_in_model
from core.ingestion.classification.sample import DocumentSample, read_for_classifying


def sampled(text: str, name: str = "paper.txt", title: str = "") -> DocumentSample:
    return read_for_classifying(name, title, [Page(1, text)], {})


def dated(text: str, truth: Truth = Truth.COMPLIANCE, language: str = "en") -> Label:
    return effective_date_label(sampled(text), Label(truth, 0.9), Label(language, 1.0), built_in_model())


STATED = [
    ("# Rules on leave\n\nEffective date: 2 May 2018\n\nEmployees ask for leave in writing.", "en", "2018-05-02"),
    ("# Handbuch der Werkstatt\n\nStand: 3. März 2022\n\nWerkzeug wird abends gezählt.", "de", "2022-03-03"),
    (
        "Minutes of the council meeting\nMarch 4, 2015\n\nPresent: three. The budget was agreed.",
        "en",
        "2015-03-04",
    ),
    ("---\ntitle: Privacy\nlast_updated: 2021-06-01\n---\n\n# Privacy policy\nWe keep little.", "en", "2021-06-01"),
]
UNSTATED = [
    ("The law was passed in 1938 and changed in 1974 after long debates in both houses.", "en"),
    ("day: 2020-02-01; count: 7\nday: 2020-02-02; count: 9\nday: 2020-02-03; count: 4", "en"),
    ("A plan without a day.", "en"),
]


@pytest.mark.parametrize(("text", "language", "expected"), STATED)
def test_a_date_that_the_text_gives_itself_is_its_own(text: str, language: str, expected: str) -> None:
    label = dated(text, Truth.COMPLIANCE, language)
    assert label.value == expected
    assert label.evidence[0].quote in text


@pytest.mark.parametrize(("text", "language"), UNSTATED)
def test_dates_of_other_things_are_not_the_document_s_own(text: str, language: str) -> None:
    assert dated(text, Truth.REALITY, language).value is None


OTHER_THINGS = [
    "The bridge of the village was opened on 4 May 2020 and is long and wide.",
    "Please send your offer by 4 May 2020. We decide in June.",
    "Employees hired before 4 May 2020 keep the old plan. All others join the new one.",
    "Our company was founded on 4 May 2020 and sells bicycles to everybody.",
    "She was born on 4 May 2020 in Oslo.",
    "Please reply by 4 May 2020.",
    "Submit your timesheet by 4 May 2020.",
    "The training is on 4 May 2020.",
    "Due date: 4 May 2020",
    "Closing date: 4 May 2020",
    "Deadline for proposals: 4 May 2020",
    "Applications close on 4 May 2020.",
    "Return the signed form by 4 May 2020.",
]
OWN = [
    "Published 4 May 2020. This guide tells how to fire clay.",
    "Effective 4 May 2020. Staff ask their manager for leave.",
    "Travel policy\nVersion of 4 May 2020\nStaff ask first.",
    "Leave policy, last updated 4 May 2020. Staff ask first.",
    "This agreement enters into force on 4 May 2020.",
    "Memo\nDate: 4 May 2020\nTo: all staff\nThe canteen is closed.",
    "Minutes of 4 May 2020\nPresent: three.",
    "Rev. 3, 4 May 2020\nOperating manual",
]


@pytest.mark.parametrize("truth", [Truth.COMPLIANCE, Truth.INTENT])
def test_most_notes_of_one_date_tell_whether_it_is_their_own(truth: Truth) -> None:
    """The weights were fitted on other documents. These notes only count: "Due date" is hard to tell from "Date"."""
    assert sum(dated(text, truth).value is None for text in OTHER_THINGS) / len(OTHER_THINGS) >= 0.6
    assert sum(dated(text, truth).value is not None for text in OWN) / len(OWN) >= 0.7


def test_a_date_that_is_not_certain_enough_is_named_with_its_reason() -> None:
    label = dated(OTHER_THINGS[0], Truth.COMPLIANCE)
    assert label.value is None
    assert "4 May 2020" in label.reason


def test_months_are_read_in_the_language_of_the_text() -> None:
    found = [each.iso for each in dates_in("z dnia 5 marca 2021 r.", language="pl")]
    assert found == ["2021-03-05"]
    assert [each.iso for each in dates_in("z dnia 5 marca 2021 r.")] == ["2021"]


def test_a_date_with_a_time_keeps_its_day() -> None:
    assert [each.iso for each in dates_in('"published": "2021-10-22T00:00:00Z"')] == ["2021-10-22"]


def test_figures_are_read_in_the_order_the_text_writes_them() -> None:
    def first(text: str, language: str = "en") -> str:
        return date_candidates(sampled(text), Label(), language)[0][0].value

    assert first("Date posted: 07/02/2019\nFor pay of £23,000 and under.") == "2019-02-07"
    assert first("Date posted: 07/02/2019\nFor pay of $23,000 and under.") == "2019-07-02"
    assert first("Date posted: 07/02/2019\nThe last day is 28/02/2019.") == "2019-02-07"
    assert first("Fecha: 07/02/2019", "es") == "2019-02-07"
    assert first("---\nms.date: 07/02/2019\n---\nGuía", "es") == "2019-07-02"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("plan_20230617.txt", ["2023-06-17"]), ("plan_2021_05.txt", ["2021-05", "2021"]), ("form-2056.txt", [])],
)
def test_a_file_name_gives_its_date_and_no_number(name: str, expected: list[str]) -> None:
    candidates, _ = date_candidates(sampled("A plan without a day.", name), Label(), "en")
    assert [each.value for each in candidates] == expected
    assert all(each.source is EvidenceSource.NAME for each in candidates)


def test_a_title_made_of_the_file_name_counts_as_the_name() -> None:
    own, _ = date_candidates(sampled("Notes", "memo.txt", "Plan for 2014"), Label(), "en")
    copied, _ = date_candidates(sampled("Notes", "memo_815_2014.txt", "memo 815 2014"), Label(), "en")
    assert [each.source for each in own] == [EvidenceSource.METADATA]
    assert [each.source for each in copied] == [EvidenceSource.NAME]
