"""Closer to a result: more like this, what was collapsed into it, two side by side, and more results."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from core.domain.errors import StoreFailed
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.domain.results import Hit
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from core.search.explanation import compare
from core.search.retrieval.similar import SimilarPassage
from pages.components import session
from pages.components.search import five_truths, result_list
from pages.components.search.compare import (
    choose_other,
    compare_with_best,
    comparison_bars,
    comparison_params,
    draw_comparison,
)
from pages.components.search.result_pane import draw_collapsed, more_like_this
from pages.components.urls import request_from
from pages.components.wording import highlight
from tests.screens.conftest import LAW, Opened, Stack, words

QUESTION = "When must overtime be paid at one and one-half times the regular rate?"
OTHER = """# Paying overtime
Pay overtime at one and one-half times the regular rate from the first hour beyond forty in a week.
"""


def text_of(screen: AppTest) -> str:
    return words(screen).replace("\\", "")


def found(library: Stack) -> list[Hit]:
    return list(library.workbench.search.run(SearchRequest(QUESTION), remember=False).hits)


# More like this


@pytest.fixture
def beside(stocked: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """The Search page that draws a part for each result."""
    stocked.add("guide.md", OTHER)

    def drawn(part: Callable[..., None], **params: str) -> AppTest:
        monkeypatch.setattr(result_list, "_two_panes", lambda result: [part(hit, result) for hit in result.hits])
        return opened("search.py", q=QUESTION, **params)

    return drawn


def test_what_is_like_a_result_is_looked_for_only_when_asked(stocked: Stack, beside: Callable[..., AppTest]) -> None:
    requests: list[tuple[int, SearchFilters]] = []

    def find(passage_id: int, filters: SearchFilters) -> Sequence[SimilarPassage]:
        requests.append((passage_id, filters))
        other = next(hit for hit in found(stocked) if hit.candidate.passage.id != passage_id)
        return [SimilarPassage(other.candidate.passage, 0.81, ("overtime", "regular"), 0.5)]

    screen = beside(lambda hit, result: more_like_this(hit, result, find))
    assert not requests
    first = found(stocked)[0].candidate.passage.id
    screen.session_state[f"similar.{first}"] = True
    screen.run()
    assert [passage_id for passage_id, _ in requests] == [first]
    assert "nearness 0.72 · cosine 0.81 · shares overtime, regular" in text_of(screen)
    assert "Search for its sentence" in text_of(screen)


def test_a_note_that_is_like_a_result_looks_like_a_note(stocked: Stack, beside: Callable[..., AppTest]) -> None:
    insight = stocked.workbench.insights.save("Overtime at the regular rate was promised by phone.")
    note = stocked.workbench.documents.passages(insight.document_id)[0]
    screen = beside(lambda hit, result: more_like_this(hit, result, lambda *_: [SimilarPassage(note, 0.8, (), 0.5)]))
    screen.session_state[f"similar.{found(stocked)[0].candidate.passage.id}"] = True
    drawn = str([each.proto for each in screen.run().markdown])
    assert "Insight" in drawn and "Unknown" not in drawn


def test_a_store_that_fails_is_told_in_the_box(stocked: Stack, beside: Callable[..., AppTest]) -> None:
    def find(passage_id: int, filters: SearchFilters) -> Sequence[SimilarPassage]:
        raise StoreFailed("The database went away.", "Start it again.")

    screen = beside(lambda hit, result: more_like_this(hit, result, find))
    screen.session_state[f"similar.{found(stocked)[0].candidate.passage.id}"] = True
    assert "The database went away" in screen.run().error[0].value


# Collapsed


def test_the_passages_behind_a_result_are_named_with_what_they_say_otherwise(
    stocked: Stack, beside: Callable[..., AppTest]
) -> None:
    long = LAW.replace("forty", "forty or as many as the state may say by an act of its own legislature")
    stocked.add("act_2019.md", long)
    stocked.add("act_2021.md", long.replace("216.", "217."))
    screen = beside(lambda hit, result: draw_collapsed(hit, result, BUILT_IN_TERMS))
    hit = next(each for each in found(stocked) if each.similar)
    assert f"collapsed.{hit.candidate.passage.id}" in screen.session_state
    screen.session_state[f"collapsed.{hit.candidate.passage.id}"] = True
    screen.run()
    names = {"act_2019.md", "act_2021.md"} - {hit.candidate.passage.document_name}
    assert any(name in text_of(screen) for name in names) and "1 word differs: 21" in text_of(screen)


# Side by side


@pytest.fixture
def compared(stocked: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """The Search page with the comparison of the first result where the five truths stand."""
    stocked.add("guide.md", OTHER)

    def draw(request: SearchRequest) -> None:
        result = session.answer(replace(request, top_k=most[0]))
        first = result.hits[0].candidate.passage.id
        other = choose_other(result, first)
        if other is not None:
            draw_comparison(result, first, other)

    def compared(top: int | None = None) -> AppTest:
        most.append(top)
        return opened("search.py", q=QUESTION, view="five")

    most: list[int | None] = []
    monkeypatch.setattr(five_truths, "draw_five_truths", draw)
    return compared


def test_two_results_say_which_is_ahead_and_by_what(stocked: Stack, compared: Callable[..., AppTest]) -> None:
    screen = compared()
    hits = found(stocked)
    versus = compare(
        stocked.workbench.search.run(SearchRequest(QUESTION), remember=False),
        *(hit.candidate.passage.id for hit in hits[:2]),
    )
    left, right = (float(f"{side.score.total:.3f}") for side in (versus.left, versus.right))
    assert f"is ahead by {left - right:.3f}" in text_of(screen)  # of the totals as they are shown
    assert all(part.label in str(screen.table[0].value) for part in versus.parts)
    assert all(hit.candidate.passage.document_name in text_of(screen) for hit in hits[:2])


def test_the_other_one_can_be_chosen_also_among_those_not_shown(
    stocked: Stack, compared: Callable[..., AppTest]
) -> None:
    screen = compared(top=1)
    assert all("not shown" in each for each in screen.selectbox(key="versus.other").options)
    last = screen.selectbox(key="versus.other").options[-1]
    screen.selectbox(key="versus.other").select_index(len(screen.selectbox(key="versus.other").options) - 1).run()
    assert last.removeprefix("not shown · ").split(",")[0] in text_of(screen) and "beyond max" in text_of(screen)


def test_the_heads_of_two_long_names_keep_their_ends_and_their_places(
    library: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text, end in ((LAW, "in_force"), (OTHER, "repealed")):
        library.add(f"Agreement_on_overtime_of_all_subsidiaries_in_the_northern_region_{end}.md", text)

    def draw(request: SearchRequest) -> None:
        result = session.answer(request)
        draw_comparison(result, *(hit.candidate.passage.id for hit in result.hits[:2]))

    monkeypatch.setattr(five_truths, "draw_five_truths", draw)
    (table,) = opened("search.py", q=QUESTION, view="five").table
    heads = [head.replace("\\", "") for head in table.value.columns][1:3]
    assert {head.partition(",")[0] for head in heads} == {
        "Agreement_on_o…on_in_force.md",
        "Agreement_on_o…on_repealed.md",
    }
    assert {head.partition(", ")[2] for head in heads} == {"Fair Lab…tion 207", "Paying overtime"}


def test_a_comparison_has_a_url_of_its_own() -> None:
    params = comparison_params(SearchRequest(QUESTION), 7, 9)
    assert (params["passage"], params["with"], params["view"]) == (["7"], ["9"], ["Compare"])
    assert request_from(params) == SearchRequest(QUESTION)


def test_every_result_is_compared_with_the_first_and_the_first_with_the_second(
    stocked: Stack, beside: Callable[..., AppTest]
) -> None:
    screen = beside(compare_with_best)
    links = [each.proto.query_string for each in screen.page_link if each.label == "Compare"]
    first, second, *others = (hit.candidate.passage.id for hit in found(stocked))
    pairs = [(first, second), (first, second), *((first, each) for each in others)]
    assert [(int(query["passage"][0]), int(query["with"][0])) for query in map(parse_qs, links)] == pairs


@pytest.mark.parametrize("dark", [False, True])
def test_the_bars_add_up_and_the_first_points_to_its_side(stocked: Stack, dark: bool) -> None:
    stocked.add("guide.md", OTHER)
    result = stocked.workbench.search.run(SearchRequest(QUESTION), remember=False)
    versus = compare(result, *(hit.candidate.passage.id for hit in result.hits[:2]))
    figure = comparison_bars(versus, ("A", "<b>B</b>"), dark=dark)
    (bars,) = figure.data
    assert -sum(bars.x) == pytest.approx(versus.difference, abs=0.0005 * len(versus.parts))
    assert [text.startswith("+") for text in bars.text] == [x < 0 for x in bars.x]
    shown = [float(f"{side.score.total:.3f}") for side in (versus.left, versus.right)]
    reported = sum(float(text.replace("−", "-")) for text in bars.text)
    assert reported == pytest.approx(shown[0] - shown[1], abs=1e-9)
    assert len(set(bars.marker.color)) == len({x < 0 for x in bars.x})
    assert "&lt;b&gt;" in figure.layout.annotations[1].text


# More results


def _more(shown: int, total: int, *, more: bool) -> None:
    from dataclasses import replace

    import streamlit as st

    from core.domain.queries import SearchRequest
    from pages.components.search.result_list import draw_more, shown_results
    from tests.search.test_search import ask

    result = ask("overtime rate", top_k=1)
    hits = tuple(replace(result.hits[0], rank=rank) for rank in range(1, shown + 1))
    draw_more(replace(result, request=SearchRequest("overtime rate"), hits=hits, total=total, more=more))
    st.write(f"top {shown_results()}")


def test_ten_more_results_are_shown_below_those_there_are() -> None:
    screen = AppTest.from_function(_more, kwargs={"shown": 10, "total": 25, "more": True}, default_timeout=60).run()
    assert screen.caption[0].value == "Results 1–10 of at least 25 results"
    screen.button(key="search.more").click().run()
    assert screen.markdown[0].value == "top 20"


@pytest.mark.parametrize(("total", "more"), [(10, True), (11, False)])
def test_more_are_offered_while_there_may_be_others(total: int, more: bool) -> None:
    screen = AppTest.from_function(_more, kwargs={"shown": 10, "total": total, "more": more}, default_timeout=60).run()
    assert [button.label for button in screen.button] == ["Show 10 more"]


def test_the_last_results_offer_no_more() -> None:
    screen = AppTest.from_function(_more, kwargs={"shown": 10, "total": 10, "more": False}, default_timeout=60).run()
    assert not screen.button and not screen.caption


# Marked phrases


@given(st.text(alphabet="ab ,.-", max_size=30), st.lists(st.text(alphabet="ab ", max_size=5), max_size=3))
def test_marking_phrases_changes_no_text(text: str, phrases: list[str]) -> None:
    import re

    shown = highlight(text, {"a"}, phrases)
    bare = re.sub(r":primary-background\[\*\*(.*?)\*\*\]", r"\1", shown)
    assert re.sub(r"\\(.)", r"\1", bare).replace("\u2060", "").split() == text.split()


def test_a_phrase_is_marked_as_a_whole_and_only_where_its_words_stand_in_a_row() -> None:
    assert (
        highlight("The Regular rate of pay", (), ["regular rate"]) == "The :primary-background[**Regular rate**] of pay"
    )
    assert "background" not in highlight("rate, regular", (), ["regular rate"])
    assert highlight("wages", (), ["wage"]) == "wages"
