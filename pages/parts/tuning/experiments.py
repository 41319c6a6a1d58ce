"""Every experiment of a set that was kept: to be looked at again, compared, annotated, or deleted."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from core.boards import RunState
from core.experiments import Experiment, ExperimentKind
from core.judged import QuestionSet
from core.tuning.lab import Ground
from core.tuning.metrics import MEASURES
from pages.parts.tuning.compare import ground_now
from pages.parts.tuning.lab_state import did, lab
from pages.parts.tuning.measure_looks import LABELS, SIDES, share
from pages.parts.wording import count

__all__ = ["draw"]

_LISTED, _ROW = 8, 35


def draw(questions: QuestionSet, listed: Sequence[Experiment]) -> None:
    """The list, and what can be done with what is chosen there."""
    done = [each for each in listed if each.state is RunState.DONE]
    st.divider()
    st.markdown(f"**Kept experiments** :gray[· {count(len(done), 'experiment')} with this set]")
    now = ground_now(questions.id)
    event = st.dataframe(
        [_cells(each, now) for each in done],
        key=f"measure.kept.{questions.id}.{len(done)}.{done[0].id}",
        hide_index=True,
        placeholder="–",
        height=_ROW * (min(len(done), _LISTED) + 1) + 3,
        column_config=_columns(),
        on_select="rerun",
        selection_mode="multi-row",
    )
    chosen = [done[place] for place in event["selection"]["rows"] if place < len(done)]
    _chosen(chosen)


def _cells(each: Experiment, now: Ground) -> Mapping[str, object]:
    measures = {LABELS[name]: each.measures[name].mean if name in each.measures else None for name in MEASURES}
    searched = each.kind is ExperimentKind.OPTIMISED
    return {
        "When": f"{each.finished_at or each.started_at:%Y-%m-%d %H:%M}",
        "Profile": each.profile.ref,
        **measures,
        "Unjudged": share(each.unjudged),
        "Changed since": ", ".join(_since(each, now)) or "nothing",
        "By": f"{each.who}{', by the clock' if each.scheduled and each.who != 'schedule' else ''}",
        "Note": f"searched for weights{': ' if each.note else ''}{each.note}" if searched else each.note,
        "Last judgment": each.judgments_version or None,
        "No.": each.id,
    }


def _since(each: Experiment, now: Ground) -> Sequence[str]:
    """What is not as it was when it was measured."""
    checks = (
        ("judgments", each.judgments_version != now.judgments_version),
        ("library", each.corpus_hash != now.corpus_hash),
    )
    return [words for words, differs in checks if differs]


def _columns() -> dict[str, Any]:
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    measures = {
        LABELS[name]: number(format="%.3f", width=100 if " " in LABELS[name] else 72, help=measure.words)
        for name, measure in MEASURES.items()
    }
    return {
        "When": text(pinned=True),
        "Profile": text(pinned=True),
        **measures,
        "Unjudged": text(help="Share of the first ten results nobody had judged."),
        "Changed since": text(help="Whether something was judged, or the library has changed, since it was measured."),
        "Note": text(width="medium"),
        "Last judgment": number(format="%d", help="The number of the last judgment it knew."),
        "No.": number(format="%d"),
    }


def _chosen(chosen: Sequence[Experiment]) -> None:
    if not chosen:
        st.caption("Choose one to look at it, annotate or delete it; choose several to compare them.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        several = len(chosen) > 1
        st.button(
            f"Compare {len(chosen)}" if several else "Look at it",
            key="measure.kept.show",
            type="primary",
            icon=":material/compare:" if several else ":material/visibility:",
            on_click=_show,
            args=([each.id for each in chosen],),
            disabled=len(chosen) > len(SIDES),
            help=f"At most {len(SIDES)} at once." if len(chosen) > len(SIDES) else None,
        )
        if not several:
            _note(chosen[0])
        with st.popover("Delete", icon=":material/delete:"):
            st.markdown(f"Delete {count(len(chosen), 'experiment')} for good? Questions and judgments stay.")
            st.button(
                "Delete", key="measure.kept.delete", type="primary", on_click=_delete,
                args=([each.id for each in chosen],),
            )  # fmt: skip


def _show(ids: Sequence[int]) -> None:
    """Put these side by side above: the oldest is what the others are held against."""
    st.query_params["runs"] = ".".join(str(number) for number in sorted(ids))


def _note(experiment: Experiment) -> None:
    key = f"measure.note.{experiment.id}"
    st.text_input(
        "Note",
        value=experiment.note,
        key=key,
        placeholder="Write a note beside it",
        label_visibility="collapsed",
        max_chars=300,
        on_change=_annotate,
        args=(experiment.id, key),
    )


def _annotate(experiment_id: int, key: str) -> None:
    note = st.session_state[key]
    if did(lambda: lab().annotate(experiment_id, note), "The note is kept."):
        st.session_state.get("lab.whole", {}).pop(experiment_id, None)


def _delete(ids: Sequence[int]) -> None:
    def work() -> None:
        for number in ids:
            lab().delete(number)

    did(work, f"{count(len(ids), 'experiment')} deleted.")
    for number in ids:
        st.session_state.get("lab.whole", {}).pop(number, None)
