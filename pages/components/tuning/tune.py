"""The Tune view: one question, a slider for every number of a profile, the effect of each change, and saving it."""
# Longer than 300 lines: one view, the sliders and their effect.

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

import sample
from core.domain.coverage import Board
from core.domain.errors import FivefoldError
from core.domain.filters import SearchFilters
from core.domain.queries import LEG_LABELS, ScoreProfile, SearchRequest
from core.domain.results import SearchResult
from core.evaluation.tuning.profile_registry import differences
from core.evaluation.tuning.sliders import Slider, SliderGroup, acting, changed, idle, sliders, tried, value_of
from core.evaluation.tuning.trial import compared, flips
from core.knowledge.profiles import check_profile
from core.search.explanation import factor_label
from pages.components import notices, rights, session
from pages.components.coverage.state import board as latest_board
from pages.components.notices import wait_for_models
from pages.components.tuning import rank_changes, state
from pages.components.tuning.profile_styles import difference_rows
from pages.components.tuning.saving import draw_save
from pages.components.tuning.state import group_key, slider_key
from pages.components.urls import page_path, params_of
from pages.components.user_name import who
from pages.components.wording import count, plain, shorten

__all__ = ["draw_sliders", "profile_actions", "view"]


_LISTED, _HEIGHT = 6, 230  # changes shown in full; pixels of a longer table


def _draw_changes(base: ScoreProfile, trial: ScoreProfile) -> None:
    """What the trial changes, as a table behind a button."""
    found = differences(base, trial)
    with st.popover(count(len(found), "change"), icon=":material/difference:"), st.container(width=440):
        rows = difference_rows(found, state.profile_title(base), trial.name)
        st.markdown(f"**{count(len(found), 'change')}** to {plain(state.profile_title(base))}")
        st.dataframe(
            rows, key="tune.save.changes", hide_index=True, height="content" if len(rows) <= _LISTED else _HEIGHT
        )


def _saved(base: ScoreProfile, saved: ScoreProfile) -> None:
    """Go on from the saved profile."""
    state.store_changes(base, {})
    state.reset_sliders(saved, {})
    st.session_state["tune.base"], st.session_state["tune.again"] = saved.ref, True
    st.session_state["tune.said"] = plain(f"Saved as {saved.ref}.")


def profile_actions(base: ScoreProfile, project: str | None, request: SearchRequest) -> None:
    """Actions on an unchanged profile: search with it, now or by default."""
    registry = state.evaluation_service().profiles
    if registry.choices().get(base.name) != base:
        st.caption(f"{plain(state.profile_title(base))} is not the newest version; searches use the newest.")
        return
    open_to = [whose for whose in dict.fromkeys((project, None)) if registry.default(whose) != base]
    if open_to:
        with st.popover("Make default", icon=":material/star:"):
            for whose in open_to:
                rights.button(
                    "evaluation.profiles.choose",
                    f"For {plain(whose or 'the whole library')}", key=f"tune.default.{whose or ''}", width="stretch",
                    on_click=_choose_default, args=(whose, base.name),
                )  # fmt: skip
            st.caption(f"In the name of {plain(who())}." if who() else ":material/person: Enter your name above.")
    else:
        st.badge(f"default of {plain(project or 'the library')}", icon=":material/star:", color="primary")
    st.page_link(
        page_path("search"),
        label="Search with it",
        icon=":material/search:",
        query_params=params_of(replace(request, profile=base.name)),
    )


def _choose_default(project: str | None, name: str) -> None:
    st.session_state["tune.again"] = True
    try:
        state.evaluation_service().profiles.choose(project, name, who())
    except FivefoldError as problem:
        state.add_problem(problem)
    else:
        st.session_state["tune.said"] = plain(f"{project or 'The whole library'} searches with {name} now.")


_OPEN = (SliderGroup.WEIGHTS, SliderGroup.SHOWN)
"""What is in sight at once; the other groups are opened."""

_GROUP_TITLES = {
    SliderGroup.OTHERS: "More factors (weight 0)",
    SliderGroup.MULTIPLIERS: "Multipliers",
}

_NARROWEST = 190  # pixels of a slider with its label

_LEAST_SHARE = 0.0005  # less is shown as 0 %


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
            opened = st.expander(_GROUP_TITLES.get(group, group.value), key=group_key(group), on_change="rerun")
            if opened.open:
                with opened:
                    _grid(own, base, trial, changes)
                    _idle_note(own, trial or base)


def _hint(group: SliderGroup) -> str:
    return " :gray[· in proportion to each other]" if group is SliderGroup.WEIGHTS else ""


def _grid(rows: Sequence[Slider], base: ScoreProfile, trial: ScoreProfile | None, changes: Mapping[str, float]) -> None:
    grid = st.grid("auto", min_column_width=_NARROWEST, gap=("xxsmall", "medium"))
    for row in rows:
        kind = int if row.is_integer else float
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


def _idle_note(rows: Sequence[Slider], trial: ScoreProfile) -> None:
    """Which of them change nothing, and why."""
    still = [row for row in rows if idle(row, trial)]
    for through in dict.fromkeys(row.through for row in still):
        names = ", ".join(row.label for row in still if row.through == through)
        st.caption(f":material/link_off: {names}: no effect while the factor *{factor_label(through)}* has no weight.")


_OFFERED = 8  # questions offered per source; chosen by hand
_LETTERS = 90  # characters of an offered question: one line at 800 pixels

_TRIAL = "trial"
"""What the profile the sliders make is called until it is saved."""


def view(project: str | None) -> None:
    """The question and the base profile; then the sliders and their effect."""
    if not session.workbench().documents.has_passages():
        notices.empty_library(":material/tune:", "Nothing to tune on yet")
        return
    state.read_url(project)
    default = state.evaluation_service().profiles.default(project).ref
    base = _question_fields(project)
    request = state.current_request(base, project)
    state.write_url(base, default)
    state.show_outcome()
    if not request.question:
        _landing(project)
    elif not session.ready():
        wait_for_models("The models are loading; the sliders appear as soon as they are ready.")
    else:
        _draw_trial(request, base, project, default)


# What is asked
def _question_fields(project: str | None) -> ScoreProfile:
    """The question, suggestions and the base profile, which is returned."""
    with st.container(key="question"):  # "/" moves to the field in it
        question, others, scored = st.columns([11, 4, 6], vertical_alignment="bottom")
    question.text_input(
        "Question",
        key="tune.question",
        type="search",
        placeholder="Ask a question (press /)",
        persist_state="session",
    )
    with others.popover("Questions", icon=":material/history:", width="stretch"), st.container(width=420):
        _suggestion_boxes(project)
    registry = state.evaluation_service().profiles
    choices = {each.ref: each for each in registry.choices().values()}
    ref = scored.selectbox(
        "Starting from",
        list(dict.fromkeys([*choices, st.session_state["tune.base"]])),
        key="tune.base",
        format_func=lambda each: each.replace("@", " v"),
        help="The profile whose numbers the sliders begin with.",
        persist_state="session",
    )
    base = choices[ref] if ref in choices else registry.find(ref)
    state.begin_trial(base)
    return base


def _suggestion_boxes(project: str | None) -> None:
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
            on_change=_take_suggestion,
            args=(f"tune.suggested.{number}", questions),
        )


def _take_suggestion(key: str, questions: Mapping[str, SearchFilters]) -> None:
    question, st.session_state[key] = st.session_state[key], None
    if question is not None:
        state.set_question(question, questions[question])


def _landing(project: str | None) -> None:
    """No question yet: some that are worth trying."""
    st.caption("Ask a question. Its candidates are retrieved once; each slider move scores them again at once.")
    found = dict(state.suggestions(project))
    if session.sample_loaded():
        found["Worth asking the sample library"] = dict.fromkeys(sample.questions(), SearchFilters())
    for name, questions in found.items():
        with st.container(gap="xxsmall"):
            st.markdown(f"**{plain(name)}**")
            for number, (question, filters) in enumerate(list(questions.items())[:_OFFERED]):
                st.button(
                    plain(shorten(question, _LETTERS)), key=f"tune.ask.{name}.{number}", type="tertiary",
                    icon=":material/tune:", help=plain(question) if len(question) > _LETTERS else None,
                    on_click=state.set_question, args=(question, filters),
                )  # fmt: skip


# What is tried
def _draw_trial(request: SearchRequest, base: ScoreProfile, project: str | None, default: str) -> None:
    try:
        found = state.cached_candidates(request)
        before = state.evaluation_service().rescored(replace(found.result, request=request), base)
    except FivefoldError as problem:
        notices.error(problem)
        return
    _candidates_line(before)
    notices.degraded(before.notices)
    _sliders_and_effect(found.sentences, before, project, default, latest_board(project))


def _candidates_line(result: SearchResult) -> None:
    """How many candidates were retrieved, and by which legs."""
    legs = [f"{LEG_LABELS[leg.leg]} {leg.found:,}" for leg in result.legs if not leg.error]
    words = [
        count(len(result.candidates), "candidate"),
        *legs,
        f"question type {result.route.category.replace('_', ' ')}",
    ]
    if result.filters_in_words:
        words.append(":material/filter_alt: " + plain("; ".join(result.filters_in_words)))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(" · ".join(words), width="content")
        if st.session_state["tune.request"].filters != SearchFilters():
            st.button(
                "Clear filters", key="tune.wide", type="tertiary", icon=":material/filter_alt_off:",
                on_click=state.set_question, args=(result.request.question,),
            )  # fmt: skip


def _sliders_and_effect(
    sentences: Mapping[int, str], before: SearchResult, project: str | None, default: str, board: Board | None
) -> None:
    """The sliders and what they do: a move runs only this."""
    if st.session_state.pop("tune.again", False):  # what was saved or chosen shows above as well
        st.rerun()
    base, legs = before.profile, [leg.leg for leg in before.legs if not leg.error]
    every = sliders(base)
    changes = changed(base, state.slider_values(every, base))
    state.store_changes(base, changes)
    state.write_url(base, default)
    head = st.container()
    with head:
        trial = _trial_profile(base, changes)
    panes = st.grid(2, min_column_width=390, gap="medium")
    with notices.show_errors(), panes.cell():
        _bar(base, trial, changes, project, before)
        draw_sliders(acting(every, legs, relational=before.route.relational), base, trial, changes)
    with notices.show_errors(), panes.cell():
        if trial is not None:
            _effect(head, sentences, before, trial, board)


def _trial_profile(base: ScoreProfile, changes: Mapping[str, float]) -> ScoreProfile | None:
    """The profile the sliders make; None if it is invalid, with the error shown."""
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
    """Actions on the trial, or on the unchanged profile."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if not changes:
            profile_actions(base, project, before.request)
            return
        if trial is not None:
            _draw_changes(base, trial)
        st.button(
            "Reset", key="tune.reset", icon=":material/restart_alt:", on_click=state.reset_sliders, args=(base, {})
        )
        labels = ", ".join(row.label for row in sliders(base) if row.key in changes)
        st.caption(f"Moved: {plain(labels)}", width="content")
    draw_save(trial or base, base, "tune.save", ready=trial is not None, on_saved=partial(_saved, base))


def _effect(
    head: st.delta_generator.DeltaGenerator,
    sentences: Mapping[int, str],
    before: SearchResult,
    trial: ScoreProfile,
    board: Board | None,
) -> None:
    """What the trial does: in one line above, as lines, as the new list, in what comes and goes, on the board."""
    after = before if trial == before.profile else state.evaluation_service().rescored(before, trial)
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
        rank_changes.draw_headline(seen, flipped, after.milliseconds, moved=after is not before)
    rank_changes.draw_rank_lines(seen, before, after, (state.profile_title(before.profile), _TRIAL))
    results, out, cells = st.tabs(["Results", "Enters and leaves", "Coverage"], key="tune.tabs", on_change="rerun")
    if results.open:
        with results:
            rank_changes.draw_new_list(seen, after, sentences, before.request, moved=after is not before)
    elif out.open:
        with out:
            rank_changes.draw_entering_leaving(seen, after, before.request)
    elif cells.open:
        with cells:
            rank_changes.draw_changed_cells(flipped, board, before.profile)
