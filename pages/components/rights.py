"""What the person of this session may do, so that pages offer only that. The guard checks every call all the same."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.access.rights import RIGHTS
from core.domain.people import Role
from pages.components import session

__all__ = ["administrator_refusal", "button", "may", "may_share", "refusal", "submit_button", "upload_projects"]

_ROLE_WORDS = {
    Role.VIEWER: "a viewer",
    Role.ANALYST: "an analyst",
    Role.REVIEWER: "a reviewer",
    Role.ADMINISTRATOR: "an administrator",
}


def may(action: str) -> bool:
    """Whether the person may call a service's method in any project: "documents.upload". Raises KeyError for an
    unknown action, and what `session.principal` raises."""
    right, person = RIGHTS[action], session.principal()
    needed = right.role if isinstance(right.role, Role) else Role.ANALYST
    role = person.role_in(None) if right.library_wide else person.highest
    return role is not None and role.covers(needed)


def may_share() -> bool:
    """Whether the person may add and change documents that all projects share."""
    role = session.principal().role_in(None)
    return role is not None and role.covers(Role.ANALYST)


def upload_projects() -> Sequence[str]:
    """The projects that a person who may not share documents may upload to; empty for everybody else."""
    if may_share():
        return ()
    return [project for project, role in session.principal().roles if project is not None and role.covers(Role.ANALYST)]


def refusal(action: str) -> str:
    """Why the person may not call a service's method, in one sentence; "" where they may."""
    if may(action):
        return ""
    right = RIGHTS[action]
    return _needs(right.role if isinstance(right.role, Role) else Role.ANALYST, everywhere=right.library_wide)


def administrator_refusal() -> str:
    """Why the person may not do what no service does and only an administrator of every project may; "" where they
    may."""
    may_do = session.principal().role_in(None) is Role.ADMINISTRATOR
    return "" if may_do else _needs(Role.ADMINISTRATOR, everywhere=True)


def _needs(role: Role, *, everywhere: bool) -> str:
    return f"This needs the role of {_ROLE_WORDS[role]}{' in every project' if everywhere else ''}."


def button(
    action: str, label: str, *, on: Any = st, help: str | None = None, disabled: bool = False, **how: Any
) -> bool:
    """A button that calls a service's method: disabled, with the reason on hover, for whoever may not call it.

    on: the container it is drawn in. how: what `st.button` takes besides.
    """
    why = refusal(action)
    pressed: bool = on.button(label, help=why or help, disabled=disabled or bool(why), **how)
    return pressed


def submit_button(
    action: str, label: str, *, on: Any = st, help: str | None = None, disabled: bool = False, **how: Any
) -> bool:
    """The same for the button of a form."""
    why = refusal(action)
    pressed: bool = on.form_submit_button(label, help=why or help, disabled=disabled or bool(why), **how)
    return pressed
