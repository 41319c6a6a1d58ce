"""Editing labels of many documents at once, in the page or in a spreadsheet; and the offer to undo it."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from core.domain.document_list import DocumentQuery
from core.domain.documents import LABEL_FIELDS, Document, SourceType
from core.domain.errors import FivefoldError
from core.knowledge.workspace_terms import WorkspaceTerms
from core.library.bulk_edit.plan import BulkEdit, EditMode, EditPlan, EditProblem, documents_csv, read_edits
from pages.components import notices, rights, session
from pages.components.labels import field_options, field_title, value_title
from pages.components.user_name import who
from pages.components.wording import count, plain, shorten, shorten_middle

__all__ = ["draw_editing", "draw_plan", "draw_spreadsheet", "draw_undo_offer", "store_plan"]


def draw_undo_offer() -> None:
    """After a change: its summary with an undo button; after an undo: what could not be restored."""
    state = st.session_state
    for line in state.pop("library.left", ()):
        st.warning(plain(line), icon=":material/info:")
    done = state.get("library.done")
    if done is None:
        return
    with notices.show_errors():
        changed = next((each for each in session.workbench().bulk_edit.history() if each.id == done), None)
        if changed is None or changed.undone_at is not None:
            state.pop("library.done", None)
            return
        documents = len({each.document_id for each in changed.changes})
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            message = f"{count(len(changed.changes), 'change')} made in {count(documents, 'document')}."
            st.success(message, icon=":material/check:", width="stretch")
            rights.button(
                "bulk_edit.undo", "Undo", icon=":material/undo:", key="library.undo", on_click=_undo, args=(done,)
            )
            st.button("Dismiss", icon=":material/close:", type="tertiary", key="library.undo.no", on_click=_dismiss)


def _undo(set_id: int) -> None:
    with notices.show_errors():
        back = session.workbench().bulk_edit.undo(set_id, who() or "analyst")
        st.session_state["library.left"] = back.left
        st.session_state.pop("library.done", None)
        session.forget_answers()
        st.toast(f"{count(back.restored, 'change')} undone.", icon=":material/undo:")


def _dismiss() -> None:
    st.session_state.pop("library.done", None)


_NOTHING = "(nothing)"

_SHOWN = 200  # planned changes listed; chosen by hand

_PLAN = "library.plan"

_ROUND = "library.edit.round"


def draw_editing(documents: Sequence[Document]) -> None:
    """The form for the chosen documents, or what it would change; and the archive."""
    names = ", ".join(plain(shorten_middle(each.name, 60)) for each in documents[:3])
    st.markdown(f"#### Edit {count(len(documents), 'document')}", anchors=False)
    st.caption(names + (f" and {len(documents) - 3:,} more" if len(documents) > 3 else ""))
    if draw_plan():
        return
    _form(documents)
    _archiving(documents)


def _form(documents: Sequence[Document]) -> None:
    """Every field that can be edited; blank fields stay unchanged."""
    turn = st.session_state.setdefault(_ROUND, 0)
    counts, terms = session.workbench().document_list.page(DocumentQuery(limit=0)).counts, session.terms()
    owners = sorted({each.owner for each in documents if each.owner})
    with st.form(f"library.edit.{turn}", border=False):
        left, right = st.columns(2)
        edits: list[BulkEdit] = []
        with left:
            edits += _choice_edits("project", sorted(filter(None, counts["project"])), terms, new=True)
            edits += _choice_edits("owner", owners, terms, new=True)
            edits += _choice_edits("source_type", [each.value for each in SourceType], terms)
            edits += _text_edits("url", "https://…")
            edits += _tag_edits("Add tags", EditMode.ADD, sorted(counts["tag"]), new=True)
            edits += _tag_edits(
                "Remove tags", EditMode.REMOVE, sorted({tag for each in documents for tag in each.tags})
            )
            edits += _text_edits("effective_date", "2026, 2026-07 or 2026-07-01")
        with right:
            for field in ("truth", "authority", "domain", "jurisdiction", "temporal_class"):
                edits += _choice_edits(field, field_options(field, terms), terms)
        st.caption("Blank fields are not changed. Labels set here are locked.")
        if st.form_submit_button("See what would change", icon=":material/preview:", type="primary"):
            if edits:
                store_plan({each.id: edits for each in documents}, _edits_words(edits))
                st.rerun()
            st.warning("Nothing to change: fill in at least one field.", icon=":material/error:")


def _choice_edits(field: str, options: Sequence[str], terms: WorkspaceTerms, *, new: bool = False) -> list[BulkEdit]:
    clear = [] if field in LABEL_FIELDS or field == "source_type" else [_NOTHING]
    value = st.selectbox(
        field_title(field),
        [*clear, *options],
        index=None,
        accept_new_options=new,
        placeholder="Stays as it is",
        format_func=lambda each: each if each == _NOTHING else value_title(field, each, terms),
    )
    if value is None:
        return []
    return [BulkEdit(field, mode=EditMode.CLEAR) if value == _NOTHING else BulkEdit(field, value)]


def _text_edits(field: str, placeholder: str) -> list[BulkEdit]:
    value = st.text_input(field_title(field), placeholder=placeholder).strip()
    return [BulkEdit(field, value)] if value else []


def _tag_edits(title: str, mode: EditMode, options: Sequence[str], *, new: bool = False) -> list[BulkEdit]:
    tags = st.multiselect(title, options, accept_new_options=new, placeholder="None")
    return [BulkEdit("tags", ";".join(tags), mode)] if tags else []


def _edits_words(edits: Sequence[BulkEdit]) -> str:
    """What a set of edits does, for the history."""
    verbs = {EditMode.ADD: "added", EditMode.REMOVE: "removed", EditMode.CLEAR: "cleared"}
    return "; ".join(f"{field_title(each.field)} {verbs.get(each.mode, '→')} {each.value}".strip() for each in edits)


def store_plan(edits: Mapping[int, Sequence[BulkEdit]], what: str, file_problems: Sequence[EditProblem] = ()) -> None:
    """Plan edits and store the plan until it is applied or dropped. file_problems: errors of the file they came
    from."""
    plan = session.workbench().bulk_edit.plan(edits)
    st.session_state[_PLAN] = (EditPlan(plan.changes, (*file_problems, *plan.problems)), what)


def draw_plan() -> bool:
    """Preview the planned changes with a button to apply them; returns whether there is a plan."""
    stored = st.session_state.get(_PLAN)
    if stored is None:
        return False
    plan, what = stored
    if plan.problems:
        _problems(plan.problems)
    if plan.changes:
        terms = session.terms()
        st.markdown(f"**{count(len(plan.changes), 'change')}** in {count(plan.documents, 'document')}")
        rows = [
            {
                "Document": each.name,
                "Field": field_title(each.field),
                "Now": value_title(each.field, each.before, terms) if each.before else "–",
                "Then": value_title(each.field, each.after, terms) if each.after else "–",
            }
            for each in plan.changes[:_SHOWN]
        ]
        st.dataframe(rows, hide_index=True, height="content" if len(rows) < 12 else 400)
        if len(plan.changes) > _SHOWN:
            st.caption(f"The first {_SHOWN} of them.")
    else:
        st.info("Nothing would change: the documents are as wanted.", icon=":material/check:")
    with st.container(horizontal=True, gap="small"):
        label = f"Make {count(len(plan.changes), 'change')}"
        if plan.changes and rights.button(
            "bulk_edit.apply", label, type="primary", icon=":material/check:", key="library.apply"
        ):
            _apply(plan, what)
        st.button("Back", icon=":material/arrow_back:", type="tertiary", on_click=_drop_plan, key="library.drop")
    return True


def _problems(problems: Sequence[EditProblem]) -> None:
    """Edits that cannot be made; equal problems of several documents are one line."""
    names: dict[str, list[str]] = {}
    for problem in problems:
        names.setdefault(problem.what, []).append(shorten(problem.about, 48))
    lines_of_problems = [_problem_line(named, what) for what, named in names.items()]
    more = [f"and {len(lines_of_problems) - 12:,} more"] if len(lines_of_problems) > 12 else []
    lines = "\n".join(f"- {plain(each)}" for each in (*lines_of_problems[:12], *more))
    st.warning(f"**{count(len(problems), 'thing')} cannot be done:**\n{lines}", icon=":material/error:")


def _problem_line(named: Sequence[str], what: str) -> str:
    more = f" and {len(named) - 3:,} more" if len(named) > 3 else ""
    return str(EditProblem(what, f"{', '.join(named[:3])}{more}"))


def _apply(plan: EditPlan, what: str) -> None:
    bar = st.progress(0.0, "Making the changes …")
    try:
        made = session.workbench().bulk_edit.apply(
            plan.changes,
            what,
            who() or "analyst",
            lambda done, total, name: bar.progress(done / total, f"{done:,} of {total:,} · {plain(name)}"),
        )
    except FivefoldError as problem:
        notices.error(problem)
        return
    finally:
        session.forget_answers()  # some documents may have changed before an error
    st.session_state["library.done"] = made.id
    st.session_state[_ROUND] += 1
    _drop_plan()
    st.rerun()


def _drop_plan() -> None:
    st.session_state.pop(_PLAN, None)
    st.session_state["library.csv.round"] = st.session_state.get("library.csv.round", 0) + 1


def _archiving(documents: Sequence[Document]) -> None:
    living = [each.id for each in documents if not each.archived]
    stored = [each.id for each in documents if each.archived]
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if living:
            rights.button(
                "bulk_edit.archive",
                f"Archive {count(len(living), 'document')}",
                icon=":material/archive:",
                type="tertiary",
                on_click=_archive,
                args=(living, True),
                help="Out of searches, boards and counts; nothing is deleted.",
            )
        if stored:
            rights.button(
                "bulk_edit.archive",
                f"Put {count(len(stored), 'document')} back",
                icon=":material/unarchive:",
                type="tertiary",
                on_click=_archive,
                args=(stored, False),
            )


def _archive(document_ids: list[int], archived: bool) -> None:
    with notices.show_errors():
        try:
            made = session.workbench().bulk_edit.archive(document_ids, archived=archived, who=who() or "analyst")
        finally:
            session.forget_answers()  # some documents may have changed before an error
        st.session_state["library.done"] = made.id


def draw_spreadsheet(total: int, documents: Callable[[], Sequence[Document]]) -> None:
    """Download documents as CSV and upload the changed file. documents: gives those to download, `total` of them; an
    upload may name any."""
    if draw_plan():
        return
    out, back = st.columns(2, gap="large")
    with out:
        st.markdown("**1 Download, and change it in a spreadsheet**")
        st.caption("One row per document with its project, tags, source, owner, address and every label.")
        st.download_button(
            f"Download {count(total, 'row')} (CSV)",
            lambda: documents_csv(documents()),
            file_name="documents.csv",
            mime="text/csv",
            icon=":material/download:",
            on_click="ignore",
            key="library.csv.out",
        )
    with back:
        st.markdown("**2 Upload the edited file**")
        st.caption("You see every change before it is made. A blank label stays as it is; other blank cells clear.")
        if refusal := rights.refusal("bulk_edit.apply"):
            st.caption(f":material/lock: {refusal}")
            return
        turn = st.session_state.setdefault("library.csv.round", 0)
        file = st.file_uploader("Changed CSV", type=["csv"], key=f"library.csv.{turn}", label_visibility="collapsed")
        if file is not None:
            try:
                read = read_edits(file.getvalue(), file.name, session.workbench().documents.list(archived=None))
            except FivefoldError as problem:
                notices.error(problem)
                return
            store_plan(read.edits, f"Read from {file.name}", read.problems)
            st.rerun()
