"""The results of a search: how it went, the truths that answer, the list of results beside the chosen one."""
# Longer than 300 lines: everything drawn for a list of results.

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any
from zlib import crc32

import streamlit as st

from core.answers.context import context_of_hits
from core.domain.documents import DocumentState
from core.domain.errors import FivefoldError
from core.domain.five_truths import FiveTruthsAnswer, TruthState
from core.domain.queries import LEG_LABELS
from core.domain.results import Candidate, Hit, SearchResult
from core.knowledge.glossary import meaning
from core.search.citations.cite import display_quote
from core.search.exports import FORMATS, file_name
from core.search.query.syntax import quoted_phrases
from core.search.ranking.answerability import all_silent_words, filters_match_nothing, unanswered_words
from core.search.result_data import page_words, rerank_words, total_words
from pages.components import browser_scripts, cards, notices, session, urls
from pages.components.rights import may
from pages.components.search import (
    feedback,
    five_truths,
    result_list,
    result_pane,
    save_insight,
    saved_searches,
    shortlists,
)
from pages.components.search.five_truths import cached_answer, draw_verdicts
from pages.components.styles import TRUTHS, truth_style
from pages.components.wording import count, from_words_asked_for, parts_asked_for, plain, shorten, shorten_middle

__all__ = [
    "CHOSEN",
    "PER_PAGE",
    "check_answer",
    "choose",
    "draw_answer",
    "draw_more",
    "export_menu",
    "list_rows",
    "show_first",
    "shown_results",
    "strip_cells",
]

CHOSEN = "search.chosen"
"""The session key of the passage read in the pane; None: the first result."""

_GROUPED = "search.grouped"
_ROW_IN_SIGHT = 100
"""Characters of a sentence that two lines of a row show at 1280 pixels."""

_ROW_LETTERS, _ROW_NAME, _ROW_NAME_BEFORE_HEADING = 220, 40, 24
"""Characters of the sentence and of a document's name in a row; fewer where a heading follows the name."""

PER_PAGE = 10
"""How many more results a click shows. Ten, as search engines do."""

_TOP_KEY = "search.top"


def shown_results() -> int | None:
    """How many results are shown; None: as many as the profile says."""
    top: int | None = st.session_state.get(_TOP_KEY)
    return top


def show_first(top: int | None = None) -> None:
    """Show so many results; None, as for a new question, filter or profile: as many as the profile says."""
    st.session_state[_TOP_KEY] = top


def draw_more(result: SearchResult) -> None:
    """Which results are shown, and a button that shows more below them; nothing where there are no others."""
    shown = len(result.hits)
    if shown >= result.total and not result.more:
        return
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.caption(page_words(result), width="content")
        label = f"Show {PER_PAGE} more"
        st.button(
            label, icon=":material/expand_more:", key="search.more", on_click=show_first, args=(shown + PER_PAGE,)
        )


_NEAR_MISSES = 5  # chosen by hand


def draw_answer(result: SearchResult) -> None:
    """How the search went, whether it found an answer, then its results or the nearest misses."""
    _summary(result)
    saved_searches.draw_new_results(result)
    strip = None
    if result.hits:
        _unanswered(result)
        strip = st.container(key="answer_strip")
        _results(result)
    else:
        _nothing_found(result)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if result.hits:
            export_menu(result)
        save_insight.episode_button(result, feedback.opened_passages(result.request.question))
    if strip is not None:
        check_answer(result)
        with strip:  # last: it asks all five truths, and nobody waits for that to read the results
            draw_strip(result)


def _summary(result: SearchResult) -> None:
    """How the search went and what it was narrowed to; each leg in a popover."""
    found = total_words(result).capitalize() if result.hits else "Nothing found"
    parts = [f"**{found}** in {_duration(result.milliseconds)}", f"profile {plain(result.profile.ref)}"]
    if result.answer_probability is not None and result.answered:  # else it is told below
        parts.append(f"answered with p = {result.answer_probability:.2f}")
    if result.request.rerank:
        parts.append(rerank_words(result))
    failed = [f":red[{LEG_LABELS[leg.leg]} failed: {plain(leg.error)}]" for leg in result.legs if leg.error]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        about = meaning("answer_probability") if result.answer_probability is not None else None
        st.caption(" · ".join([*parts, *failed]), width="content", help=about)
        with st.popover("Details", type="tertiary"):
            _leg_details(result)
        st.space("stretch")
        if result.hits:
            st.toggle("Group by document", key=_GROUPED)
            _keys_help()
    if result.undated_left_out:
        left_out = count(result.undated_left_out, "undated document")
        st.caption(f":material/event_busy: {left_out} left out by the date filter.")
    notices.degraded(result.notices)
    _still_processing()


def _still_processing() -> None:
    """How many files this search could not see yet, and a button that searches again."""
    waiting = session.workbench().documents.count(DocumentState.PENDING)
    if not waiting:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        words = f"{count(waiting, 'file is', 'files are')} still being processed and not searched yet."
        st.caption(f":material/hourglass_top: {words}", width="content")
        st.button("Search again", key="search.again", type="tertiary", on_click=session.forget_answers)


def _duration(milliseconds: float) -> str:
    """
    >>> _duration(87.4), _duration(1146)
    ('87 ms', '1.1 s')
    """
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"


_LEGS = {"dense": "Semantic", "sparse": "Keyword", "graph": "Graph"}


def _leg_details(result: SearchResult) -> None:
    st.markdown(f"Question type: {plain(result.route.category.replace('_', ' '))}")
    if result.filters_in_words:
        st.caption(":material/filter_alt: " + plain("; ".join(result.filters_in_words)))
    rows = [
        {
            "Search": _LEGS.get(leg.leg, leg.leg),
            "Passages": f"{leg.found:,}",
            "Searched": f"{leg.rows_after:,} of {leg.rows_before:,}",
            "Time": f"{leg.milliseconds:.0f} ms",
        }
        for leg in result.legs
    ]
    st.table(rows, border="horizontal", hide_index=True)


_KEYS = """| key | does |
|---|---|
| `j` `k` | next, previous result |
| `Enter` | open the result in full |
| `c` | cite it |
| `n` | add a note |
| `x` | add it to the shortlist, or remove it |
| `/` | go to the question |
| `?` | show these keys |

**In the question:** `"exact phrase"` · `-word` excludes · `truth:intent`, `domain:`, `authority:`, `jurisdiction:`,
`project:`, `tag:`, `document:`, `before:2024`, `since:2023` filter."""


def _keys_help() -> None:
    with (
        st.container(width="content", key="search_keys"),
        st.popover("Keys", icon=":material/keyboard:", type="tertiary"),
    ):
        st.markdown(_KEYS)


def _results(result: SearchResult) -> None:
    """The list of results, and beside it the chosen one."""
    _two_panes(result)
    draw_more(result)


@st.fragment
def _two_panes(result: SearchResult) -> None:
    """Choosing a result draws this part again, and nothing else."""
    chosen = _chosen(result)
    with st.container(horizontal=True, gap="small", vertical_alignment="top", key="search_panes"):
        with st.container(key="search_list"):
            _draw_list(result, chosen)
        with (
            st.container(border=True, gap="small", key="search_pane"),
            st.container(gap="small", key=f"chosen_{chosen.passage.id}"),  # the list's keys wait for it by this name
        ):
            result_pane.draw_pane(result, chosen)


def _chosen(result: SearchResult) -> Candidate:
    """The candidate read in the pane: the one chosen while this search has it, else the first."""
    chosen_id = st.session_state.get(CHOSEN)
    found = next((each for each in result.candidates if each.passage.id == chosen_id), None)
    if found is None:
        st.session_state[CHOSEN] = None
    return found or result.hits[0].candidate


def _draw_list(result: SearchResult, chosen: Candidate) -> None:
    grouped = bool(st.session_state.get(_GROUPED))
    rows = list_rows(result, grouped=grouped, new=saved_searches.is_new)
    key = f"search.list.{crc32(repr(replace(result.request, top_k=None)).encode())}"
    draw = browser_scripts.browser_component("fivefold_results", "search/result_list.js")
    data = {"label": "Results", "rows": rows, "chosen": chosen.passage.id, "ticks": may("shortlists.add")}
    data["ticked"] = sorted(shortlists.ticked())
    draw(key=key, data=data, on_chosen_change=partial(_choose, key), on_ticked_change=partial(_tick, key, result))


def _choose(key: str) -> None:
    """Read the result that was clicked or reached by keyboard; it becomes part of the URL."""
    chosen = st.session_state[key].chosen
    if chosen is not None:
        choose(int(chosen))


def _tick(key: str, result: SearchResult) -> None:
    """Put a result into the current shortlist, or take it out."""
    ticked = st.session_state[key].ticked
    hit = next((each for each in result.hits if each.candidate.passage.id == ticked), None)
    if hit is not None:
        shortlists.tick(hit, result.request.question)


def choose(passage_id: int) -> None:
    """Show a passage in the pane, and name it in the URL."""
    st.session_state[CHOSEN] = passage_id
    urls.write_params("search", urls.last_recorded("search", {}) | {"passage": [str(passage_id)]})


def list_rows(result: SearchResult, *, grouped: bool, new: Callable[[Hit], bool]) -> list[dict[str, Any]]:
    """What the list draws for each result. grouped: results of one document stand together, the best document first."""
    of_document = Counter(hit.candidate.passage.document_id for hit in result.hits)
    if not grouped:
        return [_row(hit, result, new) for hit in result.hits]
    best: dict[int, int] = {}
    for hit in result.hits:
        best.setdefault(hit.candidate.passage.document_id, hit.rank)
    rows = []
    for hit in sorted(result.hits, key=lambda each: (best[each.candidate.passage.document_id], each.rank)):
        passage = hit.candidate.passage
        row = _row(hit, result, new) | {"name": ""}
        if hit.rank == best[passage.document_id]:
            row["group"] = f"{passage.document_name} ({of_document[passage.document_id]})"
        rows.append(row)
    return rows


def _row(hit: Hit, result: SearchResult, new: Callable[[Hit], bool]) -> dict[str, Any]:
    """One row: its sentence with the words asked for, its truth and place, its score in [0, 1], and short notes.

    number: its page or rows, which the list never cuts, unlike the names before and after it."""
    passage = hit.candidate.passage
    document = result.documents.get(passage.document_id)
    where, heading = cards.location(passage, document), cards.heading(passage, document)
    stems, phrases = cards.stems_asked_for(result), quoted_phrases(result.request.question)
    numbered = passage.rows is not None or (document is not None and document.paged)
    under = heading if numbered else where
    letters = _ROW_NAME_BEFORE_HEADING if under else _ROW_NAME
    quote = display_quote(hit.citations[0].quote if hit.citations else passage.text)
    sentence = from_words_asked_for(quote, stems, _ROW_IN_SIGHT)
    notes = {
        "new": new(hit),
        "label uncertain": bool(result.filters.uncertain_fields(passage)),
        "archived": passage.archived,
        f"{len(hit.similar)} similar": bool(hit.similar),
    }
    return {
        "id": passage.id,
        "rank": hit.rank,
        "group": "",
        "sentence": parts_asked_for(shorten(sentence, _ROW_LETTERS), stems, phrases),
        "truth": cards.origin_words(passage),
        "colour": truth_style(passage.truth).colour,
        "name": shorten_middle(passage.document_name, letters),
        "number": where if numbered else "",
        "heading": under,
        "score": f"{hit.score.total:.3f}",
        "share": round(min(hit.score.total, 1.0), 2),
        "notes": [note for note, applies in notes.items() if applies],
    }


def _unanswered(result: SearchResult) -> None:
    """How likely it is that none of the results answers, where that is likely, and what is missing."""
    if result.answered:
        return
    words = f"**{plain(unanswered_words(result))}** {plain(result.silence)} The nearest passages are listed below."
    st.info(words, icon=":material/search_off:")


def _nothing_found(result: SearchResult) -> None:
    """Nothing is listed: why, and what came nearest."""
    step = "Remove a filter." if filters_match_nothing(result) else "Try other words."
    notices.empty(":material/search_off:", "Nothing found", f"{plain(result.silence)} {step}")
    nearest = sorted(result.dropped, key=lambda each: -(each.score.total if each.score else 0.0))[:_NEAR_MISSES]
    if nearest:
        st.markdown("**Closest passages** :gray[– none is strong enough to be listed]")
        for each in nearest:
            document = result.documents.get(each.candidate.passage.document_id)
            cards.miss_line(each.candidate, each.detail, result.request, document)


_LETTERS = 150  # characters of a sentence in a cell

_KEY = "search.strip"


def draw_strip(result: SearchResult) -> None:
    """The cells; a click reads a truth's best passage in the pane, or opens its answer where the pane cannot."""
    try:
        answer = five_truths.cached_answer(result.request, remember=False)
    except FivefoldError as problem:
        notices.error(problem)
        return
    draw = browser_scripts.browser_component("fivefold_answer_strip", "search/answer_strip.js")
    draw(key=_KEY, data={"cells": strip_cells(answer)}, on_opened_change=lambda: _open(answer, result))
    silent = all_silent_words(replace(result, truths=answer.states, answer_probability=None))  # told above
    if result.answered and silent:
        st.info(f"**{silent}** The nearest passages are listed below.", icon=":material/search_off:")


def _open(answer: FiveTruthsAnswer, result: SearchResult) -> None:
    opened = st.session_state[_KEY].opened
    part = next((each for each in answer.truths if each.truth == opened), None)
    if part is None:
        return
    passage_id = part.citations[0].passage_id if part.citations else None
    if any(each.passage.id == passage_id for each in result.candidates):
        result_list.choose(int(passage_id or 0))
    else:
        st.session_state["search.view"] = "five"


def strip_cells(answer: FiveTruthsAnswer) -> list[dict[str, Any]]:
    """What the strip draws for each truth."""
    cells = []
    for part in answer.truths:
        style, words = TRUTHS[part.truth], part.state_words
        quote = display_quote(part.citations[0].quote) if part.citations else ""
        figure = f"{part.figures[0].value} {part.figures[0].words}" if part.figures else ""
        cells.append(
            {
                "truth": part.truth.value,
                "title": style.words.capitalize(),
                "colour": style.colour,
                "state": words,
                "words": words,
                "sentence": shorten(figure or quote or part.silence, _LETTERS),
                "help": quote or figure or part.silence,
                "means": meaning(part.truth.value),
                "opens": part.state is TruthState.ANSWERED or bool(part.citations),
            }
        )
    return cells


_MOST_LETTERS = 20_000  # characters of a pasted answer; chosen by hand
_HOLDS = {
    "csv": "one row per result, with every part of its score",
    "xlsx": "results, scores, citations, what was left out, sources",
    "json": "everything, for programs",
    "markdown": "a text to hand on, with a bibliography",
}


def export_menu(result: SearchResult) -> None:
    """A menu of files; each is made when its button is pressed."""
    with st.popover("Export", icon=":material/ios_share:", type="tertiary", key="search.export"):
        if len(result.hits) < result.total:
            st.caption(f"{page_words(result)}: those shown")
        for form in FORMATS.values():
            st.download_button(
                f"{form.label} :gray[– {_HOLDS[form.name]}]",
                _file_maker(form.made, result),
                file_name(result.request.question, form.ending),
                form.media_type,
                key=f"search.export.{form.name}",
                icon=":material/download:",
                on_click="ignore",
                type="tertiary",
            )


def _file_maker(made: Callable[[SearchResult], bytes], result: SearchResult) -> Callable[[], bytes]:
    """The truths are asked when the file is made; the strip above the list has mostly asked them already."""
    return lambda: made(replace(result, truths=cached_answer(result.request, remember=False).states))


@st.fragment
def check_answer(result: SearchResult) -> None:
    """The cited sentences by number, to copy; and a text that cites them, checked sentence by sentence. What is inside
    is drawn once it is unfolded: the browser loads 1.5 MB of scripts for a block of code."""
    question = result.request.question
    checked_question, text = st.session_state.get("search.checked", ("", ""))
    shown = bool(text) and checked_question == question
    line = st.expander(
        "Check a pasted answer", icon=":material/fact_check:", key="search.check", expanded=shown, on_change="rerun"
    )
    if not line.open:
        return
    with line:
        block = context_of_hits(result)
        if not block.citations:
            st.caption("There is no cited sentence to check an answer against.")
            return
        st.caption(f"{count(len(block.citations), 'sentence')} by number, for a language model to cite:")
        with st.container(height=180, border=False):
            st.code(block.text, language=None, wrap_lines=True)
        st.caption("Paste a text that cites them by number, as in: Deposits are due monthly [42.3].")
        st.text_area(
            "Text to check",
            key="search.pasted",
            persist_state="session",
            height=140,
            max_chars=_MOST_LETTERS,
            label_visibility="collapsed",
            placeholder="An answer with numbers in square brackets",
        )
        st.button("Check", icon=":material/fact_check:", key="search.do_check", on_click=_check, args=(question,))
        if shown:
            draw_verdicts(text, block)


def _check(question: str) -> None:
    st.session_state["search.checked"] = (question, st.session_state["search.pasted"].strip())
