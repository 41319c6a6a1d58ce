"""The list beside the chosen result: its rows, what is chosen, and the five truths above it."""

from dataclasses import replace

from core.domain.documents import Truth
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.domain.results import SearchResult
from pages.components import cards
from pages.components.search.result_list import list_rows, strip_cells
from tests.screens.conftest import Opened, Stack, words

QUESTION = "When must overtime be paid at one and one-half times the regular rate?"


def found(library: Stack) -> SearchResult:
    return library.workbench.search.run(SearchRequest(QUESTION), remember=False)


def test_a_row_has_the_sentence_its_place_and_the_score_of_its_result(stocked: Stack) -> None:
    result = found(stocked)
    rows = list_rows(result, grouped=False, new=lambda hit: hit.rank == 2)
    assert [row["rank"] for row in rows] == list(range(1, len(result.hits) + 1))
    for row, hit in zip(rows, result.hits, strict=True):
        assert row["score"] == f"{hit.score.total:.3f}" and hit.candidate.passage.document_name == row["name"]
        assert 0 <= row["share"] <= 1 and ("new" in row["notes"]) == (hit.rank == 2)
    first = rows[0]["sentence"]
    assert any(requested and part.lower() == "overtime" for part, requested in first)
    assert "".join(part for part, _ in first) in " ".join(result.hits[0].citations[0].quote.split())


def test_words_that_the_question_writes_as_a_compound_stand_out_alone_too(stocked: Stack) -> None:
    result = stocked.workbench.search.run(SearchRequest("one-half overtime-rate"), remember=False)
    rows = list_rows(result, grouped=False, new=lambda hit: False)
    marked = {part.lower() for row in rows for part, requested in row["sentence"] if requested}
    assert {"one-half", "overtime", "rate"} <= marked


def test_a_row_keeps_the_page_or_the_rows_apart_from_the_names_that_may_be_cut(stocked: Stack) -> None:
    result = found(stocked)
    hit = result.hits[0]
    document = result.documents[hit.candidate.passage.document_id]

    def row(*, paged: bool, rows: tuple[int, int] | None = None) -> dict[str, object]:
        passage = replace(hit.candidate.passage, page=3, section="1 Pay › 1.2 Overtime", rows=rows)
        changed = replace(hit, candidate=replace(hit.candidate, passage=passage))
        known = result.documents | {document.id: replace(document, paged=paged)}
        return list_rows(replace(result, hits=(changed,), documents=known), grouped=False, new=lambda _: False)[0]

    places = [(each["number"], each["heading"]) for each in (row(paged=True), row(paged=False, rows=(3, 4)))]
    assert places == [("page 3", "1.2 Overtime"), ("rows 3–4", "")]
    assert (row(paged=False)["number"], row(paged=False)["heading"]) == ("", "1 Pay › 1.2 Overtime")


def test_grouped_rows_keep_every_result_and_name_each_document_once(stocked: Stack) -> None:
    stocked.add(
        "more.md", "# More\nOvertime is paid at one and one-half times the regular rate.\n\n# Rest\nRest days.\n"
    )
    result = found(stocked)
    rows = list_rows(result, grouped=True, new=lambda hit: False)
    assert sorted(row["rank"] for row in rows) == [hit.rank for hit in result.hits]
    documents = {hit.candidate.passage.id: hit.candidate.passage.document_id for hit in result.hits}
    order = [documents[row["id"]] for row in rows]
    heads = [documents[row["id"]] for row in rows if row["group"]]
    assert heads == list(dict.fromkeys(order)), "a head before each document, in the order of its best result"
    assert all(order[i] == order[i + 1] or rows[i + 1]["group"] for i in range(len(order) - 1))


def test_the_address_names_the_chosen_result_and_another_question_chooses_its_first(
    stocked: Stack, opened: Opened
) -> None:
    second = found(stocked).hits[1]
    screen = opened("search.py", q=QUESTION, passage=str(second.candidate.passage.id))
    assert "rank 2" in words(screen) and screen.query_params["passage"] == str(second.candidate.passage.id)
    screen.text_input(key="question").set_value("Who approves overtime?").run()
    assert "rank 1" in words(screen) and "passage" not in screen.query_params


def test_the_strip_says_of_every_truth_whether_it_answers(stocked: Stack) -> None:
    answer = stocked.workbench.answers.ask(QUESTION, filters=SearchFilters(), profile="")
    cells = strip_cells(answer)
    assert [cell["truth"] for cell in cells] == [truth.value for truth in Truth]
    assert any(cell["state"] == "answered" for cell in cells) and any(cell["state"] == "silent" for cell in cells)
    for cell, part in zip(cells, answer.truths, strict=True):
        if part.citations:
            assert cell["opens"] and cell["sentence"].rstrip("…") in " ".join(part.citations[0].quote.split())
        else:
            assert cell["state"] in ("silent", "failed", "not asked") or part.figures


def test_results_of_one_page_are_told_apart_by_their_headings(stocked: Stack) -> None:
    result = found(stocked)
    hit = result.hits[0]
    document = result.documents[hit.candidate.passage.document_id]
    paged = replace(document, paged=True)
    passage = replace(hit.candidate.passage, page=3, section="1 Pay › 1.2 Overtime", rows=None)
    assert cards.location(passage, paged) == "page 3" and cards.heading(passage, paged) == "1.2 Overtime"
    assert cards.heading(replace(passage, section="Page 3"), paged) == "", "a page's own number is no heading"
    assert cards.heading(passage, replace(document, paged=False)) == "", "its location is the heading already"
