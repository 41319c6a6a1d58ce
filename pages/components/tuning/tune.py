"""The Tune view: one question, a slider for every number of a profile, and the effect of each change at once."""
# Longer than 300 lines: one view with the form that saves the trial.

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

import sample
from core.domain.coverage import Board
from core.domain.errors import FivefoldError
from core.domain.filters import SearchFilters
from core.domain.queries import LEG_LABELS, ScoreProfile, SearchRequest
from core.domain.results import SearchResult
from core.evaluation.tuning.sliders import Slider, SliderGroup, acting, changed, idle, sliders, tried, value_of
from core.evaluation.tuning.trial import compared, flips
from core.knowledge.profiles import check_profile
from core.search.explanation.score_breakdown import factor_label
from pages.components import notices, session
from pages.components.coverage.state import board as latest_board
from pages.components.tuning import rank_changes, state
from pages.components.tuning.save_profile import kept, saving
from pages.components.tuning.state import group_key, slider_key
from pages.components.urls import page_path, params_of
from pages.components.wording import count, plain

__all__ = ["draw_sliders", "view"]

_OPEN = (SliderGroup.WEIGHTS, SliderGroup.SHOWN)
"""What is in sight at once; the other groups are opened."""

_SAID = {
    SliderGroup.OTHERS: "More factors (weight 0)",
    SliderGroup.MULTIPLIERS: "Multipliers",
}

_NARROWEST = 190

_LEAST_SHARE = 0.0005


def draw_sliders(
    rows: Sequence[Slider], base: ScoreProfile, trial: ScoreProfile | None, changes: Mapping[str, float]
) -> None:
    """All sliders, group by group. trial: the profile they make, None when there can be none."""
    for group in SliderGroup:
        own = [row for row in rows if row.group is group]
        if not own:
            continue
        if group in _OPEN:
            st.markdown(f"**{group.value}**{_hint(group)}")
            _grid(own, base, trial, changes)
        else:
            # Its words stay the same and a closed one draws nothing: it keeps its state, and a move stays quick.
            opened = st.expander(_SAID.get(group, group.value), key=group_key(group), on_change="rerun")
            if opened.open:
                with opened:
                    _grid(own, base, trial, changes)
                    _idle(own, trial or base)


def _hint(group: SliderGroup) -> str:
    return " :gray[· shares of what they add up to]" if group is SliderGroup.WEIGHTS else ""


def _grid(rows: Sequence[Slider], base: ScoreProfile, trial: ScoreProfile | None, changes: Mapping[str, float]) -> None:
    grid = st.grid("auto", min_column_width=_NARROWEST, gap=("xxsmall", "medium"))
    for row in rows:
        kind = int if row.whole else float
        grid.slider(
            _label(row, base, trial, changes),
            kind(row.least),
            kind(row.most),
            step=kind(row.step),
            format="%.2f" if row.step < 1 else "%d",
            key=slider_key(row.key),
            help=row.means,
            persist_state="session",  # a closed group must not forget
        )


def _label(row: Slider, base: ScoreProfile, trial: ScoreProfile | None, changes: Mapping[str, float]) -> str:
    """What it is called, the share a weight comes to, and what it was before it was moved."""
    if row.key.startswith("w."):
        name = row.key.removeprefix("w.")
        share, was = (profile.weights.get(name, 0.0) if profile else 0.0 for profile in (trial, base))
        words = f"{row.label} · {share:.0%}" if share >= _LEAST_SHARE else row.label
        return words + (f" :primary[• was {was:.0%}]" if row.key in changes else "")
    if row.key not in changes:
        return row.label
    was = value_of(base, row.key)
    return f"{row.label} :primary[• was {f'{was:.2f}' if row.step < 1 else f'{was:g}'}]"


def _idle(rows: Sequence[Slider], trial: ScoreProfile) -> None:
    """Which of them change nothing, and why."""
    still = [row for row in rows if idle(row, trial)]
    for through in dict.fromkeys(row.through for row in still):
        names = ", ".join(row.label for row in still if row.through == through)
        st.caption(f":material/link_off: {names}: no effect while the factor *{factor_label(through)}* has no weight.")


_OFFERED = 8

_TRIAL = "trial"
"""What the profile the sliders make is called until it is saved."""


def view(project: str | None) -> None:
    """What is asked and the profile it starts from; then the sliders, and what they do."""
    if not session.workbench().documents.statistics().passages:
        notices.empty_library(":material/tune:", "Nothing to tune on yet")
        return
    state.adopt(project)
    default = state.desk().profiles.default(project).ref
    base = _asked(project)
    request = state.asked(base, project)
    state.write(base, default)
    state.told()
    if not request.question:
        _landing(project)
    elif not session.ready():
        _wait_for_models()
    else:
        _answered(request, base, project, default)


@st.fragment(run_every=0.7)
def _wait_for_models() -> None:
    session.start_warming()
    if session.ready():
        st.rerun()
    st.info("The models are loading; the sliders appear as soon as they are ready.", icon=":material/hourglass_top:")


# What is asked
def _asked(project: str | None) -> ScoreProfile:
    """The question, what others ask, and the profile the sliders start from, which it gives."""
    with st.container(key="question"):  # "/" moves to the field in it
        asked, others, scored = st.columns([11, 4, 6], vertical_alignment="bottom")
    asked.text_input(
        "Question",
        key="tune.question",
        type="search",
        placeholder="Ask in your own words; press / to come here",
        persist_state="session",
    )
    with others.popover("Questions", icon=":material/history:", width="stretch"), st.container(width=420):
        _suggested(project)
    book = state.desk().profiles
    choices = {each.ref: each for each in book.choices().values()}
    ref = scored.selectbox(
        "Starting from",
        list(dict.fromkeys([*choices, st.session_state["tune.base"]])),
        key="tune.base",
        format_func=lambda each: each.replace("@", " v"),
        help="The profile whose numbers the sliders begin with.",
        persist_state="session",
    )
    base = choices[ref] if ref in choices else book.find(ref)
    state.begin(base)
    return base


def _suggested(project: str | None) -> None:
    found = state.suggestions(project)
    if not found:
        st.caption("Nothing has been asked yet, and there is no set of questions.")
    for number, (name, questions) in enumerate(found.items()):
        st.selectbox(
            plain(name),
            list(questions),
            index=None,
            key=f"tune.suggested.{number}",
            placeholder=count(len(questions), "question"),
            on_change=_take,
            args=(f"tune.suggested.{number}", questions),
        )


def _take(key: str, questions: Mapping[str, SearchFilters]) -> None:
    question, st.session_state[key] = st.session_state[key], None
    if question is not None:
        state.ask(question, questions[question])


def _landing(project: str | None) -> None:
    """No question yet: some that are worth trying."""
    st.caption("Ask something. Its candidates are brought once; every move of a slider re-scores them at once.")
    found = dict(state.suggestions(project))
    if session.sample_loaded():
        found["Worth asking the sample library"] = dict.fromkeys(sample.questions(), SearchFilters())
    for name, questions in found.items():
        with st.container(gap="xxsmall"):
            st.markdown(f"**{plain(name)}**")
            for number, (question, filters) in enumerate(list(questions.items())[:_OFFERED]):
                st.button(
                    plain(question), key=f"tune.ask.{name}.{number}", type="tertiary", icon=":material/tune:",
                    on_click=state.ask, args=(question, filters),
                )  # fmt: skip


# What is tried
def _answered(request: SearchRequest, base: ScoreProfile, project: str | None, default: str) -> None:
    try:
        found = state.retrieved(request)
        before = state.desk().rescored(replace(found.result, request=request), base)
    except FivefoldError as problem:
        notices.error(problem)
        return
    _narrowed(before)
    notices.degraded(before.notices)
    if before.refusal:
        _refused(before, base)
        return
    _bench(found.sentences, before, project, default, latest_board(project))


def _narrowed(result: SearchResult) -> None:
    """What was brought, and from where."""
    legs = [f"{LEG_LABELS[leg.leg]} {leg.found:,}" for leg in result.legs if not leg.error]
    words = [count(len(result.candidates), "candidate"), *legs, f"route {result.route.category.replace('_', ' ')}"]
    if result.filters_in_words:
        words.append(":material/filter_alt: " + plain("; ".join(result.filters_in_words)))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(" · ".join(words), width="content")
        if st.session_state["tune.request"].filters != SearchFilters():
            st.button(
                "Clear filters", key="tune.wide", type="tertiary", icon=":material/filter_alt_off:",
                on_click=state.ask, args=(result.request.question,),
            )  # fmt: skip


def _refused(result: SearchResult, base: ScoreProfile) -> None:
    """The library refuses before anything is scored."""
    notices.empty(":material/search_off:", "Nothing in the library answers this", plain(result.refusal))
    st.caption(
        "The refusal rests on what was found, not on how it is scored: no profile changes it, so there is nothing to"
        " tune here. Try another question, or look at the nearest misses in Search."
    )
    st.page_link(
        page_path("search"),
        label="Open in Search",
        icon=":material/search:",
        query_params=params_of(replace(result.request, profile=base.name)),
    )


@st.fragment
def _bench(
    sentences: Mapping[int, str], before: SearchResult, project: str | None, default: str, board: Board | None
) -> None:
    """The sliders and what they do: a move runs only this."""
    if st.session_state.pop("tune.again", False):  # what was saved or chosen shows above as well
        st.rerun()
    base, legs = before.profile, [leg.leg for leg in before.legs if not leg.error]
    every = sliders(base)
    changes = changed(base, state.standing(every, base))
    state.moved(base, changes)
    state.write(base, default)
    head = st.container()
    with head:
        trial = _tried(base, changes)
    panes = st.grid(2, min_column_width=390, gap="medium")
    with notices.told(), panes.cell():
        _bar(base, trial, changes, project, before)
        draw_sliders(acting(every, legs, relational=before.route.relational), base, trial, changes)
    with notices.told(), panes.cell():
        if trial is not None:
            _effect(head, sentences, before, trial, board)


def _tried(base: ScoreProfile, changes: Mapping[str, float]) -> ScoreProfile | None:
    """The profile the sliders make; None when there can be none, which is told."""
    try:
        return check_profile(replace(tried(base, changes), name=_TRIAL)) if changes else base
    except FivefoldError as problem:
        notices.error(problem)
        return None


def _bar(
    base: ScoreProfile,
    trial: ScoreProfile | None,
    changes: Mapping[str, float],
    project: str | None,
    before: SearchResult,
) -> None:
    """What can be done with the trial, or with the profile on which nothing is tried."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if not changes:
            kept(base, project, before.request)
            return
        save = st.popover(
            "Save as profile", icon=":material/save:", key="tune.save", on_change="rerun", disabled=trial is None
        )
        st.button("Reset", key="tune.reset", icon=":material/restart_alt:", on_click=state.restart, args=(base, {}))
        labels = ", ".join(row.label for row in sliders(base) if row.key in changes)
        st.caption(f"Moved: {plain(labels)}", width="content")
    if save.open and trial is not None:
        with save, st.container(width=440):
            saving(base, trial)


def _effect(
    head: st.delta_generator.DeltaGenerator,
    sentences: Mapping[int, str],
    before: SearchResult,
    trial: ScoreProfile,
    board: Board | None,
) -> None:
    """What the trial does: in one line above, as lines, as the new list, in what comes and goes, on the board."""
    after = before if trial == before.profile else state.desk().rescored(before, trial)
    depth = st.segmented_control(
        "Compare",
        state.DEPTHS,
        key="tune.depth",
        required=True,
        format_func="First {}".format,
        label_visibility="collapsed",
        persist_state="session",
    )
    seen = compared(before, after, depth or state.DEPTHS[0])
    flipped = flips(board, before.profile, trial) if board is not None else ()
    with head:
        rank_changes.headline(seen, flipped, after.milliseconds, moved=after is not before)
    rank_changes.lines(seen, before, after, (state.called(before.profile), _TRIAL))
    results, out, cells = st.tabs(["Results", "Enters and leaves", "Coverage"], key="tune.tabs", on_change="rerun")
    if results.open:
        with results:
            rank_changes.listed(seen, after, sentences, before.request, moved=after is not before)
    elif out.open:
        with out:
            rank_changes.in_and_out(seen, after, before.request)
    elif cells.open:
        with cells:
            rank_changes.cells(flipped, board, before.profile)
