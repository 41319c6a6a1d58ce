"""Session state of the Insights page: kind, filters, and the last action."""

from collections.abc import Callable, Sequence

import streamlit as st

from core.domain.documents import Origin, Sector
from core.domain.errors import FivefoldError
from core.insights.service import InsightService
from core.insights.store import Episode, Insight, InsightOrEpisode, InsightQuery
from pages.components import notices, session, urls
from pages.components.pager import page_from_params, page_params
from pages.components.urls import number_in, page_path
from pages.components.wording import plain

__all__ = [
    "KINDS",
    "apply_change",
    "close",
    "edit",
    "insight_service",
    "key_of",
    "kind",
    "link_to",
    "open_item",
    "projects",
    "query",
    "read_url",
    "show_outcome",
    "write_url",
]

KINDS: dict[str, type[InsightOrEpisode]] = {"insights": Insight, "episodes": Episode}
"""View → what it lists; the names stand in the URL."""
_VIEW, _WORDS, _SECTORS, _TAGS = "insights.view", "insights.words", "insights.sectors", "insights.tags"
_PROJECT, _DELETED, _PAGE, _OPEN = "insights.project", "insights.deleted", "insights.page", "insights.open"
_KEYS = (_VIEW, _WORDS, _SECTORS, _TAGS, _PROJECT, _DELETED, _PAGE, _OPEN)


def insight_service() -> InsightService:
    """The insight service."""
    return session.workbench().insights


# The URL


def read_url() -> None:
    """Read view, filters and the open item from the URL, unless this page wrote them."""
    state, params = st.session_state, urls.current_params()
    if all(name in state for name in _KEYS) and not urls.is_new_request("insights", params):
        for name in _KEYS:  # written back, because what no widget shows this time would be forgotten
            state[name] = state[name]
        return

    def one(name: str) -> str:
        return params.get(name, [""])[0]

    state[_OPEN] = one("open") or _key_of_document(one("document"))
    view_name = f"{state[_OPEN].partition('-')[0]}s" if state[_OPEN] else one("view")
    state[_VIEW] = view_name if view_name in KINDS else next(iter(KINDS))
    state[_WORDS], state[_TAGS] = one("words"), params.get("tag", [])
    state[_SECTORS] = [Sector(value) for value in params.get("sector", []) if value in set(Sector)]
    state[_PROJECT], state[_DELETED] = one("project") or None, one("deleted") == "1"
    state[_PAGE] = page_from_params(params, "at")


def _key_of_document(document: str) -> str:
    """The key of the insight or episode that search found under this document id."""
    number = number_in(document)
    found = insight_service().behind(number) if number is not None else None
    return key_of(found) if found is not None else ""


def write_url() -> None:
    """Write the current view to the URL."""
    state = st.session_state
    params: dict[str, list[str]] = {
        "view": [state[_VIEW]] if state[_VIEW] != next(iter(KINDS)) and not state[_OPEN] else [],
        "open": [state[_OPEN]] if state[_OPEN] else [],
        "words": [state[_WORDS]] if state[_WORDS] else [],
        "sector": [sector.value for sector in state[_SECTORS]],
        "tag": list(state[_TAGS]),
        "project": [state[_PROJECT]] if state[_PROJECT] else [],
        "deleted": ["1"] if state[_DELETED] else [],
        **page_params(state[_PAGE], "at"),
    }
    params = {name: values for name, values in params.items() if values}
    urls.write_params("insights", params)


def kind() -> type[InsightOrEpisode]:
    """What is listed."""
    return KINDS[st.session_state[_VIEW]]


def query() -> InsightQuery:
    """How the list is narrowed."""
    state = st.session_state
    return InsightQuery(
        words=state[_WORDS],
        sectors=tuple(state[_SECTORS]),
        tags=tuple(state[_TAGS]),
        project=state[_PROJECT],
        deleted=state[_DELETED],
    )


def projects() -> Sequence[str]:
    """The projects of the library."""
    return session.workbench().upload_queue.projects()


# One memory


def key_of(item: InsightOrEpisode) -> str:
    """The identifier of an item in URLs and widget keys."""
    return f"{item.origin.value}-{item.id}"


def open_item() -> InsightOrEpisode | None:
    """The open insight or episode, read again; None for the list. Raises NotFound."""
    origin, _, number_text = st.session_state[_OPEN].partition("-")
    number = number_in(number_text)
    if number is None or f"{origin}s" not in KINDS:
        return None
    return insight_service().insight(number) if origin == Origin.INSIGHT.value else insight_service().episode(number)


def close() -> None:
    """Return to the list."""
    st.session_state[_OPEN] = ""


def link_to(item: InsightOrEpisode, label: str) -> None:
    """A link that opens one insight or episode."""
    st.page_link(page_path("insights"), label=label, icon=":material/open_in_new:", query_params={"open": key_of(item)})


def edit(item: InsightOrEpisode | None) -> None:
    """Open this item in its edit form; None closes the form."""
    st.session_state["insights.editing"] = key_of(item) if item is not None else ""


# What was done


def apply_change(work: Callable[[], InsightOrEpisode], message: str) -> None:
    """Run an action and store its message. A deleted item can be restored from that message."""
    state = st.session_state
    try:
        done = work()
    except FivefoldError as problem:
        state["insights.problem"] = problem
        return
    state["insights.gone"] = done if done.deleted_at is not None else None
    state["insights.said"] = message
    edit(None)
    session.forget_answers()


def show_outcome() -> None:
    """Show the message of the last action; a deletion stays visible until the next action."""
    state = st.session_state
    if problem := state.pop("insights.problem", None):
        notices.error(problem)
    message, deleted = state.pop("insights.said", ""), state.get("insights.gone")
    if deleted is None:
        if message:
            st.toast(plain(message), icon=":material/check:")
        return
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        name = f"{deleted.origin.value.capitalize()} {deleted.id}"
        st.markdown(f":material/delete: **{name}** is deleted; no search finds it.", width="stretch")
        st.button("Undo", icon=":material/undo:", key="insights.undo", on_click=_undo, args=(deleted,))


def _undo(deleted: InsightOrEpisode) -> None:
    apply_change(lambda: insight_service().restore(deleted), "Restored.")
