"""Boards made by hand, for what comes after detection."""

from datetime import UTC, datetime

from core.domain.coverage import Board, Cell, CellState, Gap, GapKind, Topic
from core.domain.documents import Truth
from core.domain.results import Citation

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)
SEVERITY = {Truth.REGULATORY: "high", Truth.COMPLIANCE: "high", Truth.REFERENCE: "low"}


def citation(quote: str = "Overtime is paid.", **values: object) -> Citation:
    """A sentence on page 1 of a policy."""
    fields = {
        "citation_id": "1.0",
        "passage_id": 1,
        "sentence_index": 0,
        "document_id": 1,
        "document_name": "policy.pdf",
        "sha256": "a" * 64,
        "page": 1,
        "page_number": 1,
        "section": "",
        "start": 0,
        "end": len(quote),
        "quote": quote,
        "truth": Truth.COMPLIANCE,
        "authority": None,
        "jurisdiction": None,
        "date": None,
        "relevance": 0.8,
    }
    return Citation(**(fields | values))  # type: ignore[arg-type]


def board_of(rows: dict[Topic, str], project: str | None = None, run_id: int = 1) -> Board:
    """A board from one letter per truth: c covered, p partial, g gap, s suspect, w waived, n not assessed, e error.

    Covered, suspect and waived cells have a sentence; partial and gap cells come with their gaps.
    """
    letters = {"c": 0, "p": 1, "g": 2, "s": 3, "w": 4, "n": 5, "e": 6}
    scores = (0.9, 0.4, 0.1, 0.8, 0.2, 0.0, 0.0)
    cells, gaps = [], []
    for topic, states in rows.items():
        for truth, letter in zip(Truth, states, strict=True):
            state = list(CellState)[letters[letter]]
            proof = (citation(f"{topic.name} under {truth.value}.", truth=truth),) if letter in "cs" else ()
            score = scores[letters[letter]]
            cells.append(Cell(topic.name, truth, state, score, 0.5, evidence=proof, topic_id=topic.id))
            if letter in "pg":
                severity = SEVERITY.get(truth, "medium")
                gaps.append(Gap(topic.name, truth, severity, "Obtain a rule.", topic_id=topic.id))
    assessed = [cell for cell in cells if cell.state not in (CellState.NOT_ASSESSED, CellState.ERROR)]
    share = sum(cell.state is CellState.COVERED for cell in assessed) / len(assessed) if assessed else None
    order = ("high", "medium", "low")
    worst_first = sorted(gaps, key=lambda gap: order.index(gap.severity))
    return Board(tuple(rows), tuple(cells), tuple(worst_first), share, "balanced", project, NOW, run_id=run_id)


def kinds(board: Board) -> list[GapKind]:
    """The columns of its gaps."""
    return [gap.kind for gap in board.gaps]
