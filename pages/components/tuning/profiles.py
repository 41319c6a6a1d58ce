"""The Profiles view: the default profile, all profiles, the opened one with its history, and TOML files in and out."""
# Longer than 300 lines: one view, top to bottom.

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import pairwise

import streamlit as st

from bootstrap.environment import utc_now
from core.domain.errors import BadRequest, FivefoldError
from core.domain.profiles import ProfileVersion
from core.domain.queries import ScoreProfile
from core.evaluation.tuning.profile_registry import ProfileDraft, ProfileRegistry, differences, from_toml, to_toml
from pages.components import notices, rights, session
from pages.components.chart_view import draw_chart
from pages.components.tuning.profile_styles import (
    difference_rows,
    profile_label,
    setting_lines,
    weight_bars,
    weight_strip,
)
from pages.components.user_name import who
from pages.components.wording import ago, count, day, plain

__all__ = [
    "apply_change",
    "draw_comparison",
    "draw_files",
    "draw_history",
    "open_profile",
    "origin_line",
    "registry",
    "roll_back",
    "show_outcome",
    "view",
]


def registry() -> ProfileRegistry:
    """The profile registry."""
    profiles: ProfileRegistry = session.workbench().evaluation.profiles
    return profiles


def open_profile(ref: str) -> None:
    """Open a profile beside the list and write it to the URL."""
    st.query_params["profile"] = ref


def apply_change(work: Callable[[], object], message: str) -> bool:
    """Run an action and store its message; the view shows any error. Returns whether it succeeded."""
    try:
        work()
    except FivefoldError as problem:
        st.session_state["tuning.profiles.problem"] = problem
        return False
    st.session_state["tuning.profiles.said"] = message
    return True


def show_outcome() -> None:
    """Show the outcome of the last click: at the top, and as a toast for readers further down."""
    problem: FivefoldError | None = st.session_state.pop("tuning.profiles.problem", None)
    if problem is not None:
        notices.error(problem)
        st.toast(plain(str(problem)), icon=":material/error:")
    if message := st.session_state.pop("tuning.profiles.said", ""):
        st.toast(message, icon=":material/check:")


_MOST_VERSIONS = 12  # versions listed at first; chosen by hand

_MOST_CHANGES = 4  # changes named per version; chosen by hand


def origin_line(version: ProfileVersion) -> str:
    """Who saved it, when, from what and why, as safe markdown."""
    author = f"{plain(version.who)}, {day(version.at)} {version.at:%H:%M}"
    if version.retired:
        return f"Archived by {author}"
    parts = [author] + ([f"from {plain(version.origin)}"] if version.origin else [])
    parts += [f"“{plain(version.note)}”"] if version.note else []
    return " · ".join(parts)


# Compared
def draw_comparison(opened: ScoreProfile, project: str | None) -> None:
    """Any two, chosen from every profile in every version; at first the opened one with what it follows."""
    known = dict(sorted(registry().every().items(), key=lambda each: each[1].name != opened.name))
    left, right = st.columns(2)
    key = f"tuning.profiles.{opened.ref}"
    before = left.selectbox(
        "Before", list(known), index=list(known).index(_predecessor(opened, known, project)), key=f"{key}.before"
    )
    after = right.selectbox("After", list(known), index=list(known).index(opened.ref), key=f"{key}.after")
    old, new = known[before], known[after]
    found = differences(old, new)
    if not found:
        st.info("They are identical.", icon=":material/equal:")
        return
    words = f"**{count(len(found), 'difference')}**"
    if any(each.key.startswith("weights.") for each in found):
        st.markdown(f"{words} :gray[· bars are {plain(after)}, the lines across them {plain(before)}]")
        figure = weight_bars(new, old, dark=st.context.theme.type == "dark")
        draw_chart(figure, key="tuning.profiles.compared")
    else:
        st.markdown(f"{words} :gray[· the weights are the same]")
    st.dataframe(difference_rows(found), key="tuning.profiles.table", hide_index=True, height="content")


def _predecessor(opened: ScoreProfile, known: dict[str, ScoreProfile], project: str | None) -> str:
    """The profile to compare with: the previous version, the origin, or the default."""
    origin = next((each.origin for each in registry().versions(opened.name) if each.profile == opened), "")
    candidates = (f"{opened.name}@{opened.version - 1}", origin, registry().default(project).ref, *known)
    return next(ref for ref in candidates if ref in known and (ref != opened.ref or len(known) == 1))


# How it came to be
def draw_history(opened: ScoreProfile) -> None:
    """Every version, newest first: author, date, note and changes, with a button to roll back."""
    past = registry().versions(opened.name) if opened.version else ()
    if not past:
        st.caption(":material/lock: It comes with the product and does not change. What you save from it is your own.")
        return
    every = len(past) > _MOST_VERSIONS and st.toggle(f"Show all {len(past)} versions", key="tuning.profiles.all")
    pairs = [*pairwise(past), (past[-1], None)]
    for version, older in pairs if every else pairs[:_MOST_VERSIONS]:
        _version(version, older, past[0], opened)


def _version(
    version: ProfileVersion, older: ProfileVersion | None, newest: ProfileVersion, opened: ScoreProfile
) -> None:
    profile, here = version.profile, version.profile == opened
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**Version {profile.version}**", width="content")
            if version is newest:
                st.badge("archived" if version.retired else "newest", color="orange" if version.retired else "blue")
            if here:
                st.badge("open", color="gray")
        st.markdown(origin_line(version))
        st.caption(_changes(version, older))
        with st.container(horizontal=True, gap="small"):
            if not here:
                st.button(
                    "Open", key=f"tuning.profiles.look.{profile.ref}", type="tertiary", icon=":material/visibility:",
                    on_click=open_profile, args=(profile.ref,),
                )  # fmt: skip
            if version is not newest:
                rights.button(
                    "evaluation.profiles.rollback",
                    "Bring back" if newest.retired else "Roll back to this", key=f"tuning.profiles.roll.{profile.ref}",
                    type="tertiary", icon=":material/settings_backup_restore:",
                    on_click=roll_back, args=(profile.name, profile.version, newest.profile.version),
                )  # fmt: skip


def _changes(version: ProfileVersion, older: ProfileVersion | None) -> str:
    if version.retired:
        return "Archived; the values are those of the version before."
    if older is None:
        return "The first version."
    found = difference_rows(differences(older.profile, version.profile))
    lines = [f"{row['What']} {row['Before']} → {row['After']}" for row in found[:_MOST_CHANGES]]
    lines += [f"{len(found) - _MOST_CHANGES} more"] if len(found) > _MOST_CHANGES else []
    return plain(" · ".join(lines) or "Identical to the version before.")


def roll_back(name: str, version: int, seen: int) -> None:
    """Save an older version as the next one. seen: the newest version on the screen."""
    words = f"Version {seen + 1} of {name} is identical to version {version}."
    if apply_change(lambda: registry().rollback(name, version, who(), seen), plain(words)):
        open_profile(name)


def draw_files() -> None:
    """Out at the left, in at the right; below, what a file would do."""
    st.markdown("**Files**")
    out, into = st.columns([4, 7], gap="large")
    with out:
        _export()
    if refusal := rights.refusal("evaluation.profiles.save"):
        into.caption(f":material/lock: {refusal}")
        return
    round_ = st.session_state.setdefault("tuning.profiles.round", 0)
    given = into.file_uploader(
        "Import profiles from TOML", type=["toml"], key=f"tuning.profiles.file.{round_}", max_upload_size=1
    )
    if given is not None:
        try:
            brought = from_toml(given.getvalue(), given.name)
        except FivefoldError as problem:
            notices.error(problem)
            return
        _preview(tuple(brought.values()), given.name)


def _export() -> None:
    choices = registry().choices()
    own = [profile for profile in choices.values() if profile.version]
    st.caption("Exported in their newest versions; a diff shows what changed, and every library can take them in.")
    with st.container(horizontal=True, gap="small"):
        if own:
            st.download_button(
                f"Your own ({len(own)})", lambda: to_toml(own), "profiles.toml", "application/toml",
                key="tuning.profiles.out.own", icon=":material/download:", on_click="ignore",
            )  # fmt: skip
        st.download_button(
            f"All ({len(choices)})", lambda: to_toml(choices.values()), "all profiles.toml", "application/toml",
            key="tuning.profiles.out.all", icon=":material/download:", on_click="ignore",
        )  # fmt: skip


def _preview(brought: Sequence[ScoreProfile], file: str) -> None:
    """One box per profile of the file, and one button that saves the ticked ones."""
    shown = _proposals(brought)
    worth = [each for each in shown if each.worth_saving]
    st.markdown(f"**{plain(file)}** holds {count(len(shown), 'profile')}, {len(worth)} of them worth saving")
    for number, proposal in enumerate(shown):
        with st.container(border=True, gap="small"):
            _proposal(number, brought[number].name, proposal)
    ticked = sum(each.worth_saving and _ticked(number) for number, each in enumerate(shown))
    rights.button(
        "evaluation.profiles.save",
        f"Save {count(ticked, 'profile')}", key="tuning.profiles.import", type="primary", icon=":material/save:",
        disabled=not ticked, on_click=_import, args=(brought, shown, file),
    )  # fmt: skip


def _import_key(number: int, what: str) -> str:
    return f"tuning.profiles.{what}.{st.session_state['tuning.profiles.round']}.{number}"


def _ticked(number: int) -> bool:
    return bool(st.session_state.get(_import_key(number, "take")))


def _proposals(brought: Sequence[ScoreProfile]) -> tuple[ProfileDraft, ...]:
    """What saving would do, under the names that are typed beside them."""
    typed = [st.session_state.get(_import_key(number, "name"), each.name) for number, each in enumerate(brought)]
    return registry().proposals(replace(each, name=name) for each, name in zip(brought, typed, strict=True))


def _proposal(number: int, name: str, proposal: ProfileDraft) -> None:
    take, called, does = st.columns([2, 6, 6], vertical_alignment="center")
    take.checkbox(
        "Save as", value=proposal.worth_saving, key=_import_key(number, "take"), disabled=not proposal.worth_saving
    )
    called.text_input(
        "Name to save it under", value=name, key=_import_key(number, "name"), max_chars=60, label_visibility="collapsed"
    )
    words, colour = _effect(proposal)
    does.badge(words, color=colour)  # type: ignore[arg-type]
    if proposal.problem:
        st.caption(f":material/error: {plain(proposal.problem)}")
    elif proposal.known is None:
        with st.columns([2, 6, 6])[1]:
            weight_strip(proposal.profile)
    elif proposal.differences:
        rows = difference_rows(proposal.differences, "Now", "In the file")
        st.dataframe(rows, key=_import_key(number, "table"), hide_index=True, height="content")


def _effect(proposal: ProfileDraft) -> tuple[str, str]:
    """What saving it would do in a few words, and their colour."""
    if proposal.problem:
        return "cannot be saved", "orange"
    if proposal.known is None:
        return ("comes back" if proposal.after else "new"), "green"
    if not proposal.differences:
        return f"identical to {plain(proposal.known.ref)}", "gray"
    return f"version {proposal.after + 1}, {count(len(proposal.differences), 'change')}", "blue"


def _import(brought: Sequence[ScoreProfile], shown: Sequence[ProfileDraft], file: str) -> None:
    """Save the ticked profiles as they were previewed; a changed name needs a new preview."""
    saved: list[str] = []

    def work() -> None:
        if [each.profile.name for each in _proposals(brought)] != [each.profile.name for each in shown]:
            raise BadRequest("A name was changed since.", "Look at what it would do now, then save.")
        for number, each in enumerate(shown):
            if each.worth_saving and _ticked(number):
                note, own = f"Imported from {file}.", each.profile
                done = registry().save(own, who(), note=note, after=each.after, embedder=own.embedder)
                saved.append(done.profile.ref)
        st.session_state["tuning.profiles.round"] += 1

    apply_change(work, "")
    if saved:
        st.session_state["tuning.profiles.said"] = plain(f"Saved {', '.join(saved)}.")


def view(project: str | None) -> None:
    """Which profile holds, every profile with the opened one beside it, and files in and out."""
    show_outcome()
    _defaults(project)
    opened = _opened_profile(project)
    listed, shown = st.columns([4, 7], gap="large")
    with listed:
        _list(opened, project)
    with shown:
        _head(opened, project)
        says, compared, past = st.tabs(
            [":material/bar_chart: Weights", ":material/difference: Compare", ":material/history: History"]
        )
        with says:
            _settings(opened)
        with compared:
            draw_comparison(opened, project)
        with past:
            draw_history(opened)
    draw_files()


# Which one holds


def _defaults(project: str | None) -> None:
    with st.container(border=True, gap="xxsmall"):
        for whose in dict.fromkeys((project, None)):
            _default_line(whose)


def _default_line(project: str | None) -> None:
    """The default profile of a project, and who chose it."""
    chosen, holds = registry().chosen(project), registry().default(project)
    whose = f":material/folder: **{plain(project)}**" if project else ":material/public: **The whole library**"
    if chosen is None:
        why = ":gray[– as the whole library does]" if project else ":gray[– the built-in default]"
    elif chosen.name == holds.name:
        why = f":gray[– chosen by {plain(chosen.who)}, {ago(chosen.at, utc_now())}]"
    else:
        why = f":orange[– {plain(chosen.name)}, which {plain(chosen.who)} chose, is archived]"
    with st.container(horizontal=True, wrap=False, vertical_alignment="center"):
        st.markdown(f"{whose} searches with **{profile_label(holds)}** {why}", width="stretch")
        if chosen is not None:
            rights.button(
                "evaluation.profiles.choose",
                "Remove default", key=f"tuning.profiles.back.{project or ''}", type="tertiary", icon=":material/undo:",
                help="The library's default applies then, or balanced.", on_click=_choose, args=(project, ""),
            )  # fmt: skip


def _choose(project: str | None, name: str) -> None:
    whose = project or "The whole library"
    message = f"{whose} searches with {name}." if name else f"{whose} no longer has a default of its own."
    apply_change(lambda: registry().choose(project, name, who()), plain(message))


# The list


def _opened_profile(project: str | None) -> ScoreProfile:
    """The profile the URL names, else the one the project searches with."""
    try:
        return (
            registry().find(st.query_params["profile"]) if "profile" in st.query_params else registry().default(project)
        )
    except BadRequest as problem:
        notices.error(problem)
        return registry().default(project)


def _list(opened: ScoreProfile, project: str | None) -> None:
    choices, retired = registry().choices(), registry().retired()
    own = [profile for profile in choices.values() if profile.version]
    built_in = [profile for profile in choices.values() if not profile.version]
    searched = {registry().default(whose).name for whose in (project, None)}
    _rows("**Your own**", own, opened, searched)
    if not own:
        st.caption("None yet. Open one of those below in *Sliders*, change it, and save it under a name.")
    _rows("**Built in** :gray[· they never change]", built_in, opened, searched)
    st.caption("A bar shows each weight's share, its red tick the threshold; a star marks the defaults.")
    if retired:
        with st.expander(f"Archived · {len(retired)}", icon=":material/inventory_2:"):
            _rows("", [version.profile for version in retired], opened, searched)


def _rows(head: str, listed: Sequence[ScoreProfile], opened: ScoreProfile, searched: Collection[str]) -> None:
    """Each profile's name to open it by, and its weights as a strip."""
    with st.container(gap="xsmall"):
        if head:
            st.markdown(head)
        for profile in listed:
            here = profile.name == opened.name
            label = profile_label(profile, 28) + (" :material/star:" if profile.name in searched else "")
            with st.container(gap=None):
                st.button(
                    f":primary[**{label}**]" if here else label,
                    key=f"tuning.profiles.open.{profile.name}", type="tertiary", on_click=open_profile,
                    icon=":material/chevron_right:" if here else None, icon_position="right", args=(profile.ref,),
                )  # fmt: skip
                weight_strip(profile)


# The opened one


def _head(profile: ScoreProfile, project: str | None) -> None:
    past = registry().versions(profile.name) if profile.version else ()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"### {plain(profile.name)}", width="content", anchors=False)
        if not past:
            st.badge("built in", icon=":material/lock:", color="gray")
        elif past[0].retired:
            st.badge(f"version {profile.version}", color="gray")
            st.badge("retired", icon=":material/inventory_2:", color="orange")
        else:
            newest = past[0].profile.version == profile.version
            st.badge(f"version {profile.version}{'' if newest else f' of {past[0].profile.version}'}", color="gray")
        for whose in dict.fromkeys((project, None)):
            if registry().default(whose).name == profile.name:
                st.badge(f"default of {plain(whose or 'the library')}", icon=":material/star:", color="blue")
    for version in past:
        if version.profile.version == profile.version:
            st.caption(origin_line(version))
    _actions(profile, past, project)


def _actions(profile: ScoreProfile, past: Sequence[ProfileVersion], project: str | None) -> None:
    living = not past or not past[0].retired
    with st.container(horizontal=True, gap="xsmall"):
        st.button(
            "Open in Sliders", key="tuning.profiles.tune", type="primary", icon=":material/tune:", on_click=_tune,
            args=(profile.ref,),
        )  # fmt: skip
        if living:
            with st.popover("Make default", icon=":material/star:"):
                _default_buttons(profile, project)
        st.download_button(
            "TOML", lambda: to_toml([profile]), f"{profile.ref.replace('@', ' v')}.toml", "application/toml",
            key="tuning.profiles.toml", icon=":material/download:", on_click="ignore",
        )  # fmt: skip
        if past and living:
            with st.popover("Archive", icon=":material/inventory_2:"):
                _retirement(past[0].profile)
        if not living:
            rights.button(
                "evaluation.profiles.rollback",
                "Bring back", key="tuning.profiles.again", icon=":material/settings_backup_restore:",
                on_click=roll_back, args=(profile.name, past[1].profile.version, past[0].profile.version),
            )  # fmt: skip


def _tune(ref: str) -> None:
    st.query_params["view"], st.query_params["base"] = "tune", ref


def _default_buttons(profile: ScoreProfile, project: str | None) -> None:
    st.markdown("Searches use it unless another profile is chosen, always in its newest version.")
    for whose in dict.fromkeys((project, None)):
        chosen = registry().chosen(whose)
        rights.button(
            "evaluation.profiles.choose",
            f"For {plain(whose or 'the whole library')}", key=f"tuning.profiles.choose.{whose or ''}", width="stretch",
            on_click=_choose, args=(whose, profile.name), disabled=chosen is not None and chosen.name == profile.name,
        )  # fmt: skip


def _retirement(newest: ScoreProfile) -> None:
    st.markdown(
        "It is no longer offered; where it is the default, the next choice applies. Its versions are kept, and it can"
        " be restored."
    )
    rights.button(
        "evaluation.profiles.retire",
        f"Archive {plain(newest.name)}", key="tuning.profiles.retire", type="primary", width="stretch",
        on_click=_retire, args=(newest.name, newest.version),
    )  # fmt: skip


def _retire(name: str, seen: int) -> None:
    if apply_change(lambda: registry().retire(name, who(), seen), plain(f"{name} is archived.")):
        open_profile(f"{name}@{seen + 1}")


def _settings(profile: ScoreProfile) -> None:
    """Its weights as bars, and everything else in words."""
    draw_chart(
        weight_bars(profile, dark=st.context.theme.type == "dark"),
        key="tuning.profiles.weights",
    )
    rows = [{"Setting": f":gray[{head}]", "Value": plain(words)} for head, words in setting_lines(profile)]
    st.table(rows, border="horizontal", hide_index=True, hide_header=True)
