"""The table of entities: what each document names, and in which of its passages."""

from typing import Annotated, cast

from sqlalchemy import BigInteger, ForeignKeyConstraint, Index, Table
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from storage.models import Base

__all__ = ["ENTITIES", "Base", "DocumentEntity"]

_Ids = Annotated[list[int], mapped_column(ARRAY(BigInteger()))]


class DocumentEntity(Base):
    """One spelling of an entity of a document. The row whose spelling is the name itself holds the ids of the passages;
    the others, its aliases, hold none. folded: the spelling without its capitals, as Python folds them."""

    __tablename__ = "document_entities"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "document_id"], ["documents.tenant_id", "documents.id"], ondelete="CASCADE"),
        Index("document_entities_spelled", "tenant_id", "folded"),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    document_id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    spelling: Mapped[str] = mapped_column(primary_key=True)
    type: Mapped[str]
    folded: Mapped[str]
    passages: Mapped[_Ids]


ENTITIES = cast(Table, DocumentEntity.__table__)
