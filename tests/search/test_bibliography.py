"""The citations of a result together: chosen, as data, and each document once with what is cited of it."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.documents import Document, DocumentState, SourceType, Truth
from core.domain.queries import SearchRequest
from core.domain.results import Citation
from core.search.citations.bibliography import (
    bibliography,
    chosen,
    citations_data,
    inline,
    result_citations,
    source_data,
)
from core.search.citations.cite import CitationStyle
from tests.search.library import NOW, payroll_library

BARE = Citation(
    citation_id="1.0",
    passage_id=1,
    sentence_index=0,
    document_id=1,
    document_name="IRS_Pub_15.pdf",
    sha256="ab" * 32,
    page=5,
    page_number=5,
    section="Deposits",
    start=0,
    end=21,
    quote="Deposits are monthly.",
    truth=Truth.REGULATORY,
    authority="government",
    jurisdiction="federal",
    date=datetime(2025, 12, 1, tzinfo=UTC),
    relevance=0.9,
    title="Circular E",
    url="https://irs.gov/p15",
    source_type=SourceType.WEB,
)
DOCUMENT = Document(1, "IRS_Pub_15.pdf", "ab" * 32, 10, DocumentState.READY, NOW, paged=True, title="Circular E")


def cited(passage: int, *, document: int = 1, page: int | None = 5, truth: Truth | None = Truth.REGULATORY) -> Citation:
    return replace(
        BARE,
        citation_id=f"{passage}.0",
        passage_id=passage,
        document_id=document,
        document_name=f"paper {document}.pdf",
        page=page,
        truth=truth,
    )


citations = st.lists(
    st.builds(
        cited,
        st.integers(1, 9),
        document=st.integers(1, 4),
        page=st.one_of(st.none(), st.integers(1, 30)),
        truth=st.one_of(st.none(), st.sampled_from(Truth)),
    ),
    max_size=25,
)


@given(stored=citations)
def test_every_citation_stands_under_exactly_one_source_and_every_document_once(stored: list[Citation]) -> None:
    sources = bibliography(stored, {})
    assert [each.number for each in sources] == list(range(1, len(sources) + 1))
    assert [each.document_id for each in sources] == list(dict.fromkeys(each.document_id for each in stored))
    for each in stored:
        (source,) = [source for source in sources if source.document_id == each.document_id]
        assert each.citation_id in source.citation_ids
        assert each.page is None or each.page in source.pages


@given(stored=citations, truths=st.sets(st.sampled_from(Truth)), most=st.one_of(st.none(), st.integers(0, 9)))
def test_choosing_keeps_the_order_and_only_what_is_wanted(
    stored: list[Citation], truths: set[Truth], most: int | None
) -> None:
    retained = chosen(stored, truths=truths, most=most, one_per_passage=True)
    assert len(retained) <= (len(stored) if most is None else most)
    assert len({each.passage_id for each in retained}) == len(retained)
    assert all(not truths or each.truth in truths for each in retained)
    places = [next(at for at, each in enumerate(stored) if each is one) for one in retained]
    assert places == sorted(places)


def test_a_negative_number_of_citations_is_refused() -> None:
    with pytest.raises(ValueError, match="most must be 0 or more"):
        chosen([BARE], most=-1)


def test_authorities_choose_too() -> None:
    vendor = replace(BARE, authority="vendor")
    assert chosen([BARE, vendor], authorities=["vendor"]) == (vendor,)


@pytest.mark.parametrize(
    ("pages", "expected"),
    [
        ([5], "Government. IRS_Pub_15.pdf. Page 5."),
        ([9, 5, 7, 8, 5], "Government. IRS_Pub_15.pdf. Pages 5, 7–9."),
        ([None], "Government. IRS_Pub_15.pdf."),
    ],
)
def test_a_source_names_the_pages_cited(pages: list[int | None], expected: str) -> None:
    (source,) = bibliography([replace(BARE, page=page) for page in pages], {1: DOCUMENT})
    assert source.written == expected
    assert source.title == "Circular E"


def test_a_table_is_cited_by_its_rows() -> None:
    table = replace(BARE, document_name="employees.csv", page=None, authority=None)
    (source,) = bibliography([replace(table, rows=(12, 14)), replace(table, rows=(15, 15))], {})
    assert source.written == "employees.csv. Rows 12–15."


def test_an_inline_citation_is_the_sentence_and_its_place() -> None:
    assert inline(BARE) == "“Deposits are monthly.” [IRS_Pub_15.pdf, p.5]"


def test_citations_as_json_hold_everything_known_of_them_and_every_style() -> None:
    (data,) = json.loads(json.dumps(citations_data([BARE])))
    assert (data["citation_id"], data["passage_id"], data["sentence_index"]) == ("1.0", 1, 0)
    assert (data["truth"], data["authority"], data["jurisdiction"]) == ("regulatory", "government", "federal")
    assert data["sha256"] == BARE.sha256
    assert data["date"] == "2025-12-01T00:00:00+00:00"
    assert (data["title"], data["url"], data["source_type"]) == ("Circular E", "https://irs.gov/p15", "web")
    assert data["written"]["markdown"] == "[Circular E](https://irs.gov/p15)"
    assert set(data["written"]) == set(CitationStyle)
    assert data["written"]["full"] == "[IRS_Pub_15.pdf, p.5] (government)"
    assert json.loads(json.dumps(source_data(bibliography([BARE], {1: DOCUMENT})[0])))["pages"] == [5]


def test_the_citations_of_a_result_come_hit_by_hit() -> None:
    request = SearchRequest("When must employers deposit withheld income taxes?")
    result = payroll_library().searcher.search(request, NOW)
    together = result_citations(result)
    assert [each.citation_id for each in together] == [c.citation_id for hit in result.hits for c in hit.citations]
    assert bibliography(together, result.documents)[0].name == "pub.pdf"
