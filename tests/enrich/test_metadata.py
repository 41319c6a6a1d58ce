"""Types of documents, legal citations and dates: tables of what is and is not told."""

from dataclasses import replace
from types import ModuleType

import pytest

from core.domain.documents import EvidenceSource
from core.domain.errors import BadTable
from core.knowledge import enrichment, temporal
from core.library.enrichment.metadata import find_citations, find_dates, find_document_type
from core.ner.legal_citations import CitationKind, cited
from core.ner.recognizer import entities_of
from tests.enrich.reading import POLICY, passages_of, read

TYPES = [
    (
        "Statement of Work: Harbour Crane",
        "The contractor shall deliver the crane. Deliverables are listed.",
        "statement_of_work",
    ),
    (
        "Request for Proposals 7",
        "Proposals must arrive by noon. Offerors shall state a price.",
        "request_for_proposals",
    ),
    ("Minutes of the steering group", "Attendees\nAnn, Bob\n\nDecisions\nThe crane is bought.", "meeting_notes"),
    ("Crane 4.2 release notes", "New features and bug fixes. The old lever is deprecated.", "release_notes"),
    ("Leave policy", POLICY, "policy"),
    ("Nondisclosure Agreement", "The parties agree. This agreement is under the governing law of Ohio.", "contract"),
    ("Crane Administrator Guide", "Click Settings and select the menu of the crane.", "vendor_guide"),
    ("Instructions for Form 77", "Enter the amount on line 7. Report the sum in box 3.", "form_instructions"),
    ("A walk by the sea", "We went out in the morning and came back at night.", None),
]


@pytest.mark.parametrize(("title", "text", "kind"), TYPES)
def test_a_document_is_of_this_type_and_says_why(title: str, text: str, kind: str | None) -> None:
    found = find_document_type(replace(read(text, title=title), truth=None))
    assert found.value == kind
    for each in found.evidence:
        assert each.value == kind and each.weight > 0
        if each.source is EvidenceSource.TEXT:
            assert each.quote in text


def test_a_table_is_one_of_data_or_of_set_up() -> None:
    reading = read("a")
    table = replace(reading, rows=("code: A", "code: B"), columns=("code",), computed=reading.sentences)
    assert find_document_type(table).value == "data_table"
    assert find_document_type(replace(table, setup=True)).value == "setup_table"


def test_laws_go_by_the_names_of_their_entities_and_are_counted() -> None:
    text = (
        "Pay is due under 29 U.S.C. § 207(a) and 29 C.F.R. § 778.113. As 29 USC 207 says, see Smith v. Jones,"
        " 45 F.3d 67 (9th Cir. 1999). The notice stands in 84 Fed. Reg. 51,230 of that year.\n"
    )
    results = find_citations(read(text)).citations
    assert [(each.name, each.kind, each.times) for each in results] == [
        ("29 U.S.C. § 207", CitationKind.STATUTE, 2),
        ("29 CFR 778.113", CitationKind.REGULATION, 1),
        ("45 F.3d 67", CitationKind.CASE, 1),
        ("84 FR 51230", CitationKind.REGISTER, 1),
    ]
    assert results[2].case == "Smith v. Jones"
    names = {entity.name for entities in entities_of(passages_of(text)) for entity in entities}
    assert {each.name for each in results[:3]} <= names


@pytest.mark.parametrize("text", ["", "Smith v. Jones", "$5 § of it", "10 S.W. 3 of the street", "page 12 U.S. 34"])
def test_no_law_is_made_up(text: str) -> None:
    assert all(text[each.start : each.end].strip() for each in cited(text))
    assert cited("The crane is 5 m high.") == ()


DATES = [
    ("The rule is effective January 31st, 2024 for all ports.", [("2024-01-31", "effective")]),
    ("Bids are due no later than 5 March 2024 at noon.", [("2024-03-05", "due")]),
    ("It was published on 27/06/2019 in the gazette.", [("2019-06-27", "published")]),
    ("The lease expires 2025-12-31.", [("2025-12-31", "ends")]),
    ("The port was built in March 1956.", [("1956-03", "")]),
    ("On 03/04/2019 or 31 June 2020 nothing was done.", []),
    ("There were 2024 cranes in 12 ports.", []),
]


@pytest.mark.parametrize(("text", "expected"), DATES)
def test_a_date_is_read_with_what_it_dates(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(each.date, each.what) for each in find_dates(read(text)).dates] == expected


def test_a_date_that_is_told_and_mentioned_is_listed_once_in_the_order_of_the_calendar() -> None:
    text = "The rule is effective May 1, 2024. Before May 1, 2024 the old one holds. It was issued on April 2, 2023."
    results = [(each.date, each.what) for each in find_dates(read(text)).dates]
    assert results == [("2023-04-02", "published"), ("2024-05-01", "effective")]


@pytest.mark.parametrize(
    ("module", "reader", "rows", "expected"),
    [
        (enrichment, "document_types", {"data_table": {"label": "x"}}, r"\[setup_table\] is missing"),
        (
            enrichment,
            "document_types",
            {"data_table": {"label": ""}, "setup_table": {"label": "x"}},
            "label is missing",
        ),
        (
            enrichment,
            "document_types",
            {"data_table": {"label": "x", "truths": ["gossip"]}, "setup_table": {"label": "x"}},
            "'gossip' is not a truth",
        ),
        (temporal, "dated_leads", {"leads": [{"what": "due", "pattern": "("}]}, "leads"),
        (
            enrichment,
            "summary_cues",
            {"lifts": [{"pattern": "a", "weight": -1.0, "rule": "x"}], "lowers": []},
            "weight",
        ),
    ],
)
def test_a_wrong_table_is_an_error_that_names_the_place(
    module: ModuleType, reader: str, rows: dict, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "table", lambda name: rows)
    getattr(module, reader).cache_clear()
    with pytest.raises(BadTable, match=expected):
        getattr(module, reader)()
    getattr(module, reader).cache_clear()
