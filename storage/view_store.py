"""Saved views in PostgreSQL. Values travel as JSON, written and read by their own types."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, select, update
from sqlalchemy import Sequence as Ids
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError

from core.views import SavedView, ViewLook, no_view, outdated_view, view_name_taken
from storage.database import Database
from storage.json_values import read, written
from storage.rows import storable_text
from storage.view_models import VIEW_LOOKS, VIEWS

__all__ = ["SqlViewStore"]


class SqlViewStore:
    """core.views.ViewStore."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant

    def views(self, *, retired: bool = False) -> Sequence[SavedView]:
        """Every living (or retired) view, in order of age."""
        own = (VIEWS.c.tenant_id == self._tenant, VIEWS.c.retired.is_(retired))
        with self._database.transaction("reading saved views") as connection:
            found = connection.scalars(select(VIEWS.c.data).where(*own).order_by(VIEWS.c.id)).all()
        return [read(SavedView, data) for data in found]

    def view(self, view_id: int) -> SavedView:
        """Raises NotFound."""
        with self._database.transaction("reading a saved view") as connection:
            known = self._view(connection, view_id)
        if known is None:
            raise no_view(view_id)
        return known

    def _view(self, connection: Connection, view_id: int) -> SavedView | None:
        own = (VIEWS.c.tenant_id == self._tenant, VIEWS.c.id == view_id)
        data = connection.scalar(select(VIEWS.c.data).where(*own))
        return None if data is None else read(SavedView, data)

    def add_view(self, view: SavedView) -> SavedView:
        """Store a new view. Raises BadRequest when the name is taken."""
        with self._database.transaction("storing a saved view") as connection:
            new = replace(view, id=connection.scalar(Ids("saved_views_id_seq").next_value()), version=1)
            add = insert(VIEWS).values(tenant_id=self._tenant, id=new.id, **_row(new)).on_conflict_do_nothing()
            if connection.scalar(add.returning(VIEWS.c.id)) is None:
                raise view_name_taken(new)
        return new

    def change_view(self, view: SavedView) -> SavedView:
        """Store a changed view; gives it with its new version. Raises Outdated, BadRequest, NotFound."""
        new = replace(view, version=view.version + 1)
        own = (VIEWS.c.tenant_id == self._tenant, VIEWS.c.id == new.id, VIEWS.c.version == view.version)
        with self._database.transaction("storing a saved view") as connection:
            try:
                if connection.execute(update(VIEWS).where(*own).values(_row(new))).rowcount:
                    return new
            except IntegrityError as error:
                raise view_name_taken(new) from error
            known = self._view(connection, new.id)
            raise no_view(new.id) if known is None else outdated_view(known)

    def look(self, view_id: int, who: str) -> ViewLook | None:
        """How far this person has looked at a view; None: not at all."""
        query = select(VIEW_LOOKS.c.data).where(*self._looks_of(who), VIEW_LOOKS.c.view_id == view_id)
        with self._database.transaction("reading what was seen of a saved view") as connection:
            data = connection.scalar(query)
        return None if data is None else read(ViewLook, data)

    def last_looks(self, who: str) -> Mapping[int, datetime]:
        """View id → when this person last looked at it."""
        query = select(VIEW_LOOKS.c.view_id, VIEW_LOOKS.c.at).where(*self._looks_of(who))
        with self._database.transaction("reading what was seen of saved views") as connection:
            return {row.view_id: row.at for row in connection.execute(query)}

    def _looks_of(self, who: str) -> tuple[ColumnElement[bool], ...]:
        return VIEW_LOOKS.c.tenant_id == self._tenant, VIEW_LOOKS.c.who == storable_text(who)

    def save_look(self, look: ViewLook) -> None:
        """Store how far a person has looked. Raises NotFound for an unknown view."""
        row: dict[str, Any] = {"tenant_id": self._tenant, "who": storable_text(look.who), "view_id": look.view_id}
        add = insert(VIEW_LOOKS).values(**row, at=look.at, data=written(look))
        kept = add.on_conflict_do_update(
            index_elements=["tenant_id", "who", "view_id"], set_={"at": add.excluded.at, "data": add.excluded.data}
        )
        with self._database.transaction("keeping what was seen of a saved view") as connection:
            try:
                connection.execute(kept)
            except IntegrityError as error:
                raise no_view(look.view_id) from error


def _row(view: SavedView) -> dict[str, Any]:
    project = None if view.project is None else storable_text(view.project)
    own = {"project": project, "owner": storable_text(view.owner), "name": storable_text(view.name).lower()}
    return own | {"retired": view.retired, "version": view.version, "data": written(view)}
