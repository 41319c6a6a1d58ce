"""Entities, and the documents that mention them."""

from typing import Annotated, Any

from fastapi import Path, Query

from api.inputs import ShortText
from api.paging import Listed, PageOf, Paging, paged
from api.route import AtWork, guarded_router
from api.shapes.documents import ListedDocumentShape
from api.shapes.insights import EntityShape
from core.domain.entities import Entity, EntityType
from core.domain.errors import NotFound
from core.workbench import Workbench

__all__ = ["EntityName", "OfType", "find_entity", "routes"]

routes = guarded_router("entities")

EntityName = Annotated[ShortText, Path(min_length=1, description="Its name or an alias, in any case.")]
OfType = Annotated[EntityType | None, Query(alias="type", description="Only of this type.")]
_MOST_LOOKED_AT = 100  # entities with a part in common; the one that is meant is among the first


@routes.get("/entities", response_model=PageOf[EntityShape], summary="List entities")
def list_entities(
    caller: AtWork,
    paging: Paging,
    part: Annotated[ShortText, Query(description="Part of the name, in any case.")] = "",
    type_: OfType = None,
) -> dict[str, Any]:
    """Organizations, people, laws, forms, places and terms of the library; those in most passages first."""

    def fetch(limit: int, offset: int) -> Listed[Any]:
        page = caller.workbench.search.entities(part, type_, limit, offset)
        return Listed(page.entries, page.total)

    return paged(paging, fetch, lambda each: (each.entity.type, each.entity.name), EntityShape.of)


@routes.get(
    "/entities/{name}/documents", response_model=PageOf[ListedDocumentShape], summary="Documents that mention an entity"
)
def entity_documents(caller: AtWork, name: EntityName, paging: Paging, type_: OfType = None) -> dict[str, Any]:
    """The living documents that mention an entity, most mentions first, each with the sentence of the first mention."""
    entity = find_entity(caller.workbench, name, type_)

    def fetch(limit: int, offset: int) -> Listed[Any]:
        page = caller.workbench.document_list.naming(entity, limit=limit, offset=offset)
        return Listed(page.entries, page.total)

    return paged(paging, fetch, lambda each: each.document.id, ListedDocumentShape.of)


def find_entity(workbench: Workbench, name: str, kind: EntityType | None) -> Entity:
    """The entity with this name or alias, else the one in most passages whose name contains it. Raises NotFound."""
    found = [each.entity for each in workbench.search.entities(name, kind, _MOST_LOOKED_AT, 0).entries]
    folded = name.casefold()
    exact = (each for each in found if folded in (each.name.casefold(), *(alias.casefold() for alias in each.aliases)))
    entity = next(exact, None) or next(iter(found), None)
    if entity is None:
        raise NotFound(f"No document mentions '{name}'.", "Look at /api/entities for the names there are.")
    return entity
