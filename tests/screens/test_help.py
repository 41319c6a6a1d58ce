"""Help: the tour, the glossary, the keys and the guide."""

from pathlib import Path

import pytest

import sample
from core.knowledge.factors import factor_table
from core.knowledge.glossary import found_terms, glossary, meaning
from pages.components.help.guide import DOCUMENTS, in_app_links, sections_of
from pages.components.help.page_keys import keys_of
from pages.components.styles import CELLS, TRUTHS
from tests.screens.conftest import Opened, Stack, words

DOCS = Path(__file__).parents[2] / "docs"


def test_every_truth_state_of_a_cell_and_factor_is_explained() -> None:
    known = {each.term.casefold() for each in glossary().values()}
    text = [style.words for style in (*TRUTHS.values(), *CELLS.values())]
    text += [row.label for row in factor_table().rows.values()]
    assert not [each for each in text if each.casefold() not in known]


def test_a_term_is_found_by_another_word_for_it() -> None:
    assert [each.term for each in found_terms("sparse")] == ["By keyword"]
    assert found_terms("gap")[0].term == "Gap"
    assert meaning("gap") == glossary()["gap"].means


def test_the_glossary_is_searched_and_the_address_keeps_the_word(library: Stack, opened: Opened) -> None:
    screen = opened("help.py", view="glossary", term="krippendorff")
    assert "Agreement" in words(screen) and "Shortlist" not in words(screen)
    screen.text_input(key="term").set_value("no such term").run()
    assert "No term has these words" in words(screen)


def test_an_empty_library_takes_the_tour_from_its_first_step(library: Stack, opened: Opened) -> None:
    screen = opened("help.py")
    assert words(screen).count("Load the sample library first.") == 4
    assert [link.label for link in screen.page_link] == ["Open Home"]


def test_the_tour_leads_to_the_documents_of_the_sample_and_keeps_what_is_done(library: Stack, opened: Opened) -> None:
    for path in sample.files():
        library.workbench.documents.upload(path.name, path.read_bytes())
    screen = opened("help.py")
    (bar,) = screen.get("progress")
    assert bar.proto.text == "1 of 5 steps done"
    (link,) = [each for each in screen.page_link if "cited sentence" in each.label]
    assert "mark=" in link.proto.query_string and "id=" in link.proto.query_string
    screen.checkbox(key="tour.label").check().run()
    screen.switch_page("../settings.py").run()
    screen.switch_page("../help.py").run()
    assert screen.checkbox(key="tour.label").value is True


def test_question_mark_opens_the_keys_of_the_page(stocked: Stack, opened: Opened) -> None:
    screen = opened("tuning.py")
    screen.session_state["help.keys.asked"] = True
    screen.run()
    shown = " ".join(str(each.value.to_numpy().tolist()) for each in screen.table)
    assert "grade the result" in shown and "open the result in full" not in shown
    assert "All help" in [link.label for link in screen.page_link]


def test_keys_of_a_page_are_its_own_before_those_of_every_page() -> None:
    assert ("/", "find in the document") in keys_of("Document")
    assert [key for key, _ in keys_of("Document")].count("/") == 1
    assert [key for key, _ in keys_of("Data")] == ["/", "?"]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_document_of_the_guide_can_be_read(document: str, library: Stack, opened: Opened) -> None:
    sections = sections_of((DOCS / f"{document}.md").read_text("utf-8"))
    screen = opened("help.py", view="guide", doc=document, section=sections[-1].anchors[-1])
    assert f"### {sections[-1].title}" in words(screen)


def test_an_unknown_document_or_section_opens_the_guide_from_its_beginning(library: Stack, opened: Opened) -> None:
    assert "### Start" in words(opened("help.py", view="guide", doc="../../app", section="nonsense"))


def test_links_of_the_guide_stay_in_the_app() -> None:
    known = {name: sections_of((DOCS / f"{name}.md").read_text("utf-8")) for name in DOCUMENTS}
    for name in DOCUMENTS:
        linked = in_app_links((DOCS / f"{name}.md").read_text("utf-8"), name)
        for part in linked.split("](help?view=guide&doc=")[1:]:
            target, _, anchor = part.partition(")")[0].partition("&section=")
            assert not anchor or any(anchor in each.anchors for each in known[target]), (name, target, anchor)
