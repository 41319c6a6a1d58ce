"""Upload: drop files, watch their processing, and check their labels – the uncertain ones first."""

from collections.abc import Sequence

import streamlit as st

from core.domain.errors import FivefoldError
from core.domain.results import UploadReceipt
from core.ingestion.file_names import is_junk
from core.library.upload_queue import NewFile
from pages.components import notices, session
from pages.components.upload.listing import draw_failed_work, draw_listing
from pages.components.upload.sources import draw_feeds, draw_folders
from pages.components.wording import count, plain, shorten_middle

_MOST_PROBLEMS = 8  # errors listed; chosen by hand


def _upload_form() -> None:
    """Upload files; originals are stored first, and one bad file stops no other."""
    state = st.session_state
    with st.container(border=True):
        folder = st.segmented_control(
            "Take", ("Files", "A folder"), default="Files", required=True, label_visibility="collapsed"
        )
        taken = st.file_uploader(
            folder,
            accept_multiple_files="directory" if folder == "A folder" else True,
            key=f"upload.{folder}.{state.setdefault('upload.round', 0)}",
            label_visibility="collapsed",
        )
        st.caption(
            "PDF and scans, Word, PowerPoint, OpenDocument, RTF, HTML, XML, Markdown, text; tables as Excel, CSV,"
            " Parquet or JSON; mails; all of them in archives too. Originals are stored first."
        )
        files = [each for each in taken if not is_junk(each.name)]
        where, tagged, go = st.columns([3, 3, 2], vertical_alignment="bottom")
        project = where.selectbox(
            "Project",
            session.workbench().upload_queue.projects(),
            index=None,
            accept_new_options=True,
            placeholder="None: shared by all projects",
            key="upload.project",
        )
        tags = tagged.multiselect("Tags", [], accept_new_options=True, placeholder="Optional", key="upload.tags")
        label = f"Upload {count(len(files), 'file')}" if files else "Upload"
        if go.button(label, type="primary", icon=":material/upload:", disabled=not files, width="stretch"):
            new = [NewFile(each.name, each.getvalue) for each in files]
            state["upload.told"] = _store(new, project, tags)
            state["upload.round"] += 1
            st.rerun()


def _store(files: Sequence[NewFile], project: str | None, tags: Sequence[str]) -> list[UploadReceipt | FivefoldError]:
    """Store the files with a progress bar; returns a receipt or error for each."""
    bar, outcomes = st.progress(0.0), []
    for receipt in session.workbench().upload_queue.take_in(files, project=project, tags=tags):
        outcomes.append(receipt)
        bar.progress(
            len(outcomes) / len(files), f"Storing the originals: {len(outcomes):,} of {count(len(files), 'file')}"
        )
    return outcomes


def _receipts() -> None:
    """Receipts and errors of the files just uploaded."""
    outcomes: list[UploadReceipt | FivefoldError] = st.session_state.get("upload.told", [])
    if not outcomes:
        return
    new = [each for each in outcomes if isinstance(each, UploadReceipt) and not each.duplicate_of]
    known = [each for each in outcomes if isinstance(each, UploadReceipt) and each.duplicate_of]
    with st.container(gap="xsmall"):
        if new:
            st.success(
                f"{count(len(new), 'file')} uploaded. Processing continues if you close this tab.",
                icon=":material/check:",
            )
        if known:
            names = [_known_as(each) for each in known[:_MOST_PROBLEMS]]
            names += [f"and {len(known) - _MOST_PROBLEMS:,} more"] if len(known) > _MOST_PROBLEMS else []
            listed = "".join(f"\n- {each}" for each in names)
            st.info(f"{count(len(known), 'file')} already in the library:\n{listed}", icon=":material/content_copy:")
        problems = [each for each in outcomes if isinstance(each, FivefoldError)]
        for each in problems[:_MOST_PROBLEMS]:
            notices.error(each)
        if len(problems) > _MOST_PROBLEMS:
            st.caption(f"and {count(len(problems) - _MOST_PROBLEMS, 'file')} more that could not be stored")
        st.button("Dismiss", icon=":material/close:", type="tertiary", on_click=_dismiss)


def _known_as(receipt: UploadReceipt) -> str:
    """Which document of the library a file is, word for word; named once where both are called the same."""
    new, known = plain(shorten_middle(receipt.name, 80)), plain(shorten_middle(receipt.duplicate_of, 80))
    return new if receipt.name == receipt.duplicate_of else f"{new} is {known}"


def _dismiss() -> None:
    st.session_state["upload.told"] = []


def draw() -> None:
    _upload_form()
    _receipts()
    draw_feeds()
    draw_folders()
    draw_failed_work()
    draw_listing()


draw()
