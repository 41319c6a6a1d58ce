"""One insight or episode: what it says, what it rests on, and what can be done with it."""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from core.library.versions_suspects import Suspicion
from core.memories import Episode, Insight, Link, Memory
from core.moments import right_now
from core.notes.desk import MOST_LETTERS
from pages.parts.insights import state
from pages.parts.insights.looks import OUTCOMES, outcome_words, sector_badge, sector_choice
from pages.parts.urls import page_path
from pages.parts.wording import ago, day, plain, quoted, shortened, squeezed

__all__ = ["draw_note", "tag_choice"]

_FIELDS = ("text", "reflection", "reward", "tags", "sector", "project")


def draw_note(
    memory: Memory,
    strength: float,
    leads: Mapping[Link, int],
    tags: list[str],
    doubts: Mapping[Link, Suspicion] | None = None,
) -> None:
    """A memory as a card, or as a form when it is being changed.

    strength: what is left of it, in (0, 1]. leads: where its links lead today. tags: those offered. doubts: why
    links rest on older text.
    """
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


def _head(memory: Memory, strength: float) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{memory.origin.value.capitalize()} {memory.id}**", width="content")
        sector_badge(memory)
        facts = [plain(memory.who) if memory.who else "", day(memory.at), plain(memory.project or "no project")]
        if memory.changed_at is not None:
            facts.append(f"changed {ago(memory.changed_at, right_now())}")
        st.caption(" · ".join(fact for fact in facts if fact), width="content")
        if memory.deleted_at is None:
            st.caption(
                f"{strength:.0%} of its strength left",
                width="content",
                help="Notes fade in search with the days, more slowly the more they are used. Documents do not.",
            )


def _body(memory: Memory) -> None:
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


def _links(memory: Memory, leads: Mapping[Link, int], doubts: Mapping[Link, Suspicion]) -> None:
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


def _doubt(doubt: Suspicion | None) -> None:
    """Why a link is suspect, and what the current text says; the document's versions offer to cite that instead."""
    if doubt is None:
        return
    now = doubt.proposal
    said = f" It says: “{plain(shortened(now.sentence.text, 200))}”" if now is not None and now.likeness < 1 else ""
    st.caption(f":orange[:material/gpp_maybe: Suspect:] {plain(doubt.why)}.{said}")


def _actions(memory: Memory, key: str) -> None:
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


def _begin(memory: Memory, key: str) -> None:
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


def _delete(memory: Memory) -> None:
    state.did(lambda: state.desk().delete(memory), "Deleted.")


def _restore(memory: Memory) -> None:
    state.did(lambda: state.desk().restore(memory), "It is back, and found again.")


def _form(memory: Memory, key: str, tags: list[str]) -> None:
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


def _save(memory: Memory, key: str) -> None:
    typed = st.session_state
    sector = typed[f"{key}.sector"]
    changed: Memory = replace(
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
