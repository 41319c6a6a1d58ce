"""The tables of saved views: the views, and how far each person has looked. `data` holds the whole value as JSON; the
columns beside it are what is looked for. Names are one without regard to capitals, so their column holds them in lower
case.
"""

from datetime import datetime
from typing import Annotated, Any, cast

from sqlalchemy import ForeignKeyConstraint, Index, Integer, Sequence, Table, text
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.orm import Mapped, mapped_column

from storage.models import Base

__all__ = ["VIEWS", "VIEW_LOOKS", "Base", "SavedViewRow", "ViewLookRow"]

_Value = Annotated[dict[str, Any], mapped_column(JSON())]


class SavedViewRow(Base):
    """One view. A name lives once among the shared views (owner "") of a project, and once among each owner's."""

    __tablename__ = "saved_views"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE"),
        Index(
            "saved_views_living_names",
            "tenant_id",
            "project",
            "owner",
            "name",
            unique=True,
            postgresql_where=text("NOT retired"),
            postgresql_nulls_not_distinct=True,
        ),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(Sequence("saved_views_id_seq"), primary_key=True)
    project: Mapped[str | None]
    owner: Mapped[str]
    name: Mapped[str]
    retired: Mapped[bool]
    version: Mapped[int] = mapped_column(Integer())
    data: Mapped[_Value]


class ViewLookRow(Base):
    """How far one person has looked at one view."""

    __tablename__ = "view_looks"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "view_id"], ["saved_views.tenant_id", "saved_views.id"], ondelete="CASCADE"),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    who: Mapped[str] = mapped_column(primary_key=True)
    view_id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    data: Mapped[_Value]


VIEWS = cast(Table, SavedViewRow.__table__)
VIEW_LOOKS = cast(Table, ViewLookRow.__table__)
