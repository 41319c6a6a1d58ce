"""The audit log on Settings: who did what, when and through which interface; filters, pages and CSV."""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta

import streamlit as st

from core.access.action_words import action_words
from core.access.audit import AuditEntry, AuditOutcome, AuditQuery
from core.domain.people import Door
from pages.components import session
from pages.components.pager import draw_pager, pages_of, range_words

__all__ = ["draw_audit_log", "with_names"]

_AREA = "settings.audit"
_PER_PAGE = 50
_DOCUMENTS = re.compile(r"(?<=\bdocument )\d+|(?<=\bdocuments )\d+(?:, \d+)*")
"""Where an entry's object gives documents by their numbers."""
_WIDTH = 190  # pixels of a field with names or words


def draw_audit_log() -> None:
    """Filters, the matching entries newest first, and their export."""
    st.markdown("##### Audit log", anchors=False)
    st.caption("Every change, export, sign-in and refused attempt. Entries are never changed or deleted.")
    query = _filters()
    log = session.workbench().audit
    pages_key = f"{_AREA}.page"
    if st.session_state.get(f"{_AREA}.query") != query:
        st.session_state[f"{_AREA}.query"] = query
        st.session_state.pop(pages_key, None)
    page = int(st.session_state.get(pages_key) or 1)
    found = log.page(query, _PER_PAGE, _PER_PAGE * (page - 1))
    nothing = "There are no entries yet." if query == AuditQuery() else "No entries match."
    shown = range_words(page, _PER_PAGE, found.total, "entry", "entries") if found.total else nothing
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(shown, width="content")
        st.download_button(
            "CSV", lambda: log.csv(query), "audit-log.csv", "text/csv",
            key=f"{_AREA}.csv", icon=":material/download:", on_click="ignore", disabled=not found.total,
        )  # fmt: skip
    if found.total:
        objects = " ".join(each.object for each in found.entries)
        numbers = {int(number) for listed in _DOCUMENTS.findall(objects) for number in listed.split(", ")}
        names = {each.id: each.name for each in session.workbench().document_list.by_id(sorted(numbers))}
        columns = {"Time (UTC)": st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm:ss", width=150)}
        st.dataframe(
            [_row(each, names) for each in found.entries], hide_index=True, column_config=columns, row_height=32,
            height="content" if len(found.entries) < _PER_PAGE else 640,
        )  # fmt: skip
    draw_pager(pages_of(found.total, _PER_PAGE), pages_key)


def _filters() -> AuditQuery:
    logins, actions = session.workbench().audit.values()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        login = _choice("Person", [each for each in logins if each], width=_WIDTH)
        action = st.selectbox(
            "Action",
            sorted(actions, key=action_words),
            index=None,
            format_func=action_words,
            placeholder="All",
            key=f"{_AREA}.action",
            width=_WIDTH,
        )
        door = _choice("Interface", [each.value for each in Door], width=140)
        outcome = _choice("Outcome", [each.value for each in AuditOutcome], width=130)
        since = st.date_input("From", None, key=f"{_AREA}.since", format="YYYY-MM-DD", width=140)
        until = st.date_input("To", None, key=f"{_AREA}.until", format="YYYY-MM-DD", width=140)
        words = st.text_input("Contains", key=f"{_AREA}.words", width=_WIDTH)
    return AuditQuery(
        login=login or "",
        action=action or "",
        door=Door(door) if door else None,
        outcome=AuditOutcome(outcome) if outcome else None,
        words=words.strip(),
        since=_start(since),
        until=_start(until, days=1),
    )


def _choice(label: str, values: list[str], width: int) -> str | None:
    chosen: str | None = st.selectbox(
        label, values, index=None, placeholder="All", key=f"{_AREA}.{label.lower()}", width=width
    )
    return chosen


def _start(chosen: object, days: int = 0) -> datetime | None:
    """The beginning of a day in UTC, or of one later by `days`."""
    return datetime.combine(chosen, time(), UTC) + timedelta(days=days) if isinstance(chosen, date) else None


def with_names(words: str, names: Mapping[int, str]) -> str:
    """What an entry is about, with the documents' names in place of their numbers; those that are gone keep theirs.

    >>> with_names("documents 1, 23; archived yes", {1: "policy.pdf"})
    'documents policy.pdf, 23; archived yes'
    """

    def named(match: re.Match[str]) -> str:
        return ", ".join(names.get(int(number), number) for number in match.group().split(", "))

    return _DOCUMENTS.sub(named, words)


def _row(entry: AuditEntry, names: Mapping[int, str]) -> dict[str, object]:
    return {
        "Time (UTC)": entry.at.astimezone(UTC),
        "Person": entry.name or entry.login or "nobody",
        "Login": entry.login,
        "Interface": entry.door.value,
        "Action": action_words(entry.action),
        "Object": with_names(entry.object, names),
        "Project": entry.project or "",
        "Outcome": entry.outcome.value,
        "Details": entry.detail,
    }
