"""What a trial does: how alike the two lists are, the lines between them, the new list, what came and went, and which
coverage cells would flip."""

from collections.abc import Mapping, Sequence

import streamlit as st

from core.boards import Board, CellState
from core.queries import ScoreProfile, SearchRequest
from core.results import SearchResult
from core.search.quotable import shown_quote
from core.search.sums import strip_words
from core.tuning.trial import Flip, Move, Trial
from pages.parts import cards, charts
from pages.parts.coverage.state import kind_words
from pages.parts.looks import CELLS
from pages.parts.tuning.state import called
from pages.parts.tuning.tune_charts import kind_of, rank_lines
from pages.parts.urls import page_path
from pages.parts.wording import count, plain, shortened

__all__ = ["cells", "headline", "in_and_out", "lines", "listed"]

_LISTED, _HEIGHT = 20, 480
_ALIKE = (
    "RBO is rank-biased overlap with p = 0.9: 1 when both lists are alike, the first ranks count most. Jaccard is the"
    " share of results that both lists show, whatever their order."
)
_WEIGHED = (
    "Coverage weighs evidence by its own absolute score, not by a profile's weights: of a profile only its two coverage"
    " thresholds reach the board."
)


def headline(trial: Trial, flipped: Sequence[Flip], milliseconds: float, *, moved: bool) -> None:
    """The whole effect in one line."""
    if not moved:
        st.markdown("**Nothing is moved yet.** :gray[Both lists are the same; move a slider to see what it does.]")
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
    st.markdown(" · ".join(parts), help=_ALIKE)


def lines(trial: Trial, before: SearchResult, after: SearchResult, names: tuple[str, str]) -> None:
    """The rank-change lines."""
    if not trial.moves:
        st.info("Neither of the two shows anything.", icon=":material/search_off:")
        return
    figure = rank_lines(trial, names, lambda move: _place(move, after), dark=st.context.theme.type == "dark")
    said = ", ".join(f"{_name(move, after)} {kind_of(move).words}" for move in trial.moves if move.shown)
    st.plotly_chart(figure, key="tune.lines", config={"displayModeBar": False}, alt=said)
    shown = (len(before.hits), len(after.hits))
    if trial.depth > max(shown):
        most = (
            f"{names[0]} shows {shown[0]}, {names[1]} {shown[1]}" if shown[0] != shown[1] else f"both show {shown[0]}"
        )
        st.caption(f"Compared is what is shown: {plain(most)}. What stands after that is drawn pale.")


def _place(move: Move, result: SearchResult) -> str:
    passage = move.candidate.passage
    return cards.place(passage, result.documents.get(passage.document_id))


def _name(move: Move, result: SearchResult) -> str:
    where, name = _place(move, result), move.candidate.passage.document_name
    return f"{name}, {where}" if where else name


def listed(
    trial: Trial, after: SearchResult, sentences: Mapping[int, str], request: SearchRequest, *, moved: bool
) -> None:
    """The new list, each with what became of it and, when something was moved, why."""
    if not after.hits:
        st.info(plain(after.silence), icon=":material/search_off:")
    moves = {move.passage_id: move for move in trial.moves}
    for hit in after.hits[: trial.depth]:
        passage, move = hit.candidate.passage, moves[hit.candidate.passage.id]
        with st.container(gap="xxsmall"):
            _head(move, after, request, hit.rank)
            st.caption(plain(shortened(shown_quote(sentences.get(passage.id, passage.text)), 170)))
            with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
                st.markdown(f"**{hit.score.total:.3f}**", width=46)
                strip = charts.score_strip(hit.score, after.profile.threshold)
                st.image(strip, width="stretch", alt=strip_words(hit.score))
            if moved:
                st.caption(plain(move.why))


def _head(move: Move, result: SearchResult, request: SearchRequest, rank: int | None) -> None:
    """Rank, what became of it, its truth, and where it stands."""
    kind = kind_of(move)
    change = f"{kind.sign} {abs(move.up)}" if move.up else kind.sign if kind.words == "stays" else kind.words
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{rank}** :{_INK[kind.words]}[{change}]", width="content")
        cards.origin_badge(move.candidate.passage)
        cards.inspect_link(request, move.passage_id, plain(shortened(_name(move, result), 60)))


_INK = {"enters": "primary", "moves up": "primary", "stays": "gray", "moves down": "red", "leaves": "red"}


def in_and_out(trial: Trial, after: SearchResult, request: SearchRequest) -> None:
    """What only one of the two lists shows, with why."""
    for words, moves in (("Enters", trial.entering), ("Leaves", trial.leaving)):
        st.markdown(f"**{words}** · {len(moves)}")
        for move in moves:
            with st.container(gap="xxsmall"):
                _head(move, after, request, move.after or move.before)
                st.caption(plain(move.why))
        if not moves:
            st.caption("Nothing.")


def cells(flipped: Sequence[Flip], board: Board | None, base: ScoreProfile) -> None:
    """Which cells of the board the new thresholds would judge otherwise."""
    st.markdown(f"**Coverage cells that would flip** · {len(flipped)}")
    st.caption(_WEIGHED)
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
            f"The board was assessed with {plain(board.profile)}; here {plain(called(base))} is held against it."
        )


def _row(flip: Flip, *, decided: bool) -> dict[str, str]:
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
