"""The script behind every page: the frame, the way around, and the page itself. Served by app.py.

It stands in the folder of the pages: beside a script, Streamlit takes a folder named pages for its own, and who opens a
page by its address before anyone opened another would get that page without this frame.
"""

from pathlib import Path

import streamlit as st

from pages.parts import keys, session
from pages.parts.notices import told

_PARTS = Path(__file__).with_name("parts")

st.set_page_config(page_title="Fivefold", page_icon=str(_PARTS / "mark.svg"), layout="wide")
st.logo(str(_PARTS / "wordmark.svg"), size="medium")
page = st.navigation(
    [
        st.Page("home.py", title="Home", icon=":material/home:", default=True),
        st.Page("upload.py", title="Upload", icon=":material/upload_file:"),
        st.Page("library.py", title="Library", icon=":material/library_books:"),
        st.Page("search.py", title="Search", icon=":material/search:"),
        st.Page("inspection.py", title="Inspect", icon=":material/troubleshoot:", url_path="inspect"),
        st.Page("coverage.py", title="Coverage", icon=":material/grid_on:"),
    ],
    position="top",
)
with told():
    session.workbench()
    page.run()
keys.listen()
session.start_warming()
