"""The script behind every page: the frame, the way around, and the page itself. Served by app.py."""

from pathlib import Path

import streamlit as st

from pages.parts import keys, session
from pages.parts.notices import told

_HERE = Path(__file__).parent

st.set_page_config(page_title="Fivefold", page_icon=str(_HERE / "pages/parts/mark.svg"), layout="wide")
st.logo(str(_HERE / "pages/parts/wordmark.svg"), icon_image=str(_HERE / "pages/parts/mark.svg"), size="medium")
page = st.navigation(
    [
        st.Page("pages/home.py", title="Home", icon=":material/home:", default=True),
        st.Page("pages/upload.py", title="Upload", icon=":material/upload_file:"),
        st.Page("pages/library.py", title="Library", icon=":material/library_books:"),
        st.Page("pages/search.py", title="Search", icon=":material/search:"),
        st.Page("pages/inspect.py", title="Inspect", icon=":material/troubleshoot:"),
        st.Page("pages/coverage.py", title="Coverage", icon=":material/grid_on:"),
    ],
    position="top",
)
with told():
    session.workbench()
    page.run()
keys.listen()
session.start_warming()
