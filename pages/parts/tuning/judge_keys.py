"""What is said of a result, and the ways to others: buttons with a key each."""

from collections.abc import Sequence

import streamlit as st

from core.judged import GRADES, QuestionSet
from core.tuning.pools import Pool, PoolItem
from pages.parts.person import who
from pages.parts.tuning import judge_state as state

__all__ = ["keys"]

_LABELS = {0: "Irrelevant", 1: "Related", 2: "Answers in part", 3: "Answers"}


def keys(questions: QuestionSet, pool: Pool, item: PoolItem | None) -> None:
    """The grades, then the ways on. item: the result that is looked at; None when all are judged."""
    _grades(questions, pool, item)
    _ways(questions, pool, item)


def _grades(questions: QuestionSet, pool: Pool, item: PoolItem | None) -> None:
    """One button per grade; the keys 0 to 3 and X press them."""
    mine = item.mine if item else None
    for place, given in zip(st.columns(5, gap="small"), [*GRADES, None], strict=True):
        chosen = mine is not None and mine.grade == given
        place.button(
            _LABELS.get(given, "Can't judge") if given is not None else "Can't judge",
            key=f"judge.grade.{given}",
            type="primary" if chosen else "secondary",
            shortcut="X" if given is None else str(given),
            width="stretch",
            disabled=item is None or not who(),
            on_click=state.grade,
            args=(pool, questions.id, item.unit if item else "", given),
        )
    if not who():
        st.caption(
            ":material/person: Say who you are, above; then grade with the keys 0, 1, 2, 3, or X for “can't judge”."
        )


def _ways(questions: QuestionSet, pool: Pool, item: PoolItem | None) -> None:
    """To the result before and after, and to the next question."""
    units: Sequence[str] = pool.units
    here = units.index(item.unit) if item else len(units)
    before, place, after, following = st.columns([2, 4, 2, 3], vertical_alignment="center")
    before.button(
        "Previous", key="judge.before", icon=":material/arrow_back:", shortcut="Left", width="stretch",
        disabled=here == 0, on_click=state.go, args=(units[here - 1] if here else "",),
    )  # fmt: skip
    place.markdown(_strip(pool, item), text_alignment="center")
    after.button(
        "Next", key="judge.after", icon=":material/arrow_forward:", shortcut="Right", width="stretch",
        disabled=here + 1 >= len(units), on_click=state.go, args=(units[here + 1] if here + 1 < len(units) else "",),
    )  # fmt: skip
    following.button(
        "Next question", key="judge.next", icon=":material/skip_next:", shortcut="N", width="stretch",
        type="primary" if item is None else "secondary", on_click=state.next_question,
        args=(questions.id, pool.question.id),
    )  # fmt: skip


def _strip(pool: Pool, item: PoolItem | None) -> str:
    """One's grades so far, a sign per result, the one that is looked at in bold."""
    signs = []
    for each in pool.items:
        sign = "○" if each.mine is None else "×" if each.mine.grade is None else str(each.mine.grade)
        signs.append(f":primary-background[**{sign}**]" if item and each.unit == item.unit else f":gray[{sign}]")
    return " ".join(signs)
