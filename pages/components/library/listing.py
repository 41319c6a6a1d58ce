"""The lists of the library: its documents, filtered and selected, and the entities they name."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from core.domain.documents import Document, DocumentState, Truth
from core.domain.entities import EntityPage, EntityType, KnownEntity
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.knowledge.workspace_terms import WorkspaceTerms
from core.library.archive_members import is_container
from pages.components import session
from pages.components.library.enrichment import type_and_keywords
from pages.components.library.related_documents import likeness_marks
from pages.components.pager import draw_foot, pages_of, range_words
from pages.components.styles import STATES, truth_style
from pages.components.urls import page_path, params_of
from pages.components.wording import count, day, plain, shorten, shorten_middle

__all__ = ["ARCHIVED", "UNKNOWN", "FindEntities", "document_table", "draw_entities", "filter_documents"]


_TABLE_ROWS = 15  # rows visible without scrolling; chosen by hand
_NAME_LENGTH = 42  # characters that the column of names holds
ARCHIVED, UNKNOWN = "archived", "unknown"
_OPTIONAL_COLUMNS = ("Alike", "Project")  # columns that are left out while no row fills them
_ORDERS = {
    "Newest first": lambda each: -each.id,
    "Name": lambda each: each.name.casefold(),
    "Least sure first": lambda each: (each.state is DocumentState.READY, each.labels.truth.probability),
    "Own date, latest first": lambda each: -(each.date.timestamp() if each.date else float("-inf")),
}


# One filter after the other, each counting what those before it left.
def filter_documents(documents: Sequence[Document]) -> list[Document]:
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
    counts = Counter(map(_truth, found))
    picked = st.pills(
        "Truth",
        [*(truth.value for truth in Truth), UNKNOWN],
        selection_mode="multi",
        key="library.truths",
        label_visibility="collapsed",
        wrap=True,
        format_func=lambda value: (
            f"{truth_style(value).icon} {truth_style(value).words.capitalize()} {counts.get(value, 0)}"
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


def document_table(documents: list[Document]) -> list[Document]:
    """The documents as a table: one selected row is the document looked at, several are edited together."""
    wanted = st.session_state["library.document"]
    position = next((index for index, each in enumerate(documents) if str(each.id) == wanted), None)
    alike, drawn = likeness_marks(), type_and_keywords(documents)
    terms = session.terms()
    rows_shown = [_table_row(each, terms, alike.get(each.id, ""), *drawn[each.id]) for each in documents]
    filled = [name for name in rows_shown[0] if name not in _OPTIONAL_COLUMNS or any(row[name] for row in rows_shown)]
    table = st.dataframe(
        rows_shown,
        hide_index=True,
        placeholder="",
        column_order=filled,
        on_select="rerun",
        selection_mode="multi-row",
        selection_default={"selection": {"rows": [position]}} if position is not None else None,
        key=f"library.table.{hash(tuple(each.id for each in documents))}",
        height="content" if len(documents) <= _TABLE_ROWS else 36 + 32 * _TABLE_ROWS,
        row_height=32,
        column_config=_COLUMNS,
    )
    rows: list[int] = table["selection"]["rows"]
    selected = [documents[row] for row in rows if row < len(documents)]
    st.session_state["library.document"] = str(selected[0].id) if len(selected) == 1 else ""
    return selected


def _table_row(document: Document, terms: WorkspaceTerms, alike: str, kind: str, keywords: str) -> dict[str, Any]:
    labels = document.labels
    ready = bool(_truth(document))
    return {
        "Truth": _state(document),
        "Sure": labels.truth.probability if ready else None,
        "Document": shorten_middle(document.name, _NAME_LENGTH),
        "Authority": (labels.authority.value or UNKNOWN) if ready else "",
        "Jurisdiction": terms.jurisdictions.title(labels.jurisdiction.value) if labels.jurisdiction.value else "",
        "Domain": terms.domains.title(labels.domain.value) if labels.domain.value else "",
        "Date": day(document.date) if document.date else "",
        "Alike": alike,
        "Type": kind,
        "Pages": document.pages or None,
        "Passages": document.passages or None,
        "Project": document.project or "",
        "Keywords": keywords,
    }


def _state(document: Document) -> str:
    """The truth of a labelled document; the kind or the state of any other."""
    if document.state is DocumentState.READY and is_container(document):
        return "▤ archive"
    style = truth_style(document.labels.truth.value) if _truth(document) else STATES[document.state]
    return f"{style.symbol} {style.words}"


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


FindEntities = Callable[[str, EntityType | None, int, int], EntityPage]
"""(part of a name, kind, at most so many, from this place) → a page of entities."""

_ENTITIES_PER_PAGE = 15  # chosen by hand
_ENTITY_WIDTHS = (5, 2, 1.4, 3)  # relative column widths
_ENTITY_ICONS: Mapping[EntityType, str] = {
    EntityType.ORGANIZATION: ":material/apartment:",
    EntityType.PERSON: ":material/person:",
    EntityType.LAW: ":material/gavel:",
    EntityType.FORM: ":material/description:",
    EntityType.MONEY: ":material/payments:",
    EntityType.DATE: ":material/event:",
    EntityType.PLACE: ":material/place:",
    EntityType.TECHNOLOGY: ":material/memory:",
    EntityType.CONCEPT: ":material/lightbulb:",
}


def draw_entities(look_up: FindEntities) -> None:
    """Search box, kind, the table and its pages."""
    part, kind = _search_fields()
    key = f"entities.page.{kind}.{part}"  # what is asked anew starts on the first page
    page = int(st.session_state.get(key, 1))
    found = look_up(part, kind, _ENTITIES_PER_PAGE, (page - 1) * _ENTITIES_PER_PAGE)
    pages = pages_of(found.total, _ENTITIES_PER_PAGE)
    if page > pages:
        page = pages
        found = look_up(part, kind, _ENTITIES_PER_PAGE, (page - 1) * _ENTITIES_PER_PAGE)
    if not found.total:
        narrowed = bool(part) or kind is not None
        st.caption(
            ":material/filter_alt_off: No entity matches; take away a letter or the kind."
            if narrowed
            else "Nothing is named yet. Documents read from now on show here what they name."
        )
        return
    st.caption(f"{count(found.total, 'entity', 'entities')} · a name opens Search among the passages that hold it")
    _column_heads()
    for known in found.entries:
        _entity_row(known)
    range_text = range_words(page, _ENTITIES_PER_PAGE, found.total, "entity", "entities")
    draw_foot(
        page, pages, range_text, f"entities.pager.{kind}.{part}", lambda turned: st.session_state.update({key: turned})
    )


def _search_fields() -> tuple[str, EntityType | None]:
    words, kinds = st.columns([3, 2], vertical_alignment="bottom")
    with words:
        part = st.text_input("Part of a name", key="entities.part", type="search", placeholder="W-2, Labor, overtime …")
    with kinds:
        kind = st.selectbox(
            "Kind",
            list(EntityType),
            index=None,
            key="entities.kind",
            placeholder="Any",
            format_func=lambda each: str(each).capitalize(),
        )
    return part.strip(), kind


def _column_heads() -> None:
    cells = st.columns(_ENTITY_WIDTHS, gap="small")
    for cell, head in zip(cells, ("Name", "Kind", "Passages", "Also written"), strict=True):
        cell.caption(f"**{head}**")


def _entity_row(known: KnownEntity) -> None:
    entity = known.entity
    name, kind, passages, also = st.columns(_ENTITY_WIDTHS, gap="small", vertical_alignment="center")
    with name:
        wanted = SearchRequest(entity.name, SearchFilters(entities=(entity.name,)))
        st.page_link(
            page_path("search"),
            label=plain(shorten(entity.name, 80)),
            icon=_ENTITY_ICONS[entity.type],
            query_params=params_of(wanted),
        )
    kind.markdown(f":small[{str(entity.type).capitalize()}]")
    passages.markdown(f":small[{known.passages:,}]")
    also.caption(plain(shorten(", ".join(entity.aliases), 60)))
