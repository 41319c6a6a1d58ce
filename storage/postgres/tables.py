"""What all tables share: base class, column types, and helpers that declare keys and rights.

Each table is declared once, in the module of its noun; `storage.migrations.schema` creates the tables from these
declarations. `tenant_id` leads every primary key, so that a tenant can be moved to its own shard, and every table has
row-level security (see `storage.postgres.database`). Ids are bigints from one sequence per table, over all tenants, so
that an id in a citation never refers to another tenant's passage.
"""

from datetime import datetime
from typing import Annotated, Any, cast

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    DateTime,
    Float,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    Sequence,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSON, JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, MappedColumn, mapped_column

__all__ = [
    "BY_DOCUMENT",
    "BY_LOGIN",
    "BY_OWN_PROJECT",
    "BY_PROJECT",
    "NOBODY",
    "Base",
    "JsonValue",
    "JsonValues",
    "TenantRow",
    "allow",
    "id_column",
    "login_column",
    "of_document",
    "of_tenant",
    "table_of",
]

JsonValue = Annotated[dict[str, Any], mapped_column(JSON())]
"""A whole value as JSON. Type json, not jsonb: no query looks inside, and key order is preserved."""

JsonValues = Annotated[list[dict[str, Any]], mapped_column(JSON())]
"""Whole values as JSON, in order."""


class Base(DeclarativeBase):
    """Column types of all tables: text without a length limit, timestamps with a time zone. Every row has a tenant."""

    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy reads it as a class variable
        str: Text(),
        int: BigInteger(),
        float: Float(53),
        bool: Boolean(),
        datetime: DateTime(timezone=True),
        bytes: LargeBinary(),
        list[str]: ARRAY(Text()),
        list[int]: ARRAY(Integer()),
        dict[str, Any]: JSONB(),
        list[dict[str, Any]]: JSONB(),
    }

    tenant_id: Mapped[str] = mapped_column(primary_key=True, sort_order=-1)


def id_column(sequence: str, *, primary_key: bool = True) -> MappedColumn[int]:
    """A bigint numbered by this sequence, by default part of the primary key."""
    return mapped_column(Sequence(sequence), primary_key=primary_key)


def of_tenant() -> ForeignKeyConstraint:
    """Foreign key to the tenant: rows are deleted with it."""
    return ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE")


def of_document() -> ForeignKeyConstraint:
    """Foreign key to the document in `document_id`: rows are deleted with it."""
    return ForeignKeyConstraint(
        ["tenant_id", "document_id"], ["documents.tenant_id", "documents.id"], ondelete="CASCADE"
    )


def allow(rights: str, *, seen: str = "") -> dict[str, dict[str, str]]:
    """Table arguments with the rights of the application's role, as GRANT writes them.

    seen: the condition on rows that a person with some projects only may see (`BY_PROJECT` and the others below, or
    SQL); "" for tables that belong to the whole library.
    """
    return {"info": {"rights": rights, "seen": seen}}


_MINE = "ANY (ARRAY(SELECT jsonb_array_elements_text(nullif(current_setting('fivefold.projects', true), '')::jsonb)))"

BY_PROJECT = f"project IS NULL OR project = {_MINE}"
"""Rows of the person's projects, and those shared by all projects."""

BY_OWN_PROJECT = f"project = {_MINE}"
"""Rows of the person's projects only: what belongs to no project was made from documents of all projects."""

BY_DOCUMENT = "document_id IN (SELECT id FROM documents)"
"""Rows of documents the person sees: the policy of `documents` applies to the inner query too."""

BY_LOGIN = "login = current_setting('fivefold.login', true)"
"""Rows the person added; for tables with `login_column`."""

NOBODY = "false"
"""Rows made from documents of all projects, that only a person who sees everything may see."""


def login_column() -> MappedColumn[str]:
    """Who added a row: the login of the transaction's scope, "" for everybody else."""
    return mapped_column(server_default=text("COALESCE(current_setting('fivefold.login', true), '')"))


def table_of(model: type[Base]) -> Table:
    """The table of a model, for queries without the ORM."""
    return cast(Table, model.__table__)


class TenantRow(Base):
    """One tenant; no tenant can see another's data."""

    __tablename__ = "tenants"
    __table_args__ = (CheckConstraint("tenant_id <> ''", name="tenants_tenant_id_check"), allow("SELECT, INSERT"))

    created_at: Mapped[datetime] = mapped_column(server_default=text("now()"))
