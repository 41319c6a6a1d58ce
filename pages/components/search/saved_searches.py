"""Saved searches: save the current one, open another, follow one, and mark results new since the last visit."""
# Longer than 300 lines: the list, and what can be done with each of its lines in place.

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import urljoin

import streamlit as st

from core.domain.errors import FivefoldError
from core.domain.queries import SearchRequest
from core.domain.results import Hit, SearchResult
from core.library.saved_searches import (
    MOST_ADDED,
    NewResults,
    SavedSearch,
    SavedSearchService,
    VisitedResult,
    owner_of,
)
from pages.components import notices, session
from pages.components.icon_button import icon_button
from pages.components.urls import Params, number_in, page_path, params_of
from pages.components.user_name import who
from pages.components.wording import ago, count, plain, shorten

__all__ = ["draw_new_results", "draw_saved", "is_new", "open_named"]

_NEW, _CHECKED, _DELETED, _RENAMED = "views.new", "views.checked", "views.gone", "views.renamed"
_FEED = "views.feed.shown"
_PROBLEM, _SAVE_PROBLEM = "views.problem", "views.save.problem"
_MINE, _ALL = "Me", "Everybody"
_RESULTS_VIEW = "results"
_LISTED, _HEIGHT = 6, 380  # searches shown in full; pixels of a longer list


def draw_saved(request: SearchRequest, shown: str, project: str | None) -> None:
    """Two buttons: save the current search, and list the saved ones."""
    try:
        same = _service().matching(request, session.principal()) if request.question.strip() else ()
        new = _count_new(project, frozenset(view.id for view in same))
    except FivefoldError as problem:
        notices.error(problem)
        return
    with st.container(horizontal=True, gap="small", width="content"):
        _save_button(request, shown, same)
        label = f"Saved views · {new} new" if new else "Saved views"
        with st.popover(label, icon=":material/bookmarks:", key="views.list"), st.container(width=460, gap="xsmall"):
            _list(project, frozenset(view.id for view in same))


def draw_new_results(result: SearchResult) -> None:
    """For a saved search: what is new since the last visit. Its results are then marked as seen."""
    st.session_state[_NEW] = frozenset()
    with notices.show_errors():
        person = session.principal()
        for number, view in enumerate(_service().matching(result.request, person)):
            looked = _service().open(view, person, result)
            _service().seen(looked, person)
            session.workbench().notifications.read_about(view.id, person)
            if number == 0:
                st.session_state[_NEW] = looked.new
                st.caption(_visit_line(looked))


def open_named(params: Params) -> None:
    """Go to the saved search that the address names as `?saved=ID`; a note says when it is gone."""
    number = number_in(next(iter(params.get("saved", ())), ""))
    if number is None:
        return
    try:
        view = _service().view(number, session.principal())
        problem = _service().problems([view]).get(view.id, "")
    except FivefoldError as error:
        st.session_state["search.problem"] = error
        st.query_params.clear()
        return
    st.query_params.from_dict(_params(view, problem))


def is_new(hit: Hit) -> bool:
    """Whether a result was not shown at the last visit of the saved search."""
    return hit.candidate.passage.id in st.session_state.get(_NEW, ())


def _service() -> SavedSearchService:
    return session.workbench().saved_searches


def _visit_line(looked: VisitedResult) -> str:
    name = f":material/bookmark: **{plain(looked.view.name)}**"
    if looked.since is None:
        return f"{name} · first visit; next time, new results are marked"
    new = count(len(looked.new), "new result") if looked.new else "no new result"
    added = count(len(looked.added), "document") if looked.added else "no document"
    more = " or more" if len(looked.added) >= MOST_ADDED else ""
    return f"{name} · {new} since {_time_words(looked.since)} · {added}{more} uploaded since"


def _time_words(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC ({ago(at, _now())})"


def _now() -> datetime:
    return datetime.now(UTC)


# Saving


def _save_button(request: SearchRequest, shown: str, same: Sequence[SavedSearch]) -> None:
    label, icon = ("Saved", ":material/bookmark_added:") if same else ("Save this search", ":material/bookmark_add:")
    with st.popover(label, icon=icon, key="views.save", disabled=not request.question.strip()):
        if same:
            names = ", ".join(f"“{plain(view.name)}”" for view in same)
            st.caption(f":material/bookmark: This search is saved as {names}.")
        st.text_input("Name", key="views.name", max_chars=80, placeholder=shorten(request.question, 40))
        if who():
            st.segmented_control("For", [_MINE, _ALL], key="views.for", default=_MINE, required=True)
        else:
            st.caption("No name set: this view will be visible to everyone.")
        st.caption("Question, filters, profile and view are kept.")
        if problem := st.session_state.pop(_SAVE_PROBLEM, None):
            notices.error(problem)
        st.button(
            "Save", key="views.save.now", type="primary", icon=":material/save:", on_click=_save, args=(request, shown)
        )


def _save(request: SearchRequest, shown: str) -> None:
    state = st.session_state
    shared = not who() or state["views.for"] == _ALL
    name = (state["views.name"] or "").strip() or shorten(request.question, 40)
    try:
        saved = _service().save(name, request, shown, session.principal(), shared=shared)
    except FivefoldError as problem:
        state[_SAVE_PROBLEM] = problem
        return
    state["views.name"] = ""
    st.toast(f"Saved as “{plain(saved.name)}”.", icon=":material/bookmark_added:")


# The list


@st.fragment
def _list(project: str | None, same: frozenset[int]) -> None:
    """The saved searches with their state; a click redraws only the list. asked: ids of the open ones."""
    state = st.session_state
    if problem := state.pop(_PROBLEM, None):
        notices.error(problem)
    if deleted := state.get(_DELETED):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"“{plain(deleted.name)}” is deleted.", width="stretch")
            st.button("Undo", key="views.undo", icon=":material/undo:", type="tertiary", on_click=_restore)
    with notices.show_errors():
        person = session.principal()
        listed = _service().views(project, person)
        if not listed:
            st.caption("Nothing saved yet. Ask a question, then save the search: it is opened here with one click.")
            return
        last_visits, problems = _service().last_visits(person), _service().problems(listed)
        followed = session.workbench().alerts.followed(person)
        with st.container(height=_HEIGHT if len(listed) > _LISTED else "content", border=False, gap="xsmall"):
            for view in listed:
                with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                    if state.get(_RENAMED) == view.id:
                        _rename_line(view)
                    else:
                        _link(view, problems.get(view.id, ""), named=project is None)
                        if view.id in same:
                            st.badge("open", color="primary", icon=":material/visibility:")
                        else:
                            _state(view, last_visits.get(view.id), problems.get(view.id, ""))
                        _bell(view, followed=view.id in followed)
                        _button(view, "feed", ":material/rss_feed:", "Address for a feed reader", _show_feed)
                        _button(view, "rename", ":material/edit:", "Rename", _begin_rename)
                        _button(view, "delete", ":material/delete:", "Delete", _delete)
                if state.get(_FEED) == view.id:
                    _feed(view)
        _check_all([view for view in listed if view.id not in problems])


def _link(view: SavedSearch, problem: str, *, named: bool) -> None:
    """Opens a view. named: with its project."""
    where = f" :gray[· {plain(view.project)}]" if view.project and named else ""
    with st.container(width="stretch", gap=None):
        st.page_link(
            page_path("search"),
            label=f"**{plain(view.name)}**{where}",
            icon=":material/group:" if view.shared else ":material/person:",
            query_params=_params(view, problem),
            help=plain(view.request.question),
        )


def _button(view: SavedSearch, what: str, icon: str, words: str, work: Callable[[SavedSearch], None]) -> None:
    icon_button(icon, words, f"views.{what}.{view.id}", work, (view,))


def _bell(view: SavedSearch, *, followed: bool) -> None:
    icon = ":material/notifications_active:" if followed else ":material/notifications:"
    words = "Stop notifying me" if followed else "Notify me of new results"
    _button(view, "unfollow" if followed else "follow", icon, words, _unfollow if followed else _follow)


def _follow(view: SavedSearch) -> None:
    if _apply_change(lambda: session.workbench().alerts.follow(view.id, session.principal())):
        st.toast(f"Home tells you when “{plain(view.name)}” has new results.", icon=":material/notifications_active:")


def _unfollow(view: SavedSearch) -> None:
    _apply_change(lambda: session.workbench().alerts.unfollow(view.id, session.principal()))


def _show_feed(view: SavedSearch) -> None:
    state = st.session_state
    state[_FEED] = None if state.get(_FEED) == view.id else view.id


def _feed(view: SavedSearch) -> None:
    """The address for a feed reader, which needs a token where people sign in."""
    local = session.principal().local
    address = urljoin(st.context.url or "", f"feeds/saved-search/{view.id}{'' if local else '?token='}")
    st.code(address, language=None, wrap_lines=True)
    words = "The address for your feed reader."
    st.caption(words if local else f"{words} Append one of your API tokens: whoever has the address sees the results.")


def _params(view: SavedSearch, problem: str) -> Mapping[str, Sequence[str]]:
    """The URL that opens it; without its profile when that is gone."""
    request = replace(view.request, profile="") if problem else view.request
    return params_of(request) | ({} if view.shown == _RESULTS_VIEW else {"view": [view.shown]})


def _state(view: SavedSearch, last: datetime | None, problem: str) -> None:
    """The state of a saved search, without running it."""
    found = _checked().get(view.id)
    if problem or (found is not None and found.problem):
        words = problem or (found.problem if found is not None else "")
        st.badge("profile gone", color="red", icon=":material/error:", help=f"{plain(words)} Opens with the default.")
    elif last is None:
        st.badge("not looked at yet", color="gray", help="You have not opened it since it was saved.")
    elif found is not None and found.at > last and found.new:
        since_words = f"Since {_time_words(found.since)}" if found.since else ""
        st.badge(f"{found.new} new", color="green", icon=":material/fiber_new:", help=since_words)
    else:
        nothing = "nothing new · " if found is not None and found.at > last else ""
        st.caption(f"{nothing}seen {ago(last, _now())}", width="content")


def _count_new(project: str | None, same: frozenset[int]) -> int:
    """How many new results the last check found in listed views that have not been opened since."""
    found = [each for each in _checked().values() if each.new and each.view_id not in same]
    if not found:
        return 0
    person = session.principal()
    listed, last_visits = {view.id for view in _service().views(project, person)}, _service().last_visits(person)
    return sum(
        each.new for each in found if each.view_id in listed and last_visits.get(each.view_id, each.at) <= each.at
    )


def _checked() -> dict[int, NewResults]:
    """What this person has checked in this session, by view id."""
    cache: dict[tuple[str, str], dict[int, NewResults]] = st.session_state.setdefault(_CHECKED, {})
    return cache.setdefault(owner_of(session.principal()), {})


def _check_all(views: Sequence[SavedSearch]) -> None:
    """Ask every view, one after the other, because somebody wants to know now."""
    if not st.button("Check all for new results", key="views.check", icon=":material/update:", disabled=not views):
        return
    bar = st.progress(0.0, "Checking …")
    for number, view in enumerate(views):
        bar.progress(number / len(views), f"Checking {number + 1} of {len(views)}: {plain(view.name)}")
        _checked()[view.id] = _service().check(view, session.principal())
    bar.empty()
    st.rerun()


# Changing


def _begin_rename(view: SavedSearch) -> None:
    st.session_state[_RENAMED] = view.id
    st.session_state[f"views.called.{view.id}"] = view.name


def _rename_line(view: SavedSearch) -> None:
    st.text_input(
        "New name", key=f"views.called.{view.id}", max_chars=80, label_visibility="collapsed", width="stretch",
        on_change=_rename, args=(view,),
    )  # fmt: skip
    st.button("Rename", key=f"views.rename.now.{view.id}", type="primary", on_click=_rename, args=(view,))


def _rename(view: SavedSearch) -> None:
    name = st.session_state[f"views.called.{view.id}"] or ""
    if st.session_state.get(_RENAMED) != view.id:
        return
    if name.strip() == view.name or _apply_change(lambda: _service().rename(view, name, session.principal())):
        st.session_state.pop(_RENAMED, None)


def _delete(view: SavedSearch) -> None:
    def work() -> None:
        st.session_state[_DELETED] = _service().delete(view, session.principal())

    _apply_change(work)


def _restore() -> None:
    deleted = st.session_state.pop(_DELETED)
    _apply_change(lambda: _service().restore(deleted, session.principal()))


def _apply_change(work: Callable[[], object]) -> bool:
    """Run a change in a callback; the list shows any error. Returns whether it succeeded."""
    try:
        work()
    except FivefoldError as problem:
        st.session_state[_PROBLEM] = problem
        return False
    return True
