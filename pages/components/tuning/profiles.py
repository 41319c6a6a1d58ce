"""The Profiles view: the default profile, all profiles, and the opened one with its actions."""

from collections.abc import Collection, Sequence

import streamlit as st

from bootstrap.environment import utc_now
from core.domain.errors import BadRequest
from core.domain.profiles import ProfileVersion
from core.domain.queries import ScoreProfile
from core.evaluation.tuning.profile_registry import to_toml
from pages.components import notices
from pages.components.tuning.profile_files import files
from pages.components.tuning.profile_history import (
    book,
    compare,
    did,
    history,
    open_profile,
    origin_line,
    roll_back,
    tell,
)
from pages.components.tuning.profile_styles import named, settings, strip, weight_bars
from pages.components.user_name import who
from pages.components.wording import ago, plain

__all__ = ["view"]


def view(project: str | None) -> None:
    """Which profile holds, every profile with the opened one beside it, and files in and out."""
    tell()
    _holding(project)
    opened = _opened(project)
    listed, shown = st.columns([4, 7], gap="large")
    with listed:
        _list(opened, project)
    with shown:
        _head(opened, project)
        says, compared, past = st.tabs(
            [":material/bar_chart: What it says", ":material/difference: Compare", ":material/history: History"]
        )
        with says:
            _says(opened)
        with compared:
            compare(opened, project)
        with past:
            history(opened)
    files()


# Which one holds


def _holding(project: str | None) -> None:
    with st.container(border=True, gap="xxsmall"):
        for whose in dict.fromkeys((project, None)):
            _choice(whose)


def _choice(project: str | None) -> None:
    """What searches with which profile, and who said so."""
    chosen, holds = book().chosen(project), book().default(project)
    whose = f":material/folder: **{plain(project)}**" if project else ":material/public: **The whole library**"
    if chosen is None:
        why = ":gray[– as the whole library does]" if project else ":gray[– the product's own default]"
    elif chosen.name == holds.name:
        why = f":gray[– chosen by {plain(chosen.who)}, {ago(chosen.at, utc_now())}]"
    else:
        why = f":orange[– {plain(chosen.name)}, which {plain(chosen.who)} chose, is retired]"
    with st.container(horizontal=True, wrap=False, vertical_alignment="center"):
        st.markdown(f"{whose} searches with **{named(holds)}** {why}", width="stretch")
        if chosen is not None:
            st.button(
                "Give back", key=f"tuning.profiles.back.{project or ''}", type="tertiary", icon=":material/undo:",
                help="Takes the choice back.", on_click=_choose, args=(project, ""),
            )  # fmt: skip


def _choose(project: str | None, name: str) -> None:
    whose = project or "The whole library"
    said = f"{whose} searches with {name}." if name else f"{whose} has no choice of its own any more."
    did(lambda: book().choose(project, name, who()), plain(said))


# The list


def _opened(project: str | None) -> ScoreProfile:
    """The profile the URL names, else the one the project searches with."""
    try:
        return book().find(st.query_params["profile"]) if "profile" in st.query_params else book().default(project)
    except BadRequest as problem:
        notices.error(problem)
        return book().default(project)


def _list(opened: ScoreProfile, project: str | None) -> None:
    choices, retired = book().choices(), book().retired()
    own = [profile for profile in choices.values() if profile.version]
    built_in = [profile for profile in choices.values() if not profile.version]
    searched = {book().default(whose).name for whose in (project, None)}
    _rows("**Your own**", own, opened, searched)
    if not own:
        st.caption("None yet. Open one of those below in *Tune*, change it, and save it under a name.")
    _rows("**Built in** :gray[· they never change]", built_in, opened, searched)
    st.caption("A strip shows how the weights share a score, its red tick the threshold; a star marks the defaults.")
    if retired:
        with st.expander(f"Retired · {len(retired)}", icon=":material/inventory_2:"):
            _rows("", [version.profile for version in retired], opened, searched)


def _rows(head: str, listed: Sequence[ScoreProfile], opened: ScoreProfile, searched: Collection[str]) -> None:
    """Each profile's name to open it by, and its weights as a strip."""
    with st.container(gap="xsmall"):
        if head:
            st.markdown(head)
        for profile in listed:
            here = profile.name == opened.name
            label = named(profile, 28) + (" :material/star:" if profile.name in searched else "")
            with st.container(gap=None):
                st.button(
                    f":primary[**{label}**]" if here else label,
                    key=f"tuning.profiles.open.{profile.name}", type="tertiary", on_click=open_profile,
                    icon=":material/chevron_right:" if here else None, icon_position="right", args=(profile.ref,),
                )  # fmt: skip
                strip(profile)


# The opened one


def _head(profile: ScoreProfile, project: str | None) -> None:
    past = book().versions(profile.name) if profile.version else ()
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
            if book().default(whose).name == profile.name:
                st.badge(f"default of {plain(whose or 'the library')}", icon=":material/star:", color="blue")
    for version in past:
        if version.profile.version == profile.version:
            st.caption(origin_line(version))
    _actions(profile, past, project)


def _actions(profile: ScoreProfile, past: Sequence[ProfileVersion], project: str | None) -> None:
    living = not past or not past[0].retired
    with st.container(horizontal=True, gap="xsmall"):
        st.button(
            "Open in Tune", key="tuning.profiles.tune", type="primary", icon=":material/tune:", on_click=_tune,
            args=(profile.ref,),
        )  # fmt: skip
        if living:
            with st.popover("Make default", icon=":material/star:"):
                _default(profile, project)
        st.download_button(
            "TOML", lambda: to_toml([profile]), f"{profile.ref.replace('@', ' v')}.toml", "application/toml",
            key="tuning.profiles.toml", icon=":material/download:", on_click="ignore",
        )  # fmt: skip
        if past and living:
            with st.popover("Retire", icon=":material/inventory_2:"):
                _retirement(past[0].profile)
        if not living:
            st.button(
                "Bring back", key="tuning.profiles.again", icon=":material/settings_backup_restore:",
                on_click=roll_back, args=(profile.name, past[1].profile.version, past[0].profile.version),
            )  # fmt: skip


def _tune(ref: str) -> None:
    st.query_params["view"], st.query_params["base"] = "tune", ref


def _default(profile: ScoreProfile, project: str | None) -> None:
    st.markdown("What is searched with unless told otherwise, always in its newest version.")
    for whose in dict.fromkeys((project, None)):
        chosen = book().chosen(whose)
        st.button(
            f"For {plain(whose or 'the whole library')}", key=f"tuning.profiles.choose.{whose or ''}", width="stretch",
            on_click=_choose, args=(whose, profile.name), disabled=chosen is not None and chosen.name == profile.name,
        )  # fmt: skip


def _retirement(newest: ScoreProfile) -> None:
    st.markdown(
        "It is no longer offered; where it is the default, the next choice holds. Its versions stay, and it can be"
        " brought back."
    )
    st.button(
        f"Retire {plain(newest.name)}", key="tuning.profiles.retire", type="primary", width="stretch",
        on_click=_retire, args=(newest.name, newest.version),
    )  # fmt: skip


def _retire(name: str, seen: int) -> None:
    if did(lambda: book().retire(name, who(), seen), plain(f"{name} is retired.")):
        open_profile(f"{name}@{seen + 1}")


def _says(profile: ScoreProfile) -> None:
    """Its weights as bars, and everything else in words."""
    st.plotly_chart(
        weight_bars(profile, dark=st.context.theme.type == "dark"),
        config={"displayModeBar": False},
        key="tuning.profiles.weights",
    )
    rows = [{"Setting": f":gray[{head}]", "Value": plain(words)} for head, words in settings(profile)]
    st.table(rows, border="horizontal", hide_index=True, hide_header=True)
