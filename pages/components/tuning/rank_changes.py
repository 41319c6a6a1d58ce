"""Effects of a trial profile: overlap, rank changes, the new list with reasons, and changed coverage cells."""
# Longer than 300 lines: a chart and the lists of the same changes.

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.domain.coverage import Board, CellState
from core.domain.documents import Passage
from core.domain.queries import ScoreProfile, SearchRequest
from core.domain.results import SearchResult
from core.evaluation.tuning.trial import CellChangePreview, RankChange, Trial
from core.search.citations.cite import display_quote
from core.search.explanation import strip_words
from pages.components import cards, charts
from pages.components.chart_view import draw_chart
from pages.components.coverage.state import kind_words
from pages.components.styles import CELLS
from pages.components.tuning.passage_labels import opening_words, place_and_section, section_end
from pages.components.tuning.state import profile_title
from pages.components.urls import page_path
from pages.components.wording import chart_text, count, plain, shorten, shorten_middle

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = [
    "KINDS",
    "LineKind",
    "draw_changed_cells",
    "draw_entering_leaving",
    "draw_headline",
    "draw_new_list",
    "draw_rank_lines",
    "kind_of",
    "rank_lines",
]

_NAME, _SECOND_LINE = 20, 32
"""Characters beside the chart: of a document's name, and of the line below it. Chosen by hand."""
_ROW = 36  # pixels: two lines of text
_WIDE, _GAP, _FAR = 1.55, 0.11, 0.2
"""How far the picture reaches beyond its two sides, and where ranks and names stand there, in gaps between them."""


@dataclass(frozen=True, slots=True)
class LineKind:
    """How a kind of move looks: never by its colour alone."""

    words: str
    sign: str
    symbol: str
    dash: str
    width: float
    light: str
    dark: str


KINDS = {
    "enters": LineKind("enters", "+", "diamond", "dash", 2.5, "#34558b", "#7da2dc"),
    "up": LineKind("moves up", "▲", "triangle-up", "solid", 2.5, "#5b84b8", "#5378a6"),
    "same": LineKind("stays", "=", "circle", "solid", 1.5, "#aeb6c1", "#66707e"),
    "down": LineKind("moves down", "▼", "triangle-down", "solid", 2.5, "#d8747c", "#b0606a"),
    "leaves": LineKind("leaves", "−", "x", "dot", 2.5, "#c62f3b", "#f2808a"),
    "after": LineKind("after the last one shown", "·", "circle-open", "dot", 1.0, "#c8cdd5", "#46505d"),
}
"""What can become of a passage."""


def kind_of(move: RankChange) -> LineKind:
    """The kind of a passage's rank change."""
    if not move.shown:
        return KINDS["after"]
    if move.before is None or move.after is None:
        return KINDS["enters" if move.before is None else "leaves"]
    return KINDS["same" if not move.up else "up" if move.up > 0 else "down"]


def rank_lines(
    trial: Trial, side_labels: tuple[str, str], location_of: Callable[[RankChange], str], *, dark: bool = False
) -> "Figure":
    """One line per passage, from its rank under the base (left) to its rank under the trial (right).

    A passage beyond the first `trial.depth` on a side starts or ends in the row below. side_labels: above the two
    sides; location_of: where in its document a passage stands. Its opening words are in a second line.
    """
    from plotly.graph_objects import Figure

    rows = max((rank for move in trial.moves for rank in _ranks(move, trial.depth) if rank), default=1)
    traces = [
        _lines(kind, [move for move in trial.moves if kind_of(move) is kind], trial.depth, rows, dark=dark)
        for kind in KINDS.values()
        if any(kind_of(move) is kind for move in trial.moves)
    ]
    traces += [_labels(trial, location_of, rows, side) for side in (0, 1)]
    layout = {
        "height": 64 + _ROW * (rows + 1),
        "margin": {"l": 4, "r": 4, "t": 28, "b": 28},
        "hoverlabel": {"align": "left"},
        "legend": {"orientation": "h", "y": 0, "yanchor": "top", "x": 0.5, "xanchor": "center", "itemclick": False},
        "xaxis": {"range": [-_WIDE, 1 + _WIDE], "tickvals": [0, 1], "side": "top",
                  "ticktext": [chart_text(head) for head in side_labels],
                  "showgrid": False, "zeroline": False, "fixedrange": True},
        "yaxis": {"range": [rows + 1.4, 0.4], "visible": False, "fixedrange": True},
    }  # fmt: skip
    return Figure(data=traces, layout=layout)  # at once: to update a figure takes longer than to make it


def _ranks(move: RankChange, depth: int) -> tuple[int | None, int | None]:
    """Its places on both sides, None below the last row."""
    before, after = (rank if rank and rank <= depth else None for rank in (move.position_before, move.position_after))
    return before, after


def _lines(kind: LineKind, changes: Sequence[RankChange], depth: int, rows: int, *, dark: bool) -> dict[str, Any]:
    """All moves of one kind as one trace, its lines apart."""
    x: list[int | None] = []
    y: list[int | None] = []
    hover_texts: list[str] = []
    for change in changes:
        ends = [None if rank is None and not change.shown else rank or rows + 1 for rank in _ranks(change, depth)]
        x += [0, 1, None]
        y += [*ends, None]
        hover_texts += [_hover(change)] * 2 + [""]
    colour = kind.dark if dark else kind.light
    return {
        "type": "scatter", "mode": "lines+markers", "name": kind.words, "x": x, "y": y,
        "line": {"color": colour, "width": kind.width, "dash": kind.dash},
        "marker": {"symbol": kind.symbol, "size": 9, "color": colour},
        "hovertext": hover_texts, "hovertemplate": "%{hovertext}<extra></extra>",
    }  # fmt: skip


def _labels(trial: Trial, location_of: Callable[[RankChange], str], rows: int, side: int) -> dict[str, Any]:
    """Rank, document and place beside every end that has a rank; what the row below means, where an end lies there."""
    ends = [(_ranks(move, trial.depth)[side], move) for move in trial.moves]
    ranked = [(rank, move) for rank, move in ends if rank is not None]
    below = [_below_words(move, side) for rank, move in ends if rank is None and move.shown]
    near, far, beside = (-_GAP, -_FAR, "middle left") if side == 0 else (1 + _GAP, 1 + _FAR, "middle right")
    spots: list[tuple[float, int, str, str]] = []
    for rank, move in ranked:
        label = _short(move.candidate.passage, location_of(move))
        spots += [(near, rank, f"<b>{rank}</b>", "middle center"), (far, rank, label, beside)]
    if below:
        spots.append((far, rows + 1, f"<i>{' or '.join(sorted(set(below)))}</i>", beside))
    x, y, words, where = ([spot[part] for spot in spots] for part in range(4))
    return {
        "type": "scatter", "mode": "text", "hoverinfo": "skip", "showlegend": False, "cliponaxis": False,
        "x": x, "y": y, "text": words, "textposition": where, "textfont": {"size": 12},
    }  # fmt: skip


def _below_words(move: RankChange, side: int) -> str:
    """Why a passage is not among the first."""
    return "left out" if (move.position_before if side == 0 else move.position_after) is None else "further down"


def _short(passage: Passage, location: str) -> str:
    """Two lines: a document's name without its ending, cut in its middle, and where in it; then the opening words."""
    name = shorten_middle(passage.document_name.rpartition(".")[0] or passage.document_name, _NAME)
    first = f"{name} {shorten(location.replace('page ', 'p. '), 12)}".strip()
    return f"{chart_text(first)}<br><i>{chart_text(shorten(opening_words(passage), _SECOND_LINE))}</i>"


def _hover(move: RankChange) -> str:
    before, after = (f"{score.total:.3f}" if score else "no score" for score in (move.score_before, move.score_after))
    ranks = " → ".join(str(rank) if rank else "not ranked" for rank in (move.position_before, move.position_after))
    name = chart_text(shorten_middle(move.candidate.passage.document_name, 60))
    opening = chart_text(shorten(opening_words(move.candidate.passage), 110))
    section = chart_text(shorten(section_end(move.candidate.passage), 60))
    change = f"rank {ranks} · score {before} → {after}"
    return f"<b>{name}</b> {section}<br>“{opening}”<br>{change}<br>{chart_text(shorten(move.why, 140))}"


_LISTED, _HEIGHT = 20, 480  # cells, and pixels of a longer table
_OVERLAP_HELP = (
    "RBO is rank-biased overlap with p = 0.9: 1 when both lists are alike, the first ranks count most. Jaccard is the"
    " share of results that both lists show, whatever their order."
)

_COVERAGE_HELP = (
    "Coverage weighs evidence by its own absolute score, not by a profile's weights: of a profile only its two coverage"
    " thresholds reach the board."
)


def draw_headline(trial: Trial, flipped: Sequence[CellChangePreview], milliseconds: float, *, moved: bool) -> None:
    """The whole effect in one line."""
    if not moved:
        st.markdown("**Nothing changed yet.** :gray[Both lists are the same; move a slider to see its effect.]")
        return
    same, most = len(trial.staying), len(trial.staying) + max(len(trial.entering), len(trial.leaving))
    parts = [
        f"**RBO {trial.overlap:.2f}**",
        f"Jaccard {trial.jaccard:.2f}",
        f"**{same} of {most}** the same",
        f"**{len(trial.entering)}** enter, **{len(trial.leaving)}** leave",
        f"**{count(len(flipped), 'cell')}** {'flips' if len(flipped) == 1 else 'flip'}",
        f":gray[re-scored in {milliseconds:.0f} ms]",
    ]
    st.markdown(" · ".join(parts), help=_OVERLAP_HELP)


def draw_rank_lines(trial: Trial, before: SearchResult, after: SearchResult, names: tuple[str, str]) -> None:
    """The rank-change lines."""
    if not trial.moves:
        st.info("Neither of the two shows anything.", icon=":material/search_off:")
        return
    figure = rank_lines(trial, names, lambda move: _rank_text(move, after), dark=st.context.theme.type == "dark")
    description = ", ".join(f"{_name(move, after)} {kind_of(move).words}" for move in trial.moves if move.shown)
    draw_chart(figure, key="tune.lines", alt=description)
    shown = (len(before.hits), len(after.hits))
    if trial.depth > max(shown):
        most = (
            f"{names[0]} shows {shown[0]}, {names[1]} {shown[1]}" if shown[0] != shown[1] else f"both show {shown[0]}"
        )
        st.caption(f"Compared is what is shown: {plain(most)}. Later ranks are drawn pale.")


def _rank_text(move: RankChange, result: SearchResult) -> str:
    passage = move.candidate.passage
    return cards.location(passage, result.documents.get(passage.document_id))


def _name(move: RankChange, result: SearchResult) -> str:
    passage = move.candidate.passage
    where = place_and_section(passage, result.documents.get(passage.document_id))
    name = shorten_middle(passage.document_name, 40)
    return f"{name}, {where}" if where else name


def draw_new_list(
    trial: Trial, after: SearchResult, sentences: Mapping[int, str], request: SearchRequest, *, moved: bool
) -> None:
    """The new list, each with its rank change and, if something was moved, the reason."""
    if not after.hits:
        st.info(plain(after.silence), icon=":material/search_off:")
    changes = {move.passage_id: move for move in trial.moves}
    for hit in after.hits[: trial.depth]:
        passage, move = hit.candidate.passage, changes[hit.candidate.passage.id]
        with st.container(gap="xxsmall"):
            _head(move, after, request, hit.rank)
            st.caption(plain(shorten(display_quote(sentences.get(passage.id, passage.text)), 170)))
            with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
                st.markdown(f"**{hit.score.total:.3f}**", width=46)
                strip = charts.score_strip(hit.score, after.profile.threshold)
                st.image(strip, width="stretch", alt=strip_words(hit.score))
            if moved:
                st.caption(plain(move.why))


def _head(move: RankChange, result: SearchResult, request: SearchRequest, rank: int | None) -> None:
    """Rank, rank change, truth and location."""
    kind = kind_of(move)
    change = f"{kind.sign} {abs(move.up)}" if move.up else kind.sign if kind.words == "stays" else kind.words
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{rank}** :{_INKS[kind.words]}[{change}]", width="content")
        cards.origin_badge(move.candidate.passage)
        cards.inspect_link(request, move.passage_id, plain(shorten(_name(move, result), 84)))


_INKS = {"enters": "primary", "moves up": "primary", "stays": "gray", "moves down": "red", "leaves": "red"}


def draw_entering_leaving(trial: Trial, after: SearchResult, request: SearchRequest) -> None:
    """What only one of the two lists shows, with why."""
    for words, changes in (("Enters", trial.entering), ("Leaves", trial.leaving)):
        st.markdown(f"**{words}** · {len(changes)}")
        for change in changes:
            with st.container(gap="xxsmall"):
                _head(change, after, request, change.after or change.before)
                st.caption(f"“{plain(shorten(opening_words(change.candidate.passage), 110))}”")
                st.caption(plain(change.why))
        if not changes:
            st.caption("Nothing.")


def draw_changed_cells(flipped: Sequence[CellChangePreview], board: Board | None, base: ScoreProfile) -> None:
    """The coverage cells whose state the new thresholds would change."""
    st.markdown(f"**Coverage cells that would flip** · {len(flipped)}")
    st.caption(_COVERAGE_HELP)
    if board is None:
        st.markdown("No board is assessed yet, so no cell can flip.")
        st.page_link(page_path("coverage"), label="Assess topics on Coverage", icon=":material/grid_on:")
    elif flipped:
        decided = any(flip.decided for flip in flipped)
        rows = [_row(flip, decided=decided) for flip in flipped]
        st.dataframe(rows, key="tune.flips", hide_index=True, height="content" if len(rows) <= _LISTED else _HEIGHT)
    else:
        st.caption(f":material/check: None of {count(len(board.cells), 'cell')}.")
    if board is not None and board.profile not in ("", base.ref):
        st.caption(
            f"The board was assessed with {plain(board.profile)}; this compares it with {plain(profile_title(base))}."
        )


def _row(flip: CellChangePreview, *, decided: bool) -> dict[str, str]:
    row = {
        "Topic": flip.cell.topic,
        "Column": kind_words(flip.cell.kind),
        "Evidence": f"{flip.cell.evidence_score:.2f}",
        "Would go": f"{_state(flip.before)} → {_state(flip.after)}",
    }
    stays = f"stays {flip.cell.state.value}" if flip.decided else ""
    return row | ({"Decided by a person": stays} if decided else {})


def _state(state: CellState) -> str:
    return f"{CELLS[state].symbol} {CELLS[state].words}"
