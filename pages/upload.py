"""Upload: drop files, watch their processing, and check their labels beside their text – the uncertain ones first."""

import streamlit as st

from core.library.upload_queue import UploadCounts
from pages.components import cards, rights, session
from pages.components.upload import state
from pages.components.upload.checking import draw_check, is_checking
from pages.components.upload.dropping import draw_drop_zone, draw_outcomes
from pages.components.upload.listing import draw_failed_work, draw_listing
from pages.components.upload.sources import draw_feeds, draw_folders
from pages.components.upload.status import draw_status

_KINDS = (
    "PDF and scans, Word, PowerPoint, OpenDocument, RTF, HTML, XML, Markdown, text; Excel, CSV, Parquet, JSON; mails;"
    " and archives of them."
)


def _drop_zone(now: UploadCounts) -> None:
    if not rights.may("documents.upload"):
        st.caption("You read this library as a viewer. Ask an administrator for the role analyst to add files.")
        return
    with st.container(border=True, gap="xsmall"):
        zone, kinds = st.columns([4, 1], vertical_alignment="bottom")
        kind = kinds.segmented_control(
            "Upload", ("Files", "A folder"), default="Files", required=True, label_visibility="collapsed"
        )
        with zone:
            if draw_drop_zone(folder=kind == "A folder", help=_KINDS):
                st.rerun()
        if not now.all:
            st.caption(_KINDS)


def draw() -> None:
    state.read_url()
    state.keep_filters()
    now = session.workbench().upload_queue.counts(cards.SURE)
    draw_status(now)
    if is_checking():
        draw_check()
        return
    _drop_zone(now)
    draw_outcomes()
    state.draw_saved()
    draw_listing(now)
    if rights.may("jobs.failed"):
        draw_failed_work()
    if rights.may("feeds.take_page"):
        draw_feeds()
    if rights.may("folders.folders"):
        draw_folders()


draw()
