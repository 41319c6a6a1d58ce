"""Links of a memory lead to their sentence, also after the document was read again, and say when it is gone."""

from dataclasses import replace

from core.domain.documents import Page
from core.insights.service import links_to, where
from tests.insights.office import Office


def test_a_cited_sentence_is_linked_as_it_stands_on_its_page() -> None:
    office = Office()
    hit, link = office.cited("When must employers deposit withheld income taxes?")
    page = office.library.catalogue.page(link.document_id, link.page)
    assert link.quote == page.text[link.start : link.end] == hit.citations[0].quote
    assert office.desk.where([link]) == {link: hit.candidate.passage.id}


def test_opened_passages_are_linked_once_in_the_order_they_were_opened() -> None:
    office = Office()
    links = links_to(office.library.catalogue, [3, 1, 3, 999])
    assert [link.passage_id for link in links] == [3, 1]
    for link in links:
        assert link.quote == office.library.catalogue.page(link.document_id, link.page).text[link.start : link.end]


def test_a_document_read_again_is_still_led_to_rather_on_the_same_page() -> None:
    office = Office()
    catalogue = office.library.catalogue
    (link,) = links_to(catalogue, [1])
    document, (first, second) = catalogue.document(link.document_id), catalogue.passages_of(link.document_id)
    again = catalogue.save_ingested(
        document, [Page(1, "moved"), Page(2, "x")], [replace(first, page=2), first, second], None
    )
    assert where(catalogue, [link]) == {link: again[1].id}


def test_what_is_gone_is_absent() -> None:
    office = Office()
    (link,) = links_to(office.library.catalogue, [1])
    office.library.catalogue.delete(link.document_id)
    assert office.desk.where([link, replace(link, document_id=999, passage_id=999)]) == {}
