"""Comparison of two results: their score parts as a chart and a table, and their texts."""

from typing import TYPE_CHECKING

import streamlit as st

from core.domain.errors import NotFound
from core.domain.queries import SearchRequest
from core.domain.results import Hit, SearchResult
from core.search.citations.cite import display_quote
from core.search.explanation import (
    ComparedResult,
    ResultComparison,
    ScoreDifference,
    compare,
    decided,
    shown_differences,
)
from core.search.query.syntax import quoted_phrases
from pages.components import cards, notices, session
from pages.components.chart_view import draw_chart
from pages.components.urls import number_in, page_path, params_of
from pages.components.wording import chart_text, highlight, plain, shorten, shorten_middle

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = [
    "VIEW",
    "choose_other",
    "compare_link",
    "compare_with_best",
    "comparison_bars",
    "comparison_params",
    "draw_comparison",
    "url_params",
]

_LEFT = {"light": "#34558b", "dark": "#7da2dc"}

_RIGHT = {"light": "#b5400a", "dark": "#f0824a"}

_LINE = {"light": "#68707d", "dark": "#8d97a5"}

_ROOM = 1.45
"""How far the axis reaches beyond the longest bar, for the numbers beside it."""


def comparison_bars(versus: ResultComparison, names: tuple[str, str], *, dark: bool = False) -> "Figure":
    """One bar per score part that differs, the greatest at the top. Bars to the left favour the first result, bars to
    the right the second; the sign is the first result's gain. Parts that are equal when rounded are left out."""
    from plotly.graph_objects import Bar, Figure

    theme = "dark" if dark else "light"
    shown = [each for each in zip(versus.parts, shown_differences(versus), strict=True) if each[1]]
    parts = [part for part, _ in shown]
    longest = max((abs(part.difference) for part in parts), default=1.0)
    reasons = [f"{chart_text(part.left_reason)}<br>{chart_text(part.right_reason)}" for part in parts]
    bars = Bar(
        orientation="h",
        y=[chart_text(part.label) for part in parts],
        x=[-part.difference for part in parts],
        text=[f"{number:+.3f}".replace("-", "−") for _, number in shown],
        textposition="outside",
        cliponaxis=False,
        customdata=reasons,
        hovertemplate="%{y}: %{text}<br>%{customdata}<extra></extra>",
        marker={"color": [(_LEFT if part.difference > 0 else _RIGHT)[theme] for part in parts]},
    )
    figure = Figure(bars)
    figure.add_vline(0, line={"color": _LINE[theme], "width": 1})
    _side_titles(figure, names, theme)
    figure.update_layout(
        height=70 + 34 * max(1, len(parts)),
        margin={"l": 8, "r": 8, "t": 32, "b": 24},
        hoverlabel={"align": "left"},
        bargap=0.35,
        showlegend=False,
    )
    figure.update_xaxes(
        range=[-longest * _ROOM, longest * _ROOM], title=None, zeroline=False, showticklabels=False, fixedrange=True
    )
    figure.update_yaxes(autorange="reversed", title=None, fixedrange=True)
    return figure


def _side_titles(figure: "Figure", names: tuple[str, str], theme: str) -> None:
    """The name of the result above each half."""
    for side, (x, anchor, arrow) in enumerate(((0.0, "left", "◀ {}"), (1.0, "right", "{} ▶"))):
        words = arrow.format(chart_text(names[side]))
        colour = (_LEFT, _RIGHT)[side][theme]
        layout = {"x": x, "xref": "paper", "xanchor": anchor, "y": 1.0, "yref": "paper", "yanchor": "bottom"}
        figure.add_annotation(text=f"<b>{words}</b>", showarrow=False, font={"color": colour}, **layout)


VIEW = "Compare"
"""The view of Inspect that shows it."""

_OTHER = "versus.other"

_NAME, _HEAD, _LINK = 48, (30, 18), (22, 16)
"""Characters of a document's name; of name and place at the head of a column, and of a link that does not wrap. Two of
each are side by side at 800 pixels."""


def comparison_params(request: SearchRequest, left_id: int, right_id: int) -> dict[str, list[str]]:
    """The query parameters of Inspect that open a comparison."""
    return params_of(request) | {"passage": [str(left_id)], "view": [VIEW], "with": [str(right_id)]}


def compare_link(request: SearchRequest, left_id: int, right_id: int, label: str, help_text: str | None = None) -> None:
    """A link that opens a comparison for anyone."""
    target = comparison_params(request, left_id, right_id)
    st.page_link(
        page_path("inspection"), label=label, icon=":material/compare_arrows:", help=help_text, query_params=target
    )


def compare_with_best(hit: Hit, result: SearchResult) -> None:
    """A link that compares a result with the first one, and the first one with the second; the comparison offers every
    other."""
    if len(result.hits) < 2:
        return
    first, second = result.hits[:2]
    lower = second if hit.rank == first.rank else hit
    other = first if lower is hit else second
    left, right = (each.candidate.passage.id for each in (first, lower))
    compare_link(
        result.request, left, right, "Compare", help_text=f"Beside result {other.rank}; any other is chosen there"
    )


def url_params() -> dict[str, list[str]]:
    """The URL parameter of the comparison: the id of the other result, if there is one."""
    other = str(st.session_state.get(_OTHER) or st.query_params.get("with", ""))
    return {"with": [other]} if number_in(other) is not None else {}


def choose_other(result: SearchResult, left_id: int) -> int | None:
    """The other one of the two: chosen here, or named by the URL ("with"); at first the best that is not the left one.
    None where there is no other. The page keeps `kept_params` in its URL, which it reads before it is drawn."""
    known = [hit.candidate.passage.id for hit in result.hits]
    known += [each.candidate.passage.id for each in result.dropped if each.score is not None]
    offered = [each for each in dict.fromkeys(known) if each != left_id]
    if not offered:
        return None
    state, named = st.session_state, st.query_params.get("with", "")
    if state.get(_OTHER) not in offered:
        state[_OTHER] = number if (number := number_in(named)) in offered else offered[0]
    labels = {each: _label(result, each) for each in offered}
    chosen: int = st.selectbox("Compare with", offered, key=_OTHER, format_func=labels.__getitem__)
    return chosen


def _label(result: SearchResult, passage_id: int) -> str:
    ranks = {hit.candidate.passage.id: hit.rank for hit in result.hits}
    name = _name(result, passage_id)
    return f"{ranks[passage_id]} · {name}" if passage_id in ranks else f"not shown · {name}"


def _name(result: SearchResult, passage_id: int, letters: int = _NAME, place_letters: int | None = None) -> str:
    """Document and place of a candidate, each shortened by itself: the place is what sets two of a document apart."""
    for candidate in (*result.candidates, *(each.candidate for each in result.dropped)):
        if candidate.passage.id == passage_id:
            where = cards.location(candidate.passage, result.documents.get(candidate.passage.document_id))
            where = shorten_middle(where, place_letters) if place_letters else where
            name = shorten_middle(candidate.passage.document_name, letters)
            return f"{name}, {where}" if where else name
    return f"passage {passage_id}"


def draw_comparison(result: SearchResult, left_id: int, right_id: int) -> None:
    """Both sentences, the one that decides, the differences as bars, and the table of all parts."""
    try:
        versus = compare(result, left_id, right_id)
    except NotFound as problem:
        notices.error(problem)
        return
    names = _distinct_names(_name(result, left_id), _name(result, right_id), versus)
    sides = st.grid(2, min_column_width=320, gap="medium")
    for side in (versus.left, versus.right):
        with sides.cell():
            _side(side, result)
    verdict = decided(versus, names)
    heads = [_name(result, each, *_HEAD) for each in (left_id, right_id)]
    titles = _distinct_names(heads[0], heads[1], versus)
    st.markdown(f"**{plain(verdict)}**")
    shown = shown_differences(versus)
    if any(shown):
        draw_chart(
            comparison_bars(versus, titles, dark=st.context.theme.type == "dark"),
            key="versus",
            alt=verdict,
        )
    rows = [_row(part, titles, number) for part, number in zip(versus.parts, shown, strict=True)]
    st.table(rows, border="horizontal", hide_index=True)
    st.caption("The differences add up to the difference of the scores, those of multipliers included.")


def _distinct_names(left: str, right: str, versus: ResultComparison) -> tuple[str, str]:
    """Two names that differ: passages of one place get their ranks or ids."""
    if left != right:
        return left, right
    ranks = [f"rank {side.rank}" if side.rank else f"no. {side.candidate.passage.id}" for side in _both(versus)]
    return f"{left} ({ranks[0]})", f"{right} ({ranks[1]})"


def _both(versus: ResultComparison) -> tuple[ComparedResult, ComparedResult]:
    return versus.left, versus.right


def _side(side: ComparedResult, result: SearchResult) -> None:
    """One of the two results: its location, score and best sentence."""
    passage = side.candidate.passage
    stems = cards.stems_asked_for(result)
    hit = next((each for each in result.hits if each.candidate.passage.id == passage.id), None)
    sentence = hit.citations[0].quote if hit and hit.citations else shorten(passage.text, 400)
    with st.container(border=True, gap="xsmall", height="stretch"):
        label = f"**{plain(_name(result, passage.id, *_LINK))}**"
        cards.inspect_link(result.request, passage.id, label, icon=":material/troubleshoot:")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            cards.badges(passage, session.terms())
        st.markdown(highlight(shorten(display_quote(sentence), 500), stems, quoted_phrases(result.request.question)))
        rank = f"rank {side.rank}" if side.rank else f"not shown, {side.why}"
        st.caption(f"score **{side.score.total:.3f}** · {plain(rank)}")


def _row(part: ScoreDifference, names: tuple[str, str], difference: float) -> dict[str, str]:
    """One part of both scores; the columns of the two are named as they are above."""
    left, right = map(plain, names)
    return {
        "Part": part.label,
        left: _value_text(part.left, part),
        right: _value_text(part.right, part),
        "Difference": f"{difference:+.3f}".replace("-", "−") if difference else "0.000",
        "Why": _why(part),
    }


def _value_text(value: float | None, part: ScoreDifference) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if part.weight is None else f"{value:.3f} × {part.weight:.3f} = {value * part.weight:.3f}"


def _why(part: ScoreDifference) -> str:
    if part.left_reason == part.right_reason:
        return plain(part.left_reason)
    return " · ".join(plain(reason or "–") for reason in (part.left_reason, part.right_reason))
