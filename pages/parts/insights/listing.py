"""The list of insights or episodes: narrowed, counted, and page by page."""

import streamlit as st

from core.documents import Sector
from core.memories import Memory, MemoryCounts, MemoryPage
from core.tables.sectors import sectors
from pages.parts import notices, session
from pages.parts.insights import state
from pages.parts.insights.looks import sector_title
from pages.parts.insights.note import draw_note
from pages.parts.pager import draw_foot, place_of
from pages.parts.wording import count

__all__ = ["draw_list"]

_PER_PAGE = 20
_EMPTY = {
    "insights": (
        ":material/edit_note:",
        "No insights yet",
        "Ask a question on *Search*, and press **Note** below the sentence you want to remember something about.",
    ),
    "episodes": (
        ":material/history:",
        "No episodes yet",
        "Ask a question on *Search*, open what helps, and press **Keep what came of it**.",
    ),
}


def draw_list(view: str) -> None:
    """The filters, how many there are, and one page of them, newest first."""
    counts = state.desk().counts(state.kind())
    if not counts.total and not st.session_state["insights.deleted"]:
        notices.empty(*_EMPTY[view])
        _deleted_toggle()
        return
    _filters(counts)
    listed = _page()
    _told(listed, counts)
    draw_notes(listed.items, counts)
    said = place_of(listed.page, _PER_PAGE, listed.total, state.kind().origin.value)
    draw_foot(listed.page, listed.pages, said, "insights.pager", _turned)


def _told(listed: MemoryPage[Memory], counts: MemoryCounts) -> None:
    """How many are listed, of how many; and what to do where there is none."""
    name, deleted = state.kind().origin.value, st.session_state["insights.deleted"]
    about = f"{'deleted ' if deleted else ''}{name}"
    if not listed.items:
        st.space("xsmall")
        notices.empty(":material/filter_alt_off:", f"No {about} matches", "Take away a filter above.")
        return
    of_all = f" of {counts.total:,}" if listed.total != counts.total and not deleted else ""
    st.caption(f"{count(listed.total, about)}{of_all} · newest first")


def draw_notes(memories: tuple[Memory, ...], counts: MemoryCounts) -> None:
    """Cards, with what is left of their strength and where their links lead."""
    strengths = state.desk().strengths(memories)
    links = [link for memory in memories for link in memory.links]
    leads, doubts = state.desk().where(links), session.workbench().versions.suspect_links(links)
    for memory, strength in zip(memories, strengths, strict=True):
        draw_note(memory, strength, leads, list(counts.tags), doubts)


def _page() -> MemoryPage[Memory]:
    """The page looked at; the last one when there are fewer by now."""
    found = _listed(st.session_state["insights.page"])
    if found.page > found.pages:
        st.session_state["insights.page"] = found.pages
        found = _listed(found.pages)
    return found


def _listed(page: int) -> MemoryPage[Memory]:
    desk, query = state.desk(), state.query()
    if st.session_state["insights.view"] == "insights":
        insights = desk.insights(query, page, _PER_PAGE)
        return MemoryPage(tuple(insights.items), insights.total, insights.page, insights.pages)
    episodes = desk.episodes(query, page, _PER_PAGE)
    return MemoryPage(tuple(episodes.items), episodes.total, episodes.page, episodes.pages)


def _filters(counts: MemoryCounts) -> None:
    words, tags, project = st.columns([4, 3, 2], vertical_alignment="bottom")
    words.text_input(
        "Words", key="insights.words", type="search", placeholder="Part of what it says", on_change=_first_page
    )
    offered = sorted(counts.tags, key=lambda tag: (-counts.tags[tag], tag))
    tags.multiselect(
        "Tags",
        list(dict.fromkeys([*offered, *st.session_state["insights.tags"]])),
        key="insights.tags",
        placeholder="Any",
        format_func=lambda tag: f"{tag} ({counts.tags.get(tag, 0)})",
        on_change=_first_page,
    )
    chosen = st.session_state["insights.project"]
    project.selectbox(
        "Project",
        list(dict.fromkeys([*state.projects(), *([chosen] if chosen else [])])),
        index=None,
        key="insights.project",
        placeholder="Any",
        help="Notes without a project belong to every project.",
        on_change=_first_page,
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.pills(
            "Sector",
            list(sectors()),
            selection_mode="multi",
            key="insights.sectors",
            label_visibility="collapsed",
            wrap=True,
            format_func=lambda sector: f"{sector_title(Sector(sector))} {counts.sectors.get(sector, 0)}",
            on_change=_first_page,
        )
        _deleted_toggle()


def _deleted_toggle() -> None:
    st.toggle(
        "Deleted ones",
        key="insights.deleted",
        help="No search finds them. They can be brought back.",
        on_change=_first_page,
    )


def _first_page() -> None:
    _turned(1)


def _turned(page: int) -> None:
    st.session_state["insights.page"] = page
