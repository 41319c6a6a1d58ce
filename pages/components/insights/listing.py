"""The list of insights or episodes: filters, counts and pages; each item can be edited and deleted."""
# Longer than 300 lines: a listed insight is shown, edited and deleted in place.

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from bootstrap.environment import utc_now
from core.domain.documents import Sector
from core.domain.errors import NotFound
from core.insights.service import MOST_LETTERS
from core.insights.store import Episode, EvidenceLink, Insight, InsightCounts, InsightOrEpisode, InsightPage
from core.knowledge.glossary import explanation, meaning
from core.knowledge.sectors import sectors
from core.library.versions.outdated_citations import OutdatedCitation
from core.search.citations.cite import display_quote
from pages.components import cards, notices, rights, session
from pages.components.cards import OUTCOMES, outcome_words, sector_badge, sector_choice, sector_title
from pages.components.citation_places import sentence_place
from pages.components.insights import state
from pages.components.pager import draw_foot, range_words
from pages.components.urls import page_path
from pages.components.wording import ago, count, day, highlight_spans, plain, shorten, shorten_middle

__all__ = ["draw_card", "draw_list", "tag_choice"]

_FIELDS = ("text", "reflection", "reward", "tags", "sector", "project")


def draw_card(
    item: InsightOrEpisode,
    strength: float,
    leads: Mapping[EvidenceLink, int],
    doubts: Mapping[EvidenceLink, OutdatedCitation],
) -> None:
    """An insight or episode as a card, or as a form while it is edited."""
    key = state.key_of(item)
    with st.container(border=True, gap="xsmall", key=f"card.{key}"):
        if st.session_state.get("insights.editing") == key:
            _form(item, key)
            return
        _head(item, strength)
        _body(item)
        if item.tags:
            with st.container(horizontal=True, gap="xsmall"):
                for tag in item.tags:
                    st.badge(plain(tag), color="gray", icon=":material/label:")
        _links(item, leads, doubts)
        _actions(item, key)


def _head(item: InsightOrEpisode, strength: float) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(
            f"**{item.origin.value.capitalize()} {item.id}**", width="content", help=explanation(item.origin.value)
        )
        sector_badge(item)
        facts = [plain(item.who) if item.who else "", day(item.at), plain(item.project or "no project")]
        if item.changed_at is not None:
            facts.append(f"changed {ago(item.changed_at, utc_now())}")
        st.caption(" · ".join(fact for fact in facts if fact), width="content")
        if item.deleted_at is None:
            st.caption(
                f"Freshness {strength:.0%}",
                width="content",
                help=meaning("freshness_of_insight"),
            )


def _body(item: InsightOrEpisode) -> None:
    if isinstance(item, Insight):
        st.markdown(highlight_spans(item.text, (), "gray"))
        _question_link(item.question)
    elif isinstance(item, Episode):
        _question_link(item.question)
        st.markdown(f"Outcome: **{plain(outcome_words(item.reward))}**")
        if item.reflection:
            st.markdown(highlight_spans(item.reflection, (), "gray"))


def _question_link(question: str) -> None:
    if question:
        label = f"Asked: {plain(shorten(question, 160))}"
        st.page_link(page_path("search"), label=label, icon=":material/search:", query_params={"q": question})


def _links(
    item: InsightOrEpisode, leads: Mapping[EvidenceLink, int], doubts: Mapping[EvidenceLink, OutdatedCitation]
) -> None:
    """The cited sentences; a link opens the passage on Inspect, or says that it is gone."""
    for link in item.links:
        where = plain(shorten_middle(link.document_name, 60))
        doubt = doubts.get(link)
        if link not in leads:
            reason = "no longer says this" if doubt is not None else "no longer in the library"
            st.caption(f":material/link_off: {where} – “{plain(shorten(display_quote(link.quote), 200))}” · {reason}")
            _suspect_line(doubt)
            continue
        question = (item.question if isinstance(item, Insight | Episode) else "") or link.quote
        with st.container(horizontal=True, gap="small"):
            st.page_link(
                page_path("inspection"),
                label=f"{where}, {_link_place(link)}",
                icon=":material/link:",
                query_params={"q": question, "documents": str(link.document_id), "passage": str(leads[link])}
                | ({"archived": "too"} if doubt is not None else {}),
            )
            cards.document_link(link.document_id, "Open document", mark=str(leads[link]))
        # Below the link, which would cut it where it is narrow.
        st.caption(f"“{plain(shorten(display_quote(link.quote), 200))}”")
        _suspect_line(doubt)


def _link_place(link: EvidenceLink) -> str:
    try:
        document = session.workbench().documents.get(link.document_id)
    except NotFound:
        document = None
    return sentence_place(document, link.page, link.start)


def _suspect_line(doubt: OutdatedCitation | None) -> None:
    """Why a citation is suspect, and what the current text says."""
    if doubt is None:
        return
    now = doubt.proposal
    current_text = (
        f" It says: “{plain(shorten(now.sentence.text, 200))}”" if now is not None and now.likeness < 1 else ""
    )
    st.caption(f":orange[:material/gpp_maybe: Suspect:] {plain(doubt.why)}.{current_text}")


def _actions(item: InsightOrEpisode, key: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if item.deleted_at is not None:
            st.caption(f":material/delete: deleted {day(item.deleted_at)}", width="content")
            rights.button(
                "insights.restore",
                "Restore",
                key=f"{key}.restore",
                icon=":material/undo:",
                on_click=_restore,
                args=(item,),
            )
            return
        rights.button(
            "insights.change",
            "Edit",
            key=f"{key}.edit",
            icon=":material/edit:",
            type="tertiary",
            on_click=_begin_edit,
            args=(item, key),
        )
        rights.button(
            "insights.delete",
            "Delete",
            key=f"{key}.delete",
            icon=":material/delete:",
            type="tertiary",
            on_click=_delete,
            args=(item,),
        )


def _begin_edit(item: InsightOrEpisode, key: str) -> None:
    """Fill the form with the item's values."""
    for field in _FIELDS:
        if hasattr(item, field):
            value = getattr(item, field)
            st.session_state[f"{key}.{field}"] = list(value) if field == "tags" else value
    if isinstance(item, Episode):
        st.session_state[f"{key}.reward"] = _nearest_outcome(item.reward)
    state.edit(item)


def _nearest_outcome(reward: float) -> float:
    """The outcome that has words."""
    return min(OUTCOMES, key=lambda each: abs(each - reward))


def _delete(item: InsightOrEpisode) -> None:
    state.apply_change(lambda: state.insight_service().delete(item), "Deleted.")


def _restore(item: InsightOrEpisode) -> None:
    state.apply_change(lambda: state.insight_service().restore(item), "Restored.")


def _form(item: InsightOrEpisode, key: str) -> None:
    st.markdown(f"**{item.origin.value.capitalize()} {item.id}**")
    if isinstance(item, Insight):
        st.text_area("Text", key=f"{key}.text", height=160, max_chars=MOST_LETTERS)
    elif isinstance(item, Episode):
        st.caption(f"Asked: {plain(item.question)}")
        st.select_slider("Outcome", list(OUTCOMES), key=f"{key}.reward", format_func=OUTCOMES.__getitem__)
        st.text_area("Reflection", key=f"{key}.reflection", height=120, max_chars=MOST_LETTERS)
    grid = st.grid(3, min_column_width=220)
    with grid.cell():
        sector_choice("Sector", f"{key}.sector")
    with grid.cell():
        tag_choice(f"{key}.tags", [*state.insight_service().counts(type(item)).tags, *item.tags])
    with grid.cell():
        known = dict.fromkeys([*state.projects(), *([item.project] if item.project else [])])
        st.selectbox("Project", list(known), key=f"{key}.project", placeholder="No project", index=None)
    with st.container(horizontal=True):
        st.button("Save", key=f"{key}.save", type="primary", icon=":material/save:", on_click=_save, args=(item, key))
        st.button("Cancel", key=f"{key}.cancel", on_click=state.edit, args=(None,))


def tag_choice(key: str, offered: list[str]) -> None:
    """Choose tags, or write new ones; `key` holds them."""
    st.multiselect(
        "Tags", list(dict.fromkeys(offered)), key=key, accept_new_options=True, placeholder="Choose or type new ones"
    )


def _save(item: InsightOrEpisode, key: str) -> None:
    typed = st.session_state
    sector = typed[f"{key}.sector"]
    changed: InsightOrEpisode = replace(
        item,
        tags=tuple(typed[f"{key}.tags"]),
        sector=sector,
        sector_reason=item.sector_reason if sector is item.sector else "",
        project=typed[f"{key}.project"],
    )
    if isinstance(changed, Insight):
        changed = replace(changed, text=typed[f"{key}.text"])
    elif isinstance(changed, Episode):
        chosen, before = typed[f"{key}.reward"], changed.reward
        reward = before if chosen == _nearest_outcome(before) else chosen
        changed = replace(changed, reward=reward, reflection=typed[f"{key}.reflection"])
    state.apply_change(lambda: state.insight_service().change(changed), "Saved.")


_PER_PAGE = 20  # chosen by hand

_EMPTY = {
    "insights": (
        ":material/edit_note:",
        "No insights yet",
        "Ask a question on *Search*, and press **Note** below the sentence you want to remember something about.",
    ),
    "episodes": (
        ":material/history:",
        "No episodes yet",
        "Ask a question on *Search*, open what helps, and press **Record the outcome**.",
    ),
}


def draw_list(view: str) -> None:
    """The filters, the number of items, and one page of them, newest first."""
    counts = state.insight_service().counts(state.kind(), state.query())
    if not counts.total and not st.session_state["insights.deleted"]:
        notices.empty(*_EMPTY[view])
        _deleted_toggle()
        return
    _filters(counts)
    listed = _current_page()
    _count_line(listed, counts)
    draw_cards(listed.items)
    range_text = range_words(listed.page, _PER_PAGE, listed.total, state.kind().origin.value)
    draw_foot(listed.page, listed.pages, range_text, "insights.pager", _turn_page)


def _count_line(listed: InsightPage[InsightOrEpisode], counts: InsightCounts) -> None:
    """How many are listed, of how many; and what to do where there is none."""
    name, deleted = state.kind().origin.value, st.session_state["insights.deleted"]
    about = f"{'deleted ' if deleted else ''}{name}"
    if not counts.total:
        notices.empty(":material/delete:", f"No deleted {name}", "What you delete is listed here, to be brought back.")
        return
    if not listed.items:
        st.space("xsmall")
        notices.empty(":material/filter_alt_off:", f"No {about} matches", "Remove a filter.")
        return
    of_all = f" of {counts.total:,}" if listed.total != counts.total else ""
    st.caption(f"{count(listed.total, about)}{of_all} · newest first")


def draw_cards(items: tuple[InsightOrEpisode, ...]) -> None:
    """Cards, each with its remaining strength and the targets of its links."""
    strengths = state.insight_service().strengths(items)
    links = [link for item in items for link in item.links]
    leads, doubts = state.insight_service().where(links), session.workbench().versions.suspect_links(links)
    for item, strength in zip(items, strengths, strict=True):
        draw_card(item, strength, leads, doubts)


def _current_page() -> InsightPage[InsightOrEpisode]:
    """The current page; the last one when there are fewer by now."""
    found = _fetch_page(st.session_state["insights.page"])
    if found.page > found.pages:
        st.session_state["insights.page"] = found.pages
        found = _fetch_page(found.pages)
    return found


def _fetch_page(page: int) -> InsightPage[InsightOrEpisode]:
    service, query = state.insight_service(), state.query()
    if st.session_state["insights.view"] == "insights":
        insights = service.insights(query, page, _PER_PAGE)
        return InsightPage(tuple(insights.items), insights.total, insights.page, insights.pages)
    episodes = service.episodes(query, page, _PER_PAGE)
    return InsightPage(tuple(episodes.items), episodes.total, episodes.page, episodes.pages)


def _filters(counts: InsightCounts) -> None:
    words, tags, project = st.columns([4, 3, 2], vertical_alignment="bottom")
    words.text_input(
        "Words", key="insights.words", type="search", placeholder="Find in the text", on_change=_first_page
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
        "Show deleted",
        key="insights.deleted",
        help="No search finds them. They can be brought back.",
        on_change=_first_page,
    )


def _first_page() -> None:
    _turn_page(1)


def _turn_page(page: int) -> None:
    st.session_state["insights.page"] = page
