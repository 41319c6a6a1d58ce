"""Comments and tasks beside what they are about: read, write, mention a colleague, give work to somebody."""
# Longer than 300 lines: everything drawn of comments and tasks.

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

import streamlit as st

from core.collaboration.assignments import MOST_LETTERS_OF_A_TASK, Assignment
from core.collaboration.comments import MOST_LETTERS, Comment
from core.collaboration.target import Target, TargetKind
from core.collaboration.team import Teammate
from core.domain.errors import FivefoldError
from core.domain.people import Principal, Role
from pages.components import cards, notices, rights, session
from pages.components.icon_button import icon_button
from pages.components.wording import ago, count, plain, shorten

__all__ = ["comment_button", "comment_expander", "comment_panel", "label_of", "of_target"]

_COMMENT, _TASK = "Comment", "Task"
_QUOTE = 120  # characters of the passage that a comment on a document is about
_WIDTH = 420  # pixels of the panel behind a button


def of_target(target: Target) -> tuple[Sequence[Comment], Sequence[Assignment]]:
    """What is said and asked about a target. Raises NotFound, StoreFailed."""
    library, person = session.workbench(), session.principal()
    return library.comments.on(target, person), library.assignments.on(target, person)


def label_of(comments: Sequence[Comment], tasks: Sequence[Assignment]) -> str:
    """The label of what opens the panel: how many comments, and how many tasks are open.

    >>> label_of((), ())
    'Comments'
    """
    waiting = sum(each.done_at is None for each in tasks)
    parts = [f"Comments · {len(comments)}" if comments else "Comments"]
    return " · ".join([*parts, count(waiting, "task")] if waiting else parts)


@st.fragment
def comment_button(target: Target, key: str) -> None:
    """A small button that opens the panel of a target."""
    with notices.show_errors():
        remarks, tasks = of_target(target)
        button = st.popover(
            label_of(remarks, tasks), icon=":material/comment:",
            key=f"{key}.popover", type="tertiary", on_change="rerun",
        )  # fmt: skip
        if button.open:
            with button, st.container(width=_WIDTH, gap="small"):
                _panel(target, key)


@st.fragment
def comment_expander(target: Target, key: str) -> None:
    """A line that unfolds the panel of a target; unfolded where there is something to read."""
    with notices.show_errors():
        remarks, tasks = of_target(target)
        waiting = bool(remarks) or any(task.done_at is None for task in tasks)
        line = st.expander(
            label_of(remarks, tasks), icon=":material/comment:", key=f"{key}.expander",
            expanded=waiting, on_change="rerun",
        )  # fmt: skip
        if line.open:
            with line:
                _panel(target, key)


@st.fragment
def comment_panel(target: Target, key: str) -> None:
    """The panel of a target. A change draws only this part again."""
    with notices.show_errors():
        _panel(target, key)


def _panel(target: Target, key: str) -> None:
    """Tasks, comments, and a form for either. What a person sees here they need not be told of any more."""
    state, person = st.session_state, session.principal()
    if problem := state.pop(f"{key}.problem", None):
        notices.error(problem)
    remarks, tasks = of_target(target)
    _undo_line(key)
    for task in tasks:
        _task(task, key, target)
    names = _names(target, person) if any(comment.mentions for comment in remarks) else {}
    for comment in remarks:
        if state.get(f"{key}.edited") == comment.id:
            _edit_form(comment, key)
        else:
            _comment(comment, key, target, person, names)
    if not remarks and not tasks:
        st.caption("No comments yet.")
    _form(target, key, person)
    session.workbench().notifications.read_about(target, person)


# What is there


def _comment(comment: Comment, key: str, target: Target, person: Principal, names: Mapping[str, str]) -> None:
    own = comment.author == person.login
    with st.container(gap=None, key=f"{key}.comment.{comment.id}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            edited = " · edited" if comment.edited_at else ""
            name = plain(comment.author_name) or ("You" if own else "Somebody")
            st.markdown(f"**{name}** :small[:gray[{ago(comment.at, _now())}{edited}]]", width="content")
            st.space("stretch")
            if own:
                _icon(f"{key}.edit.{comment.id}", ":material/edit:", "Edit", _begin_edit, key, comment)
            if own or _manages(person, comment.on.project):
                _icon(f"{key}.delete.{comment.id}", ":material/delete:", "Delete", _delete, key, comment)
        _about(comment.on, target)
        st.markdown("  \n".join(plain(line) for line in comment.text.splitlines()))
        if comment.mentions:
            mentioned = ", ".join(names.get(login, login) for login in comment.mentions)
            st.caption(f":material/alternate_email: {plain(mentioned)}")


def _task(task: Assignment, key: str, target: Target) -> None:
    done, today = task.done_at is not None, _now().date()
    with st.container(horizontal=True, vertical_alignment="top", gap="xsmall", key=f"{key}.task.{task.id}"):
        icon = ":material/check_box:" if done else ":material/check_box_outline_blank:"
        words = "Open again" if done else "Mark as done"
        _icon(f"{key}.done.{task.id}", icon, words, _reopen if done else _finish, key, task)
        with st.container(gap=None, width="stretch"):
            st.markdown(f":gray[~~{plain(task.task)}~~]" if done else f"**{plain(task.task)}**")
            parts = [plain(task.to_name) or "You"]
            if done:
                parts.append(f"done {ago(task.done_at or task.at, _now())}")
            elif task.due is not None:
                due = f"due {task.due:%Y-%m-%d}"
                parts.append(f":red[{due}, overdue]" if task.overdue(today) else due)
            parts += [f"from {plain(task.by_name)}"] if task.by != task.to and task.by_name else []
            st.caption(" · ".join(parts))
            _about(task.on, target)


def _about(on: Target, target: Target) -> None:
    """The passage, where the panel is about the whole document."""
    if on.kind is TargetKind.PASSAGE and target.kind is not TargetKind.PASSAGE and on.document_id is not None:
        quote = f"“{shorten(' '.join(on.quote.split()), _QUOTE)}”"
        cards.document_link(on.document_id, f":gray[{plain(quote)}]", mark=str(on.passage_id))


def _icon(key: str, icon: str, words: str, work: Callable[..., None], *args: object) -> None:
    icon_button(icon, words, key, work, args)


def _names(target: Target, person: Principal) -> Mapping[str, str]:
    """Login → name of everybody who can be mentioned here."""
    known = {each.login: each.name for each in session.workbench().comments.mentionable(target, person)}
    return {**known, person.login: person.name}


def _manages(person: Principal, project: str | None) -> bool:
    role = person.role_in(project)
    return role is not None and role.covers(Role.ADMINISTRATOR)


def _undo_line(key: str) -> None:
    if f"{key}.deleted" in st.session_state:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption("The comment is deleted.", width="stretch")
            st.button("Undo", key=f"{key}.undo", icon=":material/undo:", type="tertiary", on_click=_undo, args=(key,))


# The form


def _form(target: Target, key: str, person: Principal) -> None:
    """One field for a comment or a task, and what goes with it."""
    may_assign = person.highest is not None and person.highest.covers(Role.ANALYST)
    kind = _COMMENT
    if may_assign:
        kind = st.segmented_control(
            "Kind", [_COMMENT, _TASK], key=f"{key}.kind", default=_COMMENT, required=True, label_visibility="collapsed"
        )
    if kind == _TASK:
        _task_form(target, key, person)
    else:
        _comment_form(target, key, person)


def _comment_form(target: Target, key: str, person: Principal) -> None:
    people = _people(session.workbench().comments.mentionable(target, person))
    st.text_area(
        "Comment", key=f"{key}.text", height=84, max_chars=MOST_LETTERS, placeholder="Write a comment",
        label_visibility="collapsed",
    )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if people:
            st.multiselect(
                "Mention", list(people), key=f"{key}.mentions", format_func=people.__getitem__,
                placeholder="Mention @ …", label_visibility="collapsed", width="stretch",
            )  # fmt: skip
        st.button("Comment", key=f"{key}.write", type="primary", on_click=_write, args=(target, key))


def _task_form(target: Target, key: str, person: Principal) -> None:
    people = _people(session.workbench().assignments.assignable(target, person))
    people = {login: name or "Me" for login, name in people.items()}
    st.text_input(
        "Task", key=f"{key}.task", max_chars=MOST_LETTERS_OF_A_TASK, placeholder="What has to be done",
        label_visibility="collapsed",
    )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        if len(people) > 1:
            st.selectbox(
                "Who", list(people), key=f"{key}.to", index=None, format_func=people.__getitem__, placeholder="Who",
                width="stretch",
            )  # fmt: skip
        st.date_input("Due", key=f"{key}.due", value=None, min_value=_now().date(), format="YYYY-MM-DD", width=140)
        only = next(iter(people), person.login) if len(people) <= 1 else ""
        rights.button(
            "assignments.assign",
            "Assign",
            key=f"{key}.assign",
            type="primary",
            on_click=_assign,
            args=(target, key, only),
        )


def _people(people: Sequence[Teammate]) -> Mapping[str, str]:
    """Login → name; with the login where two people have the same name."""
    names = [each.name for each in people]
    return {each.login: f"{each.name} ({each.login})" if names.count(each.name) > 1 else each.name for each in people}


def _edit_form(comment: Comment, key: str) -> None:
    st.text_area("Comment", key=f"{key}.edit.text", height=84, max_chars=MOST_LETTERS, label_visibility="collapsed")
    with st.container(horizontal=True, gap="small"):
        st.button("Save", key=f"{key}.edit.save", type="primary", on_click=_save, args=(key, comment))
        st.button("Cancel", key=f"{key}.edit.cancel", on_click=_end_edit, args=(key,))


# Changes, in callbacks


def _apply(key: str, change: Callable[[], object]) -> bool:
    try:
        change()
    except FivefoldError as problem:
        st.session_state[f"{key}.problem"] = problem
        return False
    return True


def _write(target: Target, key: str) -> None:
    state = st.session_state
    text, mentions = state[f"{key}.text"] or "", state.get(f"{key}.mentions", ())
    if _apply(key, lambda: session.workbench().comments.write(target, text, session.principal(), mentions)):
        state[f"{key}.text"] = ""
        state[f"{key}.mentions"] = []
        state.pop(f"{key}.deleted", None)


def _assign(target: Target, key: str, only: str) -> None:
    """only: the person to give it to where there is no choice."""
    state = st.session_state
    task, to, due = state[f"{key}.task"] or "", only or state[f"{key}.to"] or "", state[f"{key}.due"]
    if not to:
        st.toast("Choose who does it.", icon=":material/person_search:")
        return
    if _apply(key, lambda: session.workbench().assignments.assign(target, task, to, session.principal(), due)):
        state[f"{key}.task"] = ""
        state[f"{key}.due"] = None


def _begin_edit(key: str, comment: Comment) -> None:
    st.session_state[f"{key}.edited"] = comment.id
    st.session_state[f"{key}.edit.text"] = comment.text


def _end_edit(key: str) -> None:
    st.session_state.pop(f"{key}.edited", None)


def _save(key: str, comment: Comment) -> None:
    text = st.session_state[f"{key}.edit.text"] or ""
    if _apply(key, lambda: session.workbench().comments.edit(comment.id, text, session.principal(), comment.mentions)):
        _end_edit(key)


def _delete(key: str, comment: Comment) -> None:
    if _apply(key, lambda: session.workbench().comments.delete(comment.id, session.principal())):
        st.session_state[f"{key}.deleted"] = comment.id


def _undo(key: str) -> None:
    deleted = st.session_state.pop(f"{key}.deleted")
    _apply(key, lambda: session.workbench().comments.restore(deleted, session.principal()))


def _finish(key: str, task: Assignment) -> None:
    _apply(key, lambda: session.workbench().assignments.finish(task.id, session.principal()))


def _reopen(key: str, task: Assignment) -> None:
    _apply(key, lambda: session.workbench().assignments.reopen(task.id, session.principal()))


def _now() -> datetime:
    return datetime.now(UTC)
