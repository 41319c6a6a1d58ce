"""What waits for the person at this browser: mentions, tasks with their due dates, saved searches with new results."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from urllib.parse import parse_qs

import streamlit as st

from core.collaboration.assignments import Assignment
from core.collaboration.notifications import Notification, NotificationKind
from core.domain.people import Principal
from pages.components import notices, session
from pages.components.icon_button import icon_button
from pages.components.urls import page_path
from pages.components.wording import ago, count, plain, shorten, shorten_middle

__all__ = ["draw_for_you"]

_LISTED = 5  # tasks, and notifications, in sight; chosen by hand
_TITLE, _NAME, _TEXT = 60, 40, 120  # characters of a line
_ICONS = {
    NotificationKind.MENTION: ":material/alternate_email:",
    NotificationKind.ASSIGNMENT: ":material/assignment_ind:",
    NotificationKind.SAVED_SEARCH: ":material/fiber_new:",
}


def draw_for_you() -> None:
    """The box on Home; nothing while nothing waits."""
    with notices.show_errors():
        library, person = session.workbench(), session.principal()
        tasks = library.assignments.mine(person)
        unread = [each for each in library.notifications.listed(person, unread=True) if not _is_listed(each, tasks)]
        if not tasks and not unread:
            return
        with st.container(border=True, gap=None, key="for_you"):
            _head(len(unread), len(tasks), person)
            for task in tasks[:_LISTED]:
                _task(task)
            for each in unread[:_LISTED]:
                _notification(each)
            more = len(tasks[_LISTED:]) + len(unread[_LISTED:])
            if more:
                st.caption(f"and {count(more, 'more thing')}")


def _is_listed(notification: Notification, tasks: Sequence[Assignment]) -> bool:
    """Whether the person's own tasks tell it already."""
    return any(notification.key in (f"assignment:{each.id}:to", f"assignment:{each.id}:due") for each in tasks)


def _head(unread: int, tasks: int, person: Principal) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown("**For you**", width="content")
        if unread:
            st.badge(f"{unread} new", color="primary")
        if tasks:
            st.badge(count(tasks, "task"), color="gray")
        st.space("stretch")
        if unread:
            st.button(
                "Mark all as read", key="for_you.read", icon=":material/done_all:", type="tertiary",
                on_click=_read_all, args=(person,),
            )  # fmt: skip


def _task(task: Assignment) -> None:
    today = datetime.now(UTC).date()
    due = f"due {task.due:%Y-%m-%d}" if task.due else ""
    due = f":red[{due}, overdue]" if task.overdue(today) else due
    giver = f"from {plain(task.by_name)}" if task.by != task.to and task.by_name else ""
    parts = [part for part in (plain(shorten_middle(task.on.name, _NAME)), due, giver) if part]
    label = f"{plain(shorten(task.task, _TITLE))} :gray[{' · '.join(parts)}]"
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        icon_button(":material/check_box_outline_blank:", "Mark as done", f"for_you.done.{task.id}", _finish, (task,))
        _link(task.on.path, label, task.task)


def _notification(notification: Notification) -> None:
    about = f" · {plain(shorten_middle(notification.on.name, _NAME))}" if notification.on is not None else ""
    when = ago(notification.at, datetime.now(UTC))
    label = f"{plain(shorten(notification.title, _TITLE))} :gray[{about} · {when}]".replace("[ · ", "[")
    text = shorten(" ".join(notification.text.split()), _TEXT)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        icon_button(
            _ICONS[notification.kind], "Mark as read", f"for_you.read.{notification.id}", _read, (notification,)
        )
        _link(notification.path, label, text)


def _link(path: str, label: str, help_text: str) -> None:
    """A link to an address of the site."""
    page, _, query = path.partition("?")
    params: Mapping[str, list[str]] = parse_qs(query)
    st.page_link(page_path(page), label=label, help=plain(help_text) or None, query_params=params)


def _read(notification: Notification) -> None:
    with notices.show_errors():
        session.workbench().notifications.mark_read([notification.id], session.principal())


def _read_all(person: Principal) -> None:
    with notices.show_errors():
        session.workbench().notifications.mark_all_read(person)


def _finish(task: Assignment) -> None:
    with notices.show_errors():
        session.workbench().assignments.finish(task.id, session.principal())
        st.toast("Done.", icon=":material/check:")
