"""Decisions over detection: which holds, whether what it rests on still stands, and what a meeting has to look at."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime

from core.boards import Board, Cell, CellState, Gap
from core.coverage.gaps import coverage_of, gaps_of
from core.errors import BadRequest
from core.reviews import Decision, Opinion, Reviewed, Verdict
from core.search.quotable import shown_quote
from core.tables.gaps import SEVERITIES

__all__ = ["Held", "check_decision", "decision_on", "holding", "queue", "reviewed"]

Held = Mapping[tuple[int, str], Decision]
"""(topic id, kind) → the decision that holds."""

_UNJUDGED = (CellState.NOT_ASSESSED, CellState.ERROR)


def holding(decisions: Sequence[Decision]) -> Held:
    """The decision that holds on each topic and kind; decisions: oldest first. `undone` takes back the one before."""
    stacks: dict[tuple[int, str], list[Decision]] = {}
    for decision in decisions:
        stack = stacks.setdefault((decision.topic_id, decision.kind), [])
        if decision.verdict is not Verdict.UNDONE:
            stack.append(decision)
        elif stack:
            stack.pop()
    return {about: stack[-1] for about, stack in stacks.items() if stack}


def reviewed(board: Board, held: Held, broken: Mapping[int, str], today: date) -> Board:
    """The board as people have decided. broken: decision id → which sentence it rests on has changed, in words.

    A failed search stays an error, and what is not needed stays not assessed, whatever was decided. Gaps
    of cells that are no holes any more are left out.
    """
    cells = tuple(_decided(cell, held.get((cell.topic_id, cell.kind.value)), broken, today) for cell in board.cells)
    gaps = gaps_of(cells, {topic.name: topic for topic in board.topics})
    return replace(board, cells=cells, gaps=gaps, coverage=coverage_of(cells))


def _decided(cell: Cell, decision: Decision | None, broken: Mapping[int, str], today: date) -> Cell:
    if decision is None or cell.state in _UNJUDGED:
        return cell
    said = f"{decision.who}, {decision.at:%Y-%m-%d}"
    match decision.verdict:
        case Verdict.ACCEPTED if decision.id in broken:
            return _as(cell, CellState.SUSPECT, f"Accepted by {said}; since then {broken[decision.id]}")
        case Verdict.ACCEPTED:
            return _as(cell, CellState.COVERED, f"Accepted as covered by {said}. {cell.reason}".strip())
        case Verdict.WAIVED if decision.expires is None or today <= decision.expires:
            return _as(cell, CellState.WAIVED, f"Waived by {said} until {decision.expires}: {decision.reason}")
        case Verdict.WAIVED:
            return replace(cell, reason=f"The waiver of {said} expired on {decision.expires}. {cell.reason}".strip())
        case Verdict.CONFIRMED if cell.state is CellState.COVERED:
            if decision.state is CellState.COVERED:
                return _as(cell, CellState.GAP, f"Confirmed as a gap by {said}, over what is found: {cell.reason}")
            found = cell.evidence[0]
            words = f"“{shown_quote(found.quote)}” ({found.document_name}) was found"
            return _as(cell, CellState.SUSPECT, f"A gap was confirmed by {said}; since then {words}.")
        case _:
            return cell


def _as(cell: Cell, state: CellState, reason: str) -> Cell:
    return replace(cell, state=state, detected=cell.state, reason=reason)


def queue(board: Board, held: Held) -> tuple[Reviewed, ...]:
    """What a meeting has to look at, worst first: suspect cells, then gaps by severity, partial before low, then
    covered cells there is reason to doubt, failed searches last. What is decided and still stands carries its decision.
    """
    gaps = {(gap.topic, gap.kind): gap for gap in board.gaps}
    topics = {topic.id: topic for topic in board.topics}
    items = []
    for cell in board.cells:
        gap, decision = gaps.get((cell.topic, cell.kind)), held.get((cell.topic_id, cell.kind.value))
        if decision is not None and _open_again(cell, decision):
            decision = None
        doubtful = cell.state is CellState.COVERED and cell.risks
        if gap or decision or doubtful or cell.state in (CellState.SUSPECT, CellState.ERROR):
            items.append(Reviewed(cell, topics[cell.topic_id], gap, decision))
    return tuple(sorted(items, key=lambda item: (_urgency(item.cell, item.gap), -_shortfall(item.cell))))


def _open_again(cell: Cell, decision: Decision) -> bool:
    """Whether a decision no longer settles its cell: what it rests on changed, or its time is over."""
    expired = decision.verdict is Verdict.WAIVED and cell.state is not CellState.WAIVED
    return cell.state is CellState.SUSPECT or (expired and cell.state is not CellState.ERROR)


def _urgency(cell: Cell, gap: Gap | None) -> int:
    if cell.state is CellState.SUSPECT:
        return 0
    if gap is not None:
        return 1 + SEVERITIES.index(gap.severity)
    return 9 if cell.state is CellState.ERROR else 8


def _shortfall(cell: Cell) -> float:
    """How far below the threshold; the worse first."""
    return cell.threshold - cell.evidence_score


def decision_on(board: Board, cell: Cell, opinion: Opinion, at: datetime) -> Decision:
    """An opinion as the next line of the log. An acceptance rests on the cell's evidence, or on its near misses."""
    return Decision(
        topic_id=cell.topic_id,
        kind=cell.kind.value,
        project=board.project,
        verdict=opinion.verdict,
        who=opinion.who.strip(),
        at=at,
        number=opinion.after + 1,
        topic=cell.topic,
        reason=opinion.reason.strip(),
        comment=opinion.comment.strip(),
        owner=opinion.owner.strip(),
        due=opinion.due,
        expires=opinion.expires,
        pinned=(cell.evidence or cell.near_misses) if opinion.verdict is Verdict.ACCEPTED else (),
        state=cell.detected or cell.state,
        score=cell.evidence_score,
        run_id=board.run_id,
    )


def check_decision(
    verdict: Verdict,
    who: str,
    reason: str,
    expires: date | None,
    due: date | None,
    cell: Cell,
    today: date,
) -> None:
    """Whether a reviewer may say this of a cell. Raises BadRequest with everything that is missing."""
    problems = []
    if not who.strip():
        problems.append("A decision needs the name of who takes it.")
    if verdict is Verdict.WAIVED and not reason.strip():
        problems.append("A waiver needs a reason.")
    if verdict is Verdict.WAIVED and (expires is None or expires <= today):
        problems.append("A waiver needs a day after today on which it ends.")
    if due is not None and due < today:
        problems.append(f"The due date {due} has passed.")
    if verdict is Verdict.ACCEPTED and not (cell.evidence or cell.near_misses):
        problems.append("There is no sentence an acceptance could rest on.")
    if verdict in (Verdict.ACCEPTED, Verdict.CONFIRMED) and cell.state in _UNJUDGED:
        problems.append(f"The cell is in state '{cell.state.value}': there is nothing to judge yet.")
    if problems:
        raise BadRequest(" ".join(problems), "Complete it, then decide again.")
