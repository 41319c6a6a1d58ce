"""Charts of results: pure functions from a value of core to a figure. Plotly is imported only by pages that draw with
it."""

from collections.abc import Collection, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from core.coverage.board_view import VisibleBoard, kind_in_words
from core.coverage.gaps import score_beside_state
from core.domain.coverage import Board, Cell, CellState, GapKind
from core.domain.queries import LEG_LABELS
from core.domain.results import Score, SearchResult, TermScore
from core.search.explanation import factor_label, shown_effects, shown_parts, shrink
from core.text.tokenize import stem
from pages.components.styles import CELLS
from pages.components.wording import chart_text, shorten, shorten_middle, two_lines

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = [
    "board_map",
    "factor_colour",
    "journey",
    "score_strip",
    "term_bars",
    "tile_colours",
    "topic_labels",
    "waterfall",
]

# One hue from dark to light, so that no factor looks like a truth; names and numbers stand beside every strip. The last
# one and the track let the page show through: they are quiet in both themes.
_SHADES = ("#34558b", "#5b84b8", "#86a8cf", "#a9c1de", "#c6d5e8", "#8d97a5", "#aeb6c1", "#8d97a580")
_TRACK, _THRESHOLD, _TAKEN = "#8d97a559", "#c62f3b", "#d8747c"
_QUIET = {"light": "#c8cdd5", "dark": "#46505d"}
_STAGES = ("dense", "sparse", "graph", "fused", "reranked", "final")
_TOPIC = 28  # characters in a line beside the tiles
_RANK_TICKS = (1, 2, 3, 5, 10, 20, 50, 100, 200)  # labelled ranks of the logarithmic axis


_COLOURED = ("similarity", "best_sentence_similarity", "keyword", "synonym_match", "fusion", "rerank", "authority")
"""Factors with a colour of their own; the others share the last one."""


def factor_colour(name: str) -> str:
    """The colour of a factor, the same in every score.

    >>> factor_colour("similarity"), factor_colour("recency")
    ('#34558b', '#8d97a580')
    """
    return dict(zip(_COLOURED, _SHADES, strict=False)).get(name, _SHADES[-1])


def score_strip(score: Score, threshold: float) -> str:
    """The score as a thin stacked bar on a track from 0 to 1, in SVG; a tick marks the profile's threshold.

    Multipliers shrink every part alike, so the parts drawn always add up to the total.
    """
    width, height = 560, 14
    picture = ElementTree.Element(
        "svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width} {height}", width=str(width), height=str(height)
    )
    _block(picture, 0, width, 5, 4, _TRACK)
    times, left = shrink(score), 0.0
    for factor, _ in shown_parts(score):
        size = width * factor.contribution * times
        _block(picture, left, max(size - 1.0, 0.0), 2, 10, factor_colour(factor.name))
        left += size
    _block(picture, width * threshold - 1, 2, 0, height, _THRESHOLD)
    return ElementTree.tostring(picture, encoding="unicode")


def _block(picture: ElementTree.Element, x: float, width: float, y: float, height: float, fill: str) -> None:
    where = {"x": f"{x:.2f}", "width": f"{width:.2f}", "y": str(y), "height": str(height)}
    ElementTree.SubElement(picture, "rect", where, fill=fill)


def waterfall(score: Score, threshold: float, *, dark: bool = False) -> "Figure":
    """How the parts add up to the total: one step per factor, then what each multiplier takes away, then the score."""
    from plotly.graph_objects import Figure, Waterfall

    parts = shown_parts(score)
    steps = [(factor_label(each.name), each.contribution, "relative", each.reason) for each, _ in parts]
    effects = shown_effects(score)
    steps += [(f"× {factor_label(each.name)}", shown, "relative", each.reason) for each, shown in effects]
    steps.append(("Score", score.total, "total", "the sum of all parts"))
    texts = [*(f"{shown:+.3f}" for _, shown in (*parts, *effects)), f"{score.total:.3f}"]
    most = sum(factor.contribution for factor in score.factors)
    bars = Waterfall(
        orientation="h",
        y=[step[0] for step in steps],
        x=[step[1] for step in steps],
        measure=[step[2] for step in steps],
        customdata=[step[3] for step in steps],
        text=texts,
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{y}: %{text}<br>%{customdata}<extra></extra>",
        increasing={"marker": {"color": _SHADES[1]}},
        decreasing={"marker": {"color": _TAKEN}},
        totals={"marker": {"color": "#7da2dc" if dark else _SHADES[0]}},
        connector={"line": {"color": _QUIET["dark" if dark else "light"], "width": 1}},
    )
    figure = Figure(bars)
    figure.add_vline(threshold, line={"color": _THRESHOLD, "width": 1, "dash": "dot"})
    figure.add_annotation(
        x=threshold, y=1.0, yref="paper", yanchor="bottom", text=f"threshold {threshold:.2f}", showarrow=False
    )
    figure.update_layout(**_layout(height=70 + 30 * len(steps)), bargap=0.35, showlegend=False)
    figure.update_xaxes(range=[0, max(1.0, most * 1.15)], title=None, zeroline=False)
    figure.update_yaxes(autorange="reversed", title=None)
    return figure


def _layout(height: int) -> dict[str, Any]:
    return {"height": height, "margin": {"l": 8, "r": 36, "t": 28, "b": 24}, "hoverlabel": {"align": "left"}}


def journey(result: SearchResult, passage_id: int, *, dark: bool = False) -> "Figure":
    """Rank of one passage in each stage, over those of the other hits; 1 is at the top; a stage can miss it."""
    from plotly.graph_objects import Figure, Scatter

    figure = Figure()
    final = {hit.candidate.passage.id: hit.rank for hit in result.hits}
    reread = _by_logit(result)
    reached = {leg.leg for leg in result.legs} | {"fused", "final"} | ({"reranked"} if reread else set())
    stages = [stage for stage in _STAGES if stage in reached]
    shown = [c for c in result.candidates if c.passage.id in final or c.passage.id == passage_id]
    for candidate in sorted(shown, key=lambda c: c.passage.id == passage_id):
        mine = candidate.passage.id == passage_id
        ranks = dict(candidate.signals.ranks)
        if candidate.passage.id in final:
            ranks["final"] = final[candidate.passage.id]
        if candidate.passage.id in reread:
            ranks["reranked"] = reread[candidate.passage.id]
        colour = ("#7da2dc" if dark else _SHADES[0]) if mine else _QUIET["dark" if dark else "light"]
        figure.add_trace(
            Scatter(
                x=[_stage_label(stage) for stage in stages],
                y=[ranks.get(stage) for stage in stages],
                mode="lines+markers+text" if mine else "lines+markers",
                text=[str(ranks.get(stage, "")) for stage in stages] if mine else None,
                textposition="top center",
                line={"color": colour, "width": 3 if mine else 1},
                marker={"size": 9 if mine else 5},
                name=shorten_middle(candidate.passage.document_name, 40),
                hovertemplate="%{x}: rank %{y}<br>%{fullData.name}<extra></extra>",
                connectgaps=True,
            )
        )
    figure.update_layout(**_layout(height=300), showlegend=False)
    figure.update_yaxes(type="log", autorange="reversed", tickvals=_RANK_TICKS, title="rank")
    figure.update_xaxes(categoryorder="array", categoryarray=[_stage_label(stage) for stage in stages])
    return figure


def _stage_label(stage: str) -> str:
    return LEG_LABELS.get(stage, stage).capitalize()


def _by_logit(result: SearchResult) -> dict[int, int]:
    """Passage id → rank by the reranker's logit, of the passages it has read."""
    read = [(c.signals.rerank_logit, c.passage.id) for c in result.candidates if c.signals.rerank_logit is not None]
    return {passage_id: rank for rank, (_, passage_id) in enumerate(sorted(read, key=lambda r: (-r[0], r[1])), 1)}


def term_bars(terms: Sequence[TermScore], *, dark: bool = False) -> "Figure":
    """The share of each query term in the BM25 score; the bars add up to it."""
    from plotly.graph_objects import Bar, Figure

    ordered = sorted(terms, key=lambda term: term.score)
    figure = Figure(
        Bar(
            orientation="h",
            y=[term.term if stem(term.term) == term.stem else term.stem for term in ordered],  # or a part of a compound
            x=[term.score for term in ordered],
            text=[f"{term.score:.2f}" for term in ordered],
            textposition="outside",
            cliponaxis=False,
            customdata=[term.stem for term in ordered],
            hovertemplate="%{y} (indexed as %{customdata}): %{x:.3f}<extra></extra>",
            marker={"color": "#7da2dc" if dark else _SHADES[1]},
        )
    )
    figure.update_layout(**_layout(height=60 + 26 * len(ordered)), bargap=0.35, showlegend=False)
    figure.update_yaxes(type="category", title=None)
    figure.update_xaxes(title=None)
    return figure


def board_map(
    board: Board, shown: VisibleBoard, column_labels: Mapping[GapKind, str], *, dark: bool = False
) -> "Figure":
    """The shown topics × the board's columns as a map of tiles, one clickable bar each.

    A tile's customdata is [topic id, kind]; tiles the view does not ask for are pale. Bars instead of a heat map,
    because only bars can be selected by a click. heads: column → what stands above it.
    """
    from plotly.graph_objects import Bar, Figure

    figure = Figure()
    for column, kind in enumerate(board.kinds):
        cells = [board.cell(topic, kind) for topic in shown.topics]
        figure.add_trace(Bar(orientation="h", **_tiles(cells, column, shown.lit, dark=dark)))
    figure.update_layout(**_layout(height=58 + 38 * len(shown.topics)), barmode="overlay", showlegend=False)
    figure.update_layout(margin={"l": 8, "r": 8, "t": 42, "b": 8})
    figure.update_xaxes(
        tickvals=[column + 0.5 for column in range(len(board.kinds))],
        ticktext=[column_labels[kind] for kind in board.kinds],
        tickfont={"size": 13},
        side="top",
        range=[0, len(board.kinds)],
        showgrid=False,
        zeroline=False,
        fixedrange=True,
    )
    figure.update_yaxes(
        tickvals=list(range(len(shown.topics))),
        ticktext=topic_labels([topic.name for topic in shown.topics]),
        tickfont={"size": 13},
        range=[len(shown.topics) - 0.5, -0.5],
        showgrid=False,
        zeroline=False,
        fixedrange=True,
    )
    return figure


def topic_labels(names: Sequence[str]) -> list[str]:
    """Names of topics as labels of at most two lines; of names that begin alike, the second line begins where they
    differ.

    >>> topic_labels([f"The contractor shall run the help desk and answer mails {when}" for when in ("today", "later")])
    ['The contractor shall run the<br>… today', 'The contractor shall run the<br>… later']
    """
    alike: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        alike.setdefault(two_lines(name, _TOPIC), []).append(name)
    return ["<br>".join(map(chart_text, _lines(name, alike[two_lines(name, _TOPIC)]))) for name in names]


def _lines(name: str, alike: Sequence[str]) -> tuple[str, ...]:
    """The lines of a name, among those whose lines would be the same."""
    first, *rest = two_lines(name, _TOPIC)
    if len(set(alike)) == 1:
        return first, *rest
    columns = zip_longest(*(each.split() for each in alike))
    begin = next(at for at, words in enumerate(columns) if len(set(words)) > 1)
    return first, shorten(" ".join(["…", *name.split()[begin:]]), _TOPIC)


def _tiles(cells: Sequence[Cell], column: int, lit: Collection[tuple[int, str]], *, dark: bool) -> dict[str, Any]:
    """One column of the map: a bar of equal length per cell, filled and lettered by its state."""
    colours = [tile_colours(cell.state, dark=dark) for cell in cells]
    strong = [1.0 if (cell.topic_id, cell.kind.value) in lit else 0.3 for cell in cells]
    return {
        "base": [column + 0.02] * len(cells),
        "x": [0.96] * len(cells),
        "y": list(range(len(cells))),
        "width": 0.9,
        "marker": {"color": [fill for fill, _ in colours], "cornerradius": 4, "opacity": strong},
        "text": [_cell_text(cell) for cell in cells],
        "textfont": {"color": [ink for _, ink in colours], "size": 13},
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "customdata": [[cell.topic_id, cell.kind.value] for cell in cells],
        "hovertext": [_cell_hover(cell) for cell in cells],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "selected": {"marker": {"opacity": 1.0}},
        "unselected": {"marker": {"opacity": 0.75}},
    }


def tile_colours(state: CellState, *, dark: bool) -> tuple[str, str]:
    """The fill of a tile, and a text colour that is readable on it."""
    look = CELLS[state]
    return (look.dark, "#ffffff") if dark else (look.light, "#ffffff" if state is CellState.COVERED else "#1f2733")


def _cell_text(cell: Cell) -> str:
    style = CELLS[cell.state]
    words = f"{style.symbol} {style.words if cell.needed else cell.state_in_words}"
    doubt = " ⚠" if cell.risks else ""
    score = score_beside_state(cell.state, cell.evidence_score)
    return f"{words}{score}{doubt}" if score else words


def _cell_hover(cell: Cell) -> str:
    first = f"<b>{chart_text(shorten(cell.topic, 80))}</b> · {kind_in_words(cell.kind)}<br>{cell.state_in_words}"
    why = chart_text(shorten(cell.reason or cell.error, 120))
    doubts = "".join(f"<br>⚠ {chart_text(shorten(risk.words, 110))}" for risk in cell.risks)
    score = score_beside_state(cell.state, cell.evidence_score)
    scored = f":{score} against {cell.threshold:.2f}" if score else ""
    return f"{first}{scored}<br>{why}{doubts}"
