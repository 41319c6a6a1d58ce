"""What somebody sees who is not signed in, or who has no role: one card, and nothing of the library."""

from pathlib import Path

import streamlit as st

from bootstrap.sign_in import SignIn
from core.domain.errors import AccessDenied, NotSignedIn, StoreFailed
from pages.components import session, sign_in
from pages.components.notices import error
from pages.components.wording import plain

__all__ = ["draw_account", "draw_sign_in"]

_CARD_WIDTH = 420  # pixels: a line of about 60 characters
_WORDMARK = Path(__file__).parents[1] / "components" / "wordmark.svg"


def draw_sign_in(problem: NotSignedIn | AccessDenied | StoreFailed) -> None:
    """The card for somebody who does not get in. problem: why."""
    with (
        st.container(horizontal_alignment="center", key="sign_in"),
        st.container(border=True, width=_CARD_WIDTH, horizontal_alignment="center", gap="small"),
    ):
        st.space("small")
        st.image(str(_WORDMARK), width=170)
        match problem:
            case NotSignedIn():
                _ask_to_sign_in(problem)
            case AccessDenied():
                _say_no_access(problem)
            case _:
                error(problem)
        st.space("small")


def draw_account() -> None:
    """The menu of the person who signed in: who they are, what they may do, and the way out."""
    known = sign_in.rules()
    if known.kind is SignIn.NONE:
        return
    person = session.principal()
    with (
        st.container(key="account", width="content"),
        st.popover(plain(person.name), icon=":material/account_circle:", type="tertiary"),
        st.container(width=300, gap="small"),
    ):
        st.markdown(f"**{plain(person.name)}**")
        if person.login != person.name:
            st.caption(plain(person.login))
        lines = [f"{role.value.capitalize()} {_project_title(project)}" for project, role in person.roles]
        st.markdown("  \n".join(dict.fromkeys(lines)))
        _draw_sign_out("account.sign_out")


def _ask_to_sign_in(problem: NotSignedIn) -> None:
    signed_in_by_proxy = sign_in.rules().kind is SignIn.PROXY
    st.markdown(f"### {plain(problem.message)}", text_alignment="center", anchors=False)
    st.markdown(plain(problem.hint), text_alignment="center")
    if signed_in_by_proxy:
        if sign_in.rules().public_origin:
            st.link_button("Open Fivefold", sign_in.rules().public_origin, type="primary")
    elif st.button("Sign in", type="primary", icon=":material/login:", width=220):
        st.login()


def _say_no_access(problem: AccessDenied) -> None:
    st.markdown("### Ask an administrator", text_alignment="center", anchors=False)
    st.markdown(plain(problem.message), text_alignment="center")
    st.markdown(plain(problem.hint), text_alignment="center")
    with st.container(horizontal=True, horizontal_alignment="center"):
        st.button("Check again", icon=":material/refresh:", type="primary")
        _draw_sign_out("no_access.sign_out")


def _draw_sign_out(key: str) -> None:
    """A button with OpenID Connect; where a proxy signs people in, its own address for signing out."""
    known = sign_in.rules()
    if known.kind is SignIn.PROXY:
        if known.sign_out_url:
            st.link_button("Sign out", known.sign_out_url, icon=":material/logout:")
    elif st.button("Sign out", icon=":material/logout:", key=key):
        sign_in.sign_out(session.library)
        st.stop()


def _project_title(project: str | None) -> str:
    return "in every project" if project is None else f"in {plain(project)}"
