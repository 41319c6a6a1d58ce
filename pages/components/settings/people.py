"""People on Settings: who has which role where, giving and taking roles, inviting and blocking."""

from collections.abc import Sequence

import streamlit as st

from bootstrap.environment import utc_now
from bootstrap.sign_in import SignIn
from core.domain.people import Person, Role
from pages.components import session, sign_in
from pages.components.notices import apply_change, show_outcome
from pages.components.wording import ago, count, plain

__all__ = ["ROLE_MEANINGS", "draw_people", "role_title"]

_AREA = "settings.people"
_FIELD_WIDTH = 260  # pixels: an e-mail address of usual length fits
_SETTINGS = """FIVEFOLD_SIGN_IN=oidc
FIVEFOLD_PUBLIC_URL=https://fivefold.example.com
FIVEFOLD_OIDC_ISSUER=https://login.example.com/realms/team
FIVEFOLD_OIDC_CLIENT_ID=fivefold
FIVEFOLD_OIDC_CLIENT_SECRET_FILE=/etc/fivefold/oidc-client-secret"""

ROLE_MEANINGS = {
    Role.VIEWER: "reads, searches and exports",
    Role.ANALYST: "also adds and changes documents, labels and insights",
    Role.REVIEWER: "also decides cells, accepts versions and sets profiles",
    Role.ADMINISTRATOR: "also manages people, models, sources and the library",
}
"""What each role may do, each including the ones before it."""


def draw_people() -> None:
    """Everybody with their roles; without sign-in, how to turn it on."""
    show_outcome(_AREA)
    if sign_in.rules().kind is SignIn.NONE:
        _how_to_sign_in()
        return
    people = session.workbench().people.people()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"##### {count(len(people), 'person', 'people')}", anchors=False, width="content")
        with st.popover("Invite", icon=":material/person_add:"):
            _invitation()
    chosen = _table(people)
    if chosen is None:
        st.caption("Choose a person to change roles or to block access.")
        _roles_in_words()
    else:
        _details(chosen)


def role_title(role: Role) -> str:
    """A role as it is shown."""
    return role.value.capitalize()


def _how_to_sign_in() -> None:
    st.markdown("##### Sign-in is off", anchors=False)
    st.markdown(
        "Whoever opens Fivefold on this machine may do everything. To work as a team with roles, start it with your"
        " OpenID Connect provider, for example:"
    )
    st.code(_SETTINGS, language="bash")
    st.markdown(
        "A proxy that signs people in works as well. *Help › Set up a team* has every step. The first person who signs"
        " in becomes an administrator, unless `FIVEFOLD_ADMINISTRATORS` names others."
    )
    _roles_in_words()


def _roles_in_words() -> None:
    lines = [f"- **{role_title(role)}** {meaning}" for role, meaning in ROLE_MEANINGS.items()]
    st.markdown("\n".join(lines))


def _table(people: Sequence[Person]) -> Person | None:
    """The list; gives the chosen person."""
    now, by_settings = utc_now(), session.workbench().people.roles_by_settings
    rows = [
        {
            "Name": each.name or each.login,
            "Roles": ", ".join(dict.fromkeys(_role_in_words(*role) for role in (*each.roles, *by_settings(each)))),
            "Access": "blocked" if each.blocked else "open" if each.roles or by_settings(each) else "no role yet",
            "Login": each.login,
            "Last seen": ago(each.last_seen, now) if each.last_seen else "never",
            "Groups": ", ".join(each.groups),
        }
        for each in people
    ]
    event = st.dataframe(
        rows, hide_index=True, height="content", on_select="rerun", selection_mode="single-row", key=f"{_AREA}.list"
    )
    selected = event["selection"]["rows"]
    return people[selected[0]] if selected and selected[0] < len(people) else None


def _role_in_words(project: str | None, role: Role) -> str:
    return f"{role_title(role)} ({'every project' if project is None else project})"


def _head(person: Person) -> None:
    """Who it is, and the roles that are not an administrator's to take away."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"##### {plain(person.name or person.login)}", anchors=False, width="content")
        if person.blocked:
            st.badge("blocked", icon=":material/block:", color="red")
    facts = [person.login] if person.name else []
    if person.groups:
        facts.append(f"groups at the last sign-in: {', '.join(person.groups)}")
    if facts:
        st.text(" · ".join(facts))  # Markdown would make a pale link of an address
    for project, role in dict.fromkeys(session.workbench().people.roles_by_settings(person)):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"{role_title(role)} **{plain(_project_title(project))}**", width=_FIELD_WIDTH)
            st.caption("given by `FIVEFOLD_ADMINISTRATORS` or `FIVEFOLD_GROUP_ROLES`", width="content")


def _details(person: Person) -> None:
    """Roles of one person, and their access."""
    _head(person)
    for project, role in person.roles:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"{role_title(role)} **{plain(_project_title(project))}**", width=_FIELD_WIDTH)
            with st.popover("Remove", icon=":material/remove:", type="tertiary"):
                st.markdown(f"{plain(person.name or person.login)} loses this role at once, in every open tab.")
                st.button(
                    "Remove role", key=f"{_AREA}.remove.{person.id}.{project}", type="primary",
                    on_click=_set_role, args=(person, project, None),
                )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        project, role = _role_fields(f"{_AREA}.give.{person.id}")
        with st.popover("Give role", icon=":material/add:"):
            st.markdown(
                f"**{plain(person.name or person.login)}** becomes {role.value} **{plain(_project_title(project))}**: "
                f"{ROLE_MEANINGS[role]}. A role they have there is replaced."
            )
            st.button(
                "Confirm", key=f"{_AREA}.confirm.{person.id}", type="primary",
                on_click=_set_role, args=(person, project, role),
            )  # fmt: skip
    icon = ":material/lock_open:" if person.blocked else ":material/block:"
    with st.popover("Let in again" if person.blocked else "Block", icon=icon):
        st.markdown(
            "The person may sign in again, with the roles above."
            if person.blocked
            else "The person is signed out everywhere and cannot come back; their API tokens stop working."
        )
        st.button(
            "Let in again" if person.blocked else "Block access", key=f"{_AREA}.block.{person.id}", type="primary",
            on_click=_block, args=(person, not person.blocked),
        )  # fmt: skip


def _invitation() -> None:
    """Give a role to somebody before their first sign-in."""
    st.markdown("The role waits for the first sign-in. No message is sent.")
    st.text_input("Login", key=f"{_AREA}.login", placeholder="E-mail address or login", max_chars=200)
    _role_fields(f"{_AREA}.invited")
    st.button("Invite", type="primary", key=f"{_AREA}.invite", on_click=_invite)


def _role_fields(key: str) -> tuple[str | None, Role]:
    """The project, None for every one, and the role."""
    # "" and not None stands for every project: a field that can be None can be cleared, which must not mean everything.
    projects = ["", *session.workbench().upload_queue.projects()]
    project = st.selectbox("Where", projects, format_func=_project_title, key=f"{key}.project", width=_FIELD_WIDTH)
    roles: list[Role] = list(Role)
    role = st.selectbox("Role", roles, format_func=role_title, key=f"{key}.role", width=_FIELD_WIDTH)
    return project or None, role


def _project_title(project: str | None) -> str:
    return f"in {project}" if project else "in every project"


def _set_role(person: Person, project: str | None, role: Role | None) -> None:
    name = plain(person.name or person.login)
    message = (
        f"{name} lost a role." if role is None else f"{name} is now {role.value} {plain(_project_title(project))}."
    )
    apply_change(_AREA, lambda: session.workbench().people.set_role(person.id, project, role), message)


def _block(person: Person, blocked: bool) -> None:
    message = f"{plain(person.name or person.login)} {'is blocked' if blocked else 'may sign in again'}."
    apply_change(_AREA, lambda: session.workbench().people.block(person.id, blocked=blocked), message)


def _invite() -> None:
    login, project, role = (
        st.session_state[f"{_AREA}.{field}"] for field in ("login", "invited.project", "invited.role")
    )
    if apply_change(
        _AREA, lambda: session.workbench().people.invite(login, role, project or None), f"{plain(login)} is invited."
    ):
        st.session_state[f"{_AREA}.login"] = ""
