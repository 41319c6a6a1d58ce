"""Upload: drop files, watch their processing, and check their labels – the uncertain ones first."""

import streamlit as st

from pages.components.upload.dropping import draw_drop_zone, draw_outcomes
from pages.components.upload.listing import draw_failed_work, draw_listing
from pages.components.upload.sources import draw_feeds, draw_folders


def _drop_zone() -> None:
    with st.container(border=True, gap="xsmall"):
        kind = st.segmented_control(
            "Upload", ("Files", "A folder"), default="Files", required=True, label_visibility="collapsed"
        )
        if draw_drop_zone(folder=kind == "A folder"):
            st.rerun()
        st.caption(
            "PDF and scans, Word, PowerPoint, OpenDocument, RTF, HTML,"
            " XML, Markdown, text; Excel, CSV, Parquet, JSON; mails; and archives of them."
        )


def draw() -> None:
    _drop_zone()
    draw_outcomes()
    draw_listing()
    draw_failed_work()
    draw_feeds()
    draw_folders()


draw()
