"""API tokens on Settings: creating one, which is shown once, and the list with what was used when."""

from datetime import timedelta

import streamlit as st

from bootstrap.environment import utc_now
from core.domain.people import ApiToken, Role
from pages.components import session
from pages.components.notices import apply_change, show_outcome
from pages.components.settings.people import ROLE_MEANINGS, role_title
from pages.components.wording import ago, day, plain

__all__ = ["draw_tokens"]

_AREA = "settings.tokens"
_SECRET = f"{_AREA}.secret"
_LIFETIMES = {"30 days": 30, "90 days": 90, "1 year": 365, "Never": None}
"""How long a token may live → days."""


def draw_tokens() -> None:
    """The tokens of this person; an administrator sees everybody's."""
    show_outcome(_AREA)
    st.markdown("##### API tokens", anchors=False)
    st.caption(
        "Programs use the library with a token, over the REST API and MCP. A token acts in your name, with your roles"
        " and at most the role you choose here."
    )
    _new_secret()
    _creation()
    person = session.principal()
    tokens = session.workbench().tokens.tokens(by=person)
    living = [each for each in tokens if not _has_ended(each)]
    for token in living:
        _row(token, person.login)
    ended = [each for each in tokens if _has_ended(each)]
    if not tokens:
        st.caption("There are no tokens yet.")
    if ended:
        with st.expander(f"{len(ended)} ended"):
            for token in ended:
                _row(token, person.login)


def _new_secret() -> None:
    """The secret of the token just created, until it is put away."""
    secret = st.session_state.get(_SECRET)
    if not secret:
        return
    with st.container(border=True, gap="small"):
        st.markdown("**Copy the token now.** It is not shown again.")
        st.code(secret, language=None)
        st.button("Done", key=f"{_AREA}.done", type="primary", on_click=st.session_state.pop, args=(_SECRET, None))


def _creation() -> None:
    highest = session.principal().highest or Role.VIEWER
    roles = [role for role in Role if highest.covers(role)]
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            st.text_input("Name", key=f"{_AREA}.name", placeholder="What it is for", max_chars=80, width=260)
            role = st.selectbox("Highest role", roles, format_func=role_title, key=f"{_AREA}.role", width=170)
            st.selectbox("Expires after", list(_LIFETIMES), index=1, key=f"{_AREA}.lifetime", width=140)
            st.button("Create token", type="primary", icon=":material/add:", key=f"{_AREA}.create", on_click=_create)
        st.caption(f"{role_title(role)}: {ROLE_MEANINGS[role]}.")


def _create() -> None:
    days = _LIFETIMES[st.session_state[f"{_AREA}.lifetime"]]
    expires = None if days is None else utc_now() + timedelta(days=days)
    name, role = st.session_state[f"{_AREA}.name"], st.session_state[f"{_AREA}.role"]

    def create() -> None:
        _, st.session_state[_SECRET] = session.workbench().tokens.create(name, role, expires, by=session.principal())

    if apply_change(_AREA, create):
        st.session_state[f"{_AREA}.name"] = ""


def _row(token: ApiToken, login: str) -> None:
    """A token with its use, and the button that ends it."""
    now = utc_now()
    facts = [role_title(token.role), f"created {day(token.created)}"]
    if token.login != login:
        facts.insert(0, token.login)
    if token.revoked is not None:
        facts.append(f"revoked {day(token.revoked)}")
    else:
        facts.append("never expires" if token.expires is None else f"expires {day(token.expires)}")
    facts.append("never used" if token.last_used is None else f"last used {ago(token.last_used, now)}")
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", border=True):
        with st.container(gap=None, width="stretch"):
            st.markdown(f"**{plain(token.name)}**")
            st.caption(plain(" · ".join(facts)))
        if not _has_ended(token):
            with st.popover("Revoke", icon=":material/block:"):
                st.markdown("Programs that use this token are refused at once. This cannot be undone.")
                st.button(
                    "Revoke token", key=f"{_AREA}.revoke.{token.id}", type="primary", on_click=_revoke, args=(token,)
                )


def _revoke(token: ApiToken) -> None:
    apply_change(
        _AREA,
        lambda: session.workbench().tokens.revoke(token.id, by=session.principal()),
        f"{plain(token.name)} is revoked.",
    )


def _has_ended(token: ApiToken) -> bool:
    return token.revoked is not None or (token.expires is not None and token.expires <= utc_now())
