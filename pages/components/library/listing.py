"""The documents of the library: filtered and listed; selected rows are opened or edited."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.domain.documents import Document, DocumentState, Truth
from core.knowledge.workspace_terms import WorkspaceTerms
from core.library.archive_members import is_container
from pages.components import session
from pages.components.library.enrichment_state import drawn_words
from pages.components.library.related_documents import alike_words
from pages.components.styles import STATES, truth_look
from pages.components.wording import day, squeezed

__all__ = ["ARCHIVED", "UNKNOWN", "narrowed", "selected_of"]

_PER_PAGE = 15
_NAME = 42  # characters that the column of names holds
ARCHIVED, UNKNOWN = "archived", "unknown"
_MAY_GO = ("Alike", "Project")  # columns that are left out while no row fills them
_ORDERS = {
    "Newest first": lambda each: -each.id,
    "Name": lambda each: each.name.casefold(),
    "Least sure first": lambda each: (each.state is DocumentState.READY, each.labels.truth.probability),
    "Own date, latest first": lambda each: -(each.date.timestamp() if each.date else float("-inf")),
}


# One filter after the other, each counting what those before it left.
def narrowed(documents: Sequence[Document]) -> list[Document]:
    """The filters, each value with its count under the others."""
    words, state, project, order = st.columns([4, 2, 2, 2], vertical_alignment="bottom")
    with words:
        asked = st.text_input("Name or title", key="library.words", type="search", placeholder="Part of a name")
    folded = asked.casefold().strip()
    found = [each for each in documents if folded in f"{each.name} {each.title}".casefold()]
    with state:
        states = Counter(ARCHIVED if each.archived else each.state.value for each in found)
        wanted = st.selectbox(
            "State",
            list(states),
            index=None,
            key="library.state",
            placeholder="All but archived",
            format_func=lambda value: (
                f"{'Archived' if value == ARCHIVED else STATES[DocumentState(value)].words} ({states[value]})"
            ),
        )
    found = [each for each in found if each.archived == (wanted == ARCHIVED)]
    found = [each for each in found if wanted in (None, ARCHIVED, each.state.value)]
    with project:
        projects = Counter(each.project or "no project" for each in found)
        chosen = st.selectbox(
            "Project", sorted(projects), index=None, placeholder="Any", format_func=lambda p: f"{p} ({projects[p]})"
        )
    found = [each for each in found if chosen in (None, each.project or "no project")]
    held = Counter(map(_truth, found))
    picked = st.pills(
        "Truth",
        [*(truth.value for truth in Truth), UNKNOWN],
        selection_mode="multi",
        key="library.truths",
        label_visibility="collapsed",
        wrap=True,
        format_func=lambda value: (
            f"{truth_look(value).icon} {truth_look(value).words.capitalize()} {held.get(value, 0)}"
        ),
    )
    with order:
        by = st.selectbox("Order", list(_ORDERS))
    found = [each for each in found if not picked or _truth(each) in picked]
    return sorted(found, key=_ORDERS[by or "Newest first"])


def _truth(document: Document) -> str:
    """Its truth or "unknown"; "" for what has no labels: an archive, or a file that is not read."""
    labelled = document.state is DocumentState.READY and not is_container(document)
    return (document.labels.truth.value or UNKNOWN) if labelled else ""


def selected_of(documents: list[Document]) -> list[Document]:
    """The documents as a table: one selected row is the document looked at, several are edited together."""
    wanted = st.session_state["library.document"]
    position = next((index for index, each in enumerate(documents) if str(each.id) == wanted), None)
    alike, drawn = alike_words(), drawn_words(documents)
    terms = session.terms()
    rows_shown = [_table_row(each, terms, alike.get(each.id, ""), *drawn[each.id]) for each in documents]
    filled = [name for name in rows_shown[0] if name not in _MAY_GO or any(row[name] for row in rows_shown)]
    table = st.dataframe(
        rows_shown,
        hide_index=True,
        placeholder="",
        column_order=filled,
        on_select="rerun",
        selection_mode="multi-row",
        selection_default={"selection": {"rows": [position]}} if position is not None else None,
        key=f"library.table.{hash(tuple(each.id for each in documents))}",
        height="content" if len(documents) <= _PER_PAGE else 36 + 32 * _PER_PAGE,
        row_height=32,
        column_config=_COLUMNS,
    )
    rows: list[int] = table["selection"]["rows"]
    selected = [documents[row] for row in rows if row < len(documents)]
    st.session_state["library.document"] = str(selected[0].id) if len(selected) == 1 else ""
    return selected


def _table_row(document: Document, terms: WorkspaceTerms, alike: str, kind: str, keywords: str) -> dict[str, Any]:
    told = document.labels
    ready = bool(_truth(document))
    return {
        "Truth": _state(document),
        "Sure": told.truth.probability if ready else None,
        "Document": squeezed(document.name, _NAME),
        "Authority": (told.authority.value or UNKNOWN) if ready else "",
        "Jurisdiction": terms.jurisdictions.title(told.jurisdiction.value) if told.jurisdiction.value else "",
        "Domain": terms.domains.title(told.domain.value) if told.domain.value else "",
        "Date": day(document.date) if document.date else "",
        "Alike": alike,
        "Type": kind,
        "Pages": document.pages or None,
        "Passages": document.passages or None,
        "Project": document.project or "",
        "Keywords": keywords,
    }


def _state(document: Document) -> str:
    """The truth of what is labelled; what anything else is, or how far it is."""
    if document.state is DocumentState.READY and is_container(document):
        return "▤ archive"
    look = truth_look(document.labels.truth.value) if _truth(document) else STATES[document.state]
    return f"{look.symbol} {look.words}"


_COLUMNS = {
    "Truth": st.column_config.TextColumn(width=104),
    "Sure": st.column_config.ProgressColumn(min_value=0.0, max_value=1.0, format="%.2f", width=76),
    "Document": st.column_config.TextColumn(width=300),
    "Authority": st.column_config.TextColumn(width=92),
    "Jurisdiction": st.column_config.TextColumn(width=88),
    "Domain": st.column_config.TextColumn(width=142),
    "Date": st.column_config.TextColumn(width=88),
    "Alike": st.column_config.TextColumn(
        width=120, help="How much of it its nearest near-duplicate has, and whether a new version is suggested."
    ),
    "Type": st.column_config.TextColumn(width=142),
    "Pages": st.column_config.NumberColumn(width=58),
    "Passages": st.column_config.NumberColumn(width=74),
    "Keywords": st.column_config.TextColumn(width=300),
}
