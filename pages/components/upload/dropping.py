"""The drop zone: dropped files are uploaded at once, and what became of them is told once they are stored."""

from collections.abc import Sequence
from datetime import date

import streamlit as st

from core.domain.errors import BadRequest, FivefoldError
from core.domain.results import UploadReceipt
from core.ingestion.file_names import is_junk
from core.library.bulk_edit.plan import BulkEdit, EditMode
from core.library.upload_queue import NewFile
from pages.components import labels, notices, rights, session
from pages.components.user_name import who
from pages.components.wording import count, plain, shorten_middle

__all__ = ["draw_drop_zone", "draw_outcomes"]

_MOST_PROBLEMS = 8  # errors listed; chosen by hand
_FIELD_WIDTH = 160  # pixels: a whole date fits
_OUTCOMES, _ROUND, _DETAILS = "upload.told", "upload.round", "upload.details"


def draw_drop_zone(*, folder: bool = False, help: str | None = None) -> bool:
    """Files or a folder are uploaded as soon as they are dropped. Returns whether some just were."""
    if not rights.may("documents.upload"):
        return False
    state, project = st.session_state, _project_choice()
    taken = st.file_uploader(
        "Drop a folder here to upload it at once" if folder else "Drop files here to upload them at once",
        accept_multiple_files="directory" if folder else True,
        key=f"upload.{folder}.{state.setdefault(_ROUND, 0)}",
        help=help,
    )
    files = [NewFile(each.name, each.getvalue, each.size) for each in taken if not is_junk(each.name)]
    if not files:
        return False
    state[_ROUND] += 1  # a fresh zone: what was dropped is uploaded once
    state[_OUTCOMES] = _store(files, project)
    return True


def _project_choice() -> str | None:
    """The project of the files; only people who may not share documents with all projects are asked."""
    own = rights.upload_projects()
    if not own:
        return None
    chosen: str = st.selectbox("Project of the files", own, key="upload.project") if len(own) > 1 else own[0]
    return chosen


def _store(files: Sequence[NewFile], project: str | None) -> list[UploadReceipt | FivefoldError]:
    """Store the files with a progress bar; returns a receipt or error for each."""
    bar, outcomes = st.progress(0.0), []
    for outcome in session.workbench().upload_queue.take_in(files, project=project):
        outcomes.append(outcome)
        bar.progress(len(outcomes) / len(files), f"Uploading: {len(outcomes):,} of {count(len(files), 'file')}")
    return outcomes


def draw_outcomes() -> None:
    """Receipts and errors of the files just uploaded, and a form for their project, tags, date and jurisdiction."""
    outcomes: list[UploadReceipt | FivefoldError] = st.session_state.get(_OUTCOMES, [])
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
            _details_form([each.document_id for each in new])
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
        # The browser leaves them out, and the fresh zone no longer names them.
        st.caption("Is a file missing? Files over the limit above are not uploaded; split them first.")
        st.button("Dismiss", icon=":material/close:", type="tertiary", on_click=_dismiss)


def _details_form(document_ids: Sequence[int]) -> None:
    """Project, tags, date and jurisdiction for all files just uploaded; blank fields are not changed."""
    terms = session.terms()
    with st.form(_DETAILS), st.grid(5, min_column_width=_FIELD_WIDTH, vertical_alignment="bottom"):
        st.selectbox(
            "Project",
            session.workbench().upload_queue.projects(),
            index=None,
            accept_new_options=True,
            placeholder="Shared by all",
            key=f"{_DETAILS}.project",
        )
        st.multiselect("Tags", [], accept_new_options=True, placeholder="Optional", key=f"{_DETAILS}.tags")
        st.date_input("Date", None, key=f"{_DETAILS}.date", format="YYYY-MM-DD")
        st.selectbox(
            "Jurisdiction",
            labels.field_options("jurisdiction", terms),
            index=None,
            placeholder="As detected",
            key=f"{_DETAILS}.jurisdiction",
            format_func=lambda value: labels.value_title("jurisdiction", value, terms),
        )
        words = f"Set for {count(len(document_ids), 'file')}"
        st.form_submit_button(words, width="stretch", on_click=_set_details, args=(document_ids,))
    notices.show_outcome(_DETAILS)


def _set_details(document_ids: Sequence[int]) -> None:
    state = st.session_state
    day: date | None = state[f"{_DETAILS}.date"]
    edits = [
        BulkEdit(field, value)
        for field, value in (
            ("project", state[f"{_DETAILS}.project"]),
            ("date", day.isoformat() if day else ""),
            ("jurisdiction", state[f"{_DETAILS}.jurisdiction"]),
        )
        if value
    ]
    if state[f"{_DETAILS}.tags"]:
        edits.append(BulkEdit("tags", ";".join(state[f"{_DETAILS}.tags"]), EditMode.ADD))
    service = session.workbench().bulk_edit

    def change() -> None:
        plan = service.plan(dict.fromkeys(document_ids, edits))
        if plan.problems:
            whats = dict.fromkeys(each.what for each in plan.problems)  # the same for every file is told once
            raise BadRequest(" ".join(whats), "Nothing was set. Choose other values.")
        service.apply(plan.changes, "Details set after the upload", who() or "analyst")

    if notices.apply_change(_DETAILS, change, f"{count(len(document_ids), 'file')} updated."):
        state.update({f"{_DETAILS}.{field}": None for field in ("project", "date", "jurisdiction")})
        state[f"{_DETAILS}.tags"] = []
        session.forget_answers()


def _known_as(receipt: UploadReceipt) -> str:
    """The uploaded name and the document with the same content; named once where both are called the same."""
    new, known = plain(shorten_middle(receipt.name, 80)), plain(shorten_middle(receipt.duplicate_of, 80))
    return new if receipt.name == receipt.duplicate_of else f"{new} is {known}"


def _dismiss() -> None:
    st.session_state[_OUTCOMES] = []
