"""Home: an empty library says what to do; a filled one says what is in it and what needs a look."""

from dataclasses import replace

import pytest

from core.domain.coverage import ReviewerOpinion, ReviewVerdict, Topic
from core.domain.documents import DocumentState, Truth
from core.domain.errors import BadRequest
from core.domain.queries import SearchRequest
from core.table_qa.service import TableService
from pages.components.wording import plain
from tests.screens.conftest import LAW, Opened, Stack, words

PEOPLE = "employee_id,plan\nE1,MED\nE2,DEN\nE3,MED\nE4,MED\n"


def test_an_empty_library_explains_the_five_truths_and_offers_the_sample(library: Stack, opened: Opened) -> None:
    home = opened("home.py")
    text = words(home)
    assert "Load the sample library" in [button.label for button in home.button]
    for question in ("What does the law require?", "What do our own rules say?", "What does the customer want?"):
        assert question in text


def test_one_click_loads_the_sample_library_with_every_truth(library: Stack, opened: Opened) -> None:
    home = opened("home.py")
    next(each for each in home.button if each.label == "Load the sample library").click().run(timeout=120)
    documents = library.workbench.documents.list()
    assert len(documents) >= 10
    assert {each.state for each in documents} == {DocumentState.READY}
    assert not home.exception and not home.error
    assert f"{len(documents)} documents" in words(home)


def test_a_question_on_home_is_asked_on_search(stocked: Stack, opened: Opened) -> None:
    home = opened("home.py")
    home.text_input(key="home.question").set_value("When must overtime be approved?").run()
    assert home.query_params["q"] == "When must overtime be approved?"
    assert home.title[0].value == "Search"


def test_files_dropped_on_home_are_uploaded_and_shown_on_upload(library: Stack, opened: Opened) -> None:
    home = opened("home.py")
    home.file_uploader[0].set_value([("law.md", LAW.encode(), "text/markdown")]).run()
    assert [each.name for each in library.workbench.documents.list()] == ["law.md"]
    assert home.title[0].value == "Upload" and "1 file uploaded" in home.success[0].value


def test_failed_files_and_uncertain_labels_link_to_their_lists(stocked: Stack, opened: Opened) -> None:
    stocked.add("broken.pdf", "%PDF-1.7 this is no document")
    links = {each.proto.label: each.proto.query_string for each in opened("home.py").get("page_link")}
    assert links["1 failed file"] == "show=failed"
    assert any(label.endswith(("uncertain label", "uncertain labels")) for label in links)


def test_a_failed_file_needs_attention_and_says_why(stocked: Stack, opened: Opened) -> None:
    stocked.add("broken.pdf", "%PDF-1.7 this is no document")
    text = words(opened("home.py"))
    failed = next(each for each in stocked.workbench.documents.list() if each.state is DocumentState.FAILED)
    assert "broken" in text and failed.failure.split("'")[-1].strip().rstrip(".")[:12] in text.replace("\\", "")


def test_a_failed_file_says_what_to_do_about_it(library: Stack, opened: Opened) -> None:
    failed = library.workbench.documents.get(library.add("broken.pdf", "%PDF-1.7 this is no document"))
    assert failed.remedy and plain(failed.remedy) in words(opened("home.py"))


def test_files_that_are_still_to_be_read_are_not_said_to_be_in_order(library: Stack, opened: Opened) -> None:
    library.jobs.run = lambda document_id: None
    library.add("later.md", "# Later\nThis one waits for its turn.")
    text = words(opened("home.py"))
    assert "1 file still to be read" in text and "Every file was read" not in text


def test_the_last_searches_lead_back_to_search_with_questions_of_a_common_length_whole(
    stocked: Stack, opened: Opened
) -> None:
    question = "When must overtime be paid at one and one-half times the regular rate?"
    found = words(opened("search.py", q=question))
    assert plain(question) in words(opened("home.py"))
    # Beside the question, the number of results that Search said: its five truths cite fewer passages.
    ((searched, results, _),) = stocked.workbench.search.recent(5)
    assert searched == question and f"{results} results" in found
    assert f"{results} results" in words(opened("home.py"))


def test_the_last_searches_can_be_cleared(stocked: Stack, opened: Opened) -> None:
    question = "When must overtime be paid?"
    stocked.workbench.search.run(SearchRequest(question))
    page = opened("home.py")
    assert plain(question) in words(page)
    page.button(key="home.clear_searches").click().run()
    assert plain(question) not in words(page) and "No searches yet" in words(page)
    assert not [each for each in page.button if each.key == "home.clear_searches"]


def test_the_documents_used_last_are_at_hand(stocked: Stack, opened: Opened) -> None:
    first, second = list(stocked.workbench.documents.list())[:2]
    before = words(opened("home.py"))
    stocked.workbench.usage.document_opened(first.id)
    stocked.workbench.usage.of_document(first.id)  # waits until it is written
    shown = words(opened("home.py"))
    assert shown.count(plain(first.name)) == before.count(plain(first.name)) + 1
    assert shown.count(plain(second.name)) == before.count(plain(second.name))


def test_a_library_that_does_not_open_is_an_error_that_says_what_to_do(
    library: Stack, opened: Opened, monkeypatch
) -> None:
    import streamlit as st

    import bootstrap.workbench
    from core.domain.errors import StoreFailed

    def closed(*_: object) -> None:
        raise StoreFailed("The database does not start.", "Free some disk space.")

    st.cache_resource.clear()
    monkeypatch.setattr(bootstrap.workbench, "open_workbench", closed)
    home = opened("home.py")
    assert "The database does not start" in home.error[0].value and "Free some disk space" in home.error[0].value


def test_accepted_cells_whose_sentence_changed_need_attention(stocked: Stack, opened: Opened) -> None:
    desk = stocked.workbench.coverage
    desk.add_topics([Topic("overtime approved in writing")])
    desk.runs.carry_out(desk.runs.start(None).id)
    board = desk.board(None)
    assert board is not None
    cell = board.cell("overtime approved in writing", Truth.COMPLIANCE)
    desk.decide(board, cell, ReviewerOpinion(ReviewVerdict.ACCEPTED, "Ann"))
    assert "on sentences that" not in words(opened("home.py"))
    stocked.workbench.documents.delete(
        next(each.id for each in stocked.workbench.documents.list() if "overtime" in each.name)
    )
    assert "1 accepted cell of the coverage board rests on sentences" in words(opened("home.py"))
    desk.change_topics([replace(desk.topics(None)[0], retired=True)])
    assert "on sentences that" not in words(opened("home.py"))  # no board has it any more


def test_accepted_cells_of_a_project_whose_sentence_changed_lead_to_its_board(stocked: Stack, opened: Opened) -> None:
    desk = stocked.workbench.coverage
    desk.add_topics([Topic("overtime approved in writing", project="Tallgrass")])
    desk.runs.carry_out(desk.runs.start("Tallgrass").id)
    board = desk.board("Tallgrass")
    assert board is not None
    cell = board.cell("overtime approved in writing", Truth.COMPLIANCE)
    desk.decide(board, cell, ReviewerOpinion(ReviewVerdict.ACCEPTED, "Ann"))
    stocked.workbench.documents.delete(cell.evidence[0].document_id)
    links = {each.proto.label: each.proto.query_string for each in opened("home.py").get("page_link")}
    assert (
        links["1 accepted cell of the board of Tallgrass rests on sentences that have changed"]
        == "view=Review&project=Tallgrass"
    )


def test_rows_that_were_not_read_and_codes_nobody_configured_need_attention(library: Stack, opened: Opened) -> None:
    plans = library.add("plans.csv", "plan,description\nMED,Medical plan\nDEN,Dental plan\nVIS,Vision plan\n")
    people = library.add("people.csv", PEOPLE + "E5,OLD\nE6\n")
    for number in (plans, people):
        library.workbench.documents.correct(number, "truth", "reality")
    text = words(opened("home.py")).replace("\\", "")
    assert "1 row of people could not be read" in text
    assert "1 code of people.plan is used but not configured" in text
    library.workbench.documents.delete(people)
    text = words(opened("home.py"))
    assert "could not be read" not in text and "not configured" not in text


def test_tables_that_cannot_be_compared_take_nothing_else_along(
    stocked: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(self: TableService, project: str | None = None) -> None:
        raise BadRequest("This took longer than 10 seconds.", "Ask for less.")

    monkeypatch.setattr(TableService, "configured_vs_used", slow)
    home = opened("home.py")
    assert "This took longer" in home.warning[0].value
    assert "Your last searches" in words(home) and "Every file was read" not in words(home)
