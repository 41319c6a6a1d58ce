"""Compares one question under two profiles: rank changes with reasons, entering and leaving results, overlap."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.coverage.gaps import state_of
from core.domain.coverage import Board, Cell, CellState
from core.domain.queries import ScoreProfile
from core.domain.results import Candidate, Dropped, DropReason, Hit, Score, SearchResult
from core.evaluation.metrics.significance import jaccard, rank_biased_overlap
from core.knowledge.factors import factor_table
from core.knowledge.gaps import evidence_row

__all__ = ["CellChangePreview", "RankChange", "Trial", "compared", "flips"]

_TOLD = 2  # factors named in a reason
_LEAST_CHANGE = 0.0005  # smaller changes are shown as 0.000


@dataclass(frozen=True, slots=True)
class RankChange:
    """One passage under both profiles. before, after: 1-based rank, None if not shown.
    position_before, position_after: 1-based, in the whole ranking, also of what stands after the last one shown; None:
    kept out of it. score_before, score_after: None where it has none. why: in words, what moved it or keeps it out."""

    candidate: Candidate
    before: int | None
    after: int | None
    position_before: int | None
    position_after: int | None
    score_before: Score | None
    score_after: Score | None
    why: str

    @property
    def passage_id(self) -> int:
        """Whose move it is."""
        return self.candidate.passage.id

    @property
    def up(self) -> int:
        """Ranks gained (> 0) or lost; 0 when it came or went."""
        return self.before - self.after if self.before and self.after else 0

    @property
    def shown(self) -> bool:
        """Whether one of the two lists shows it."""
        return self.before is not None or self.after is not None


@dataclass(frozen=True, slots=True)
class Trial:
    """Two lists of one question. depth: how far down they are compared.

    moves: what stands among the first `depth` places of either ranking, in the order of the new one, then what it does
    not rank, by its old place; with what is not shown for standing after the last result. overlap: rank-biased overlap
    with p = 0.9, jaccard: both of the shown passages, in [0, 1].
    """

    moves: tuple[RankChange, ...]
    overlap: float
    jaccard: float
    depth: int

    @property
    def entering(self) -> tuple[RankChange, ...]:
        """What only the new list shows."""
        return tuple(move for move in self.moves if move.before is None and move.after is not None)

    @property
    def leaving(self) -> tuple[RankChange, ...]:
        """What only the old list shows."""
        return tuple(move for move in self.moves if move.after is None and move.before is not None)

    @property
    def staying(self) -> tuple[RankChange, ...]:
        """What both lists show, in the order of the new one."""
        return tuple(move for move in self.moves if move.after is not None and move.before is not None)


@dataclass(frozen=True, slots=True)
class _RankedPassage:
    """Where a passage stands under one profile: shown at a rank, ranked beyond that, or kept out."""

    item: Hit | Dropped
    position: int | None
    rank: int | None


def compared(before: SearchResult, after: SearchResult, depth: int = 10) -> Trial:
    """The first `depth` results of one retrieval under two profiles."""
    old, new = _standings(before, depth), _standings(after, depth)
    near = [i for i in new if _within(new[i].position, depth)]
    near += [i for i in old if _within(old[i].position, depth) and not _within(_position(new, i), depth)]
    moves = [_move(old.get(i), new.get(i)) for i in near]
    moves.sort(key=lambda move: (move.position_after is None, move.position_after or move.position_before or 0))
    was, now = ([str(i) for i, each in side.items() if each.rank is not None] for side in (old, new))
    return Trial(tuple(moves), rank_biased_overlap(was, now), jaccard(was, now), depth)


def _standings(result: SearchResult, depth: int) -> Mapping[int, _RankedPassage]:
    """Passage id → where it stands; what is ranked first, in its order."""
    beyond = [each for each in result.dropped if each.reason is DropReason.BEYOND_MAX]
    found = {
        hit.candidate.passage.id: _RankedPassage(hit, hit.rank, hit.rank if hit.rank <= depth else None)
        for hit in result.hits
    }
    for position, each in enumerate(beyond, len(result.hits) + 1):
        found[each.candidate.passage.id] = _RankedPassage(each, position, None)
    for each in result.dropped:
        found.setdefault(each.candidate.passage.id, _RankedPassage(each, None, None))
    return found


def _within(position: int | None, depth: int) -> bool:
    return position is not None and position <= depth


def _position(side: Mapping[int, _RankedPassage], passage_id: int) -> int | None:
    return side[passage_id].position if passage_id in side else None


def _move(was: _RankedPassage | None, now: _RankedPassage | None) -> RankChange:
    known = now or was
    assert known is not None  # every id comes from one of the two rankings
    old, new = (each.item.score if each else None for each in (was, now))
    rank_before, rank_after = (each.rank if each else None for each in (was, now))
    position_before, position_after = (each.position if each else None for each in (was, now))
    because = _because(
        old, new, (position_before or 0) - (position_after or 0) if position_before and position_after else None
    )
    if rank_before is None and rank_after is not None:
        because = f"{_why_filtered(was)} before – {because}"
    elif rank_after is None and rank_before is not None:
        because = f"{_why_filtered(now)} now – {because}"
    return RankChange(known.item.candidate, rank_before, rank_after, position_before, position_after, old, new, because)


def _why_filtered(standing: _RankedPassage | None) -> str:
    if standing is None:
        return "not found"
    if standing.position is not None:
        return f"rank {standing.position}"
    item = standing.item
    return f"{item.reason.value} ({item.detail})" if isinstance(item, Dropped) else "shown"


def _because(before: Score | None, after: Score | None, up: int | None) -> str:
    """The factors whose contribution changed most, and whether the others changed more. up: places gained, None when
    one of the two does not rank it.

    Multipliers change the whole sum: they are named with what they are worth now.
    """
    if before is None or after is None:
        return "not scored by one of the two"
    reasons = _largest_changes(before, after)
    times = {each.name: each.value for each in before.multipliers}
    table = factor_table()
    values = {each.name: each.value for each in after.multipliers}
    reasons += [
        f"× {table[name].label.lower()} {values.get(name, 1.0):.2f} instead of {times.get(name, 1.0):.2f}"
        for name in {**times, **values}
        if abs(values.get(name, 1.0) - times.get(name, 1.0)) >= _LEAST_CHANGE
    ]
    if not reasons:
        return "its own score is the same" + ("; others moved" if up else "")
    gained = after.total - before.total
    if up and gained * up <= 0:
        reasons.append(f"others {'lost' if up > 0 else 'gained'} more")
    return ", ".join(reasons)


def _largest_changes(before: Score, after: Score) -> list[str]:
    old, new = _contributions(before), _contributions(after)
    changes = {name: new.get(name, 0.0) - old.get(name, 0.0) for name in {**old, **new}}
    largest = sorted((name for name in changes if abs(changes[name]) >= _LEAST_CHANGE), key=lambda n: -abs(changes[n]))
    table = factor_table()
    return [f"{table[name].label.lower()} {_signed(changes[name])}" for name in largest[:_TOLD]]


def _signed(change: float) -> str:
    return f"{change:+.3f}".replace("-", "−")


def _contributions(score: Score) -> Mapping[str, float]:
    return {factor.name: factor.contribution for factor in score.factors}


@dataclass(frozen=True, slots=True)
class CellChangePreview:
    """A cell of the board that another profile's thresholds judge otherwise. decided: a person's decision holds on it,
    so the board stays as it is."""

    cell: Cell
    before: CellState
    after: CellState
    decided: bool


def flips(board: Board, before: ScoreProfile, after: ScoreProfile) -> Sequence[CellChangePreview]:
    """The cells whose detected state is another under the new thresholds, in the board's order.

    Coverage weighs evidence by its own absolute score, not by a profile's weights: of a profile only `covered` and
    `partial` reach the board.
    """
    old, new = evidence_row(before), evidence_row(after)
    if old == new:
        return ()
    found = []
    for cell in board.cells:
        detected = cell.detected or cell.state
        if detected not in (CellState.COVERED, CellState.PARTIAL, CellState.GAP):
            continue
        was, now = state_of(cell.evidence_score, old), state_of(cell.evidence_score, new)
        if was is not now:
            found.append(CellChangePreview(cell, was, now, cell.detected is not None))
    return tuple(found)
