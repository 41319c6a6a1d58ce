"""The opened profile: comparison with another version, its history, and rollback."""

from collections.abc import Callable
from itertools import pairwise

import streamlit as st

from core.domain.errors import FivefoldError
from core.domain.profiles import ProfileVersion
from core.domain.queries import ScoreProfile
from core.evaluation.tuning.profile_registry import ProfileRegistry, differences
from pages.components import notices, session
from pages.components.tuning.profile_styles import difference_rows, weight_bars
from pages.components.user_name import who
from pages.components.wording import count, day, plain

__all__ = ["book", "compare", "did", "history", "open_profile", "origin_line", "roll_back", "tell"]


def book() -> ProfileRegistry:
    """The profile registry."""
    kept: ProfileRegistry = session.workbench().evaluation.profiles
    return kept


def open_profile(ref: str) -> None:
    """Open a profile beside the list and write it to the URL."""
    st.query_params["profile"] = ref


def did(work: Callable[[], object], said: str) -> bool:
    """Run an action and store its message; the view shows any error. Returns whether it succeeded."""
    try:
        work()
    except FivefoldError as problem:
        st.session_state["tuning.profiles.problem"] = problem
        return False
    st.session_state["tuning.profiles.said"] = said
    return True


def tell() -> None:
    """What became of the last click: at the top, and in the corner for who is further down."""
    problem: FivefoldError | None = st.session_state.pop("tuning.profiles.problem", None)
    if problem is not None:
        notices.error(problem)
        st.toast(plain(str(problem)), icon=":material/error:")
    if said := st.session_state.pop("tuning.profiles.said", ""):
        st.toast(said, icon=":material/check:")


_LISTED = 12

_TOLD = 4


def origin_line(version: ProfileVersion) -> str:
    """Who saved it, when, from what and why, as safe markdown."""
    said = f"{plain(version.who)}, {day(version.at)} {version.at:%H:%M}"
    if version.retired:
        return f"Retired by {said}"
    parts = [said] + ([f"from {plain(version.origin)}"] if version.origin else [])
    parts += [f"“{plain(version.note)}”"] if version.note else []
    return " · ".join(parts)


# Compared
def compare(opened: ScoreProfile, project: str | None) -> None:
    """Any two, chosen from every profile in every version; at first the opened one with what it follows."""
    known = dict(sorted(book().every().items(), key=lambda each: each[1].name != opened.name))
    left, right = st.columns(2)
    key = f"tuning.profiles.{opened.ref}"
    before = left.selectbox(
        "Before", list(known), index=list(known).index(_follows(opened, known, project)), key=f"{key}.before"
    )
    after = right.selectbox("After", list(known), index=list(known).index(opened.ref), key=f"{key}.after")
    old, new = known[before], known[after]
    found = differences(old, new)
    if not found:
        st.info("They say the same.", icon=":material/equal:")
        return
    words = f"**{count(len(found), 'difference')}**"
    if any(each.key.startswith("weights.") for each in found):
        st.markdown(f"{words} :gray[· bars are {plain(after)}, the lines across them {plain(before)}]")
        figure = weight_bars(new, old, dark=st.context.theme.type == "dark")
        st.plotly_chart(figure, config={"displayModeBar": False}, key="tuning.profiles.compared")
    else:
        st.markdown(f"{words} :gray[· the weights are the same]")
    st.dataframe(difference_rows(found), key="tuning.profiles.table", hide_index=True, height="content")


def _follows(opened: ScoreProfile, known: dict[str, ScoreProfile], project: str | None) -> str:
    """What the opened one is best held against: its last version but one, what it was made from, or the default."""
    origin = next((each.origin for each in book().versions(opened.name) if each.profile == opened), "")
    asked = (f"{opened.name}@{opened.version - 1}", origin, book().default(project).ref, *known)
    return next(ref for ref in asked if ref in known and (ref != opened.ref or len(known) == 1))


# How it came to be
def history(opened: ScoreProfile) -> None:
    """Every version, newest first: who, when, why, what it changed; and the way back to any."""
    past = book().versions(opened.name) if opened.version else ()
    if not past:
        st.caption(":material/lock: It comes with the product and does not change. What you save from it is your own.")
        return
    every = len(past) > _LISTED and st.toggle(f"Show all {len(past)} versions", key="tuning.profiles.all")
    pairs = [*pairwise(past), (past[-1], None)]
    for version, older in pairs if every else pairs[:_LISTED]:
        _version(version, older, past[0], opened)


def _version(
    version: ProfileVersion, older: ProfileVersion | None, newest: ProfileVersion, opened: ScoreProfile
) -> None:
    profile, here = version.profile, version.profile == opened
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**Version {profile.version}**", width="content")
            if version is newest:
                st.badge("retired" if version.retired else "newest", color="orange" if version.retired else "blue")
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
                st.button(
                    "Bring back" if newest.retired else "Roll back to this", key=f"tuning.profiles.roll.{profile.ref}",
                    type="tertiary", icon=":material/settings_backup_restore:",
                    on_click=roll_back, args=(profile.name, profile.version, newest.profile.version),
                )  # fmt: skip


def _changes(version: ProfileVersion, older: ProfileVersion | None) -> str:
    if version.retired:
        return "Ended the profile; it says what the version before says."
    if older is None:
        return "The first version."
    found = difference_rows(differences(older.profile, version.profile))
    told = [f"{row['What']} {row['Before']} → {row['After']}" for row in found[:_TOLD]]
    told += [f"{len(found) - _TOLD} more"] if len(found) > _TOLD else []
    return plain(" · ".join(told) or "Says what the version before says.")


def roll_back(name: str, version: int, seen: int) -> None:
    """Save what an older version says as the next one. seen: the newest version that was on the screen."""
    words = f"Version {seen + 1} of {name} says what version {version} says."
    if did(lambda: book().rollback(name, version, who(), seen), plain(words)):
        open_profile(name)
