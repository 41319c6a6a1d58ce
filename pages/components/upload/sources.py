"""Sources that bring documents by themselves: watched folders, feeds, and pages fetched once."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import streamlit as st

from core.domain.errors import FivefoldError
from core.library.sources.store import Feed, FolderTally, WatchedFolder
from pages.components import notices, rights, session
from pages.components.wording import ago, count, plain, shorten

__all__ = ["draw_feeds", "draw_folders"]


_MOST_PROBLEMS = 5  # listed per folder; chosen by hand


def draw_folders() -> None:
    """The watched folders, in a closed box; nothing if none is watched and none may be."""
    service = session.workbench().folders
    watched = service.folders()
    if not watched and not service.roots:
        return
    failed = sum(bool(folder.failure) or tally.failed > 0 for folder, tally in watched)
    suffix = f" · {count(len(watched), 'folder')}" if watched else ""
    suffix += f" · :red[{failed} with problems]" if failed else ""
    shown = st.expander(
        f"Watched folders{suffix}", icon=":material/folder_eye:", key="folders.shown", on_change="rerun"
    )
    if shown.open:
        with shown:
            _folder_form()
            _folder_list()


def _folder_form() -> None:
    service = session.workbench().folders
    if not service.roots:
        st.caption("No further folder may be watched; the setting FIVEFOLD\\_WATCH\\_FOLDERS names those that may be.")
        return
    known = {folder.path for folder, _ in service.folders()}
    with st.form("folders.form", border=True, clear_on_submit=True):
        path = st.selectbox(
            "Folder on the server",
            [each for each in service.choices() if each not in known],
            index=None,
            accept_new_options=True,
            placeholder="Choose one, or write its whole path",
            help="New and changed files in it, and in the folders inside, are uploaded automatically. Links, hidden"
            " files and files still being written are skipped.",
        )
        where, tagged, go = st.columns([3, 3, 2], vertical_alignment="bottom")
        project = where.selectbox(
            "Project",
            session.workbench().upload_queue.projects(),
            index=None,
            accept_new_options=True,
            placeholder="None: shared by all projects",
        )
        tags = tagged.multiselect("Tags", [], accept_new_options=True, placeholder="Optional")
        submitted = go.form_submit_button("Watch", icon=":material/folder_eye:", width="stretch")
    if submitted and path:
        try:
            service.add(path, project=project, tags=tags)
        except FivefoldError as problem:
            notices.error(problem)
        else:
            st.rerun()


def _folder_list() -> None:
    """The folders, redrawn every few seconds: they are scanned in the background."""
    if not session.workbench().folders.folders():
        st.caption("No folder is watched yet.")
        return

    @st.fragment(run_every=3.0)
    def drawn() -> None:
        for folder, tally in session.workbench().folders.folders():
            with st.container(border=True, gap="xsmall"):
                _folder_row(folder, tally)

    drawn()


def _folder_row(folder: WatchedFolder, tally: FolderTally) -> None:
    service = session.workbench().folders
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{plain(folder.path)}**", width="content")
        st.caption(plain(_folder_facts(folder, tally)), width="content")
    if folder.failure:
        st.markdown(f":red[{plain(folder.failure)}] {plain(folder.remedy)}")
    if tally.failed:
        problems = service.failures(folder.id, _MOST_PROBLEMS)
        st.caption("  \n".join(f":red[{plain(each.failure)}] {plain(each.remedy)}" for each in problems))
        if tally.failed > len(problems):
            st.caption(f"and {tally.failed - len(problems):,} more")
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Look now",
            key=f"folders.look.{folder.id}",
            icon=":material/refresh:",
            type="tertiary",
            on_click=service.scan_soon,
            args=(folder.id,),
        )
        st.button(
            "Stop watching",
            key=f"folders.remove.{folder.id}",
            icon=":material/delete:",
            type="tertiary",
            help="Its documents stay in the library.",
            on_click=service.remove,
            args=(folder.id,),
        )


def _folder_facts(folder: WatchedFolder, tally: FolderTally) -> str:
    when = f"looked through {ago(folder.looked, datetime.now(UTC))}" if folder.looked else "not looked through yet"
    facts = [when, f"{count(tally.taken, 'file')} taken in"]
    facts += [f"{tally.left:,} still being written"] if tally.left else []
    facts += [f"{tally.failed:,} not taken in"] if tally.failed else []
    return " · ".join([*facts, *([folder.project] if folder.project else []), *folder.tags])


def draw_feeds() -> None:
    """What comes from the web, closed until it is wanted: a field for an address with a button for each way to use it,
    and the feeds that are followed."""
    feeds = session.workbench().feeds.feeds()
    shown = st.expander("From the web", icon=":material/rss_feed:", key="feeds.shown", on_change="rerun")
    if shown.open:
        with shown:
            _feed_form()
            _feed_list(feeds)
        return
    failed = [feed for feed in feeds if feed.problem and not feed.paused]
    if failed:
        st.caption(f":red[:material/error: {count(len(failed), 'feed')} of {len(feeds)} failed, see *From the web*.]")


def _feed_list(feeds: Sequence[Feed]) -> None:
    """The feeds, redrawn while one is being fetched."""
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
            _feed_row(feed)

    drawn()


def _awaited(feed: Feed) -> bool:
    """Whether this session requested a fetch that has not finished."""
    requested: dict[int, datetime | None] = st.session_state.setdefault("feeds.asked", {})
    if feed.id in requested and requested[feed.id] != feed.fetched_at:
        del requested[feed.id]
    return feed.id in requested


def _fetch(feed: Feed) -> None:
    """Queue it, and look out for it."""
    st.session_state.setdefault("feeds.asked", {})[feed.id] = feed.fetched_at
    session.workbench().feeds.fetch_soon(feed.id)


def _feed_form() -> None:
    state = st.session_state
    message = state.pop("feeds.told", None)
    with st.form("feeds.form", border=True):
        st.text_input("Web address", key="feeds.url", placeholder="https://…", help=_ADDRESS_HELP)
        where, tagged = st.columns(2)
        projects = session.workbench().upload_queue.projects()
        where.selectbox(
            "Project",
            rights.upload_projects() or projects,
            index=None if rights.may_share() else 0,
            accept_new_options=rights.may_share(),
            placeholder="None: shared by all projects",
            key="feeds.project",
        )
        tagged.multiselect("Tags", [], accept_new_options=True, placeholder="Optional", key="feeds.tags")
        with st.container(horizontal=True, gap="small"):
            once = st.form_submit_button("Fetch once", icon=":material/download:")
            follow = st.form_submit_button("Follow as a feed", icon=":material/rss_feed:")
    if once or follow:
        _submit(_fetch_once if once else _follow)
    elif message is not None:
        st.success(message, icon=":material/check:")


_ADDRESS_HELP = (
    "A page or file is fetched once; a feed (RSS, Atom) is looked at every hour, and each of its entries becomes a"
    " document. Addresses of this machine and of private networks are refused unless a setting allows them."
)


def _submit(do: Callable[[str, str | None, list[str]], str]) -> None:
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


def _feed_row(feed: Feed) -> None:
    """One feed: title, state and actions."""
    service = session.workbench().feeds
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{plain(shorten(feed.title or feed.url, 80))}**", width="content")
            _feed_state(feed)
            st.caption(plain(_feed_facts(feed)), width="content")
        if feed.title:
            st.caption(plain(shorten(feed.url, 120)))
        if feed.problem:
            st.markdown(f":red[{plain(feed.problem)}] {plain(feed.remedy)}")
        with st.container(horizontal=True, gap="small"):
            if st.button("Fetch now", key=f"feeds.fetch.{feed.id}", icon=":material/refresh:", type="tertiary"):
                _fetch(feed)
                st.rerun()
            go, icon = ("Go on", ":material/play_arrow:") if feed.paused else ("Pause", ":material/pause:")
            if st.button(go, key=f"feeds.pause.{feed.id}", icon=icon, type="tertiary"):
                service.pause(feed.id, paused=not feed.paused)
                st.rerun()
            if st.button(
                "Delete",
                key=f"feeds.delete.{feed.id}",
                icon=":material/delete:",
                type="tertiary",
                help="Stops following it; the documents it brought stay.",
            ):
                service.delete(feed.id)
                st.rerun()


def _feed_state(feed: Feed) -> None:
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


def _feed_facts(feed: Feed) -> str:
    when = f"fetched {ago(feed.fetched_at, datetime.now(UTC))}" if feed.fetched_at else "not fetched yet"
    facts = [when, count(feed.taken, "document"), *([feed.project] if feed.project else []), *feed.tags]
    return " · ".join(facts)
