"""Feeds and pasted links: follow a feed, fetch a page once, and the state of each feed."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import streamlit as st

from core.domain.errors import FivefoldError
from core.library.sources.feeds import Feed
from pages.components import notices, session
from pages.components.wording import ago, count, plain, shortened

__all__ = ["draw_feeds"]


def draw_feeds() -> None:
    """What comes from the web, closed until it is wanted: a field for an address with a button for each way to use it,
    and the feeds that are followed."""
    feeds = session.workbench().feeds.feeds()
    shown = st.expander("From the web", icon=":material/rss_feed:", key="feeds.shown", on_change="rerun")
    if shown.open:
        with shown:
            _ask()
            _list(feeds)
        return
    failed = [feed for feed in feeds if feed.problem and not feed.paused]
    if failed:
        st.caption(f":red[:material/error: {count(len(failed), 'feed')} of {len(feeds)} failed, see *From the web*.]")


def _list(feeds: Sequence[Feed]) -> None:
    """The feeds, looked at again while one is being fetched."""
    if not feeds:
        st.caption("No feed is followed yet. Paste the address of an RSS or Atom feed above.")
        return
    awaited = any(map(_awaited, feeds))

    @st.fragment(run_every=1.0 if awaited else None)
    def drawn() -> None:
        known = session.workbench().feeds.feeds()
        if awaited and not any(map(_awaited, known)):
            st.rerun()
        for feed in known:
            _row(feed)

    drawn()


def _awaited(feed: Feed) -> bool:
    """Whether it was asked for in this session and has not been fetched since."""
    asked: dict[int, datetime | None] = st.session_state.setdefault("feeds.asked", {})
    if feed.id in asked and asked[feed.id] != feed.fetched_at:
        del asked[feed.id]
    return feed.id in asked


def _fetch(feed: Feed) -> None:
    """Queue it, and look out for it."""
    st.session_state.setdefault("feeds.asked", {})[feed.id] = feed.fetched_at
    session.workbench().feeds.fetch_soon(feed.id)


def _ask() -> None:
    state = st.session_state
    told = state.pop("feeds.told", None)
    with st.form("feeds.form", border=True):
        st.text_input("Web address", key="feeds.url", placeholder="https://…", help=_HELP)
        where, tagged = st.columns(2)
        projects = sorted({each.project for each in session.workbench().documents.list() if each.project})
        where.selectbox(
            "Project",
            projects,
            index=None,
            accept_new_options=True,
            placeholder="None: shared by all projects",
            key="feeds.project",
        )
        tagged.multiselect("Tags", [], accept_new_options=True, placeholder="Optional", key="feeds.tags")
        with st.container(horizontal=True, gap="small"):
            once = st.form_submit_button("Fetch once", icon=":material/download:")
            follow = st.form_submit_button("Follow as a feed", icon=":material/rss_feed:")
    if once or follow:
        _asked(_fetch_once if once else _follow)
    elif told is not None:
        st.success(told, icon=":material/check:")


_HELP = (
    "A page or file is fetched once; a feed (RSS, Atom) is looked at every hour, and each of its entries becomes a"
    " document. Addresses of this machine and of private networks are refused unless a setting allows them."
)


def _asked(do: Callable[[str, str | None, list[str]], str]) -> None:
    state = st.session_state
    try:
        with st.spinner("Asking the address …"):
            state["feeds.told"] = do(state["feeds.url"], state["feeds.project"], state["feeds.tags"])
    except FivefoldError as problem:
        notices.error(problem)
    else:
        st.rerun()


def _fetch_once(url: str, project: str | None, tags: list[str]) -> str:
    receipt = session.workbench().feeds.take_page(url, project=project, tags=tags)
    if receipt.duplicate_of:
        return f"It is in the library already, as {plain(receipt.duplicate_of)}."
    return f"{plain(receipt.name)} is stored, and is being read."


def _follow(url: str, project: str | None, tags: list[str]) -> str:
    feed = session.workbench().feeds.add(url, project=project, tags=tags)
    st.session_state.setdefault("feeds.asked", {})[feed.id] = feed.fetched_at
    return "The feed is followed; its entries appear among the files as they are read."


def _row(feed: Feed) -> None:
    """One feed: what it is called, how it fares, and what can be done with it."""
    desk = session.workbench().feeds
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{plain(shortened(feed.title or feed.url, 80))}**", width="content")
            _state(feed)
            st.caption(plain(_facts(feed)), width="content")
        if feed.title:
            st.caption(plain(shortened(feed.url, 120)))
        if feed.problem:
            st.markdown(f":red[{plain(feed.problem)}] {plain(feed.remedy)}")
        with st.container(horizontal=True, gap="small"):
            if st.button("Fetch now", key=f"feeds.fetch.{feed.id}", icon=":material/refresh:", type="tertiary"):
                _fetch(feed)
                st.rerun()
            go, icon = ("Go on", ":material/play_arrow:") if feed.paused else ("Pause", ":material/pause:")
            if st.button(go, key=f"feeds.pause.{feed.id}", icon=icon, type="tertiary"):
                desk.pause(feed.id, paused=not feed.paused)
                st.rerun()
            if st.button(
                "Delete",
                key=f"feeds.delete.{feed.id}",
                icon=":material/delete:",
                type="tertiary",
                help="Follows it no more; the documents it brought stay.",
            ):
                desk.delete(feed.id)
                st.rerun()


def _state(feed: Feed) -> None:
    if _awaited(feed):
        st.badge("being fetched", icon=":material/hourglass_top:", color="gray")
    elif feed.paused:
        st.badge("paused", icon=":material/pause:", color="gray")
    elif feed.problem:
        st.badge("failed", icon=":material/error:", color="red")
    elif feed.fetched_at is None:
        st.badge("waiting", icon=":material/hourglass_empty:", color="gray")
    else:
        st.badge("followed", icon=":material/rss_feed:", color="green")


def _facts(feed: Feed) -> str:
    when = f"fetched {ago(feed.fetched_at, datetime.now(UTC))}" if feed.fetched_at else "not fetched yet"
    told = [when, count(feed.taken, "document"), *([feed.project] if feed.project else []), *feed.tags]
    return " · ".join(told)
