"""Shortlists: results ticked into a named working set, and the view that orders, notes, exports and shares them."""
# Longer than 300 lines: ticking, the list and what a click on it does share the current shortlist.

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import streamlit as st

from core.domain.documents import Document
from core.domain.errors import FivefoldError
from core.domain.results import Hit
from core.insights.store import EvidenceLink
from core.library.shortlist_brief import shortlist_docx, shortlist_markdown, shortlist_xlsx
from core.library.shortlists import Shortlist, ShortlistItem, ShortlistService, item_of
from core.library.versions.outdated_citations import OutdatedCitation
from core.search.citations.cite import display_quote
from core.search.exports import file_name
from pages.components import cards, notices, rights, session
from pages.components.icon_button import icon_button
from pages.components.urls import page_path
from pages.components.user_name import who
from pages.components.wording import count, plain, shorten

__all__ = ["choose", "current", "draw_shortlists", "tick", "tick_button", "ticked"]

_CURRENT, _PROBLEM, _UNDO = "shortlist.current", "shortlist.problem", "shortlist.undo"
_FIRST_NAME = "My shortlist"
_QUOTE = 500  # characters of a quote in the list
_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def _service() -> ShortlistService:
    return session.workbench().shortlists


def choose(shortlist_id: int | None) -> None:
    """Make a shortlist the one that results are ticked into."""
    st.session_state[_CURRENT] = shortlist_id


def current() -> Shortlist | None:
    """The shortlist that results are ticked into: the one chosen, else the newest; None where there is none."""
    every = _service().all()
    shortlist_id = st.session_state.get(_CURRENT)
    return next((each for each in every if each.id == shortlist_id), every[-1] if every else None)


def ticked() -> frozenset[int]:
    """The passages in the current shortlist."""
    shortlist = current()
    return frozenset(each.passage_id for each in shortlist.items) if shortlist else frozenset()


def tick(hit: Hit, question: str) -> None:
    """Put a result into the current shortlist, or take it out; the first tick creates one."""
    try:
        shortlist = current() or _service().create(_FIRST_NAME, who())
        passage_id = hit.candidate.passage.id
        there = [each for each in shortlist.items if each.passage_id == passage_id]
        if there:
            _service().remove(shortlist.id, there[0])
        else:
            _service().add(shortlist.id, item_of(hit, question, datetime.now(UTC)))
    except FivefoldError as problem:
        st.toast(plain(str(problem)), icon=":material/error:")
        return
    done = "Removed from" if there else "Added to"
    st.toast(f"{done} “{plain(shortlist.name)}”.", icon=":material/checklist:")


def tick_button(hit: Hit, question: str) -> None:
    """Ticks the result that is read in the pane."""
    there = hit.candidate.passage.id in ticked()
    label = "In shortlist" if there else "Shortlist"
    icon = ":material/check_box:" if there else ":material/check_box_outline_blank:"
    key = f"shortlist.tick.{hit.candidate.passage.id}"
    help_text = "Remove it from the shortlist (key x)" if there else "Add it to the shortlist (key x)"
    rights.button(
        "shortlists.add",
        label,
        key=key,
        icon=icon,
        type="tertiary",
        help=help_text,
        on_click=tick,
        args=(hit, question),
    )


# The view


def draw_shortlists() -> None:
    """The shortlists of the library, and the items of the current one."""
    state = st.session_state
    if problem := state.pop(_PROBLEM, None):
        notices.error(problem)
    with notices.show_errors(), st.container(key="shortlists"):  # frame.css hides the filters beside it
        every, shown = _service().all(), current()
        missing = state.get(_CURRENT) is not None and (shown is None or shown.id != state[_CURRENT])
        if missing:
            notices.degraded(["The shortlist of this link was deleted."])
            choose(None)
        _undo_line()
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            if shown is not None:
                state["shortlist.choice"] = shown.id
                names = {each.id: f"{each.name} ({len(each.items)})" for each in every}
                st.selectbox(
                    "Shortlist",
                    list(names),
                    key="shortlist.choice",
                    format_func=lambda each: names.get(each, ""),
                    on_change=_chosen,
                )
                _name_menu("Rename", ":material/edit:", "Rename", lambda name: _service().rename(shown.id, name))
                _export(shown)
                rights.button(
                    "shortlists.delete", "Delete", icon=":material/delete:", key="shortlist.delete", on_click=_delete,
                    args=(shown.id,),
                )  # fmt: skip
            _name_menu("New shortlist", ":material/add:", "Create", _create)
        if shown is None:
            notices.empty(
                ":material/checklist:",
                "No shortlists yet",
                "Tick results of a search (or press x) to collect them here.",
            )
            return
        _items(shown)


def _items(shortlist: Shortlist) -> None:
    made = f" by {plain(shortlist.who)}" if shortlist.who else ""
    share = "the address of this page opens it for a colleague"
    changes = _changes(shortlist)
    changed = f" · :orange[:material/history:] {len(changes):,} changed since they were added" if changes else ""
    st.caption(f"{count(len(shortlist.items), 'item')}{changed} · created {shortlist.at:%Y-%m-%d}{made} · {share}")
    if not shortlist.items:
        st.caption("Empty. Tick results of a search, or press x on the chosen one, to add them.")
    newest = session.workbench().versions.newest([shortlist.items[index].document_id for index in changes])
    known = session.workbench().document_list.by_id([each.document_id for each in shortlist.items])
    readable = {each.id for each in known}
    for index, item in enumerate(shortlist.items):
        with st.container(border=True, gap="small", key=f"shortlist.item.{index}"):
            _item(shortlist, index, item, readable=item.document_id in readable)
            if index in changes:
                _change_line(changes[index], item, newest.get(item.document_id))
            _note_field(shortlist, index, item)


def _changes(shortlist: Shortlist) -> Mapping[int, str]:
    """Place of an item → what happened to its document since; of one that was replaced, or read again and no longer
    says it, what the current text says."""
    changes = _service().changes(shortlist)
    items = {index: shortlist.items[index] for index in changes}
    links = {
        index: EvidenceLink(each.passage_id, each.document_id, each.document_name, 0, 0, 0, each.quote)
        for index, each in items.items()
    }
    doubts = session.workbench().versions.suspect_links([*links.values()])
    return {**changes, **{index: _in_words(doubts[link]) for index, link in links.items() if link in doubts}}


def _in_words(doubt: OutdatedCitation) -> str:
    now = doubt.proposal
    current = f" It says: “{shorten(display_quote(now.sentence.text), 200)}”" if now and now.likeness < 1 else ""
    return f"{doubt.why[:1].upper()}{doubt.why[1:]}.{current}"


def _change_line(change: str, item: ShortlistItem, newer: Document | None) -> None:
    """What happened to the document of an item, and the way to its newer version."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f":orange[:material/history:] {plain(change)}", width="content")
        if newer is not None:
            cards.document_link(newer.id, "Open the newer version", question=item.question)


def _item(shortlist: Shortlist, index: int, item: ShortlistItem, *, readable: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        cards.truth_badge(item.truth or None)
        st.page_link(
            page_path("search"),
            label=plain(shorten(item.question, 80)),
            icon=":material/search:",
            query_params={"q": item.question, "passage": str(item.passage_id)},
            help="Search this question again",
        )
        st.space("stretch")
        last = len(shortlist.items) - 1
        _button(shortlist, index, "up", ":material/arrow_upward:", "Move up", disabled=index == 0)
        _button(shortlist, index, "down", ":material/arrow_downward:", "Move down", disabled=index == last)
        _button(shortlist, index, "remove", ":material/close:", "Remove")
    st.markdown(f"“{plain(shorten(display_quote(item.quote), _QUOTE))}”")
    if readable:
        cards.document_link(item.document_id, plain(item.place), mark=str(item.passage_id), question=item.question)
    else:
        st.caption(plain(item.place))


def _note_field(shortlist: Shortlist, index: int, item: ShortlistItem) -> None:
    key = f"shortlist.note.{shortlist.id}.{index}.{shortlist.version}"
    st.text_input(
        "Note",
        item.note,
        key=key,
        placeholder="Add a note",
        label_visibility="collapsed",
        on_change=_note,
        args=(shortlist.id, item, key),
        disabled=not rights.may("shortlists.note"),
    )


def _button(shortlist: Shortlist, index: int, what: str, icon: str, words: str, *, disabled: bool = False) -> None:
    drawn, may_change = (shortlist.id, index, shortlist.items[index]), rights.may("shortlists.move")
    icon_button(icon, words, f"shortlist.{what}.{index}", _change, (what, *drawn), disabled=disabled or not may_change)


def _name_menu(label: str, icon: str, word: str, work: Callable[[str], object]) -> None:
    """A small form that asks for a name."""
    key = f"shortlist.{word.lower()}"
    with st.popover(label, icon=icon, key=f"{key}.menu"):
        st.text_input("Name", key=f"{key}.name", max_chars=80)
        rights.button(
            "shortlists.create", word, key=f"{key}.now", type="primary", on_click=_named, args=(f"{key}.name", work)
        )


def _export(shortlist: Shortlist) -> None:
    with st.popover("Export", icon=":material/ios_share:", key="shortlist.export"):
        for label, ending, media, made in (
            ("Brief (Word)", ".docx", _DOCX, lambda: shortlist_docx(shortlist, _changes(shortlist))),
            ("Brief (Markdown)", ".md", "text/markdown", lambda: _markdown(shortlist)),
            ("Workbook (Excel)", ".xlsx", _XLSX, lambda: shortlist_xlsx(shortlist, _changes(shortlist))),
        ):
            st.download_button(
                label,
                made,
                file_name(shortlist.name, ending, "brief"),
                media,
                key=f"shortlist.export{ending}",
                icon=":material/download:",
                type="tertiary",
                on_click="ignore",
            )


def _markdown(shortlist: Shortlist) -> bytes:
    return shortlist_markdown(shortlist, _changes(shortlist)).encode()


# What a click does


def _chosen() -> None:
    choose(st.session_state["shortlist.choice"])


def _create(name: str) -> None:
    choose(_service().create(name, who()).id)


def _attempt(work: Callable[[], object]) -> None:
    """Do what was clicked; a problem is shown when the page is drawn again."""
    try:
        work()
    except FivefoldError as problem:
        st.session_state[_PROBLEM] = problem


def _named(key: str, work: Callable[[str], object]) -> None:
    name = st.session_state.get(key) or ""
    _attempt(lambda: work(name))
    st.session_state[key] = ""


def _note(shortlist_id: int, item: ShortlistItem, key: str) -> None:
    _attempt(lambda: _service().note(shortlist_id, item, st.session_state[key] or ""))


def _change(what: str, shortlist_id: int, index: int, item: ShortlistItem) -> None:
    def remove() -> None:
        _service().remove(shortlist_id, item)
        st.session_state[_UNDO] = (
            f"“{plain(shorten(display_quote(item.quote), 60))}” is removed.",
            lambda: _service().insert(shortlist_id, index, item),
        )

    _attempt(remove if what == "remove" else lambda: _service().move(shortlist_id, item, -1 if what == "up" else 1))


def _delete(shortlist_id: int) -> None:
    def work() -> None:
        deleted = _service().delete(shortlist_id)
        st.session_state[_UNDO] = (f"“{plain(deleted.name)}” is deleted.", lambda: _service().restore(deleted))
        choose(None)

    _attempt(work)


def _undo_line() -> None:
    if undo := st.session_state.get(_UNDO):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(undo[0], width="content")
            st.button("Undo", key="shortlist.undo.now", icon=":material/undo:", type="tertiary", on_click=_undo)


def _undo() -> None:
    _, work = st.session_state.pop(_UNDO)
    _attempt(work)
