"""The script behind every page: frame, navigation, and the page itself. Served by app.py."""

from pathlib import Path

import streamlit as st

from core.domain.errors import AccessDenied, NotSignedIn, StoreFailed
from pages.components import browser_scripts, session, sign_in
from pages.components.help import page_keys
from pages.components.notices import degraded_everywhere, show_errors
from pages.components.user_name import keep_in_browser, restore_name
from pages.frame.sign_in_page import draw_account, draw_sign_in

_PAGES = Path(__file__).parents[1]
_COMPONENTS = _PAGES / "components"

# Before the navigation: it would otherwise fetch the icon of the page from the internet for the tab.
st.set_page_config(page_icon=str(_COMPONENTS / "mark.svg"), layout="wide")
st.html(Path(__file__).with_name("frame.css"))
restore_name()
refused: NotSignedIn | AccessDenied | StoreFailed | None = None
unread = 0
try:
    sign_in.recheck(session.library)
    unread = session.workbench().notifications.unread(session.principal())
except (NotSignedIn, AccessDenied, StoreFailed) as problem:
    refused = problem
page = st.navigation(
    [
        st.Page(
            _PAGES / "home.py", title=f"Home · {unread}" if unread else "Home", icon=":material/home:", default=True
        ),
        st.Page(_PAGES / "upload.py", title="Upload", icon=":material/upload_file:"),
        st.Page(_PAGES / "library.py", title="Library", icon=":material/library_books:"),
        st.Page(_PAGES / "search.py", title="Search", icon=":material/search:"),
        st.Page(
            _PAGES / "inspection.py",
            title="Inspect",
            icon=":material/troubleshoot:",
            url_path="inspect",
            visibility="hidden",
        ),
        st.Page(_PAGES / "document.py", title="Document", icon=":material/article:", visibility="hidden"),
        st.Page(_PAGES / "insights.py", title="Insights", icon=":material/edit_note:"),
        st.Page(_PAGES / "tuning.py", title="Tuning", icon=":material/tune:"),
        st.Page(_PAGES / "coverage.py", title="Coverage", icon=":material/grid_on:"),
        st.Page(_PAGES / "data.py", title="Data", icon=":material/table_chart:"),
        st.Page(_PAGES / "settings.py", title="Settings", icon=":material/settings:"),
        st.Page(_PAGES / "help.py", title="Help", icon=":material/help:"),
    ],
    position="hidden" if refused else "top",
)
if refused is not None:
    st.set_page_config(page_title="Sign in – Fivefold")
    draw_sign_in(refused)
    st.stop()
st.logo(str(_COMPONENTS / "wordmark.svg"), size="medium")
st.set_page_config(page_title=f"{page.title} – Fivefold")
name = page.title.partition(" · ")[0]  # Home counts what is new for this person
if name != "Document":
    st.session_state.pop("document.counted", None)  # opened once more, a document counts as used once more
    st.session_state.pop("document.original", None)
with st.container(key="page_title"):
    st.title(name, anchor=False)
draw_account()
with show_errors():
    degraded_everywhere(session.workbench().notices())
    page.run()
browser_scripts.listen_to_keys(page_keys.ask_for_keys)
page_keys.draw_keys_if_asked(name)
keep_in_browser()
session.start_warming()
