"""How far the judges of a set agree, and the results on which they are far apart."""

from collections.abc import Sequence

import streamlit as st

from core.judged import QuestionSet
from core.tuning.agreement import Agreement, Disputed, strength
from core.tuning.judged_checks import grade_words
from core.tuning.unit_index import UnitIndex
from pages.parts.person import who
from pages.parts.tuning import judge_state
from pages.parts.tuning.set_state import desk
from pages.parts.wording import count, plain, shortened

__all__ = ["OPEN", "agreement"]

OPEN = "judge.agreement.open"
"""Whether the agreement is looked at; to reckon it takes a moment, the first time some seconds."""

_LISTED = 12
_NAMED = 3


def agreement(questions: QuestionSet, *, blind: bool) -> None:
    """The judges; opened, how far they agree beyond chance, and what they dispute. A blind judge sees of the disputes
    only those they have had their say in."""
    judges = _judges(questions)
    if len(judges) < 2:
        st.caption(":material/group: With a second judge, how far you agree stands here.")
        return
    label = f"Agreement of {count(len(judges), 'judge')}: {', '.join(map(plain, judges[:_NAMED]))}"
    more = f" and {len(judges) - _NAMED} more" if len(judges) > _NAMED else ""
    box = st.expander(label + more, icon=":material/group:", key=OPEN, on_change="rerun")
    if box.open:
        with box:
            _opened(questions, blind=blind)


def _opened(questions: QuestionSet, *, blind: bool) -> None:
    found, far, index = _read(questions)
    _told(found)
    mine = [each for each in far if not blind or who() in dict(each.grades)]
    _disputed(questions, mine, index)
    if len(mine) < len(far):
        st.caption(f"{count(len(far) - len(mine), 'more disputed result')} you have not judged yet.")


def _judges(questions: QuestionSet) -> Sequence[str]:
    """Who has graded something, by name; read once per question that is opened."""
    state = st.session_state
    if state.get("judge.judges", (None,))[0] != questions.id:
        said = desk().judgments(questions.id)
        state["judge.judges"] = (questions.id, sorted({each.who for each in said if each.grade is not None}))
    judges: Sequence[str] = state["judge.judges"][1]
    return judges


def _read(questions: QuestionSet) -> tuple[Agreement, Sequence[Disputed], UnitIndex]:
    """All of it, once per question that is opened: it is drawn again with every key."""
    state = st.session_state
    if state.get("judge.agreement", (None,))[0] != questions.id:
        said = (desk().agreement(questions.id), desk().disputed(questions.id), desk().index())
        state["judge.agreement"] = (questions.id, said)
    read: tuple[Agreement, Sequence[Disputed], UnitIndex] = state["judge.agreement"][1]
    return read


def _told(found: Agreement) -> None:
    if found.alpha is None:
        st.markdown(plain(found.words))
    else:
        shared = count(found.units, "result")
        st.markdown(f"**{strength(found.alpha).capitalize()}**, α {found.alpha:.2f}")
        st.caption(f"Krippendorff’s α over {shared} graded by two judges or more; 1 is full agreement, 0 is chance.")
    pairs = [pair for pair in found.pairs if pair.units]
    if pairs:
        st.dataframe(
            [
                {
                    "judges": f"{pair.first} and {pair.second}",
                    "graded by both": pair.units,
                    "κ": "–" if pair.kappa is None else f"{pair.kappa:.2f}",
                    "in words": pair.words,
                }
                for pair in pairs
            ],
            hide_index=True,
            height="content" if len(pairs) <= _LISTED else 430,
            column_config={
                "judges": st.column_config.TextColumn(width="medium"),
                "graded by both": st.column_config.NumberColumn(width="small"),
                "κ": st.column_config.TextColumn(width="small", help="Cohen's kappa with quadratic weights."),
                "in words": st.column_config.TextColumn(width="large"),
            },
        )


def _disputed(questions: QuestionSet, far: Sequence[Disputed], index: UnitIndex) -> None:
    """Each result judges differ on by two grades or more, and the way to it."""
    if not far:
        return
    st.markdown(f"**{count(len(far), 'disputed result')}** :gray[· two grades apart or more]")
    keys = {each.id: each for each in judge_state.listed(questions.id)}
    for each in far[:_LISTED]:
        asked, passage, document = keys.get(each.question_id), index.passage(each.unit), index.document(each.unit)
        if asked is None:
            continue
        with st.container(border=True, gap="xsmall"):
            with st.container(horizontal=True, vertical_alignment="center"):
                grades = " · ".join(f"{plain(judge)} **{grade_words(grade)}**" for judge, grade in each.grades)
                st.markdown(grades, width="stretch")
                st.button(
                    "Look again", key=f"judge.disputed.{each.question_id}.{each.unit}", type="tertiary",
                    icon=":material/replay:", on_click=_look, args=(each,),
                )  # fmt: skip
            name = document.name if document else "a document that is not here any more"
            said = f": {plain(shortened(passage.text, 160))}" if passage else ""
            st.caption(f"{plain(asked.key)} {plain(shortened(asked.question, 90))}  \n{plain(name)}{said}")
    if len(far) > _LISTED:
        st.caption(f"… and {count(len(far) - _LISTED, 'more')}.")


def _look(each: Disputed) -> None:
    judge_state.open_question(each.question_id)
    judge_state.go(each.unit)
