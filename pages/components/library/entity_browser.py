"""The entities that documents of the library name."""

from collections.abc import Callable, Mapping

import streamlit as st

from core.domain.entities import EntityPage, EntityType, KnownEntity
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from pages.components.pager import draw_foot, pages_of, range_words
from pages.components.urls import page_path, params_of
from pages.components.wording import count, plain, shorten

__all__ = ["FindEntities", "draw_entities"]

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
