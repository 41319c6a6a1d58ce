"""The reading room: what is shown and marked, and addresses that name nothing."""

import pytest
from streamlit.testing.v1 import AppTest

from core.access.audit import AuditQuery
from core.domain.documents import Passage
from core.domain.errors import NotFound
from core.library.reading.text_marks import MarkKind
from pages.components.document.reader import moved, reader_data
from pages.components.document.state import ReadingPlace, mark_ids, open_document, place_from, shown
from tests.screens.conftest import Opened, Stack, words


def test_a_cited_sentence_is_marked_in_its_text(stocked: Stack) -> None:
    passage = _law(stocked)
    opened = open_document(ReadingPlace(passage.document_id, mark=f"{passage.id}.0"))
    assert opened.cited is not None
    text = opened.texts[opened.cited.page][opened.cited.start : opened.cited.end]
    assert text == passage.sentences[0].of(passage.text)
    place = ReadingPlace(passage.document_id, mark=f"{passage.id}.0")
    data = reader_data(opened, place, shown(opened, place), None)
    marked = "".join(run[0] for block in data["blocks"] for run in block.get("runs", []) if run[1] == MarkKind.CITED)
    assert " ".join(marked.split()) == " ".join(text.split())


def test_find_counts_the_hits_and_steps_round_them(stocked: Stack) -> None:
    document = _law(stocked).document_id
    opened = open_document(ReadingPlace(document))
    found = moved(opened, ReadingPlace(document), {"find": "section"})
    total = sum(text.lower().count("section") for text in opened.texts.values())
    assert (found.at, len(shown(opened, found).steps)) == (1, total)
    second = moved(opened, found, {"at": 2})
    assert (second.at, moved(opened, second, {"at": 2})) == (2, second), "a press told twice moves once"
    assert moved(opened, found, {"at": total + 1}).at == total
    assert reader_data(opened, found, shown(opened, found), None)["tally"] == f"1 of {total} hits"
    none = moved(opened, found, {"find": "zebra\0"})
    assert reader_data(opened, none, shown(opened, none), None)["tally"] == "Not found"


@pytest.mark.parametrize("page", [0, 1, 999])
def test_a_page_out_of_range_is_the_nearest(stocked: Stack, page: int) -> None:
    opened = open_document(ReadingPlace(_law(stocked).document_id, page=page))
    assert shown(opened, ReadingPlace(opened.document.id, page=page)).index == 0


@pytest.mark.parametrize("mark", ["foo", "1.x", ".", "-1", "99999", "99999.0"])
def test_a_mark_that_names_nothing_is_told_and_the_document_shown(stocked: Stack, opened: Opened, mark: str) -> None:
    screen = opened("document.py", id=str(_law(stocked).document_id), mark=mark)
    assert len(screen.warning) == 1 and "flsa" in _title(screen)


def test_a_mark_of_another_document_marks_nothing(stocked: Stack, opened: Opened) -> None:
    other = next(each.id for each in stocked.workbench.documents.list() if each.name == "overtime_policy.md")
    screen = opened("document.py", id=str(other), mark=str(_law(stocked).id))
    assert "in another document" in words(screen)


def test_opening_a_result_counts_for_its_question(stocked: Stack, opened: Opened) -> None:
    passage = _law(stocked)
    opened("document.py", id=str(passage.document_id), mark=str(passage.id), q="When is overtime paid?")
    stocked.workbench.usage.flush()
    assert (
        "When is overtime paid?" in stocked.workbench.usage.uses([passage.document_id])[passage.document_id].questions
    )


@pytest.mark.parametrize("number", ["", "x", "99999", "9" * 40])
def test_an_address_that_names_no_document_is_told(stocked: Stack, opened: Opened, number: str) -> None:
    screen = opened("document.py", id=number)
    assert len(screen.warning) == 1 and "Open Library" in words(screen)


def test_a_place_survives_its_address() -> None:
    place = ReadingPlace(12, 4, "42.3", "two words", 3, as_text=True)
    assert place_from(place.as_params()) == place
    with pytest.raises(NotFound):
        mark_ids("42.")


def _law(stocked: Stack) -> Passage:
    document = next(each for each in stocked.workbench.documents.list() if each.name == "flsa_section_207.md")
    return stocked.workbench.documents.passages(document.id)[0]


def _title(screen: AppTest) -> str:
    return str(screen.subheader[0].value)


def _reading() -> None:
    import streamlit as st

    from pages.components import session
    from pages.components.document.state import original

    first, second = session.workbench().documents.list()[:2]
    original(first)
    original(first)
    if "other" in st.session_state:
        original(second)


def test_a_file_is_read_and_recorded_once_for_each_opening(stocked: Stack) -> None:
    def recorded() -> int:
        return stocked.workbench.audit.page(AuditQuery(action="documents.original")).total

    screen = AppTest.from_function(_reading).run()
    screen.run()
    assert not screen.exception and recorded() == 1
    screen.session_state["other"] = True
    screen.run()
    assert recorded() == 2
