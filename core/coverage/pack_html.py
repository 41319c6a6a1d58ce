"""The meeting pack as one self-contained HTML file: nothing is loaded from anywhere, everything quoted is escaped."""

from pathlib import Path
from typing import Any

from core.boards import Cell
from core.coverage.gaps import ASSESSED, score_in_words
from core.coverage.pack import STATE_LOOKS, Pack
from core.coverage.shares import by_domain, by_kind
from core.search.quotable import shown_quote

__all__ = ["pack_html"]

_TEMPLATE = Path(__file__).with_name("meeting_pack.html")


def pack_html(pack: Pack) -> str:
    """The page's source."""
    from jinja2 import Environment, StrictUndefined

    names = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    names.filters |= {"score": score_in_words, "quote": shown_quote, "percent": _percent}
    template = names.from_string(_TEMPLATE.read_text("utf-8"))
    return template.render(
        pack=pack,
        board=pack.board,
        held=pack.held,
        looks=STATE_LOOKS,
        cell_words=_cell_words,
        kinds=by_kind(pack.board),
        domains=by_domain(pack.board),
        evidenced=[cell for cell in pack.board.cells if cell.evidence or cell.near_misses],
        ids={topic.name: topic.id for topic in pack.board.topics},
    )


def _cell_words(cell: Cell) -> str:
    score = f" {score_in_words(cell.evidence_score)}" if cell.state in ASSESSED else ""
    return f"{STATE_LOOKS[cell.state].symbol} {cell.state.value}{score}"


def _percent(share: Any) -> str:
    return "–" if share is None else f"{share:.0%}"
