"""Places of sentences: pages where a document has them, else sections, rows or paragraphs."""

from hypothesis import given
from hypothesis import strategies as st

from pages.components.citation_places import cited_place, paragraph_number, sentence_place
from tests.coverage.boards import citation
from tests.screens.conftest import Opened, Stack, words

NOTES = "# Notes\n\nThe first paragraph speaks of pay.\n\nThe second paragraph speaks of leave and of rest days.\n"


def test_a_citation_names_its_page_rows_or_section() -> None:
    assert cited_place(citation(page=5, section="Pay › Breaks")) == "page 5"
    assert cited_place(citation(page=None, rows=(3, 3))) == "row 3"
    assert cited_place(citation(page=None, rows=(3, 9))) == "rows 3–9"
    assert cited_place(citation(page=None, section="Pay › Breaks")) == "section Breaks"
    assert cited_place(citation(page=None)) == ""


def test_a_sentence_of_a_document_without_pages_is_in_a_paragraph(library: Stack) -> None:
    document = library.workbench.documents.get(library.add("notes.md", NOTES))
    text = library.workbench.documents.page(document.id, 1).text
    assert not document.paged
    assert sentence_place(document, 1, text.index("The second")) == "paragraph 3"
    assert sentence_place(None, 4, 0) == "page 4"


def test_versions_without_pages_are_compared_by_paragraph(library: Stack, opened: Opened) -> None:
    old = library.add("notes v1.md", NOTES)
    new = library.add("notes v2.md", NOTES.replace("of leave", "of sick leave"))
    library.workbench.versions.accept(old, new, "Ann")
    screen = opened("library.py", document=str(new))
    screen.segmented_control(key="library.view").set_value("Versions").run()
    text = words(screen)
    assert "paragraph 3" in text and "page 1" not in text


@given(st.lists(st.text("ab \n", min_size=1).filter(str.strip), min_size=1, max_size=6))
def test_paragraphs_are_counted_in_order(texts: list[str]) -> None:
    text = "\n\n".join(texts)
    numbers = [paragraph_number(text, place) for place in range(len(text))]
    assert numbers == sorted(numbers) and numbers[0] == 1
