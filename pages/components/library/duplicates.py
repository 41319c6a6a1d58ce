"""All near-duplicates and suggested versions of the library, page by page, with the latest decisions."""

import streamlit as st

from bootstrap.environment import utc_now
from core.library.duplicates.comparer import DuplicateGroup
from core.library.versions.store import VersionDecision, VersionVerdict
from pages.components import notices, session
from pages.components.library.differences import draw_difference
from pages.components.library.related_documents import library_link, likeness
from pages.components.library.versions import decided, draw_suggestion
from pages.components.pager import draw_pager, pages_of
from pages.components.user_name import who
from pages.components.wording import ago, bytes_in_words, count, day, plain, squeezed

__all__ = ["draw_duplicates"]

_PER_PAGE = 10
_VERSIONS, _COPIES = "New versions?", "Near-duplicates"


def draw_duplicates() -> None:
    """Suggestions to decide, groups to look at."""
    if (problem := st.session_state.pop("versions.problem", None)) is not None:
        notices.error(problem)
    _uncompared()
    _last()
    desk = session.workbench().versions
    totals = {_VERSIONS: desk.suggestions(1, 1)[1], _COPIES: desk.groups(1, 1)[1]}
    view = st.segmented_control(
        "Kind",
        list(totals),
        default=_VERSIONS if totals[_VERSIONS] or not totals[_COPIES] else _COPIES,
        required=True,
        key="duplicates.view",
        label_visibility="collapsed",
        format_func=lambda kind: f"{kind} {totals[kind]:,}",
    )
    if not totals[view]:
        if view == _VERSIONS:
            notices.empty(
                ":material/update:",
                "No new version is suggested",
                "A document that looks like a later version of another appears here; nothing is replaced by itself.",
            )
        else:
            notices.empty(":material/content_copy:", "No near-duplicates", "No two documents say almost the same.")
        return
    page = draw_pager(pages_of(totals[view], _PER_PAGE), f"duplicates.page.{view}")
    if view == _VERSIONS:
        for suggestion in desk.suggestions(page, _PER_PAGE)[0]:
            draw_suggestion(suggestion)
    else:
        for group in desk.groups(page, _PER_PAGE)[0]:
            _group(group)


def _group(group: DuplicateGroup) -> None:
    with st.container(border=True, gap="xsmall"):
        same = likeness(group.most) if group.least == group.most else f"{likeness(group.least)} or more"
        st.markdown(f"**{count(len(group.documents), 'document')}** :gray[– {same}]")
        for document in group.documents:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                library_link(document, plain(squeezed(document.name, 70)), ":material/description:")
                facts = [document.project or "no project", f"uploaded {day(document.uploaded_at)}"]
                facts += [f"dated {day(document.date)}" if document.date else "undated"]
                facts += [bytes_in_words(document.size_bytes)]
                st.caption(" · ".join(plain(fact) for fact in facts), width="content")
        if len(group.documents) == 2 and group.least < 1.0:
            newer, older = group.documents
            if st.toggle("What differs", key=f"duplicates.differs.{older.id}.{newer.id}"):
                draw_difference(older, newer)


def _last() -> None:
    """What was decided last, with its way back."""
    desk = session.workbench().versions
    last = next(iter(desk.decisions(1)), None)
    if last is None or last.verdict is VersionVerdict.UNDONE:
        return
    names = session.workbench().versions.named(last)
    if names is None:
        return
    older, newer = names
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f"Last: {_in_words(last, older, newer)}", width="content")
        st.button(
            "Undo",
            icon=":material/undo:",
            type="tertiary",
            key=f"duplicates.undo.{last.number}.{last.older_id}.{last.newer_id}",
            on_click=decided,
            args=(lambda: desk.undo(last.older_id, last.newer_id, who()), "Taken back."),
        )


def _in_words(last: VersionDecision, older: str, newer: str) -> str:
    did = "replaces" if last.verdict is VersionVerdict.ACCEPTED else "is no version of"
    by = f"{plain(last.who)}, " if last.who else ""
    return f"“{plain(squeezed(newer, 50))}” {did} “{plain(squeezed(older, 50))}” ({by}{ago(last.at, utc_now())})"


def _uncompared() -> None:
    """Documents read before likenesses were kept, and the way to compare them; it can be stopped by leaving the page,
    and goes on where it was."""
    desk = session.workbench().versions
    left = desk.uncompared()
    if not left:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(
            f":material/info: {count(len(left), 'document')} were read before documents were compared.", width="content"
        )
        go = st.button("Compare them now", icon=":material/difference:", key="duplicates.compare")
    if not go:
        return
    bar = st.progress(0.0)
    st.button("Stop", icon=":material/stop:", key="duplicates.stop")  # any click ends this run, and what it is doing
    for number, document in enumerate(left):
        bar.progress(number / len(left), f"{number:,} of {len(left):,} · now {plain(document.name)}")
        desk.compare(document)
    st.rerun()
