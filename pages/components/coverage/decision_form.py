"""The form for reviewers' decisions, on one cell or on several at once, and the line that undoes the last one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import streamlit as st

from core.coverage.board_view import about_in_words
from core.domain.coverage import Board, Cell, CellState, Decision, ReviewerOpinion, ReviewVerdict
from core.domain.errors import FivefoldError, Outdated
from pages.components import notices, rights, session, urls
from pages.components.coverage import state
from pages.components.user_name import name_input, who
from pages.components.wording import count, day, plain, shorten

__all__ = [
    "REVIEW_AT",
    "VERDICTS",
    "current_meeting",
    "decision_line",
    "draw_form",
    "draw_last_decision",
    "end_of_month",
    "fill_words",
    "record",
    "undo",
    "undo_decision",
    "undo_together",
]

REVIEW_AT = "review.at"
"""The session key of the cell under review, as `state.cell_key` writes it; "": the one that follows the last."""


@dataclass(frozen=True, slots=True)
class _Offer:
    """How a verdict is offered. key: the key that gives it in the review."""

    words: str
    icon: str
    key: str
    help: str


VERDICTS: Mapping[ReviewVerdict, _Offer] = {
    ReviewVerdict.ACCEPTED: _Offer(
        "Accept as covered",
        ":material/check_circle:",
        "a",
        "The sentences shown are enough; the cell counts as covered.",
    ),
    ReviewVerdict.CONFIRMED: _Offer(
        "Confirm gap", ":material/cancel:", "g", "The evidence is missing and has to be obtained."
    ),
    ReviewVerdict.WAIVED: _Offer(
        "Waive", ":material/event_busy:", "w", "Need not be covered until a day; needs a reason and that day."
    ),
    ReviewVerdict.NEEDS_WORK: _Offer(
        "Needs work", ":material/build:", "f", "Something is there, but somebody has to fix it."
    ),
}
"""What can be decided about a cell, in the order it is offered."""

_UNJUDGED = (CellState.NOT_ASSESSED, CellState.ERROR)
_LAST = "coverage.last"
"""The session key of the last decisions, which one click undoes."""


def decision_line(decision: Decision) -> str:
    """A decision in one line of markdown."""
    parts = [f"**{decision.verdict.value}** by {plain(decision.who)}, {day(decision.at)}"]
    parts += [f"owner {plain(decision.owner)}"] if decision.owner else []
    parts += [f"due {decision.due}"] if decision.due else []
    parts += [f"until {decision.expires}"] if decision.expires else []
    parts += [f"“{plain(words)}”" for words in (decision.reason, decision.comment) if words]
    return " · ".join(parts)


def end_of_month(today: date) -> date:
    """The last day of the month; of the next one in its last three days, which leave no time for anything.

    >>> end_of_month(date(2026, 11, 23)), end_of_month(date(2026, 11, 29))
    (datetime.date(2026, 11, 30), datetime.date(2026, 12, 31))
    """
    soon = today + timedelta(days=3)
    return (soon.replace(day=1) + timedelta(days=31)).replace(day=1) - timedelta(days=1)


def draw_form(
    board: Board,
    cells: Sequence[Cell],
    log: Sequence[Decision],
    decision: Decision | None = None,
    *,
    keys: bool = True,
    proposed: ReviewVerdict | None = None,
) -> None:
    """The form of one cell, or of several that are decided together. decision: the one in force, of one cell.

    log: the decisions when it was drawn; a click never overwrites a decision that was not on the screen. keys: whether
    keys decide here, and are shown. proposed: a verdict whose button stands out.
    """
    scope = state.cell_key(cells[0]) if len(cells) == 1 else "together"
    key = _form_key(scope)
    if problem := st.session_state.pop(f"{key}.problem", None):
        notices.error(problem)
    if not who():
        name_input()
    _fields(key, board, decision)
    with st.container(horizontal=True, gap="small"):
        for verdict in _offered(cells):
            offer = VERDICTS[verdict]
            with st.container(key=f"decide_{offer.key}", width="content"):
                words = f"{offer.words} `{offer.key}`" if keys else offer.words
                rights.button("coverage.decide", words, icon=offer.icon, key=f"{key}.{offer.key}", help=offer.help,
                    type="primary" if verdict is proposed else "secondary",
                    on_click=_decide, args=(board, cells, verdict, scope, log),
                )  # fmt: skip


def fill_words(cell: Cell, words: str) -> None:
    """Add to the comment or reason in the form of a cell; called before the form is drawn."""
    key = f"{_form_key(state.cell_key(cell))}.words"
    typed = (st.session_state.get(key) or "").strip()
    st.session_state[key] = " ".join(filter(None, (typed, words)))


def _offered(cells: Sequence[Cell]) -> list[ReviewVerdict]:
    """What can be decided about all of these cells: what was not assessed can be neither accepted nor confirmed."""
    unjudged = any(cell.state in _UNJUDGED for cell in cells)
    return [ReviewVerdict.WAIVED, ReviewVerdict.NEEDS_WORK] if unjudged else list(VERDICTS)


def _fields(key: str, board: Board, decision: Decision | None) -> None:
    """What goes with a verdict, in two rows: who and when, and why and until when."""
    today = state.now().date()
    people = list(dict.fromkeys(filter(None, (*state.coverage_service().people(board.project), who()))))
    owner = decision.owner if decision else ""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.selectbox(
            "Owner", people, key=f"{key}.owner", index=people.index(owner) if owner in people else None,
            placeholder="Who fixes it", accept_new_options=True,
        )  # fmt: skip
        due = decision.due if decision and decision.due and decision.due >= today else None
        _day("Due", f"{key}.due", due, {"Next week": today + timedelta(weeks=1), "End of month": end_of_month(today)})
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input("Comment or reason", key=f"{key}.words", placeholder="A waiver needs a reason")
        in_months = {"3 months": today + timedelta(days=91), "1 year": today + timedelta(days=365)}
        _day("Waived until", f"{key}.expires", None, in_months)


def _day(label: str, key: str, value: date | None, choices: Mapping[str, date]) -> None:
    """A day, with days to choose by one click."""
    if key not in st.session_state:
        st.session_state[key] = value
    st.date_input(label, key=key, format="YYYY-MM-DD", width=150)
    for words, chosen in choices.items():
        st.button(
            words, key=f"{key}.{words}", type="tertiary", help=f"{chosen}", on_click=st.session_state.__setitem__,
            args=(key, chosen),
        )  # fmt: skip


def _form_key(scope: str) -> str:
    """The widget keys of a form; they change when a decision is stored, which empties the form."""
    return f"verdict.{scope}.{st.session_state.get('coverage.kept', 0)}"


def _decide(board: Board, cells: Sequence[Cell], verdict: ReviewVerdict, scope: str, log: Sequence[Decision]) -> None:
    key, typed = _form_key(scope), st.session_state
    if _doubled(cells, verdict):
        return
    seen = {about: sum((each.topic_id, each.kind) == about for each in log) for about in map(_about, cells)}
    words, waived = (typed.get(f"{key}.words") or "").strip(), verdict is ReviewVerdict.WAIVED
    opinions = [
        (
            cell,
            ReviewerOpinion(
                verdict,
                who(),
                seen[_about(cell)],
                reason=words if waived else "",
                comment="" if waived else words,
                owner=typed.get(f"{key}.owner") or "",
                due=None if waived else typed.get(f"{key}.due"),
                expires=typed.get(f"{key}.expires") if waived else None,
            ),
        )
        for cell in cells
    ]
    _apply(scope, lambda: record(board, opinions))


def _about(cell: Cell) -> tuple[int, str]:
    return cell.topic_id, cell.kind.value


def _doubled(cells: Sequence[Cell], verdict: ReviewVerdict) -> bool:
    """Whether this is the second half of a double click: the same was stored before the page was drawn again."""
    last: Sequence[Decision] = st.session_state.get(_LAST, ())
    if [(each.topic_id, each.kind, each.verdict) for each in last] != [(*_about(cell), verdict) for cell in cells]:
        return False
    return (state.now() - last[0].at).total_seconds() < _DOUBLE_CLICK_SECONDS


_DOUBLE_CLICK_SECONDS = 2.0  # longer than drawing the page takes, shorter than looking at a cell again


def draw_last_decision() -> None:
    """What was decided last in this session, and a button that undoes it; nothing before the first decision."""
    last: Sequence[Decision] = st.session_state.get(_LAST, ())
    if not last:
        return
    first = last[0]
    one = f"{plain(shorten(first.topic, 40))} · {about_in_words(first.kind)}"
    what = one if len(last) == 1 else count(len(last), "cell")
    st.markdown(f":material/gavel: Decided: **{first.verdict.value}** – {what}", width="content")
    with st.container(key="decide_u", width="content"):
        rights.button(
            "coverage.undo",
            "Undo `u`", key="coverage.undo", icon=":material/undo:", type="tertiary", help="The log keeps both.",
            on_click=_undo_last, args=(last,),
        )  # fmt: skip


def _undo_last(last: Sequence[Decision]) -> None:
    try:
        undo_together(last)
        st.session_state[REVIEW_AT] = f"{last[0].kind}:{last[0].topic_id}"  # back to what was undone
        st.session_state["review.said"] = "Undone. The log keeps both."
    except FivefoldError as problem:
        st.session_state["coverage.problem"] = problem
    st.session_state[_LAST] = ()
    state.clear_cache()


def undo_decision(board: Board, cell: Cell, log: Sequence[Decision]) -> None:
    """Undo the decision in force for a cell. log: the decisions when it was drawn."""
    seen = sum((each.topic_id, each.kind) == _about(cell) for each in log)
    _apply(state.cell_key(cell), lambda: undo(board, cell, seen))


def _apply(scope: str, speak: Callable[[], Sequence[Decision]]) -> None:
    """Store decisions; the form shows any error above its fields."""
    try:
        stored = speak()
    except Outdated as problem:
        st.session_state["coverage.problem"] = problem  # the cell may be decided now, and its form gone
    except FivefoldError as problem:
        st.session_state[f"{_form_key(scope)}.problem"] = problem
    else:
        st.session_state["coverage.kept"] = st.session_state.get("coverage.kept", 0) + 1
        st.session_state["coverage.decided"] = scope
        st.session_state[_LAST] = () if stored[0].verdict is ReviewVerdict.UNDONE else tuple(stored)
    state.clear_cache()


def current_meeting() -> int | None:
    """The meeting the URL names; None outside of one."""
    return urls.number_in(st.query_params.get("meeting", ""))


def record(board: Board, opinions: Sequence[tuple[Cell, ReviewerOpinion]]) -> Sequence[Decision]:
    """Store decisions, all or none. Raises BadRequest, Outdated."""
    meeting_id = current_meeting()
    if meeting_id is None:
        return state.coverage_service().decide_together(board, opinions)
    return session.workbench().meetings.decide(meeting_id, board, opinions, who())


def undo_together(decisions: Sequence[Decision]) -> Sequence[Decision]:
    """Undo decisions, all or none. Raises BadRequest, Outdated."""
    meeting_id = current_meeting()
    if meeting_id is None:
        return state.coverage_service().undo_together(decisions, who())
    return session.workbench().meetings.undo(meeting_id, decisions, who())


def undo(board: Board, cell: Cell, seen: int) -> Sequence[Decision]:
    """Undo the decision in force for a cell. seen: the number of the last decision the person has seen.

    Raises BadRequest, Outdated.
    """
    meeting_id = current_meeting()
    if meeting_id is None:
        return [state.coverage_service().undo(board, cell, who(), seen)]
    return [session.workbench().meetings.undo_cell(meeting_id, board, cell, seen, who())]
