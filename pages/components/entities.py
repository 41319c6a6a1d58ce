"""The entity browser: entities of the library with type and number of passages; each name links to its passages."""

from collections.abc import Callable, Mapping

import streamlit as st

from core.domain.entities import EntityPage, EntityType, KnownEntity
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from pages.components.pager import draw_foot, pages_of, place_of
from pages.components.urls import page_path, params_of
from pages.components.wording import count, plain, shortened

__all__ = ["LookUp", "draw_browser"]

LookUp = Callable[[str, EntityType | None, int, int], EntityPage]
"""(part of a name, kind, at most so many, from this place) → a page of entities."""

_PER_PAGE = 15
_WIDTHS = (5, 2, 1.4, 3)
_ICONS: Mapping[EntityType, str] = {
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


def draw_browser(look_up: LookUp) -> None:
    """Search box, kind, the table and its pages."""
    part, kind = _asked()
    key = f"entities.page.{kind}.{part}"  # what is asked anew starts on the first page
    page = int(st.session_state.get(key, 1))
    found = look_up(part, kind, _PER_PAGE, (page - 1) * _PER_PAGE)
    pages = pages_of(found.total, _PER_PAGE)
    if page > pages:
        page = pages
        found = look_up(part, kind, _PER_PAGE, (page - 1) * _PER_PAGE)
    if not found.total:
        narrowed = bool(part) or kind is not None
        st.caption(
            ":material/filter_alt_off: No entity matches; take away a letter or the kind."
            if narrowed
            else "Nothing is named yet. Documents read from now on show here what they name."
        )
        return
    st.caption(f"{count(found.total, 'entity', 'entities')} · a name opens Search among the passages that hold it")
    _heads()
    for known in found.entries:
        _row(known)
    said = place_of(page, _PER_PAGE, found.total, "entity", "entities")
    draw_foot(page, pages, said, f"entities.pager.{kind}.{part}", lambda turned: st.session_state.update({key: turned}))


def _asked() -> tuple[str, EntityType | None]:
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


def _heads() -> None:
    cells = st.columns(_WIDTHS, gap="small")
    for cell, head in zip(cells, ("Name", "Kind", "Passages", "Also written"), strict=True):
        cell.caption(f"**{head}**")


def _row(known: KnownEntity) -> None:
    entity = known.entity
    name, kind, passages, also = st.columns(_WIDTHS, gap="small", vertical_alignment="center")
    with name:
        wanted = SearchRequest(entity.name, SearchFilters(entities=(entity.name,)))
        st.page_link(
            page_path("search"),
            label=plain(shortened(entity.name, 80)),
            icon=_ICONS[entity.type],
            query_params=params_of(wanted),
        )
    kind.markdown(f":small[{str(entity.type).capitalize()}]")
    passages.markdown(f":small[{known.passages:,}]")
    also.caption(plain(shortened(", ".join(entity.aliases), 60)))
