"""The list of insights or episodes: filters, counts and pages; each item can be edited and deleted."""
# Longer than 300 lines: a listed insight is shown, edited and deleted in place.

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from bootstrap.environment import utc_now
from core.domain.documents import Sector
from core.insights.service import MOST_LETTERS
from core.insights.store import Episode, EvidenceLink, Insight, InsightCounts, InsightOrEpisode, InsightPage
from core.knowledge.sectors import sectors
from core.library.versions.outdated_citations import OutdatedCitation
from pages.components import notices, session
from pages.components.insights import state
from pages.components.insights.styles import OUTCOMES, outcome_words, sector_badge, sector_choice, sector_title
from pages.components.pager import draw_foot, place_of
from pages.components.urls import page_path
from pages.components.wording import ago, count, day, plain, quoted, shortened, squeezed

__all__ = ["draw_list", "draw_note", "tag_choice"]

_FIELDS = ("text", "reflection", "reward", "tags", "sector", "project")


def draw_note(
    memory: InsightOrEpisode,
    strength: float,
    leads: Mapping[EvidenceLink, int],
    tags: list[str],
    doubts: Mapping[EvidenceLink, OutdatedCitation] | None = None,
) -> None:
    """An insight or episode as a card, or as a form while it is edited."""
    key = state.key_of(memory)
    with st.container(border=True, gap="xsmall", key=f"card.{key}"):
        if st.session_state.get("insights.editing") == key:
            _form(memory, key, tags)
            return
        _head(memory, strength)
        _body(memory)
        if memory.tags:
            with st.container(horizontal=True, gap="xsmall"):
                for tag in memory.tags:
                    st.badge(plain(tag), color="gray", icon=":material/label:")
        _links(memory, leads, doubts or {})
        _actions(memory, key)


def _head(memory: InsightOrEpisode, strength: float) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{memory.origin.value.capitalize()} {memory.id}**", width="content")
        sector_badge(memory)
        facts = [plain(memory.who) if memory.who else "", day(memory.at), plain(memory.project or "no project")]
        if memory.changed_at is not None:
            facts.append(f"changed {ago(memory.changed_at, utc_now())}")
        st.caption(" · ".join(fact for fact in facts if fact), width="content")
        if memory.deleted_at is None:
            st.caption(
                f"{strength:.0%} of its strength left",
                width="content",
                help="Notes fade in search with the days, more slowly the more they are used. Documents do not.",
            )


def _body(memory: InsightOrEpisode) -> None:
    if isinstance(memory, Insight):
        st.markdown(quoted(memory.text, (), "gray"))
        _asked(memory.question)
    elif isinstance(memory, Episode):
        _asked(memory.question)
        st.markdown(f"Outcome: **{plain(outcome_words(memory.reward))}**")
        if memory.reflection:
            st.markdown(quoted(memory.reflection, (), "gray"))


def _asked(question: str) -> None:
    if question:
        label = f"Asked: {plain(shortened(question, 160))}"
        st.page_link(page_path("search"), label=label, icon=":material/search:", query_params={"q": question})


def _links(
    memory: InsightOrEpisode, leads: Mapping[EvidenceLink, int], doubts: Mapping[EvidenceLink, OutdatedCitation]
) -> None:
    """What it rests on; a link opens the passage on Inspect, and one that leads nowhere any more says so."""
    for link in memory.links:
        where = plain(squeezed(link.document_name, 60))
        doubt = doubts.get(link)
        if link not in leads:
            gone = "no longer says this" if doubt is not None else "no longer in the library"
            st.caption(f":material/link_off: {where} – “{plain(shortened(link.quote, 200))}” · {gone}")
            _doubt(doubt)
            continue
        question = (memory.question if isinstance(memory, Insight | Episode) else "") or link.quote
        st.page_link(
            page_path("inspection"),
            label=f"{where}, page {link.page}",
            icon=":material/link:",
            query_params={"q": question, "documents": str(link.document_id), "passage": str(leads[link])}
            | ({"archived": "too"} if doubt is not None else {}),
        )
        st.caption(f"“{plain(shortened(link.quote, 200))}”")  # below the link, which would cut it where it is narrow
        _doubt(doubt)


def _doubt(doubt: OutdatedCitation | None) -> None:
    """Why a link is suspect, and what the current text says; the document's versions offer to cite that instead."""
    if doubt is None:
        return
    now = doubt.proposal
    said = f" It says: “{plain(shortened(now.sentence.text, 200))}”" if now is not None and now.likeness < 1 else ""
    st.caption(f":orange[:material/gpp_maybe: Suspect:] {plain(doubt.why)}.{said}")


def _actions(memory: InsightOrEpisode, key: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if memory.deleted_at is not None:
            st.caption(f":material/delete: deleted {day(memory.deleted_at)}", width="content")
            st.button("Restore", key=f"{key}.restore", icon=":material/undo:", on_click=_restore, args=(memory,))
            return
        st.button(
            "Edit", key=f"{key}.edit", icon=":material/edit:", type="tertiary", on_click=_begin, args=(memory, key)
        )
        st.button(
            "Delete", key=f"{key}.delete", icon=":material/delete:", type="tertiary", on_click=_delete, args=(memory,)
        )


def _begin(memory: InsightOrEpisode, key: str) -> None:
    """Fill the form from the memory as it is."""
    for field in _FIELDS:
        if hasattr(memory, field):
            value = getattr(memory, field)
            st.session_state[f"{key}.{field}"] = list(value) if field == "tags" else value
    if isinstance(memory, Episode):
        st.session_state[f"{key}.reward"] = _nearest(memory.reward)
    state.edited(memory)


def _nearest(reward: float) -> float:
    """The outcome that has words."""
    return min(OUTCOMES, key=lambda each: abs(each - reward))


def _delete(memory: InsightOrEpisode) -> None:
    state.did(lambda: state.desk().delete(memory), "Deleted.")


def _restore(memory: InsightOrEpisode) -> None:
    state.did(lambda: state.desk().restore(memory), "It is back, and found again.")


def _form(memory: InsightOrEpisode, key: str, tags: list[str]) -> None:
    st.markdown(f"**{memory.origin.value.capitalize()} {memory.id}**")
    if isinstance(memory, Insight):
        st.text_area("Text", key=f"{key}.text", height=160, max_chars=MOST_LETTERS)
    elif isinstance(memory, Episode):
        st.caption(f"Asked: {plain(memory.question)}")
        st.select_slider("Outcome", list(OUTCOMES), key=f"{key}.reward", format_func=OUTCOMES.__getitem__)
        st.text_area("Reflection", key=f"{key}.reflection", height=120, max_chars=MOST_LETTERS)
    grid = st.grid(3, min_column_width=220)
    with grid.cell():
        sector_choice("Sector", f"{key}.sector")
    with grid.cell():
        tag_choice(f"{key}.tags", [*tags, *memory.tags])
    with grid.cell():
        known = dict.fromkeys([*state.projects(), *([memory.project] if memory.project else [])])
        st.selectbox("Project", list(known), key=f"{key}.project", placeholder="No project", index=None)
    with st.container(horizontal=True):
        st.button("Save", key=f"{key}.save", type="primary", icon=":material/save:", on_click=_save, args=(memory, key))
        st.button("Cancel", key=f"{key}.cancel", on_click=state.edited, args=(None,))


def tag_choice(key: str, offered: list[str]) -> None:
    """Choose tags, or write new ones; `key` holds them."""
    st.multiselect(
        "Tags", list(dict.fromkeys(offered)), key=key, accept_new_options=True, placeholder="Choose or type new ones"
    )


def _save(memory: InsightOrEpisode, key: str) -> None:
    typed = st.session_state
    sector = typed[f"{key}.sector"]
    changed: InsightOrEpisode = replace(
        memory,
        tags=tuple(typed[f"{key}.tags"]),
        sector=sector,
        sector_reason=memory.sector_reason if sector is memory.sector else "",
        project=typed[f"{key}.project"],
    )
    if isinstance(changed, Insight):
        changed = replace(changed, text=typed[f"{key}.text"])
    elif isinstance(changed, Episode):
        chosen, before = typed[f"{key}.reward"], changed.reward
        reward = before if chosen == _nearest(before) else chosen
        changed = replace(changed, reward=reward, reflection=typed[f"{key}.reflection"])
    state.did(lambda: state.desk().change(changed), "Saved.")


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
    """The filters, the number of items, and one page of them, newest first."""
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


def _told(listed: InsightPage[InsightOrEpisode], counts: InsightCounts) -> None:
    """How many are listed, of how many; and what to do where there is none."""
    name, deleted = state.kind().origin.value, st.session_state["insights.deleted"]
    about = f"{'deleted ' if deleted else ''}{name}"
    if not listed.items:
        st.space("xsmall")
        notices.empty(":material/filter_alt_off:", f"No {about} matches", "Take away a filter above.")
        return
    of_all = f" of {counts.total:,}" if listed.total != counts.total and not deleted else ""
    st.caption(f"{count(listed.total, about)}{of_all} · newest first")


def draw_notes(memories: tuple[InsightOrEpisode, ...], counts: InsightCounts) -> None:
    """Cards, each with its remaining strength and the targets of its links."""
    strengths = state.desk().strengths(memories)
    links = [link for memory in memories for link in memory.links]
    leads, doubts = state.desk().where(links), session.workbench().versions.suspect_links(links)
    for memory, strength in zip(memories, strengths, strict=True):
        draw_note(memory, strength, leads, list(counts.tags), doubts)


def _page() -> InsightPage[InsightOrEpisode]:
    """The page looked at; the last one when there are fewer by now."""
    found = _listed(st.session_state["insights.page"])
    if found.page > found.pages:
        st.session_state["insights.page"] = found.pages
        found = _listed(found.pages)
    return found


def _listed(page: int) -> InsightPage[InsightOrEpisode]:
    desk, query = state.desk(), state.query()
    if st.session_state["insights.view"] == "insights":
        insights = desk.insights(query, page, _PER_PAGE)
        return InsightPage(tuple(insights.items), insights.total, insights.page, insights.pages)
    episodes = desk.episodes(query, page, _PER_PAGE)
    return InsightPage(tuple(episodes.items), episodes.total, episodes.page, episodes.pages)


def _filters(counts: InsightCounts) -> None:
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
